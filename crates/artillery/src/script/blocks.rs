//! `subscribe: ROOM` and `send: DATA` with `to: ROOM`: the words every engine knows.
//!
//! An engine's block of `config` holds their steps, in which `{{ $room }}` and `{{ $message }}` are filled in. That
//! happens in the tree before anything is compiled, so a template may hold whatever a flow may. A mistake in a template
//! is reported at its place, with the first step that used it; a mistake in the room or the message at the step.

use crate::plan::{Step, Subscribe};
use std::sync::Arc;

use crate::script::context::{Behalf, Flow};
use crate::script::filling::{Filling, has_hole};
use crate::script::flow::step;
use crate::script::pull;
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::yaml::{Kind, Node};

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
    let steps = match flow.engine.mappings().filter(|_| matches!(node.kind, Kind::Map(_))) {
        Some(mappings) => (mappings.subscribe)(reader, flow, node, &name).map(|step| vec![step]),
        None => {
            let filling = Filling::of(reader, fields, verb, verb, None);
            filling.and_then(|filling| subscription(reader, flow, &filling, name))
        }
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

/// The steps of an engine that subscribe to a room.
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
    filling.read(reader, &template, |reader, filled| match flow.engine.mappings() {
        Some(mappings) => (mappings.subscribe)(reader, flow, filled, &name).map(|step| vec![step]),
        None => steps(reader, flow, filled, Behalf { name, is_publish: false }),
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
    let engine = flow.engine;
    if let Some(send) = engine.steps()?.send {
        return send(reader, flow, fields, verb);
    }
    let hint = match engine.is_socketio() {
        true => "write `emit: [message, {…}]`, or add `to: \"{{ room }}\"`",
        false => "add `to: \"{{ room }}\"`, or write a `post` step",
    };
    let what = format!("over {} a message is sent to a room; this one names none", engine.name());
    reader.problem(fields.place, what, Some(hint.into()));
    None
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
    let steps = filling.read(reader, &template, |reader, filled| match flow.engine.mappings() {
        Some(mappings) => {
            (mappings.publish)(reader, flow, filled, &name, Some(message)).map(|step| vec![step])
        }
        None => {
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
