//! The common equipment of a run's thread: its clock, its network, its record and its log.
//!
//! Nothing here is shared with other threads but the [`Control`] and the count of what waits for the collector.

use sonagi_measure::At;
use sonagi_measure::recorder::{Counter, Gauges, Record, Recorder};
use sonagi_transport::clock::Clock;
use sonagi_transport::net::{Net, SCRATCH};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Poll;
use tokio::time::Instant;

use crate::control::Control;
use crate::event::LogLine;
use crate::health::{self, ThreadTimes};
use crate::log::{Log, Waiting};

/// A second, in the unit of [`At`].
pub const SECOND_NS: i64 = 1_000_000_000;

/// A thread's context; all that lives on the thread holds it by `Rc`.
pub struct Shard {
    /// Instants count from second 0.
    pub clock: Rc<Clock>,
    /// The clock for those who only read it.
    pub clock_reader: Rc<dyn Fn() -> At>,
    /// The way to the targets.
    pub net: Rc<Net>,
    /// The thread's measurements; taken once a second.
    pub recorder: RefCell<Recorder>,
    /// The read buffer of links, used by one at a time.
    pub scratch: RefCell<Vec<u8>>,
    /// Users in their flows.
    pub active: Cell<u64>,
    /// Users in their flows whose real-time connection is open; those that drain are not.
    pub connected: Cell<u64>,
    /// Stops the run, and says whether it was stopped.
    pub control: Control,
    /// The thread's place among the run's threads.
    pub place: Place,
    pub(crate) log: Log,
    times: ThreadTimes,
    /// How long the process of the script's functions wanted a core since the last second (ns).
    functions_ns: Cell<u64>,
}

/// A thread's place among the run's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 0; None: it generates no load, something is done once on it.
    pub index: Option<usize>,
    /// How many generate load.
    pub threads: usize,
}

/// The index of a load thread as records have it.
pub(crate) fn number(index: Option<usize>) -> Option<u16> {
    index.and_then(|index| u16::try_from(index).ok())
}

impl Shard {
    /// On the current thread; call within its runtime. `say` takes the log. Those who
    /// simulate a run make it themselves: its only thread then generates load.
    pub fn new(
        clock: Rc<Clock>,
        net: Rc<Net>,
        control: Control,
        recorder: Recorder,
        say: impl Fn(LogLine) + 'static,
    ) -> Shard {
        let reader = Rc::clone(&clock);
        Shard {
            clock_reader: Rc::new(move || reader.now()),
            clock,
            net,
            recorder: RefCell::new(recorder),
            scratch: RefCell::new(vec![0; SCRATCH]),
            active: Cell::new(0),
            connected: Cell::new(0),
            control,
            place: Place { index: Some(0), threads: 1 },
            log: Log::new(say, Waiting::default(), None),
            times: ThreadTimes::begin(),
            functions_ns: Cell::new(0),
        }
    }

    /// Second 0 is at `epoch`, if it is not what the clock counts from already.
    pub(crate) fn begin(&self, epoch: Option<Instant>) {
        epoch.into_iter().for_each(|epoch| self.clock.set_epoch(epoch));
        self.log.begin_second();
        // The preparation's CPU time is no load.
        let _ = self.times.take();
    }

    /// Says something to who watches, now.
    pub fn say(&self, line: LogLine) {
        let at = if self.log.has_begun() { self.clock.now() } else { line.at };
        self.log.say(LogLine { at, ..line });
    }

    /// Adds to a plain count.
    pub fn count(&self, counter: Counter, n: u64) {
        self.recorder.borrow_mut().add(counter, n);
    }

    /// The script's functions, in a process of their own, wanted a core for so long since the last second.
    pub fn functions_wanted(&self, ns: u64) {
        self.functions_ns.set(self.functions_ns.get() + ns);
    }

    /// Whether the run was asked to end.
    pub fn is_stopping(&self) -> bool {
        self.control.is_stopping()
    }

    /// Sleeps until `at` or until the run is asked to stop; whether others had a turn meanwhile.
    pub async fn wait_for(&self, at: At) -> bool {
        let mut sleep = std::pin::pin!(self.clock.sleep_until(at));
        let mut has_waited = false;
        std::future::poll_fn(|cx| {
            if self.is_stopping() || sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            has_waited = true;
            Poll::Pending
        })
        .await;
        has_waited
    }

    /// Takes the record since the last call, with the levels now; a new second begins.
    pub fn take(&self) -> Record {
        let (cpu_ns, wait_ns) = self.times.take();
        self.log.begin_second();
        let (users, connections) = (self.active.get(), self.connected.get());
        let gauges = Gauges { users, connections, cpu_ns, wait_ns, functions_ns: self.functions_ns.take() };
        Record { gauges, shard: number(self.place.index), ..self.recorder.borrow_mut().take() }
    }

    /// Beats: records how late each beat came, and passes a stop on to every sleeper, once. Returns when the run is
    /// aborted.
    pub async fn heartbeat(self: Rc<Self>) {
        let (mut due, mut has_passed_stop_on) = (self.clock.now(), false);
        while !self.control.is_aborted() {
            due = health::beat(&self.clock, due, |late_ns| self.recorder.borrow_mut().hiccup(late_ns)).await;
            if self.is_stopping() && !has_passed_stop_on {
                has_passed_stop_on = true;
                self.clock.wake_all();
            }
        }
    }
}
