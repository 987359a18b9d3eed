//! `series.jsonl`: one line a second, a JSON object. It commits its second: what has no whole line did not happen.
//!
//! | member | what it holds |
//! |---|---|
//! | `second`, `at_ns`, `interval_ns` | which second, its end from the run's start, how long it was |
//! | `names` | new series, by number: `metric`, `kind`, `unit`, `tags`; of samples `first_ns`, `parts`, `breakdown` |
//! | `counts` | `[number, n]`: the engine's counts of the second, without zeros |
//! | `samples` | `[number, value]`: metrics by name, see below |
//! | `ledger` | the ledger's counts so far, where the run tracks delivery |
//! | `rooms` | the rooms whose copies fared worst so far, where that has changed |
//! | `shards`, `process` | levels at the second's end |
//! | `untold`, `left_out` | samples that got no series or no metric of their own |
//!
//! A counter's value is `[sum, samples]`, a gauge's `[value, min, max, at_ns, samples]`, a rate's `[not zero, all]`. A
//! trend's has `count`, `sum`, `min`, `max`, and its `values` until the run has more than [`Trend::EXACT`] of the
//! series; from then on `buckets`, `[bucket, count]` each, which is all that a trend of so many keeps. So what is read
//! is what was measured, to the last digit.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::places::{Count, Places};
use crate::at::At;
use crate::ledger::{Counts, RoomFate};
use crate::metrics::{
    Aggregate, Counted, Gauged, Kind, Observed, Part, Rated, Registry, Scope, Series, TagSet, Trend, Unit,
};
use crate::recorder::Gauges;
use crate::totals::{Header, ProcessGauges, Snapshot};

/// A second, as a line has it; `V` is what a sample's value is written from, or read as.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(bound(serialize = "V: serde::Serialize", deserialize = "V: Deserialize<'de>"))]
struct Line<V> {
    second: u64,
    at_ns: i64,
    interval_ns: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<(u32, Name)>,
    counts: Vec<(u32, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<(u32, V)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ledger: Option<Counts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rooms: Option<Vec<RoomFate>>,
    shards: Vec<Gauges>,
    process: ProcessGauges,
    #[serde(default, skip_serializing_if = "is_default")]
    untold: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    left_out: u64,
}

fn is_default<T: Default + PartialEq>(member: &T) -> bool {
    *member == T::default()
}

/// The name of a series.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Name {
    metric: String,
    kind: Kind,
    unit: Unit,
    #[serde(default, skip_serializing_if = "TagSet::is_empty")]
    tags: TagSet,
    /// Further tags that its metric is broken down by.
    #[serde(default, skip_serializing_if = "TagSet::is_empty")]
    breakdown: TagSet,
    /// When its first sample came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_ns: Option<i64>,
    /// Sub-metrics it is a part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    scope: Scope,
    /// The scope, as earlier folders of this version have it.
    #[serde(default, skip_serializing)]
    partial: bool,
}

/// Writes the lines of one run.
#[derive(Default)]
pub(super) struct Encoder {
    counts: HashMap<Count, u32>,
    /// With the instant that the folder has of each one's first sample.
    samples: HashMap<Arc<Series>, (u32, At)>,
    /// Values so far of each series of a trend, by number.
    values: HashMap<u32, u64>,
    /// Sub-metrics by their place.
    parts: Vec<String>,
    /// Rooms as the second before had them.
    rooms: Vec<RoomFate>,
}

impl Encoder {
    /// An encoder for a run with these sub-metrics.
    pub(super) fn new(parts: Vec<String>) -> Encoder {
        Encoder { parts, ..Encoder::default() }
    }

    /// The line of one second.
    pub(super) fn line(&mut self, snapshot: &Snapshot, header: &Header) -> Vec<u8> {
        let mut names = Vec::new();
        let counts = Count::all(snapshot, header).into_iter();
        let counts =
            counts.map(|(count, number)| (self.count_number(count, header, &mut names), number)).collect();
        let samples = (snapshot.metrics.series.iter())
            .map(|observed| {
                let number = self.sample_number(observed, &mut names);
                (number, self.value(number, &observed.aggregate))
            })
            .collect();
        let has_changed = self.rooms != snapshot.rooms;
        self.rooms.clone_from(&snapshot.rooms);
        let line = Line {
            rooms: has_changed.then(|| snapshot.rooms.clone()),
            second: snapshot.second,
            at_ns: snapshot.at.0,
            interval_ns: snapshot.interval_ns,
            names,
            counts,
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

    fn count_number(&mut self, count: Count, header: &Header, names: &mut Vec<(u32, Name)>) -> u32 {
        let number = self.next_number();
        *self.counts.entry(count).or_insert_with_key(|count| {
            let (metric, tags) = count.name(header);
            let (metric, kind, unit) = (metric.to_owned(), Kind::Counter, Unit::Number);
            let (breakdown, scope) = (TagSet::default(), Scope::Whole);
            let (first_ns, parts, partial) = (None, vec![], false);
            names.push((
                number,
                Name { metric, kind, unit, tags, breakdown, first_ns, parts, scope, partial },
            ));
            number
        })
    }

    /// A series is named again when a later second knows of an earlier sample: threads do not hand over in step.
    fn sample_number(&mut self, observed: &Observed, names: &mut Vec<(u32, Name)>) -> u32 {
        let Observed { series, first, .. } = observed;
        let known = self.samples.get(series).copied();
        if let Some((number, told)) = known
            && told <= *first
        {
            return number;
        }
        let number = known.map_or_else(|| self.next_number(), |(number, _)| number);
        let parts = series.submetrics.iter().filter_map(|part| self.parts.get(part.place).cloned());
        let name = Name {
            metric: series.of.name.to_string(),
            kind: series.of.kind,
            unit: series.of.unit,
            tags: series.tags.clone(),
            breakdown: series.breakdown.clone(),
            first_ns: Some(first.0),
            parts: parts.collect(),
            scope: series.of.scope,
            partial: false,
        };
        names.push((number, name));
        self.samples.insert(Arc::clone(series), (number, *first));
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
pub(super) struct Decoder {
    places: Arc<Places>,
    registry: Arc<Registry>,
    names: HashMap<u32, Name>,
    /// What the numbers of counts are; None: not ours.
    counts: HashMap<u32, Option<Count>>,
    series: HashMap<u32, Arc<Series>>,
    rooms: Vec<RoomFate>,
}

impl Decoder {
    /// A decoder for a run with these places; its metrics are entered into the registry.
    pub(super) fn new(places: Arc<Places>, registry: Arc<Registry>) -> Decoder {
        let (names, counts, series) = (HashMap::new(), HashMap::new(), HashMap::new());
        Decoder { places, registry, names, counts, series, rooms: Vec::new() }
    }

    /// The second of a line; None: the line is torn. Series that are not ours are left out.
    pub(super) fn snapshot(&mut self, line: &[u8]) -> Option<Snapshot> {
        let line: Line<&RawValue> = serde_json::from_slice(line).ok()?;
        self.names.extend(line.names);
        let mut snapshot = self.places.blank(line.second);
        snapshot.at = At(line.at_ns);
        snapshot.interval_ns = line.interval_ns;
        snapshot.ledger = line.ledger.unwrap_or_default();
        self.rooms = line.rooms.unwrap_or(std::mem::take(&mut self.rooms));
        snapshot.rooms.clone_from(&self.rooms);
        snapshot.shards = line.shards;
        snapshot.process = line.process;
        for (number, counted) in line.counts {
            if let Some(count) = self.count(number) {
                count.enter(counted, &mut snapshot);
            }
        }
        for (number, value) in line.samples {
            let observed = self.observed(number, value.get());
            snapshot.metrics.series.extend(observed);
        }
        (snapshot.metrics.untold, snapshot.metrics.left_out) = (line.untold, line.left_out);
        Some(snapshot)
    }

    fn count(&mut self, number: u32) -> Option<&Count> {
        let Decoder { places, names, counts, .. } = self;
        let named = || names.get(&number).and_then(|name| places.count(&name.metric, &name.tags));
        counts.entry(number).or_insert_with(named).as_ref()
    }

    fn observed(&mut self, number: u32, value: &str) -> Option<Observed> {
        let name = self.names.get(&number)?;
        let series = match self.series.get(&number) {
            Some(series) => Arc::clone(series),
            None => {
                let scope = if name.partial { Scope::Partial } else { name.scope };
                let metric = self.registry.add_of(scope, &name.metric, name.kind, name.unit).ok()?;
                let part = |name: &String| {
                    let place = self.registry.submetric(name).ok()?;
                    Some(Part { place, name: name.as_str().into() })
                };
                let parts = name.parts.iter().map(part);
                let series = Arc::new(Series {
                    metric,
                    of: self.registry.metric(metric),
                    submetrics: parts.collect::<Option<_>>()?,
                    tags: name.tags.clone(),
                    breakdown: name.breakdown.clone(),
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

/// A number as [`told`] wrote it, to its last digit: `serde_json` reads some of those with seventeen digits as their
/// neighbour.
struct Exact(f64);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Exact, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        text.trim_matches('"').parse().map(Exact).map_err(de::Error::custom)
    }
}

/// A trend as [`Encoder::value`] wrote it.
#[derive(serde::Deserialize)]
struct Trended {
    count: u64,
    sum: Exact,
    min: Exact,
    max: Exact,
    #[serde(default)]
    values: Vec<Exact>,
    #[serde(default)]
    buckets: Vec<(u32, u64)>,
}

/// A value as [`Encoder::value`] wrote it.
fn aggregate(kind: Kind, value: &str) -> Option<Aggregate> {
    Some(match kind {
        Kind::Counter => {
            let (Exact(count), samples) = serde_json::from_str(value).ok()?;
            Aggregate::Counter(Counted { count, samples })
        }
        Kind::Gauge => {
            let (Exact(value), Exact(min), Exact(max), at, samples) = serde_json::from_str(value).ok()?;
            Aggregate::Gauge(Gauged { value, min, max, at: At(at), samples })
        }
        Kind::Rate => {
            let (passes, total) = serde_json::from_str(value).ok()?;
            Aggregate::Rate(Rated { passes, total })
        }
        Kind::Trend => {
            let Trended { count, sum, min, max, values, buckets } = serde_json::from_str(value).ok()?;
            let values = values.into_iter().map(|Exact(value)| value).collect();
            let trend = Trend::of_parts((count, sum.0), (min.0, max.0), values, &buckets)?;
            Aggregate::Trend(Box::new(trend))
        }
    })
}
