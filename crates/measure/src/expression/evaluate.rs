//! The value of an expression, by JavaScript's rules.

use regex::Regex;
use std::cmp::Ordering;

use super::value::{Value, boolean};
use super::{Expression, Operator, Routine};

/// Where the values of an expression come from.
pub trait Lookup<N> {
    /// The value of a name; [`Value::Undefined`] if nothing has been set.
    fn value(&mut self, name: &N) -> Value;
    /// A number from 0 up to 1.
    fn random(&mut self) -> f64;
}

/// A pattern that only the run knows is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a regular expression: `{0}`")]
pub struct PatternError(pub String);

impl<N> Expression<N> {
    /// Evaluates it.
    ///
    /// # Errors
    /// A pattern taken from a value cannot be read.
    pub fn evaluate(&self, known: &mut dyn Lookup<N>) -> Result<Value, PatternError> {
        Ok(match self {
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Name(name) => known.value(name),
            Expression::Member(name, of) => of.evaluate(known)?.member(name),
            Expression::List(items) => {
                Value::List(items.iter().map(|item| item.evaluate(known)).collect::<Result<_, _>>()?)
            }
            Expression::Not(inner) => boolean(!inner.evaluate(known)?.is_truthy()),
            Expression::Negative(inner) => Value::Number(-inner.evaluate(known)?.number()),
            Expression::Binary(operator, pair) => binary(*operator, pair, known)?,
            Expression::Matches(text, pattern) => boolean(pattern.is_match(&text.evaluate(known)?.text())),
            Expression::Choice(choice) => {
                let [condition, yes, no] = &**choice;
                let chosen = if condition.evaluate(known)?.is_truthy() { yes } else { no };
                chosen.evaluate(known)?
            }
            Expression::Call(routine, arguments) => {
                let number = |argument: &Expression<N>| Ok(argument.evaluate(known)?.number());
                let arguments = arguments.iter().map(number).collect::<Result<Vec<f64>, _>>()?;
                Value::Number(routine(&arguments, &mut || known.random()))
            }
        })
    }
}

fn binary<N>(
    operator: Operator,
    [left, right]: &[Expression<N>; 2],
    known: &mut dyn Lookup<N>,
) -> Result<Value, PatternError> {
    let left = left.evaluate(known)?;
    // Where the first one decides, the second one is not evaluated.
    match operator {
        Operator::Or if left.is_truthy() => return Ok(Value::Number(left.number())),
        Operator::And if !left.is_truthy() => return Ok(Value::Number(left.number())),
        _ => {}
    }
    let right = right.evaluate(known)?;
    Ok(match operator {
        Operator::Or | Operator::And => Value::Number(right.number()),
        Operator::In => boolean(left.is_among(&right)),
        Operator::NotIn => boolean(!left.is_among(&right)),
        Operator::Matches => boolean(pattern(&right)?.is_match(&left.text())),
        Operator::Add => left.plus(&right),
        Operator::Subtract => Value::Number(left.number() - right.number()),
        Operator::Multiply => Value::Number(left.number() * right.number()),
        Operator::Divide => Value::Number(left.number() / right.number()),
        Operator::Modulo => Value::Number(left.number() % right.number()),
        Operator::Power => Value::Number(power(left.number(), right.number())),
        comparison => boolean(comparison.compares(&left, &right)),
    })
}

impl Operator {
    /// Whether two values compare so; false of an operator that compares nothing.
    pub(crate) fn compares(self, left: &Value, right: &Value) -> bool {
        let order = || left.compare(right);
        match self {
            Operator::Equal => left.equals(right),
            Operator::NotEqual => !left.equals(right),
            Operator::Less => order() == Some(Ordering::Less),
            Operator::Greater => order() == Some(Ordering::Greater),
            Operator::LessEqual => order().is_some_and(Ordering::is_le),
            Operator::GreaterEqual => order().is_some_and(Ordering::is_ge),
            _ => false,
        }
    }
}

fn pattern(value: &Value) -> Result<Regex, PatternError> {
    let text = if *value == Value::Undefined { String::new() } else { value.text() };
    Regex::new(&text).map_err(|_| PatternError(text))
}

/// The functions that expressions may call, in alphabetical order. Those of one number look at the first.
pub(super) const ROUTINES: [(&str, Routine); 9] = [
    ("abs", |given, _| first(given).abs()),
    ("ceil", |given, _| first(given).ceil()),
    ("floor", |given, _| first(given).floor()),
    // Of base e.
    ("log", |given, _| first(given).ln()),
    ("max", |given, _| most(given, f64::max, f64::NEG_INFINITY)),
    ("min", |given, _| most(given, f64::min, f64::INFINITY)),
    ("random", |_, random| random()),
    ("round", |given, _| round(first(given))),
    ("sqrt", |given, _| first(given).sqrt()),
];

fn first(given: &[f64]) -> f64 {
    given.first().copied().unwrap_or(f64::NAN)
}

/// NaN as soon as one of them is.
fn most(given: &[f64], better: fn(f64, f64) -> f64, none: f64) -> f64 {
    let or_nan = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { better(a, b) };
    given.iter().copied().fold(none, or_nan)
}

/// Halves go up. Adding a half first would round 0.49999999999999994 to 1.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// In JavaScript 1 to the power of NaN or infinity is NaN.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}
