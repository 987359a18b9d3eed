//! Answers: captures, matches, and waiting for a message.

use regex::{Regex, RegexBuilder};
use serde_json_path::JsonPath;
use sonagi_engine::plan::{Awaited, Capture, Expect, Match, Source, Step, Template};
use sonagi_measure::outcome::OperationKind;
use std::time::Duration;

use crate::flow::Flow;
use crate::options::time_limit;
use crate::reader::{Fields, Reader, plain_text};
use crate::scenario::Engine;
use crate::schema;
use crate::yaml::Kind;

/// What kind of answer a capture looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An HTTP response: it has headers.
    Response,
    /// A WebSocket message, or an event's first argument.
    Message,
    /// The arguments of an acknowledgement: `$.0` is the first one.
    Acknowledgement,
}

/// The captures under `capture`.
pub(crate) fn captures(
    reader: &mut Reader,
    fields: &Fields<'_>,
    answer: Answer,
    strict: bool,
) -> Vec<Capture> {
    let mut all = Vec::new();
    for item in reader.list(fields, "capture", true) {
        let Some(own) = reader.fields(item, &schema::CAPTURE) else { continue };
        let from = source(reader, &own, answer);
        let strict = reader.boolean(&own, "strict").unwrap_or(strict);
        let Some(name) = capture_name(reader, &own) else { continue };
        reader.names.declare(&name);
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
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
        let hint = "templates reach into it: {{ user.id }}".to_owned();
        reader.problem(node.place, format!("`as` is a plain variable name; got {name:?}"), Some(hint));
        return None;
    }
    Some(name)
}

/// The matches under `match`.
pub(crate) fn matches(reader: &mut Reader, fields: &Fields<'_>, answer: Answer) -> Vec<Match> {
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

/// What a match without value may have meant: an expression that is a plain word demands that word.
fn likely_value(own: &Fields<'_>) -> String {
    match own.get("regexp").and_then(plain_text) {
        Some(word) if !word.is_empty() && word.chars().all(char::is_alphanumeric) => word,
        Some(_) => "\"what the expression must find\"".to_owned(),
        None => "true".to_owned(),
    }
}

fn source(reader: &mut Reader, own: &Fields<'_>, answer: Answer) -> Option<Source> {
    let given: Vec<&str> =
        ["json", "regexp", "header"].into_iter().filter(|key| own.get(key).is_some()).collect();
    if let [first, second, ..] = given.as_slice() {
        let what = format!("{} looks in one place; this one has {first} and {second}", own.area.name);
        reader.problem(own.place_of(second), what, None);
    }
    let sources: Vec<Option<Source>> = given.iter().map(|key| source_of(reader, own, answer, key)).collect();
    match sources.into_iter().next() {
        Some(first) => first,
        // Artillery's default: the whole (first) argument.
        None if answer != Answer::Response => JsonPath::parse("$").ok().map(Source::Json),
        None => {
            let refused = ["xpath", "selector"].iter().any(|key| own.entry(key).is_some());
            if !refused {
                let what = format!("{} needs json, regexp or header", own.area.name);
                reader.missing(own, &["json", "regexp", "header"], &what, "add `json: $.token`");
            }
            None
        }
    }
}

fn source_of(reader: &mut Reader, own: &Fields<'_>, answer: Answer, key: &str) -> Option<Source> {
    match key {
        "json" => json_path(reader, own, key).map(Source::Json),
        "regexp" => regexp(reader, own),
        _ if answer == Answer::Response => reader.text(own, "header").map(Source::Header),
        _ => {
            let hint = "use `json` or `regexp`".to_owned();
            reader.problem(own.place_of("header"), "a message has no headers", Some(hint));
            None
        }
    }
}

pub(crate) fn json_path(reader: &mut Reader, own: &Fields<'_>, key: &str) -> Option<JsonPath> {
    let node = own.get(key)?;
    let Some(written) = node.as_text() else {
        reader.wrong(own, key, node);
        return None;
    };
    if written.contains("{{") {
        let hint = "capture the list, and reach into it with a template: {{ friends[0].id }}";
        reader.problem(node.place, "a JSONPath cannot hold templates", Some(hint.into()));
        return None;
    }
    let path = modern(written);
    match JsonPath::parse(&path) {
        Ok(path) => Some(path),
        Err(_) => {
            let what = format!("`{written}` is no JSONPath (RFC 9535)");
            let hint = if written.contains("(@.length") {
                "the last element is `[-1]`"
            } else {
                "paths look like $.user.id, $.rooms[0].id, $..id"
            };
            reader.problem(node.place, what, Some(hint.into()));
            None
        }
    }
}

/// The JSONPath dialect scripts are written in, as RFC 9535: `token`, `$.0.id`, `$.access-token`, `[(@.length-1)]`.
fn modern(written: &str) -> String {
    let mut path = String::from("$");
    let mut rest = written.trim();
    rest = rest.strip_prefix('$').unwrap_or(rest);
    if !rest.is_empty() && !rest.starts_with(['.', '[']) {
        path.push('.');
    }
    path.push_str(rest);
    let text = path.replace("[(@.length-1)]", "[-1]").replace("[(@.length - 1)]", "[-1]").replace(".[", "[");
    let mut out = String::new();
    let mut left = text.as_str();
    while let Some(at) = left.find('.') {
        out.push_str(&left[..at]);
        left = &left[at..];
        let dots = if left.starts_with("..") { 2 } else { 1 };
        let name = &left[dots..];
        let end = name.find(['.', '[', ' ', ')', '=', '<', '>', '!', '&', '|']).unwrap_or(name.len());
        let member = &name[..end];
        let inside_filter = out.matches('[').count() > out.matches(']').count();
        let is_index = !member.is_empty() && member.bytes().all(|b| b.is_ascii_digit());
        if dots == 1 && !inside_filter && is_index {
            out.push_str(&format!("[{member}]"));
        } else if !inside_filter && member.contains('-') {
            let dots = if dots == 2 { ".." } else { "" };
            out.push_str(&format!("{dots}['{member}']"));
        } else {
            out.push_str(&left[..dots]);
            out.push_str(member);
        }
        left = &name[end..];
    }
    out.push_str(left);
    out
}

fn regexp(reader: &mut Reader, own: &Fields<'_>) -> Option<Source> {
    let node = own.get("regexp")?;
    let Some(pattern) = plain_text(node) else {
        reader.wrong(own, "regexp", node);
        return None;
    };
    let flags = reader.text(own, "flags").unwrap_or_default();
    if flags.chars().any(|flag| !"imsgu".contains(flag))
        && let Some(node) = own.get("flags")
    {
        reader.wrong(own, "flags", node);
    }
    let built = RegexBuilder::new(&pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .build();
    match built {
        Ok(regex) => {
            let group = group(reader, own, &regex)?;
            Some(Source::Regexp { regex, group })
        }
        Err(error) => {
            let lines = error.to_string();
            let reason = lines.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_owned();
            let hint = ["(?=", "(?!", "(?<=", "(?<!"]
                .iter()
                .any(|look| pattern.contains(look))
                .then(|| "put the part you need into a group: \"id=([0-9]+)\"".to_owned());
            reader.problem(node.place, format!("not a regular expression: {reason}"), hint);
            None
        }
    }
}

fn group(reader: &mut Reader, own: &Fields<'_>, regex: &Regex) -> Option<usize> {
    let groups = regex.captures_len() - 1;
    let Some(node) = own.get("group") else { return Some(groups.min(1)) };
    let named = node.as_text().and_then(|name| regex.capture_names().position(|known| known == Some(name)));
    let number = match &node.kind {
        Kind::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        _ => named,
    };
    match number.filter(|number| *number <= groups) {
        Some(number) => Some(number),
        None => {
            let what = format!("the expression has no such group: it has {groups}; got {}", node.describe());
            reader.problem(node.place, what, None);
            None
        }
    }
}

/// An awaited answer: its data, captures, matches and time limit.
pub(crate) fn awaited(
    reader: &mut Reader,
    fields: &Fields<'_>,
    answer: Answer,
    timeout: Duration,
) -> Awaited {
    let mut data = None;
    if fields.area.key("data").is_some() {
        let node = fields.get("data").or_else(|| fields.area.key("args").and_then(|_| fields.get("args")));
        data = node.and_then(|node| reader.json(node));
    }
    let timeout = match fields.area.key("timeout") {
        Some(_) => time_limit(reader, fields).unwrap_or(timeout),
        None => timeout,
    };
    let captures = captures(reader, fields, answer, true);
    let matches = matches(reader, fields, answer);
    Awaited { timeout, data, captures, matches }
}

/// The `expect` step.
pub(crate) fn expect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Step> {
    let own = reader.section(fields, verb, &schema::EXPECT)?;
    let event = reader.template_of(&own, "channel");
    match (flow.engine, own.get("channel")) {
        // Of a room that is subscribed to in so many words, any event may be what is waited for: what it is like says `match`.
        (Engine::Socketio | Engine::SocketioV3, None)
            if own.entry("channel").is_none() && flow.subscribes.is_none() =>
        {
            let what = "an expect over Socket.IO needs a channel";
            reader.missing(&own, &["channel"], what, "add `channel: newMessage`");
        }
        (Engine::Websocket | Engine::Poll | Engine::Longpoll, Some(_)) => {
            let messages = if flow.engine == Engine::Websocket { "WebSocket" } else { "polled" };
            let hint = "tell messages apart with `match`".to_owned();
            reader.problem(
                own.place_of("channel"),
                format!("{messages} messages have no channel"),
                Some(hint),
            );
        }
        _ => {}
    }
    let within = match reader.duration(&own, "within") {
        Some(within) if within.is_zero() => {
            reader.problem(own.place_of("within"), "within must be longer than 0 s", None);
            flow.settings.timeout
        }
        Some(within) => within,
        None => flow.settings.timeout,
    };
    let awaited = awaited(reader, &own, Answer::Message, within);
    let default = match own.get("channel").and_then(plain_text) {
        Some(channel) => format!("expect {channel}"),
        None => "expect".to_owned(),
    };
    let name = flow.operation_name(reader, fields).unwrap_or(default);
    let operation = reader.operation(fields.place, &name, OperationKind::Expect)?;
    Some(Step::Expect(Box::new(Expect { operation, event, awaited })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jsonpath_of_scripts_becomes_the_standard_one() {
        let check = |written, expected: &str| {
            assert_eq!(modern(written), expected, "{written}");
            JsonPath::parse(expected).unwrap();
        };
        check("$.token", "$.token");
        check("token", "$.token");
        check(" $.user.id ", "$.user.id");
        check("$", "$");
        check("$.0.id", "$[0].id");
        check("$[0].id", "$[0].id");
        check("$.[0].id", "$[0].id");
        check("$..id", "$..id");
        check("$.access-token", "$['access-token']");
        check("$..x-y.z", "$..['x-y'].z");
        check("$.a[(@.length-1)]", "$.a[-1]");
        check("$.a[?(@.b=='d')].e", "$.a[?(@.b=='d')].e");
    }
}
