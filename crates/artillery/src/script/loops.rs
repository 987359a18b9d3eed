//! Loops, conditions and chances: what decides how often a step is done.

use crate::plan::{Expression, Function, Loop, Pace, Parallel, Repeat, Step, ValueTemplate};
use serde_json::Value;

use crate::script::condition::{condition, guarded, variable};
use crate::script::context::Flow;
use crate::script::flow::steps;
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Kind, Node};

pub(crate) fn repeat(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    let items = reader.list(fields, verb, false);
    reader.remark(fields, "name");
    nested(reader, flow, fields)?;
    let pace = pace(reader, fields);
    let over = fields.get("over");
    let how = how_often(reader, flow, fields);
    let mut body = Vec::new();
    for (key, function) in [("loopValue", Function::LoopCount), ("loopElement", Function::LoopElement)] {
        let Some(name) = reader.text(fields, key) else { continue };
        reader.constants.note(&name);
        reader.names.declare(&name);
        body.push(Step::Set { name, value: Expression::Call { function, arguments: Vec::new() } });
    }
    reader.names.enter_loop(over.is_some(), fields.get("loopValue").is_some());
    steps(reader, flow, items, &mut body, false);
    if reader.names.leave_loop() {
        let text = "$loopCount counts this loop's turns here; in Artillery it goes on from where the loop inside it \
                    has ended";
        reader.notice(fields.place_of(verb), text);
    }
    flow.depth -= 1;
    if fields.get(verb).is_some_and(|node| matches!(&node.kind, Kind::List(items) if items.is_empty())) {
        reader.problem(
            fields.place_of(verb),
            "the loop is empty",
            Some("put a list of steps under `loop:`".into()),
        );
    }
    Some(guarded(reader, fields, vec![Step::Loop(Loop { body, repeat: how?, pace })]))
}

/// When iterations are due, if the script says so.
fn pace(reader: &mut Reader, fields: &Fields<'_>) -> Option<Pace> {
    let every = reader.interval(fields, "pace");
    let phase = reader.duration(fields, "phase");
    let node = fields.get("phase");
    if let (Some(node), None) = (node, fields.get("pace")) {
        reader.notice(node.place, "phase: no effect without pace");
    }
    if let (Some(node), Some(every), Some(phase)) = (node, every, phase)
        && phase >= every
        && !phase.is_zero()
    {
        let what = "the phase of a loop is shorter than its pace";
        reader.problem(node.place, what, Some("leave it out for a random one, or write `phase: 0`".into()));
    }
    Some(Pace { every: every?, phase })
}

fn how_often(reader: &mut Reader, flow: &Flow<'_>, fields: &Fields<'_>) -> Option<Repeat> {
    let over = fields.get("over");
    if let (Some(_), Some(_)) = (over, fields.get("whileTrue")) {
        let what = "a loop goes over a list or on while something is true; this one has over and whileTrue";
        let hint = "guard its steps with `ifTrue`".to_owned();
        reader.problem(fields.place_of("whileTrue"), what, Some(hint));
        return None;
    }
    let decides = ["over", "whileTrue"].into_iter().find(|key| fields.get(key).is_some());
    if let (Some(other), Some(count)) = (decides, fields.get("count")) {
        reader.notice(count.place, format!("count: no effect beside {other}"));
    }
    match (over, decides, fields.get("count")) {
        (Some(node), _, _) => over_what(reader, fields, node),
        (None, Some(_), _) => {
            reader.names.enter_loop(false, true);
            let condition = condition(reader, fields, "whileTrue");
            reader.names.leave_loop();
            condition.map(Repeat::While)
        }
        (None, None, Some(node)) => count(reader, fields, node),
        (None, None, None) => {
            // A closed model's user has a time, and leaves the loop with it.
            if !flow.settings.is_closed {
                let text = "a loop without count, over or whileTrue goes on until the run is stopped";
                reader.notice(fields.place_of("loop"), text);
            }
            Some(Repeat::Forever)
        }
    }
}

fn over_what(reader: &mut Reader, fields: &Fields<'_>, node: &Node) -> Option<Repeat> {
    match &node.kind {
        Kind::List(_) => Some(match reader.value(node)? {
            ValueTemplate::Constant(list) => Repeat::Over(Expression::Constant(list)),
            list => Repeat::OverList(list),
        }),
        Kind::Text { .. } => variable(reader, node).map(Repeat::Over),
        _ => {
            reader.wrong(fields, "over", node);
            None
        }
    }
}

fn count(reader: &mut Reader, fields: &Fields<'_>, node: &Node) -> Option<Repeat> {
    let text = match &node.kind {
        // Written as a number, 0 is no count; the value of a template may be 0.
        Kind::Number(number) if matches!(number.as_i64(), Some(0 | -1)) => return Some(Repeat::Forever),
        Kind::Text { text, .. } if text.contains("{{") => match reader.expression(node)? {
            Expression::Constant(Value::String(text)) => text,
            expression => return Some(Repeat::CountOf(expression)),
        },
        Kind::Text { text, .. } => text.clone(),
        Kind::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let found = range(&text);
    match found {
        None => reader.wrong(fields, "count", node),
        Some(Repeat::Count { from, to }) if from >= to => {
            let hint = match from {
                0 => "write `count: 0`, as a number, for a loop without end".to_owned(),
                _ => format!("a range ends before its second number: \"{from}-{}\" is one turn", from + 1),
            };
            reader.problem(node.place, format!("count: {text:?} is no turn at all"), Some(hint));
        }
        Some(_) => {}
    }
    found
}

/// `10`, `"9-12"`.
fn range(text: &str) -> Option<Repeat> {
    let text = text.trim();
    if text == "-1" {
        return Some(Repeat::Forever);
    }
    let (from, to) = text.split_once('-').unwrap_or(("0", text));
    Some(Repeat::Count { from: from.trim().parse().ok()?, to: to.trim().parse().ok()? })
}

/// Steps of a user at the same time.
pub(crate) fn parallel(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    /// Artillery's.
    const USUAL_LIMIT: usize = 100;
    let items = reader.list(fields, verb, false);
    reader.remark(fields, "name");
    let limit = match reader.whole(fields, "limit") {
        Some(0) => {
            let hint = Some("1 is one after the other; leave it out for all at once".to_owned());
            reader.problem(fields.place_of("limit"), "limit: 0 lets no step begin", hint);
            None
        }
        Some(limit) => usize::try_from(limit).ok(),
        None => None,
    };
    if items.is_empty() && fields.get(verb).is_some_and(|node| matches!(node.kind, Kind::List(_))) {
        let hint = Some("put a list of steps under `parallel:`".to_owned());
        reader.problem(fields.place_of(verb), "nothing is to be done in parallel", hint);
    }
    if flow.settings.http.pool.is_none() {
        let text = "parallel: requests of one user are under way at the same time here; Artillery sends them one after \
                    the other unless `http.pool` is set";
        reader.notice(fields.place_of(verb), text);
    }
    nested(reader, flow, fields)?;
    let mut branches = Vec::new();
    for item in items {
        let shared = crate::script::opening::walk(std::slice::from_ref(item));
        if let Some(step) = shared.into_iter().find(|step| crate::script::opening::needs_connection(step)) {
            let verb = step.entries().first().map_or("", |entry| entry.key.as_str());
            let what = format!("a user has one connection, which steps in parallel cannot share: {verb}");
            let hint = "requests, think, log, function and loop can stand in `parallel`".to_owned();
            reader.problem(step.place, what, Some(hint));
            continue;
        }
        let mut branch = Vec::new();
        steps(reader, flow, std::slice::from_ref(item), &mut branch, false);
        branches.push(branch);
    }
    flow.depth -= 1;
    let parallel = Parallel { branches, limit: limit.unwrap_or(USUAL_LIMIT) };
    Some(guarded(reader, fields, vec![Step::Parallel(parallel)]))
}

/// The flow one level deeper, unless that is too deep.
fn nested(reader: &mut Reader, flow: &mut Flow<'_>, fields: &Fields<'_>) -> Option<()> {
    const DEEPEST: usize = 20;
    if flow.depth == DEEPEST {
        reader.problem(fields.place, format!("loops are nested deeper than {DEEPEST}"), None);
        return None;
    }
    flow.depth += 1;
    Some(())
}
