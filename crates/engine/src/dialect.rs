//! The interface between script languages and the kernel: [`Dialect`] on the threads of a run, [`Collect`] on the
//! thread that called [`crate::run`].

use sonagi_measure::At;
use sonagi_measure::metrics::{Interval, MetricStore, Registry, Sample};
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::{Naming, Summary};
use sonagi_measure::totals::{Follow, Totals};
use sonagi_transport::net::NetOptions;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::event::RunEvent;
use crate::shard::Shard;

/// How often the collector looks at the clock while nothing comes.
pub const TICK: Duration = Duration::from_millis(50);

/// A script language's side of a run, shared by its threads. The kernel owns threads, ticks, records, back-pressure,
/// stops and events.
pub trait Dialect: Send + Sync + 'static {
    /// The state of a thread: its users, a pool of connections, a processor.
    type Thread: 'static;
    /// A task done once, by one user on a thread of its own.
    type Task: Send + 'static;
    /// The result of a task.
    type Done: Send + 'static;
    /// Why a thread cannot do its part.
    type Error: Send + 'static;

    /// Whether the threads are prepared before what is done once before the load; else after it, and second 0 begins
    /// when the last of them is ready.
    const IS_PREPARED_FIRST: bool;
    /// Lines of the log that a thread may say in a second; more are left out. None: as many as can be written.
    const LINES_PER_SECOND: Option<u32> = None;
    /// How long a run that is to stop waits for its load; None: until it has ended, or the run is aborted.
    const STOP_PATIENCE: Option<Duration> = None;
    /// Whether what a load thread leaves behind stays as it is to the process's end.
    const KEEPS_REMAINS: bool = false;

    /// Its names for the figures of a run, for thresholds that the header has.
    const NAMING: Naming = Naming::PATHS;

    /// The run's metrics by name, of all its threads.
    fn metrics(&self) -> Arc<Registry>;

    /// How a thread reaches its targets; None: one that generates no load.
    fn net(&self, thread: Option<usize>) -> NetOptions;

    /// Prepares a thread, for load or for a task; all load threads are ready before any loads.
    fn prepare(
        &self,
        shard: &Rc<Shard>,
        task: Option<&Self::Task>,
    ) -> impl Future<Output = Result<Self::Thread, Self::Error>>;

    /// Generates the thread's share of the load: ends when that is done, or soon after the run is asked to stop.
    fn load(&self, thread: &Self::Thread) -> impl Future<Output = ()>;

    /// Does what is done once.
    fn once(&self, thread: &Self::Thread, task: Self::Task) -> impl Future<Output = Self::Done>;

    /// Load or task are over: the last chance to measure something.
    fn leave(&self, _thread: &Self::Thread) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// The thread's observations since the last call, beside its recorder's. Called about once a second, before its
    /// record is taken, and at its end.
    fn observed(&self, _thread: &Self::Thread) -> Interval {
        Interval::default()
    }

    /// The part of the record of a task done once that counts; None: nothing.
    fn kept_of_once(&self, record: Record) -> Option<Record> {
        Some(record)
    }
}

/// When something is done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the load.
    Before,
    /// After it.
    After,
}

/// Follows a run on the thread that called [`crate::run`]: takes what happens, and decides what the kernel cannot. What
/// it observes itself goes with the samples of what the ledger judges ([`Follow::counted`]).
pub trait Collect<D: Dialect>: Follow {
    /// The run's metrics, with the thresholds on them; asked once, before anything is measured.
    fn store(&mut self, metrics: Arc<Registry>) -> MetricStore {
        MetricStore::new(metrics)
    }

    /// Something happened.
    fn event(&mut self, event: RunEvent<'_>);

    /// A thread's record, before it is merged.
    fn record(&mut self, _record: &mut Record) {}

    /// Single samples of a second, where threads keep them.
    fn samples(&mut self, _samples: Vec<Sample>) {}

    /// Called while threads prepare, and once when all are ready.
    ///
    /// # Errors
    /// Ends the run, whatever the threads are doing.
    fn waiting(&mut self) -> Result<(), D::Error> {
        Ok(())
    }

    /// The task of a phase; None: there is none.
    fn task(&mut self, _phase: Phase) -> Option<D::Task> {
        None
    }

    /// Takes a task's result; None: it was given up because the run was aborted. False, before the load: there is no
    /// load.
    fn done(&mut self, _phase: Phase, _done: Option<D::Done>) -> bool {
        true
    }

    /// The load is about to begin, at this instant on all threads.
    fn begins(&mut self, _at: At) {}

    /// Called at least every [`TICK`] from the run's start to its end; says how long nothing is to be done by the
    /// clock.
    fn turn(&mut self, _now: At, _totals: &mut Totals) -> Duration {
        TICK
    }

    /// A thread ended without a word.
    fn broken(&mut self) {}

    /// The load is over, or was given up.
    fn loaded(&mut self, _now: At) {}

    /// Nothing more is done: what was recorded is summed up next.
    fn over(&mut self) {}

    /// Whether the run ended before its time.
    fn is_interrupted(&self, is_stopping: bool) -> bool {
        is_stopping
    }

    /// All is over and counted: the last word on the summary.
    fn summed_up(&mut self, summary: Summary, _metrics: &mut MetricStore) -> Summary {
        summary
    }
}
