//! A second of a watch as JSON: a line of `sonagi watch --json`, and what one Sonagi hands over to another.

use crate::probe::Note;
use crate::watch::Taken;
use serde_json::{Map, Value, json};
use sonagi_measure::metrics::{Aggregate, Kind, TagSet, Unit};
use sonagi_measure::watched;

/// What was seen in a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Second {
    /// Its number, from 1.
    pub number: u64,
    /// Metrics.
    pub values: Vec<Measured>,
    /// What is to be told.
    pub notes: Vec<Told>,
}

/// A series in a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The metric's name.
    pub metric: String,
    /// A level, or an increase.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// Its tags.
    pub tags: TagSet,
    /// The last level, or the whole increase.
    pub value: f64,
}

/// A [`Note`] without its instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The subject of the probe.
    pub subject: String,
    /// In a sentence without the subject.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it is about the target, not about what cannot be measured.
    pub is_event: bool,
}

impl Second {
    /// What was taken from a watch, as the second of this number.
    pub fn of(number: u64, taken: Taken) -> Second {
        let values = taken.interval.series.into_iter().filter_map(|observed| {
            let value = match observed.aggregate {
                Aggregate::Counter(counted) => counted.count,
                Aggregate::Gauge(gauged) => gauged.value,
                // Probes know no others.
                Aggregate::Rate(_) | Aggregate::Trend(_) => return None,
            };
            let (of, tags) = (&observed.series.of, observed.series.tags.clone());
            Some(Measured { metric: of.name.to_string(), kind: of.kind, unit: of.unit, tags, value })
        });
        let told = |Note { subject, text, hint, is_event, .. }| Told { subject, text, hint, is_event };
        Second { number, values: values.collect(), notes: taken.notes.into_iter().map(told).collect() }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let value = |one: &Measured| {
            let Measured { metric, kind, unit, tags, value } = one;
            json!({ "metric": metric, "kind": kind, "unit": unit, "tags": tags, "value": value })
        };
        let note = |Told { subject, text, hint, is_event }: &Told| {
            let kind = if *is_event { watched::TARGET } else { watched::UNMEASURED };
            json!({ "kind": kind, "subject": subject, "text": text, "hint": hint })
        };
        json!({
            "second": self.number,
            "metrics": self.values.iter().map(value).collect::<Vec<_>>(),
            "notes": self.notes.iter().map(note).collect::<Vec<_>>(),
        })
    }

    /// From JSON; None: it is no second. What in it is no value or note is left out.
    pub fn of_json(json: &Value) -> Option<Second> {
        let text = |of: &Value, name: &str| Some(of[name].as_str()?.to_owned());
        let value = |of: &Value| {
            let none = Map::new();
            let tags = of["tags"].as_object().unwrap_or(&none).iter();
            let tags: Vec<(&str, &str)> =
                tags.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
            let kind = match of["kind"].as_str()? {
                "gauge" => Kind::Gauge,
                "counter" => Kind::Counter,
                _ => return None,
            };
            let metric = text(of, "metric")?;
            let unit = watched::unit(&metric);
            let value = of["value"].as_f64()?;
            Some(Measured { unit, metric, kind, tags: TagSet::of(&tags), value })
        };
        let note = |of: &Value| {
            let (subject, is_event) = (text(of, "subject")?, of["kind"] == watched::TARGET);
            Some(Told { subject, text: text(of, "text")?, hint: text(of, "hint"), is_event })
        };
        Some(Second {
            number: json["second"].as_u64()?,
            values: json["metrics"].as_array()?.iter().filter_map(value).collect(),
            notes: json["notes"].as_array()?.iter().filter_map(note).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_the_same_after_its_way_through_json() {
        let measured = |metric: &str, kind, unit, value| {
            let tags = TagSet::of(&[("thread", "node 7")]);
            Measured { metric: metric.to_owned(), kind, unit, tags, value }
        };
        let note = Told { subject: "port 3000".to_owned(), text: "x".to_owned(), hint: None, is_event: true };
        let second = Second {
            number: 7,
            values: vec![
                measured("target.memory", Kind::Gauge, Unit::Bytes, 1e9),
                measured("theirs_total", Kind::Counter, Unit::Number, 0.5),
            ],
            notes: vec![note.clone(), Told { hint: Some("y".to_owned()), is_event: false, ..note }],
        };
        let text = second.to_json().to_string();
        assert_eq!(Second::of_json(&serde_json::from_str(&text).unwrap()).unwrap(), second);
        assert_eq!(Second::of_json(&json!({ "second": -1 })), None);
    }
}
