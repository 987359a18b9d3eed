//! `engine: poll`, `longpoll` and `sse`: requests that bring messages.
//!
//! Opening one is subscribing: what is asked names the room. Of a block, everything but the address and the headers is
//! the same for all rooms and read once.

use crate::plan::{PollOpen, SseOpen, Step, Subscribe, Template};
use sonagi_measure::outcome::OperationKind;
use sonagi_transport::link::Rhythm;
use std::sync::Arc;
use std::time::Duration;

use crate::script::context::Flow;
use crate::script::engine::Engine;
use crate::script::filling::{Filling, has_hole};
use crate::script::options::{lay_over, time_limit};
use crate::script::pull_settings::{Pull, area};
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Kind, Node};

/// The request, and its room.
struct Request {
    url: Template,
    headers: Vec<(String, Template)>,
    timeout: Duration,
}

/// The stream or the polls of a room.
pub(crate) fn subscribe(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    filling: &Filling<'_>,
    name: &str,
) -> Option<Step> {
    // A request subscribes to one room: opening the second would close the first.
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

/// The request that a block describes.
fn request(reader: &mut Reader, flow: &Flow<'_>, pull: &Pull, filled: &Node) -> Option<Request> {
    let own = Fields::checked(filled, area(flow.engine));
    if own.get("url").is_none() && !pull.is_misspelt {
        let what = format!("config.{} has no url", flow.engine.name());
        let example = flow.engine.example("subscribe");
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
        let text = "polls without `cursor` all ask the same: what the target does not forget once it is answered comes \
                    with each of them, and counts as duplicates";
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

/// The connection for a step that needs one when no step subscribes: the block's address, which then names no room.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &mut Flow<'_>) -> Option<Step> {
    let engine = flow.engine.name();
    let Some(pull) = flow.settings.pulls.of(flow.engine) else {
        let example = flow.engine.example("subscribe");
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
        // A subscribing step opens the connection: a script for several engines may have both.
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
