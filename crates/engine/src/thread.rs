//! The threads of a run: a runtime each, what a dialect does on it, and what they send the collector.
//!
//! A thread never waits for the collector: what it sends is bounded by ending the run gracefully when seconds pile up,
//! and by leaving out lines of the log.

use sonagi_measure::At;
use sonagi_measure::metrics::Interval;
use sonagi_measure::recorder::{Record, Recorder};
use sonagi_transport::clock::Clock;
use sonagi_transport::net::Net;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    /// Reports come every second from here on; the same for all.
    pub(crate) from: At,
}

/// A message from a thread.
pub(crate) enum Report<D: Dialect> {
    Line(LogLine),
    /// A load thread can begin.
    Ready,
    /// The measurements of the second that ended then; boxed because queues hold moves, not kilobytes.
    Second(At, Box<Record>),
    /// The rest: the thread has done its part. With the result of a task done once, unless the run was aborted.
    Ended(Box<Record>, Option<D::Done>),
    /// The thread cannot do its part.
    Failed(Error<D::Error>),
    /// The thread panicked.
    Broken {
        /// The load thread's number; None: it is not known, all threads are gone.
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
    pub(crate) waiting: Waiting,
    /// Seconds sent to the collector that it has not taken yet.
    pub(crate) undelivered: Arc<AtomicU64>,
    pub(crate) reports: Sender<Report<D>>,
}

/// Starts a thread; it ends by itself, and its last message says how.
pub(crate) fn start<D: Dialect>(context: Arc<ThreadContext<D>>, role: Role<D>) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("shard".to_owned()).spawn(move || {
        let (reports, shard) = (context.reports.clone(), shard::number(role.index()));
        let last = match catch_unwind(AssertUnwindSafe(|| live(context, role))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Report::Failed(error),
            Err(_) => Report::Broken { shard },
        };
        // Nobody listens any more: the collector has given up on us.
        let _ = reports.send(last);
    })
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
    let own = Rc::new(Own { thread: prepared, shard, context });
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
    let recorder = Recorder::sharing(context.sizes.0, context.sizes.1, context.dialect.metrics());
    let mut shard = Shard::new(clock, Rc::new(net), context.control.clone(), recorder, |_| {});
    shard.place = Place { index, threads: context.threads };
    shard.log = Log::new(pass_on, context.waiting.clone(), D::LINES_PER_SECOND);
    Ok(Rc::new(shard))
}

/// A thread that is prepared.
struct Own<D: Dialect> {
    thread: D::Thread,
    shard: Rc<Shard>,
    context: Arc<ThreadContext<D>>,
}

impl<D: Dialect> Own<D> {
    async fn load(self: Rc<Self>, go: oneshot::Receiver<Go>) {
        self.send(Report::Ready);
        // Nobody says so: the run is over before it began.
        let Ok(Go { epoch, from }) = go.await else { return };
        self.shard.begin(epoch);
        self.work(from, self.context.dialect.load(&self.thread)).await;
        self.send(Report::Ended(self.take(), None));
    }

    async fn once(self: Rc<Self>, task: D::Task) {
        self.shard.begin(None);
        let once = self.context.dialect.once(&self.thread, task);
        let done = self.work(self.shard.clock.now(), once).await;
        self.send(Report::Ended(self.take(), done));
    }

    /// Does the thread's work while what is measured is sent; None: the run was aborted meanwhile.
    async fn work<T>(self: &Rc<Self>, from: At, work: impl Future<Output = T>) -> Option<T> {
        let ticking = tokio::task::spawn_local(Rc::clone(self).tick(from));
        let done = tokio::select! {
            done = work => Some(done),
            () = Rc::clone(&self.shard).heartbeat() => None,
        };
        self.context.dialect.leave(&self.thread).await;
        ticking.abort();
        done
    }

    /// Sends what was measured, every second from this instant on.
    async fn tick(self: Rc<Self>, from: At) {
        for second in 1.. {
            let at = from.plus(second * SECOND_NS);
            self.shard.clock.sleep_until(at).await;
            if self.context.undelivered.fetch_add(1, Relaxed) > MAX_UNDELIVERED {
                self.shard.control.stop();
            }
            self.send(Report::Second(at, self.take()));
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
