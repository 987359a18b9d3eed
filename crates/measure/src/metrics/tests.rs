//! Samples in, values out; percentiles and sums to the last digit as
//! <https://github.com/grafana/k6/releases/tag/v2.2.0> has them.

mod breakdown;
mod names;
mod sums;
mod tagged;
mod thresholds;
mod trends;

use super::*;
use crate::at::At;
use std::sync::Arc;
use std::time::Duration;

/// A registry with a metric of each kind, and `checks`, whose series are told apart by three tags.
fn registry() -> Arc<Registry> {
    let metrics = [
        ("checks", Kind::Rate, Unit::Number),
        ("cc", Kind::Counter, Unit::Number),
        ("gg", Kind::Gauge, Unit::Number),
        ("rr", Kind::Rate, Unit::Number),
        ("tt", Kind::Trend, Unit::Number),
    ];
    Arc::new(Registry::new(&metrics))
}

const CHECKS: MetricId = MetricId::new(0);

fn series_tags(metric: MetricId) -> &'static [&'static str] {
    if metric == CHECKS { &["check", "group"] } else { &[] }
}

/// Automatic tags of a language that has these.
#[derive(Clone, Copy)]
enum Automatic {
    Url,
    Method,
    User,
}

impl AutomaticTag for Automatic {
    fn name(self) -> &'static str {
        match self {
            Automatic::Url => "url",
            Automatic::Method => "method",
            Automatic::User => "user",
        }
    }
    fn number(self) -> u32 {
        self as u32
    }
    fn is_metadata(self) -> bool {
        matches!(self, Automatic::User)
    }
}

fn sampler(registry: &Arc<Registry>) -> Sampler {
    Sampler::new(registry.clone(), series_tags, AutomaticTags::default(), false)
}

/// The value of a metric (or watched sub-metric), by name; None when it has no such value or no samples.
fn value(store: &mut MetricStore, metric: &str, aggregation: Aggregation, elapsed: Duration) -> Option<f64> {
    let target = match metric.contains('{') {
        false => Target::Metric(store.registry().get(metric)?),
        true => Target::Submetric(store.registry().submetric(metric).ok()?),
    };
    aggregation.of(store.aggregate(target)?, elapsed)
}

/// The checks that were told apart, in the order of their first samples: tags, passes, fails.
fn checks(store: &mut MetricStore) -> Vec<(String, u64, u64)> {
    let told = |one: &Tagged| match &one.aggregate {
        Aggregate::Rate(rated) if one.metric == CHECKS => {
            let values: Vec<&str> = one.tags.iter().map(|(_, value)| value).collect();
            Some((values.join("|"), rated.passes, rated.fails()))
        }
        _ => None,
    };
    store.tagged().iter().filter_map(told).collect()
}

const SECOND: Duration = Duration::from_secs(1);
