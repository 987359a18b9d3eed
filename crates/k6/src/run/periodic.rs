//! Tasks of a test by the clock: virtual users are counted every second, thresholds are judged every other.
//!
//! As in k6, both begin with the initialisation of the virtual users and go on to the end of `teardown`, while the
//! test's own duration, which rates are divided by, begins with `setup`.

use sonagi_engine::{Progress, RunEvent};
use sonagi_measure::At;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::collector::Collector;
use super::vu_pool::Shared;
use crate::executor::{Common, Reason};
use crate::metrics::{JUDGED_EVERY, MetricStore, builtin};

/// How often virtual users are counted; a shorter test has no such sample.
const GAUGED_EVERY: Duration = Duration::from_secs(1);
/// How often the collector looks around while nothing comes.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Where a test is in time. All instants count from the epoch of its clock.
pub(super) struct Timetable {
    next_gauges: Duration,
    next_judgement: Duration,
    /// Before `setup`; None: virtual users are still made.
    began: Option<Duration>,
    /// Behind `teardown`.
    ended: Option<Duration>,
    /// The scenarios, once they are under way or over.
    pub(super) scenarios: Vec<Arc<Common>>,
}

impl Timetable {
    /// The timetable of a test that makes its virtual users now.
    pub(super) fn new(now: Duration) -> Timetable {
        let (next_gauges, next_judgement) = (now + GAUGED_EVERY, now + JUDGED_EVERY);
        Timetable { next_gauges, next_judgement, began: None, ended: None, scenarios: Vec::new() }
    }

    /// The test begins.
    pub(super) fn begin(&mut self, now: Duration) {
        self.began = Some(now);
    }

    /// It is over.
    pub(super) fn end(&mut self, now: Duration) {
        self.ended = Some(now);
    }

    /// When it began; an instant in the future has not come.
    pub(super) fn began(&self) -> Option<Duration> {
        self.began
    }

    /// How long the test has run, or ran.
    pub(super) fn elapsed(&self, now: Duration) -> Duration {
        let began = self.began.unwrap_or(now);
        self.ended.unwrap_or(now).saturating_sub(began)
    }

    /// How long nothing is to be done by the clock.
    pub(super) fn quiet(&self, now: Duration) -> Duration {
        self.next_gauges.min(self.next_judgement).saturating_sub(now).min(LOOK)
    }

    fn sum(&self, of: fn(&Common) -> u64) -> u64 {
        Common::sum(&self.scenarios, of)
    }
}

/// Whether an instant has come; the next one is `every` later, and those that were missed are left out.
fn is_due(next: &mut Duration, every: Duration, now: Duration) -> bool {
    let is_due = now >= *next;
    while now >= *next {
        *next += every;
    }
    is_due
}

impl Collector<'_, '_> {
    /// Does what is due.
    pub(super) fn keep_time(&mut self, metrics: &mut MetricStore) {
        let now = self.test.since_epoch();
        if is_due(&mut self.timetable.next_gauges, GAUGED_EVERY, now) {
            self.gauges(now);
        }
        if is_due(&mut self.timetable.next_judgement, JUDGED_EVERY, now) {
            let elapsed = self.timetable.elapsed(now);
            let judgement = metrics.judge(elapsed, false);
            if judgement.abort {
                self.abort.ask(Reason::Crossed(judgement.metrics.join(", ")));
            }
        }
    }

    fn gauges(&mut self, now: Duration) {
        let active = self.timetable.sum(Common::active_vus);
        let there = self.dialect.shared.there();
        // Of a test that is about to be ended early k6 has no samples any more.
        if !self.abort.asked() {
            let (tags, at) = (self.sampler.tags(), At(now.as_nanos() as i64));
            self.sampler.observe(builtin::VUS, active as f64, &tags, at);
            self.sampler.observe(builtin::VUS_MAX, there as f64, &tags, at);
        }
        if self.timetable.began.is_none() {
            return;
        }
        (self.on)(RunEvent::Progress(&Progress {
            elapsed: self.timetable.elapsed(now),
            vus: (active, there),
            iterations: (self.timetable.sum(Common::complete), self.timetable.sum(Common::interrupted)),
        }));
    }
}

impl Shared {
    /// Virtual users whose init code has run.
    fn there(&self) -> u64 {
        self.initialised.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_test_lasts_from_before_setup_to_behind_teardown() {
        let mut timetable = Timetable::new(100 * MS);
        assert_eq!(timetable.elapsed(900 * MS), Duration::ZERO);
        timetable.begin(1000 * MS);
        assert_eq!(timetable.elapsed(1300 * MS), 300 * MS);
        timetable.end(2500 * MS);
        assert_eq!(timetable.elapsed(9000 * MS), 1500 * MS);
    }

    #[test]
    fn users_are_counted_every_second_from_when_they_are_made() {
        let mut timetable = Timetable::new(100 * MS);
        assert_eq!((timetable.quiet(100 * MS), timetable.quiet(1090 * MS)), (LOOK, 10 * MS));
        let mut counted = Vec::new();
        for ms in [1099, 1100, 1101, 2100, 4700, 5100] {
            counted.push(is_due(&mut timetable.next_gauges, GAUGED_EVERY, ms * MS));
        }
        assert_eq!(counted, [false, true, false, true, true, true]);
    }
}
