//! Steps of `engine: socketio` and `engine: socketio-v3`.

use crate::plan::{Argument, Awaited, Expect, SocketioConnect, SocketioEmit, Step, Template};
use base64::Engine as _;
use sonagi_measure::outcome::OperationKind;
use std::sync::Arc;

use crate::script::awaited::awaited;
use crate::script::context::Flow;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::sources::AnswerKind;
use crate::script::yaml::{Entry, Kind, Node, Place, START};

/// The session that the script does not write down.
pub(crate) fn implicit_connect(reader: &mut Reader, flow: &mut Flow<'_>) -> Option<Step> {
    let session = session(reader, flow, START)?;
    Some(flow.opened(Step::SocketioConnect(Box::new(SocketioConnect::clone(&session)))))
}

/// How sessions of this flow are opened: by its last `connect` step, or by its options.
fn session(reader: &mut Reader, flow: &mut Flow<'_>, place: Place) -> Option<Arc<SocketioConnect>> {
    if let Some(session) = &flow.session {
        return Some(Arc::clone(session));
    }
    let operation = reader.operation(place, "connect", OperationKind::SocketioConnect)?;
    let options = flow.options.clone();
    let session = Arc::new(SocketioConnect { operation, options, namespace: Template::constant("/") });
    flow.session = Some(Arc::clone(&session));
    Some(session)
}

pub(crate) fn connect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let mut options = flow.options.clone();
    match &node.kind {
        Kind::Text { .. } => options.url = reader.address(node),
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::SOCKETIO)?;
            crate::script::options::socketio(reader, &own, &mut options);
            crate::script::options::certificates_elsewhere(reader, &own);
            for key in ["subscribe", "publish"] {
                if own.get(key).is_some() {
                    let hint = Some(format!("write it into `config.socketio.{key}`"));
                    reader.problem(own.place_of(key), format!("a connect has no {key}"), hint);
                }
            }
        }
        Kind::Bool(true) => {}
        _ => {
            reader.wrong(fields, verb, node);
            return None;
        }
    }
    let namespace = namespace(reader, fields.get("namespace"), fields);
    let name = reader.text(fields, "name").unwrap_or_else(|| "connect".into());
    let operation = reader.operation(fields.place, &name, OperationKind::SocketioConnect)?;
    let session = SocketioConnect { operation, options, namespace: namespace? };
    flow.session = Some(Arc::new(session.clone()));
    Some(vec![flow.opened(Step::SocketioConnect(Box::new(session)))])
}

/// A namespace with its slash; `/` when there is none.
fn namespace(reader: &mut Reader, node: Option<&Node>, fields: &Fields<'_>) -> Option<Template> {
    let Some(node) = node else { return Some(Template::constant("/")) };
    match node.as_text() {
        Some("") => Some(Template::constant("/")),
        Some(text) if text.starts_with('/') || text.starts_with("{{") => reader.template(node),
        Some(text) => {
            let hint = format!("write `namespace: /{text}`");
            reader.problem(node.place, format!("a namespace begins with `/`; got {text:?}"), Some(hint));
            None
        }
        None => {
            reader.wrong(fields, "namespace", node);
            None
        }
    }
}

/// The keys beside `emit`, or (in its older form) inside it.
struct Siblings<'n> {
    namespace: Option<&'n Node>,
    response: Option<&'n Node>,
    acknowledge: Option<&'n Node>,
}

pub(crate) fn emit(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let mut siblings = Siblings {
        namespace: fields.get("namespace"),
        response: fields.get("response"),
        acknowledge: fields.get("acknowledge"),
    };
    let message = match &node.kind {
        Kind::List(items) => listed(reader, node, items),
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::EMIT)?;
            inner_siblings(reader, &own, &mut siblings);
            channelled(reader, &own)
        }
        _ => {
            reader.wrong(fields, verb, node);
            None
        }
    };
    let namespace = namespace(reader, siblings.namespace, fields);
    let acknowledge = siblings.acknowledge.and_then(|node| acknowledgement(reader, flow, fields, node));
    let response = siblings.response.and_then(|node| response(reader, flow, fields, node));
    // Only now: what the answers capture is set even when the message is wrong.
    let (event, arguments, written) = message?;
    let answered = acknowledge.is_some() || response.is_some();
    if answered {
        let text = "an answered emit counts once in socketio.response_time; Artillery counts it twice, and plain emits \
                    as about 0 ms";
        reader.notice(fields.place, text);
    }
    let awaited = acknowledge.iter().chain(response.iter().map(|(_, awaited, _)| awaited));
    if awaited.flat_map(|awaited| &awaited.captures).any(|capture| capture.strict) {
        let text = "a capture that finds nothing in a Socket.IO answer fails its user; Artillery goes on without a \
                    value";
        reader.notice(fields.place, text);
    }
    let kind = if answered { OperationKind::SocketioRequest } else { OperationKind::SocketioEmit };
    let name = flow.operation_name(reader, fields).unwrap_or_else(|| format!("emit {written}"));
    let operation = reader.operation(fields.place, &name, kind)?;
    let connect = session(reader, flow, fields.place)?;
    // The engine awaits one thing per emit; an event besides the acknowledgement is awaited right after it.
    let (response, after) = match (&acknowledge, response) {
        (Some(_), Some((event, awaited, written))) => {
            let operation =
                reader.operation(fields.place, &format!("expect {written}"), OperationKind::Expect)?;
            (None, Some(Step::Expect(Box::new(Expect { operation, event: Some(event), awaited }))))
        }
        (_, response) => (response.map(|(event, awaited, _)| (event, awaited)), None),
    };
    let step =
        SocketioEmit { operation, namespace: namespace?, connect, event, arguments, acknowledge, response };
    let mut steps = match reader.boolean(fields, "reconnect") {
        Some(true) => vec![Step::Disconnect],
        _ => Vec::new(),
    };
    steps.push(Step::SocketioEmit(Box::new(step)));
    steps.extend(after);
    Some(steps)
}

/// `response` and `acknowledge` inside `emit`: the form of Artillery 1.
fn inner_siblings<'n>(reader: &mut Reader, own: &Fields<'n>, siblings: &mut Siblings<'n>) {
    for (key, outer) in [
        ("namespace", &mut siblings.namespace),
        ("response", &mut siblings.response),
        ("acknowledge", &mut siblings.acknowledge),
    ] {
        let Some(inner) = own.get(key) else { continue };
        let place = own.place_of(key);
        if outer.is_some() {
            reader.problem(
                place,
                format!("{key} stands inside emit and beside it"),
                Some("remove one".into()),
            );
            continue;
        }
        reader.notice(place, format!("{key} inside emit works here as if beside it; Artillery 2 ignores it"));
        *outer = Some(inner);
    }
}

type Message = (Template, Vec<Argument>, String);

/// `[event, argument, …]`
fn listed(reader: &mut Reader, node: &Node, items: &[Node]) -> Option<Message> {
    let Some((event, arguments)) = items.split_first() else {
        let hint = "write `emit: [message, {text: hi}]`".to_owned();
        reader.problem(node.place, "an emit needs the event's name", Some(hint));
        return None;
    };
    let Some(written) = event.as_text() else {
        let hint = "write `emit: [message, {text: hi}]`".to_owned();
        reader.problem(
            event.place,
            format!("an event's name is a text; got {}", event.describe()),
            Some(hint),
        );
        return None;
    };
    let name = reader.template(event);
    let arguments: Vec<Argument> =
        arguments.iter().filter_map(|argument| self::argument(reader, argument)).collect();
    Some((name?, arguments, written.to_owned()))
}

fn channelled(reader: &mut Reader, own: &Fields<'_>) -> Option<Message> {
    let data = match own.entry("data") {
        Some(entry) => argument(reader, &entry.value),
        // A channel always comes with one argument: as Artillery has it, with none as with null.
        None => reader.json(&Node { place: own.place, kind: Kind::Null }).map(Argument::Json),
    };
    let Some(channel) = own.get("channel") else {
        reader.missing(own, &["channel"], "an emit needs a channel", "add `channel: message`");
        return None;
    };
    let name = reader.template_of(own, "channel")?;
    let written = crate::script::reader::plain_text(channel).unwrap_or_default();
    Some((name, data.into_iter().collect(), written))
}

/// Any value; `{$base64: AAEC}` is bytes.
fn argument(reader: &mut Reader, node: &Node) -> Option<Argument> {
    if let Some(entry) = node.entries().iter().find(|entry| entry.key == BINARY) {
        return binary(reader, node, entry);
    }
    refuse_nested_binary(reader, node);
    reader.names.in_message = true;
    let json = reader.json(node);
    reader.names.in_message = false;
    json.map(Argument::Json)
}

/// The one key of an argument that is sent as a binary attachment.
const BINARY: &str = "$base64";

fn binary(reader: &mut Reader, node: &Node, entry: &Entry) -> Option<Argument> {
    if let Some(other) = node.entries().iter().find(|other| other.key != BINARY) {
        let what = format!("a binary argument has the key {BINARY} alone; this one has {} too", other.key);
        reader.problem(other.place, what, Some("send it as an argument of its own".into()));
        return None;
    }
    let place = entry.value.place;
    let wrong = |what: String| {
        (what, Some(format!("write `{{{BINARY}: \"AAEC\"}}`: standard base64 with its padding")))
    };
    let (what, hint) = match entry.value.as_text() {
        Some(text) if text.contains("{{") => {
            let hint = "what users fill in is sent as JSON or text".to_owned();
            ("a binary argument is the same for all users: it has no templates".to_owned(), Some(hint))
        }
        Some(text) => match base64::engine::general_purpose::STANDARD.decode(text.trim()) {
            Ok(bytes) => return Some(Argument::Binary(bytes)),
            Err(error) => wrong(format!("not base64: {error}")),
        },
        None => wrong(format!("{BINARY} wants a text; got {}", entry.value.describe())),
    };
    reader.problem(place, what, hint);
    None
}

fn refuse_nested_binary(reader: &mut Reader, node: &Node) {
    let items = if let Kind::List(items) = &node.kind { items.as_slice() } else { &[] };
    for inner in items.iter().chain(node.entries().iter().map(|entry| &entry.value)) {
        match inner.entries().iter().find(|entry| entry.key == BINARY) {
            Some(entry) => reader.problem(
                entry.place,
                "binary data is an argument of its own, not a part of one",
                Some(format!("write `emit: [event, {{…}}, {{{BINARY}: …}}]`")),
            ),
            None => refuse_nested_binary(reader, inner),
        }
    }
}

fn acknowledgement(
    reader: &mut Reader,
    flow: &Flow<'_>,
    fields: &Fields<'_>,
    node: &Node,
) -> Option<Awaited> {
    let timeout = flow.settings.timeout;
    match &node.kind {
        Kind::Bool(false) => None,
        Kind::Bool(true) => {
            acknowledgement_notice(reader, node.place, timeout);
            Some(Awaited { timeout, data: None, captures: Vec::new(), matches: Vec::new(), confirms: false })
        }
        Kind::Map(_) => {
            let own = reader.fields(node, &schema::ACKNOWLEDGE)?;
            let awaited = awaited(reader, &own, AnswerKind::Acknowledgement, timeout);
            if own.get("timeout").is_none() {
                acknowledgement_notice(reader, node.place, timeout);
            }
            Some(awaited)
        }
        _ => {
            reader.wrong(fields, "acknowledge", node);
            None
        }
    }
}

fn acknowledgement_notice(reader: &mut Reader, place: Place, timeout: std::time::Duration) {
    let text =
        format!("acknowledge waits at most {} s here; Artillery waits indefinitely", timeout.as_secs_f64());
    reader.notice(place, text);
}

fn response(
    reader: &mut Reader,
    flow: &Flow<'_>,
    fields: &Fields<'_>,
    node: &Node,
) -> Option<(Template, Awaited, String)> {
    if !matches!(node.kind, Kind::Map(_)) {
        reader.wrong(fields, "response", node);
        return None;
    }
    let own = reader.fields(node, &schema::RESPONSE)?;
    let awaited = awaited(reader, &own, AnswerKind::Message, flow.settings.timeout);
    let key = if own.get("on").is_some() { "on" } else { "channel" };
    let Some(channel) = own.get(key) else {
        reader.missing(
            &own,
            &["on", "channel"],
            "a response needs the event to wait for",
            "add `on: newMessage`",
        );
        return None;
    };
    if awaited.data.is_none() && awaited.captures.is_empty() && awaited.matches.is_empty() {
        let text = "response without data ends with the first such event here; Artillery waits for the whole timeout";
        reader.notice(node.place, text);
    }
    let event = reader.template_of(&own, key)?;
    Some((event, awaited, crate::script::reader::plain_text(channel).unwrap_or_default()))
}
