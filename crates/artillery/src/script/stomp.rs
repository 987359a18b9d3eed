//! `engine: stomp`: sessions, subscriptions and messages.

use crate::plan::{Awaited, Content, Step, StompConnect, StompSend, StompSubscribe, Template};
use sonagi_measure::outcome::OperationKind;
use sonagi_transport::link::{StompAck, StompVersion};
use std::time::Duration;

use crate::script::awaited::{Answer, awaited};
use crate::script::flow::Flow;
use crate::script::options::{lay_over, placed_texts, time_limit};
use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::websocket;
use crate::script::yaml::{Kind, Node};

/// Settings of sessions.
#[derive(Clone)]
pub(crate) struct Stomp {
    headers: Vec<(String, Template)>,
    connect_headers: Vec<(String, Template)>,
    versions: Vec<StompVersion>,
    heart_beat: (u32, u32),
    sockjs: bool,
    ack: StompAck,
    subscribe_receipt: bool,
    send_receipt: bool,
    pub(crate) timeout: Duration,
}

impl Default for Stomp {
    fn default() -> Stomp {
        Stomp {
            headers: Vec::new(),
            connect_headers: Vec::new(),
            versions: vec![StompVersion::V1_0, StompVersion::V1_1, StompVersion::V1_2],
            heart_beat: (0, 0),
            sockjs: false,
            ack: StompAck::Auto,
            subscribe_receipt: false,
            send_receipt: false,
            timeout: crate::plan::DEFAULT_TIMEOUT,
        }
    }
}

impl Stomp {
    /// `config.stomp`.
    pub(crate) fn read(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        self.lay(reader, fields);
        if let Some(ack) = ack(reader, fields) {
            self.ack = ack;
        }
        for (item, text) in placed_texts(reader, fields, "receipts") {
            match text.as_str() {
                "subscribe" => self.subscribe_receipt = true,
                "send" => self.send_receipt = true,
                other => match nearest(other, ["subscribe", "send"]) {
                    Some(meant) => {
                        let what = format!("receipts are asked for `subscribe` and `send`; got {other:?}");
                        reader.problem(item.place, what, Some(format!("did you mean \"{meant}\"?")));
                    }
                    None => reader.wrong(fields, "receipts", item),
                },
            }
        }
    }

    /// What both `config.stomp` and a `connect` step may say.
    fn lay(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        let headers = reader.headers(fields, "headers");
        lay_over(&mut self.headers, headers, true);
        let connect_headers = reader.templates(fields, "connectHeaders");
        refuse_own(reader, fields, "connectHeaders", &["accept-version", "heart-beat"]);
        lay_over(&mut self.connect_headers, connect_headers, false);
        if let Some(versions) = versions(reader, fields) {
            self.versions = versions;
        }
        if let Some(heart_beat) = heart_beat(reader, fields) {
            self.heart_beat = heart_beat;
        }
        if let Some(sockjs) = reader.boolean(fields, "sockjs") {
            self.sockjs = sockjs;
        }
        if let Some(timeout) = time_limit(reader, fields) {
            self.timeout = timeout;
        }
    }
}

/// Headers the protocol sets cannot be set by hand.
fn refuse_own(reader: &mut Reader, fields: &Fields<'_>, key: &str, own: &[&str]) {
    for entry in fields.get(key).map(Node::entries).unwrap_or_default() {
        if own.contains(&entry.key.as_str()) {
            let what = format!("{key}: the header {} is set by the protocol", entry.key);
            let hint = match entry.key.as_str() {
                "accept-version" => Some("use `versions`".to_owned()),
                "heart-beat" => Some("use `heartBeat`".to_owned()),
                "receipt" => Some("write `receipt: true` beside `headers`".to_owned()),
                "ack" => Some("write `ack:` beside `headers`".to_owned()),
                "destination" => Some("write `destination:` beside `headers`".to_owned()),
                _ => None,
            };
            reader.problem(entry.place, what, hint);
        }
    }
}

fn versions(reader: &mut Reader, fields: &Fields<'_>) -> Option<Vec<StompVersion>> {
    let given = fields.get("versions")?;
    let mut versions = Vec::new();
    for (item, text) in placed_texts(reader, fields, "versions") {
        // YAML takes an unquoted 1.0 for the number 1.
        match text.as_str() {
            "1.0" | "1" => versions.push(StompVersion::V1_0),
            "1.1" => versions.push(StompVersion::V1_1),
            "1.2" => versions.push(StompVersion::V1_2),
            _ => {
                reader.wrong(fields, "versions", item);
                return None;
            }
        }
    }
    if versions.is_empty() && matches!(&given.kind, Kind::List(items) if items.is_empty()) {
        reader.wrong(fields, "versions", given);
    }
    (!versions.is_empty()).then_some(versions)
}

fn heart_beat(reader: &mut Reader, fields: &Fields<'_>) -> Option<(u32, u32)> {
    let given = fields.get("heartBeat")?;
    let mut numbers = Vec::new();
    for (item, text) in placed_texts(reader, fields, "heartBeat") {
        match text.trim().parse::<u32>() {
            Ok(number) => numbers.push(number),
            Err(_) => {
                reader.wrong(fields, "heartBeat", item);
                return None;
            }
        }
    }
    match numbers.as_slice() {
        [ours, theirs] => Some((*ours, *theirs)),
        _ => {
            reader.wrong(fields, "heartBeat", given);
            None
        }
    }
}

fn ack(reader: &mut Reader, fields: &Fields<'_>) -> Option<StompAck> {
    let text = reader.text(fields, "ack")?;
    match text.as_str() {
        "auto" => Some(StompAck::Auto),
        "client" => Some(StompAck::Client),
        "client-individual" => Some(StompAck::Individual),
        _ => {
            reader.wrong(fields, "ack", fields.get("ack")?);
            None
        }
    }
}

/// The session that the script does not write down.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &Flow<'_>) -> Option<Step> {
    let url = address(reader, flow)?;
    session(reader, flow, flow.settings.stomp.clone(), url, "connect")
}

/// Where sessions are opened that do not say it.
fn address(reader: &mut Reader, flow: &Flow<'_>) -> Option<Template> {
    match &flow.settings.addresses.stomp {
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
pub(crate) fn subscribe(reader: &mut Reader, flow: &Flow<'_>, own: &Fields<'_>, name: &str) -> Option<Step> {
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
    let own = reader.fields(node, &schema::STOMP_SEND)?;
    let name = flow.operation_name(reader, fields).unwrap_or_else(|| "send".into());
    send(reader, flow, &own, &name, None).map(|step| vec![step])
}

/// A message, of a step or of `config.stomp.publish`; without a body of its own it is `message`.
pub(crate) fn send(
    reader: &mut Reader,
    flow: &Flow<'_>,
    own: &Fields<'_>,
    name: &str,
    message: Option<&Node>,
) -> Option<Step> {
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
    awaited(reader, own, Answer::Message, flow.settings.stomp.timeout)
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
