//! `engine: stomp`: sessions, subscriptions and messages.

use crate::plan::{Awaited, Content, Step, StompConnect, StompSend, StompSubscribe, Template};
use sonagi_measure::outcome::OperationKind;

use crate::script::awaited::awaited;
use crate::script::context::Flow;
use crate::script::options::time_limit;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::sources::AnswerKind;
use crate::script::stomp_settings::{Stomp, ack, refuse_own};
use crate::script::websocket;
use crate::script::yaml::{Kind, Node};

/// The session that the script does not write down.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &mut Flow<'_>) -> Option<Step> {
    let url = address(reader, flow)?;
    session(reader, flow, flow.settings.stomp.clone(), url, "connect")
}

/// Where sessions are opened that do not say it.
fn address(reader: &mut Reader, flow: &Flow<'_>) -> Option<Template> {
    match &flow.settings.stomp.url {
        Some(node) => reader.address(node),
        None => Some(websocket::target(reader)),
    }
}

fn session(reader: &mut Reader, flow: &Flow<'_>, stomp: Stomp, url: Template, name: &str) -> Option<Step> {
    let operation = reader.operation(crate::script::yaml::START, name, OperationKind::StompConnect)?;
    let Stomp { headers, connect_headers, versions, heart_beat, sockjs, timeout, .. } = stomp;
    let connect =
        StompConnect { operation, url, headers, connect_headers, versions, heart_beat, sockjs, timeout };
    Some(flow.opened(Step::StompConnect(Box::new(connect))))
}

pub(crate) fn connect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let mut stomp = flow.settings.stomp.clone();
    let url = match &node.kind {
        Kind::Text { .. } => reader.address(node),
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::STOMP_CONNECT)?;
            stomp.lay(reader, &own);
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
    session(reader, flow, stomp, url?, &name).map(|step| vec![step])
}

/// A subscription, of a step or of `config.stomp.subscribe`.
pub(crate) fn subscribe(reader: &mut Reader, flow: &Flow<'_>, node: &Node, name: &str) -> Option<Step> {
    let own = &reader.fields(node, &schema::STOMP_SUBSCRIBE)?;
    let destination = destination(reader, own, "/topic/news");
    let headers = reader.templates(own, "headers");
    refuse_own(reader, own, "headers", &["destination", "id", "ack", "receipt"]);
    let ack = ack(reader, own).unwrap_or(flow.settings.stomp.ack);
    let receipt = reader.boolean(own, "receipt").unwrap_or(flow.settings.stomp.subscribe_receipt);
    let timeout = flow.settings.stomp.timeout;
    let operation = reader.operation(own.place, name, OperationKind::StompSubscribe)?;
    let subscribe = StompSubscribe { operation, destination: destination?, headers, ack, receipt, timeout };
    Some(Step::StompSubscribe(Box::new(subscribe)))
}

fn destination(reader: &mut Reader, own: &Fields<'_>, example: &str) -> Option<Template> {
    if own.get("destination").is_none() {
        let what = format!("{} needs a destination", own.area.name);
        reader.missing(own, &["destination"], &what, &format!("add `destination: {example}`"));
    }
    reader.template_of(own, "destination")
}

/// A `send` step without `to`.
pub(crate) fn send_step(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    if !matches!(node.kind, Kind::Map(_)) {
        let what = format!("a STOMP message is a mapping with a destination; got {}", node.describe());
        let hint = "write `send: {destination: /app/hello, body: hello}`, or add `to: \"{{ room }}\"`";
        reader.problem(node.place, what, Some(hint.into()));
        return None;
    }
    let name = flow.operation_name(reader, fields).unwrap_or_else(|| "send".into());
    send(reader, flow, node, &name, None).map(|step| vec![step])
}

/// A message, of a step or of `config.stomp.publish`; without a body of its own it is `message`.
pub(crate) fn send(
    reader: &mut Reader,
    flow: &Flow<'_>,
    node: &Node,
    name: &str,
    message: Option<&Node>,
) -> Option<Step> {
    let own = &reader.fields(node, &schema::STOMP_SEND)?;
    let destination = destination(reader, own, "/app/hello");
    let headers = reader.templates(own, "headers");
    refuse_own(reader, own, "headers", &["destination", "receipt", "content-length"]);
    let content = content(reader, own, message);
    let receipt = reader.boolean(own, "receipt").unwrap_or(flow.settings.stomp.send_receipt);
    let awaits = own.get("capture").is_some() || own.get("match").is_some();
    let response = awaits.then(|| response(reader, flow, own));
    let timeout = match &response {
        Some(response) => response.timeout,
        None => time_limit(reader, own).unwrap_or(flow.settings.stomp.timeout),
    };
    let kind = if receipt || awaits { OperationKind::StompRequest } else { OperationKind::StompSend };
    let operation = reader.operation(own.place, name, kind)?;
    let (destination, content) = (destination?, content?);
    let send = StompSend { operation, destination, headers, content, receipt, response, timeout };
    Some(Step::StompSend(Box::new(send)))
}

fn response(reader: &mut Reader, flow: &Flow<'_>, own: &Fields<'_>) -> Awaited {
    awaited(reader, own, AnswerKind::Message, flow.settings.stomp.timeout)
}

fn content(reader: &mut Reader, own: &Fields<'_>, message: Option<&Node>) -> Option<Content> {
    match (own.entry("body"), own.entry("json"), message) {
        (Some(_), Some(json), _) => {
            reader.problem(json.place, "a message has one body; this one has body and json", None);
            None
        }
        (Some(body), None, _) if matches!(body.value.kind, Kind::Map(_) | Kind::List(_)) => {
            let what = format!("body wants a text; got {}", body.value.describe());
            reader.problem(body.value.place, what, Some("an object or a list is sent with `json:`".into()));
            None
        }
        (Some(body), None, _) => websocket::content(reader, &body.value),
        (None, Some(json), _) => {
            reader.names.in_message = true;
            let content = reader.json(&json.value).map(Content::Json);
            reader.names.in_message = false;
            content
        }
        (None, None, Some(message)) => websocket::content(reader, message),
        (None, None, None) => Some(Content::Text(Template::default())),
    }
}
