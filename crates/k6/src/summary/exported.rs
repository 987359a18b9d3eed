//! The file that k6's `--summary-export` writes, read back: figures of one run, without their distributions.

use serde_json::Value;
use std::collections::BTreeMap;

/// The figures of such a file by name: `http_req_duration.p95`, `http_reqs.rate_per_s`, `checks.rate`. None: it is
/// another file.
pub fn exported(document: &Value) -> Option<BTreeMap<String, f64>> {
    let metrics = document.get("metrics")?.as_object()?;
    // Artillery's reports have no such member; other documents may.
    document.get("root_group")?;
    let mut figures = BTreeMap::new();
    for (metric, values) in metrics {
        for (name, value) in values.as_object()? {
            if let (Some(name), Some(value)) = (figure(name), value.as_f64()) {
                figures.insert(format!("{metric}.{name}"), value);
            }
        }
    }
    Some(figures)
}

/// What we call k6's figure; None: it is no measurement (`passes` is a part of `value`).
fn figure(name: &str) -> Option<String> {
    Some(match name {
        "avg" => "mean".to_owned(),
        "med" => "p50".to_owned(),
        "min" | "max" | "count" => name.to_owned(),
        "rate" => "rate_per_s".to_owned(),
        "value" => "rate".to_owned(),
        // `p(95)`, `p(99.9)`: ours have no dot, which parts of names are told apart by.
        other => format!("p{}", other.strip_prefix("p(")?.strip_suffix(')')?.replace('.', "")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_exported_summary_is_read_by_our_names() {
        let document = json!({
            "root_group": { "name": "" },
            "metrics": {
                "http_req_duration": { "avg": 1.5, "min": 0.5, "med": 1.25, "max": 9.0, "p(95)": 3.0, "p(99.9)": 8.0 },
                "http_reqs": { "count": 100, "rate": 33.25 },
                "checks": { "passes": 9, "fails": 1, "value": 0.9, "thresholds": { "rate>0.8": false } },
            },
        });
        let figures = exported(&document).unwrap();
        assert_eq!(figures["http_req_duration.p50"], 1.25);
        assert_eq!(figures["http_req_duration.p999"], 8.0);
        assert_eq!(figures["http_reqs.rate_per_s"], 33.25);
        assert_eq!(figures["checks.rate"], 0.9);
        assert_eq!(figures.len(), 9);
    }

    #[test]
    fn another_document_is_none() {
        assert_eq!(exported(&json!({ "metrics": {} })), None);
        assert_eq!(exported(&json!([1])), None);
    }
}
