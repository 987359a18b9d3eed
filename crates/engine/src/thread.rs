//! The threads of a run: a runtime each, what a dialect does on it, and what they send the collector.
//!
//! A thread never waits for the collector: what it sends is bounded by ending the run gracefully when seconds pile up,
//! and by leaving out lines of the log.

use sonagi_measure::At;
use sonagi_measure::metrics::{Interval, Registry};
use sonagi_measure::recorder::{Record, Recorder};
use sonagi_transport::clock::Clock;
use sonagi_transport::net::Net;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use tokio::runtime::LocalOptions;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::control::Control;
use crate::dialect::Dialect;
use crate::event::LogLine;
use crate::log::{Log, Waiting};
use crate::options::Error;
use crate::shard::{self, Place, SECOND_NS, Shard};

/// Seconds that may wait for a collector that is held up (a terminal that is stopped, a disk that hangs). Beyond it the
/// run is ended gracefully: nobody takes note of it, and memory is not without end.
const MAX_UNDELIVERED: u64 = 120;

/// The purpose of a thread.
pub(crate) enum Role<D: Dialect> {
    /// The share of the load with this index, from when it is told to begin.
    Load { index: usize, go: oneshot::Receiver<Go> },
    /// Something that is done once.
    Once(D::Task),
}

impl<D: Dialect> Role<D> {
    fn index(&self) -> Option<usize> {
        if let Role::Load { index, .. } = self { Some(*index) } else { None }
    }
}

/// The signal for load threads when all of them are ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Go {
    /// When second 0 begins; None: when the run did.
    pub(crate) epoch: Option<Instant>,
    /// The first second whose end is reported, the same for all.
    pub(crate) first_second: u64,
}

/// A message from a thread.
pub(crate) enum Report<D: Dialect> {
    Line(LogLine),
    /// A load thread can begin.
    Ready,
    /// A whole second's record; boxed because queues hold moves, not kilobytes.
    Second(u64, Box<Record>),
    /// The measurements during a task done once.
    Meanwhile(Box<Record>),
    /// The result of a task done once.
    Done(D::Done),
    /// The rest: the thread has done its part.
    Ended(Box<Record>),
    /// The thread cannot do its part.
    Failed(Error<D::Error>),
    /// The thread is gone, and its last message is not its end.
    Broken {
        /// The load thread's number.
        shard: Option<u16>,
    },
}

/// What the threads of a run, or of something done once, take with them.
pub(crate) struct ThreadContext<D: Dialect> {
    pub(crate) dialect: Arc<D>,
    pub(crate) control: Control,
    /// Second 0, as far as it is known.
    pub(crate) epoch: Instant,
    /// Load threads of the run.
    pub(crate) threads: usize,
    /// Operations and scenarios.
    pub(crate) sizes: (usize, usize),
    pub(crate) metrics: Arc<Registry>,
    pub(crate) waiting: Waiting,
    /// Seconds sent to the collector that it has not taken yet.
    pub(crate) undelivered: Arc<AtomicU64>,
    pub(crate) reports: Sender<Report<D>>,
}

/// Starts a thread; it ends by itself.
pub(crate) fn start<D: Dialect>(context: Arc<ThreadContext<D>>, role: Role<D>) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("shard".to_owned()).spawn(move || {
        let mut guard =
            Guard { reports: context.reports.clone(), shard: shard::number(role.index()), is_over: false };
        let lived = live(context, role);
        guard.is_over = true;
        if let Err(error) = lived {
            // Nobody listens any more: the collector has given up on us.
            let _ = guard.reports.send(Report::Failed(error));
        }
    })
}

/// Tells of a thread that panics.
struct Guard<D: Dialect> {
    reports: Sender<Report<D>>,
    shard: Option<u16>,
    is_over: bool,
}

impl<D: Dialect> Drop for Guard<D> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.reports.send(Report::Broken { shard: self.shard });
        }
    }
}

fn live<D: Dialect>(context: Arc<ThreadContext<D>>, role: Role<D>) -> Result<(), Error<D::Error>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().build_local(LocalOptions::default())?;
    let keeps_remains = D::KEEPS_REMAINS && matches!(role, Role::Load { .. });
    let lived = runtime.block_on(life(context, role));
    if keeps_remains {
        std::mem::forget(runtime);
    } else {
        // A name look-up may hang in the system's resolver: it is left behind, not waited for.
        runtime.shutdown_background();
    }
    lived
}

async fn life<D: Dialect>(context: Arc<ThreadContext<D>>, role: Role<D>) -> Result<(), Error<D::Error>> {
    let shard = shard(&context, role.index())?;
    tokio::task::spawn_local(Rc::clone(&shard.clock).drive());
    let task = if let Role::Once(task) = &role { Some(task) } else { None };
    let prepared = context.dialect.prepare(&shard, task).await.map_err(Error::Dialect)?;
    let own = Own { thread: Rc::new(prepared), shard, context };
    match role {
        Role::Load { go, .. } => own.load(go).await,
        Role::Once(task) => own.once(task).await,
    }
    Ok(())
}

fn shard<D: Dialect>(context: &ThreadContext<D>, index: Option<usize>) -> Result<Rc<Shard>, Error<D::Error>> {
    let net = Net::real(context.dialect.net(index)).map_err(|failed| Error::Network(failed.detail))?;
    let lines = context.reports.clone();
    let pass_on = move |line| {
        let _ = lines.send(Report::Line(line));
    };
    let clock = Clock::real(context.epoch)?;
    let recorder = Recorder::sharing(context.sizes.0, context.sizes.1, Arc::clone(&context.metrics));
    let shard = Shard::new(clock, Rc::new(net), context.control.clone(), recorder, |_| {});
    let log = Log::new(pass_on, context.waiting.clone(), D::LINES_PER_SECOND);
    Ok(Rc::new(shard.placed(Place { index, threads: context.threads }, log)))
}

/// A thread that is prepared.
struct Own<D: Dialect> {
    thread: Rc<D::Thread>,
    shard: Rc<Shard>,
    context: Arc<ThreadContext<D>>,
}

impl<D: Dialect> Own<D> {
    async fn load(self, go: oneshot::Receiver<Go>) {
        self.send(Report::Ready);
        // Nobody says so: the run is over before it began.
        let Ok(go) = go.await else { return };
        let load = self.context.dialect.load(&self.thread);
        self.work(go.epoch, self.another().tick(go.first_second), load).await;
        self.send(Report::Ended(self.take()));
    }

    async fn once(self, task: D::Task) {
        let once = self.context.dialect.once(&self.thread, task);
        let done = self.work(None, self.another().tell(), once).await;
        done.into_iter().for_each(|done| self.send(Report::Done(done)));
        self.send(Report::Ended(self.take()));
    }

    /// Does the thread's work while what is measured is sent; None: the run was aborted meanwhile.
    async fn work<T>(
        &self,
        epoch: Option<Instant>,
        sending: impl Future<Output = ()> + 'static,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        self.shard.begin(epoch);
        let sending = tokio::task::spawn_local(sending);
        let done = tokio::select! {
            done = work => Some(done),
            () = Rc::clone(&self.shard).heartbeat() => None,
        };
        self.context.dialect.leave(&self.thread).await;
        sending.abort();
        done
    }

    fn another(&self) -> Own<D> {
        let (thread, shard) = (Rc::clone(&self.thread), Rc::clone(&self.shard));
        Own { thread, shard, context: Arc::clone(&self.context) }
    }

    /// Sends what was measured at every whole second of the run.
    async fn tick(self, first: u64) {
        for second in first.. {
            self.shard.clock.sleep_until(At(second as i64 * SECOND_NS)).await;
            if self.context.undelivered.fetch_add(1, Relaxed) > MAX_UNDELIVERED {
                self.shard.control.stop();
            }
            self.send(Report::Second(second, self.take()));
        }
    }

    /// Sends what was measured meanwhile, once a second.
    async fn tell(self) {
        loop {
            self.shard.clock.sleep_until(self.shard.clock.now().plus(SECOND_NS)).await;
            self.send(Report::Meanwhile(self.take()));
        }
    }

    fn take(&self) -> Box<Record> {
        let observed = self.context.dialect.observed(&self.thread);
        let mut record = self.shard.take();
        record.metrics = Interval::merged([record.metrics, observed]);
        Box::new(record)
    }

    fn send(&self, report: Report<D>) {
        // Nobody listens any more: the collector has given up on us.
        let _ = self.context.reports.send(report);
    }
}
