//! A summary as a flat map of names: what threshold expressions read.
//!
//! Names are the paths of the document, so a new field has a name at once; operations, kinds and the script's own
//! metrics go by their names as well, errors by their codes. Booleans and text have no name. A script's language may
//! have further names for the same figures.

use super::{OperationSummary, Summary};
use crate::outcome::OperationKind;
use crate::thresholds::Figures;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a script's language calls the figures of a run, and what thresholds may name.
pub type Naming = fn(&Summary) -> Figures;

impl Summary {
    /// The names of a language that has none of its own.
    pub fn figures(&self) -> Figures {
        let may_be_absent: fn(&str) -> bool = |name| name.starts_with("errors.");
        Figures { measured: self.names(), may_be_absent, path: |name| name }
    }

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
            match (&metric.values, metric.per_second.or(metric.sum)) {
                (Some(values), _) => {
                    flatten(name, &serde_json::to_value(values).unwrap_or_default(), &mut names);
                }
                (None, Some(count)) => drop(names.insert(name.clone(), count)),
                (None, None) => {}
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
