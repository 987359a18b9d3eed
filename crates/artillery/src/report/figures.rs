//! The report that Artillery's `--output` writes, read: figures of one run, without their distributions.

use serde_json::Value;
use std::collections::BTreeMap;

/// The figures of such a report by Artillery's names: `http.response_time.p95`, `vusers.failed`. None: it is none.
pub fn figures(document: &Value) -> Option<BTreeMap<String, f64>> {
    let aggregate = document.get("aggregate")?;
    let counters = aggregate.get("counters")?.as_object()?;
    let mut figures = BTreeMap::new();
    let rates = aggregate.get("rates").and_then(Value::as_object);
    for (name, value) in counters.iter().chain(rates.into_iter().flatten()) {
        figures.extend(value.as_f64().map(|value| (name.clone(), value)));
    }
    let summaries = aggregate.get("summaries").and_then(Value::as_object);
    for (name, values) in summaries.into_iter().flatten() {
        for (figure, value) in values.as_object().into_iter().flatten() {
            figures.extend(value.as_f64().map(|value| (format!("{name}.{figure}"), value)));
        }
    }
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_is_read_by_artillerys_names() {
        let document = json!({
            "aggregate": {
                "counters": { "vusers.created": 10, "http.codes.200": 30 },
                "rates": { "http.request_rate": 5 },
                "summaries": { "http.response_time": { "min": 1, "max": 9, "p50": 2, "median": 2, "p95": 4.5 } },
            },
            "intermediate": [],
        });
        let figures = figures(&document).unwrap();
        assert_eq!(figures["vusers.created"], 10.0);
        assert_eq!(figures["http.request_rate"], 5.0);
        assert_eq!(figures["http.response_time.p95"], 4.5);
    }

    #[test]
    fn another_document_is_none() {
        assert_eq!(figures(&json!({ "aggregate": {} })), None);
        assert_eq!(figures(&json!({ "metrics": {} })), None);
    }
}
