//! Answers: captures, matches, and how long they are waited for.

use crate::plan::{Awaited, Capture, Match, Template};
use std::time::Duration;

use crate::script::options::time_limit;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::sources::{AnswerKind, source};

/// The captures under `capture`.
pub(crate) fn captures(
    reader: &mut Reader,
    fields: &Fields<'_>,
    answer: AnswerKind,
    strict: bool,
) -> Vec<Capture> {
    let mut all = Vec::new();
    for item in reader.list(fields, "capture", true) {
        let Some(own) = reader.fields(item, &schema::CAPTURE) else { continue };
        let from = source(reader, &own, answer);
        let strict = reader.boolean(&own, "strict").unwrap_or(strict);
        let Some(name) = capture_name(reader, &own) else { continue };
        reader.names.declare(name.split(['.', '[']).next().unwrap_or(&name));
        if let Some(from) = from {
            all.push(Capture { from, name, strict });
        }
    }
    all
}

fn capture_name(reader: &mut Reader, own: &Fields<'_>) -> Option<String> {
    let Some(node) = own.get("as") else {
        reader.missing(own, &["as"], "a capture needs a name for its value", "add `as: token`");
        return None;
    };
    let name = reader.text(own, "as")?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_name = |part: &str| !part.is_empty() && part.chars().all(plain);
    // A member may stand in brackets: `user[id]` is `user.id`.
    let dotted = name.split('[').enumerate().map(|(index, part)| match part.split_once(']') {
        Some((inner, after)) if index > 0 && (after.is_empty() || after.starts_with('.')) => {
            Some(format!(".{inner}{after}"))
        }
        _ => (index == 0).then(|| part.to_owned()),
    });
    let dotted: Option<String> = dotted.collect();
    if !dotted.is_some_and(|dotted| dotted.split('.').all(is_name))
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        let what = format!("`as` is the name of a variable, or of a member within one; got {name:?}");
        reader.problem(node.place, what, Some("names are like `token` and `user.id`".to_owned()));
        return None;
    }
    Some(name)
}

/// The matches under `match`.
pub(crate) fn matches(reader: &mut Reader, fields: &Fields<'_>, answer: AnswerKind) -> Vec<Match> {
    let mut all = Vec::new();
    for item in reader.list(fields, "match", true) {
        let Some(own) = reader.fields(item, &schema::MATCH) else { continue };
        let from = source(reader, &own, answer);
        let strict = reader.boolean(&own, "strict").unwrap_or(true);
        let value = match own.entry("value") {
            None => {
                let hint = format!("add `value: {}`", likely_value(&own));
                reader.missing(&own, &["value"], "a match needs a value to compare with", &hint);
                None
            }
            Some(entry) if entry.value.is_null() => Some(Template::constant("null")),
            Some(_) => reader.template_of(&own, "value"),
        };
        if let (Some(from), Some(value)) = (from, value) {
            all.push(Match { from, value, strict });
        }
    }
    all
}

/// The likely meaning of a match without value: an expression that is a plain word demands that word.
fn likely_value(own: &Fields<'_>) -> String {
    match own.get("regexp").and_then(plain_text) {
        Some(word) if !word.is_empty() && word.chars().all(char::is_alphanumeric) => word,
        Some(_) => "\"what the expression must find\"".to_owned(),
        None => "true".to_owned(),
    }
}

/// An awaited answer: its data, captures, matches and time limit.
pub(crate) fn awaited(
    reader: &mut Reader,
    fields: &Fields<'_>,
    answer: AnswerKind,
    timeout: Duration,
) -> Awaited {
    let mut data = None;
    if fields.area.key("data").is_some() {
        let node = fields.get("data").or_else(|| fields.area.key("args").and_then(|_| fields.get("args")));
        data = node.and_then(|node| reader.value(node));
    }
    let timeout = match fields.area.key("timeout") {
        Some(_) => time_limit(reader, fields).unwrap_or(timeout),
        None => timeout,
    };
    let captures = captures(reader, fields, answer, true);
    let matches = matches(reader, fields, answer);
    Awaited { timeout, data, captures, matches, confirms: false }
}
