//! The summary as one JSON document. Its names are a public contract: `docs/summary.schema.json`.

use serde_json::Value;
use sonagi_measure::summary::Summary;

/// The document, indented, with a newline at its end.
pub fn summary(run: &Summary) -> String {
    format!("{:#}\n", value(run))
}

/// A document for several runs: a JSON array of their summaries in order, with a newline at its end.
pub fn summaries(runs: &[Summary]) -> String {
    format!("{:#}\n", Value::Array(runs.iter().map(value).collect()))
}

fn value(run: &Summary) -> Value {
    serde_json::to_value(run).expect("a summary is made of numbers, text and maps with text or number keys")
}
