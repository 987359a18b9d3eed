//! A summary as a flat map of names: what threshold expressions read.
//!
//! Names are the paths of the document, so a new field has a name at once; operations, kinds and the script's own
//! metrics go by their names as well, errors by their codes. Booleans and text have no name. A script's language may
//! have further names for the same figures.

use super::{OperationSummary, Summary};
use crate::outcome::OperationKind;
use crate::thresholds::{Figures, Subject};
use serde_json::Value;
use std::collections::BTreeMap;

/// A script's language names the figures of a run, for thresholds, and its settings, for sentences of verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Naming {
    /// The figures of a run by name.
    pub figures: fn(&Summary) -> Figures,
    /// The subject of the figure with this name; None: no judgement depends on it.
    pub subject: fn(&str) -> Option<Subject>,
    /// The prefix of names that count HTTP answers; behind it stand a dot and the status.
    pub status_counts: &'static str,
    /// The setting by which a script asks for a status, with a comma and a blank behind it; empty: there is none.
    pub status_wanted: &'static str,
    /// The name of what is done once before the load.
    pub before: &'static str,
    /// The settings that spread a load in time, in brackets behind a blank; empty: there is none.
    pub spreading: &'static str,
    /// How a script shows what the target answers to a message: a sentence behind a blank, or empty.
    pub answer_shown: &'static str,
}

impl Naming {
    /// The names of a language that has none of its own: paths of the summary.
    pub const PATHS: Naming = Naming {
        figures,
        subject,
        status_counts: "statuses.codes",
        status_wanted: "",
        before: "what is done before the load",
        spreading: "",
        answer_shown: "",
    };
}

impl Default for Naming {
    fn default() -> Naming {
        Naming::PATHS
    }
}

fn figures(run: &Summary) -> Figures {
    Figures { measured: run.names(), may_be_absent: |name| name.starts_with("errors.") }
}

fn subject(path: &str) -> Option<Subject> {
    Some(match path {
        "delivery.lost" | "delivery.ratio" => Subject::Lost,
        "delivery.leaked" => Subject::Leaked,
        "delivery.duplicate" => Subject::Duplicate,
        "delivery.reordered" => Subject::Reordered,
        "users.failed" => Subject::FailedUsers,
        path if path.starts_with("errors.") => Subject::FailedUsers,
        path if path.starts_with("statuses.") => Subject::Statuses,
        path => {
            let (distribution, figure) = path.rsplit_once('.')?;
            let latencies = ["response_ms", "service_ms", "first_byte_ms", "latency_ms"];
            let is_latency = latencies.iter().any(|latency| distribution.ends_with(latency));
            return (is_latency && figure != "count").then_some(Subject::Latency);
        }
    })
}

impl Summary {
    /// Every number of the summary by name: `delivery.ratio`, `operations.<name>.response_ms.p99`,
    /// `errors.connect_refused`.
    pub fn names(&self) -> BTreeMap<String, f64> {
        let mut names = BTreeMap::new();
        if let Ok(document) = serde_json::to_value(self) {
            flatten("", &document, &mut names);
        }
        // Beside the operations' own names, where a reader of a run folder looks for it.
        names.insert("operations.cut".to_owned(), self.users.operations_cut as f64);
        for error in &self.errors {
            *names.entry(format!("errors.{}", error.code)).or_default() += error.count as f64;
        }
        for (name, metric) in &self.metrics {
            if let Some(ratio) = metric.ratio {
                names.insert(format!("{name}.rate"), ratio);
                names.insert(format!("{name}.count"), metric.count as f64);
            }
            match (&metric.values, metric.per_second.or(metric.sum)) {
                (Some(values), _) => {
                    flatten(name, &serde_json::to_value(values).unwrap_or_default(), &mut names);
                }
                (None, Some(count)) => drop(names.insert(name.clone(), count)),
                (None, None) => {}
            }
        }
        for (name, metric) in &self.watched {
            if let Some(level) = &metric.level {
                flatten(name, &serde_json::to_value(level).unwrap_or_default(), &mut names);
            } else if let Some(count) = metric.sum.or(metric.per_second) {
                names.insert(name.clone(), count);
            }
        }
        names
    }

    /// All operations of one kind together, if any ran.
    pub fn kind(&self, kind: OperationKind) -> Option<&OperationSummary> {
        self.kinds.iter().find(|operation| operation.kind == kind)
    }
}

fn flatten(path: &str, value: &Value, names: &mut BTreeMap<String, f64>) {
    let under = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                names.insert(path.to_owned(), number);
            }
        }
        Value::Object(fields) if is_empty_distribution(fields) => {
            names.insert(under("count"), 0.0);
        }
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&under(name), value, names)),
        Value::Array(items) if path == "operations" || path == "kinds" => {
            for item in items {
                if let Some(name) = item.get("name").and_then(Value::as_str) {
                    flatten(&under(name), item, names);
                }
            }
        }
        _ => {}
    }
}

fn is_empty_distribution(fields: &serde_json::Map<String, Value>) -> bool {
    fields.contains_key("p999") && fields.get("count").and_then(Value::as_u64) == Some(0)
}
