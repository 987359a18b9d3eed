//! Loops, conditions and chances: what decides how often a step is done.

use serde_json::Value;
use sonagi_engine::plan::template::Piece;
use sonagi_engine::plan::{Condition, Expression, Function, Loop, Repeat, Step};

use crate::flow::{Flow, steps};
use crate::functions;
use crate::reader::{Fields, Reader};
use crate::yaml::{Kind, Node};

pub(crate) fn repeat(
    reader: &mut Reader,
    flow: &mut Flow<'_>,
    fields: &Fields<'_>,
    verb: &'static str,
) -> Option<Vec<Step>> {
    const DEEPEST: usize = 20;
    let items = reader.list(fields, verb, false);
    if flow.depth == DEEPEST {
        reader.problem(fields.place, format!("loops are nested deeper than {DEEPEST}"), None);
        return None;
    }
    let pace = reader.duration(fields, "pace");
    let over = fields.get("over");
    let how = how_often(reader, flow, fields);
    let mut body = Vec::new();
    for (key, function) in [("loopValue", Function::LoopCount), ("loopElement", Function::LoopElement)] {
        let Some(name) = reader.text(fields, key) else { continue };
        let name = name.trim_start_matches('$').to_owned();
        reader.names.declare(&name);
        body.push(Step::Set { name, value: Expression::Call { function, arguments: Vec::new() } });
    }
    if over.is_some() {
        // So that paths reach into the element: `{{ $loopElement.id }}`.
        let value = Expression::Call { function: Function::LoopElement, arguments: Vec::new() };
        body.push(Step::Set { name: "$loopElement".into(), value });
    }
    flow.depth += 1;
    reader.names.enter_loop(over.is_some());
    steps(reader, flow, items, &mut body, false);
    reader.names.leave_loop();
    flow.depth -= 1;
    if items.is_empty() {
        reader.problem(
            fields.place_of(verb),
            "the loop is empty",
            Some("put a list of steps under `loop:`".into()),
        );
    }
    Some(vec![Step::Loop(Loop { body, repeat: how?, pace })])
}

fn how_often(reader: &mut Reader, flow: &Flow<'_>, fields: &Fields<'_>) -> Option<Repeat> {
    let given: Vec<&str> =
        ["count", "over", "whileTrue"].into_iter().filter(|key| fields.get(key).is_some()).collect();
    if let [first, second, ..] = given.as_slice() {
        let what = format!("a loop has one of count, over and whileTrue; this one has {first} and {second}");
        reader.problem(fields.place_of(second), what, None);
        return None;
    }
    match given.first() {
        None => {
            // A closed model's user has a time, and leaves the loop with it.
            if !flow.settings.is_closed {
                let text = "a loop without count, over or whileTrue goes on until the run is stopped";
                reader.notice(fields.place_of("loop"), text);
            }
            Some(Repeat::Forever)
        }
        Some(&"count") => count(reader, fields, fields.get("count")?),
        Some(&"over") => {
            let node = fields.get("over")?;
            Some(Repeat::Over(match &node.kind {
                Kind::List(_) => Expression::Constant(node.to_value()),
                Kind::Text { .. } => variable(reader, node)?,
                _ => {
                    reader.wrong(fields, "over", node);
                    return None;
                }
            }))
        }
        Some(_) => Some(Repeat::While(condition(reader, fields, "whileTrue")?)),
    }
}

fn count(reader: &mut Reader, fields: &Fields<'_>, node: &Node) -> Option<Repeat> {
    let text = match &node.kind {
        Kind::Text { text, .. } if text.contains("{{") => {
            return match reader.expression(node)? {
                Expression::Constant(Value::String(text)) => range(&text),
                expression => Some(Repeat::CountOf(expression)),
            };
        }
        Kind::Text { text, .. } => text.clone(),
        Kind::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let found = range(&text);
    if found.is_none() {
        reader.wrong(fields, "count", node);
    }
    found
}

/// `10`, `"9-12"`; 0 is for ever.
fn range(text: &str) -> Option<Repeat> {
    if text == "-1" {
        return Some(Repeat::Forever);
    }
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most): (u64, u64) = (least.trim().parse().ok()?, most.trim().parse().ok()?);
    match (least, most) {
        (0, 0) => Some(Repeat::Forever),
        _ if least <= most => Some(Repeat::Count { least, most }),
        _ => None,
    }
}

/// A condition: one variable, as a name or a template; or, with a processor, a name that no step sets: a function.
pub(crate) fn condition(reader: &mut Reader, fields: &Fields<'_>, key: &'static str) -> Option<Condition> {
    let node = fields.get(key)?;
    match &node.kind {
        Kind::Bool(value) => Some(Condition::Holds(Expression::Constant(Value::Bool(*value)))),
        Kind::Text { text, .. } if reader.functions.has_module() && !reader.names.is_declared(text) => {
            let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            if !is_name || text.starts_with('$') {
                return variable(reader, node).map(Condition::Holds);
            }
            functions::called(reader, node, text);
            Some(Condition::Function(text.clone()))
        }
        Kind::Text { .. } => variable(reader, node).map(Condition::Holds),
        _ => {
            reader.wrong(fields, key, node);
            None
        }
    }
}

/// A variable by its bare name or as a template.
fn variable(reader: &mut Reader, node: &Node) -> Option<Expression> {
    let text = node.as_text()?;
    if text.contains("{{") {
        return reader.expression(node);
    }
    let wrapped = format!("{{{{{text}}}}}");
    // The two braces stand before the name: places inside shift back by them.
    let mut uses = Vec::new();
    match crate::template::parse(&wrapped, &reader.constants, &mut |name, offset| {
        uses.push((name.to_owned(), offset));
    }) {
        Ok(template) => {
            for (name, offset) in uses {
                reader.names.used(name, node.place_at(offset.saturating_sub(2)));
            }
            match template.pieces.into_iter().next() {
                Some(Piece::Hole(hole)) => Some(hole),
                Some(Piece::Text(text)) => Some(Expression::Constant(Value::from(text))),
                None => Some(Expression::Constant(Value::from(""))),
            }
        }
        Err(_) => {
            let what = format!("`{text}` is no variable; a condition is one variable, and no expression");
            let hint = "capture or load the value so that it is true or false by itself";
            reader.problem(node.place, what, Some(hint.into()));
            None
        }
    }
}

/// Wraps steps that only some users do, or only sometimes.
pub(crate) fn guarded(reader: &mut Reader, fields: &Fields<'_>, steps: Vec<Step>) -> Vec<Step> {
    let condition = fields.get("ifTrue").and_then(|_| condition(reader, fields, "ifTrue"));
    let probability = reader.number(fields, "probability");
    if let Some(percent) = probability.filter(|percent| *percent > 100.0) {
        let place = fields.place_of("probability");
        reader.problem(place, format!("probability is a percentage, 0 to 100; got {percent}"), None);
    }
    if condition.is_none() && probability.is_none() {
        return steps;
    }
    vec![Step::When { condition, probability: probability.map_or(1.0, |percent| percent / 100.0), steps }]
}
