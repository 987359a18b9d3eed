//! Conditions of scripts, `kind == "guest" and tries < 3`: expressions whose names are a user's variables.
//!
//! The language is that of [`sonagi_measure::expression`]. What filtrex cannot read Artillery takes for true; it is a
//! mistake here.

use crate::plan::template::Piece;
use crate::plan::{Expression, Formula};
use serde_json::Value;
use sonagi_measure::expression::{self, Foreign, NameToken, Resolve, SyntaxError};

use crate::script::template::{self, Constants};

/// A condition, and what its author should know about it.
pub(crate) struct Parsed {
    pub(crate) formula: Formula,
    /// Whether it contains `true` or `false`, which are variables to Artillery.
    pub(crate) has_truths: bool,
    /// Whether it has a path into a variable, where Artillery looks for a variable with the whole path as its name.
    pub(crate) reaches_in: bool,
    /// A sign of JavaScript's in it, which Artillery does not read.
    pub(crate) foreign: Option<Foreign>,
}

/// Reads a condition. `seen` hears of every variable with its offset, also when something is wrong.
pub(crate) fn parse(
    text: &str,
    constants: &Constants,
    seen: &mut dyn FnMut(&str, usize),
) -> Result<Parsed, SyntaxError> {
    let mut variables = Variables { constants, seen, has_truths: false, reaches_in: false };
    let expression::Parsed { expression: formula, foreign } = expression::parse(text, &mut variables)?;
    let Variables { has_truths, reaches_in, .. } = variables;
    Ok(Parsed { formula, has_truths, reaches_in, foreign })
}

/// Resolves names as templates do.
struct Variables<'p> {
    constants: &'p Constants,
    seen: &'p mut dyn FnMut(&str, usize),
    has_truths: bool,
    reaches_in: bool,
}

impl Resolve for Variables<'_> {
    type Name = Expression;

    fn resolve(&mut self, name: NameToken<'_>) -> Result<Formula, SyntaxError> {
        let NameToken { text, is_quoted, offset } = name;
        if is_quoted {
            (self.seen)(text, offset);
            return Ok(Formula::Name(Expression::Path { variable: text.to_owned(), keys: Vec::new() }));
        }
        if let "true" | "false" = text {
            self.has_truths = true;
            return Ok(Formula::Name(Expression::Constant(Value::Bool(text == "true"))));
        }
        if !text.is_ascii() {
            let hint = Some(format!("write it in single quotes: '{text}'"));
            let what = format!("Artillery reads no name with other letters than a to z: `{text}`");
            return Err(SyntaxError { offset, what, hint });
        }
        // The two braces stand before the name: places inside shift back by them.
        let seen = &mut *self.seen;
        let parsed = template::parse(&format!("{{{{{text}}}}}"), self.constants, &mut |name, at| {
            seen(name, offset + at.saturating_sub(2));
        });
        let template = parsed.map_err(|faults| match faults.into_iter().next() {
            Some(first) => SyntaxError {
                offset: offset + first.offset.saturating_sub(2),
                what: first.what,
                hint: first.hint,
            },
            None => {
                SyntaxError { offset, what: format!("`{text}` is not a valid variable name"), hint: None }
            }
        })?;
        Ok(match template.pieces.into_iter().next() {
            Some(Piece::Hole(hole)) => {
                self.reaches_in |= matches!(&hole, Expression::Path { keys, .. } if !keys.is_empty());
                Formula::Name(hole)
            }
            Some(Piece::Text(text)) => Formula::Text(text),
            None => Formula::Text(String::new()),
        })
    }
}

#[cfg(test)]
mod tests;
