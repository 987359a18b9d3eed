//! A load thread as a test's users see it: its samples and what they share, beside the kernel's clock, network, record
//! and log.

pub(crate) use sonagi_engine::delivery::Delivery;
pub(crate) use sonagi_engine::{Level, LogLine};
use sonagi_measure::At;
use sonagi_measure::outcome::OperationKind;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::bundle::Bundle;
use crate::execution_context::TestUnderWay;
use crate::metrics::{Detail, MetricId, Registry, Sampler, Tags};
use crate::options::Options;
use crate::receive_buffer::ReceiveBuffers;
use crate::secrets::Secrets;

/// The limits of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) stack_bytes: usize,
    pub(crate) memory_bytes: usize,
}

/// The state that the threads of a test have in common.
pub(crate) struct Common {
    pub(crate) bundle: Arc<Bundle>,
    pub(crate) registry: Arc<Registry>,
    /// The options of all tiers; those of the script are not known while its first user runs the init code.
    pub(crate) options: Arc<Options>,
    /// How samples are told apart.
    pub(crate) detail: Detail,
    /// Every single sample is kept, for outputs.
    pub(crate) keeps_samples: bool,
    /// `__ENV`.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) limits: Limits,
    /// There is no `global` (`--compatibility-mode base`).
    pub(crate) without_global: bool,
    pub(crate) secrets: Arc<Secrets>,
    /// When the next request of all shards may leave.
    pub(crate) pace: Pace,
    pub(crate) delivery: Delivery,
    pub(crate) tally: Tally,
}

/// What the threads of a test have come to so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Users made; the last one's number.
    pub(crate) users: AtomicU64,
    /// Those whose init code has run.
    pub(crate) initialised: AtomicU64,
    /// A script said that the test has failed (`exec.test.fail`).
    pub(crate) has_failed: AtomicBool,
}

/// A limit of requests per second over all threads: their clocks tell one time.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicI64);

impl Pace {
    /// When a request may leave that would leave now; None: at once.
    pub(crate) fn turn(&self, per_second: Option<u64>, now: At) -> Option<At> {
        let between = 1_000_000_000 / i64::try_from(per_second.filter(|most| *most > 0)?).unwrap_or(i64::MAX);
        let next = |free: i64| Some(free.max(now.0) + between);
        let free = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        // An update is never refused: either way this is what was there before.
        let free = At(free.unwrap_or_else(|free| free));
        (free > now).then_some(free)
    }
}

/// The operations that a run folder tells apart by name.
pub(crate) const OPERATIONS: [(&str, OperationKind); 2] =
    [("http", OperationKind::Http), ("websocket connect", OperationKind::WebsocketConnect)];

/// One shard; all its users hold it by `Rc`. It has all that the kernel's has.
pub(crate) struct Shard {
    kernel: Rc<sonagi_engine::Shard>,
    pub(crate) common: Arc<Common>,
    pub(crate) sampler: RefCell<Sampler>,
    /// The script has to do with rooms: what comes and goes is searched for stamps.
    pub(crate) tracks: Cell<bool>,
    /// The tags of the whole test.
    pub(crate) tags: Tags,
    /// Buffers for messages on their way to scripts, none of them in use.
    pub(crate) receive_buffers: ReceiveBuffers,
    /// The whole test; set once it is under way.
    pub(crate) instance: OnceCell<Arc<TestUnderWay>>,
}

impl Deref for Shard {
    type Target = sonagi_engine::Shard;

    fn deref(&self) -> &sonagi_engine::Shard {
        &self.kernel
    }
}

impl Common {
    /// The tags of the whole test.
    pub(crate) fn tags(&self, sampler: &Sampler) -> Tags {
        self.options.tags.iter().fold(sampler.tags(), |tags, (name, value)| tags.with(name, value))
    }
}

impl Shard {
    /// On the current thread, within its runtime.
    pub(crate) fn new(common: Arc<Common>, kernel: Rc<sonagi_engine::Shard>, sampler: Sampler) -> Rc<Shard> {
        let tags = common.tags(&sampler);
        Rc::new(Shard {
            kernel,
            tracks: Cell::new(false),
            common,
            sampler: RefCell::new(sampler),
            tags,
            receive_buffers: ReceiveBuffers::default(),
            instance: OnceCell::new(),
        })
    }

    /// Says something to who runs the test.
    pub(crate) fn say(&self, level: Level, text: String, fields: Vec<(&'static str, String)>) {
        self.kernel.say(LogLine { at: self.clock.now(), fields, ..LogLine::new(level, text) });
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
