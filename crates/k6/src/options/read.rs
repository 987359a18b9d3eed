//! The kinds of values that options have. Each function checks one value and returns it in the form the rest of the
//! crate reads, which is also what a script sees in `exec.test.options`: lengths of time as text, numbers as numbers.
//!
//! A value of the wrong kind is a problem and counts as not given; `null` never comes here.

use super::problem::{Reading, meant};
use super::span;
use serde_json::{Map, Value};
use sonagi_measure::metrics::Aggregation;

/// Checks one value.
pub(super) type Check = fn(&Value, &mut Reading<'_>) -> Option<Value>;

/// The name in `known` that a script's member means: k6 does not look at case.
pub(super) fn same<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().find(|it| it.eq_ignore_ascii_case(name))
}

/// A whole number, as number or as text; an empty text is none.
pub(super) fn whole(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let number = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(number) => Some(number.into()),
        None => reading.wrong("a whole number", value),
    }
}

pub(super) fn truth(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    if value.is_boolean() { Some(value.clone()) } else { reading.wrong("true or false", value) }
}

pub(super) fn text(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    if value.is_string() { Some(value.clone()) } else { reading.wrong("a text", value) }
}

/// A length of time, returned as k6 writes it.
pub(super) fn time(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    match span::of(value) {
        Ok(ns) => Some(span::text(ns).into()),
        Err(what) if value.is_string() => {
            let hint = "lengths of time are written \"1h30m\", \"90s\", \"500ms\", \"1d\", or as a number of \
                        milliseconds";
            reading.problem_with_hint(format!("{value} {what}"), hint);
            None
        }
        Err(what) => {
            reading.problem(format!("{what}, is {}", super::problem::short(value)));
            None
        }
    }
}

pub(super) fn texts(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    match value.as_array() {
        Some(items) if items.iter().all(Value::is_string) => Some(value.clone()),
        _ => reading.wrong("a list of texts", value),
    }
}

/// An object whose members are texts, in the order of their names.
pub(super) fn text_map(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(members) = value.as_object() else { return reading.wrong("an object of texts", value) };
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut map = Map::new();
    for (name, member) in sorted {
        match member {
            Value::String(_) => drop(map.insert(name.clone(), member.clone())),
            // In k6 too, a member without a value is an empty text.
            Value::Null => drop(map.insert(name.clone(), "".into())),
            _ => drop(reading.within(name).wrong::<Value>("a text", member)),
        }
    }
    Some(Value::Object(map))
}

/// Whatever it is: passed on as it stands.
pub(super) fn anything(value: &Value, _: &mut Reading<'_>) -> Option<Value> {
    Some(value.clone())
}

/// A word out of a few.
fn word(value: &Value, words: &[&str], reading: &mut Reading<'_>) -> Option<Value> {
    match value.as_str().and_then(|text| same(text, words.iter().copied())) {
        Some(word) => Some(word.into()),
        None => reading.wrong(&format!("one of {}", words.join(", ")), value),
    }
}

pub(super) fn time_unit(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    word(value, &["s", "ms", "us"], reading)
}

/// `avg`, `p(99.9)` and their like.
pub(super) fn trend_stats(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    use Aggregation::{Avg, Count, Max, Med, Min, Percentile};
    let stats = texts(value, reading)?;
    for stat in stats.as_array()?.iter().filter_map(Value::as_str) {
        match Aggregation::named(stat) {
            Some(Avg | Count | Max | Med | Min | Percentile(_)) => {}
            _ if stat.starts_with("p(") && stat.ends_with(')') => {
                reading.problem(format!("\"{stat}\" needs a number from 0 to 100"));
            }
            _ => {
                let hint = "known are avg, min, med, max, count and percentiles as p(99.9)";
                reading.problem_with_hint(format!("\"{stat}\" is no statistic of a trend"), hint);
            }
        }
    }
    Some(stats)
}

/// Every system tag there is; the first fourteen are on unless a test says otherwise.
pub(super) const SYSTEM_TAGS: [&str; 18] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
    "url",
    "iter",
    "ip",
    "ocsp_status",
    "vu",
];

/// The tags that are on by default.
pub(super) fn default_system_tags() -> Value {
    SYSTEM_TAGS[..14].iter().copied().map(Value::from).collect()
}

pub(super) fn system_tags(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let given = texts(value, reading)?;
    let given: Vec<&str> = given.as_array()?.iter().filter_map(Value::as_str).collect();
    for tag in given.iter().filter(|tag| !SYSTEM_TAGS.contains(tag)) {
        reading.notice(format!("\"{tag}\" is no system tag, known are {}", SYSTEM_TAGS.join(", ")));
    }
    let mut tags: Vec<&str> = SYSTEM_TAGS.into_iter().filter(|tag| given.contains(tag)).collect();
    tags.sort_unstable();
    Some(tags.into_iter().map(Value::from).collect())
}

/// How names are resolved: an object with `ttl`, `select`, `policy`; from flags and environment `ttl=1m,select=first`.
pub(super) fn dns(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(given) = value.as_object() else {
        return reading.wrong("an object with ttl, select, policy", value);
    };
    let mut dns = Map::new();
    for (name, member) in given.iter().filter(|(_, member)| !member.is_null()) {
        let Some(name) = same(name, ["ttl", "select", "policy"]) else { continue };
        let mut reading = reading.within(name);
        let member = match name {
            "ttl" => text(member, &mut reading).filter(|ttl| is_ttl(ttl, &mut reading)),
            "select" => word(member, &["first", "random", "roundRobin"], &mut reading),
            _ => word(member, &["preferIPv4", "preferIPv6", "onlyIPv4", "onlyIPv6", "any"], &mut reading),
        };
        dns.extend(member.map(|member| (name.to_string(), member)));
    }
    Some(Value::Object(dns))
}

fn is_ttl(ttl: &Value, reading: &mut Reading<'_>) -> bool {
    let text = ttl.as_str().unwrap_or_default();
    let right = text == "inf" || span::parse(text).is_ok_and(|ns| ns >= 0);
    if !right {
        reading.problem(format!("must be inf, 0 or a length of time, is {ttl}"));
    }
    right
}

/// A member nobody knows, where that is a problem.
pub(super) fn unknown<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    reading: &mut Reading<'_>,
) {
    let hint = match meant(name, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    };
    reading.problem_with_hint(format!("has an unknown member `{name}`"), hint);
}

/// Thresholds: per metric a list of expressions, or of objects around them. The expressions are parsed by `metrics`.
pub(super) fn thresholds(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(given) = value.as_object() else {
        return reading.wrong("an object: for each metric a list of thresholds", value);
    };
    let mut metrics: Vec<(&String, &Value)> = given.iter().collect();
    metrics.sort_by_key(|(name, _)| *name);
    let mut checked = Map::new();
    for (metric, list) in metrics {
        let mut reading = reading.within(metric);
        let items = match list {
            Value::Null => &Vec::new(),
            Value::Array(items) => items,
            _ => {
                reading.problem_with_hint(
                    format!("must be a list of thresholds, is {}", super::problem::short(list)),
                    format!("write [{}]", super::problem::short(list)),
                );
                continue;
            }
        };
        let items = items.iter().enumerate().filter_map(|(n, item)| threshold(item, &mut reading.within(n)));
        checked.insert(metric.clone(), items.collect());
    }
    Some(Value::Object(checked))
}

fn threshold(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let given = match value {
        Value::String(_) => return Some(value.clone()),
        Value::Object(given) => given,
        _ => return reading.wrong("an expression or an object with `threshold`", value),
    };
    let mut source = Value::from("");
    let mut abort = false;
    let mut delay = Value::Null;
    for (name, member) in given.iter().filter(|(_, member)| !member.is_null()) {
        match same(name, ["threshold", "abortOnFail", "delayAbortEval"]) {
            Some(name @ "threshold") => source = text(member, &mut reading.within(name))?,
            Some(name @ "abortOnFail") => {
                abort = truth(member, &mut reading.within(name))? == Value::Bool(true);
            }
            Some(name) => delay = time(member, &mut reading.within(name))?,
            None => {}
        }
    }
    if !abort {
        return Some(source);
    }
    Some(serde_json::json!({"threshold": source, "abortOnFail": true, "delayAbortEval": delay}))
}
