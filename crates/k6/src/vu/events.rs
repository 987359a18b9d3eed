//! Everything a script waits for (timers, sockets, requests under way), and the jobs that result.
//!
//! Jobs run one after the other on the user's fiber, with the promises' reactions in between. A source that may still
//! bring a job *holds* the iteration: it is over when its function has returned, its promise is settled and nothing
//! holds it.

use rquickjs::{Ctx, Function, Persistent, Value};
use sonagi_measure::At;
use sonagi_transport::clock::Sleep;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::task::AbortHandle;

use super::Vu;

/// Something to be done in the script of its user; an error is the iteration's.
pub(crate) type Job = Box<dyn for<'js> FnOnce(&Ctx<'js>, &Rc<Vu>) -> rquickjs::Result<()>>;

/// Makes what a promise becomes; an exception is what it is rejected with.
pub(crate) type Outcome = Box<dyn for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<Value<'js>>>;

/// An [`Outcome`] of what makes one.
pub(crate) fn outcome(
    make: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<Value<'js>> + 'static,
) -> Outcome {
    Box::new(make)
}

/// Something that is polled whenever the user waits: a socket.
pub(crate) trait Source {
    /// Moves it on, queues jobs with [`Events::push`], and keeps `cx`'s waker for when there is more. `Ready`: it is
    /// over.
    fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()>;
    /// The iteration is over, whether this is or not.
    fn end(&self, vu: &Rc<Vu>);
    /// Whether it outlives its iteration.
    fn is_kept(&self) -> bool {
        false
    }
    /// Bytes sent and received in this iteration, where the source outlives it.
    fn take_bytes(&self) -> (u64, u64) {
        (0, 0)
    }
    /// Whether it may still bring a job that its iteration waits for.
    fn holds(&self) -> bool {
        !self.is_kept()
    }
}

/// A user's timers, sources and jobs.
#[derive(Default)]
pub(crate) struct Events {
    jobs: RefCell<VecDeque<Job>>,
    timers: RefCell<PendingTimers>,
    sources: RefCell<Vec<Rc<dyn Source>>>,
    /// Promises that tasks will settle, by their numbers.
    promised: RefCell<BTreeMap<u64, Promised>>,
    last_promise: Cell<u64>,
    waker: RefCell<Option<Waker>>,
    /// Counts up with every end.
    iteration: Cell<u64>,
}

/// A promise that a task will settle. The task has its number only: a value of the script in it would outlive the
/// interpreter.
struct Promised {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
    task: AbortHandle,
}

#[derive(Default)]
struct PendingTimers {
    next: u32,
    due: BTreeMap<(At, u32), Job>,
    /// The sleep until the first of them, and until when it is.
    sleep: Option<(At, Pin<Box<Sleep>>)>,
}

impl Events {
    /// Has a job done as soon as the user waits or its function has returned. Also from other tasks.
    pub(crate) fn push(&self, job: Job) {
        self.jobs.borrow_mut().push_back(job);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Has a job done at `at`; returns what it can be taken back by.
    pub(crate) fn at(&self, at: At, job: Job) -> (At, u32) {
        let mut timers = self.timers.borrow_mut();
        timers.next += 1;
        let key = (at, timers.next);
        timers.due.insert(key, job);
        key
    }

    /// A job is not to be done.
    pub(crate) fn take_back(&self, key: (At, u32)) {
        self.timers.borrow_mut().due.remove(&key);
    }

    /// A socket is open.
    pub(crate) fn add(&self, source: Rc<dyn Source>) {
        self.sources.borrow_mut().push(source);
    }

    /// A promise of what `task` brings. The iteration's end ends the task, and nobody is told.
    pub(crate) fn promise<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        task: impl Future<Output = Outcome> + 'static,
    ) -> rquickjs::Result<Value<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        let (resolve, reject) = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
        let number = self.last_promise.get() + 1;
        self.last_promise.set(number);
        let vu = Rc::clone(vu);
        let task = tokio::task::spawn_local(async move {
            let outcome = task.await;
            vu.events.settle(number, outcome);
        });
        self.promised.borrow_mut().insert(number, Promised { resolve, reject, task: task.abort_handle() });
        Ok(promise.into_value())
    }

    fn settle(&self, number: u64, outcome: Outcome) {
        let Some(Promised { resolve, reject, .. }) = self.promised.borrow_mut().remove(&number) else {
            return;
        };
        self.push(Box::new(move |ctx, _| match outcome(ctx) {
            Ok(value) => resolve.restore(ctx)?.call((value,)),
            Err(_) => {
                let reason = ctx.catch();
                reject.restore(ctx)?.call((reason,))
            }
        }));
    }

    /// Whether anything may still bring a job.
    pub(crate) fn is_held(&self) -> bool {
        !self.promised.borrow().is_empty()
            || !self.jobs.borrow().is_empty()
            || !self.timers.borrow().due.is_empty()
            || self.sources.borrow().iter().any(|source| source.holds())
    }

    /// Which iteration this is; counts up with every end.
    pub(crate) fn iteration(&self) -> u64 {
        self.iteration.get()
    }

    /// Whether a socket is open.
    pub(crate) fn has_sources(&self) -> bool {
        !self.sources.borrow().is_empty()
    }

    /// Whether a job waits.
    pub(crate) fn has_jobs(&self) -> bool {
        !self.jobs.borrow().is_empty()
    }

    /// The next job, if one waits.
    pub(crate) fn take(&self) -> Option<Job> {
        self.jobs.borrow_mut().pop_front()
    }

    /// Looks at sources and timers; `Ready` when a job waits or nothing holds the iteration any more.
    pub(crate) fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        // This poll needs no wake-up for what it finds itself.
        self.waker.take();
        self.poll_sources(vu, cx);
        self.poll_timers(vu, cx);
        if !self.jobs.borrow().is_empty() || !self.is_held() {
            return Poll::Ready(());
        }
        *self.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Moves the sources on; also while the script blocks on something else.
    pub(crate) fn poll_sources(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) {
        if self.sources.borrow().is_empty() {
            return;
        }
        // Not borrowed while they are polled: what they say may open others.
        let sources = std::mem::take(&mut *self.sources.borrow_mut());
        let mut open: Vec<_> =
            sources.into_iter().filter(|source| source.poll(vu, cx).is_pending()).collect();
        let mut others = self.sources.borrow_mut();
        open.append(&mut others);
        *others = open;
    }

    fn poll_timers(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) {
        loop {
            let mut timers = self.timers.borrow_mut();
            let Some((&(at, _), _)) = timers.due.first_key_value() else { return timers.sleep = None };
            if at <= vu.now() {
                // Only one: its job may cancel the next timer.
                if let Some((_, job)) = timers.due.pop_first() {
                    self.jobs.borrow_mut().push_back(job);
                }
                return;
            }
            if timers.sleep.as_ref().is_none_or(|(until, _)| *until != at) {
                timers.sleep = Some((at, Box::pin(vu.clock().sleep_until(at))));
            }
            let Some((_, sleep)) = timers.sleep.as_mut() else { return };
            if sleep.as_mut().poll(cx).is_pending() {
                return;
            }
            timers.sleep = None;
        }
    }

    /// The iteration is over: nothing of it is left but what is kept on purpose.
    pub(crate) fn end(&self, vu: &Rc<Vu>) {
        self.iteration.set(self.iteration.get() + 1);
        self.jobs.borrow_mut().clear();
        self.timers.borrow_mut().due.clear();
        self.timers.borrow_mut().sleep = None;
        let promised = std::mem::take(&mut *self.promised.borrow_mut());
        promised.values().for_each(|promised| promised.task.abort());
        let sources = std::mem::take(&mut *self.sources.borrow_mut());
        let (kept, over): (Vec<_>, Vec<_>) = sources.into_iter().partition(|source| source.is_kept());
        // The last messages leave now, not when the next iteration waits for something.
        let mut cx = Context::from_waker(Waker::noop());
        for source in &kept {
            let _ = source.poll(vu, &mut cx);
            let (sent, received) = source.take_bytes();
            vu.traffic.add(sent, received);
        }
        *self.sources.borrow_mut() = kept;
        over.iter().for_each(|source| source.end(vu));
    }

    /// The user is gone: no source outlives it.
    pub(crate) fn forget(&self, vu: &Rc<Vu>) {
        let sources = std::mem::take(&mut *self.sources.borrow_mut());
        sources.iter().for_each(|source| source.end(vu));
    }
}
