//! Where scripts use the keys of the schema: the tree of a script walked by the grammar.
//!
//! A mapping counts for a place only when no other place could be meant: where several take its keys the engine of the
//! flow decides, as it does for the reader, and where that is not known the mapping counts for none.

use super::grammar::{Grammar, Key, reference, shapes};
use super::written::{Kind, Written, read};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A key in a script.
pub(super) struct Use {
    /// The script's index.
    pub(super) script: usize,
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
    /// The replacement that takes the key out.
    pub(super) without: (Range<usize>, &'static str),
}

/// The keys that scripts use.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) keys: BTreeMap<Key, Vec<Use>>,
    /// Keys, and the places of mappings that stand under them.
    pub(super) below: BTreeSet<(Key, String)>,
}

impl Uses {
    /// Adds those of a script, by its number.
    pub(super) fn add(&mut self, grammar: &Grammar, script: usize, text: &str) {
        let root = read(text);
        let engine = root.get("config").and_then(|config| engine(config, "engine")).unwrap_or("http");
        let mut walk = Walk { grammar, script, uses: self };
        walk.mapping("-top-level-", &root, engine);
    }
}

struct Walk<'g, 'u> {
    grammar: &'g Grammar,
    script: usize,
    uses: &'u mut Uses,
}

impl Walk<'_, '_> {
    /// A mapping at a place.
    fn mapping(&mut self, place: &str, node: &Written, engine: &str) {
        let flow = match place {
            "scenarios--" => {
                self::engine(node, "engine").or(self::engine(node, "transport")).unwrap_or(engine)
            }
            "before--after" => self::engine(node, "engine").unwrap_or("http"),
            _ => engine,
        };
        let entries = node.entries();
        for (index, entry) in entries.iter().enumerate() {
            let Some(said) = self.grammar.place(place)["properties"].get(&entry.name) else {
                // The anchors of a script stand under names of their own, and what they are for is seen where they are
                // used.
                assert!(entry.name == "<<" || entry.name.starts_with("x-"), "{} in {place}", entry.name);
                continue;
            };
            let key = (place.to_owned(), entry.name.clone());
            self.uses.keys.entry(key.clone()).or_default().push(Use {
                script: self.script,
                key: entry.at.clone(),
                value: entry.value.at.clone(),
                without: without(node, index),
            });
            let block = BLOCKS.iter().find(|block| place == "config" && **block == entry.name);
            self.value(said, &entry.value, block.copied().unwrap_or(flow), &key);
        }
    }

    /// A value of one of several shapes, under a key.
    fn value(&mut self, said: &Value, node: &Written, engine: &str, key: &Key) {
        let shapes = shapes(said);
        match &node.kind {
            Kind::List(items) => {
                if let Some(of) = shapes.iter().find_map(|shape| shape.get("items")) {
                    items.iter().for_each(|item| self.value(of, item, engine, key));
                }
            }
            Kind::Map(entries) => {
                let places: Vec<&str> = shapes.iter().filter_map(|shape| reference(shape)).collect();
                let meant = if places.contains(&"step") {
                    self.step(node)
                } else {
                    self.meant(&places, node, engine)
                };
                if let Some(place) = meant {
                    self.uses.below.insert((key.clone(), place.to_owned()));
                    return self.mapping(place, node, engine);
                }
                if let Some(of) = shapes.iter().find_map(|shape| shape.get("additionalProperties")) {
                    entries.iter().for_each(|entry| self.value(of, &entry.value, engine, key));
                }
            }
            Kind::Scalar(_) | Kind::Alias => {}
        }
    }
}

impl<'g> Walk<'g, '_> {
    fn has_keys(&self, place: &str, node: &Written) -> bool {
        let properties = &self.grammar.place(place)["properties"];
        node.entries().iter().all(|entry| entry.name == "<<" || properties.get(&entry.name).is_some())
    }

    /// The step a mapping is.
    fn step(&self, node: &Written) -> Option<&'g str> {
        let verb = |place: &str| place.strip_prefix("step-").is_some_and(|verb| node.get(verb).is_some());
        let mut fit = self.grammar.steps().filter(|place| verb(place) && self.has_keys(place, node));
        let first = fit.next();
        let names: Vec<&str> = node.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert!(
            first.is_some() && fit.next().is_none(),
            "the reader takes a step of {names:?}; the schema has none or two"
        );
        first
    }

    /// The place among these that the mapping belongs to.
    fn meant<'p>(&self, places: &[&'p str], node: &Written, engine: &str) -> Option<&'p str> {
        let words = |place: &str, word: &str| {
            place.split(|c: char| !c.is_ascii_alphanumeric()).any(|known| known == word)
        };
        let is_own = |place: &str| words(place, "engine") && words(place, engine);
        let may_be = |place: &&&str| {
            // Without them the whole mapping is what is sent.
            let awaits = node.get("capture").is_some() || node.get("match").is_some();
            self.has_keys(place, node)
                && (is_own(place) || !words(place, "engine"))
                && (awaits || !place.ends_with("-with-capture-or-match"))
        };
        let fit: Vec<&'p str> = places.iter().filter(may_be).copied().collect();
        match fit.as_slice() {
            [one] => Some(*one),
            several => several.iter().find(|place| is_own(place)).copied(),
        }
    }
}

/// Blocks of `config` in which there may be steps of their engine.
const BLOCKS: [&str; 6] = ["ws", "socketio", "stomp", "poll", "longpoll", "sse"];

/// The engine that a key selects; a name known only in a run selects none.
fn engine<'n>(node: &'n Written, key: &str) -> Option<&'n str> {
    Some(match node.get(key)?.text()? {
        "websocket" => "ws",
        "socket.io" | "socketio-v3" => "socketio",
        name => name,
    })
}

/// How an entry is taken out of its mapping.
fn without(node: &Written, index: usize) -> (Range<usize>, &'static str) {
    let entries = node.entries();
    let own = &entries[index];
    match (index.checked_sub(1), entries.get(index + 1)) {
        (_, Some(next)) => (own.at.start..next.at.start, ""),
        (Some(before), None) => (entries[before].value.at.end..own.value.at.end, ""),
        (None, None) => (node.at.clone(), "{}"),
    }
}
