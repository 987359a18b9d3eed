//! Reads typed values out of the tree, writing down every problem and going on.
//!
//! Each `Option` means "absent, or wrong and already reported": callers put their default in its place and never report
//! twice. Wording comes from the key tables ([`crate::script::schema`]).

pub(crate) use crate::plan::seconds_of;
use crate::plan::template::Piece;
use crate::plan::{Expression, JsonTemplate, Template, ValueTemplate};
use serde_json::Value;
use sonagi_measure::outcome::{CountedAs, OperationKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::script::called::Functions;
use crate::script::endpoints::Endpoints;
use crate::script::names::Names;
use crate::script::operations::Operations;
use crate::script::problem::{Notice, Problem, nearest};
use crate::script::schema::{self, Area, Support};
use crate::script::template::{self, Constants};
use crate::script::yaml::{Entry, Kind, Node, Place};

mod duration;
mod telling;

/// Longest time a script may name: a year keeps all sums far from overflow.
pub(crate) const MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// Nobody reads more.
pub(crate) const MOST_PROBLEMS: usize = 1000;

/// The state of reading a script, beside its values.
pub(crate) struct Reader {
    file: PathBuf,
    pub(crate) problems: Vec<Problem>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) constants: Constants,
    pub(crate) names: Names,
    pub(crate) operations: Operations,
    pub(crate) functions: Functions,
    pub(crate) endpoints: Endpoints,
    /// Files merged over the script.
    pub(crate) inputs: Vec<PathBuf>,
    /// An environment that was not chosen is being read: files named in it need not be here.
    pub(crate) is_trial: bool,
    /// Variables that nothing sets, where a run goes on all the same.
    pub(crate) undefined: BTreeSet<String>,
    /// The problems of templates, without the step that used them.
    told: Vec<Problem>,
}

/// A mapping whose keys were checked.
pub(crate) struct Fields<'n> {
    pub(crate) area: &'static Area,
    pub(crate) place: Place,
    entries: &'n [Entry],
    /// Keys that unknown ones were probably meant to be.
    meant: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// A mapping that is not there; nothing is said of `silent` keys missing in it.
    pub(crate) fn absent(area: &'static Area, place: Place, silent: Vec<&'static str>) -> Fields<'n> {
        Fields { area, place, entries: &[], meant: silent }
    }

    /// A value that is there and not empty.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        debug_assert!(self.area.key(key).is_some(), "{key} is no key of {}", self.area.name);
        self.entry(key).map(|entry| &entry.value).filter(|node| !node.is_null())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Whether an unknown key was probably meant to be this one.
    pub(crate) fn means(&self, key: &str) -> bool {
        self.meant.contains(&key)
    }

    /// A mapping whose keys were checked before.
    pub(crate) fn checked(node: &'n Node, area: &'static Area) -> Fields<'n> {
        Fields { area, place: node.place, entries: node.entries(), meant: Vec::new() }
    }

    /// The mapping as a value of its own.
    pub(crate) fn to_node(&self) -> Node {
        Node { place: self.place, kind: Kind::Map(self.entries.to_vec()) }
    }

    /// The place of a key, or of the mapping when it is missing.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.entry(key).map_or(self.place, |entry| entry.place)
    }
}

impl Reader {
    pub(crate) fn new(file: &Path, constants: Constants) -> Reader {
        Reader {
            file: file.to_owned(),
            problems: Vec::new(),
            notices: Vec::new(),
            constants,
            names: Names::default(),
            operations: Operations::default(),
            functions: Functions::default(),
            endpoints: Endpoints::default(),
            inputs: Vec::new(),
            is_trial: false,
            undefined: BTreeSet::new(),
            told: Vec::new(),
        }
    }

    /// The script's folder: what names of files are relative to.
    pub(crate) fn folder(&self) -> PathBuf {
        self.file.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Looks at a mapping by the keys of its place: reports a value that is none and every key that is unknown or
    /// refused.
    pub(crate) fn fields<'n>(&mut self, node: &'n Node, area: &'static Area) -> Option<Fields<'n>> {
        match &node.kind {
            Kind::Map(entries) => {
                let meant = self.check_keys(entries, area);
                Some(Fields { area, place: node.place, entries, meant })
            }
            Kind::Null => Some(Fields { area, place: node.place, entries: &[], meant: Vec::new() }),
            _ => {
                let what = format!("{} is a mapping; got {}", area.name, node.describe());
                self.problem(node.place, what, area.keys.first().map(schema::Key::as_written));
                None
            }
        }
    }

    /// A key that must be there is not. Nothing is said when an unknown key was probably meant to be it.
    pub(crate) fn missing(&mut self, fields: &Fields<'_>, keys: &[&str], what: &str, hint: &str) {
        if !keys.iter().any(|key| fields.means(key)) {
            self.problem(fields.place, what, Some(hint.to_owned()));
        }
    }

    fn check_keys(&mut self, entries: &[Entry], area: &'static Area) -> Vec<&'static str> {
        let mut meant = Vec::new();
        for entry in entries {
            match area.key(&entry.key) {
                Some(key) => match key.support {
                    Support::Honoured => {}
                    Support::Refused => {
                        let what = format!("\"{}\" in {} is refused: {}", key.name, area.name, key.wants);
                        self.problem(entry.place, what, Some(key.example.to_owned()));
                    }
                    Support::Ignored if key.wants.is_empty() => {}
                    Support::Ignored => {
                        self.notice(entry.place, format!("{}: no effect; {}", key.name, key.wants));
                    }
                },
                None if area.path == "(top level)" && entry.key.starts_with("x-") => {}
                None => meant.extend(self.unknown_key(entry, area)),
            }
        }
        meant
    }

    fn unknown_key(&mut self, entry: &Entry, area: &'static Area) -> Option<&'static str> {
        let known = area.keys.iter().filter(|key| key.support != Support::Refused).map(|key| key.name);
        let meant = nearest(&entry.key, area.keys.iter().map(|key| key.name));
        let hint = match meant {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => match schema::home_of(&entry.key, area) {
                Some(home) => format!("\"{}\" belongs in {} ({})", entry.key, home.name, home.path),
                None => format!("known keys: {}", known.collect::<Vec<_>>().join(", ")),
            },
        };
        let what = format!("unknown key \"{}\" in {}", entry.key, area.name);
        match area.ignores(&entry.key) {
            true => self.tolerable(entry.place, what, Some(hint), area.outcome()),
            false => self.problem(entry.place, what, Some(hint)),
        }
        meant
    }

    /// Reports that a key's value is not what the tables say it wants.
    pub(crate) fn wrong(&mut self, fields: &Fields<'_>, key: &str, node: &Node) {
        let known = fields.area.key(key);
        let what = match (&node.kind, known) {
            (Kind::Number(number), Some(known))
                if known.is_quantity() && number.as_f64().is_some_and(|number| number < 0.0) =>
            {
                format!("{key} must be 0 or more; got {number}")
            }
            (_, Some(known)) => format!("{key} wants {}; got {}", known.wants, node.describe()),
            (_, None) => format!("{key} cannot be {}", node.describe()),
        };
        self.problem(node.place, what, known.map(schema::Key::as_written));
    }

    /// A text that says nothing to us, templates and all: only that it is one.
    pub(crate) fn remark(&mut self, fields: &Fields<'_>, key: &str) {
        if let Some(node) = fields.get(key).filter(|node| plain_text(node).is_none()) {
            self.wrong(fields, key, node);
        }
    }

    /// A mapping under a key, checked against its own table.
    pub(crate) fn section<'n>(
        &mut self,
        fields: &Fields<'n>,
        key: &str,
        area: &'static Area,
    ) -> Option<Fields<'n>> {
        let node = fields.get(key)?;
        if matches!(node.kind, Kind::Map(_)) {
            return self.fields(node, area);
        }
        self.wrong(fields, key, node);
        None
    }

    /// What an operation is counted and timed as, with the tags of the step being read.
    pub(crate) fn operation(&mut self, place: Place, name: &str, kind: OperationKind) -> Option<CountedAs> {
        let counted = self.operations.counted_as(name, kind);
        if counted.is_none() {
            self.problem(place, "a script has at most 65,535 steps that differ in name or tags", None);
        }
        counted
    }

    /// The items of a list; a single value counts as a list of one when `single` is true.
    pub(crate) fn list<'n>(&mut self, fields: &Fields<'n>, key: &str, single: bool) -> &'n [Node] {
        match fields.get(key) {
            None => &[],
            Some(Node { kind: Kind::List(items), .. }) => items,
            Some(node) if single => std::slice::from_ref(node),
            Some(node) => {
                self.wrong(fields, key, node);
                &[]
            }
        }
    }

    pub(crate) fn boolean(&mut self, fields: &Fields<'_>, key: &str) -> Option<bool> {
        let node = fields.get(key)?;
        let value = match &node.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Text { .. } => match self.constant(node)?.as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            self.wrong(fields, key, node);
        }
        value
    }

    /// A finite number ≥ 0.
    pub(crate) fn number(&mut self, fields: &Fields<'_>, key: &str) -> Option<f64> {
        let node = fields.get(key)?;
        let value = match &node.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::Text { .. } => self.constant(node)?.trim().parse().ok(),
            _ => None,
        };
        let value = value.filter(|value: &f64| value.is_finite() && *value >= 0.0);
        if value.is_none() {
            self.wrong(fields, key, node);
        }
        value
    }

    /// A whole number ≥ 0.
    pub(crate) fn whole(&mut self, fields: &Fields<'_>, key: &str) -> Option<u64> {
        let value = self.number(fields, key)?;
        if value.fract() == 0.0 && value <= 9_007_199_254_740_992.0 {
            return Some(value as u64);
        }
        if let Some(node) = fields.get(key) {
            self.wrong(fields, key, node);
        }
        None
    }

    /// A text that is known before the run.
    pub(crate) fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        match plain_text(node) {
            Some(_) => self.constant(node),
            None => {
                self.wrong(fields, key, node);
                None
            }
        }
    }

    /// A text whose holes must all be known before the run: `$env.X`, `$environment`, a constant of `config.variables`.
    pub(crate) fn constant(&mut self, node: &Node) -> Option<String> {
        let text = plain_text(node)?;
        let template = self.quiet_template(node, &text)?;
        let mut filled = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Hole(Expression::Constant(value)) => filled.push_str(&shown(value)),
                Piece::Hole(Expression::Path { variable, keys })
                    if keys.is_empty() && self.names.constant(variable).is_some() =>
                {
                    filled.push_str(&self.names.constant(variable).map(shown).unwrap_or_default());
                }
                Piece::Hole(Expression::Path { variable, .. }) if self.names.is_unknown(variable) => {
                    return None;
                }
                Piece::Hole(Expression::Call { function, arguments })
                    if template::drawn(*function, arguments).is_some() =>
                {
                    filled.push_str(&template::drawn(*function, arguments).unwrap_or_default());
                }
                Piece::Hole(_) => {
                    let what =
                        format!("`{text}` must be known before the run starts, and users' values are not");
                    let hint = "here only {{ $env.NAME }}, {{ $environment }} and variables with one value can stand";
                    self.problem(node.place, what, Some(hint.into()));
                    return None;
                }
            }
        }
        Some(filled)
    }

    /// A text with holes that each user fills in; numbers and booleans count as their text.
    pub(crate) fn template(&mut self, node: &Node) -> Option<Template> {
        let text = plain_text(node)?;
        let mut uses = Vec::new();
        let parsed = template::parse(&text, &self.constants, &mut |name, offset| {
            uses.push((name.to_owned(), offset));
        });
        for (name, offset) in uses {
            self.used(name, node.place_at(offset));
        }
        self.sound(node, parsed)
    }

    fn sound(&mut self, node: &Node, parsed: Result<Template, Vec<template::Fault>>) -> Option<Template> {
        let faults = match parsed {
            Ok(template) => return Some(template),
            Err(faults) => faults,
        };
        for fault in faults {
            self.problem(node.place_at(fault.offset), fault.what, fault.hint);
        }
        None
    }

    fn used(&mut self, name: String, place: Place) {
        if name == "$cursor" && !self.names.in_subscription() {
            let hint = "put it into a `subscribe` template or step of config, or into the step that `joinedAfter` \
                        names";
            let what = "$cursor is where a subscription takes up again; this text subscribes to nothing";
            self.problem(place, what, Some(hint.into()));
        } else if name == "$cursor" {
            self.names.resumes(place);
        } else if name != "$stamp" {
            self.names.used(name, place);
        } else if self.names.in_message {
            self.names.stamped(place);
        } else {
            let hint = "put it into the payload of a `send` or `emit` step";
            self.problem(place, "$stamp marks a message that is sent; this text is none", Some(hint.into()));
        }
    }

    /// A template under a key.
    pub(crate) fn template_of(&mut self, fields: &Fields<'_>, key: &str) -> Option<Template> {
        let node = fields.get(key)?;
        if plain_text(node).is_none() {
            self.wrong(fields, key, node);
        }
        self.template(node)
    }

    /// A whole value that each user computes: a constant, or a text that is one hole.
    pub(crate) fn expression(&mut self, node: &Node) -> Option<Expression> {
        let Kind::Text { .. } = node.kind else {
            return Some(Expression::Constant(node.to_value()));
        };
        let template = self.template(node)?;
        Some(match <[Piece; 1]>::try_from(template.pieces) {
            Ok([Piece::Hole(hole)]) => hole,
            Ok([Piece::Text(text)]) => Expression::Constant(Value::String(text)),
            Err(pieces) if pieces.is_empty() => Expression::Constant(Value::from("")),
            Err(pieces) => Expression::Text(Template { pieces }),
        })
    }

    /// Names to templates, e.g. headers.
    pub(crate) fn templates(&mut self, fields: &Fields<'_>, key: &str) -> Vec<(String, Template)> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        if !matches!(node.kind, Kind::Map(_)) {
            self.wrong(fields, key, node);
        }
        let mut all = Vec::new();
        for entry in node.entries() {
            if entry.value.is_null() {
                all.push((entry.key.clone(), Template::default()));
            } else if plain_text(&entry.value).is_none() {
                let what = format!("{} in {key} wants a text; got {}", entry.key, entry.value.describe());
                self.problem(entry.value.place, what, None);
            } else if let Some(template) = self.template(&entry.value) {
                all.push((entry.key.clone(), template));
            }
        }
        all
    }

    /// Any value whose texts may have holes.
    pub(crate) fn json(&mut self, node: &Node) -> Option<JsonTemplate> {
        if !self.check_texts(node) {
            return None;
        }
        let constants = &self.constants;
        JsonTemplate::compile(&node.to_value(), &mut |text| template::parse(text, constants, &mut |_, _| {}))
            .ok()
    }

    /// [`Reader::json`] of what is compared or walked and not sent.
    pub(crate) fn value(&mut self, node: &Node) -> Option<ValueTemplate> {
        if !self.check_texts(node) {
            return None;
        }
        let constants = &self.constants;
        let mut parse = |text: &str| template::parse(text, constants, &mut |_, _| {});
        ValueTemplate::compile(&node.to_value(), &mut parse).ok()
    }

    fn check_texts(&mut self, node: &Node) -> bool {
        match &node.kind {
            Kind::Text { .. } => self.template(node).is_some(),
            Kind::List(items) => {
                let mut fine = true;
                for item in items {
                    fine &= self.check_texts(item);
                }
                fine
            }
            Kind::Map(entries) => entries.iter().fold(true, |fine, entry| {
                let key = Kind::Text { text: entry.key.clone(), inset: None };
                let key = Node { place: entry.place, kind: key };
                let is_fine = !entry.key.contains("{{") || self.template(&key).is_some();
                self.check_texts(&entry.value) && is_fine && fine
            }),
            _ => true,
        }
    }

    fn quiet_template(&mut self, node: &Node, text: &str) -> Option<Template> {
        let parsed = template::parse(text, &self.constants, &mut |_, _| {});
        self.sound(node, parsed)
    }
}

/// A scalar as the author wrote it.
pub(crate) fn plain_text(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Text { text, .. } => Some(text.clone()),
        Kind::Number(number) => Some(number.to_string()),
        Kind::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
