//! A run as a wide table in CSV: a row a second, a column a figure, for spreadsheets and notebooks. `docs/metrics.md`
//! says what the columns are.
//!
//! The folder is read twice, once for the names of the columns and once for the rows, and no more than a second of it
//! is in memory: which columns there are is known when the run is over, and a run may be long.

use sonagi_measure::folder::Reader;
use sonagi_measure::metrics::{Aggregate, MetricStore, Registry, TagSet, Target, Unit};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::Quantiles;
use sonagi_measure::totals::{Header, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

/// The columns before all others: when the second ended (from the run's start, and by the clock) and how long it was.
const TIMES: [&str; 3] = ["time_s", "time_utc", "interval_s"];

/// A column; in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Column {
    group: Group,
    /// Its place among those of its group …
    place: usize,
    /// … and behind that the name of its metric, where metrics have no places.
    metric: String,
    /// Its place among the figures of its metric.
    figure: usize,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Group {
    Users,
    Counters,
    Codes,
    Errors,
    Operations,
    Delivery,
    Generator,
    Metrics,
}

/// Takes the figures of a second.
type Tell<'a> = dyn FnMut(Column, Cell) + 'a;

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    /// How often something happened: a second that tells nothing of it had none.
    Count(f64),
    /// What was measured: in a second that tells nothing of it, nothing was.
    Value(f64),
}

impl Cell {
    /// What stands in a second that tells nothing of it.
    fn blank(self) -> &'static str {
        match self {
            Cell::Count(_) => "0",
            Cell::Value(_) => "",
        }
    }
}

/// Writes the table of a run.
///
/// # Errors
/// When it cannot be written.
pub fn write(run: &Reader, out: impl Write) -> io::Result<()> {
    let header = run.header();
    let registry = Arc::new(Registry::default());
    let mut known: BTreeMap<Column, &str> = BTreeMap::new();
    for snapshot in run.seconds(&registry) {
        each(&snapshot, header, &registry, &mut |column, cell| {
            known.insert(column, cell.blank());
        });
    }
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(TIMES.into_iter().chain(known.keys().map(|column| column.name.as_str())))?;
    let places: HashMap<&Column, usize> = known.keys().zip(0..).collect();
    for snapshot in run.seconds(&registry) {
        let mut cells: Vec<String> = known.values().map(|blank| (*blank).to_owned()).collect();
        each(&snapshot, header, &registry, &mut |column, cell| {
            let (Cell::Count(figure) | Cell::Value(figure)) = cell;
            // A run that goes on may have more by now.
            if let Some(place) = places.get(&column) {
                cells[*place] = figure.to_string();
            }
        });
        csv.write_record(times(&snapshot, header).iter().chain(&cells))?;
    }
    csv.flush()
}

/// The cells of [`TIMES`].
fn times(snapshot: &Snapshot, header: &Header) -> [String; 3] {
    let ms = |ns: i64| ns.div_euclid(1_000_000);
    let instant = i64::try_from(header.started_ms()).unwrap_or(0).saturating_add(ms(snapshot.at.0));
    let instant = jiff::Timestamp::from_millisecond(instant).map(|instant| format!("{instant:.3}"));
    let seconds = |ns: i64| (ns as f64 / 1e9).to_string();
    [seconds(snapshot.at.0), instant.unwrap_or_default(), seconds(snapshot.interval_ns)]
}

/// Every figure of a second.
fn each(snapshot: &Snapshot, header: &Header, registry: &Arc<Registry>, tell: &mut Tell<'_>) {
    users(snapshot, tell);
    counts(snapshot, tell);
    operations(snapshot, header, tell);
    if header.tracked {
        delivery(snapshot, tell);
    }
    generator(snapshot, tell);
    metrics(snapshot, registry, tell);
}

/// Tells a figure of a group whose columns have places of their own.
fn at(group: Group, place: usize, name: impl Into<String>, cell: Cell, tell: &mut Tell<'_>) {
    tell(Column { group, place, metric: String::new(), figure: 0, name: name.into() }, cell);
}

/// Tells these quantiles of what was recorded, if anything was, from `place` on.
fn quantiles((group, place): (Group, usize), prefix: &str, of: &Quantiles, tell: &mut Tell<'_>) {
    if of.count == 0 {
        return;
    }
    let told = [("p50", of.p50), ("p95", of.p95), ("p99", of.p99), ("max", of.max)];
    for (offset, (name, value)) in told.into_iter().enumerate() {
        at(group, place + offset, format!("{prefix}_{name}_ms"), Cell::Value(value), tell);
    }
}

fn users(snapshot: &Snapshot, tell: &mut Tell<'_>) {
    if snapshot.shards.is_empty() {
        return;
    }
    at(Group::Users, 0, "users", Cell::Value(snapshot.level(|shard| shard.users) as f64), tell);
    at(Group::Users, 1, "connections", Cell::Value(snapshot.level(|shard| shard.connections) as f64), tell);
}

fn counts(snapshot: &Snapshot, tell: &mut Tell<'_>) {
    for (place, counter) in Counter::all().enumerate() {
        let count = snapshot.counters[counter];
        if count > 0 {
            at(Group::Counters, place, counter.name(), Cell::Count(count as f64), tell);
        }
    }
    for (code, count) in &snapshot.codes {
        let count = Cell::Count(*count as f64);
        at(Group::Codes, usize::from(*code), format!("http.codes.{code}"), count, tell);
    }
    let mut errors: HashMap<_, u64> = HashMap::new();
    for failure in &snapshot.failures {
        *errors.entry(failure.failure).or_default() += failure.count;
    }
    for (failure, count) in errors {
        at(Group::Errors, 0, format!("errors.{}", failure.code()), Cell::Count(count as f64), tell);
    }
}

fn operations(snapshot: &Snapshot, header: &Header, tell: &mut Tell<'_>) {
    /// Figures of an operation.
    const FIGURES: usize = 7;
    let interval_s = snapshot.interval_ns as f64 / 1e9;
    for (id, (operation, timings)) in header.operations.iter().zip(&snapshot.operations).enumerate() {
        let count = timings.count() as f64;
        if count == 0.0 {
            continue;
        }
        let (name, place) = (&operation.name, id * FIGURES);
        let rate = (count / interval_s.max(1e-9) * 1e3).round() / 1e3;
        let counts = [("count", count), ("rate_per_s", rate), ("failed", timings.failed as f64)];
        for (offset, (what, count)) in counts.into_iter().enumerate() {
            let name = format!("{name}.{what}");
            at(Group::Operations, place + offset, name, Cell::Count(count), tell);
        }
        if let Some(response) = &timings.response {
            let prefix = format!("{name}.response");
            quantiles((Group::Operations, place + 3), &prefix, &response.quantiles(), tell);
        }
    }
}

/// What the ledger has counted so far, and the latencies of the second.
fn delivery(snapshot: &Snapshot, tell: &mut Tell<'_>) {
    let counts = serde_json::to_value(snapshot.ledger).unwrap_or_default();
    let counts = counts.as_object().into_iter().flatten();
    let mut place = 0;
    for (name, count) in counts {
        let count = count.as_u64().unwrap_or(0);
        at(Group::Delivery, place, format!("delivery.{name}"), Cell::Value(count as f64), tell);
        place += 1;
    }
    quantiles((Group::Delivery, place), "delivery.latency", &snapshot.delivery.quantiles(), tell);
}

fn generator(snapshot: &Snapshot, tell: &mut Tell<'_>) {
    let mut value = |place: usize, name: &str, value: Option<f64>| {
        if let Some(value) = value {
            at(Group::Generator, place, format!("generator.{name}"), Cell::Value(value), tell);
        }
    };
    let (lag, hiccups) = (snapshot.lag.quantiles(), snapshot.hiccups.quantiles());
    value(0, "send_lag_p99_ms", (lag.count > 0).then_some(lag.p99));
    value(1, "send_lag_max_ms", (lag.count > 0).then_some(lag.max));
    value(2, "hiccup_max_ms", (hiccups.count > 0).then_some(hiccups.max));
    value(3, "busiest_core", snapshot.busiest_core());
    if !snapshot.shards.is_empty() {
        let seconds = |ns: u64| Some(ns as f64 / 1e9);
        value(4, "cpu_s", seconds(snapshot.shards.iter().map(|shard| shard.cpu_ns).sum()));
        value(5, "cpu_wait_s", seconds(snapshot.shards.iter().map(|shard| shard.wait_ns).sum()));
    }
    // A system that does not say is told as 0.
    let process = &snapshot.process;
    value(6, "resident_mb", (process.resident_bytes > 0).then_some(process.resident_bytes as f64 / 1e6));
    value(7, "open_files", (process.open_files > 0).then_some(process.open_files as f64));
    value(8, "ports_used", (process.ports_available > 0).then_some(process.ports_used as f64));
}

/// Metrics by name: the whole of each, the parts that thresholds name, and the series that tags make.
fn metrics(snapshot: &Snapshot, registry: &Arc<Registry>, tell: &mut Tell<'_>) {
    let mut store = MetricStore::new(Arc::clone(registry));
    store.absorb(&snapshot.metrics);
    for (metric, aggregate) in store.metrics() {
        metered(&metric.name, metric.unit, aggregate, tell);
    }
    for (place, part) in registry.submetrics().into_iter().enumerate() {
        if let Some(aggregate) = store.aggregate(Target::Submetric(place)) {
            metered(&part.name, registry.metric(part.parent).unit, aggregate, tell);
        }
    }
    for tagged in store.tagged() {
        let metric = registry.metric(tagged.metric);
        metered(&series(&metric.name, &tagged.tags), metric.unit, &tagged.aggregate, tell);
    }
}

/// `checks{check="is 200",group=""}`: not as thresholds name a part, which is all samples that have the tags it names.
fn series(metric: &str, tags: &TagSet) -> String {
    let tags: Vec<String> = tags.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    format!("{metric}{{{}}}", tags.join(","))
}

/// What a metric came to in the second.
fn metered(name: &str, unit: Unit, aggregate: &Aggregate, tell: &mut Tell<'_>) {
    let unit = match unit {
        Unit::Milliseconds => "_ms",
        Unit::Bytes => "_bytes",
        Unit::Number | Unit::Events | Unit::Share => "",
    };
    let mut value = |figure: usize, what: &str, unit: &str, value: f64| {
        let (metric, column) = (name.to_owned(), format!("{name}.{what}{unit}"));
        let column = Column { group: Group::Metrics, place: 0, metric, figure, name: column };
        tell(column, Cell::Value(value));
    };
    match aggregate {
        Aggregate::Counter(counted) => value(0, "sum", unit, counted.count),
        Aggregate::Gauge(gauged) => value(0, "last", unit, gauged.value),
        Aggregate::Rate(rated) => value(0, "ratio", "", rated.rate()),
        Aggregate::Trend(trend) => {
            let of = trend.clone().quantiles();
            for (figure, (what, of)) in
                [("p50", of.p50), ("p95", of.p95), ("max", of.max)].into_iter().enumerate()
            {
                value(figure, what, unit, of);
            }
        }
    }
}
