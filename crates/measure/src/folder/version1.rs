//! Folders of version 1, which had `series.csv`: one row `second,series,value` per whole number. Counters and failures
//! are differences, levels and the ledger's counts are values at the end of the second. What a script's functions
//! reported is in the events, and the values of their histograms are in the log of latencies. Such folders are read and
//! no longer written.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::lines::WholeLines;
use super::places::{Count, Places};
use crate::at::At;
use crate::histogram::Histogram;
use crate::metrics::{Aggregate, Counted, Kind, Observed, Registry, Series, Trend, Unit};
use crate::outcome::Failure;
use crate::recorder::{Counter, Gauges};
use crate::totals::Snapshot;

/// The series.
pub(super) const SERIES: &str = "series.csv";

/// How a name stands in a series' own: without the dot that ends it, and on one line. The first one is what escapes.
const ESCAPED: [(&str, &str); 4] = [("%", "%25"), (".", "%2E"), ("\n", "%0A"), ("\r", "%0D")];

/// The row that commits a second.
const COMMIT: &str = "snapshot.at_ns";

/// Begins the tags of the script's own histograms in the log of latencies.
const CUSTOM: &str = "custom.";

/// Reads the seconds whose last row is there.
pub(super) struct Decoder {
    places: Arc<Places>,
    rows: csv::StringRecordsIntoIter<WholeRows>,
}

/// The whole rows of a file, without the end of one that is torn.
struct WholeRows {
    lines: WholeLines,
    /// The row that is read.
    row: Cursor<Vec<u8>>,
}

impl Read for WholeRows {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.row.position() == self.row.get_ref().len() as u64 {
            self.row = Cursor::new(self.lines.next().unwrap_or_default());
        }
        self.row.read(into)
    }
}

impl Decoder {
    pub(super) fn new(places: Arc<Places>, lines: WholeLines) -> Decoder {
        let series = WholeRows { lines, row: Cursor::default() };
        let rows = csv::ReaderBuilder::new().flexible(true).from_reader(series).into_records();
        Decoder { places, rows }
    }
}

impl Iterator for Decoder {
    type Item = Snapshot;

    fn next(&mut self) -> Option<Snapshot> {
        let mut current = None::<Second>;
        while let Some(Ok(row)) = self.rows.next() {
            let (Some(second), Some(series), Some(value)) = (row.get(0), row.get(1), row.get(2)) else {
                continue;
            };
            let Ok(number) = second.parse() else { continue };
            let same = current.take().filter(|current| current.snapshot.second == number);
            let mut second =
                same.unwrap_or_else(|| Second { snapshot: self.places.blank(number), levels: Map::new() });
            second.enter(&self.places, series, value);
            if series == COMMIT {
                return Some(second.finish());
            }
            current = Some(second);
        }
        None
    }
}

/// A second that is read.
struct Second {
    snapshot: Snapshot,
    /// Levels by family (`delivery`, `process`, `shard.0`) and name.
    levels: Map<String, Value>,
}

impl Second {
    /// Enters one row. Series that are not ours are left alone.
    fn enter(&mut self, places: &Places, series: &str, value: &str) {
        match series {
            COMMIT => self.snapshot.at = At(value.parse().unwrap_or(0)),
            "snapshot.interval_ns" => self.snapshot.interval_ns = value.parse().unwrap_or(0),
            _ => {
                if let Ok(value) = value.parse() {
                    self.enter_number(places, series, value);
                }
            }
        }
    }

    fn enter_number(&mut self, places: &Places, series: &str, value: u64) {
        let is_level =
            |family: &str| matches!(family, "delivery" | "process") || family.starts_with("shard.");
        match series.rsplit_once('.').filter(|(family, _)| is_level(family)) {
            Some((family, name)) => {
                let levels = self.levels.entry(family).or_insert_with(|| Value::Object(Map::new()));
                levels[name] = Value::from(value);
            }
            None => {
                if let Some(count) = counted(places, series) {
                    count.enter(value, &mut self.snapshot);
                }
            }
        }
    }

    fn finish(mut self) -> Snapshot {
        /// More shards than any machine has cores: a damaged row must not claim memory.
        const SHARDS_MAX: usize = 4096;
        let mut levels =
            |family: &str| self.levels.remove(family).unwrap_or_else(|| Value::Object(Map::new()));
        self.snapshot.ledger = serde_json::from_value(levels("delivery")).unwrap_or_default();
        self.snapshot.process = serde_json::from_value(levels("process")).unwrap_or_default();
        for (family, levels) in self.levels {
            let index = family.strip_prefix("shard.").and_then(|index| index.parse::<usize>().ok());
            let Some(index) = index.filter(|index| *index < SHARDS_MAX) else { continue };
            if self.snapshot.shards.len() <= index {
                self.snapshot.shards.resize(index + 1, Gauges::default());
            }
            self.snapshot.shards[index] = serde_json::from_value(levels).unwrap_or_default();
        }
        self.snapshot
    }
}

/// The count that a series is of; None: it is not ours, or of an operation that the run does not have.
fn counted(places: &Places, series: &str) -> Option<Count> {
    if let Some(counter) = Counter::named(series) {
        return Some(Count::Named(counter));
    }
    let (family, rest) = series.split_once('.')?;
    Some(match family {
        "operations" => {
            let (name, count) = rest.rsplit_once('.')?;
            match (count, name.strip_suffix(".codes")) {
                ("failed", _) => Count::Failed(places.operation(name)?),
                ("unanswered", _) => Count::Unanswered(places.operation(name)?),
                (code, Some(name)) => Count::Answers(places.operation(name)?, code.parse().ok()?),
                _ => return None,
            }
        }
        "scenarios" => Count::Created(places.scenario(rest)?),
        "http" => Count::Code(rest.strip_prefix("codes.")?.parse().ok()?),
        "errors" => failed(places, rest)?,
        _ => return None,
    })
}

/// `errors.<code>.<operation>`; of one that has a name of its own `errors.<code>=<name>.<operation>`.
fn failed(places: &Places, rest: &str) -> Option<Count> {
    let (code, operation) = rest.split_once('.').map_or((rest, None), |(code, name)| (code, Some(name)));
    let (code, called) = code.split_once('=').unwrap_or((code, ""));
    let called = ESCAPED.iter().rev().fold(called.to_owned(), |text, (c, escaped)| text.replace(escaped, c));
    let operation = operation.and_then(|name| places.operation(name));
    Some(Count::Error { operation, failure: Failure::from_code(code)?, called })
}

/// Enters the metrics that the script's functions reported in a second, from an event; [`enter_values`] has the values
/// of histograms.
pub(super) fn enter_reported(event: &Value, registry: &Registry, snapshot: &mut Snapshot) {
    let Some(Value::Object(metrics)) = event.get("metrics") else { return };
    for (name, told) in metrics {
        let samples = told.get("count").and_then(Value::as_u64).unwrap_or(0);
        let sum = told.get("sum").and_then(Value::as_f64).unwrap_or(0.0);
        let (unit, aggregate) = match told.get("kind").and_then(Value::as_str) {
            Some("counter") => (Unit::Number, Aggregate::Counter(Counted { count: sum, samples })),
            Some("rate") => (Unit::Events, Aggregate::Counter(Counted { count: samples as f64, samples })),
            Some("histogram") => (Unit::Number, Aggregate::new(Kind::Trend)),
            _ => continue,
        };
        let Ok(metric) = registry.add(name, aggregate.kind(), unit) else { continue };
        let of = registry.metric(metric);
        let (submetrics, tags, breakdown) = Default::default();
        let series = Arc::new(Series { metric, of, submetrics, tags, breakdown });
        snapshot.metrics.series.push(Observed { series, first: At(0), aggregate });
    }
    snapshot.metrics.left_out = event.get("left_out").and_then(Value::as_u64).unwrap_or(0);
}

/// The values of a histogram that [`enter_reported`] has named: thousandths of the script's unit.
pub(super) fn enter_values(tag: &str, values: &Histogram, snapshot: &mut Snapshot) {
    let Some(name) = tag.strip_prefix(CUSTOM) else { return };
    let mut series = snapshot.metrics.series.iter_mut();
    let named = series.find(|observed| super::hlog::tag_safe(&observed.series.of.name) == name);
    if let Some(Observed { aggregate: Aggregate::Trend(trend), .. }) = named {
        let counted = values.raw().iter_recorded();
        let told =
            counted.map(|value| (value.value_iterated_to() as f64 / 1e3, value.count_at_value().into()));
        **trend = Trend::of_counts(told);
    }
}
