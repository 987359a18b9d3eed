//! Expressions of thresholds and conditions: `delivery.latency_ms.p99 < 250`, `kind == "guest" and tries < 3`.
//!
//! One language for thresholds and for conditions of steps: filtrex 2's, with its order of binding and JavaScript's
//! idea of truth, equality and order. Where it is odd (`not` binds closer than `==`, a comparison is 1 or 0), so are
//! we: what an expression decides must not change between tools. A test holds this module against the npm package
//! itself.
//!
//! The caller defines the names ([`Resolve`]): a metric of a run, a variable of a user. Names are resolved while the
//! expression is read, so that an unknown one has a position, and evaluation reads no text.
//!
//! Beyond filtrex: `&&`, `||`, `!`, `===` and `!==` are read (the first of them is reported, [`Parsed::foreign`]),
//! `and(`, `not(` and the like need no blank, numbers may be `.5` or `1e3`, and names may have letters of any language.
//! Unlike there, a list or object is never equal to another one, not even to itself.

mod evaluate;
mod parser;
mod tokens;
mod value;

use regex::Regex;

pub use evaluate::{Lookup, PatternError};
pub use parser::{NameToken, Parsed, Resolve, parse};
pub use tokens::Foreign;
pub(crate) use tokens::is_part_of_name;
pub use value::{Value, number_text};

/// An expression whose names stand for values of type `N`.
#[derive(Clone, Debug)]
pub enum Expression<N> {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// The value of a name; undefined if it has none.
    Name(N),
    /// A member of an object, list or text.
    Member(String, Box<Expression<N>>),
    /// Several values.
    List(Vec<Expression<N>>),
    /// 1 where it does not hold, else 0.
    Not(Box<Expression<N>>),
    /// The number with the other sign.
    Negative(Box<Expression<N>>),
    /// Made of two values.
    Binary(Operator, Box<[Expression<N>; 2]>),
    /// Whether the text matches a pattern known before the run.
    Matches(Box<Expression<N>>, Regex),
    /// The second where the first holds, else the third.
    Choice(Box<[Expression<N>; 3]>),
    /// The result of a function.
    Call(Routine, Vec<Expression<N>>),
}

/// Operators between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `a or b`, as a number.
    Or,
    /// `a and b`, as a number.
    And,
    /// Whether all of a are among b.
    In,
    /// Whether not all of a are.
    NotIn,
    /// Whether they are equal, after conversion.
    Equal,
    /// Whether they are not.
    NotEqual,
    /// Whether a matches the pattern b.
    Matches,
    /// Order of texts or numbers.
    Less,
    /// Likewise.
    LessEqual,
    /// Likewise.
    Greater,
    /// Likewise.
    GreaterEqual,
    /// Sum, or texts joined.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Remainder of a division, with the sign of a.
    Modulo,
    /// Power.
    Power,
}

/// A function that expressions may call: its arguments to a number, with chance at hand, from 0 up to 1.
pub type Routine = fn(&[f64], &mut dyn FnMut() -> f64) -> f64;

/// An expression that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SyntaxError {
    /// Where, in characters from the start of the expression.
    pub offset: usize,
    /// The mistake, as a fragment.
    pub what: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl SyntaxError {
    fn new(offset: usize, what: impl Into<String>, hint: Option<&str>) -> SyntaxError {
        SyntaxError { offset, what: what.into(), hint: hint.map(str::to_owned) }
    }
}

impl<N> Expression<N> {
    /// Visits every part, outermost first.
    pub fn walk<'e>(&'e self, visit: &mut impl FnMut(&'e Expression<N>)) {
        visit(self);
        match self {
            Expression::Number(_) | Expression::Text(_) | Expression::Name(_) => {}
            Expression::Member(_, inner)
            | Expression::Not(inner)
            | Expression::Negative(inner)
            | Expression::Matches(inner, _) => inner.walk(visit),
            Expression::List(items) | Expression::Call(_, items) => {
                items.iter().for_each(|item| item.walk(visit));
            }
            Expression::Binary(_, pair) => pair.iter().for_each(|part| part.walk(visit)),
            Expression::Choice(choice) => choice.iter().for_each(|part| part.walk(visit)),
        }
    }

    /// Its names, in the order in which they stand.
    pub fn names(&self) -> Vec<&N> {
        let mut names = Vec::new();
        self.walk(&mut |part| {
            if let Expression::Name(name) = part {
                names.push(name);
            }
        });
        names
    }
}

#[cfg(test)]
mod tests;
