//! What is measured: metrics, the tags of samples, and what thresholds make of them.
//!
//! A sample's way: a script's user observes it through the [`Sampler`] of its shard, which adds it to one [`Cell`] of that
//! shard; once a second the shard's [`Interval`] goes to the [`Store`], which adds each cell to all it belongs to: the metric,
//! the sub-metrics thresholds name, the check, the group, the scenario. So a sample costs one addition wherever it counts,
//! and which cell it goes to is looked up once per metric and set of [`Tags`].
//!
//! The set of tags of a sample is known by address, not by its strings: [`Tags`] are interned.

pub(crate) mod delivery;
mod registry;
mod sampler;
mod sink;
mod store;
mod system;
mod tags;
#[cfg(test)]
mod tests;
mod threshold;
mod trend;

pub use registry::{Metric, Refused, Registry, Submetric, Unnamed, builtin};
pub use sampler::{Detail, Interval, Sample, Sampler};
pub use sink::{Counted, Gauged, Rated, Sink};
pub use store::{CheckCount, Judgement, Scope, Store, Unfit};
pub(crate) use store::{Limit, Target};
pub use system::{SystemTag, SystemTags};
pub use tags::{Metadata, TagSet, Tags};
pub use threshold::{Aggregation, Expression, Misread, Operator};
pub use trend::Trend;

/// What a metric does with its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Adds them up.
    Counter,
    /// Keeps the last, the least and the greatest.
    Gauge,
    /// Counts those that are not zero among all.
    Rate,
    /// Keeps what their average and percentiles need.
    Trend,
}

impl Kind {
    /// As k6 writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }
}

/// What a metric's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// As k6 writes it.
    pub fn name(self) -> &'static str {
        match self {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        }
    }
}

/// A metric of a [`Registry`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(u32);

impl MetricId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
