//! The interface of probes: [`Probe`] looks, [`Readings`] takes what it sees.

use crate::observations::Observation;
use crate::second::{Measured, Second, Told};
use sonagi_measure::At;
use sonagi_measure::metrics::{Aggregate, Counted, Gauged, Kind, TagSet, Unit};
use sonagi_measure::watched;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

/// Totals that were not read for this long begin anew.
const FORGOTTEN_AFTER_NS: i64 = 30_000_000_000;

/// Looks at one thing that has to do with the target, once a second.
pub trait Probe: Send {
    /// What it looks at, as messages name it: `the processes at port 3000`. Without passwords.
    fn subject(&self) -> String;

    /// Tags of everything it sees, by which a run tells several alike probes apart.
    fn tags(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Takes a look. It may block; a probe has a thread of its own.
    ///
    /// # Errors
    /// Nothing could be read this time. The next look tries anew.
    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread>;

    /// The run is over: undo what was done to the target for the sake of looking.
    fn leave(&mut self) {}
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unread {
    why: String,
    hint: Option<String>,
}

impl Unread {
    /// A reason, in a clause that follows a colon: `the role may not see other sessions`.
    pub fn because(why: impl fmt::Display) -> Unread {
        Unread { why: why.to_string(), hint: None }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(self, hint: impl fmt::Display) -> Unread {
        Unread { hint: Some(hint.to_string()), ..self }
    }
}

/// Something to be told once, not a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// When.
    pub at: At,
    /// The subject of the probe.
    pub subject: String,
    /// In a sentence without the subject.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it is about the target (it died, it was restarted), not about what cannot be measured.
    pub is_event: bool,
}

/// A counter by its metric, and which of the metric's counters it is.
type Counter = (&'static str, &'static str);

/// What a probe remembers from look to look, kept for it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Totals when they were last read, by metric and tags.
    totals: HashMap<(Counter, TagSet), (f64, At)>,
    /// What has been told to be unreadable, and why.
    told: HashSet<String>,
}

impl Memory {
    /// Forgets totals that were not read for so long that an increase since then would say nothing of now.
    fn forget(&mut self, now: At) {
        self.totals.retain(|_, (_, at)| now.since(*at) < FORGOTTEN_AFTER_NS);
    }
}

/// What one look has brought.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) observations: Vec<Observation>,
    pub(crate) notes: Vec<Note>,
}

/// Takes the observations of one look.
pub struct Readings<'l> {
    at: At,
    subject: &'l str,
    common: &'l [(&'static str, String)],
    memory: &'l mut Memory,
    looked: Looked,
}

impl<'l> Readings<'l> {
    pub(crate) fn new(
        at: At,
        (subject, common): (&'l str, &'l [(&'static str, String)]),
        memory: &'l mut Memory,
    ) -> Readings<'l> {
        Readings { at, subject, common, memory, looked: Looked::default() }
    }

    /// Ends the look, which took this long and this much of a core.
    pub(crate) fn end(mut self, took: Duration, cpu: Duration) -> Looked {
        let probe = self.subject.to_owned();
        self.level(watched::LOOK, &[("probe", &probe)], took.as_secs_f64() * 1e3);
        self.level(watched::LOOK_CPU, &[("probe", &probe)], cpu.as_secs_f64() * 1e3);
        self.memory.forget(self.at);
        self.looked
    }

    /// The instant of this look.
    pub fn at(&self) -> At {
        self.at
    }

    /// The level of a gauge now.
    pub fn level(&mut self, metric: &'static str, tags: &[(&str, &str)], value: f64) {
        let tags = self.tags(tags);
        self.gauge(metric, tags, value);
    }

    /// A counter that the watched thing keeps: its increase since the look before counts, from the second look on. One
    /// that is lower than before began anew.
    pub fn total(&mut self, metric: &'static str, tags: &[(&str, &str)], total: f64) {
        let tags = self.tags(tags);
        if let Some((more, _)) = self.increased((metric, ""), &tags, total) {
            self.count(metric, tags, more);
        }
    }

    /// An increase of a counter of ours in this second.
    pub fn increase(&mut self, metric: &'static str, tags: &[(&str, &str)], more: f64) {
        let tags = self.tags(tags);
        self.count(metric, tags, more);
    }

    /// Of two counters that the watched thing keeps, the share that the increase of the first is of the second's.
    pub fn share(&mut self, metric: &'static str, tags: &[(&str, &str)], part: f64, whole: f64) {
        let tags = self.tags(tags);
        let part = self.increased((metric, "part"), &tags, part);
        let whole = self.increased((metric, "whole"), &tags, whole);
        if let (Some((part, _)), Some((whole, _))) = (part, whole) {
            self.gauge(metric, tags, if whole > 0.0 { part / whole } else { 0.0 });
        }
    }

    /// A counter as a gauge: its increase in a second, on average since it was read before. Of a total of seconds, the
    /// share of the time.
    pub fn pace(&mut self, metric: &'static str, tags: &[(&str, &str)], total: f64) -> Option<f64> {
        let tags = self.tags(tags);
        let (more, seconds) = self.increased((metric, ""), &tags, total)?;
        self.gauge(metric, tags, more / seconds);
        Some(more / seconds)
    }

    /// A level of a metric that the watched thing names itself.
    pub fn foreign_level(&mut self, metric: &str, tags: &[(&str, &str)], value: f64) {
        let tags = self.tags(tags);
        self.add(metric, (Kind::Gauge, Unit::Number), tags, level(value, self.at));
    }

    /// An increase of a counter that the watched thing names itself, in this second.
    pub fn foreign_increase(&mut self, metric: &str, tags: &[(&str, &str)], more: f64) {
        let tags = self.tags(tags);
        self.add(metric, (Kind::Counter, Unit::Number), tags, increase(more));
    }

    /// All that another watch saw in a second.
    pub(crate) fn relay(&mut self, second: Second) {
        for Measured { metric, kind, unit, tags, value } in second.values {
            let tags = self.tags(&tags.iter().collect::<Vec<_>>());
            let aggregate = if kind == Kind::Gauge { level(value, self.at) } else { increase(value) };
            self.add(&metric, (kind, unit), tags, aggregate);
        }
        for Told { subject, text, hint, is_event } in second.notes {
            let subject = format!("{subject}, by {}", self.subject);
            self.looked.notes.push(Note { at: self.at, subject, text, hint, is_event });
        }
    }

    /// Something cannot be read, at all or for now: told once for each thing and reason.
    pub fn not_measured(&mut self, thing: &str, unread: &Unread) {
        let text = format!("{thing} not measured: {}", unread.why);
        if self.memory.told.insert(text.clone()) {
            self.note(text, unread.hint.clone(), false);
        }
    }

    /// Something happened to the target.
    pub fn happened(&mut self, text: impl fmt::Display) {
        self.note(text.to_string(), None, true);
    }

    fn note(&mut self, text: String, hint: Option<String>, is_event: bool) {
        let subject = self.subject.to_owned();
        self.looked.notes.push(Note { at: self.at, subject, text, hint, is_event });
    }

    fn gauge(&mut self, metric: &'static str, tags: TagSet, value: f64) {
        self.add(metric, (Kind::Gauge, watched::unit(metric)), tags, level(value, self.at));
    }

    fn count(&mut self, metric: &'static str, tags: TagSet, more: f64) {
        self.add(metric, (Kind::Counter, watched::unit(metric)), tags, increase(more));
    }

    fn add(&mut self, metric: &str, (kind, unit): (Kind, Unit), tags: TagSet, aggregate: Aggregate) {
        let metric = metric.to_owned();
        self.looked.observations.push(Observation { metric, kind, unit, tags, aggregate });
    }

    /// How much a total grew, and in how many seconds.
    fn increased(&mut self, of: Counter, tags: &TagSet, total: f64) -> Option<(f64, f64)> {
        let before = self.memory.totals.insert((of, tags.clone()), (total, self.at));
        let (before, then) = before.filter(|(_, then)| *then < self.at)?;
        let more = if total < before { total } else { total - before };
        Some((more, self.at.since(then) as f64 / 1e9))
    }

    fn tags(&self, tags: &[(&str, &str)]) -> TagSet {
        let common = self.common.iter().map(|(name, value)| (*name, value.as_str()));
        TagSet::of(&common.chain(tags.iter().copied()).collect::<Vec<_>>())
    }
}

fn level(value: f64, at: At) -> Aggregate {
    Aggregate::Gauge(Gauged { value, min: value, max: value, at, samples: 1 })
}

fn increase(more: f64) -> Aggregate {
    Aggregate::Counter(Counted { count: more, samples: 1 })
}
