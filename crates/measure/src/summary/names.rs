//! A summary as a flat map of names: what threshold expressions read.
//!
//! Our own names are the paths of the document, so a new field has a name at once; operations and kinds go by their
//! names. Artillery's names are added beside them. Booleans and text have no name.

use super::{Metrics, OperationSummary, Quantiles, Summary};
use crate::outcome::OperationKind;
use serde_json::Value;
use std::collections::BTreeMap;

impl Summary {
    /// Every number of the summary by name: ours (`delivery.ratio`, `operations.<name>.response_ms.p99`) and
    /// Artillery's (`vusers.failed`, `http.response_time.p95`, `errors.ECONNREFUSED`).
    pub fn names(&self) -> BTreeMap<String, f64> {
        let mut names = BTreeMap::new();
        if let Ok(document) = serde_json::to_value(self) {
            flatten("", &document, &mut names);
        }
        self.artillery_names(&mut names);
        names
    }

    fn artillery_names(&self, names: &mut BTreeMap<String, f64>) {
        // Beside the operations' own names, where a reader of a run folder looks for it.
        names.insert("operations.cut".to_owned(), self.users.operations_cut as f64);
        let Metrics { counters, rates, summaries } = Metrics::complete(self);
        names.extend(counters);
        names.extend(rates);
        for (name, values) in &summaries {
            quantiles(name, values, names);
        }
        // Artillery's plugin has its score under the plugin's own name.
        if let Some(score) = self.plugins.apdex.as_ref().and_then(|apdex| apdex.score) {
            names.insert("apdex".to_owned(), score);
        }
        for error in self.errors.iter().filter(|error| error.code != error.artillery) {
            *names.entry(format!("errors.{}", error.code)).or_default() += error.count as f64;
        }
    }

    /// All operations of one kind together, if any ran.
    pub fn kind(&self, kind: OperationKind) -> Option<&OperationSummary> {
        self.kinds.iter().find(|operation| operation.kind == kind)
    }
}

fn quantiles(name: &str, values: &Quantiles, names: &mut BTreeMap<String, f64>) {
    // Nothing measured has no quantiles: a threshold on them must not hold by default.
    let told = |(field, _): &(&str, f64)| values.count > 0 || *field == "count";
    for (field, value) in values.named().into_iter().filter(told) {
        names.insert(format!("{name}.{field}"), value);
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
