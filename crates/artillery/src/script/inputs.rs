//! The command line's layers over a script beside its environment: further files, a payload's file, one user, one
//! scenario.
//!
//! Files are merged in the order they are named, key by key and lists by index, as environments are.

use regex::Regex;
use serde_json::json;
use std::path::Path;

use crate::script::Overrides;
use crate::script::merge::{Lists, merge};
use crate::script::problem::{Problem, nearest};
use crate::script::reader::{Reader, plain_text};
use crate::script::yaml::{self, Kind, Node, Origin, Place};

/// The script's tree with the further files merged over it. None: one of them is no tree, and why has been told.
pub(crate) fn tree(reader: &mut Reader, text: &str, overrides: &Overrides) -> Option<Node> {
    reader.inputs.clone_from(&overrides.inputs);
    let mut root = parse(reader, text, Origin::Script);
    for (index, path) in overrides.inputs.iter().enumerate() {
        let over = read(reader, path).and_then(|text| parse(reader, &text, Origin::Input(index)));
        root = root.zip(over).map(|(mut root, over)| {
            merge(&mut root, &over, Lists::ByIndex);
            root
        });
    }
    root
}

fn read(reader: &mut Reader, path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path);
    if let Err(error) = &text {
        let what = format!("cannot read the file to be merged over the script: {error}");
        reader.add(Problem::of_file(path, what, None));
    }
    text.ok()
}

fn parse(reader: &mut Reader, text: &str, origin: Origin) -> Option<Node> {
    let mut faults = Vec::new();
    let mut root = yaml::parse(text, &mut faults);
    for fault in faults {
        reader.problem(Place { origin, ..fault.place }, fault.what, fault.hint);
    }
    if origin != Origin::Script {
        root.iter_mut().for_each(|root| settle(root, origin));
    }
    root
}

fn settle(node: &mut Node, origin: Origin) {
    node.place.origin = origin;
    match &mut node.kind {
        Kind::List(items) => items.iter_mut().for_each(|item| settle(item, origin)),
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.place.origin = origin;
            settle(&mut entry.value, origin);
        }),
        _ => {}
    }
}

/// A value the command line gives.
fn given(origin: Origin, value: &serde_json::Value) -> Node {
    Node::from_value(value, Place { origin, line: 0, column: 0 })
}

/// `--payload`: the file of the script's payload.
pub(crate) fn payload(reader: &mut Reader, root: &mut Node, overrides: &Overrides) {
    let Some(path) = &overrides.payload else { return };
    let place = Place { origin: Origin::Payload, line: 0, column: 0 };
    let payload = root.get("config").and_then(|config| config.get("payload"));
    let is_one = |payload: &Node| match &payload.kind {
        Kind::Map(_) => true,
        Kind::List(items) => items.len() == 1,
        _ => false,
    };
    match payload.map(is_one) {
        Some(true) => {}
        Some(false) => {
            let what = "the script has several payloads, and each names its own file".to_owned();
            return reader.problem(place, what, Some("leave --payload out, or use --overrides".into()));
        }
        None => {
            let what =
                "the script has no payload: nothing says what the file's columns are called".to_owned();
            return reader.problem(place, what, Some("add `payload: {fields: [email]}` to config".into()));
        }
    }
    let file = std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
    let over = match payload.map(|payload| &payload.kind) {
        Some(Kind::List(_)) => json!({ "config": { "payload": [{ "path": file }] } }),
        _ => json!({ "config": { "payload": { "path": file } } }),
    };
    merge(root, &given(Origin::Payload, &over), Lists::ByIndex);
}

/// `--solo`: one user, once.
pub(crate) fn solo(root: &mut Node, overrides: &Overrides) {
    if overrides.solo && root.get("config").is_some() {
        let over = json!({ "config": { "phases": [{ "duration": 1, "arrivalCount": 1 }] } });
        merge(root, &given(Origin::Solo, &over), Lists::Replaced);
    }
}

/// `--scenario-name`: the one scenario of that name, or whose name alone the expression matches, whatever its weight.
pub(crate) fn scenario(reader: &mut Reader, root: &mut Node, overrides: &Overrides) {
    let Some(wanted) = &overrides.scenario else { return };
    let Kind::Map(entries) = &mut root.kind else { return };
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == "scenarios") else { return };
    let Kind::List(items) = &mut entry.value.kind else { return };
    let names: Vec<Option<String>> = items.iter().map(|item| item.get("name").and_then(plain_text)).collect();
    let is_exact = |name: &&Option<String>| name.as_ref() == Some(wanted);
    let by_pattern = Regex::new(wanted);
    let chosen = |index: &usize| match &names[*index] {
        _ if names.iter().any(|name| is_exact(&name)) => is_exact(&&names[*index]),
        Some(name) => by_pattern.as_ref().is_ok_and(|pattern| pattern.is_match(name)),
        None => false,
    };
    let chosen: Vec<usize> = (0..names.len()).filter(chosen).collect();
    if let [only] = chosen.as_slice() {
        let mut item = items.swap_remove(*only);
        if let Kind::Map(entries) = &mut item.kind {
            entries.retain(|entry| entry.key != "weight");
        }
        *items = vec![item];
        return;
    }
    let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let place = Place { origin: Origin::Scenario, line: 0, column: 0 };
    let (what, hint) = match (chosen.as_slice(), by_pattern) {
        ([], Err(error)) => {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().to_owned();
            (format!("no scenario is called \"{wanted}\", and it is no regular expression: {why}"), None)
        }
        ([], Ok(_)) => {
            let hint = match nearest(wanted, known.iter().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None if known.is_empty() => "the scenarios have no names".to_owned(),
                None => format!("its scenarios: {}", known.join(", ")),
            };
            (format!("no scenario is called \"{wanted}\""), Some(hint))
        }
        (several, _) => {
            let several: Vec<&str> = several.iter().filter_map(|index| names[*index].as_deref()).collect();
            (format!("\"{wanted}\" matches {} scenarios: {}", several.len(), several.join(", ")), None)
        }
    };
    reader.problem(place, what, hint);
}
