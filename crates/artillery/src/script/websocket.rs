//! Steps of `engine: ws`.

use crate::plan::{Content, Expect, Step, Template, WebsocketConnect, WebsocketSend};
use sonagi_measure::outcome::OperationKind;

use crate::script::awaited::awaited;
use crate::script::context::Flow;
use crate::script::functions;
use crate::script::options::{texts, time_limit};
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::sources::AnswerKind;
use crate::script::yaml::{Kind, Node, Place, START};

/// The connection to the target that the script does not write down.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &mut Flow<'_>) -> Option<Step> {
    let operation = reader.operation(START, "connect", OperationKind::WebsocketConnect)?;
    let url = address(reader, flow)?;
    let timeout = flow.settings.websocket.timeout;
    let (headers, subprotocols) = (Vec::new(), Vec::new());
    let connect = WebsocketConnect { operation, url, headers, subprotocols, timeout, function: None };
    Some(flow.opened(Step::WebsocketConnect(Box::new(connect))))
}

/// Where connections go that do not say it: `config.ws.url`, or the target.
fn address(reader: &mut Reader, flow: &Flow<'_>) -> Option<Template> {
    match &flow.settings.websocket_address {
        Some(node) => reader.address(node),
        None => Some(target(reader)),
    }
}

pub(crate) fn target(reader: &Reader) -> Template {
    Template::constant(reader.constants.target.clone().unwrap_or_default())
}

pub(crate) fn connect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let mut timeout = flow.settings.websocket.timeout;
    let (mut headers, mut subprotocols, mut function) = (Vec::new(), Vec::new(), None);
    let url = match &node.kind {
        Kind::Text { .. } => reader.address(node),
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::WS_CONNECT)?;
            headers = reader.headers(&own, "headers");
            subprotocols = texts(reader, &own, "subprotocols");
            function = functions::name(reader, &own, "function");
            timeout = time_limit(reader, &own).unwrap_or(timeout);
            match own.get("target") {
                Some(_) => reader.address_of(&own, "target"),
                None => address(reader, flow),
            }
        }
        Kind::Bool(true) => address(reader, flow),
        _ => {
            reader.wrong(fields, verb, node);
            None
        }
    };
    let name = reader.text(fields, "name").unwrap_or_else(|| "connect".into());
    let operation = reader.operation(fields.place, &name, OperationKind::WebsocketConnect)?;
    let step = WebsocketConnect { operation, url: url?, headers, subprotocols, timeout, function };
    Some(vec![flow.opened(Step::WebsocketConnect(Box::new(step)))])
}

pub(crate) fn send(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let mut response = None;
    let mut payload = node;
    if node.get("capture").is_some() || node.get("match").is_some() {
        let own = reader.fields(node, &schema::SEND)?;
        passes_over(reader, flow, own.place);
        response = Some(awaited(reader, &own, AnswerKind::Message, flow.settings.websocket.timeout));
        match own.get("payload") {
            Some(inner) => payload = inner,
            None => {
                let hint = "add `payload:`, or wait without sending: `wait:`";
                reader.missing(&own, &["payload"], "a send with capture or match needs a payload", hint);
                return None;
            }
        }
    } else if let ([only], Some(inner)) = (node.entries(), node.get("payload")) {
        let text =
            "send: {payload: …} sends what is in payload; Artillery sends an object with the key \"payload\"";
        reader.notice(only.place, text);
        payload = inner;
    }
    let content = content(reader, payload);
    let name = flow.operation_name(reader, fields).unwrap_or_else(|| "send".into());
    let operation = reader.operation(fields.place, &name, OperationKind::WebsocketSend)?;
    Some(vec![Step::WebsocketSend(Box::new(WebsocketSend { operation, payload: content?, response }))])
}

/// Not of a block of ours, which Artillery knows nothing of.
fn passes_over(reader: &mut Reader, flow: &Flow<'_>, place: Place) {
    if flow.behalf.is_some() {
        return;
    }
    let text = "non-matching messages are skipped; Artillery checks only the first and fails on extras";
    reader.notice(place, text);
}

pub(crate) fn content(reader: &mut Reader, node: &Node) -> Option<Content> {
    reader.names.in_message = true;
    let content = match plain_text(node) {
        Some(_) => reader.template(node).map(Content::Text),
        None => reader.json(node).map(Content::Json),
    };
    reader.names.in_message = false;
    content
}

pub(crate) fn send_bytes(
    reader: &mut Reader,
    _: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let text = reader.text(fields, verb);
    if node.as_text().is_some_and(|text| text.contains("$stamp")) {
        let hint = "stamp text messages: `send:`".to_owned();
        reader.problem(node.place, "a binary message cannot be stamped", Some(hint));
    }
    let name = reader.text(fields, "name").unwrap_or_else(|| "send".into());
    let operation = reader.operation(fields.place, &name, OperationKind::WebsocketSend)?;
    let payload = Content::Binary(text?.into_bytes());
    Some(vec![Step::WebsocketSend(Box::new(WebsocketSend { operation, payload, response: None }))])
}

/// Waits for a message that fits.
pub(crate) fn wait(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    if let Some(number) = fields.get(verb).filter(|node| matches!(node.kind, Kind::Number(_))) {
        let what = format!("wait waits for a message, not for a time; got {}", number.describe());
        reader.problem(number.place, what, Some(format!("write `think: {}`", number.describe())));
        return None;
    }
    let own = reader.section(fields, verb, &schema::AWAITED)?;
    passes_over(reader, flow, fields.place);
    let awaited = awaited(reader, &own, AnswerKind::Message, flow.settings.websocket.timeout);
    let name = flow.operation_name(reader, fields).unwrap_or_else(|| "wait".into());
    let operation = reader.operation(fields.place, &name, OperationKind::Expect)?;
    Some(vec![Step::Expect(Box::new(Expect { operation, event: None, awaited }))])
}
