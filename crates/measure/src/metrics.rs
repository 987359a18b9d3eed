//! Metrics by name, the tags of their samples, and the thresholds on them.
//!
//! A sample's way: whoever observes it adds it, through the [`Sampler`] of its thread, to the one [`Aggregate`] of its
//! series there. Once a second the thread's [`Interval`] goes to the collector, whose [`MetricStore`] adds each series
//! to all it belongs to: the metric, the sub-metrics that thresholds name, the tags that make series. So a sample costs
//! one addition wherever it counts, and its series is looked up once per metric and set of [`Tags`].
//!
//! The script's language chooses a metric's name, the tags that make series of it and those it is broken down by: see
//! [`SeriesTags`], [`Breakdown`] and [`AutomaticTag`].

mod aggregate;
mod breakdown;
mod interval;
mod registry;
mod sampler;
mod series_name;
mod store;
mod summary;
mod tags;
#[cfg(test)]
mod tests;
mod threshold;
mod trend;

pub use aggregate::{Aggregate, Counted, Gauged, Rated};
pub use breakdown::{OTHER, SETS_MAX, VALUES_MAX};
pub use interval::{Interval, Observed, Part, Series};
pub use registry::{Conflict, METRICS_MAX, Metric, Registry, Scope, Submetric};
pub use sampler::{Breakdown, SERIES_MAX, Sample, Sampler, SeriesTags};
pub use series_name::{SeriesName, Unnamed};
pub use store::{Crossed, Limit, MetricStore, Tagged, Target, Unfit};
pub use summary::{Level, MetricSummary};
pub use tags::{AutomaticTag, AutomaticTags, Metadata, TagSet, Tags};
pub use threshold::{AbortRule, Aggregation, Expression, JUDGED_EVERY, Misread};
pub use trend::Trend;

/// The way a metric combines its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// In one word, as outputs write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Plain numbers.
    Number,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Events, of which the number per second of the run counts.
    Events,
    /// Shares of a whole, of which 1 is all.
    Share,
}

/// A metric of a [`Registry`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(u32);

impl MetricId {
    /// The metric at this place of the registry.
    pub const fn new(number: u32) -> MetricId {
        MetricId(number)
    }

    /// Its place in the registry.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
