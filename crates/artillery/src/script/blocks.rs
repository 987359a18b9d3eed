//! `subscribe: ROOM` and `send: DATA` with `to: ROOM`: the words every engine knows.
//!
//! What they do over an engine stands in its block of `config`, as steps in which `{{ $room }}` and `{{ $message }}` are
//! holes. They are filled in the tree before anything is compiled, so that a template may hold whatever a flow may. What is
//! wrong in a template is told where it stands, with the first step that came upon it; what is wrong with the room or the
//! message, at the step.

use crate::plan::{Step, Subscribe};
use std::sync::Arc;

use crate::script::flow::{Flow, step};
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::scenario::Engine;
use crate::script::schema;
use crate::script::yaml::{Entry, Kind, Node, Origin, Place};
use crate::script::{pull, stomp, websocket};

/// What an engine's block of `config` says of rooms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) subscribe: Option<Node>,
    pub(crate) publish: Option<Node>,
}

impl Block {
    /// Lays the templates of a block over these.
    pub(crate) fn lay(&mut self, reader: &mut Reader, fields: &Fields<'_>) {
        for (key, template) in [("subscribe", &mut self.subscribe), ("publish", &mut self.publish)] {
            let Some(node) = fields.area.key(key).and_then(|_| fields.get(key)) else { continue };
            match node.kind {
                Kind::Map(_) | Kind::List(_) => *template = Some(node.clone()),
                _ => reader.wrong(fields, key, node),
            }
        }
    }
}

/// The step on whose behalf a template is read.
pub(crate) struct Behalf {
    /// What operations without a name of their own are called.
    pub(crate) name: String,
    /// Requests carry a message to a room.
    pub(crate) is_publish: bool,
}

/// What the holes of a template are filled with.
pub(crate) struct Filling<'n> {
    room: &'n Node,
    /// The variables it holds: they have been looked at where it stands.
    uses: Vec<String>,
    message: Option<&'n Node>,
    /// The step, for what is wrong in the template.
    verb: &'static str,
    pub(crate) place: Place,
}

impl<'n> Filling<'n> {
    /// The room a step names under a key.
    fn of(
        reader: &mut Reader,
        fields: &Fields<'n>,
        verb: &'static str,
        key: &'static str,
        message: Option<&'n Node>,
    ) -> Option<Filling<'n>> {
        let room = fields.get(key)?;
        let before = reader.names.uses();
        // Compiled here for its mistakes alone: these belong to the step.
        reader.template_of(fields, key)?;
        let uses = reader.names.used_since(before);
        Some(Filling { room, uses, message, verb, place: fields.place })
    }

    /// A copy of a template in which the holes are filled.
    pub(crate) fn fill(&self, reader: &mut Reader, template: &Node) -> Node {
        let kind = match &template.kind {
            Kind::Text { text, .. } => return self.fill_text(reader, template, text),
            Kind::List(items) => Kind::List(items.iter().map(|item| self.fill(reader, item)).collect()),
            Kind::Map(entries) => Kind::Map(
                entries
                    .iter()
                    .map(|entry| Entry { value: self.fill(reader, &entry.value), ..entry.clone() })
                    .collect(),
            ),
            plain => plain.clone(),
        };
        Node { place: template.place, kind }
    }

    fn fill_text(&self, reader: &mut Reader, node: &Node, text: &str) -> Node {
        if let (Some(message), Some(("", "$message", ""))) = (self.message, hole(text)) {
            return message.clone();
        }
        let room = plain_text(self.room).unwrap_or_default();
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = hole(rest) {
            filled.push_str(before);
            match (name, self.message) {
                ("$room", _) => filled.push_str(&room),
                ("$message", Some(message)) => match plain_text(message) {
                    Some(message) => filled.push_str(&message),
                    None => {
                        let what = "a message that is no text stands alone in its value".to_owned();
                        reader.problem(node.place, what, Some("write \"{{ $message }}\"".into()));
                    }
                },
                _ => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        if filled == text {
            return node.clone();
        }
        Node { place: node.place, kind: Kind::Text { text: filled, inset: None } }
    }

    /// The engine's block does not say how.
    pub(crate) fn lacks(&self, reader: &mut Reader, engine: Engine, key: &str) {
        let (block, over) = (engine.block(), engine.name());
        let what =
            format!("config.{block} does not say what `{}` does over {over}: it has no `{key}`", self.verb);
        let example = example(engine, if key == "publish" { "publish" } else { "subscribe" });
        reader.problem(
            self.place,
            what,
            Some(format!("for `sonagi serve`, add to config: `{block}: {example}`")),
        );
    }

    /// Reads what came of a template, and tells what is wrong in it with the step that came upon it.
    pub(crate) fn read<T>(
        &self,
        reader: &mut Reader,
        template: &Node,
        read: impl FnOnce(&mut Reader, &Node) -> Option<T>,
    ) -> Option<T> {
        let (problems, uses) = (reader.problems.len(), reader.names.uses());
        let filled = self.fill(reader, template);
        let read = read(reader, &filled);
        let by = match self.place {
            Place { origin: Origin::Script, line, .. } => {
                format!(" (used by the `{}` step on line {line})", self.verb)
            }
            _ => format!(" (used by a `{}` step)", self.verb),
        };
        reader.on_behalf(problems, template, &by);
        reader.names.on_behalf(uses, template, &self.uses, &by);
        read
    }
}

/// The first hole of a text that could be a template's own: what is before it, its name, what is after it.
fn hole(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find("{{")?;
    let close = open + text[open..].find("}}")?;
    Some((&text[..open], text[open + 2..close].trim(), &text[close + 2..]))
}

/// Whether a template has such a hole.
pub(crate) fn has_hole(template: &Node, name: &str) -> bool {
    match &template.kind {
        Kind::Text { text, .. } => {
            let mut rest = text.as_str();
            while let Some((_, found, after)) = hole(rest) {
                if found == name {
                    return true;
                }
                rest = after;
            }
            false
        }
        Kind::List(items) => items.iter().any(|item| has_hole(item, name)),
        Kind::Map(entries) => entries.iter().any(|entry| has_hole(&entry.value, name)),
        _ => false,
    }
}

/// `subscribe: ROOM`, and `join: ROOM`.
pub(crate) fn subscribe(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    refuse_nested(reader, flow, fields, verb)?;
    let cursors = reader.names.cursors();
    let was = reader.names.subscribe(true);
    let name = reader.text(fields, "name").unwrap_or_else(|| "subscribe".into());
    let steps = if flow.engine == Engine::Stomp && matches!(node.kind, Kind::Map(_)) {
        let own = reader.fields(node, &schema::STOMP_SUBSCRIBE);
        own.and_then(|own| stomp::subscribe(reader, flow, &own, &name)).map(|step| vec![step])
    } else {
        let filling = Filling::of(reader, fields, verb, verb, None);
        filling.and_then(|filling| subscription(reader, flow, &filling, name))
    };
    reader.names.subscribe(was);
    let resumes = flow.engine.is_pull() || reader.names.cursors() > cursors;
    let mut steps = steps?;
    if let [Step::Subscribe(_)] = steps.as_slice() {
        return Some(steps);
    }
    // A connection opened on the way is kept by itself.
    let opens = steps.iter().rposition(|step| matches!(step, Step::Open(_))).map_or(0, |last| last + 1);
    let rest = steps.split_off(opens);
    steps.push(Step::Subscribe(Arc::new(Subscribe { steps: rest, resumes })));
    Some(steps)
}

/// What an engine does to subscribe to a room.
fn subscription(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    filling: &Filling<'_>,
    name: String,
) -> Option<Vec<Step>> {
    if flow.engine.is_pull() {
        return pull::subscribe(reader, flow, filling, &name).map(|step| vec![step]);
    }
    let Some(template) = flow.block.subscribe.clone() else {
        filling.lacks(reader, flow.engine, "subscribe");
        return None;
    };
    filling.read(reader, &template, |reader, filled| match flow.engine {
        Engine::Stomp => {
            let own = reader.fields(filled, &schema::STOMP_SUBSCRIBE)?;
            stomp::subscribe(reader, flow, &own, &name).map(|step| vec![step])
        }
        _ => steps(reader, flow, filled, Behalf { name, is_publish: false }),
    })
}

/// `send: DATA`: to a room, or as the engine has it.
pub(crate) fn send(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    if fields.get("to").is_some() {
        return publish(reader, flow, fields, verb);
    }
    match flow.engine {
        Engine::Websocket => websocket::send(reader, flow, fields, verb),
        Engine::Stomp => stomp::send_step(reader, flow, fields, verb),
        engine => {
            let hint = match engine.is_socketio() {
                true => "write `emit: [message, {…}]`, or add `to: \"{{ room }}\"`",
                false => "add `to: \"{{ room }}\"`, or write a `post` step",
            };
            let what = format!("over {} a message is sent to a room; this one names none", engine.name());
            reader.problem(fields.place, what, Some(hint.into()));
            None
        }
    }
}

fn publish(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    refuse_nested(reader, flow, fields, verb)?;
    let message = fields.get(verb)?;
    let name = reader.text(fields, "name").unwrap_or_else(|| "send".into());
    let filling = Filling::of(reader, fields, verb, "to", Some(message))?;
    let Some(template) = flow.block.publish.clone() else {
        filling.lacks(reader, flow.engine, "publish");
        return None;
    };
    let stamps = reader.names.stamps();
    let steps = filling.read(reader, &template, |reader, filled| match flow.engine {
        Engine::Stomp => {
            let own = reader.fields(filled, &schema::STOMP_SEND)?;
            stomp::send(reader, flow, &own, &name, Some(message)).map(|step| vec![step])
        }
        _ => {
            if !has_hole(&template, "$message") {
                let what = "{{ $message }} is not in this template: nothing of the message would be sent";
                let hint = "write \"{{ $message }}\" where the message goes".to_owned();
                reader.problem(template.place, what, Some(hint));
            }
            steps(reader, flow, filled, Behalf { name, is_publish: true })
        }
    });
    let to = plain_text(filling.room).unwrap_or_default();
    if reader.names.stamps() > stamps
        && let Some(joined) = flow.subscribed.as_ref().filter(|joined| **joined != to)
    {
        let what = format!(
            "a stamped message goes to the room the user is a member of, \"{joined}\"; this one goes to \"{to}\""
        );
        let hint =
            "one scenario follows one room; leave the stamp out, or make a scenario for the other room";
        reader.problem(filling.room.place, what, Some(hint.into()));
    }
    steps
}

/// The steps of a template.
fn steps(reader: &mut Reader, flow: &mut Flow<'_>, filled: &Node, behalf: Behalf) -> Option<Vec<Step>> {
    let items = match &filled.kind {
        Kind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(filled),
    };
    flow.behalf = Some(behalf);
    let mut all = Vec::new();
    for item in items {
        all.extend(step(reader, flow, item).unwrap_or_default());
    }
    flow.behalf = None;
    Some(all)
}

/// A template that used another one would never end.
fn refuse_nested(reader: &mut Reader, flow: &Flow<'_>, fields: &Fields<'_>, verb: &str) -> Option<()> {
    if flow.behalf.is_none() {
        return Some(());
    }
    let hint = "write what it does: a plain `send`, `emit` or `post`".to_owned();
    reader.problem(
        fields.place,
        format!("a template cannot use `{verb}`: it is what `{verb}` does"),
        Some(hint),
    );
    None
}

/// What works with the reference service.
pub(crate) fn example(engine: Engine, key: &str) -> &'static str {
    match (engine, key == "subscribe") {
        (Engine::Websocket, true) => {
            "{url: /ws, subscribe: {send: {payload: {type: join, room: \"location:{{ $room }}\"}, match: {json: $.type, value: joined}}}}"
        }
        (Engine::Websocket, false) => {
            "{url: /ws, publish: {send: {type: send, room: \"location:{{ $room }}\", content: \"{{ $message }}\"}}}"
        }
        (Engine::Stomp, true) => "{url: /location, subscribe: {destination: \"/sub/location/{{ $room }}\"}}",
        (Engine::Stomp, false) => "{url: /location, publish: {destination: \"/pub/share/{{ $room }}\"}}",
        (Engine::Sse, true) => "{url: \"/location/sse/connect?group={{ $room }}\"}",
        (Engine::Sse, false) => {
            "{publish: {post: {url: \"/location/sse/share?group={{ $room }}\", json: \"{{ $message }}\"}}}"
        }
        (Engine::Poll, true) => "{url: \"/cur/{{ $room }}\", every: 3, cursor: {json: $.next, as: after}}",
        (Engine::Longpoll, true) => {
            "{url: \"/location/long/{{ $room }}\", cursor: {json: $.next, as: after}}"
        }
        (Engine::Poll | Engine::Longpoll, false) => {
            "{publish: {post: {url: \"/location/long/{{ $room }}/notify\", json: \"{{ $message }}\"}}}"
        }
        (Engine::Socketio | Engine::SocketioV3 | Engine::Http, true) => {
            "{subscribe: {emit: [joinRoom, {roomId: \"location:{{ $room }}\"}], acknowledge: true}}"
        }
        (Engine::Socketio | Engine::SocketioV3 | Engine::Http, false) => {
            "{publish: {emit: [sendMessage, {roomId: \"location:{{ $room }}\", content: \"{{ $message }}\"}], acknowledge: true}}"
        }
    }
}
