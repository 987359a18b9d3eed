//! `options.sonagi.matrix`, `repeat` and `compare`: a test that is run with several values, and several times.
//!
//! The values of a matrix are variables of `__ENV`, which is how k6 scripts are told what differs between their runs.
//! Only read here: rounds and verdicts are the caller's.

use super::problem::{Reading, meant};
use super::read::{self, Check};
use super::table::members;
use serde_json::{Map, Value};

/// More rounds are refused: nobody waits for them.
pub const REPEAT_MAX: u64 = 1000;

/// What a script says of its runs together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Several {
    /// Variables of `__ENV`, each with its values, in the script's order.
    pub matrix: Vec<(String, Vec<Value>)>,
    /// How often every combination is run.
    pub repeat: Option<usize>,
    /// What is compared.
    pub compare: Option<Compare>,
}

/// Which value of a variable is best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compare {
    /// The variable; None: the only one.
    pub across: Option<String>,
    /// The figure that decides, as `http_req_duration.p99`.
    pub primary: Option<String>,
    /// A change within it does not matter, as a share.
    pub margin: Option<f64>,
}

/// The members that these keys have in `options.sonagi`.
pub(super) const KEYS: [(&str, Check); 3] = [("matrix", matrix), ("repeat", repeat), ("compare", compare)];

fn matrix(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let given = match value.as_object() {
        Some(given) if !given.is_empty() => given,
        _ => return reading.wrong("an object as { POOL: [2, 10, 50] }", value),
    };
    let mut checked = Map::new();
    for (name, values) in given {
        let mut reading = reading.within(name);
        if !is_variable(name) {
            reading.problem("is no name of a variable: letters, digits and _, and no digit first");
        }
        let listed = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
        if listed.is_empty() {
            reading.problem("has no values");
        }
        for (at, value) in listed.iter().enumerate() {
            if !matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_)) {
                drop(reading.wrong::<Value>("a text, a number or a truth value, or a list of these", value));
            } else if listed[..at].iter().any(|before| in_env(before) == in_env(value)) {
                reading.problem(format!("has {value} twice"));
            }
        }
        checked.insert(name.clone(), Value::Array(listed));
    }
    Some(Value::Object(checked))
}

fn repeat(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    match value.as_u64().filter(|times| (1..=REPEAT_MAX).contains(times)) {
        Some(times) => Some(times.into()),
        None => reading.wrong(&format!("a whole number from 1 to {REPEAT_MAX}"), value),
    }
}

fn compare(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    members(&[("across", read::text), ("primary", read::text), ("margin", margin)], value, reading)
}

/// A share, or a percentage as a text.
fn margin(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let share = match value {
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
            None => text.trim().parse().ok(),
        },
        value => value.as_f64(),
    };
    match share.filter(|share| *share > 0.0 && *share < 1.0) {
        Some(share) => Some(share.into()),
        None => reading.wrong("more than 0 % and less than 100 %, as \"5%\" or 0.05", value),
    }
}

/// Finds what is wrong between the keys; each by itself has been checked. Of a matrix that is wrong itself nothing more
/// is said.
pub(super) fn judge(given: &Value, checked: &Value, reading: &mut Reading<'_>) {
    let Some(compare) = checked.get("compare") else { return };
    let is_given = |(name, value): (&String, &Value)| name.eq_ignore_ascii_case("matrix") && !value.is_null();
    if checked.get("matrix").is_none() && given.as_object().into_iter().flatten().any(is_given) {
        return;
    }
    let names: Vec<&str> =
        checked["matrix"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut reading = reading.within("compare");
    match (compare["across"].as_str(), names.as_slice()) {
        (_, []) => reading.problem_with_hint(
            "is across a variable of the matrix, and there is no matrix",
            "add `matrix: { POOL: [2, 10, 50] }`; two sets of runs are compared by `sonagi compare`",
        ),
        (Some(across), names) if !names.contains(&across) => {
            let hint = match meant(across, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("its variables: {}", names.join(", ")),
            };
            reading.within("across").problem_with_hint(format!("the matrix has no `{across}`"), hint);
        }
        (None, [first, _, ..]) => {
            reading.problem_with_hint(
                "does not say across which variable of the matrix",
                format!("e.g. `across: '{first}'`"),
            );
        }
        _ => {}
    }
}

/// The typed values of checked keys.
pub(super) fn of(checked: &Value) -> Several {
    let matrix = checked["matrix"].as_object().into_iter().flatten();
    let compare = checked.get("compare").filter(|compare| compare.is_object());
    let text = |of: &Value| of.as_str().map(str::to_owned);
    Several {
        matrix: matrix
            .map(|(name, values)| (name.clone(), values.as_array().cloned().unwrap_or_default()))
            .collect(),
        repeat: checked["repeat"].as_u64().and_then(|times| usize::try_from(times).ok()),
        compare: compare.map(|compare| Compare {
            across: text(&compare["across"]),
            primary: text(&compare["primary"]),
            margin: compare["margin"].as_f64(),
        }),
    }
}

/// A value as a script sees it in `__ENV`.
pub fn in_env(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a variable may have this name.
pub fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}
