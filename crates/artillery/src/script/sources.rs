//! Where a captured or matched value is: `json`, `regexp`, `header`, `selector`, `xpath`.
//!
//! An expression with holes is a source only its user knows: it is read again each time, by the same functions.

mod html;
mod jsonpath;
mod pattern;
mod xml;

use crate::plan::{OpenSource, Source};
use serde_json_path::JsonPath;

use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::yaml::Kind;

pub(crate) use pattern::{Flags, Group, pattern};

/// The kind of answer that a capture looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// An HTTP response: it has headers.
    Response,
    /// A WebSocket message, or an event's first argument.
    Message,
    /// The arguments of an acknowledgement: `$.0` is the first one.
    Acknowledgement,
}

/// The mistake in an expression, and its remedy.
pub(crate) type Wrong = (String, Option<String>);

/// The keys that say where a value is.
const PLACES: [&str; 5] = ["json", "regexp", "header", "selector", "xpath"];

/// The place a capture or match names.
pub(crate) fn source(reader: &mut Reader, own: &Fields<'_>, answer: AnswerKind) -> Option<Source> {
    let given: Vec<&str> = PLACES.into_iter().filter(|key| own.get(key).is_some()).collect();
    if let [first, second, ..] = given.as_slice() {
        let what = format!("{} looks in one place; this one has {first} and {second}", own.area.name);
        reader.problem(own.place_of(second), what, None);
    }
    let sources: Vec<Option<Source>> = given.iter().map(|key| source_of(reader, own, answer, key)).collect();
    beside(reader, own, &given);
    match sources.into_iter().next() {
        Some(first) => first,
        // Artillery's defaults: the first argument of an acknowledgement, and a whole message.
        None if answer == AnswerKind::Acknowledgement => JsonPath::parse("$[0]").ok().map(Source::Json),
        None if answer != AnswerKind::Response => JsonPath::parse("$").ok().map(Source::Json),
        None => {
            let what = format!("{} needs json, regexp, header, selector or xpath", own.area.name);
            reader.missing(own, &PLACES, &what, "add `json: $.token`");
            None
        }
    }
}

/// Keys that say more of a place stand beside its own.
fn beside(reader: &mut Reader, own: &Fields<'_>, given: &[&str]) {
    let more = [
        ("group", "regexp"),
        ("flags", "regexp"),
        ("attr", "selector"),
        ("index", "selector"),
        ("multiple", "json"),
    ];
    for (key, of) in more {
        let is_known = own.area.key(key).is_some();
        if is_known && own.get(key).is_some() && !given.is_empty() && !given.contains(&of) {
            reader.notice(own.place_of(key), format!("{key}: no effect; it is of a `{of}`"));
        }
    }
}

fn source_of(reader: &mut Reader, own: &Fields<'_>, answer: AnswerKind, key: &str) -> Option<Source> {
    match key {
        "json" => {
            let multiple = match own.area.key("multiple") {
                Some(_) => reader.boolean(own, "multiple").unwrap_or(true),
                None => true,
            };
            expression(reader, own, key, move |text| jsonpath::source(text, multiple))
        }
        "regexp" => regexp(reader, own),
        "selector" => {
            let attr = reader.text(own, "attr");
            let index = index(reader, own)?;
            expression(reader, own, key, move |text| html::source(text, attr.clone(), index))
        }
        "xpath" => expression(reader, own, key, xml::source),
        _ if answer == AnswerKind::Response => {
            reader.text(own, "header").map(|name| Source::Header(name.to_lowercase()))
        }
        _ => {
            let hint = "use `json` or `regexp`".to_owned();
            reader.problem(own.place_of("header"), "a message has no headers", Some(hint));
            None
        }
    }
}

fn regexp(reader: &mut Reader, own: &Fields<'_>) -> Option<Source> {
    let flags = flags(reader, own);
    let group = group(reader, own)?;
    let node = own.get("regexp")?;
    let written = plain_text(node).filter(|text| !has_holes(text));
    let Some(written) = written else {
        return expression(reader, own, "regexp", move |text| {
            pattern(text, flags, &group).map_err(|(_, wrong)| wrong)
        });
    };
    match pattern(&written, flags, &group) {
        Ok(source) => Some(source),
        Err((is_group, (what, hint))) => {
            let at = own.get("group").filter(|_| is_group).unwrap_or(node);
            reader.problem(at.place, what, hint);
            None
        }
    }
}

fn has_holes(text: &str) -> bool {
    text.contains("{{") && text.contains("}}")
}

/// A source by its expression, read now; or, when it has holes, each time they are filled.
fn expression(
    reader: &mut Reader,
    own: &Fields<'_>,
    key: &str,
    read: impl Fn(&str) -> Result<Source, Wrong> + Send + Sync + 'static,
) -> Option<Source> {
    let node = own.get(key)?;
    let Some(written) = plain_text(node) else {
        reader.wrong(own, key, node);
        return None;
    };
    if has_holes(&written) {
        let text = reader.template(node)?;
        let told = move |(what, hint): Wrong| hint.map_or(what.clone(), |hint| format!("{what}; {hint}"));
        return Some(Source::Open(OpenSource::new(text, move |filled| read(filled).map_err(told))));
    }
    match read(&written) {
        Ok(source) => Some(source),
        Err((what, hint)) => {
            reader.problem(node.place, what, hint);
            None
        }
    }
}

/// A JSONPath without holes, of one node.
pub(crate) fn json_path(reader: &mut Reader, own: &Fields<'_>, key: &str) -> Option<JsonPath> {
    let node = own.get(key)?;
    let Some(written) = node.as_text() else {
        reader.wrong(own, key, node);
        return None;
    };
    if written.contains("{{") {
        reader.problem(node.place, "this JSONPath cannot hold templates", None);
        return None;
    }
    match jsonpath::parse(written) {
        Ok(path) => Some(path),
        Err((what, hint)) => {
            reader.problem(node.place, what, hint);
            None
        }
    }
}

fn flags(reader: &mut Reader, own: &Fields<'_>) -> Flags {
    let text = reader.text(own, "flags").unwrap_or_default();
    Flags::read(&text).unwrap_or_else(|| {
        if let Some(node) = own.get("flags") {
            reader.wrong(own, "flags", node);
        }
        Flags::default()
    })
}

fn group(reader: &mut Reader, own: &Fields<'_>) -> Option<Group> {
    let Some(node) = own.get("group") else { return Some(Group::Number(0)) };
    let number = |text: &str| text.parse().ok().map(Group::Number);
    let group = match &node.kind {
        Kind::Number(value) => number(&value.to_string()),
        Kind::Text { text, .. } => number(text).or_else(|| Some(Group::Name(text.clone()))),
        _ => None,
    };
    if group.is_none() {
        reader.wrong(own, "group", node);
    }
    group
}

fn index(reader: &mut Reader, own: &Fields<'_>) -> Option<html::Index> {
    let Some(node) = own.get("index") else { return Some(html::Index::Number(0)) };
    let index = plain_text(node).and_then(|text| html::Index::read(&text));
    if index.is_none() {
        reader.wrong(own, "index", node);
    }
    index
}

/// A text that is looked for by a regular expression: whether it is there.
pub(crate) fn matched(reader: &mut Reader, own: &Fields<'_>, key: &str) -> Option<Source> {
    expression(reader, own, key, |text| {
        pattern(text, Flags::default(), &Group::Number(0)).map_err(|(_, wrong)| wrong)
    })
}
