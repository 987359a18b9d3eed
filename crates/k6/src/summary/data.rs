//! The summary as JSON: k6's two shapes of the same. Both have a member more where outputs lack samples.

use super::collected::Node;
use super::{Check, Facts, Judged, Measured, Summary, TimeUnit};
use crate::json;
use crate::metrics::{Kind, contains};
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

impl Summary {
    /// The object `handleSummary` is given.
    pub fn data(&self) -> Value {
        let Summary { facts, total, root, .. } = self;
        let metrics = total.metrics.iter().map(|one| (one.name.clone(), metric(one))).collect();
        let mut data = json!({
            "root_group": group(root, listed),
            "options": {
                "summaryTrendStats": facts.trend_stats,
                "summaryTimeUnit": facts.time_unit.map_or("", TimeUnit::name),
                "noColor": facts.no_color,
            },
            "state": {
                "isStdOutTTY": facts.stdout_is_terminal,
                "isStdErrTTY": facts.stderr_is_terminal,
                "testRunDurationMs": json::value(facts.elapsed.as_nanos() as f64 / 1e6),
            },
            "metrics": Value::Object(metrics),
        });
        add_rare(&mut data, facts);
        data
    }

    /// The content of the file that `--summary-export` names.
    pub fn export(&self) -> Value {
        let metrics = self.total.metrics.iter().map(|one| (one.name.clone(), flat(one))).collect();
        let mut data = json!({ "root_group": group(&self.root, by_name), "metrics": Value::Object(metrics) });
        add_rare(&mut data, &self.facts);
        data
    }
}

/// Members that most tests have no reason for.
fn add_rare(data: &mut Value, facts: &Facts) {
    if let Some(setup) = &facts.setup_data {
        data["setup_data"] = setup.clone();
    }
    if facts.samples_left_out > 0 {
        data["samples_left_out"] = facts.samples_left_out.into();
    }
}

fn metric(one: &Measured) -> Value {
    let mut object =
        json!({ "type": one.kind.name(), "contains": contains(one.unit), "values": values(&one.values) });
    if !one.thresholds.is_empty() {
        let judged = |judged: &Judged| (judged.source.clone(), json!({ "ok": judged.ok }));
        object["thresholds"] = Value::Object(one.thresholds.iter().map(judged).collect());
    }
    object
}

fn values(values: &[(String, f64)]) -> Map<String, Value> {
    values.iter().map(|(name, value)| (name.clone(), json::value(*value))).collect()
}

/// Groups and checks have the hash of their path as a name for machines.
fn id(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A group, with those in it and its checks as this makes one of them.
fn group(one: &Node, together: fn(Vec<(String, Value)>) -> Value) -> Value {
    let groups = one.groups.iter().map(|inner| (inner.name.clone(), group(inner, together)));
    let checks = one.checks.iter().map(|inner| (inner.name.clone(), check(inner)));
    json!({
        "name": one.name,
        "path": one.path,
        "id": id(&one.path),
        "groups": together(groups.collect()),
        "checks": together(checks.collect()),
    })
}

/// A list, in which each says its name itself.
fn listed(all: Vec<(String, Value)>) -> Value {
    all.into_iter().map(|(_, one)| one).collect()
}

/// An object with a member for each.
fn by_name(all: Vec<(String, Value)>) -> Value {
    all.into_iter().collect()
}

fn check(one: &Check) -> Value {
    json!({ "name": one.name, "path": one.path, "id": id(&one.path), "passes": one.passes, "fails": one.fails })
}

/// Values and thresholds in one object; a threshold is true when it is crossed.
fn flat(one: &Measured) -> Value {
    let mut object = values(&one.values);
    if one.kind == Kind::Rate
        && let Some(rate) = object.shift_remove("rate")
    {
        object.insert("value".to_owned(), rate);
    }
    if !one.thresholds.is_empty() {
        let judged = one.thresholds.iter().map(|judged| (judged.source.clone(), Value::Bool(!judged.ok)));
        object.insert("thresholds".to_owned(), Value::Object(judged.collect()));
    }
    Value::Object(object)
}
