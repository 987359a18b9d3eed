//! Metrics a script's own functions report by name, and what else a script has told by name, beside everything the tool
//! measures itself.
//!
//! A name is of the kind that used it first; what comes under it as another kind is left out and counted. Names are few:
//! whoever makes one per user would make a metric per user, so those beyond [`NAMES_MAX`] are left out and counted, too.

use crate::histogram::Histogram;
use crate::summary::Quantiles;
use std::collections::BTreeMap;

/// Names of one run.
pub const NAMES_MAX: usize = 1_000;

/// What a metric's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Amounts that add up.
    Counter,
    /// Events, of which the number per second counts.
    Rate,
    /// Values whose distribution counts, in a unit of the script's.
    Histogram,
}

impl Kind {
    /// By Artillery's name of it.
    pub fn named(name: &str) -> Option<Kind> {
        match name {
            "counter" => Some(Kind::Counter),
            "rate" => Some(Kind::Rate),
            "histogram" => Some(Kind::Histogram),
            _ => None,
        }
    }
}

/// One metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What its values are.
    pub kind: Kind,
    /// How often it was reported.
    pub count: u64,
    /// The sum of its values.
    pub sum: f64,
    /// The distribution of a histogram's values, a thousandth of the script's unit fine.
    pub values: Option<Box<Histogram>>,
}

/// Metrics by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Each with what it came to.
    pub named: BTreeMap<String, Metric>,
    /// Values that were left out: of names beyond the limit, or of another kind than their name's.
    pub left_out: u64,
}

/// A metric as the summary has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MetricSummary {
    /// What its values are.
    pub kind: Kind,
    /// How often it was reported.
    pub count: u64,
    /// A counter's sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
    /// Of a rate: per second of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// A histogram's quantiles, in the script's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Quantiles>,
}

impl Metrics {
    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.left_out == 0
    }

    /// A value came.
    pub fn record(&mut self, kind: Kind, name: &str, value: f64) {
        let Some(metric) = self.of(kind, name) else {
            self.left_out += 1;
            return;
        };
        metric.count += 1;
        metric.sum += value;
        if let Some(values) = &mut metric.values {
            // Histograms count nanoseconds and tell milliseconds.
            values.record_ns((value * 1e6) as i64);
        }
    }

    /// Adds what another has.
    pub fn merge(&mut self, other: &Metrics) {
        self.left_out += other.left_out;
        for (name, theirs) in &other.named {
            let Some(mine) = self.of(theirs.kind, name) else {
                self.left_out += theirs.count;
                continue;
            };
            mine.count += theirs.count;
            mine.sum += theirs.sum;
            if let (Some(mine), Some(theirs)) = (&mut mine.values, &theirs.values) {
                mine.merge(theirs);
            }
        }
    }

    /// What they came to in a run of so many seconds.
    pub fn summary(&self, duration_s: f64) -> BTreeMap<String, MetricSummary> {
        let summed = |metric: &Metric| MetricSummary {
            kind: metric.kind,
            count: metric.count,
            sum: (metric.kind == Kind::Counter).then_some(metric.sum),
            per_second: (metric.kind == Kind::Rate).then(|| metric.count as f64 / duration_s.max(1.0)),
            values: metric.values.as_ref().map(|values| values.quantiles()),
        };
        self.named.iter().map(|(name, metric)| (name.clone(), summed(metric))).collect()
    }

    pub(crate) fn of(&mut self, kind: Kind, name: &str) -> Option<&mut Metric> {
        if !self.named.contains_key(name) {
            if self.named.len() >= NAMES_MAX {
                return None;
            }
            let values = (kind == Kind::Histogram).then(Box::default);
            self.named.insert(name.to_owned(), Metric { kind, count: 0, sum: 0.0, values });
        }
        self.named.get_mut(name).filter(|metric| metric.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_adds_up_in_its_way_also_over_shards() {
        let mut shards = [Metrics::default(), Metrics::default()];
        for (n, shard) in shards.iter_mut().enumerate() {
            shard.record(Kind::Counter, "carts", 2.0);
            shard.record(Kind::Rate, "checkouts", 1.0);
            shard.record(Kind::Histogram, "basket", 10.0 * (n + 1) as f64);
        }
        let mut all = Metrics::default();
        shards.iter().for_each(|shard| all.merge(shard));
        let summary = all.summary(4.0);
        assert_eq!(summary["carts"].sum, Some(4.0));
        assert_eq!(summary["checkouts"].per_second, Some(0.5));
        let basket = summary["basket"].values.as_ref().unwrap();
        assert_eq!((basket.count, basket.min), (2, 10.0));
        assert!((basket.max - 20.0).abs() < 0.02, "three significant digits: {}", basket.max);
    }

    #[test]
    fn what_is_of_another_kind_or_beyond_the_limit_is_counted_and_left_out() {
        let mut metrics = Metrics::default();
        metrics.record(Kind::Counter, "a", 1.0);
        metrics.record(Kind::Rate, "a", 1.0);
        for n in 0..NAMES_MAX {
            metrics.record(Kind::Counter, &format!("user-{n}"), 1.0);
        }
        assert_eq!((metrics.named.len(), metrics.left_out), (NAMES_MAX, 2));
        let mut other = Metrics::default();
        other.record(Kind::Counter, "late", 1.0);
        metrics.merge(&other);
        assert_eq!(metrics.left_out, 3);
        assert_eq!(metrics.named["a"].sum, 1.0);
    }
}
