//! The thresholds that a test is judged by: each must be of a metric that there is.

use super::{Asked, Ended};
use crate::metrics::{AbortRule, MetricStore, Registry, Unfit};
use crate::options::{MetricThresholds, Options, meant};
use sonagi_measure::metrics::Unnamed;
use sonagi_measure::watched;
use std::sync::Arc;

/// The store with the options' thresholds.
pub(super) fn limited(
    asked: &Asked,
    options: &Options,
    registry: &Arc<Registry>,
) -> Result<MetricStore, Ended> {
    let mut store = MetricStore::new(Arc::clone(registry));
    let mut problems = Vec::new();
    for of in judged(asked, options) {
        watched::enter(registry, &of.metric);
        problems.extend(store.watch(&of.metric).err());
        for limit in &of.thresholds {
            let abort = AbortRule { on_fail: limit.abort_on_fail, delay: limit.delay_abort_eval };
            let added = store.limit(&of.metric, &limit.source, abort);
            problems.extend(added.err());
        }
    }
    problems.dedup();
    let told: Vec<String> = problems.iter().map(|why| unfit(why, registry)).collect();
    if told.is_empty() { Ok(store) } else { Err(Ended::problems(&told.join("\n"))) }
}

/// The thresholds that are judged.
pub(super) fn judged<'o>(asked: &Asked, options: &'o Options) -> &'o [MetricThresholds] {
    if asked.no_thresholds { &[] } else { &options.thresholds }
}

/// Why there is no such threshold, and which metric was probably meant, or where one is to be made.
fn unfit(why: &Unfit, registry: &Registry) -> String {
    let Unfit::Metric { metric, why: Unnamed::Unknown(_) } = why else { return why.to_string() };
    let name = metric.split('{').next().unwrap_or_default().trim();
    let known = registry.metrics();
    match meant(name, known.iter().map(|metric| &*metric.name)) {
        Some(near) => format!("{why}\nhint: did you mean `{near}`?"),
        None => format!("{why}\nhint: a metric of the script's own must be made in its init code"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Kind, Unit};

    #[test]
    fn a_threshold_on_no_metric_is_told_with_the_metric_that_was_probably_meant() {
        let registry = Arc::new(Registry::new(&[("http_req_duration", Kind::Trend, Unit::Milliseconds)]));
        let mut store = MetricStore::new(Arc::clone(&registry));
        let mut told = |metric: &str| unfit(&store.watch(metric).unwrap_err(), &registry);
        assert_eq!(
            told("http_req_durations{name:list}"),
            "invalid threshold on http_req_durations{name:list}: there is no metric named \
             \"http_req_durations{name:list}\"\nhint: did you mean `http_req_duration`?"
        );
        assert_eq!(
            told("cart_size"),
            "invalid threshold on cart_size: there is no metric named \"cart_size\"\n\
             hint: a metric of the script's own must be made in its init code"
        );
        let braces = "invalid threshold on http_req_duration{: \"http_req_duration{\" has one curly brace without \
                      the other";
        assert_eq!(told("http_req_duration{"), braces, "no metric is meant but this one");
    }
}
