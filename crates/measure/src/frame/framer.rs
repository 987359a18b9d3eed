//! Seconds to frames: every count, latency, level and sample of a snapshot becomes the value of a series.

use super::about::{About, about};
use super::{Buckets, Frame, Name, Value, unit_of};
use crate::folder::Count;
use crate::histogram::Histogram;
use crate::ledger::Counts;
use crate::metrics::{Aggregate, Counted, Gauged, Kind, Observed, Rated, Registry, Series, TagSet};
use crate::outcome::OperationKind;
use crate::recorder::Timings;
use crate::secrets::masked;
use crate::totals::{Header, Snapshot};
use std::collections::HashMap;
use std::sync::Arc;

/// Makes the frames of one run, in order.
pub struct Framer {
    header: Arc<Header>,
    registry: Arc<Registry>,
    /// Explanations of metrics that the script's language has.
    of_language: fn(&str) -> Option<About>,
    numbers: HashMap<String, HashMap<TagSet, u32>>,
    count: u32,
    /// The numbers of samples' series, which have more than tags to be told by.
    samples: HashMap<Arc<Series>, u32>,
    /// The ledger's counts at the end of the frame before.
    ledger: Counts,
    frame: Frame,
}

impl Framer {
    /// A framer for the run with this header. `registry` is the one that its snapshots' samples are entered into;
    /// `of_language` explains metrics of the script's language.
    pub fn new(
        header: Arc<Header>,
        registry: Arc<Registry>,
        of_language: fn(&str) -> Option<About>,
    ) -> Framer {
        Framer {
            header,
            registry,
            of_language,
            numbers: HashMap::new(),
            count: 0,
            samples: HashMap::new(),
            ledger: Counts::default(),
            frame: Frame::default(),
        }
    }

    /// The frame of the next second. Names and tags have their secrets masked.
    pub fn frame(&mut self, snapshot: &Snapshot) -> Frame {
        let thousandths = |ns: i64| (ns as f64 / 1e6).round() / 1e3;
        self.frame = Frame {
            s: snapshot.second,
            at: thousandths(snapshot.at.0),
            span: thousandths(snapshot.interval_ns),
            ..Frame::default()
        };
        self.counts(snapshot);
        self.latencies(snapshot);
        if self.header.tracked {
            self.deliveries(snapshot);
        }
        self.levels(snapshot);
        self.samples(snapshot);
        std::mem::take(&mut self.frame)
    }

    fn counts(&mut self, snapshot: &Snapshot) {
        let header = Arc::clone(&self.header);
        for (count, number) in Count::all(snapshot, &header) {
            let (metric, tags) = count.name(&header);
            let unit = if metric.contains("bytes") { "bytes" } else { "number" };
            self.put(metric, unit, &tags, Value::Counter(number as f64));
        }
    }

    fn latencies(&mut self, snapshot: &Snapshot) {
        let header = Arc::clone(&self.header);
        for (operation, timings) in header.operations.iter().zip(&snapshot.operations) {
            let tags = TagSet::of(&[("operation", &operation.name)]);
            let Timings { response, service, first_byte, .. } = timings;
            // The target has no part in a script's own function.
            if operation.kind == OperationKind::Function {
                self.latency("function.time", &tags, response.as_deref());
                continue;
            }
            self.latency("response_time", &tags, response.as_deref());
            self.latency("service_time", &tags, service.as_deref());
            self.latency("first_byte", &tags, first_byte.as_deref());
        }
        let none = TagSet::default();
        for ((_, metric), histogram) in snapshot.each_latency() {
            self.latency(metric, &none, Some(histogram));
        }
    }

    fn latency(&mut self, metric: &str, tags: &TagSet, histogram: Option<&Histogram>) {
        if let Some(histogram) = histogram.filter(|histogram| !histogram.is_empty()) {
            self.put(metric, "ms", tags, Value::Trend(of_histogram(histogram)));
        }
    }

    /// The ledger counts from the run's start; a frame has what was added in it. A correction is negative.
    fn deliveries(&mut self, snapshot: &Snapshot) {
        let (before, now) = (self.ledger, snapshot.ledger);
        for (metric, counted) in DELIVERY {
            let added = counted(&now) as f64 - counted(&before) as f64;
            if added != 0.0 {
                self.put(metric, "number", &TagSet::default(), Value::Counter(added));
            }
        }
        self.level("delivery.outstanding", "number", &TagSet::default(), now.outstanding as f64);
        self.ledger = now;
    }

    fn levels(&mut self, snapshot: &Snapshot) {
        let none = TagSet::default();
        self.level("users.active", "number", &none, snapshot.level(|shard| shard.users) as f64);
        self.level("connections.open", "number", &none, snapshot.level(|shard| shard.connections) as f64);
        if snapshot.interval_ns > 0 {
            for (thread, shard) in snapshot.shards.iter().enumerate() {
                let tags = TagSet::of(&[("thread", &thread.to_string())]);
                let share = (shard.cpu_ns as f64 / snapshot.interval_ns as f64).min(1.0);
                self.level("generator.cpu", "share", &tags, (share * 1e3).round() / 1e3);
            }
        }
        let process = &snapshot.process;
        for (metric, unit, level) in [
            ("generator.memory", "bytes", process.resident_bytes),
            ("generator.open_files", "number", process.open_files),
            ("generator.ports_used", "number", process.ports_used),
        ] {
            // What the system does not say is 0.
            if level > 0 {
                self.level(metric, unit, &none, level as f64);
            }
        }
    }

    fn level(&mut self, metric: &str, unit: &'static str, tags: &TagSet, level: f64) {
        self.put(metric, unit, tags, Value::Gauge(level, level, level));
    }

    fn samples(&mut self, snapshot: &Snapshot) {
        for Observed { series, aggregate, .. } in &snapshot.metrics.series {
            let value = match aggregate {
                Aggregate::Counter(Counted { count, .. }) => Value::Counter(*count),
                Aggregate::Gauge(Gauged { value, min, max, .. }) => Value::Gauge(*value, *min, *max),
                Aggregate::Rate(Rated { passes, total }) => Value::Rate(*passes, *total),
                Aggregate::Trend(trend) => {
                    let mut buckets = Buckets::default();
                    let bounds = (trend.min(), trend.max());
                    buckets.add_part(trend.count(), trend.sum(), bounds, trend.counted());
                    Value::Trend(buckets)
                }
            };
            let number = self.sample_number(series);
            self.frame.enter(number, value);
        }
    }

    /// Series of the same tags that belong to different sub-metrics have the tags of these as well: so a metric is the
    /// sum of its series, and a sub-metric the sum of those that have its tags.
    fn sample_number(&mut self, series: &Arc<Series>) -> u32 {
        if let Some(number) = self.samples.get(series) {
            return *number;
        }
        let known = self.registry.submetrics();
        let parts = series.submetrics.iter().filter_map(|part| known.get(part.place));
        let parts = parts.flat_map(|part| part.tags.iter());
        let own = series.tags.iter().chain(series.breakdown.iter());
        let all = parts.map(|(name, value)| (name.as_str(), value.as_str())).chain(own);
        let tags = TagSet::of(&all.collect::<Vec<_>>());
        let of = &series.of;
        let number = self.number(&of.name, of.kind, unit_of(of.kind, of.unit), &tags);
        self.samples.insert(Arc::clone(series), number);
        number
    }

    fn put(&mut self, metric: &str, unit: &'static str, tags: &TagSet, value: Value) {
        let kind = match value {
            Value::Counter(_) => Kind::Counter,
            Value::Gauge(..) => Kind::Gauge,
            Value::Rate(..) => Kind::Rate,
            Value::Trend(_) => Kind::Trend,
        };
        let number = self.number(metric, kind, unit, tags);
        self.frame.enter(number, value);
    }

    fn number(&mut self, metric: &str, kind: Kind, unit: &'static str, tags: &TagSet) -> u32 {
        if let Some(number) = self.numbers.get(metric).and_then(|series| series.get(tags)) {
            return *number;
        }
        let number = self.count;
        self.count += 1;
        self.numbers.entry(metric.to_owned()).or_default().insert(tags.clone(), number);
        let name = Name {
            metric: masked(metric),
            kind,
            unit,
            tags: tags.map(|_, value| Some(masked(value))),
            about: about(metric).or_else(|| (self.of_language)(metric)),
        };
        self.frame.names.push((number, name));
        number
    }
}

type LedgerCount = fn(&Counts) -> u64;

/// Counts of the ledger, by their names in frames.
const DELIVERY: [(&str, LedgerCount); 10] = [
    ("delivery.messages", |counts| counts.messages),
    ("delivery.owed", |counts| counts.owed),
    ("delivery.delivered", |counts| counts.delivered),
    ("delivery.late", |counts| counts.late),
    ("delivery.replayed", |counts| counts.replayed),
    ("delivery.lost", |counts| counts.lost),
    ("delivery.duplicate", |counts| counts.duplicate),
    ("delivery.reordered", |counts| counts.reordered),
    ("delivery.leaked", |counts| counts.leaked),
    ("delivery.unknown", |counts| counts.unknown),
];

/// Latencies in milliseconds.
fn of_histogram(histogram: &Histogram) -> Buckets {
    let ms = |us: u64| us as f64 / 1e3;
    let raw = histogram.raw();
    let values = raw
        .iter_recorded()
        .map(|seen| (ms(raw.median_equivalent(seen.value_iterated_to())), u64::from(seen.count_at_value())));
    let mut buckets = Buckets::default();
    let sum = raw.mean() * raw.len() as f64 / 1e3;
    buckets.add_part(raw.len(), sum, (ms(raw.min()), ms(raw.max())), values);
    buckets
}
