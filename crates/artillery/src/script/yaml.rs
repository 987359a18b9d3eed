//! A script's text as a tree in which every value and every key knows its line and column.
//!
//! YAML 1.2's core schema, with anchors, aliases and merge keys; JSON is a subset. Timestamps stay text. The tree is
//! our own because the message "line 12, column 7" must survive merging environments, and a typed deserialiser stops at
//! the first mistake.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Deeper nesting is refused: nobody writes it, and it would exhaust the stack.
const MAX_DEPTH: usize = 100;
/// More values, aliases expanded, are refused.
const MAX_NODES: usize = 200_000;

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) origin: Origin,
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

/// Where a script begins: the place of what it does not write down.
pub(crate) const START: Place = Place { origin: Origin::Script, line: 1, column: 1 };

/// The text that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Script,
    /// A file merged over the script, by its number.
    Input(usize),
    /// The JSON given by `--overrides`.
    Overrides,
    /// Further flags that change a script.
    Target,
    Payload,
    Solo,
    Scenario,
    Until,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text {
        text: String,
        /// Characters between the value's place and its text (1 for a quote) when the text stands on one line as it is,
        /// so that a place inside it can be named.
        inset: Option<usize>,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: Node,
}

/// A mistake in the text itself.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

/// Reads a text. Duplicate keys and the like are added to `faults` and the first one counts; a syntax error ends the
/// tree.
pub(crate) fn parse(text: &str, faults: &mut Vec<Fault>) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder =
        Builder { text, events: Parser::new_from_str(text), anchors: HashMap::new(), nodes: 0, faults };
    match builder.document() {
        Ok(root) => Some(root),
        Err(fault) => {
            faults.push(fault);
            None
        }
    }
}

struct Builder<'a, 'f> {
    text: &'a str,
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    faults: &'f mut Vec<Fault>,
}

type Step<T> = Result<T, Fault>;

impl<'a> Builder<'a, '_> {
    fn document(&mut self) -> Step<Node> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(Fault {
                        place: place(span),
                        what: "a script is one YAML document; a second one starts here".into(),
                        hint: Some("remove the `---` line".into()),
                    });
                }
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                other => root = Some(self.node(other, span, 0)?),
            }
        }
        Ok(root.unwrap_or(Node {
            place: Place { origin: Origin::Script, line: 1, column: 1 },
            kind: Kind::Null,
        }))
    }

    fn next(&mut self) -> Step<(Event<'a>, Span)> {
        match self.events.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(self.syntax_fault(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn syntax_fault(&self, error: &saphyr_parser::ScanError) -> Fault {
        let marker = error.marker();
        let line = self.text.lines().nth(marker.line().saturating_sub(1)).unwrap_or("");
        let hint = if line.trim_start_matches(' ').starts_with('\t') {
            Some("YAML indents with spaces; this line begins with a tab".into())
        } else if line.contains(": {{") || line.trim_start().starts_with("- {{") {
            Some("a value that begins with `{{` needs quotes: \"{{ name }}\"".into())
        } else {
            self.unquoted_template(marker.line())
        };
        Fault {
            place: Place { origin: Origin::Script, line: marker.line().max(1), column: marker.col() + 1 },
            what: format!("not valid YAML: {}", error.info()),
            hint,
        }
    }

    /// A template without quotes within `{ }` or `[ ]` ends there what YAML takes for the value; it says so on that
    /// line or the next one.
    fn unquoted_template(&self, line: usize) -> Option<String> {
        [line, line.saturating_sub(1)].into_iter().filter(|line| *line > 0).find_map(|line| {
            let value = unquoted_template(self.text.lines().nth(line - 1)?)?;
            Some(format!("quote it: \"{value}\" (line {line})"))
        })
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Step<Node> {
        let place = place(span);
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            let rule = if depth > MAX_DEPTH {
                format!("nested deeper than {MAX_DEPTH} levels")
            } else {
                format!("more than {MAX_NODES} values, aliases expanded")
            };
            return Err(Fault { place, what: rule, hint: None });
        }
        let (anchor, kind) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(text, style, tag.as_deref(), span))
            }
            Event::SequenceStart(anchor, _) => (anchor, self.list(depth)?),
            Event::MappingStart(anchor, _) => (anchor, self.map(depth)?),
            Event::Alias(anchor) => return self.alias(anchor, place),
            _ => (0, Kind::Null),
        };
        let node = Node { place, kind };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Step<Node> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Fault {
                place,
                what: "an alias inside the value it names never ends".into(),
                hint: None,
            });
        };
        self.nodes += node.size();
        if self.nodes > MAX_NODES {
            return Err(Fault {
                place,
                what: format!("more than {MAX_NODES} values, aliases expanded"),
                hint: None,
            });
        }
        Ok(node.clone())
    }

    fn scalar(&mut self, text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Kind {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            self.faults.push(Fault {
                place: place(span),
                what: format!("the YAML tag {}{} means nothing here", tag.handle, tag.suffix),
                hint: Some("remove it".into()),
            });
        }
        let as_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
        let quotes = match style {
            ScalarStyle::Plain if !as_text => match plain(&text) {
                Some(kind) => return kind,
                None => 0,
            },
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if !as_text => 1,
            _ => return Kind::Text { text: text.into_owned(), inset: None },
        };
        // Escapes and folded lines make the text shorter than what is written: then no place inside can be named.
        let as_written =
            span.start.line() == span.end.line() && span.len() == text.chars().count() + 2 * quotes;
        Kind::Text { text: text.into_owned(), inset: as_written.then_some(quotes) }
    }

    fn list(&mut self, depth: usize) -> Step<Kind> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Kind::List(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Step<Kind> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut merged: Vec<Entry> = Vec::new();
        loop {
            let (key_place, key) = match self.next()? {
                (Event::MappingEnd, _) => break,
                (Event::Scalar(text, ..), span) => (place(span), text.into_owned()),
                (Event::MappingStart(..), span) => {
                    return Err(Fault {
                        place: place(span),
                        what: "a mapping cannot be a key".into(),
                        hint: Some("a value that begins with `{{` needs quotes: \"{{ name }}\"".into()),
                    });
                }
                (_, span) => {
                    return Err(Fault {
                        place: place(span),
                        what: "a key must be plain text".into(),
                        hint: None,
                    });
                }
            };
            let (event, span) = self.next()?;
            let mut value = self.node(event, span, depth + 1)?;
            if matches!(value.kind, Kind::Null) && span.is_empty() {
                value.place = key_place;
            }
            if key == "<<" {
                self.merge_key(value, &mut merged);
            } else if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                self.faults.push(Fault {
                    place: key_place,
                    what: format!("duplicate key \"{key}\": a mapping has each key once"),
                    hint: Some(format!("the first one is on line {}", first.place.line)),
                });
            } else {
                entries.push(Entry { key, place: key_place, value });
            }
        }
        for entry in merged {
            if !entries.iter().any(|own| own.key == entry.key) {
                entries.push(entry);
            }
        }
        Ok(Kind::Map(entries))
    }

    fn merge_key(&mut self, value: Node, merged: &mut Vec<Entry>) {
        match value.kind {
            Kind::Map(entries) => merged.extend(entries),
            Kind::List(items) => items.into_iter().for_each(|item| self.merge_key(item, merged)),
            _ => self.faults.push(Fault {
                place: value.place,
                what: "`<<` merges a mapping".into(),
                hint: Some("write `<<: *name` with `&name` on a mapping".into()),
            }),
        }
    }
}

fn place(span: Span) -> Place {
    Place { origin: Origin::Script, line: span.start.line().max(1), column: span.start.col() + 1 }
}

/// The meaning of an unquoted scalar; None: text.
fn plain(text: &str) -> Option<Kind> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Kind::Null),
        "true" | "True" | "TRUE" => return Some(Kind::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Kind::Bool(false)),
        _ => {}
    }
    number(text).map(Kind::Number)
}

/// A number as YAML's core schema writes it. A float without fraction becomes an integer, as in JavaScript.
pub(crate) fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Number::from);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !digits.chars().all(numeric)
        || !digits.contains(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Number::from(whole));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Number::from(whole));
    }
    let value: f64 = text.parse().ok()?;
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

impl Node {
    /// A value that came from outside the script's text.
    pub(crate) fn from_value(value: &Value, place: Place) -> Node {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(number) => Kind::Number(number.clone()),
            Value::String(text) => Kind::Text { text: text.clone(), inset: None },
            Value::Array(items) => {
                Kind::List(items.iter().map(|item| Node::from_value(item, place)).collect())
            }
            Value::Object(members) => Kind::Map(
                members
                    .iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        place,
                        value: Node::from_value(value, place),
                    })
                    .collect(),
            ),
        };
        Node { place, kind }
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text { text, .. } => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The entry of a mapping under a key; None when this is no mapping, the key is missing, or its value is empty.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
            .filter(|node| !node.is_null())
    }

    /// The entries of a mapping; none for any other value.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The place of the character at `offset` in this text.
    pub(crate) fn place_at(&self, offset: usize) -> Place {
        match &self.kind {
            Kind::Text { inset: Some(inset), .. } => {
                Place { column: self.place.column + inset + offset, ..self.place }
            }
            _ => self.place,
        }
    }

    /// The value's description, for the end of a message: `got …`.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".into(),
            Kind::Bool(value) => value.to_string(),
            Kind::Number(number) => number.to_string(),
            Kind::Text { text, .. } => {
                let mut shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    shown.push('…');
                }
                format!("the text {shown:?}")
            }
            Kind::List(items) => format!("a list of {}", items.len()),
            Kind::Map(_) => "a mapping".into(),
        }
    }

    fn size(&self) -> usize {
        1 + match &self.kind {
            Kind::List(items) => items.iter().map(Node::size).sum::<usize>(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
            _ => 0,
        }
    }
}

/// Whether a place is that of a key or value of this tree, or in one of its texts.
pub(crate) fn covers(node: &Node, place: Place) -> bool {
    let at = |own: Place, length: usize| {
        (own.origin, own.line) == (place.origin, place.line)
            && (own.column..=own.column + length).contains(&place.column)
    };
    match &node.kind {
        // Two more: its quotes.
        Kind::Text { text, .. } => at(node.place, text.chars().count() + 2),
        Kind::List(items) => at(node.place, 0) || items.iter().any(|item| covers(item, place)),
        Kind::Map(entries) => {
            at(node.place, 0) || entries.iter().any(|entry| at(entry.place, 0) || covers(&entry.value, place))
        }
        _ => at(node.place, 0),
    }
}

/// The first value of a line that holds a template and has no quotes: `/x/{{ id }}`.
fn unquoted_template(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut begin = 0;
    for (at, character) in line.char_indices() {
        let rest = &line[at..];
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if line[begin..at].trim().is_empty() => quote = Some(character),
            (None, '#') if line[..at].ends_with(' ') => return None,
            (None, '{') if rest.starts_with("{{") => {
                let holes = at + rest.find("}}")? + 2;
                let end = line[holes..].find([',', ' ', '}', ']']).map_or(line.len(), |end| holes + end);
                return Some(line[begin..end].trim());
            }
            (None, ':' | ',') if rest[1..].starts_with(' ') => begin = at + 1,
            (None, '{' | '[') => begin = at + 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
