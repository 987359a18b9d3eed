//! The summary as JSON: k6's two shapes of the same, and back.

use super::delivery::TAIL;
use super::{Check, Facts, Group, Judged, Measured, Part, Summary, TimeUnit, by_name};
use crate::json;
use crate::metrics::delivery::LATENCY;
use crate::metrics::{Contains, Kind};
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

pub(super) fn handed(summary: &Summary) -> Value {
    let Summary { facts, total, root, .. } = summary;
    let metrics = total.metrics.iter().map(|one| (one.name.clone(), metric(one))).collect();
    let mut data = json!({
        "root_group": group(root),
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
    if let Some(setup) = &facts.setup_data {
        data["setup_data"] = setup.clone();
    }
    data
}

fn metric(one: &Measured) -> Value {
    let mut object =
        json!({ "type": one.kind.name(), "contains": one.contains.name(), "values": values(&one.values) });
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

fn group(one: &Group) -> Value {
    json!({
        "name": one.name,
        "path": one.path,
        "id": id(&one.path),
        "groups": one.groups.iter().map(group).collect::<Vec<_>>(),
        "checks": one.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn check(one: &Check) -> Value {
    json!({ "name": one.name, "path": one.path, "id": id(&one.path), "passes": one.passes, "fails": one.fails })
}

pub(super) fn exported(summary: &Summary) -> Value {
    let metrics = summary.total.metrics.iter().map(|one| (one.name.clone(), flat(one))).collect();
    let mut data = json!({ "root_group": group_by_name(&summary.root), "metrics": Value::Object(metrics) });
    if let Some(setup) = &summary.facts.setup_data {
        data["setup_data"] = setup.clone();
    }
    data
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

fn group_by_name(one: &Group) -> Value {
    let groups = one.groups.iter().map(|inner| (inner.name.clone(), group_by_name(inner))).collect();
    let checks = one.checks.iter().map(|inner| (inner.name.clone(), check(inner))).collect();
    json!({
        "name": one.name,
        "path": one.path,
        "id": id(&one.path),
        "groups": Value::Object(groups),
        "checks": Value::Object(checks),
    })
}

/// Reads what [`handed`] writes. Whatever is missing or of another form is left out: the object was the script's to change.
pub(super) fn told(data: &Value) -> Summary {
    let options = &data["options"];
    let stats = options["summaryTrendStats"].as_array().map(|stats| stats.iter().filter_map(text).collect());
    let facts = Facts {
        time_unit: options["summaryTimeUnit"].as_str().and_then(TimeUnit::named),
        elapsed: std::time::Duration::try_from_secs_f64(
            data["state"]["testRunDurationMs"].as_f64().unwrap_or(0.0) / 1e3,
        )
        .unwrap_or_default(),
        ..Facts::default()
    };
    let facts = Facts { trend_stats: stats.unwrap_or(facts.trend_stats), ..facts };
    let mut metrics: Vec<Measured> = data["metrics"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, one)| measured(name, one, &facts.trend_stats))
        .collect();
    metrics.sort_by(|one, other| by_name(&one.name, &other.name));
    let root = read_group(&data["root_group"]);
    let mut checks = Vec::new();
    gather(&root, &mut checks);
    let total = Part { title: "TOTAL RESULTS".to_owned(), metrics, checks, groups: Vec::new() };
    Summary { facts, total, scenarios: Vec::new(), root }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn measured(name: &str, one: &Value, stats: &[String]) -> Option<Measured> {
    let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
    let kind = kinds.into_iter().find(|kind| one["type"] == kind.name())?;
    let all = [Contains::Default, Contains::Time, Contains::Data];
    let contains = all.into_iter().find(|of| one["contains"] == of.name()).unwrap_or(Contains::Default);
    let values = one["values"].as_object()?;
    let mut values: Vec<(String, f64)> =
        values.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect();
    if kind == Kind::Trend {
        let own = (name == LATENCY).then(|| TAIL.to_owned());
        let stats: Vec<&String> = stats.iter().chain(&own).collect();
        let place = |name: &String| stats.iter().position(|stat| *stat == name);
        values.retain(|(name, _)| place(name).is_some());
        values.sort_by_key(|(name, _)| place(name));
    }
    let judged = |(source, judged): (&String, &Value)| {
        let method = source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
        let seen = values.iter().find(|(name, _)| name == method).cloned();
        Judged { source: source.clone(), ok: judged["ok"] == true, seen }
    };
    let thresholds = one["thresholds"].as_object().into_iter().flatten().map(judged).collect();
    Some(Measured { name: name.to_owned(), kind, contains, values, thresholds })
}

fn read_group(value: &Value) -> Group {
    let list = |name: &str| value[name].as_array().into_iter().flatten();
    let check = |check: &Value| {
        Some(Check {
            name: text(&check["name"])?,
            path: text(&check["path"]).unwrap_or_default(),
            passes: check["passes"].as_f64()? as u64,
            fails: check["fails"].as_f64()? as u64,
        })
    };
    Group {
        name: text(&value["name"]).unwrap_or_default(),
        path: text(&value["path"]).unwrap_or_default(),
        groups: list("groups").map(read_group).collect(),
        checks: list("checks").filter_map(check).collect(),
    }
}

/// Checks of the same name are one, in whatever groups they are.
fn gather(group: &Group, checks: &mut Vec<Check>) {
    for check in &group.checks {
        match checks.iter_mut().find(|known| known.name == check.name) {
            Some(known) => {
                (known.passes, known.fails) = (known.passes + check.passes, known.fails + check.fails);
            }
            None => checks.push(check.clone()),
        }
    }
    group.groups.iter().for_each(|inner| gather(inner, checks));
}
