//! Values as JavaScript has them, with its conversions.

use serde_json::{Map, Value as Json};
use std::cmp::Ordering;
use std::fmt;

/// A value of an expression: JSON's, and what JSON has not.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of a variable that has not been set.
    Undefined,
    /// JSON's.
    Null,
    /// JSON's.
    Bool(bool),
    /// JSON's, infinities and NaN.
    Number(f64),
    /// JSON's.
    Text(String),
    /// JSON's.
    List(Vec<Value>),
    /// JSON's.
    Object(Map<String, Json>),
}

use Value::{Bool, List, Null, Number, Object, Text, Undefined};

impl From<Json> for Value {
    fn from(value: Json) -> Value {
        match value {
            Json::Null => Null,
            Json::Bool(value) => Bool(value),
            Json::Number(number) => Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Text(text),
            Json::Array(items) => List(items.into_iter().map(Value::from).collect()),
            Json::Object(members) => Object(members),
        }
    }
}

/// JavaScript's text of it: JSON, and its own words for values that JSON lacks.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text(text) => write!(f, "{}", Json::from(text.as_str())),
            List(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Object(members) => write!(f, "{}", Json::Object(members.clone())),
            plain => f.write_str(&plain.text()),
        }
    }
}

/// 1 or 0: filtrex has no other truth.
pub(super) fn boolean(holds: bool) -> Value {
    Number(f64::from(u8::from(holds)))
}

impl Value {
    /// Whether it holds: all but nothing, `false`, 0, NaN and the empty text.
    pub fn is_truthy(&self) -> bool {
        match self {
            Undefined | Null | Bool(false) => false,
            Number(number) => *number != 0.0 && !number.is_nan(),
            Text(text) => !text.is_empty(),
            Bool(true) | List(_) | Object(_) => true,
        }
    }

    pub(super) fn member(&self, name: &str) -> Value {
        // `01` and `+1` are no indexes.
        let index = name.parse::<usize>().ok().filter(|index| index.to_string() == name);
        match self {
            Object(members) => members.get(name).cloned().map_or(Undefined, Value::from),
            List(items) if name == "length" => Number(items.len() as f64),
            List(items) => index.and_then(|index| items.get(index)).cloned().unwrap_or(Undefined),
            Text(text) if name == "length" => Number(text.encode_utf16().count() as f64),
            Text(text) => {
                let one = index.and_then(|index| text.encode_utf16().nth(index));
                one.map_or(Undefined, |one| Text(String::from_utf16_lossy(&[one])))
            }
            _ => Undefined,
        }
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Undefined | Object(_) => f64::NAN,
            Null => 0.0,
            Bool(value) => f64::from(u8::from(*value)),
            Number(number) => *number,
            Text(text) => number_of(text),
            List(_) => number_of(&self.text()),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Undefined => "undefined".to_owned(),
            Null => "null".to_owned(),
            Bool(value) => value.to_string(),
            Number(number) => number_text(*number),
            Text(text) => text.clone(),
            List(items) => {
                let item =
                    |item: &Value| if matches!(item, Undefined | Null) { String::new() } else { item.text() };
                items.iter().map(item).collect::<Vec<_>>().join(",")
            }
            Object(_) => "[object Object]".to_owned(),
        }
    }

    /// The value that is compared and added in its place.
    fn plain(&self) -> Value {
        match self {
            List(_) | Object(_) => Text(self.text()),
            other => other.clone(),
        }
    }

    /// `==`
    pub(super) fn equals(&self, other: &Value) -> bool {
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

    pub(super) fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self.plain(), other.plain()) {
            (Text(a), Text(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
            (a, b) => a.number().partial_cmp(&b.number()),
        }
    }

    pub(super) fn plus(&self, other: &Value) -> Value {
        match (self.plain(), other.plain()) {
            (Text(a), b) => Text(a + &b.text()),
            (a, Text(b)) => Text(a.text() + &b),
            (a, b) => Number(a.number() + b.number()),
        }
    }

    /// Whether it, or all of its elements, are among the elements of a list; without any conversion.
    pub(super) fn is_among(&self, all: &Value) -> bool {
        let (mine, all) = (self.elements(), all.elements());
        mine.iter().all(|one| all.iter().any(|other| one.is_same(other)))
    }

    fn elements(&self) -> &[Value] {
        if let List(items) = self { items } else { std::slice::from_ref(self) }
    }

    fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Number(a), Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            (List(_) | Object(_), _) => false,
            (one, other) => one == other,
        }
    }
}

/// A number as JavaScript writes it: `1`, `0.1`, `1e+21`, `NaN`.
pub fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = number.abs();
    if number != 0.0 && !number.is_nan() && !(1e-6..1e21).contains(&size) {
        return format!("{number:e}").replace('e', if size >= 1.0 { "e+" } else { "e" });
    }
    // Adding 0 takes the sign of zero, as JavaScript's text does.
    (number + 0.0).to_string()
}

/// The number a text says, by JavaScript's rules: an empty one is 0, and words are NaN.
fn number_of(text: &str) -> f64 {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let lower = text.get(..2).map(str::to_ascii_lowercase);
    let radix = match lower.as_deref() {
        Some("0x") => Some(16),
        Some("0o") => Some(8),
        Some("0b") => Some(2),
        _ => None,
    };
    if let Some(radix) = radix {
        let digits = &text[2..];
        let value = |sum: f64, digit: char| Some(sum * f64::from(radix) + f64::from(digit.to_digit(radix)?));
        return digits.chars().try_fold(0.0, value).filter(|_| !digits.is_empty()).unwrap_or(f64::NAN);
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ if text.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) => f64::NAN,
        _ => text.parse().unwrap_or(f64::NAN),
    }
}
