//! Flows: which step it is, and the steps every engine has.
//!
//! Each verb is a line in [`VERBS`]. [`Opening`] decides where a connection is opened that the script does not open
//! itself.

use crate::plan::{Expression, Step, Subscribe, Think};
use serde_json::Value;
use std::sync::Arc;

use crate::script::condition::guarded;
use crate::script::context::{Flow, Joined};
use crate::script::engine::Engine;
use crate::script::engine_steps::ReadStep;
use crate::script::opening::Opening;
use crate::script::problem::nearest;
use crate::script::reader::{Fields, MAX_SECONDS, Reader, seconds_of};
use crate::script::schema::{self, Area};
use crate::script::yaml::{Kind, Node, Place};
use crate::script::{blocks, functions, http, loops, socketio, websocket};

/// A verb: the key that says what a step does.
struct Verb {
    name: &'static str,
    /// Whether an engine has it.
    engines: fn(Engine) -> bool,
    read: ReadStep,
}

const fn verb(name: &'static str, engines: fn(Engine) -> bool, read: ReadStep) -> Verb {
    Verb { name, engines, read }
}

fn any(_: Engine) -> bool {
    true
}

fn realtime(engine: Engine) -> bool {
    engine != Engine::Http
}

fn only_websocket(engine: Engine) -> bool {
    engine == Engine::Websocket
}

fn only_socketio(engine: Engine) -> bool {
    engine.is_socketio()
}

const VERBS: &[Verb] = &[
    verb("get", any, http::request),
    verb("post", any, http::request),
    verb("put", any, http::request),
    verb("patch", any, http::request),
    verb("delete", any, http::request),
    verb("head", any, http::request),
    verb("options", any, http::request),
    verb("function", any, functions::function),
    verb("think", any, think),
    verb("log", any, log),
    verb("loop", any, loops::repeat),
    verb("parallel", any, loops::parallel),
    verb("connect", realtime, connect),
    verb("subscribe", realtime, blocks::subscribe),
    verb("join", realtime, blocks::subscribe),
    verb("send", realtime, blocks::send),
    verb("sendBytes", only_websocket, websocket::send_bytes),
    verb("wait", only_websocket, websocket::wait),
    verb("emit", only_socketio, socketio::emit),
    verb("expect", realtime, expect),
    verb("disconnect", realtime, disconnect),
    verb("reconnect", realtime, reconnect),
];

impl Verb {
    /// Where its keys are.
    fn area(&self) -> &'static Area {
        schema::step(self.name).expect("every verb has a table of keys")
    }
}

/// The connection the script does not write down.
fn open(reader: &mut Reader, flow: &mut Flow<'_>, out: &mut Vec<Step>) {
    let step = flow.engine.steps().and_then(|steps| (steps.open)(reader, flow));
    let opened: Vec<Step> = step.into_iter().collect();
    match &flow.room {
        Some(room) if room.joined == Joined::AfterOpening => confirm(flow, opened, false, out),
        _ => out.extend(opened),
    }
}

/// Steps that confirm the membership: it begins after them, and again when a reconnect takes them again.
fn confirm(flow: &Flow<'_>, mut steps: Vec<Step>, resumes: bool, out: &mut Vec<Step>) {
    let Some(room) = &flow.room else { return out.extend(steps) };
    ask_for_consent(&mut steps);
    let join = Step::Join(room.name.clone());
    match steps.last_mut() {
        Some(Step::Subscribe(last)) => Arc::make_mut(last).steps.push(join),
        _ if flow.settings.reconnects => {
            let opens =
                steps.iter().rposition(|step| matches!(step, Step::Open(_))).map_or(0, |last| last + 1);
            let mut steps_again = steps.split_off(opens);
            steps_again.push(join);
            steps.push(Step::Subscribe(Arc::new(Subscribe { steps: steps_again, resumes })));
        }
        _ => steps.push(join),
    }
    out.extend(steps);
}

/// Has the last acknowledgement of steps that confirm a membership agree to it, unless the script says itself what it
/// wants of it.
fn ask_for_consent(steps: &mut [Step]) {
    match steps.last_mut() {
        Some(Step::Subscribe(last)) => ask_for_consent(&mut Arc::make_mut(last).steps),
        Some(Step::SocketioEmit(emit)) => {
            if let Some(answer) = &mut emit.acknowledge {
                answer.confirms = answer.data.is_none() && answer.matches.is_empty();
            }
        }
        _ => {}
    }
}

/// Compiles a list of steps; `top` says that it is the flow itself and not the body of a loop.
pub(crate) fn steps(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    items: &[Node],
    out: &mut Vec<Step>,
    top: bool,
) {
    for (index, item) in items.iter().enumerate() {
        if top && flow.opening == Opening::Before(index) {
            open(reader, flow, out);
        }
        let before = flow.room.as_ref().and_then(|room| room.left_before);
        if before == Some(item.place)
            && let Some(room) = &flow.room
        {
            out.push(Step::Leave(room.name.clone()));
        }
        if flow.room.as_ref().is_some_and(|room| room.joined == Joined::After(item.place)) {
            let cursors = reader.names.cursors();
            let was = reader.names.subscribe(true);
            let confirmed = step(reader, flow, item).unwrap_or_default();
            reader.names.subscribe(was);
            confirm(flow, confirmed, reader.names.cursors() > cursors, out);
        } else {
            out.extend(step(reader, flow, item).unwrap_or_default());
        }
    }
    if top && flow.opening == Opening::AtEnd {
        open(reader, flow, out);
    }
}

/// Compiles one step. A list of steps in its place is one of an anchor, and its steps stand there.
pub(crate) fn step(reader: &mut Reader, flow: &mut Flow<'_>, item: &Node) -> Option<Vec<Step>> {
    if let Kind::List(items) = &item.kind {
        let mut all = Vec::new();
        steps(reader, flow, items, &mut all, false);
        return Some(all);
    }
    let Kind::Map(entries) = &item.kind else {
        let what = format!("a step is a mapping; got {}", item.describe());
        let is_disconnect = item.as_text().is_some_and(|text| text == "disconnect");
        let hint = if is_disconnect { "write `disconnect: true`" } else { "e.g. `think: 1`" };
        reader.problem(item.place, what, Some(hint.to_owned()));
        return None;
    };
    // Beside an emit it says how that one's session is opened.
    let is_beside = |key: &str| key == "reconnect" && entries.iter().any(|entry| entry.key == "emit");
    let mut verbs = entries
        .iter()
        .filter(|entry| !is_beside(&entry.key))
        .filter_map(|entry| VERBS.iter().find(|verb| verb.name == entry.key).map(|verb| (verb, entry)));
    let Some((verb, entry)) = verbs.next() else {
        unknown_step(reader, flow, item);
        return None;
    };
    if let Some((other, second)) = verbs.next() {
        let what = format!("a step does one thing; this one has {} and {}", verb.name, other.name);
        reader.problem(second.place, what, Some("begin the second with its own `-`".into()));
        return None;
    }
    if !(verb.engines)(flow.engine) {
        let engines: Vec<&str> =
            Engine::all().filter(|engine| (verb.engines)(*engine)).map(Engine::name).collect();
        reader.problem(
            entry.place,
            format!("the engine {} has no step \"{}\"", flow.engine.name(), verb.name),
            Some(format!("set `engine: {}` on the scenario", engines.join("` or `engine: "))),
        );
        return None;
    }
    if entry.value.is_null() && verb.name != "disconnect" {
        empty_verb(reader, verb, item, entry.place);
        return None;
    }
    let fields = reader.fields(item, verb.area())?;
    let around = reader.lay_tags(&fields);
    let read = (verb.read)(reader, flow, &fields, verb.name);
    reader.operations.restore_tags(around);
    read
}

/// A verb without value: usually its keys are not indented far enough.
fn empty_verb(reader: &mut Reader, verb: &Verb, item: &Node, place: Place) {
    let beside =
        item.entries().iter().find(|entry| entry.key != verb.name && verb.area().key(&entry.key).is_none());
    let hint = match beside {
        Some(entry) => {
            format!("indent \"{}\" further than \"{}\", so that it belongs to it", entry.key, verb.name)
        }
        None => {
            let example = verb.area().key(verb.name).map_or("", |key| key.example);
            format!("write `{}: {example}`", verb.name)
        }
    };
    reader.problem(place, format!("{} has no value", verb.name), Some(hint));
}

fn unknown_step(reader: &mut Reader, flow: &Flow<'_>, item: &Node) {
    let Some(first) = item.entries().first() else {
        reader.problem(item.place, "an empty step", None);
        return;
    };
    let known = || VERBS.iter().filter(|verb| (verb.engines)(flow.engine)).map(|verb| verb.name);
    let meant =
        item.entries().iter().find_map(|entry| nearest(&entry.key, known()).map(|meant| (entry, meant)));
    let (entry, hint) = match meant {
        Some((entry, meant)) => (entry, format!("did you mean \"{meant}\"?")),
        None => (
            first,
            format!("steps of the engine {}: {}", flow.engine.name(), known().collect::<Vec<_>>().join(", ")),
        ),
    };
    reader.problem(entry.place, format!("unknown step \"{}\"", entry.key), Some(hint));
}

fn think(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    let seconds = match &node.kind {
        Kind::Number(number) => {
            if number.as_f64().is_some_and(|seconds| seconds.fract() != 0.0) {
                let text = "think: a fraction is seconds here (0.5 is half a second); Artillery takes it for \
                            milliseconds";
                reader.notice(node.place, text);
            }
            number.as_f64().and_then(constant_seconds)
        }
        Kind::Text { text, .. } if text.contains("{{") => match reader.expression(node)? {
            Expression::Constant(value) => value.as_str().and_then(seconds_of).and_then(constant_seconds),
            expression => Some(expression),
        },
        Kind::Text { text, .. } => seconds_of(text.trim()).and_then(constant_seconds),
        _ => None,
    };
    if seconds.is_none() {
        reader.wrong(fields, verb, node);
    }
    let jitter = match fields.get("jitter") {
        Some(node) => crate::script::options::jitter(reader, fields, node),
        None => flow.settings.jitter,
    };
    reader.remark(fields, "name");
    Some(guarded(reader, fields, vec![Step::Think(Think { seconds: seconds?, jitter })]))
}

/// A think time as a constant; None when it is no time.
fn constant_seconds(seconds: f64) -> Option<Expression> {
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return None;
    }
    let whole = seconds.fract() == 0.0;
    Some(Expression::Constant(if whole { Value::from(seconds as i64) } else { Value::from(seconds) }))
}

fn log(reader: &mut Reader, _: &mut Flow<'_>, fields: &Fields<'_>, verb: &'static str) -> Option<Vec<Step>> {
    let line = Step::Log(reader.template_of(fields, verb)?);
    Some(guarded(reader, fields, vec![line]))
}

fn disconnect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    if let Some(node) = fields.get(verb).filter(|node| !matches!(node.kind, Kind::Bool(true))) {
        reader.wrong(fields, verb, node);
    }
    flow.listens = None;
    Some(vec![Step::Disconnect])
}

fn reconnect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let node = fields.get(verb)?;
    if !matches!(node.kind, Kind::Bool(true)) {
        reader.wrong(fields, verb, node);
    }
    flow.reconnects.get_or_insert(fields.place);
    Some(vec![Step::Reconnect])
}

fn connect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    if let Some(node) = fields.get("namespace").filter(|_| !flow.engine.is_socketio()) {
        let this = if flow.engine == Engine::Websocket { "a WebSocket" } else { flow.engine.name() };
        let what = format!("namespaces belong to Socket.IO; this is {this}");
        reader.problem(node.place, what, None);
    }
    (flow.engine.steps()?.connect)(reader, flow, fields, verb)
}

fn expect(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    crate::script::expect::expect(reader, flow, fields, verb).map(|step| vec![step])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_table_of_keys() {
        for verb in VERBS {
            assert!(verb.area().key(verb.name).is_some(), "{}", verb.name);
        }
    }
}
