//! A snapshot serialised: one second of a run as series with names, which pages, rules, and whatever else shows a run
//! as it goes are given.
//!
//! A [`Snapshot`](crate::totals::Snapshot) keeps counts, latencies and levels in blocks of their own. Its [`Frame`] has
//! each of them as a series: a metric, its kind and unit, and tags. A name is told once, in the first frame that has
//! its series. Latencies are [`Buckets`], so that seconds, series and whole runs merge without an average of
//! percentiles. The JSON of a frame is a public contract (docs/page.md).

mod about;
mod buckets;
mod framer;
mod merged;
#[cfg(test)]
mod tests;

pub use about::{About, about};
pub use buckets::{Buckets, SCALE};
pub use framer::Framer;
pub use merged::{FRAMES_MAX, Frames};

use crate::metrics::{Kind, TagSet, Unit};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The observations of a second, or of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Frame {
    /// The first second it covers, from 0.
    pub s: u64,
    /// Its end, in seconds from the run's start.
    pub at: f64,
    /// Its length in seconds.
    pub span: f64,
    /// Series that no frame before had, by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<(u32, Name)>,
    /// What was observed, by number of its series.
    #[serde(rename = "v", serialize_with = "pairs")]
    pub values: BTreeMap<u32, Value>,
}

fn pairs<S: Serializer>(values: &BTreeMap<u32, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values)
}

impl Frame {
    /// Enters a value; those of the same series count together.
    fn enter(&mut self, number: u32, value: Value) {
        self.values.entry(number).and_modify(|known| known.merge(&value)).or_insert(value);
    }
}

/// The name of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Name {
    /// The metric's name.
    pub metric: String,
    /// The way it combines.
    pub kind: Kind,
    /// The unit of its values: `ms`, `bytes`, `share`, `events` or `number`.
    pub unit: &'static str,
    /// The tags that tell it from other series of the metric.
    #[serde(skip_serializing_if = "TagSet::is_empty")]
    pub tags: TagSet,
    /// An explanation in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
}

/// The unit of a metric, in the word that frames have for it.
fn unit_of(kind: Kind, unit: Unit) -> &'static str {
    match (kind, unit) {
        (Kind::Rate, _) | (_, Unit::Share) => "share",
        (_, Unit::Number) => "number",
        (_, Unit::Milliseconds) => "ms",
        (_, Unit::Bytes) => "bytes",
        (_, Unit::Events) => "events",
    }
}

/// The value of a series in a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The increase of a counter.
    Counter(f64),
    /// The last, the lowest and the highest value of a gauge.
    Gauge(f64, f64, f64),
    /// Values other than zero, and all values.
    Rate(u64, u64),
    /// The values of a trend.
    Trend(Buckets),
}

impl Value {
    /// Adds the value of a later frame. Values of different kinds do not add; the first one stays.
    pub fn merge(&mut self, later: &Value) {
        match (self, later) {
            (Value::Counter(mine), Value::Counter(theirs)) => *mine += theirs,
            (Value::Gauge(last, low, high), Value::Gauge(later, lowest, highest)) => {
                (*last, *low, *high) = (*later, low.min(*lowest), high.max(*highest));
            }
            (Value::Rate(passes, total), Value::Rate(more, all)) => {
                (*passes, *total) = (*passes + more, *total + all);
            }
            (Value::Trend(mine), Value::Trend(theirs)) => mine.merge(theirs),
            _ => {}
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Counter(count) => Brief(*count).serialize(serializer),
            Value::Gauge(last, low, high) => {
                [last, low, high].map(|level| Brief(*level)).serialize(serializer)
            }
            Value::Rate(passes, total) => (passes, total).serialize(serializer),
            Value::Trend(buckets) => buckets.serialize(serializer),
        }
    }
}

/// A number as pages get it: nine significant digits, whole numbers without a point, and what is not finite as the
/// largest number, for JSON has none such.
struct Brief(f64);

impl Serialize for Brief {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const WHOLE: f64 = (1u64 << 53) as f64;
        let number = if self.0.is_nan() { 0.0 } else { self.0.clamp(f64::MIN, f64::MAX) };
        if number.fract() == 0.0 && number.abs() < WHOLE {
            return serializer.serialize_i64(number as i64);
        }
        serializer.serialize_f64(format!("{number:.8e}").parse().unwrap_or(number))
    }
}
