//! `series.jsonl`: one line a second, a JSON object. It commits its second: what has no whole line did not happen.
//!
//! | member | what it holds |
//! |---|---|
//! | `second`, `at_ns`, `interval_ns` | which second, its end from the run's start, how long it was |
//! | `names` | new series, by number: `metric`, `kind`, `unit`, `tags`, of samples `first_ns` and `parts` |
//! | `counts` | `[number, n]`: the engine's counts of the second, without zeros |
//! | `samples` | `[number, value]`: metrics by name, see below |
//! | `ledger` | the ledger's counts so far, where the run tracks delivery |
//! | `shards`, `process` | levels at the second's end |
//! | `untold`, `left_out` | samples that got no series or no metric of their own |
//!
//! A counter's value is `[sum, samples]`, a gauge's `[value, min, max, at_ns, samples]`, a rate's `[not zero, all]`. A
//! trend's has `count`, `sum`, `min`, `max`, and its `values` until the run has more than [`Trend::EXACT`] of the
//! series; from then on `buckets`, `[bucket, count]` each, which is all that a trend of so many keeps. So what is read
//! is what was measured, to the last digit.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::places::Places;
use crate::At;
use crate::ledger::Counts;
use crate::metrics::{
    Aggregate, Counted, Gauged, Kind, Observed, Rated, Registry, Series, TagSet, Trend, Unit,
};
use crate::recorder::{Counter, FailureCount, Gauges};
use crate::totals::{Header, ProcessGauges, Snapshot};

/// A second, as a line has it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    second: u64,
    at_ns: i64,
    interval_ns: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<(u32, Name)>,
    counts: Vec<(u32, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<(u32, Value)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ledger: Option<Counts>,
    shards: Vec<Gauges>,
    process: ProcessGauges,
    #[serde(default, skip_serializing_if = "is_zero")]
    untold: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks with a reference
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The name of a series.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Name {
    metric: String,
    kind: Kind,
    unit: Unit,
    #[serde(default, skip_serializing_if = "TagSet::is_empty")]
    tags: TagSet,
    /// When its first sample came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_ns: Option<i64>,
    /// Sub-metrics it is a part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<String>,
}

/// The metrics of what the engine counts, beside [`Counter::NAMED`].
mod counted {
    pub(super) const FAILED: &str = "operations.failed";
    pub(super) const UNANSWERED: &str = "operations.unanswered";
    pub(super) const ANSWERS: &str = "operations.answers";
    pub(super) const CODES: &str = "http.codes";
    pub(super) const ERRORS: &str = "errors";
    pub(super) const CREATED: &str = "users.created";
}

/// Takes a number with its metric and tags.
type Tell<'a> = dyn FnMut(&str, &[(&str, &str)], u64) + 'a;

/// What the engine counted in a second; what is zero is left out.
fn counts(snapshot: &Snapshot, header: &Header, tell: &mut Tell<'_>) {
    let mut tell = |metric: &str, tags: &[(&str, &str)], count: u64| {
        if count > 0 {
            tell(metric, tags, count);
        }
    };
    for (counter, name) in Counter::NAMED {
        tell(name, &[], snapshot.counters.get(counter));
    }
    for (operation, timings) in header.operations.iter().zip(&snapshot.operations) {
        let operation = ("operation", operation.name.as_str());
        tell(counted::FAILED, &[operation], timings.failed);
        tell(counted::UNANSWERED, &[operation], timings.unanswered);
        for (code, count) in timings.answers.codes() {
            tell(counted::ANSWERS, &[("code", &code.to_string()), operation], count);
        }
    }
    for (code, count) in &snapshot.codes {
        tell(counted::CODES, &[("code", &code.to_string())], *count);
    }
    for failure in &snapshot.failures {
        let FailureCount { operation, called, failure, count, .. } = failure;
        let code = failure.code();
        let operation = operation.and_then(|id| header.operations.get(usize::from(id.0)));
        let tags = [("code", &*code), ("called", called), ("operation", operation.map_or("", |of| &of.name))];
        let tags: Vec<(&str, &str)> = tags.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        tell(counted::ERRORS, &tags, *count);
    }
    for (scenario, created) in header.scenarios.iter().zip(&snapshot.scenarios) {
        tell(counted::CREATED, &[("scenario", scenario)], *created);
    }
}

/// Writes the lines of one run.
#[derive(Default)]
pub(super) struct Encoder {
    counts: HashMap<(String, TagSet), u32>,
    samples: HashMap<Arc<Series>, u32>,
    /// Values so far of each series of a trend, by number.
    values: HashMap<u32, u64>,
    /// Sub-metrics by their place.
    parts: Vec<String>,
}

impl Encoder {
    /// An encoder for a run with these sub-metrics.
    pub(super) fn new(parts: Vec<String>) -> Encoder {
        Encoder { parts, ..Encoder::default() }
    }

    /// The line of one second.
    pub(super) fn line(&mut self, snapshot: &Snapshot, header: &Header) -> Vec<u8> {
        let mut names = Vec::new();
        let mut counted = Vec::new();
        counts(snapshot, header, &mut |metric, tags, count| {
            counted.push((self.count_number(metric, tags, &mut names), count));
        });
        let samples = (snapshot.metrics.series.iter())
            .map(|observed| {
                let number = self.sample_number(observed, &mut names);
                (number, self.value(number, &observed.aggregate))
            })
            .collect();
        let line = Line {
            second: snapshot.second,
            at_ns: snapshot.at.0,
            interval_ns: snapshot.interval_ns,
            names,
            counts: counted,
            samples,
            ledger: header.tracked.then_some(snapshot.ledger),
            shards: snapshot.shards.clone(),
            process: snapshot.process,
            untold: snapshot.metrics.untold,
            left_out: snapshot.metrics.left_out,
        };
        // Maps with texts for keys, numbers and texts: nothing JSON could refuse.
        let mut line = serde_json::to_vec(&line).unwrap_or_default();
        line.push(b'\n');
        line
    }

    fn next_number(&self) -> u32 {
        (self.counts.len() + self.samples.len()) as u32
    }

    fn count_number(&mut self, metric: &str, tags: &[(&str, &str)], names: &mut Vec<(u32, Name)>) -> u32 {
        let key = (metric.to_owned(), TagSet::of(tags));
        if let Some(number) = self.counts.get(&key) {
            return *number;
        }
        let number = self.next_number();
        let (metric, tags) = key.clone();
        let name =
            Name { metric, kind: Kind::Counter, unit: Unit::Number, tags, first_ns: None, parts: vec![] };
        names.push((number, name));
        self.counts.insert(key, number);
        number
    }

    fn sample_number(&mut self, observed: &Observed, names: &mut Vec<(u32, Name)>) -> u32 {
        let Observed { series, first, .. } = observed;
        if let Some(number) = self.samples.get(series) {
            return *number;
        }
        let number = self.next_number();
        let parts = series.submetrics.iter().filter_map(|place| self.parts.get(*place).cloned());
        let name = Name {
            metric: series.of.name.to_string(),
            kind: series.of.kind,
            unit: series.of.unit,
            tags: series.tags.clone(),
            first_ns: Some(first.0),
            parts: parts.collect(),
        };
        names.push((number, name));
        self.samples.insert(Arc::clone(series), number);
        number
    }

    fn value(&mut self, number: u32, aggregate: &Aggregate) -> Value {
        match aggregate {
            Aggregate::Counter(Counted { count, samples }) => json!([told(*count), samples]),
            Aggregate::Gauge(Gauged { value, min, max, at, samples }) => {
                let [value, min, max] = [value, min, max].map(|level| told(*level));
                json!([value, min, max, at.0, samples])
            }
            Aggregate::Rate(Rated { passes, total }) => json!([passes, total]),
            Aggregate::Trend(trend) => {
                let so_far = self.values.entry(number).or_default();
                *so_far += trend.count();
                let [sum, min, max] = [trend.sum(), trend.min(), trend.max()].map(told);
                let mut all = json!({ "count": trend.count(), "sum": sum, "min": min, "max": max });
                match trend.values().filter(|_| *so_far <= Trend::EXACT as u64) {
                    Some(values) => all["values"] = values.iter().map(|value| told(*value)).collect(),
                    None => all["buckets"] = json!(trend.buckets()),
                }
                all
            }
        }
    }
}

/// Reads the lines of one run.
pub(super) struct Decoder<'a> {
    places: Places<'a>,
    registry: Arc<Registry>,
    names: HashMap<u32, Name>,
    series: HashMap<u32, Arc<Series>>,
}

impl<'a> Decoder<'a> {
    /// A decoder for a run with this header; its metrics are entered into the registry.
    pub(super) fn new(header: &'a Header, registry: Arc<Registry>) -> Decoder<'a> {
        Decoder { places: Places::new(header), registry, names: HashMap::new(), series: HashMap::new() }
    }

    /// The second of a line; None: the line is torn. Series that are not ours are left out.
    pub(super) fn snapshot(&mut self, line: &[u8]) -> Option<Snapshot> {
        let line: Line = serde_json::from_slice(line).ok()?;
        self.names.extend(line.names);
        let mut snapshot = self.places.blank(line.second);
        snapshot.at = At(line.at_ns);
        snapshot.interval_ns = line.interval_ns;
        snapshot.ledger = line.ledger.unwrap_or_default();
        snapshot.shards = line.shards;
        snapshot.process = line.process;
        for (number, count) in line.counts {
            if let Some(name) = self.names.get(&number) {
                self.enter_count(&mut snapshot, name, count);
            }
        }
        for (number, value) in line.samples {
            let observed = self.observed(number, &value);
            snapshot.metrics.series.extend(observed);
        }
        (snapshot.metrics.untold, snapshot.metrics.left_out) = (line.untold, line.left_out);
        Some(snapshot)
    }

    fn enter_count(&self, snapshot: &mut Snapshot, name: &Name, count: u64) {
        let tag = |tag: &str| name.tags.get(tag).unwrap_or_default();
        let places = &self.places;
        match name.metric.as_str() {
            counted::FAILED => places.change(snapshot, tag("operation"), |timings| timings.failed += count),
            counted::UNANSWERED => {
                places.change(snapshot, tag("operation"), |timings| timings.unanswered += count);
            }
            counted::ANSWERS => {
                let Ok(code) = tag("code").parse() else { return };
                places.change(snapshot, tag("operation"), |timings| timings.answers.count(code, count));
            }
            counted::CODES => {
                let Ok(code) = tag("code").parse() else { return };
                *snapshot.codes.entry(code).or_default() += count;
            }
            counted::ERRORS => {
                places.failed(snapshot, (tag("code"), tag("called")), name.tags.get("operation"), count);
            }
            counted::CREATED => places.created(snapshot, tag("scenario"), count),
            metric => {
                if let Some((counter, _)) = Counter::NAMED.iter().find(|(_, known)| *known == metric) {
                    snapshot.counters.add(*counter, count);
                }
            }
        }
    }

    fn observed(&mut self, number: u32, value: &Value) -> Option<Observed> {
        let name = self.names.get(&number)?;
        let series = match self.series.get(&number) {
            Some(series) => Arc::clone(series),
            None => {
                let metric = self.registry.add(&name.metric, name.kind, name.unit).ok()?;
                let parts = name.parts.iter().map(|part| self.registry.submetric(part).ok());
                let series = Arc::new(Series {
                    metric,
                    of: self.registry.metric(metric),
                    submetrics: parts.collect::<Option<_>>()?,
                    tags: name.tags.clone(),
                });
                self.series.insert(number, Arc::clone(&series));
                series
            }
        };
        let aggregate = aggregate(name.kind, value)?;
        Some(Observed { series, first: At(name.first_ns.unwrap_or(0)), aggregate })
    }
}

/// A number as JSON has it: those that are not finite are texts.
fn told(number: f64) -> Value {
    if number.is_finite() { Value::from(number) } else { Value::from(number.to_string()) }
}

fn read(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// A value as [`Encoder::value`] wrote it.
fn aggregate(kind: Kind, value: &Value) -> Option<Aggregate> {
    let number = |place: usize| value.get(place).and_then(read);
    let count = |place: usize| value.get(place).and_then(Value::as_u64);
    Some(match kind {
        Kind::Counter => Aggregate::Counter(Counted { count: number(0)?, samples: count(1)? }),
        Kind::Gauge => {
            let (value, at) = (number(0)?, At(value.get(3)?.as_i64()?));
            Aggregate::Gauge(Gauged { value, min: number(1)?, max: number(2)?, at, samples: count(4)? })
        }
        Kind::Rate => Aggregate::Rate(Rated { passes: count(0)?, total: count(1)? }),
        Kind::Trend => Aggregate::Trend(Box::new(trend(value)?)),
    })
}

fn trend(value: &Value) -> Option<Trend> {
    let number = |name: &str| value.get(name).and_then(read);
    let count = value.get("count").and_then(Value::as_u64)?;
    let (sum, min, max) = (number("sum")?, number("min")?, number("max")?);
    let values = value.get("values").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let values: Vec<f64> = values.iter().map(read).collect::<Option<_>>()?;
    let buckets = value.get("buckets").cloned().unwrap_or_else(|| json!([]));
    let buckets: Vec<(u32, u64)> = serde_json::from_value(buckets).ok()?;
    Trend::of_parts((count, sum), (min, max), values, &buckets)
}
