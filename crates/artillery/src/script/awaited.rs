//! Answers: captures, matches, and waiting for a message.

use crate::plan::{Awaited, Capture, Expect, Match, Step, Template};
use sonagi_measure::outcome::OperationKind;
use std::time::Duration;

use crate::script::flow::Flow;
use crate::script::options::time_limit;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::scenario::Engine;
use crate::script::schema;
use crate::script::sources::source;

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
    Awaited { timeout, data, captures, matches, confirms: false }
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
