//! Operations with tags: what is told apart by them, under which names, and where an operation's end is sampled for it.
//!
//! A series goes by the name its metric has without tags, so that what a threshold may say of all requests it may say
//! of some: `http.response_time{page:list}.p95`. The wholes stay typed blocks ([`sonagi_measure::recorder::Timings`]):
//! only what is told is sampled, and a run without tags samples nothing.

use sonagi_measure::metrics::{Kind, Registry, Scope, SeriesName, Unit};
use sonagi_measure::outcome::{Operation, OperationKind};
use sonagi_measure::recorder::{Figure, TaggedSeries};
use sonagi_measure::thresholds::Threshold;
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Plan, Tagged};

/// Artillery's name of the times of HTTP answers.
const ANSWERS: &str = "http.response_time";

/// Which figure of an operation is sampled in the metric of this name; None: it is no part of it.
pub(crate) fn figure(metric: &str, operation: &Operation) -> Option<Figure> {
    let is_http = operation.kind == OperationKind::Http;
    if metric == ANSWERS {
        return is_http.then_some(Figure::Answer);
    }
    if let Some(code) = metric.strip_prefix("http.codes.") {
        return code.parse().ok().filter(|_| is_http).map(Figure::Status);
    }
    let behind = match metric.split_once('.')? {
        ("operations", rest) => rest.strip_prefix(operation.name.as_str())?,
        ("kinds", rest) => rest.strip_prefix(operation.kind.name())?,
        _ => return None,
    };
    match behind.strip_prefix('.')? {
        "response_ms" => Some(Figure::Response),
        "service_ms" => Some(Figure::Service),
        "first_byte_ms" => Some(Figure::FirstByte),
        "count" => Some(Figure::Count),
        "failed" => Some(Figure::Failed),
        _ => None,
    }
}

/// What is told apart by tags: of each tag how long its operations took and how many failed, and what thresholds name.
pub(crate) fn submetrics(
    thresholds: &[Threshold],
    operations: &[Operation],
    tagged: &[Tagged],
) -> Vec<String> {
    let mut all = BTreeSet::new();
    for Tagged { operation, tags } in tagged {
        let kind = operations[usize::from(operation.0)].kind;
        let of_kind = |figure: &str| format!("kinds.{}.{figure}", kind.name());
        let times = if kind == OperationKind::Http { ANSWERS.to_owned() } else { of_kind("response_ms") };
        for (name, value) in tags {
            let tags = BTreeMap::from([(name.clone(), value.clone())]);
            for metric in [&times, &of_kind("failed")] {
                all.insert(SeriesName { metric, tags: tags.clone(), figure: "" }.submetric());
            }
        }
    }
    let named = thresholds.iter().flat_map(Threshold::metrics);
    all.extend(named.filter_map(|metric| Some(SeriesName::of(&metric.name)?.ok()?.submetric())));
    all.into_iter().collect()
}

/// The metrics of a run of this plan, and where operations with tags are sampled, by `TaggedId`.
pub(crate) fn metrics(plan: &Plan) -> (Registry, Vec<TaggedSeries>) {
    let registry = Registry::default();
    let operation = |tagged: &Tagged| &plan.operations[usize::from(tagged.operation.0)];
    let mut told = Vec::new();
    for series in plan.submetrics.iter().filter_map(|name| SeriesName::of(name)?.ok()) {
        let mut figures = plan.tagged.iter().filter_map(|tagged| figure(series.metric, operation(tagged)));
        let Some((kind, unit)) = figures.next().map(shape) else { continue };
        // More metrics than a run may have are not measured, and thresholds on them say so.
        let Ok(id) = registry.add_of(Scope::Partial, series.metric, kind, unit) else { continue };
        if registry.submetric(&series.submetric()).is_ok() {
            told.push((series, id));
        }
    }
    let series = plan.tagged.iter().map(|tagged| {
        let mut metrics = Vec::new();
        for (series, id) in &told {
            let has = |(name, value): (&String, &String)| tagged.tags.get(name) == Some(value);
            let figure = figure(series.metric, operation(tagged)).filter(|_| series.tags.iter().all(has));
            let sampled = figure.map(|figure| (figure, *id));
            metrics.extend(sampled.filter(|sampled| !metrics.contains(sampled)));
        }
        TaggedSeries { tags: tagged.tags.clone().into_iter().collect(), metrics }
    });
    let series = series.collect();
    (registry, series)
}

/// What a metric of this figure does with its samples, and what they are.
fn shape(figure: Figure) -> (Kind, Unit) {
    match figure {
        Figure::Response | Figure::Service | Figure::FirstByte | Figure::Answer => {
            (Kind::Trend, Unit::Milliseconds)
        }
        Figure::Count | Figure::Failed | Figure::Status(_) => (Kind::Counter, Unit::Number),
    }
}
