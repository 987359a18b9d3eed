//! The state that all shards of a scenario share while it runs: counters, and who hands arrivals to whom.

use super::plan::{Course, Plan};
use super::stop::Abort;
use crate::options::{Executor, Scenario};
use sonagi_measure::At;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::Notify;

/// One test under way, shared by all shards.
#[derive(Debug)]
pub struct Test {
    /// Ends it early.
    pub abort: Arc<Abort>,
    /// The instant its scenarios' start times are counted from: the end of `setup`.
    pub begin: At,
    /// Users that may still be created beyond those allocated before the start.
    unplanned: AtomicU64,
}

impl Test {
    /// A test whose scenarios are about to begin.
    pub fn new(plan: &Plan, begin: At, abort: Arc<Abort>) -> Arc<Test> {
        let unplanned = plan.possible_vus.saturating_sub(plan.planned_vus);
        Arc::new(Test { abort, begin, unplanned: AtomicU64::new(unplanned) })
    }

    /// Whether one more user may be created; else one that was is idle somewhere.
    pub(super) fn may_create(&self) -> bool {
        self.unplanned.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// One scenario under way, shared by all shards.
#[derive(Debug)]
pub struct Common {
    /// Which one, as in the options.
    pub scenario: usize,
    /// The test it belongs to.
    pub test: Arc<Test>,
    /// When it begins.
    pub start: At,
    /// When its regular time is over.
    pub regular_end: At,
    /// When everything is interrupted.
    pub hard_end: At,
    /// How many iterations it has, if its executor counts them.
    total: Option<u64>,
    /// Iterations that are not done in the regular time are given up, and the scenario counts as done then.
    is_timed: bool,
    /// What its shards have come to so far.
    pub counts: Counts,
    /// Iterations of the shared ones that were asked for; may exceed the total.
    pub(super) asked: AtomicU64,
    /// Shards that have not come to their end.
    shares: AtomicUsize,
    /// When the last of them did.
    ended: OnceLock<At>,
    pub(super) dispatch: Dispatch,
}

/// The counts of a scenario.
#[derive(Debug, Default)]
pub struct Counts {
    /// Users that iterate, for the gauge `vus`: with arrivals those in an iteration, else all the scenario holds.
    pub active: Count,
    /// Users the scenario holds.
    pub held: Count,
    /// The most it has held at a time.
    pub most_held: Count,
    /// Iterations begun, which `exec.instance` counts; the number of the next one.
    pub begun: Count,
    /// Iterations that came to their end.
    pub complete: Count,
    /// Iterations that were stopped.
    pub interrupted: Count,
    /// Iterations that were planned and not begun.
    pub dropped: Count,
}

/// A count that all shards add to.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// How many so far.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Adds to it; returns how many there were before.
    pub(super) fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Relaxed)
    }

    /// Takes one from it.
    pub(super) fn subtract_one(&self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Counts {
    /// The scenario holds one user more.
    pub(super) fn hold(&self) {
        let held = self.held.add(1) + 1;
        self.most_held.0.fetch_max(held, Relaxed);
    }
}

/// Arrivals that find no user on their own shard and one on another.
#[derive(Debug)]
pub(super) struct Dispatch {
    /// Users that may yet be created in this scenario.
    pub unplanned: AtomicU64,
    /// One is being created; k6, too, creates one after the other.
    pub creating: AtomicBool,
    /// The user was told that there are too few users.
    pub warned: AtomicBool,
    /// Shards that still have arrivals.
    pub arriving: AtomicUsize,
    pub shards: Vec<Desk>,
}

/// The part of a shard that other shards may touch.
#[derive(Debug, Default)]
#[repr(align(128))] // not two shards' on one cache line, which both would write all the time
pub(super) struct Desk {
    /// Its idle users that nobody has claimed.
    pub idle: AtomicUsize,
    /// Arrivals with a user claimed for each: never more than the shard has users.
    pub inbox: Mutex<VecDeque<At>>,
    pub notify: Notify,
}

impl Desk {
    /// Claims one of its idle users.
    pub(super) fn claim(&self) -> bool {
        self.idle.load(Relaxed) > 0
            && self.idle.fetch_update(SeqCst, SeqCst, |idle| idle.checked_sub(1)).is_ok()
    }

    /// Hands an arrival over, for which a user was claimed.
    pub(super) fn hand(&self, planned: At) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(planned);
        self.notify.notify_one();
    }

    pub(super) fn next(&self) -> Option<At> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Common {
    /// The scenario at `index` of a plan. Every shard of the plan must run its share, or none comes to an end.
    pub fn new(index: usize, scenario: &Scenario, plan: &Plan, test: &Arc<Test>) -> Arc<Common> {
        let course: &Course = &plan.scenarios[index];
        let start = test.begin.plus(course.start);
        let total = match scenario.executor {
            Executor::SharedIterations { iterations, .. } => Some(iterations),
            Executor::PerVuIterations { vus, iterations, .. } => Some(vus.saturating_mul(iterations)),
            _ => None,
        };
        Arc::new(Common {
            scenario: index,
            test: Arc::clone(test),
            start,
            regular_end: start.plus(course.regular_end),
            hard_end: start.plus(course.hard_end),
            total,
            is_timed: !matches!(scenario.executor, Executor::SharedIterations { .. }),
            counts: Counts::default(),
            asked: AtomicU64::new(0),
            shares: AtomicUsize::new(plan.shards),
            ended: OnceLock::new(),
            dispatch: Dispatch {
                unplanned: AtomicU64::new(course.most_vus.saturating_sub(course.turns.len() as u64)),
                creating: AtomicBool::new(false),
                warned: AtomicBool::new(false),
                arriving: AtomicUsize::new(plan.shards),
                shards: (0..plan.shards).map(|_| Desk::default()).collect(),
            },
        })
    }

    /// The sum of a count over scenarios.
    pub fn sum(all: &[Arc<Common>], of: fn(&Counts) -> &Count) -> u64 {
        all.iter().map(|common| of(&common.counts).get()).sum()
    }

    /// Iterations that have ended, one way or the other.
    pub fn over(&self) -> u64 {
        self.counts.complete.get() + self.counts.interrupted.get()
    }

    /// When the last shard came to its end; None: not all have.
    pub fn ended(&self) -> Option<At> {
        self.ended.get().copied()
    }

    /// A shard has come to its end; whether it is the last one.
    pub(super) fn end_share(&self, now: At) -> bool {
        let is_last = self.shares.fetch_sub(1, SeqCst) == 1;
        is_last && self.ended.set(now).is_ok()
    }

    /// How much of it is done, from 0 to 1: of its iterations where they are counted, of its time else.
    pub fn progress(&self, now: At) -> f64 {
        let spent = now.since(self.start).max(0) as f64;
        let part = match self.total {
            Some(_) if self.is_timed && now >= self.regular_end => 1.0,
            Some(total) => self.over() as f64 / total.max(1) as f64,
            None => spent / self.regular_end.since(self.start).max(1) as f64,
        };
        part.min(1.0)
    }
}
