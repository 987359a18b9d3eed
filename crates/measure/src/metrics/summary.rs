//! A run's metrics as its summary has them.

use std::collections::BTreeMap;

use super::{Aggregate, Kind, Metric, MetricStore, Scope, Trend, Unit};
use crate::histogram::Quantiles;

/// A metric's result in a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MetricSummary {
    /// The way it combines its samples.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Unit,
    /// How many samples it has.
    pub count: u64,
    /// A counter's sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
    /// For events: their number per second of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// The share of a rate's samples that are not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// A gauge's last value, with the least and the greatest it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// A trend's distribution, in the metric's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Quantiles>,
}

/// The result of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Level {
    /// The last value.
    pub value: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl MetricStore {
    /// Every metric and sub-metric of the load that was seen, by name; `duration_s` is the run's.
    pub fn summary(&mut self, duration_s: f64) -> BTreeMap<String, MetricSummary> {
        self.summary_of(duration_s, |scope| scope != Scope::Watched)
    }

    /// Every metric and sub-metric that probes saw, likewise.
    pub fn watched(&mut self, duration_s: f64) -> BTreeMap<String, MetricSummary> {
        self.summary_of(duration_s, |scope| scope == Scope::Watched)
    }

    fn summary_of(&mut self, duration_s: f64, of: fn(Scope) -> bool) -> BTreeMap<String, MetricSummary> {
        let seen = self.each().map(|(_, known)| known);
        let seen = seen.filter(|(metric, aggregate)| of(metric.scope) && aggregate.samples() > 0);
        let told = |(metric, aggregate): &mut (Metric, Aggregate)| {
            (metric.name.to_string(), MetricSummary::of(aggregate, metric.unit, duration_s))
        };
        seen.map(told).collect()
    }
}

impl MetricSummary {
    /// The result of an aggregate of values in `unit`, in a run of this many seconds.
    fn of(aggregate: &mut Aggregate, unit: Unit, duration_s: f64) -> MetricSummary {
        let (sum, per_second, ratio, level, values) = (None, None, None, None, None);
        let (kind, count) = (aggregate.kind(), aggregate.samples());
        let blank = MetricSummary { kind, unit, count, sum, per_second, ratio, level, values };
        match aggregate {
            Aggregate::Counter(counted) if unit == Unit::Events => {
                MetricSummary { per_second: Some(counted.count / duration_s.max(1.0)), ..blank }
            }
            Aggregate::Counter(counted) => MetricSummary { sum: Some(counted.count), ..blank },
            Aggregate::Gauge(gauged) => {
                let level = Level { value: gauged.value, min: gauged.min, max: gauged.max };
                MetricSummary { level: Some(level), ..blank }
            }
            Aggregate::Rate(rated) => MetricSummary { ratio: Some(rated.rate()), ..blank },
            Aggregate::Trend(trend) => MetricSummary { values: Some(trend.quantiles()), ..blank },
        }
    }
}

impl Trend {
    /// The usual quantiles: of each the smallest value that the given share of all does not exceed, as
    /// [`crate::Histogram::quantiles`] has them.
    pub fn quantiles(&mut self) -> Quantiles {
        let (count, mean, bounds) = (self.count(), self.avg(), (self.min(), self.max()));
        Quantiles::of(count, mean, bounds, |share| self.nearest(share))
    }
}
