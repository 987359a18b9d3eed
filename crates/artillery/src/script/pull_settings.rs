//! Settings of event streams, polling and long polling: the blocks of `config`.

use sonagi_transport::link::{PollCursor, PollField, Rhythm};
use std::time::Duration;

use crate::script::engine::Engine;
use crate::script::options::time_limit;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema::{self, Area};
use crate::script::sources::json_path;
use crate::script::yaml::{Kind, Node};

/// Where the keys of an engine's block are.
pub(crate) fn area(engine: Engine) -> &'static Area {
    match engine {
        Engine::Poll => &schema::POLL,
        Engine::Longpoll => &schema::LONGPOLL,
        _ => &schema::SSE,
    }
}

/// The blocks a script has.
#[derive(Default)]
pub(crate) struct Pulls {
    all: Vec<(Engine, Pull)>,
}

/// The settings of a block.
#[derive(Clone)]
pub(crate) struct Pull {
    /// The whole block: its address and headers may name the room.
    pub(crate) block: Node,
    /// Whether it has an address under a misspelt key, which has been reported.
    pub(crate) is_misspelt: bool,
    pub(crate) rhythm: Option<Rhythm>,
    pub(crate) cursor: Option<PollCursor>,
    pub(crate) more: Option<PollField>,
    pub(crate) messages: String,
    pub(crate) empty: Vec<u16>,
    pub(crate) timeout: Duration,
}

impl Pulls {
    pub(crate) fn read(
        &mut self,
        reader: &mut Reader,
        engine: Engine,
        fields: &Fields<'_>,
        timeout: Duration,
    ) {
        let headers = fields.get("headers");
        if let Some(node) = headers.filter(|node| !matches!(node.kind, Kind::Map(_))) {
            reader.wrong(fields, "headers", node);
        }
        let polls = engine != Engine::Sse;
        let pull = Pull {
            block: fields.to_node(),
            is_misspelt: fields.means("url"),
            rhythm: rhythm(reader, engine, fields),
            cursor: if polls { cursor(reader, fields) } else { None },
            more: if engine == Engine::Poll { more(reader, fields) } else { None },
            messages: polls.then(|| reader.text(fields, "messages")).flatten().unwrap_or("messages".into()),
            empty: if polls { empty(reader, fields) } else { Vec::new() },
            timeout: time_limit(reader, fields).unwrap_or(timeout),
        };
        self.all.push((engine, pull));
    }

    pub(crate) fn of(&self, engine: Engine) -> Option<&Pull> {
        self.all.iter().find(|(known, _)| *known == engine).map(|(_, pull)| pull)
    }
}

fn rhythm(reader: &mut Reader, engine: Engine, fields: &Fields<'_>) -> Option<Rhythm> {
    let key = match engine {
        Engine::Poll => "every",
        Engine::Longpoll => "hold",
        _ => return None,
    };
    let default = if engine == Engine::Poll { None } else { Some(Duration::from_secs(30)) };
    let given = match (reader.duration(fields, key), fields.get(key)) {
        (Some(time), Some(node)) if time.is_zero() => {
            reader.problem(node.place, format!("{key} must be longer than 0 s"), None);
            None
        }
        (Some(time), _) => Some(time),
        // A block that only publishes polls nothing.
        (None, None) if default.is_none() && fields.get("url").is_some() => {
            let hint = "add `every: 3` (seconds from one poll to the next)";
            reader.missing(fields, &["every"], "polling needs its rhythm", hint);
            None
        }
        (None, _) => default,
    };
    given.map(if engine == Engine::Poll { Rhythm::Every } else { Rhythm::Held })
}

fn cursor(reader: &mut Reader, fields: &Fields<'_>) -> Option<PollCursor> {
    let own = reader.section(fields, "cursor", &schema::CURSOR)?;
    let from = match (own.get("json"), own.get("header")) {
        (Some(_), Some(_)) => {
            let what = "a cursor is in one place; this one has json and header";
            reader.problem(own.place_of("header"), what, None);
            None
        }
        (Some(_), None) => json_path(reader, &own, "json").map(PollField::Json),
        (None, Some(_)) => reader.text(&own, "header").map(|name| PollField::Header(name.to_lowercase())),
        (None, None) => {
            let what = "a cursor needs its place in an answer";
            reader.missing(&own, &["json", "header"], what, "add `json: $.next`");
            None
        }
    };
    let Some(parameter) = reader.text(&own, "as") else {
        if own.get("as").is_none() {
            let what = "a cursor needs the query parameter that gives it back";
            reader.missing(&own, &["as"], what, "add `as: after`");
        }
        return None;
    };
    Some(PollCursor { from: from?, parameter })
}

fn more(reader: &mut Reader, fields: &Fields<'_>) -> Option<PollField> {
    json_path(reader, fields, "more").map(PollField::Json)
}

fn empty(reader: &mut Reader, fields: &Fields<'_>) -> Vec<u16> {
    let mut statuses = Vec::new();
    for item in reader.list(fields, "empty", true) {
        let number = plain_text(item).and_then(|text| text.trim().parse::<u16>().ok());
        match number.filter(|number| (100..600).contains(number)) {
            Some(number) => statuses.push(number),
            None => reader.wrong(fields, "empty", item),
        }
    }
    statuses
}
