//! What a formula is worth, by JavaScript's rules.

use regex::Regex;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::fmt;

use super::{Formula, Operator, Routine};
use crate::plan::Expression;

/// Where a formula's values come from.
pub trait Lookup {
    /// What an expression is worth; None when nothing has been set.
    fn value(&mut self, expression: &Expression) -> Option<Value>;
    /// A number from 0 up to 1.
    fn random(&mut self) -> f64;
}

/// A value as JavaScript has it: JSON's, and what JSON has not.
#[derive(Clone, Debug, PartialEq)]
pub enum Worth {
    /// Of what has not been set.
    Undefined,
    /// JSON's.
    Null,
    /// JSON's.
    Bool(bool),
    /// JSON's, and infinities and what is no number.
    Number(f64),
    /// JSON's.
    Text(String),
    /// JSON's.
    List(Vec<Worth>),
    /// JSON's.
    Object(Map<String, Value>),
}

use Worth::{Bool, List, Null, Number, Object, Text, Undefined};

impl Formula {
    /// Whether a formula holds. One that cannot be worked out (a pattern that is none) does, as if it were not there.
    pub fn holds(&self, known: &mut dyn Lookup) -> bool {
        self.worth(known).is_none_or(|worth| worth.is_truthy())
    }

    /// What it is worth; None when that cannot be said.
    pub fn worth(&self, known: &mut dyn Lookup) -> Option<Worth> {
        Some(match self {
            Formula::Number(number) => Number(*number),
            Formula::Text(text) => Text(text.clone()),
            Formula::Value(expression) => known.value(expression).map_or(Undefined, Worth::of),
            Formula::Member(name, of) => of.worth(known)?.member(name),
            Formula::List(items) => {
                List(items.iter().map(|item| item.worth(known)).collect::<Option<Vec<_>>>()?)
            }
            Formula::Not(inner) => truth(!inner.worth(known)?.is_truthy()),
            Formula::Negative(inner) => Number(-inner.worth(known)?.number()),
            Formula::Pair(operator, pair) => of_two(*operator, pair, known)?,
            Formula::Fits(text, pattern) => truth(pattern.is_match(&text.worth(known)?.text())),
            Formula::Choice(choice) => {
                let [condition, yes, no] = &**choice;
                if condition.worth(known)?.is_truthy() { yes.worth(known)? } else { no.worth(known)? }
            }
            Formula::Call(routine, arguments) => {
                let number = |argument: &Formula| Some(argument.worth(known)?.number());
                let arguments: Option<Vec<f64>> = arguments.iter().map(number).collect();
                Number(routine.of(&arguments?, known))
            }
        })
    }
}

fn of_two(operator: Operator, [left, right]: &[Formula; 2], known: &mut dyn Lookup) -> Option<Worth> {
    let left = left.worth(known)?;
    // What the first one decides alone leaves the second one alone.
    match operator {
        Operator::Or if left.is_truthy() => return Some(Number(left.number())),
        Operator::And if !left.is_truthy() => return Some(Number(left.number())),
        _ => {}
    }
    let right = right.worth(known)?;
    Some(match operator {
        Operator::Or | Operator::And => Number(right.number()),
        Operator::In => truth(left.is_among(&right)),
        Operator::NotIn => truth(!left.is_among(&right)),
        Operator::Equal => truth(left.equals(&right)),
        Operator::Unequal => truth(!left.equals(&right)),
        Operator::Fits => truth(right.pattern()?.is_match(&left.text())),
        Operator::Less => truth(left.compare(&right) == Some(Ordering::Less)),
        Operator::Greater => truth(left.compare(&right) == Some(Ordering::Greater)),
        Operator::LessOrEqual => truth(left.compare(&right).is_some_and(Ordering::is_le)),
        Operator::GreaterOrEqual => truth(left.compare(&right).is_some_and(Ordering::is_ge)),
        Operator::Plus => left.plus(&right),
        Operator::Minus => Number(left.number() - right.number()),
        Operator::Times => Number(left.number() * right.number()),
        Operator::Over => Number(left.number() / right.number()),
        Operator::Remainder => Number(left.number() % right.number()),
        Operator::Power => Number(power(left.number(), right.number())),
    })
}

impl Routine {
    fn of(self, arguments: &[f64], known: &mut dyn Lookup) -> f64 {
        let first = arguments.first().copied().unwrap_or(f64::NAN);
        let most = |better: fn(f64, f64) -> f64, none: f64| {
            let or_nan = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { better(a, b) };
            arguments.iter().copied().fold(none, or_nan)
        };
        match self {
            Routine::Abs => first.abs(),
            Routine::Ceil => first.ceil(),
            Routine::Floor => first.floor(),
            Routine::Log => first.ln(),
            Routine::Max => most(f64::max, f64::NEG_INFINITY),
            Routine::Min => most(f64::min, f64::INFINITY),
            Routine::Random => known.random(),
            Routine::Round => (first + 0.5).floor(),
            Routine::Sqrt => first.sqrt(),
        }
    }
}

fn truth(holds: bool) -> Worth {
    Number(f64::from(u8::from(holds)))
}

/// In JavaScript 1 to the power of what is no number is none either.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// As JavaScript would write it down: JSON, and its own words for what JSON has not.
impl fmt::Display for Worth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text(text) => write!(f, "{}", Value::from(text.as_str())),
            List(items) => {
                let items: Vec<String> = items.iter().map(Worth::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Object(members) => write!(f, "{}", Value::Object(members.clone())),
            plain => f.write_str(&plain.text()),
        }
    }
}

impl Worth {
    fn of(value: Value) -> Worth {
        match value {
            Value::Null => Null,
            Value::Bool(value) => Bool(value),
            Value::Number(number) => Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Text(text),
            Value::Array(items) => List(items.into_iter().map(Worth::of).collect()),
            Value::Object(members) => Object(members),
        }
    }

    fn is_truthy(&self) -> bool {
        match self {
            Undefined | Null | Bool(false) => false,
            Number(number) => *number != 0.0 && !number.is_nan(),
            Text(text) => !text.is_empty(),
            Bool(true) | List(_) | Object(_) => true,
        }
    }

    fn member(&self, name: &str) -> Worth {
        let at = |length: usize| name.parse::<usize>().ok().filter(|at| *at < length);
        match self {
            Object(members) => members.get(name).cloned().map_or(Undefined, Worth::of),
            List(items) if name == "length" => Number(items.len() as f64),
            List(items) => at(items.len()).map_or(Undefined, |at| items[at].clone()),
            Text(text) if name == "length" => Number(text.encode_utf16().count() as f64),
            Text(text) => {
                let one = name.parse().ok().and_then(|at| text.chars().nth(at));
                one.map_or(Undefined, |one| Text(one.to_string()))
            }
            _ => Undefined,
        }
    }

    fn number(&self) -> f64 {
        match self {
            Undefined | Object(_) => f64::NAN,
            Null => 0.0,
            Bool(value) => f64::from(u8::from(*value)),
            Number(number) => *number,
            Text(text) => number_of(text),
            List(_) => number_of(&self.text()),
        }
    }

    fn text(&self) -> String {
        match self {
            Undefined => "undefined".to_owned(),
            Null => "null".to_owned(),
            Bool(value) => value.to_string(),
            Number(number) if number.is_infinite() => {
                if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
            }
            // Without the sign of nought.
            Number(number) => (number + 0.0).to_string(),
            Text(text) => text.clone(),
            List(items) => {
                let item =
                    |item: &Worth| if matches!(item, Undefined | Null) { String::new() } else { item.text() };
                items.iter().map(item).collect::<Vec<_>>().join(",")
            }
            Object(_) => "[object Object]".to_owned(),
        }
    }

    /// What is compared and added in its place.
    fn plain(&self) -> Worth {
        match self {
            List(_) | Object(_) => Text(self.text()),
            other => other.clone(),
        }
    }

    /// `==`
    fn equals(&self, other: &Worth) -> bool {
        match (self, other) {
            (Undefined | Null, Undefined | Null) => true,
            (Undefined | Null, _) | (_, Undefined | Null) => false,
            (Text(a), Text(b)) => a == b,
            // Each is a thing of its own.
            (List(_) | Object(_), List(_) | Object(_)) => false,
            (List(_) | Object(_), _) => self.plain().equals(other),
            (_, List(_) | Object(_)) => self.equals(&other.plain()),
            _ => self.number() == other.number(),
        }
    }

    fn compare(&self, other: &Worth) -> Option<Ordering> {
        match (self.plain(), other.plain()) {
            (Text(a), Text(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
            (a, b) => a.number().partial_cmp(&b.number()),
        }
    }

    fn plus(&self, other: &Worth) -> Worth {
        match (self.plain(), other.plain()) {
            (Text(a), b) => Text(a + &b.text()),
            (a, Text(b)) => Text(a.text() + &b),
            (a, b) => Number(a.number() + b.number()),
        }
    }

    /// Whether it, or all of its elements, are among the elements of a list; without any conversion.
    fn is_among(&self, all: &Worth) -> bool {
        let (mine, all) = (self.elements(), all.elements());
        mine.iter().all(|one| all.iter().any(|other| one.is_same(other)))
    }

    fn elements(&self) -> &[Worth] {
        if let List(items) = self { items } else { std::slice::from_ref(self) }
    }

    fn is_same(&self, other: &Worth) -> bool {
        match (self, other) {
            (Number(a), Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            (List(_) | Object(_), _) => false,
            (one, other) => one == other,
        }
    }

    fn pattern(&self) -> Option<Regex> {
        if *self == Undefined { Regex::new("").ok() } else { Regex::new(&self.text()).ok() }
    }
}

/// The number a text says, by JavaScript's rules: nothing is 0, and words are none.
fn number_of(text: &str) -> f64 {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).map_or(f64::NAN, |number| number as f64);
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ if text.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) => f64::NAN,
        _ => text.parse().unwrap_or(f64::NAN),
    }
}
