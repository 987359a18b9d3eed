//! One thread's share of a test: its clock and network, its samples, what all its users share.

use sonagi_engine::clock::Clock;
use sonagi_engine::delivery::{Rooms, draw_tag};
use sonagi_engine::health::ThreadTimes;
use sonagi_engine::link::SCRATCH;
use sonagi_engine::net::Net;
use sonagi_measure::At;
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::recorder::{Gauges, Record, Recorder};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use crate::bundle::Bundle;
use crate::execution_context::TestCounts;
pub(crate) use crate::log::{Level, Line};
use crate::metrics::{MetricId, Registry, Sampler, Tags};
use crate::options::Options;
use crate::receive_buffer::ReceiveBuffers;
use crate::secrets::Secrets;

/// What a user may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) stack_bytes: usize,
    pub(crate) memory_bytes: usize,
}

/// What the threads of a test have in common.
pub(crate) struct Common {
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) registry: Arc<Registry>,
    /// Of all tiers; those of the script are not known while its first user runs the init code.
    pub(crate) options: Arc<Options>,
    /// `__ENV`.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) limits: Limits,
    /// There is no `global` (`--compatibility-mode base`).
    pub(crate) without_global: bool,
    pub(crate) secrets: Arc<Secrets>,
    /// When the next request of all shards may leave.
    pub(crate) pace: Pace,
    pub(crate) delivery: Delivery,
    /// Whether a run folder is wanted.
    pub(crate) records: bool,
}

/// What all users of a test share of the ledger: its rooms, and the numbers that are given out.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) rooms: Rooms,
    /// Members so far: the next one's number.
    pub(crate) members: AtomicU32,
    /// Stamps drawn.
    pub(crate) drawn: AtomicU64,
    /// The test's own in stamps.
    pub(crate) tag: u32,
}

impl Default for Delivery {
    fn default() -> Delivery {
        let (members, drawn) = (AtomicU32::new(0), AtomicU64::new(0));
        Delivery { rooms: Rooms::default(), members, drawn, tag: draw_tag() }
    }
}

/// So many requests a second and no more, over all threads: their clocks tell one time.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicI64);

impl Pace {
    /// When a request may leave that would leave now; None: at once.
    pub(crate) fn turn(&self, per_second: Option<u64>, now: At) -> Option<At> {
        let between = 1_000_000_000 / i64::try_from(per_second.filter(|most| *most > 0)?).unwrap_or(i64::MAX);
        let mut free = self.0.load(Ordering::Relaxed);
        loop {
            let at = free.max(now.0);
            match self.0.compare_exchange_weak(free, at + between, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return (at > now.0).then_some(At(at)),
                Err(other) => free = other,
            }
        }
    }
}

/// What a run folder tells apart by name.
pub(crate) const OPERATIONS: [(&str, OperationKind); 2] =
    [("http", OperationKind::Http), ("websocket connect", OperationKind::WebsocketConnect)];

/// One shard; all its users hold it by `Rc`.
pub(crate) struct Shard {
    pub(crate) common: Arc<Common>,
    pub(crate) clock: Rc<Clock>,
    pub(crate) net: Rc<Net>,
    pub(crate) sampler: RefCell<Sampler>,
    /// What the ledger, the generator's health and the run folder are made of.
    pub(crate) recorder: RefCell<Recorder>,
    /// The script has to do with rooms: what comes and goes is searched for stamps.
    pub(crate) tracks: Cell<bool>,
    /// Users in an iteration.
    pub(crate) active: Cell<u64>,
    /// Real-time connections that are open.
    pub(crate) connected: Cell<u64>,
    times: ThreadTimes,
    /// The tags of the whole test.
    pub(crate) tags: Tags,
    /// What links read into.
    pub(crate) scratch: RefCell<Vec<u8>>,
    /// Buffers for messages on their way to scripts, none of them in use.
    pub(crate) receive_buffers: ReceiveBuffers,
    /// What the whole test counts; there once its scenarios are.
    pub(crate) instance: OnceCell<Box<dyn TestCounts>>,
    /// A script said that the test has failed (`exec.test.fail`).
    pub(crate) has_failed: Cell<bool>,
    log: Box<dyn Fn(Line)>,
}

impl Shard {
    /// On the current thread, within its runtime.
    pub(crate) fn new(
        common: Arc<Common>,
        clock: Rc<Clock>,
        net: Rc<Net>,
        sampler: Sampler,
        log: impl Fn(Line) + 'static,
    ) -> Rc<Shard> {
        let tags =
            common.options.tags.iter().fold(sampler.tags(), |tags, (name, value)| tags.with(name, value));
        let recorder = RefCell::new(Recorder::new(OPERATIONS.len(), common.options.scenarios.len()));
        Rc::new(Shard {
            recorder,
            tracks: Cell::new(false),
            active: Cell::new(0),
            connected: Cell::new(0),
            times: ThreadTimes::begin(),
            common,
            clock,
            net,
            sampler: RefCell::new(sampler),
            tags,
            scratch: RefCell::new(vec![0; SCRATCH]),
            receive_buffers: ReceiveBuffers::default(),
            instance: OnceCell::new(),
            has_failed: Cell::new(false),
            log: Box::new(log),
        })
    }

    /// Says something to who runs the test.
    pub(crate) fn say(&self, level: Level, text: String, fields: Vec<(&'static str, String)>) {
        (self.log)(Line { at: self.clock.now(), level, text, fields });
    }

    /// What was recorded since the last time, with the levels now.
    pub(crate) fn record(&self, index: usize) -> Record {
        let (cpu_ns, wait_ns) = self.times.take();
        let gauges = Gauges { users: self.active.get(), connections: self.connected.get(), cpu_ns, wait_ns };
        Record { gauges, shard: Some(index as u16), ..self.recorder.borrow_mut().take() }
    }

    pub(crate) fn observe(&self, metric: MetricId, value: f64, tags: &Tags) {
        self.observe_at(metric, value, tags, self.clock.now());
    }

    pub(crate) fn observe_at(&self, metric: MetricId, value: f64, tags: &Tags, at: At) {
        self.sampler.borrow_mut().observe(metric, value, tags, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_leave_so_many_a_second() {
        let pace = Pace::default();
        assert_eq!(pace.turn(None, At(5)), None);
        let turns: Vec<Option<At>> = [0, 0, 0, 700_000_000].map(|now| pace.turn(Some(4), At(now))).into();
        assert_eq!(turns, [None, Some(At(250_000_000)), Some(At(500_000_000)), Some(At(750_000_000))]);
        // What nobody used is not made up for.
        assert_eq!(
            [9_000_000_000; 2].map(|now| pace.turn(Some(4), At(now))),
            [None, Some(At(9_250_000_000))]
        );
    }
}
