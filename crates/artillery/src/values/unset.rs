//! The treatment of variables without a value.
//!
//! A front end that sees every variable demands values ([`crate::plan::Plan::unset_fails`]). Where functions may set
//! any name it cannot, and users go on as JavaScript would: `undefined` in a text, nothing in an object. What was
//! missing is told once.

use serde_json::Value;
use sonagi_measure::expression::{self, Lookup};

use super::{Unfilled, Values};
use crate::plan::template::Piece;
use crate::plan::{Expression, Template};
use sonagi_transport::link::is_truthy;

/// Stands in JSON where nothing is to stand: no script writes it.
const NOTHING: &str = "\u{0}nothing\u{0}";

impl Values {
    /// Whether an expression is a variable without a value that is nothing then. Noted, to be told.
    pub(super) fn is_nothing(&mut self, expression: &Expression) -> bool {
        let Expression::Path { variable, keys } = expression else { return false };
        let plan = &self.common.plan;
        // A variable that nothing can set was reported before the run.
        let is_known = plan.undefined.contains(variable);
        if plan.unset_fails && !is_known {
            return false;
        }
        let is_nothing = self.resolved(keys).is_ok_and(|keys| self.at(variable, &keys).is_err());
        if is_nothing && !is_known {
            let seldom = self.seldom.get_or_insert_default();
            seldom.unset.get_or_insert_with(|| variable.as_str().into());
        }
        is_nothing
    }

    /// Writes a value into a text; `undefined` for one that is nothing.
    pub(super) fn append_path(&mut self, expression: &Expression, out: &mut String) -> Result<(), Unfilled> {
        let Expression::Path { variable, keys } = expression else { return Ok(()) };
        let keys = self.resolved(keys)?;
        if let Ok(value) = self.at(variable, &keys) {
            super::append_value(&value, out);
            return Ok(());
        }
        if self.is_nothing(expression) {
            out.push_str("undefined");
            return Ok(());
        }
        self.at(variable, &keys).map(|_| ())
    }

    /// Writes a whole value into JSON; true when there is nothing to write and a mark stands in its place.
    pub(super) fn append_whole(&mut self, hole: &Expression, out: &mut String) -> Result<bool, Unfilled> {
        match self.value(hole) {
            Ok(value) => out.push_str(&value.to_string()),
            Err(_) if self.is_nothing(hole) => {
                out.push_str(&Value::from(NOTHING).to_string());
                return Ok(true);
            }
            Err(unfilled) => return Err(unfilled),
        }
        Ok(false)
    }

    /// Whether a text is nothing at all: one hole, and its variable has no value.
    pub(super) fn is_unset(&mut self, template: &Template) -> bool {
        matches!(template.pieces.as_slice(), [Piece::Hole(hole)] if self.is_nothing(hole))
    }

    /// Text with its holes filled; None when it is nothing at all.
    pub(crate) fn given(&mut self, template: &Template) -> Result<Option<String>, Unfilled> {
        if self.is_unset(template) { Ok(None) } else { self.text(template).map(Some) }
    }

    /// The value of an expression, if it has one.
    pub(crate) fn known(&mut self, expression: &Expression) -> Option<Value> {
        self.value(expression).ok()
    }

    /// A variable that had no value since this was asked last.
    pub(crate) fn take_unset(&mut self) -> Option<Box<str>> {
        self.seldom.as_mut()?.unset.take()
    }

    /// Whether a variable has a value that holds.
    pub(crate) fn is_set_and_true(&self, name: &str) -> bool {
        self.find(name).is_some_and(|value| is_truthy(&value))
    }
}

impl Lookup<Expression> for Values {
    fn value(&mut self, expression: &Expression) -> expression::Value {
        self.known(expression).map_or(expression::Value::Undefined, expression::Value::from)
    }

    fn random(&mut self) -> f64 {
        self.rng.f64()
    }
}

/// JSON without what is nothing: members of objects go, elements of lists become null, and nothing by itself stays
/// nothing.
pub(super) fn without_nothing(json: &str) -> String {
    let mut value = serde_json::from_str(json).unwrap_or(Value::Null);
    clear(&mut value);
    if is_mark(&value) { String::new() } else { value.to_string() }
}

fn is_mark(value: &Value) -> bool {
    value.as_str() == Some(NOTHING)
}

fn clear(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !is_mark(member));
            members.values_mut().for_each(clear);
        }
        Value::Array(items) => {
            for item in items {
                if is_mark(item) {
                    *item = Value::Null;
                }
                clear(item);
            }
        }
        _ => {}
    }
}
