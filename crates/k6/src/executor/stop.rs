//! How what is under way is told to end: all of a test by [`Abort`], one user's iteration by [`Stop`].

use sonagi_engine::Control;
use sonagi_measure::At;
use sonagi_transport::clock::{Clock, Sleep};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// Why a test ends before its time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A signal interrupted it.
    #[error("the test was interrupted by a signal")]
    Signal,
    /// Somebody asked for it by other means, a button of the test's page.
    #[error("the test was stopped from its page")]
    Request,
    /// A threshold was crossed that says so; these metrics have one that was, as k6 lists them.
    #[error(
        "thresholds on metrics '{0}' were crossed; at least one has abortOnFail enabled, stopping test prematurely"
    )]
    Crossed(String),
    /// The script wants it, and says this.
    #[error("{0}")]
    Script(String),
    /// Nobody takes its results any more.
    #[error("the test was stopped because nobody takes its results any more")]
    Unread,
}

/// Ends a test before its time, on all shards. Whoever asks first says why.
#[derive(Debug, Default)]
pub struct Abort {
    control: Control,
    why: OnceLock<Reason>,
}

impl Abort {
    /// Asks for the end.
    pub fn ask(&self, why: Reason) {
        // Whoever comes second is not heard; the end is asked for either way.
        let _ = self.why.set(why);
        self.control.stop();
    }

    /// The control by which the kernel stops a run.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Whether it was asked for.
    pub fn asked(&self) -> bool {
        self.control.is_stopping()
    }

    /// The first reason given; the kernel stops a run for one reason only.
    pub fn why(&self) -> Option<&Reason> {
        self.asked().then(|| self.why.get_or_init(|| Reason::Unread))
    }
}

/// Says when an iteration must be given up: at its hard end, or when the test is aborted.
///
/// Cheap to clone and of one shard. Whoever waits inside an iteration polls it first, and sleeps on the clock besides:
/// an abort wakes all who do ([`Clock::wake_all`]). Whoever computes asks `is_set` now and then, which looks at the
/// clock, for a shard that computes runs nobody who could tell.
#[derive(Clone)]
pub struct Stop(Rc<Inner>);

struct Inner {
    pulled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    deadline: At,
    clock: Rc<Clock>,
    abort: Arc<Abort>,
}

impl Stop {
    /// One that nothing sets.
    pub fn never(clock: &Rc<Clock>) -> Stop {
        Stop::new(At(i64::MAX), clock, &Arc::default())
    }

    /// One that sets itself at `deadline`, or when the test is aborted.
    pub fn new(deadline: At, clock: &Rc<Clock>, abort: &Arc<Abort>) -> Stop {
        let (clock, abort) = (Rc::clone(clock), Arc::clone(abort));
        Stop(Rc::new(Inner { pulled: Cell::new(false), waker: RefCell::new(None), deadline, clock, abort }))
    }

    /// Whether it is time to give up. Reads the clock: for code that computes.
    pub fn is_set(&self) -> bool {
        self.pulled() || self.0.clock.now() >= self.0.deadline
    }

    /// Ready when it is time to give up. The task that asked last is woken when it is pulled; an abort wakes only those
    /// that sleep on the clock as well. Does not read the clock.
    pub fn poll_set(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.pulled() {
            return Poll::Ready(());
        }
        match &mut *self.0.waker.borrow_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Until it is time to give up.
    pub fn set(&self) -> impl Future<Output = ()> + use<> {
        let stop = self.clone();
        poll_fn(move |cx| stop.poll_set(cx))
    }

    /// Sleeps until `at`; false when it is pulled, or the test is aborted, before.
    pub(crate) async fn sleep(&self, at: At) -> bool {
        let mut sleep = pin!(self.0.clock.sleep_until(at));
        poll_fn(|cx| {
            if self.poll_set(cx).is_ready() {
                return Poll::Ready(false);
            }
            sleep.as_mut().poll(cx).map(|()| true)
        })
        .await
    }

    /// Has `work` done, which looks at this stop whenever it waits; `alarm` sleeps until the deadline, unless an abort
    /// wakes it. Tells as well whether others had a turn meanwhile.
    pub(crate) async fn bound<T>(
        &self,
        mut alarm: Pin<&mut Sleep>,
        work: impl Future<Output = T>,
    ) -> (T, bool) {
        let mut work = pin!(work);
        let mut has_waited = false;
        let done = poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            has_waited = true;
            // While the alarm sleeps, an abort wakes it like every sleeper. Once it has rung, an abort could not wake
            // this task any more, so the work is polled again right away.
            if alarm.as_mut().poll(cx).is_pending() || self.0.pulled.get() {
                return Poll::Pending;
            }
            self.pull();
            work.as_mut().poll(cx)
        })
        .await;
        (done, has_waited)
    }

    /// When it sets itself.
    pub fn deadline(&self) -> At {
        self.0.deadline
    }

    /// Told by the driver, without looking at the clock.
    pub(super) fn pulled(&self) -> bool {
        self.0.pulled.get() || self.0.abort.asked()
    }

    /// Time to give up.
    pub(crate) fn pull(&self) {
        self.0.pulled.set(true);
        let waker = self.0.waker.borrow_mut().take();
        waker.into_iter().for_each(Waker::wake);
    }
}
