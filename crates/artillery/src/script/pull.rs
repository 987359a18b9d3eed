//! `engine: poll`, `longpoll` and `sse`: requests that bring messages.
//!
//! Opening one is subscribing: what is asked names the room. Of a block, everything but the address and the headers is the
//! same for all rooms and read once.

use crate::plan::{PollOpen, SseOpen, Step, Subscribe, Template};
use sonagi_measure::outcome::OperationKind;
use sonagi_transport::link::{Cursor, PollField, Rhythm};
use std::sync::Arc;
use std::time::Duration;

use crate::script::blocks::{Filling, example, has_hole};
use crate::script::flow::Flow;
use crate::script::options::{lay_over, time_limit};
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::scenario::Engine;
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

/// What a block says.
#[derive(Clone)]
pub(crate) struct Pull {
    /// The whole block: its address and headers may name the room.
    block: Node,
    /// It has an address under a key that is misspelt, which has been told.
    is_misspelt: bool,
    rhythm: Option<Rhythm>,
    cursor: Option<Cursor>,
    more: Option<PollField>,
    messages: String,
    empty: Vec<u16>,
    timeout: Duration,
}

/// What is asked, and how.
struct Request {
    url: Template,
    headers: Vec<(String, Template)>,
    timeout: Duration,
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

    fn of(&self, engine: Engine) -> Option<&Pull> {
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

fn cursor(reader: &mut Reader, fields: &Fields<'_>) -> Option<Cursor> {
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
    Some(Cursor { from: from?, parameter })
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

/// The stream or the polls of a room.
pub(crate) fn subscribe(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    filling: &Filling<'_>,
    name: &str,
) -> Option<Step> {
    // What a request brings is one room's: opening the second would close the first.
    if let Some(first) = flow.listens.replace(filling.place) {
        let engine = flow.engine.name();
        let what = format!(
            "over {engine} a user listens to one room at a time; this flow already does since line {}",
            first.line
        );
        let hint = "write `disconnect: true` before it, or make a scenario for the other room".to_owned();
        reader.problem(filling.place, what, Some(hint));
    }
    let Some(pull) = flow.settings.pulls.of(flow.engine) else {
        filling.lacks(reader, flow.engine, "url");
        return None;
    };
    let request = filling.read(reader, &pull.block, |reader, filled| request(reader, flow, pull, filled))?;
    opened(reader, flow, request, name)
}

/// What a block says is asked.
fn request(reader: &mut Reader, flow: &Flow<'_>, pull: &Pull, filled: &Node) -> Option<Request> {
    let own = Fields::checked(filled, area(flow.engine));
    if own.get("url").is_none() && !pull.is_misspelt {
        let what = format!("config.{} has no url", flow.engine.name());
        let example = example(flow.engine, "subscribe");
        let hint = format!("for `sonagi serve`: `{}: {example}`", flow.engine.name());
        reader.missing(&own, &["url"], &what, &hint);
    }
    let headers = reader.headers(&own, "headers");
    Some(Request { url: reader.address_of(&own, "url")?, headers, timeout: pull.timeout })
}

/// Its step, as a subscription: a reconnect takes it again where it broke off.
fn opened(reader: &mut Reader, flow: &Flow<'_>, request: Request, name: &str) -> Option<Step> {
    let nowhere = crate::script::yaml::START;
    let Request { url, headers, timeout } = request;
    let pull = flow.settings.pulls.of(flow.engine);
    if let Some(pull) = pull.filter(|pull| flow.engine == Engine::Poll && pull.cursor.is_none()) {
        let text = "polls without `cursor` all ask the same: what the target does not forget once it is answered comes with each of them, and counts as duplicates";
        reader.notice(pull.block.place, text);
    }
    let (step, resumes) = if flow.engine == Engine::Sse {
        let operation = reader.operation(nowhere, name, OperationKind::SseConnect)?;
        (Step::SseOpen(Box::new(SseOpen { operation, url, headers, timeout })), true)
    } else {
        let default = (flow.engine == Engine::Longpoll).then_some(Rhythm::Held(Duration::from_secs(30)));
        let open = PollOpen {
            operation: reader.operation(nowhere, name, OperationKind::PollSubscribe)?,
            again: reader.operation(nowhere, "poll", OperationKind::Poll)?,
            url,
            headers,
            cursor: pull.and_then(|pull| pull.cursor.clone()),
            more: pull.and_then(|pull| pull.more.clone()),
            rhythm: pull.map_or(default, |pull| pull.rhythm)?,
            empty: pull.map(|pull| pull.empty.clone()).unwrap_or_default(),
            messages: pull.map_or_else(|| "messages".into(), |pull| pull.messages.clone()),
            timeout,
        };
        let resumes = open.cursor.is_some();
        (Step::PollOpen(Box::new(open)), resumes)
    };
    Some(Step::Subscribe(Arc::new(Subscribe { steps: vec![step], resumes })))
}

/// What is opened for a step that needs it when no step subscribes: the block's address, which then names no room.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &Flow<'_>) -> Option<Step> {
    let engine = flow.engine.name();
    let Some(pull) = flow.settings.pulls.of(flow.engine) else {
        let example = example(flow.engine, "subscribe");
        let hint =
            format!("for `sonagi serve`, add to config: `{engine}: {example}`, and a `subscribe` step");
        let what = format!("nothing says what the engine {engine} receives from");
        reader.problem(flow.place, what, Some(hint));
        return None;
    };
    if has_hole(&pull.block, "$room") {
        let what = format!("config.{engine} names a room, and no step of this flow says which");
        let hint = "begin the flow with `subscribe: \"{{ room }}\"`".to_owned();
        reader.problem(flow.place, what, Some(hint));
        return None;
    }
    let request = request(reader, flow, pull, &pull.block)?;
    opened(reader, flow, request, "connect")
}

/// The `connect` step.
pub(crate) fn connect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let name = reader.text(fields, "name").unwrap_or_else(|| "connect".into());
    if matches!(node.kind, Kind::Bool(true)) {
        // What subscribes opens: a script of several engines may write both.
        if flow.subscribes.is_some() {
            return Some(Vec::new());
        }
        return implicit_connect(reader, flow).map(|step| vec![step]);
    }
    if let Some(place) = flow.subscribes {
        let engine = flow.engine.name();
        let what = format!(
            "over {engine} subscribing opens the connection; this flow does so on line {}",
            place.line
        );
        reader.problem(node.place, what, Some("write `connect: true`, or remove one of the two".into()));
    }
    let pull = flow.settings.pulls.of(flow.engine).cloned();
    let timeout = pull.as_ref().map_or(flow.settings.timeout, |pull| pull.timeout);
    let request = match &node.kind {
        Kind::Text { .. } => {
            let headers = own_headers(reader, flow, pull.as_ref());
            Some(Request { url: reader.address(node)?, headers, timeout })
        }
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::PULL_CONNECT)?;
            let mut headers = own_headers(reader, flow, pull.as_ref());
            let over = reader.headers(&own, "headers");
            lay_over(&mut headers, over, true);
            let timeout = time_limit(reader, &own).unwrap_or(timeout);
            match (own.get("target"), &pull) {
                (Some(_), _) => reader.address_of(&own, "target"),
                (None, Some(pull)) => request(reader, flow, pull, &pull.block).map(|request| request.url),
                (None, None) => {
                    reader.missing(&own, &["target"], "a connect needs its target", "add `target: /events`");
                    None
                }
            }
            .map(|url| Request { url, headers, timeout })
        }
        _ => {
            reader.wrong(fields, verb, node);
            None
        }
    };
    let is_unpaced = |pull: &Pull| pull.rhythm.is_none() && pull.block.get("url").is_none();
    if flow.engine == Engine::Poll && pull.as_ref().is_none_or(is_unpaced) {
        let hint = "add to config: `poll: {every: 3}`".to_owned();
        reader.problem(fields.place, "nothing says how often to poll", Some(hint));
    }
    opened(reader, flow, request?, &name).map(|step| vec![step])
}

/// The headers of a block that names no room in them.
fn own_headers(reader: &mut Reader, flow: &Flow<'_>, pull: Option<&Pull>) -> Vec<(String, Template)> {
    pull.map(|pull| reader.headers(&Fields::checked(&pull.block, area(flow.engine)), "headers"))
        .unwrap_or_default()
}
