//! Options from `K6_*` variables, in the script's own form.
//!
//! Nothing is judged here: a text that is no number stays a text, and is told of where all tiers are checked.

use super::table::KNOWN;
use serde_json::{Map, Value, json};

/// Options whose value is a list, written with commas.
pub(super) const LISTS: [&str; 6] =
    ["tlsCipherSuites", "blacklistIPs", "blockHostnames", "summaryTrendStats", "systemTags", "out"];
/// Options whose value is a text whatever it looks like.
const TEXTS: [&str; 5] = ["userAgent", "httpDebug", "summaryTimeUnit", "consoleOutput", "localIPs"];

/// The tier of the environment. Variables that are no options are left alone, empty ones count as not set.
pub fn environment(variables: &[(String, String)]) -> Map<String, Value> {
    let mut tier = Map::new();
    for known in KNOWN.iter().filter(|known| !known.variable.is_empty()) {
        let set = variables.iter().rev().find(|(name, text)| name == known.variable && !text.is_empty());
        tier.extend(set.map(|(_, text)| (known.name.to_string(), value(known.name, text))));
    }
    tier
}

fn value(option: &str, text: &str) -> Value {
    match option {
        "stages" => text.split(',').map(stage).collect(),
        "tags" => tags(text),
        "dns" => dns(text),
        _ if LISTS.contains(&option) => list(text),
        _ if TEXTS.contains(&option) => text.into(),
        _ => match text {
            "true" => true.into(),
            "false" => false.into(),
            _ => text.into(),
        },
    }
}

/// `a,b,c`
pub(super) fn list(text: &str) -> Value {
    text.split(',').map(Value::from).collect()
}

/// `10s:5`: what is not there is null.
pub(super) fn stage(text: &str) -> Value {
    let (duration, target) = text.split_once(':').unwrap_or((text, ""));
    let given = |part: &str| if part.is_empty() { Value::Null } else { part.into() };
    json!({"duration": given(duration), "target": given(target)})
}

/// `a:b,c:d`
fn tags(text: &str) -> Value {
    let pairs: Option<Map<String, Value>> = text
        .split(',')
        .map(|pair| pair.split_once(':').map(|(name, value)| (name.into(), value.into())))
        .collect();
    pairs.map_or_else(|| text.into(), Value::Object)
}

/// `ttl=1m,select=first`; a part that is no such pair is kept as a member nobody knows how to read.
pub(super) fn dns(text: &str) -> Value {
    let part = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let known = ["ttl", "select", "policy"].contains(&name) && !value.is_empty();
        known.then(|| (name.to_string(), value.into()))
    };
    let parts: Option<Map<String, Value>> = text.split(',').map(part).collect();
    parts.map_or_else(|| text.into(), Value::Object)
}
