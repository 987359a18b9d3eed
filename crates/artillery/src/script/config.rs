//! Parts of `config:` that are too small for a file of their own: target, variables, delivery.

use serde_json::Value;
use sonagi_measure::ledger;
use std::time::Duration;

use crate::script::Overrides;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Entry, Kind, Node, Origin, Place};

/// Finds what is wrong with a text that says what to watch.
pub type RefusesWatch = fn(&str) -> Option<String>;

/// The target before the service that is started for the run has an address.
const STAND_IN: &str = "http://127.0.0.1:8080";

/// The target: from the command line, the service the run brings along (`serves`), or `config.target`.
pub(crate) fn target(
    reader: &mut Reader,
    config: &Fields<'_>,
    overrides: &Overrides,
    serves: bool,
) -> String {
    let place = config.place_of("target");
    if serves {
        if config.get("target").is_some() {
            let text =
                "target: no effect; the service that `serve` starts is the target, or what --target names";
            reader.notice(place, text);
        }
        reader.constants.target = Some(STAND_IN.to_owned());
        return STAND_IN.to_owned();
    }
    let given = match &overrides.target {
        Some(target) => Some(target.clone()),
        None => reader.text(config, "target"),
    };
    let Some(target) = given else {
        // One problem is enough: addresses that begin with the target are not reported.
        reader.constants.target = Some(STAND_IN.to_owned());
        if config.get("target").is_none() {
            let environments = config.get("environments").map(Node::entries).unwrap_or_default();
            let with_target: Vec<&str> = environments
                .iter()
                .filter(|entry| entry.value.get("target").is_some())
                .map(|entry| entry.key.as_str())
                .collect();
            let hint = if with_target.is_empty() {
                "add `target: \"http://127.0.0.1:8080\"` to config, or give one on the command line"
                    .to_owned()
            } else {
                format!("choose an environment that has one with -e: {}", with_target.join(", "))
            };
            reader.missing(config, &["target"], "the script has no target", &hint);
        }
        return String::new();
    };
    let place = match (&overrides.target, config.get("target")) {
        (Some(_), _) => Place { origin: Origin::Target, line: 0, column: 0 },
        (None, Some(node)) => node.place,
        (None, None) => place,
    };
    let address = target.trim();
    let rest =
        ["http://", "https://", "ws://", "wss://"].iter().find_map(|scheme| address.strip_prefix(scheme));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/')) {
        let what = format!(
            "target is an address that begins with http://, https://, ws:// or wss://; got {target:?}"
        );
        let hint = (!address.contains("://") && !address.is_empty())
            .then(|| format!("did you mean \"{}\"?", with_scheme(address)));
        reader.problem(place, what, hint);
    } else if let Some(wrong) = crate::script::sendable::unreachable_because(address) {
        reader.problem(place, wrong, None);
    }
    reader.constants.target = Some(address.to_owned());
    address.to_owned()
}

/// An address whose scheme is missing or misspelt, as it is probably meant: `http//host` and `host` are both
/// `http://host`.
fn with_scheme(address: &str) -> String {
    let misspelt = ["http", "https", "ws", "wss"].into_iter().find_map(|scheme| {
        let rest = address.strip_prefix(scheme)?;
        let host = rest.trim_start_matches([':', '/']);
        rest[..rest.len() - host.len()].contains('/').then(|| format!("{scheme}://{host}"))
    });
    misspelt.unwrap_or_else(|| format!("http://{address}"))
}

/// `config.variables`, those of the command line over them. Each has the values one is picked from.
pub(crate) fn variables(
    reader: &mut Reader,
    config: &Fields<'_>,
    overrides: &Overrides,
) -> Vec<(String, Vec<Value>)> {
    // Templates know made-up data from here on.
    reader.constants.fakes = crate::script::fake_options::fakes(reader, config);
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    // All of config sees the variables of the command line.
    for (name, value) in &overrides.variables {
        if let [only] = choices(value.clone()).as_slice() {
            reader.names.declare_constant(name, only.clone());
        }
    }
    if let Some(node) = config.get("variables") {
        if !matches!(node.kind, Kind::Map(_)) {
            reader.wrong(config, "variables", node);
            reader.names.may_be_anything();
        }
        // Variables with fixed values come first: the others may use them.
        let is_given = |name: &str| overrides.variables.iter().any(|(given, _)| given == name);
        let said = |entry: &&Entry| !has_holes(&entry.value) && !is_given(&entry.key);
        for entry in node.entries().iter().filter(said) {
            if let [only] = choices(entry.value.to_value()).as_slice() {
                reader.names.declare_constant(&entry.key, only.clone());
            }
        }
        for entry in node.entries() {
            // The command line's value in its place comes below.
            let value = if is_given(&entry.key) { Value::Null } else { filled(reader, &entry.value) };
            if matches!(&value, Value::Array(items) if items.is_empty()) {
                let what = format!("the variable \"{}\" has no values to pick from", entry.key);
                reader.problem(entry.place, what, None);
            }
            all.push((entry.key.clone(), choices(value)));
        }
    }
    for (name, value) in &overrides.variables {
        let given = choices(value.clone());
        match all.iter_mut().find(|(known, _)| known == name) {
            Some(found) => found.1 = given,
            None => all.push((name.clone(), given)),
        }
    }
    for (name, values) in &all {
        reader.declare_global(name);
        reader.names.declare_choices(name, values.iter().cloned());
        if let [only] = values.as_slice() {
            reader.names.declare_constant(name, only.clone());
        }
    }
    all
}

fn choices(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        single => vec![single],
    }
}

fn has_holes(node: &Node) -> bool {
    match &node.kind {
        Kind::Text { text, .. } => text.contains("{{"),
        Kind::List(items) => items.iter().any(has_holes),
        Kind::Map(entries) => entries.iter().any(|entry| has_holes(&entry.value)),
        _ => false,
    }
}

/// A value whose texts are filled with what is known before the run.
pub(crate) fn filled(reader: &mut Reader, node: &Node) -> Value {
    match &node.kind {
        Kind::Text { text, .. } if text.contains("{{") => {
            reader.constant(node).map_or(Value::Null, Value::from)
        }
        Kind::List(items) => items.iter().map(|item| filled(reader, item)).collect(),
        Kind::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), filled(reader, &entry.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        _ => node.to_value(),
    }
}

/// `config.watch`: what is looked at while the load goes on; `refuses` says what is wrong with a text.
pub(crate) fn watch(reader: &mut Reader, config: &Fields<'_>, refuses: Option<RefusesWatch>) -> Vec<String> {
    let mut texts = Vec::new();
    for item in reader.list(config, "watch", true) {
        if !matches!(item.kind, Kind::Text { .. }) {
            reader.wrong(config, "watch", item);
        }
        let Some(text) = reader.constant(item) else { continue };
        match refuses.and_then(|refuses| refuses(&text)) {
            Some(why) => reader.problem(item.place, format!("watch: {why}"), None),
            None => texts.push(text),
        }
    }
    texts
}

/// `config.delivery`: the ledger's rules, and how long users drain.
pub(crate) fn delivery(reader: &mut Reader, config: &Fields<'_>) -> (ledger::Rules, Duration) {
    let mut rules = ledger::Rules { deadline_ns: 1_000_000_000, settle_ns: 100_000_000, echo: true };
    let mut drain = Duration::from_secs(5);
    if let Some(fields) = reader.section(config, "delivery", &schema::DELIVERY) {
        let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        if let Some(deadline) = reader.duration(&fields, "deadline") {
            if deadline.is_zero() {
                reader.problem(
                    fields.place_of("deadline"),
                    "deadline must be longer than 0 s: every copy would be late",
                    None,
                );
            }
            rules.deadline_ns = nanos(deadline);
        }
        if let Some(settle) = reader.duration(&fields, "settle") {
            rules.settle_ns = nanos(settle);
        }
        if let Some(given) = reader.duration(&fields, "drain") {
            drain = given;
        }
        if let Some(echo) = reader.boolean(&fields, "echo") {
            rules.echo = echo;
        }
    }
    (rules, drain)
}
