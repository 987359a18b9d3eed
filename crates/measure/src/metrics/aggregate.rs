//! The aggregates of a metric's samples.

use super::{Kind, Trend};
use crate::at::At;

/// The aggregate of the samples of a metric, or of a part of them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // as Kind says
pub enum Aggregate {
    Counter(Counted),
    Gauge(Gauged),
    Rate(Rated),
    Trend(Box<Trend>),
}

/// A counter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// The sum of all values.
    pub count: f64,
    /// How many there were.
    pub samples: u64,
}

/// A gauge; all 0 before its first value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauged {
    /// The latest value.
    pub value: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// When it had the latest value.
    pub at: At,
    /// How many values there were.
    pub samples: u64,
}

/// A rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rated {
    /// Values other than zero.
    pub passes: u64,
    /// All values.
    pub total: u64,
}

impl Rated {
    /// Values of zero.
    pub fn fails(&self) -> u64 {
        self.total - self.passes
    }
    /// The share of passes; 0 of none.
    pub fn rate(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.passes as f64 / self.total as f64 }
    }
}

impl Aggregate {
    /// An aggregate without values.
    pub fn new(kind: Kind) -> Aggregate {
        match kind {
            Kind::Counter => Aggregate::Counter(Counted::default()),
            Kind::Gauge => Aggregate::Gauge(Gauged::default()),
            Kind::Rate => Aggregate::Rate(Rated::default()),
            Kind::Trend => Aggregate::Trend(Box::new(Trend::with_room(0))),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, value: f64, at: At) {
        match self {
            Aggregate::Counter(counted) => {
                counted.count += value;
                counted.samples += 1;
            }
            Aggregate::Gauge(gauged) => {
                gauged.merge(&Gauged { value, min: value, max: value, at, samples: 1 });
            }
            Aggregate::Rate(rated) => {
                rated.total += 1;
                rated.passes += u64::from(value != 0.0);
            }
            Aggregate::Trend(trend) => trend.add(value),
        }
    }

    /// Adds what another of the same kind holds.
    pub fn merge(&mut self, other: &Aggregate) {
        match (self, other) {
            (Aggregate::Counter(into), Aggregate::Counter(other)) => {
                into.count += other.count;
                into.samples += other.samples;
            }
            (Aggregate::Gauge(into), Aggregate::Gauge(other)) => into.merge(other),
            (Aggregate::Rate(into), Aggregate::Rate(other)) => {
                into.total += other.total;
                into.passes += other.passes;
            }
            (Aggregate::Trend(into), Aggregate::Trend(other)) => into.merge(other),
            _ => unreachable!("a metric has one kind on all shards"),
        }
    }

    /// Takes the contents and leaves an empty aggregate with as much room as was needed.
    pub(super) fn take(&mut self) -> Aggregate {
        let fresh = match &*self {
            Aggregate::Trend(trend) => Aggregate::Trend(Box::new(Trend::with_room(trend.count() as usize))),
            other => Aggregate::new(other.kind()),
        };
        std::mem::replace(self, fresh)
    }

    /// The kind of its metric.
    pub fn kind(&self) -> Kind {
        match self {
            Aggregate::Counter(_) => Kind::Counter,
            Aggregate::Gauge(_) => Kind::Gauge,
            Aggregate::Rate(_) => Kind::Rate,
            Aggregate::Trend(_) => Kind::Trend,
        }
    }

    /// How many samples it has seen.
    pub fn samples(&self) -> u64 {
        match self {
            Aggregate::Counter(counted) => counted.samples,
            Aggregate::Gauge(gauged) => gauged.samples,
            Aggregate::Rate(rated) => rated.total,
            Aggregate::Trend(trend) => trend.count(),
        }
    }
}

impl Gauged {
    fn merge(&mut self, other: &Gauged) {
        if other.samples == 0 {
            return;
        }
        if self.samples == 0 {
            *self = *other;
            return;
        }
        if other.at >= self.at {
            (self.value, self.at) = (other.value, other.at);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.samples += other.samples;
    }
}
