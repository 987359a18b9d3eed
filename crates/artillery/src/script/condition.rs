//! Conditions: `ifTrue`, `whileTrue`, `probability`.

use crate::plan::{Condition, Expression, Formula, Step};
use serde_json::Value;
use sonagi_measure::expression::Foreign;

use crate::script::called::called;
use crate::script::formula::{self, Parsed};
use crate::script::reader::{Fields, Reader};
use crate::script::yaml::{Kind, Node};

/// A condition: an expression over variables, a template, or the name of a function.
pub(crate) fn condition(reader: &mut Reader, fields: &Fields<'_>, key: &'static str) -> Option<Condition> {
    let node = fields.get(key)?;
    match &node.kind {
        Kind::Bool(value) => Some(Condition::Holds(Expression::Constant(Value::Bool(*value)))),
        Kind::Text { text, .. } if text.contains("{{") => reader.expression(node).map(Condition::Holds),
        Kind::Text { text, .. } if reader.functions.has_module() && may_be_function(reader, text) => {
            if key == "whileTrue" {
                called(reader, node, text);
                return Some(Condition::Function(text.clone()));
            }
            Some(Condition::Named(text.clone()))
        }
        Kind::Text { text, .. } => formula(reader, node, text),
        _ => {
            reader.wrong(fields, key, node);
            None
        }
    }
}

/// A name that no step sets: a function's, or a variable that a function sets.
fn may_be_function(reader: &Reader, text: &str) -> bool {
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    is_name
        && !text.starts_with(|c: char| c == '$' || c.is_ascii_digit())
        && !matches!(text, "true" | "false")
        && !reader.names.is_declared(text)
}

fn formula(reader: &mut Reader, node: &Node, text: &str) -> Option<Condition> {
    let mut uses = Vec::new();
    let parsed =
        formula::parse(text, &reader.constants, &mut |name, offset| uses.push((name.to_owned(), offset)));
    for (name, offset) in uses {
        reader.names.used_in_condition(name, node.place_at(offset));
    }
    match parsed {
        Ok(Parsed { formula, has_truths, reaches_in, foreign }) => {
            if let Some(Foreign { offset, written, means }) = foreign {
                let what = format!("conditions have no `{written}`");
                let outcome =
                    format!("read as `{means}`; Artillery cannot read the condition and takes it for true");
                let hint = Some(format!("write `{means}`"));
                reader.tolerable(node.place_at(offset), what, hint, &outcome);
            }
            if has_truths {
                let text = "true and false in a condition are what they say; Artillery looks for variables of that \
                            name";
                reader.notice(node.place, text);
            }
            if reaches_in {
                let text = "a dot in a condition reaches into a variable here; Artillery looks for a variable of the \
                            whole name, and finds none";
                reader.notice(node.place, text);
            }
            Some(match formula {
                Formula::Name(expression) => Condition::Holds(expression),
                formula => Condition::Formula(Box::new(formula)),
            })
        }
        Err(error) => {
            reader.problem(node.place_at(error.offset), error.what, error.hint);
            None
        }
    }
}

/// A variable by its bare name or as a template.
pub(crate) fn variable(reader: &mut Reader, node: &Node) -> Option<Expression> {
    let text = node.as_text()?;
    if text.contains("{{") {
        return reader.expression(node);
    }
    match formula(reader, node, text)? {
        Condition::Holds(expression) => Some(expression),
        _ => {
            let hint = "write its name, or a list: `over: [red, blue]`".to_owned();
            reader.problem(node.place, format!("a loop goes over a list; `{text}` is none"), Some(hint));
            None
        }
    }
}

/// Wraps steps that only some users do, or only sometimes.
pub(crate) fn guarded(reader: &mut Reader, fields: &Fields<'_>, steps: Vec<Step>) -> Vec<Step> {
    let condition = fields.get("ifTrue").and_then(|_| condition(reader, fields, "ifTrue"));
    let chance = fields.area.key("probability").is_some();
    let probability = if chance { reader.number(fields, "probability") } else { None };
    if let Some(percent) = probability.filter(|percent| *percent > 100.0) {
        let place = fields.place_of("probability");
        reader.problem(place, format!("probability is a percentage, 0 to 100; got {percent}"), None);
    }
    if condition.is_none() && probability.is_none() {
        return steps;
    }
    vec![Step::When { condition, probability: probability.map_or(1.0, |percent| percent / 100.0), steps }]
}
