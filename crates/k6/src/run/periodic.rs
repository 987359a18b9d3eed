//! Tasks of a test by the clock: virtual users are counted every second, thresholds are judged every other.
//!
//! As in k6, both begin with the initialisation of the virtual users and go on to the end of `teardown`, while the
//! test's own duration, which rates are divided by, begins with `setup`.

use sonagi_engine::{Progress, RunEvent};
use sonagi_measure::At;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::collector::Collector;
use crate::executor::{Common, Count, Counts, Reason};
use crate::metrics::{JUDGED_EVERY, MetricStore, builtin};

/// How often virtual users are counted; a shorter test has no such sample.
const GAUGED_EVERY: Duration = Duration::from_secs(1);

/// Where a test is in time. All instants count from the epoch of its clock.
pub(super) struct Timetable {
    next_gauges: At,
    next_judgement: At,
    /// Before `setup`; None: virtual users are still made.
    pub(super) began: Option<At>,
    /// Behind `teardown`.
    pub(super) ended: Option<At>,
}

impl Timetable {
    /// The timetable of a test that makes its virtual users now.
    pub(super) fn new(now: At) -> Timetable {
        let (next_gauges, next_judgement) = (after(now, GAUGED_EVERY), after(now, JUDGED_EVERY));
        Timetable { next_gauges, next_judgement, began: None, ended: None }
    }

    /// How long the test has run, or ran.
    pub(super) fn elapsed(&self, now: At) -> Duration {
        between(self.began.unwrap_or(now), self.ended.unwrap_or(now))
    }

    /// How long nothing is to be done by the clock.
    pub(super) fn quiet(&self, now: At) -> Duration {
        between(now, self.next_gauges.min(self.next_judgement))
    }
}

/// Whether an instant has come; the next one is `every` later, and those that were missed are left out.
fn is_due(next: &mut At, every: Duration, now: At) -> bool {
    let is_due = now >= *next;
    while now >= *next {
        *next = after(*next, every);
    }
    is_due
}

fn after(at: At, time: Duration) -> At {
    at.plus(time.as_nanos() as i64)
}

/// From one instant to a later one; nothing if it is not later.
fn between(from: At, until: At) -> Duration {
    Duration::from_nanos(until.since(from).max(0) as u64)
}

impl Collector<'_, '_> {
    /// Does what is due.
    pub(super) fn keep_time(&mut self, metrics: &mut MetricStore) {
        let now = self.test.now();
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

    fn gauges(&mut self, now: At) {
        let sum = |of: fn(&Counts) -> &Count| Common::sum(self.dialect.scenarios(), of);
        let active = sum(|counts| &counts.active);
        let there = self.test.common.tally.initialised.load(Ordering::Relaxed);
        let iterations = (sum(|counts| &counts.complete), sum(|counts| &counts.interrupted));
        // Of a test that is about to be ended early k6 has no samples any more.
        if !self.abort.asked() {
            let tags = self.sampler.tags();
            self.sampler.observe(builtin::VUS, active as f64, &tags, now);
            self.sampler.observe(builtin::VUS_MAX, there as f64, &tags, now);
        }
        if self.timetable.began.is_none() {
            return;
        }
        let elapsed = self.timetable.elapsed(now);
        (self.on)(RunEvent::Progress(&Progress { elapsed, vus: (active, there), iterations }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: i64) -> At {
        At(ms * 1_000_000)
    }

    #[test]
    fn a_test_lasts_from_before_setup_to_behind_teardown() {
        let mut timetable = Timetable::new(at(100));
        assert_eq!(timetable.elapsed(at(900)), Duration::ZERO);
        timetable.began = Some(at(1000));
        assert_eq!(timetable.elapsed(at(1300)), 300 * MS);
        timetable.ended = Some(at(2500));
        assert_eq!(timetable.elapsed(at(9000)), 1500 * MS);
    }

    #[test]
    fn users_are_counted_every_second_from_when_they_are_made() {
        let mut timetable = Timetable::new(at(100));
        assert_eq!((timetable.quiet(at(100)), timetable.quiet(at(1090))), (1000 * MS, 10 * MS));
        let mut counted = Vec::new();
        for ms in [1099, 1100, 1101, 2100, 4700, 5100] {
            counted.push(is_due(&mut timetable.next_gauges, GAUGED_EVERY, at(ms)));
        }
        assert_eq!(counted, [false, true, false, true, true, true]);
    }
}
