//! All that a rule may look at.

use crate::series::{first_above, mean, measured, most, share_above, sum};
use crate::story::Story;
use crate::timeline::Timeline;
use serde_json::Value;
use sonagi_measure::summary::Summary;
use sonagi_measure::watched;
use std::ops::Range;

/// How long a resource is saturated at least before it is called that (s).
const LASTING: usize = 3;

/// What is busy for a smaller share of the time has time left.
const IDLE: f64 = 0.8;

/// Threads that wait for a core, on average: users feel it from here on.
const WAITING: f64 = 0.2;

/// Of what falls to each who wants a core, less than this is not wanted.
const SHARE: f64 = 0.5;

/// Of a database's active sessions, the part that runs where it is short of cores.
const RUNNING: f64 = 0.5;

/// A run in trouble.
pub struct Case<'r> {
    /// Its series.
    pub timeline: &'r Timeline,
    /// What it came to.
    pub summary: &'r Summary,
    /// What happened in it, as its folder has it.
    pub events: &'r [Value],
    /// What users noticed.
    pub story: &'r Story,
}

/// A resource that was saturated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saturated {
    /// From this second on.
    pub(crate) onset_s: usize,
    /// Its mean level since the trouble began.
    pub(crate) level: f64,
    /// Its mean level before; none: there was no time before.
    pub(crate) before: Option<f64>,
}

impl Case<'_> {
    /// The seconds of the whole run.
    pub(crate) fn whole(&self) -> Range<usize> {
        0..self.timeline.len()
    }

    /// Whether a metric was measured at all.
    pub(crate) fn has(&self, metric: &str) -> bool {
        self.timeline.has(metric)
    }

    /// The highest level a metric had.
    pub(crate) fn peak(&self, metric: &str) -> Option<f64> {
        most(&self.timeline.level(metric), self.whole())
    }

    /// The mean level of a metric since the trouble began.
    pub(crate) fn level(&self, metric: &str) -> Option<f64> {
        mean(&self.timeline.level(metric), self.story.trouble())
    }

    /// How much a counter grew in the whole run; None: it was not measured.
    pub(crate) fn total(&self, metric: &str) -> Option<f64> {
        self.has(metric).then(|| sum(&self.timeline.rate(metric), self.whole()))
    }

    /// The first second in which a counter grew.
    pub(crate) fn first(&self, metric: &str) -> usize {
        let rate = measured(&self.timeline.rate(metric));
        first_above(&rate, self.whole(), f64::MIN_POSITIVE, 1).unwrap_or(0)
    }

    /// A gauge that was at or above a level for three seconds in a row, and for a good part of the trouble.
    pub(crate) fn saturated(&self, metric: &str, least: f64) -> Option<Saturated> {
        self.saturated_levels(&self.timeline.level(metric), least)
    }

    /// The same, of levels made of several metrics.
    pub(crate) fn saturated_levels(&self, levels: &[Option<f64>], least: f64) -> Option<Saturated> {
        const PART: f64 = 0.4;
        let onset_s = first_above(levels, self.whole(), least, LASTING)?;
        let trouble = self.story.trouble();
        (share_above(levels, trouble.clone(), least)? >= PART).then_some(())?;
        let level = mean(levels, trouble)?;
        Some(Saturated { onset_s, level, before: mean(levels, self.story.calm()) })
    }

    /// What happened to the target, with the second of each. A run folder keeps what an event says in its `detail`.
    pub(crate) fn happened(&self) -> impl Iterator<Item = (usize, &str)> {
        self.events.iter().filter(|event| event["kind"] == watched::TARGET).filter_map(|event| {
            let at = event["at_ns"].as_i64().unwrap_or(0).max(0) as usize / 1_000_000_000;
            Some((at, event["detail"]["text"].as_str()?))
        })
    }

    /// The first of the target's events whose text has this in it.
    pub(crate) fn told(&self, part: &str) -> Option<(usize, &str)> {
        self.happened().find(|(_, text)| text.contains(part))
    }

    /// The function that a profile found to hold the target's event loop: `hashPassword (auth.js:41)`.
    pub(crate) fn loop_holder(&self) -> Option<&str> {
        const HELD: &str = "the event loop is held by ";
        self.told(HELD)?.1.split_once(HELD)?.1.rsplit_once(": ").map(|(who, _)| who)
    }

    /// Whether the target is short of nothing by itself, as far as that was measured: its first thread has time, and
    /// so has its machine, or others may have all of that without keeping the target waiting.
    pub(crate) fn is_idle(&self) -> bool {
        self.has_time("target.cpu.main_thread") && (self.has_time("host.cpu") || !self.is_short_of_cores())
    }

    /// Whether the target is short of cores: its threads could run and wait for one. Where the kernel does not tell, by
    /// what it uses: less than falls to each of those who want a core is its own choice, as a scheduler gives each its
    /// share.
    pub(crate) fn is_short_of_cores(&self) -> bool {
        if let Some(waiting) = self.level("target.cpu.waiting") {
            return waiting >= WAITING;
        }
        let levels = ["target.cpu", "host.cores", "host.runnable"].map(|metric| self.level(metric));
        let [Some(used), Some(cores), Some(runnable)] = levels else { return true };
        used >= SHARE * cores / runnable.max(cores)
    }

    /// Whether a share of time has some left, as far as it was measured.
    pub(crate) fn has_time(&self, metric: &str) -> bool {
        self.level(metric).unwrap_or(0.0) < IDLE
    }

    /// Whether PostgreSQL itself is short of something: a lock, a disk, a core of the target's machine. Sessions that
    /// wait need no core, however busy the machine is with others.
    pub(crate) fn is_database_busy(&self) -> bool {
        let waits = |kind| {
            mean(&self.timeline.level_of("postgres.waiting", "type", kind), self.story.trouble())
                .unwrap_or(0.0)
        };
        let blocked = self.level("postgres.blocked").unwrap_or(0.0);
        let active = self.level("postgres.active").unwrap_or(0.0);
        let running = active - self.level("postgres.waiting").unwrap_or(0.0);
        let has_no_core = self.level("host.cpu").unwrap_or(0.0) >= IDLE && running >= RUNNING * active;
        blocked.max(waits("IO")).max(waits("LWLock")) >= 1.0 || has_no_core
    }

    /// Failures of these codes, in all operations.
    pub(crate) fn failures(&self, codes: &[&str]) -> u64 {
        let errors = self.summary.errors.iter();
        errors.filter(|error| codes.contains(&error.code.as_str())).map(|error| error.count).sum()
    }
}
