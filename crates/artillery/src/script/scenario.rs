//! Scenarios: engine, weight, room and flow; and the `before` and `after` flows.

use crate::plan::{Scenario, SocketioOptions, Step};

use crate::script::context::{Flow, Joined, ScriptRoom};
use crate::script::engine::{Engine, named_engine};
use crate::script::flow::steps;
use crate::script::opening::Opening;
use crate::script::options::Settings;
use crate::script::problem::nearest;
use crate::script::reader::{Fields, Reader};
use crate::script::room_block::Block;
use crate::script::schema;
use crate::script::yaml::{Kind, Node, Place};
use crate::script::{functions, reconnect};

/// Reads all scenarios. Whether any message is stamped comes with them.
pub(crate) fn scenarios(
    reader: &mut Reader,
    script: &Fields<'_>,
    settings: &Settings,
) -> (Vec<Scenario>, bool) {
    let Some(node) = script.get("scenarios") else {
        let what = "the script has no scenarios: users have nothing to do";
        let hint = "add `scenarios: [{flow: [{get: {url: /}}]}]`; of a file that has only the config say `--config` \
                    before the script";
        reader.missing(script, &["scenarios"], what, hint);
        return (Vec::new(), false);
    };
    let items = reader.list(script, "scenarios", false);
    let mut all = Vec::new();
    let mut stamped = false;
    let mut weightless = 0;
    let mut rooms = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let read = scenario(reader, item, index, settings);
        reader.operations.restore_tags(Default::default());
        let Some(read) = read else { continue };
        if read.scenario.weight > 0.0 {
            stamped |= read.stamped;
            rooms.extend(read.room);
            all.push(read.scenario);
        } else {
            weightless += 1;
        }
    }
    // Users that only listen have expected deliveries too, so one stamping scenario is enough for all rooms.
    if !stamped {
        for room in rooms {
            reader.notice(room, "rooms are not tracked: no message of any scenario holds {{ $stamp }}");
        }
    }
    if matches!(node.kind, Kind::List(_)) && (items.is_empty() || weightless == items.len()) {
        let what = if items.is_empty() { "`scenarios` is empty" } else { "all scenarios have weight 0" };
        reader.problem(node.place, format!("{what}: users have nothing to do"), None);
    }
    (all, stamped)
}

struct ScenarioRead {
    scenario: Scenario,
    stamped: bool,
    /// Where its room stands.
    room: Option<Place>,
}

fn scenario(reader: &mut Reader, node: &Node, index: usize, settings: &Settings) -> Option<ScenarioRead> {
    let fields = reader.fields(node, &schema::SCENARIO)?;
    reader.lay_tags(&fields);
    // By its number, as Artillery counts it.
    let name = reader.text(&fields, "name").unwrap_or_else(|| index.to_string());
    let weight = reader.number(&fields, "weight").unwrap_or(1.0);
    if weight.fract() != 0.0 {
        let text = "weight: a fraction counts as it is here; Artillery takes its whole part, 0 of 0.5";
        reader.notice(fields.place_of("weight"), text);
    }
    if weight == 0.0 {
        reader.notice(
            fields.place_of("weight"),
            format!("the scenario \"{name}\" has weight 0 and is left out"),
        );
    }
    let engine = engine(reader, &fields, settings)?;
    let mut block = settings.blocks.of(engine).clone();
    let options = socketio_options(reader, &fields, engine, settings, &mut block);
    let Some(flow_node) = fields.get("flow") else {
        reader.missing(&fields, &["flow"], "a scenario needs a flow", "add `flow:` with a list of steps");
        return None;
    };
    let items = reader.list(&fields, "flow", false);
    if items.is_empty() && matches!(flow_node.kind, Kind::List(_)) {
        reader.problem(flow_node.place, "the flow is empty: users have nothing to do", None);
    }
    let opening = Opening::of(engine, items);
    let room = room(reader, &fields, items, opening);
    let is_tracked = room.is_some() || fields.get("room").is_some();
    let mut flow = Flow::new(engine, settings, options, block, opening, room, items);
    flow.around = functions::around(reader, &fields);
    flow.expects_ok = true;
    let mut compiled = functions::calls(reader, &fields, "beforeScenario");
    steps(reader, &mut flow, items, &mut compiled, true);
    reconnect::without_place(reader, &flow, &compiled);
    compiled.extend(functions::calls(reader, &fields, "afterScenario"));
    let stamps = reader.names.take_stamps();
    if let (Some(first), false) = (stamps.first(), is_tracked) {
        reader.problem(
            *first,
            "a stamped message needs a room: who is owed a copy of it?",
            Some("add `room: \"{{ roomId }}\"` to the scenario, or a `subscribe` step".into()),
        );
    }
    let unset = reader.names.end_flow(false);
    reader.unset(unset);
    let stamped = !stamps.is_empty();
    let room = fields.get("room").map(|_| fields.place_of("room"));
    Some(ScenarioRead { scenario: Scenario { name, weight, flow: compiled }, stamped, room })
}

fn engine(reader: &mut Reader, fields: &Fields<'_>, settings: &Settings) -> Option<Engine> {
    if fields.get("engine").is_some() && fields.get("transport").is_some() {
        let what = "engine and transport are the same key; a scenario has one of them";
        reader.problem(fields.place_of("transport"), what, None);
    }
    let key = if fields.get("engine").is_some() { "engine" } else { "transport" };
    match fields.get(key) {
        Some(_) => named_engine(reader, fields, key),
        None => Some(settings.engine),
    }
}

fn socketio_options(
    reader: &mut Reader,
    fields: &Fields<'_>,
    engine: Engine,
    settings: &Settings,
    block: &mut Block,
) -> SocketioOptions {
    let mut options = match engine {
        Engine::SocketioV3 => settings.socketio_v3.clone(),
        _ => settings.socketio.clone(),
    };
    if let Some(own) = reader.section(fields, "socketio", &schema::SOCKETIO) {
        crate::script::options::socketio(reader, &own, &mut options);
        crate::script::options::at_the_target(reader, &own, &mut options);
        crate::script::options::certificates_elsewhere(reader, &own);
        if engine.is_socketio() {
            block.lay(reader, &own);
        }
        let text = "a scenario's socketio options are its own here; in Artillery they leak into the scenarios after it";
        reader.notice(fields.place_of("socketio"), text);
    }
    options
}

fn room(reader: &mut Reader, fields: &Fields<'_>, items: &[Node], opening: Opening) -> Option<ScriptRoom> {
    let Some(node) = fields.get("room") else { return subscribed_room(reader, items) };
    let (name, joined, left_before) = if matches!(node.kind, Kind::Map(_)) {
        let own = reader.fields(node, &schema::ROOM)?;
        let key = if own.get("name").is_some() { "name" } else { "id" };
        if own.get(key).is_none() {
            reader.missing(&own, &["name", "id"], "a room needs a name", "add `name: \"{{ roomId }}\"`");
        }
        let name = reader.template_of(&own, key);
        let joined = match own.get("joinedAfter") {
            Some(_) => marked(reader, &own, "joinedAfter", items, opening)?,
            None => default_join(reader, own.place, items, opening)?,
        };
        let left = own.get("leftBefore").and_then(|_| marked(reader, &own, "leftBefore", items, opening));
        let left = left.and_then(|mark| if let Joined::After(place) = mark { Some(place) } else { None });
        (name, joined, left)
    } else {
        let name = reader.template_of(fields, "room");
        (name, default_join(reader, node.place, items, opening)?, None)
    };
    Some(ScriptRoom { name: name?, joined, left_before })
}

/// A scenario without `room` is in the room it subscribes to first.
fn subscribed_room(reader: &mut Reader, items: &[Node]) -> Option<ScriptRoom> {
    let (step, named) = crate::script::opening::subscription(items)?;
    crate::script::reader::plain_text(named)?;
    // Its mistakes are reported where the step is read.
    let problems = reader.problems.len();
    let name = reader.template(named);
    reader.problems.truncate(problems);
    Some(ScriptRoom { name: name?, joined: Joined::After(step.place), left_before: None })
}

/// Without `joinedAfter`: the first `subscribe`, else the first acknowledged emit that sounds like joining, else
/// connecting.
fn default_join(reader: &mut Reader, place: Place, items: &[Node], opening: Opening) -> Option<Joined> {
    if let Some((step, _)) = crate::script::opening::subscription(items) {
        return Some(Joined::After(step.place));
    }
    let all = crate::script::opening::walk(items);
    let joins = |step: &&Node| {
        let acknowledged =
            step.get("acknowledge").or_else(|| step.get("emit").and_then(|emit| emit.get("acknowledge")));
        acknowledged.is_some() && channel(step).is_some_and(|channel| channel.to_lowercase().contains("join"))
    };
    if let Some(step) = all.iter().copied().find(|step| joins(step)) {
        return Some(Joined::After(step.place));
    }
    if let Some(step) = all.iter().find(|step| step.get("connect").is_some()) {
        return Some(Joined::After(step.place));
    }
    match opening {
        Opening::Before(_) | Opening::AtEnd => Some(Joined::AfterOpening),
        Opening::Lazy => all
            .iter()
            .find(|step| crate::script::opening::is_realtime(step))
            .map(|step| Joined::After(step.place)),
        Opening::Explicit | Opening::None => {
            let what = "this scenario has a room but no connection through which copies could arrive";
            let hint =
                "subscribe to it (`subscribe: \"{{ room }}\"`), or set `engine: ws` or `engine: socketio`";
            reader.problem(place, what, Some(hint.into()));
            None
        }
    }
}

/// The step a room names.
fn marked(
    reader: &mut Reader,
    own: &Fields<'_>,
    key: &'static str,
    items: &[Node],
    opening: Opening,
) -> Option<Joined> {
    let wanted = reader.text(own, key)?;
    let all = crate::script::opening::walk(items);
    let fits = |step: &&Node| {
        step_name(step) == Some(wanted.as_str())
            || channel(step) == Some(wanted.as_str())
            || (wanted == "connect" && step.get("connect").is_some())
    };
    if let Some(step) = all.iter().copied().find(|step| fits(step)) {
        return Some(Joined::After(step.place));
    }
    if wanted == "connect" && key == "joinedAfter" && matches!(opening, Opening::Before(_) | Opening::AtEnd) {
        return Some(Joined::AfterOpening);
    }
    let known: Vec<&str> = all.iter().flat_map(|step| [step_name(step), channel(step)]).flatten().collect();
    let hint = match nearest(&wanted, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if known.is_empty() => "give the step a `name`".to_owned(),
        None => format!("steps with a name or channel: {}", known.join(", ")),
    };
    let place = own.get(key).map_or(own.place, |node| node.place);
    reader.problem(place, format!("{key}: no step of this flow is called \"{wanted}\""), Some(hint));
    None
}

/// The name a step was given, beside its verb or inside its request.
fn step_name(step: &Node) -> Option<&str> {
    let own = step.get("name").and_then(Node::as_text);
    own.or_else(|| step.entries().iter().find_map(|entry| entry.value.get("name").and_then(Node::as_text)))
}

/// The channel of an emit.
fn channel(step: &Node) -> Option<&str> {
    let emit = step.get("emit")?;
    match &emit.kind {
        Kind::List(items) => items.first().and_then(Node::as_text),
        _ => emit.get("channel").and_then(Node::as_text),
    }
}

/// A `before` or `after` flow.
pub(crate) fn fixed_flow(
    reader: &mut Reader,
    script: &Fields<'_>,
    key: &'static str,
    settings: &Settings,
) -> Vec<Step> {
    let Some(fields) = reader.section(script, key, &schema::FIXED_FLOW) else { return Vec::new() };
    reader.remark(&fields, "name");
    let items = reader.list(&fields, "flow", false);
    let engine = match fields.get("engine") {
        Some(_) => named_engine(reader, &fields, "engine"),
        None => Some(Engine::Http),
    };
    let Some(engine) = engine else {
        // Nobody can say what its steps would have set.
        reader.names.may_be_anything();
        return Vec::new();
    };
    let options =
        if engine == Engine::SocketioV3 { settings.socketio_v3.clone() } else { settings.socketio.clone() };
    let block = settings.blocks.of(engine).clone();
    let mut flow = Flow::new(engine, settings, options, block, Opening::of(engine, items), None, items);
    flow.around = functions::around(reader, &fields);
    let mut compiled = functions::calls(reader, &fields, "beforeScenario");
    steps(reader, &mut flow, items, &mut compiled, true);
    compiled.extend(functions::calls(reader, &fields, "afterScenario"));
    for place in reader.names.take_stamps() {
        reader.problem(
            place,
            format!("`{key}` runs once and joins no room: nothing in it can be stamped"),
            None,
        );
    }
    if key == "before" {
        for name in reader.names.shadowed() {
            let text = format!(
                "what it sets as \"{name}\" no user sees: `config.variables` or a payload wins, as in Artillery"
            );
            reader.notice(fields.place, text);
        }
    }
    let unset = reader.names.end_flow(key == "before");
    reader.unset(unset);
    compiled
}
