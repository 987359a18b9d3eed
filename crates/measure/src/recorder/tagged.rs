//! Operations with tags: beside its own block, what one came to goes into series that its tags tell apart.
//!
//! Which figures of it are sampled, and in which metrics, is for the script's language to say. A run without tags comes
//! here never: an operation says that it has none.

use super::Recorder;
use crate::at::At;
use crate::metrics::{MetricId, Tags};
use crate::outcome::{Outcome, TaggedId, Timing};

/// A figure of an operation that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// From its planned instant to its end (ms), where it has a time.
    Response,
    /// From its actual start to its end (ms), where it has a time.
    Service,
    /// From its actual start to the first byte of the answer (ms), where there was one.
    FirstByte,
    /// How long each answer took (ms): the operation's response time, or, where it was redirected, that of each hop.
    Answer,
    /// That it ended: 1.
    Count,
    /// Whether it failed: 1 or 0.
    Failed,
    /// That an answer had this status: 1. Of other answers nothing is sampled.
    Status(u16),
}

/// Where an operation with tags counts beside its own block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaggedSeries {
    /// Names and values.
    pub tags: Vec<(String, String)>,
    /// What of it goes into which metric.
    pub metrics: Vec<(Figure, MetricId)>,
}

/// A [`TaggedSeries`] of one thread.
pub(super) struct Tagged {
    tags: Tags,
    metrics: Box<[(Figure, MetricId)]>,
}

impl Recorder {
    /// Tells operations with tags apart from now on: a [`TaggedId`] is an index into these. Those beyond count in their
    /// blocks alone.
    pub fn tell_apart(&mut self, tagged: &[TaggedSeries]) {
        let none = self.sampler.tags();
        let of_thread = |TaggedSeries { tags, metrics }: &TaggedSeries| {
            let tags: Vec<(&str, &str)> = tags.iter().map(|(name, value)| (&**name, &**value)).collect();
            Tagged { tags: none.with_all(&tags), metrics: metrics.clone().into() }
        };
        self.tagged = tagged.iter().map(of_thread).collect();
    }

    /// An operation ended; its last answer alone took `answer_ns`.
    pub(super) fn observe_tagged(&mut self, id: TaggedId, timing: Timing, outcome: Outcome, answer_ns: i64) {
        let Timing { planned, started, first_byte, ended } = timing;
        let has_time = !matches!(outcome, Outcome::Failed(failure) if !failure.has_time());
        self.sample(id, ended, |figure| match figure {
            Figure::Response => has_time.then(|| ms(ended.since(planned))),
            Figure::Service => has_time.then(|| ms(ended.since(started))),
            Figure::FirstByte => first_byte.map(|first_byte| ms(first_byte.since(started))),
            Figure::Answer => has_time.then(|| ms(answer_ns)),
            Figure::Count => Some(1.0),
            Figure::Failed => Some(f64::from(u8::from(matches!(outcome, Outcome::Failed(_))))),
            Figure::Status(code) => (outcome == Outcome::Status(code)).then_some(1.0),
        });
    }

    /// An answer led the operation under way elsewhere.
    pub(super) fn observe_hop(&mut self, id: TaggedId, code: u16, ns: i64, at: At) {
        self.sample(id, at, |figure| match figure {
            Figure::Answer => Some(ms(ns)),
            Figure::Status(wanted) => (wanted == code).then_some(1.0),
            _ => None,
        });
    }

    fn sample(&mut self, id: TaggedId, at: At, value: impl Fn(Figure) -> Option<f64>) {
        let Some(tagged) = self.tagged.get(usize::from(id.0)) else { return };
        for (figure, metric) in &tagged.metrics {
            if let Some(value) = value(*figure) {
                self.sampler.observe(*metric, value, &tagged.tags, at);
            }
        }
    }
}

/// Never negative: a wake-up a hair too early is no time.
fn ms(ns: i64) -> f64 {
    ns.max(0) as f64 / 1e6
}
