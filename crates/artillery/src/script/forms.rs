//! The body of a request: `json`, `body`, `form`, `formData`; and pairs of names and values, where a value may be a
//! list.

use crate::plan::template::Piece;
use crate::plan::{Body, Expression, FormPart, PartContent, Template};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::script::reader::{Fields, Reader, plain_text, shown};
use crate::script::schema;
use crate::script::template;
use crate::script::yaml::{Entry, Kind, Node};

/// Largest file a form may carry, in bytes: it is held in memory once for all users, and once more while it is sent.
const MAX_FILE: u64 = 64 << 20;

/// The treatment of a list among pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    /// The name again for each value, as in a query.
    Repeat,
    /// A single value, with commas, as JavaScript turns a list into text.
    Join,
    /// A single value, joined as a server joins the lines of one header (RFC 9110 §5.3); an empty list sends none.
    Header,
}

/// The allowed names of pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairNames {
    /// `pet[id]`: what servers of forms and queries take for a member.
    Bracketed,
    /// A single word.
    Plain,
}

impl Lists {
    /// The allowed names for values of this kind.
    fn names(self) -> PairNames {
        match self {
            Lists::Repeat | Lists::Join => PairNames::Bracketed,
            Lists::Header => PairNames::Plain,
        }
    }
}

/// The body a request has.
pub(crate) fn body(reader: &mut Reader, own: &Fields<'_>) -> Body {
    let given: Vec<&str> =
        ["json", "body", "form", "formData"].into_iter().filter(|key| own.entry(key).is_some()).collect();
    if let ["json", "body"] = given.as_slice() {
        let text = "json is sent and body is not: a request has one body; remove one of them".to_owned();
        reader.notice(own.place_of("body"), text);
    } else if let [first, second, ..] = given.as_slice() {
        let what = format!("a request has one body; this one has {first} and {second}");
        reader.problem(own.place_of(second), what, None);
    }
    // All are read, so that the mistakes inside come with this one.
    let bodies: Vec<Body> = given.iter().map(|key| body_of(reader, own, key)).collect();
    bodies.into_iter().next().unwrap_or(Body::Empty)
}

fn body_of(reader: &mut Reader, own: &Fields<'_>, key: &str) -> Body {
    match (key, own.entry(key)) {
        ("json", Some(entry)) => reader.json(&entry.value).map_or(Body::Empty, Body::Json),
        ("form", Some(_)) => Body::Form(pairs(reader, own, "form", Lists::Join)),
        ("formData", Some(_)) => Body::Multipart(form_data(reader, own).into()),
        _ => body_text(reader, own),
    }
}

fn body_text(reader: &mut Reader, own: &Fields<'_>) -> Body {
    match own.get("body") {
        None => Body::Empty,
        Some(Node { kind: Kind::Map(_) | Kind::List(_), place }) => {
            let hint = "an object or a list is sent with `json:`".to_owned();
            let got = own.get("body").map(Node::describe).unwrap_or_default();
            reader.problem(*place, format!("body wants a text; got {got}"), Some(hint));
            Body::Empty
        }
        Some(_) => reader.template_of(own, "body").map_or(Body::Empty, Body::Text),
    }
}

/// Names and values; a value may be a list of texts.
pub(crate) fn pairs(
    reader: &mut Reader,
    fields: &Fields<'_>,
    key: &str,
    lists: Lists,
) -> Vec<(String, Template)> {
    let Some(node) = fields.get(key) else { return Vec::new() };
    if !matches!(node.kind, Kind::Map(_)) {
        reader.wrong(fields, key, node);
    }
    let mut all = Vec::new();
    for Entry { key: name, value, .. } in node.entries() {
        match &value.kind {
            Kind::List(items) => {
                let items: Vec<Template> =
                    items.iter().filter_map(|item| text(reader, key, name, item, lists.names())).collect();
                match lists {
                    Lists::Repeat => all.extend(items.into_iter().map(|item| (name.clone(), item))),
                    Lists::Join => all.push((name.clone(), joined(items, ","))),
                    Lists::Header if items.is_empty() => {}
                    Lists::Header => all.push((name.clone(), joined(items, ", "))),
                }
            }
            _ => all.extend(text(reader, key, name, value, lists.names()).map(|value| (name.clone(), value))),
        }
    }
    all
}

/// The text of a pair's value; null is empty.
fn text(reader: &mut Reader, key: &str, name: &str, value: &Node, names: PairNames) -> Option<Template> {
    if value.is_null() {
        return Some(Template::default());
    }
    if plain_text(value).is_none() {
        let what = format!("{name} in {key} wants a text or a list of them; got {}", value.describe());
        let hint = format!("names can have brackets: `\"{name}[key]\": value`");
        let is_nested = names == PairNames::Bracketed && matches!(value.kind, Kind::Map(_));
        reader.problem(value.place, what, is_nested.then_some(hint));
        return None;
    }
    reader.template(value)
}

fn joined(items: Vec<Template>, separator: &str) -> Template {
    let mut pieces = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        pieces.extend((index > 0).then(|| Piece::Text(separator.to_owned())));
        pieces.extend(item.pieces);
    }
    Template { pieces }
}

/// The parts of a form with files.
fn form_data(reader: &mut Reader, own: &Fields<'_>) -> Vec<FormPart> {
    let Some(node) = own.get("formData") else { return Vec::new() };
    if !matches!(node.kind, Kind::Map(_)) {
        reader.wrong(own, "formData", node);
    }
    node.entries().iter().filter_map(|entry| part(reader, entry)).collect()
}

fn part(reader: &mut Reader, entry: &Entry) -> Option<FormPart> {
    let (name, node) = (entry.key.clone(), &entry.value);
    if !matches!(node.kind, Kind::Map(_)) {
        let content = PartContent::Text(text(reader, "formData", &name, node, PairNames::Bracketed)?);
        return Some(FormPart { name, content, content_type: None });
    }
    let fields = reader.fields(node, &schema::FORM_PART)?;
    let content_type = reader.text(&fields, "contentType");
    match (fields.get("fromFile"), fields.entry("value")) {
        (Some(_), Some(entry)) => {
            let what = "a part of a form is a value or a file; this one has fromFile and value";
            reader.problem(entry.place, what, None);
            None
        }
        (Some(file), None) => {
            let (content, guessed) = file_of(reader, &fields, &name, file)?;
            Some(FormPart { name, content, content_type: content_type.or(Some(guessed)) })
        }
        (None, Some(entry)) => {
            let content = match &entry.value.kind {
                // The same as in a JSON body: a text has no other way to hold it.
                Kind::Map(_) | Kind::List(_) => json_text(reader, &entry.value)?,
                _ => text(reader, "formData", &name, &entry.value, PairNames::Bracketed)?,
            };
            Some(FormPart { name, content: PartContent::Text(content), content_type })
        }
        (None, None) => {
            let hint = "add `fromFile: photo.png`, or `value:`";
            reader.missing(&fields, &["value", "fromFile"], "a part of a form needs a value or a file", hint);
            None
        }
    }
}

fn json_text(reader: &mut Reader, node: &Node) -> Option<Template> {
    let text = node.to_value().to_string();
    let text = Node { place: node.place, kind: Kind::Text { text, inset: None } };
    reader.template(&text)
}

/// A file and the type its name stands for; or all files that a user's values may name.
fn file_of(
    reader: &mut Reader,
    fields: &Fields<'_>,
    part: &str,
    node: &Node,
) -> Option<(PartContent, String)> {
    match plain_text(node).and_then(|text| names_of(reader, &text)) {
        None => {
            let named = reader.text(fields, "fromFile")?;
            read_file(reader, node, &named)
        }
        Some(names) => {
            let path = reader.template(node)?;
            let mut files = BTreeMap::new();
            let mut total = 0;
            for named in BTreeSet::from_iter(names) {
                let (content, guessed) = read_file(reader, node, &named)?;
                if let PartContent::File { bytes, .. } = &content {
                    total += bytes.len() as u64;
                }
                if total > MAX_FILE {
                    let what = format!(
                        "the files a part of a form may take have {} MiB at most together",
                        MAX_FILE >> 20
                    );
                    reader.problem(node.place, what, None);
                    return None;
                }
                let own = fields.get("contentType").and_then(plain_text);
                let (name, content_type) = (part.to_owned(), own.or(Some(guessed)));
                files.insert(named, FormPart { name, content, content_type });
            }
            Some((PartContent::OneOf { path, files: files.into() }, String::new()))
        }
    }
}

/// The paths of a file for each value of the one variable in it that has several. None: there is no such variable.
fn names_of(reader: &Reader, text: &str) -> Option<Vec<String>> {
    let template = template::parse(text, &reader.constants, &mut |_, _| {}).ok()?;
    let several = |hole: &Expression| match hole {
        Expression::Path { variable, keys }
            if keys.is_empty() && reader.names.constant(variable).is_none() =>
        {
            reader.names.choices(variable).map(|choices| (variable.clone(), choices))
        }
        _ => None,
    };
    let holes = template.pieces.iter().filter_map(|piece| match piece {
        Piece::Hole(hole) => Some(hole),
        Piece::Text(_) => None,
    });
    let (variable, choices) = holes.clone().find_map(several)?;
    let named = |value: &Value| {
        let mut name = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => name.push_str(text),
                Piece::Hole(Expression::Constant(known)) => name.push_str(&shown(known)),
                Piece::Hole(Expression::Path { variable: other, keys }) if keys.is_empty() => {
                    let known = if *other == variable { Some(value) } else { reader.names.constant(other) };
                    name.push_str(&shown(known?));
                }
                Piece::Hole(_) => return None,
            }
        }
        Some(name)
    };
    choices.iter().map(named).collect()
}

fn read_file(reader: &mut Reader, node: &Node, named: &str) -> Option<(PartContent, String)> {
    let path = reader.folder().join(named);
    let name = Path::new(named).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let content_type = mime_guess::from_path(named).first_or_octet_stream().to_string();
    if reader.is_trial {
        return Some((PartContent::File { name, bytes: Vec::new().into() }, content_type));
    }
    let read = std::fs::metadata(&path).and_then(|about| match about.len() {
        ..=MAX_FILE => std::fs::read(&path).map(Ok),
        bytes => Ok(Err(bytes)),
    });
    let what = match read {
        Ok(Ok(bytes)) => return Some((PartContent::File { name, bytes: bytes.into() }, content_type)),
        Ok(Err(bytes)) => {
            format!("a file of a form may have {} MiB; {named} has {} MiB", MAX_FILE >> 20, bytes >> 20)
        }
        Err(error) => format!("cannot read the file {named}: {error}"),
    };
    let hint = "its path is relative to the script's folder".to_owned();
    reader.problem(node.place, what, Some(hint));
    None
}
