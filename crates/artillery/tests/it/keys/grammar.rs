//! The grammar of `sonagi schema`: the keys of each place.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeSet;

/// A key: the place it stands in, and its name.
pub(super) type Key = (String, String);

/// The schema, read as a grammar: its definitions are the places of mappings.
pub(super) struct Grammar(Value);

impl Grammar {
    pub(super) fn new() -> Grammar {
        Grammar(sonagi_artillery::json_schema())
    }

    /// Every key of every place, and what is said of it.
    pub(super) fn keys(&self) -> Vec<(Key, &Value)> {
        let mut all = Vec::new();
        for (place, definition) in self.0["$defs"].as_object().unwrap() {
            for (name, said) in definition["properties"].as_object().into_iter().flatten() {
                all.push(((place.clone(), name.clone()), said));
            }
        }
        all
    }

    pub(super) fn place(&self, name: &str) -> &Value {
        &self.0["$defs"][name]
    }

    /// The path of a place, as the reference has it.
    pub(super) fn path(&self, place: &str) -> &str {
        self.place(place)["title"].as_str().unwrap()
    }

    /// A place as a person would call it; the verbs of one kind of step have one path.
    pub(super) fn called(&self, place: &str) -> String {
        match place.strip_prefix("step-") {
            Some(verb) => format!("flow[]: {verb}"),
            None => self.path(place).to_owned(),
        }
    }

    /// The places of steps.
    pub(super) fn steps(&self) -> impl Iterator<Item = &str> {
        self.0["$defs"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .filter(|name| name.starts_with("step-"))
    }

    /// The validator of a value under a key.
    pub(super) fn validator(&self, said: &Value) -> Validator {
        let mut schema = said.clone();
        if !below(said).is_empty() {
            schema["$defs"] = self.0["$defs"].clone();
        }
        jsonschema::draft202012::new(&schema).unwrap()
    }
}

/// Whether a key's use is a problem.
pub(super) fn is_refused(said: &Value) -> bool {
    said.get("not").is_some()
}

/// Whether a key is taken and does nothing.
pub(super) fn is_ignored(said: &Value) -> bool {
    said["deprecated"] == true
}

/// The shapes a value may have, the choices around them taken apart.
pub(super) fn shapes(said: &Value) -> Vec<&Value> {
    match said["anyOf"].as_array() {
        Some(choices) => choices.iter().flat_map(shapes).collect(),
        None => vec![said],
    }
}

/// The place a shape is that of.
pub(super) fn reference(shape: &Value) -> Option<&str> {
    shape["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The places of mappings that may stand under a key, in lists and under names too.
pub(super) fn below(said: &Value) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    for shape in shapes(said) {
        all.extend(reference(shape));
        for around in ["items", "additionalProperties"] {
            all.extend(shape.get(around).into_iter().flat_map(below));
        }
    }
    all
}
