//! A shard's own record, written on the hot path and taken once a second.
//!
//! Nothing here is shared or locked. A successful operation costs two or three histogram writes and an array increment;
//! only a failure looks anything up. Histograms come into being on first use, so an idle shard is small, and are made
//! as large as last second's so that they rarely grow.

use crate::answers::{Answers, Apart};
use crate::at::At;
use crate::expectations::Expectations;
use crate::failures::{self, UNKNOWN, kept};
pub use crate::failures::{CALLED_MAX, EXAMPLE_BYTES, FailureCount, merge_failure};
pub use crate::histogram::Histogram;
use crate::ledger::Batch;
use crate::metrics::{AutomaticTags, Interval, Kind, Registry, Sampler, Unit};
use crate::outcome::{CountedAs, Failure, OperationId, Outcome, Timing};
use std::sync::Arc;

mod counter;
mod tagged;

pub use counter::{Counter, Counters};
pub use tagged::{Figure, TaggedSeries};

/// The latencies of one operation. Absent histograms have seen nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timings {
    /// `ended - planned`.
    pub response: Option<Box<Histogram>>,
    /// `ended - started`.
    pub service: Option<Box<Histogram>>,
    /// `first_byte - started`.
    pub first_byte: Option<Box<Histogram>>,
    /// How many ended in [`Outcome::Failed`].
    pub failed: u64,
    /// How many of those have no time, see [`Failure::has_time`].
    pub unanswered: u64,
    /// Statuses, and the times of answers that were no 2xx.
    pub answers: Answers,
}

impl Timings {
    /// What its latencies are called in names: its own, then those of parts of its answers.
    fn latency_names() -> impl Iterator<Item = &'static str> {
        ["response", "service", "first_byte"].into_iter().chain(Apart::NAMES)
    }

    fn latencies(&self) -> impl Iterator<Item = &Option<Box<Histogram>>> {
        [&self.response, &self.service, &self.first_byte].into_iter().chain(&self.answers.apart)
    }

    fn latencies_mut(&mut self) -> impl Iterator<Item = &mut Option<Box<Histogram>>> {
        let own = [&mut self.response, &mut self.service, &mut self.first_byte];
        own.into_iter().chain(&mut self.answers.apart)
    }

    /// Every latency that has seen something, with what it is called in names.
    pub(crate) fn each_latency(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        let all = Timings::latency_names().zip(self.latencies());
        all.filter_map(|(name, latency)| Some((name, latency.as_deref()?)))
    }

    /// The latency of this name, made where there is none yet; None: there is none such.
    pub(crate) fn latency_mut(&mut self, name: &str) -> Option<&mut Histogram> {
        let at = Timings::latency_names().position(|known| known == name)?;
        Some(self.latencies_mut().nth(at)?.get_or_insert_default())
    }

    /// How many operations ended, in whatever way.
    pub fn count(&self) -> u64 {
        self.response.as_ref().map_or(0, |response| response.count()) + self.unanswered
    }

    /// Adds everything of `other`.
    pub fn merge(&mut self, other: &Timings) {
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.answers.merge_codes(&other.answers);
        for (mine, theirs) in self.latencies_mut().zip(other.latencies()) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }
}

/// Levels at the end of an interval, of one shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Gauges {
    /// Virtual users alive.
    pub users: u64,
    /// Users in their flows with an open real-time connection; those that drain are not.
    pub connections: u64,
    /// CPU time this shard's thread used in the interval (ns).
    pub cpu_ns: u64,
    /// How long it was ready to run and had no core (ns); 0 where the system does not say.
    pub wait_ns: u64,
    /// How long the process that runs the script's functions for this shard was busy, or ready to run and had no core
    /// (ns); 0 without one, and where the system does not say.
    pub functions_ns: u64,
}

/// A shard's observations in one interval.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Counts since the last record.
    pub counters: Counters,
    /// By operation id.
    pub operations: Vec<Timings>,
    /// Responses by HTTP status code.
    pub codes: Vec<u64>,
    /// An entry per operation and failure.
    pub failures: Vec<FailureCount>,
    /// Users created, by scenario.
    pub scenarios: Vec<u64>,
    /// Lengths of completed users' sessions.
    pub sessions: Option<Box<Histogram>>,
    /// How late our own wake-ups were.
    pub lag: Option<Box<Histogram>>,
    /// How late the shard's heartbeat came.
    pub hiccups: Option<Box<Histogram>>,
    /// The shard's number; without it, records count as given in the order of the shards.
    pub shard: Option<u16>,
    /// Levels now; set by the engine.
    pub gauges: Gauges,
    /// Samples of metrics by name: those of the script's functions, and what else it has told by name.
    pub metrics: Interval,
    /// The results of the script's expectations.
    pub expectations: Expectations,
    /// The ledger's inputs.
    pub ledger: Batch,
}

/// Statuses from 0 to 999 have a count; anything above is no HTTP status and counts as 999.
const CODES: usize = 1000;

/// Writes down what one shard sees.
pub struct Recorder {
    now: Record,
    /// How large last interval's histograms had become, by operation.
    sizes: Vec<u64>,
    /// The failed operation recorded last, until its example has come.
    just_failed: Option<(OperationId, Failure, At)>,
    sampler: Sampler,
    /// Operations with tags, by [`TaggedId`](crate::outcome::TaggedId).
    tagged: Vec<tagged::Tagged>,
    /// Values in this interval that no metric could take.
    left_out: u64,
}

impl Recorder {
    /// A recorder for a plan with this many operations and scenarios, whose metrics are its own.
    pub fn new(operations: usize, scenarios: usize) -> Recorder {
        Recorder::sharing(operations, scenarios, Arc::default())
    }

    /// [`Recorder::new`], with the metrics that the recorders of all shards have in common.
    pub fn sharing(operations: usize, scenarios: usize, metrics: Arc<Registry>) -> Recorder {
        Recorder {
            now: blank(operations, scenarios),
            sizes: vec![2; operations],
            just_failed: None,
            sampler: Sampler::new(metrics, |_| &[], AutomaticTags::default(), false),
            tagged: Vec::new(),
            left_out: 0,
        }
    }

    /// An operation ended: its outcome counts, and its times where they say something of the target (see
    /// [`Failure::has_time`]; a connection refused in 0.1 ms is no fast response). Every failure counts here once;
    /// [`Recorder::failure`] called directly afterwards for the same operation and failure adds an example without
    /// counting again.
    pub fn operation(&mut self, operation: impl Into<CountedAs>, timing: Timing, outcome: Outcome) {
        let CountedAs { id, tagged } = operation.into();
        self.block(id, timing, outcome);
        if let Some(tagged) = tagged {
            self.observe_tagged(tagged, timing, outcome, timing.ended.since(timing.planned));
        }
    }

    fn block(&mut self, operation: OperationId, timing: Timing, outcome: Outcome) {
        let size = self.sizes[operation.0 as usize];
        let timings = &mut self.now.operations[operation.0 as usize];
        let fresh = || Box::new(Histogram::sized(size));
        if matches!(outcome, Outcome::Failed(failure) if !failure.has_time()) {
            timings.unanswered += 1;
        } else {
            let response_ns = timing.ended.since(timing.planned);
            timings.response.get_or_insert_with(fresh).record_ns(response_ns);
            timings.answers.record(outcome, response_ns);
            timings.service.get_or_insert_with(fresh).record_ns(timing.ended.since(timing.started));
        }
        if let Some(first_byte) = timing.first_byte {
            timings.first_byte.get_or_insert_with(fresh).record_ns(first_byte.since(timing.started));
        }
        self.just_failed = None;
        match outcome {
            Outcome::Ok => {}
            Outcome::Status(code) => self.status(code),
            Outcome::Failed(failure) => {
                timings.failed += 1;
                let entry = failures::entry(&mut self.now.failures, Some(operation), failure, "");
                entry.first_at = entry.first_at.min(timing.ended);
                entry.count += 1;
                self.just_failed = Some((operation, failure, timing.ended));
            }
        }
    }

    /// Something failed. The first example per (operation, failure) and interval is kept (≤ 200 bytes), later ones are
    /// only counted. Directly after [`Recorder::operation`] reported the same failure, this only adds its example.
    pub fn failure(
        &mut self,
        operation: Option<OperationId>,
        failure: Failure,
        example: impl FnOnce() -> String,
    ) {
        self.failure_called(operation, failure, None, "", example);
    }

    /// Like [`Recorder::failure`], with the instant of a failure outside any timed operation, and with a name where it
    /// differs from the failure's own (a function's message, say). Named ones count apart, up to [`CALLED_MAX`] names;
    /// an empty name is none.
    pub fn failure_called(
        &mut self,
        operation: Option<OperationId>,
        failure: Failure,
        at: Option<At>,
        called: &str,
        example: impl FnOnce() -> String,
    ) {
        let just_failed =
            self.just_failed.take().filter(|&(id, same, _)| (Some(id), same) == (operation, failure));
        let at = just_failed.map(|(.., at)| at).or(at).unwrap_or(UNKNOWN);
        let mut is_counted = just_failed.is_some();
        if is_counted && !called.is_empty() {
            // Its operation has ended before anybody said what it is called.
            failures::take_back(&mut self.now.failures, operation, failure);
            is_counted = false;
        }
        let entry = failures::entry(&mut self.now.failures, operation, failure, called);
        entry.first_at = entry.first_at.min(at);
        entry.count += u64::from(!is_counted);
        if entry.example.is_empty() {
            entry.example = kept(&example());
            entry.example_at = at;
        }
    }

    /// Adds `n` to a counter.
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.now.counters.add(counter, n);
    }

    /// A response with this status that is no operation of its own: a poll's, say.
    pub fn status(&mut self, code: u16) {
        self.now.codes[usize::from(code).min(CODES - 1)] += 1;
    }

    /// A response that led the operation under way elsewhere, so long after it was asked for.
    pub fn hop(&mut self, operation: impl Into<CountedAs>, code: u16, ns: i64, at: At) {
        let CountedAs { id, tagged } = operation.into();
        self.status(code);
        self.now.operations[id.0 as usize].answers.hop(code, ns);
        if let Some(tagged) = tagged {
            self.observe_hop(tagged, code, ns, at);
        }
    }

    /// Like [`Recorder::operation`], for a redirected request; the final hop took `last_ns`.
    pub fn redirected(
        &mut self,
        operation: impl Into<CountedAs>,
        timing: Timing,
        outcome: Outcome,
        last_ns: i64,
    ) {
        let CountedAs { id, tagged } = operation.into();
        self.block(id, timing, outcome);
        let answers = &mut self.now.operations[id.0 as usize].answers;
        answers.redirected(outcome, timing.ended.since(timing.planned), last_ns);
        if let Some(tagged) = tagged {
            self.observe_tagged(tagged, timing, outcome, last_ns);
        }
    }

    /// A user of this scenario came to life.
    pub fn user_created(&mut self, scenario: u16) {
        self.now.scenarios[scenario as usize] += 1;
    }

    /// A user ended its flow; its session length (think time and connects included) counts when it completed.
    pub fn user_ended(&mut self, scenario: u16, completed: bool, session_ns: i64) {
        debug_assert!((scenario as usize) < self.now.scenarios.len(), "a scenario of the plan");
        if completed {
            self.now.counters.add(Counter::UsersCompleted, 1);
            self.now.sessions.get_or_insert_default().record_ns(session_ns);
        } else {
            self.now.counters.add(Counter::UsersFailed, 1);
        }
    }

    /// How late our own wake-up was for something planned (generator health, not the target's doing).
    pub fn send_lag(&mut self, ns: i64) {
        self.now.lag.get_or_insert_default().record_ns(ns);
    }

    /// How late the shard's heartbeat came.
    pub fn hiccup(&mut self, ns: i64) {
        self.now.hiccups.get_or_insert_default().record_ns(ns);
    }

    /// A value of a metric by name. A name is of the kind and unit that used it first: values of another, and of
    /// metrics beyond [`crate::metrics::METRICS_MAX`], are left out and counted.
    pub fn observe(&mut self, (kind, unit): (Kind, Unit), name: &str, value: f64, at: At) {
        match self.sampler.registry().add(name, kind, unit) {
            Ok(metric) => {
                let tags = self.sampler.tags();
                self.sampler.observe(metric, value, &tags, at);
            }
            Err(_) => self.left_out += 1,
        }
    }

    /// The results of the script's expectations.
    pub fn expectations(&mut self) -> &mut Expectations {
        &mut self.now.expectations
    }

    /// The ledger's inputs.
    pub fn ledger(&mut self) -> &mut Batch {
        &mut self.now.ledger
    }

    /// Hands over everything since the last call and starts afresh. Buffers are swapped, not cloned; the new ones are
    /// made as large as the old ones had become.
    pub fn take(&mut self) -> Record {
        for (size, timings) in self.sizes.iter_mut().zip(&self.now.operations) {
            if let Some(response) = &timings.response {
                *size = response.high_us();
            }
        }
        let mut next = blank(self.now.operations.len(), self.now.scenarios.len());
        next.ledger = self.now.ledger.successor();
        self.just_failed = None;
        self.now.metrics = self.sampler.take();
        self.now.metrics.left_out = std::mem::take(&mut self.left_out);
        std::mem::replace(&mut self.now, next)
    }
}

fn blank(operations: usize, scenarios: usize) -> Record {
    let (operations, scenarios) = (vec![Timings::default(); operations], vec![0; scenarios]);
    Record { operations, scenarios, codes: vec![0; CODES], ..Record::default() }
}
