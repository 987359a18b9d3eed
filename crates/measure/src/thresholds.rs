//! `ensure:` thresholds: expressions over summary names, e.g. `http.response_time.p95 < 200`, `delivery.ratio >= 0.999`.
//!
//! The language is Artillery's (filtrex): numbers, names with dots, `+ - * / %`, comparison, `and` `or` `not`,
//! parentheses; names with other characters go in single quotes (`'errors.Failed capture or match' < 3`). There are no
//! functions and no assignments. A name the run has not measured makes a threshold fail and say so, except counts of
//! things that may well not happen (`errors.*`, `http.codes.*`, `vusers.*`), which are 0: a threshold that holds because
//! nothing was measured would be a lie.

mod expression;

use expression::{Expression, Operator};
use std::collections::BTreeMap;

/// One threshold as written.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Threshold {
    /// As in the script, e.g. `http.response_time.p99 < 250 and vusers.failed == 0`.
    pub expression: String,
    /// A failed strict threshold makes the run fail (exit code 1).
    pub strict: bool,
}

/// What it came to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Judged {
    /// As in the script.
    pub expression: String,
    /// Whether it decides the run.
    pub strict: bool,
    /// Whether it held.
    pub held: bool,
    /// The values it saw, e.g. `http.response_time.p99 = 312.4`.
    pub evidence: String,
}

/// The expression cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what}")]
pub struct ParseError {
    /// What is wrong, in a fragment.
    pub what: String,
    /// Byte offset in the expression.
    pub offset: usize,
    /// What was probably meant.
    pub hint: Option<String>,
}

/// Checks the form (names are known only at run time, except obviously misspelt ones).
///
/// # Errors
/// Says where the expression stops making sense.
pub fn parse(expression: &str) -> Result<(), ParseError> {
    let expression = Expression::parse(expression)?;
    expression.names().into_iter().try_for_each(|(name, offset)| expression::check_name(name, offset))
}

impl Threshold {
    /// Evaluates it over [`crate::summary::Summary::names`].
    pub fn judge(&self, names: &BTreeMap<String, f64>) -> Judged {
        let (held, evidence) = match Expression::parse(&self.expression) {
            Ok(expression) => {
                let value = |name: &str| value_of(name, names);
                let held = expression.evaluate(&value).map(|value| value != 0.0);
                let mut seen: Vec<String> = Vec::new();
                for (name, _) in expression.names() {
                    let text = match value(name) {
                        Some(value) => format!("{name} = {}", shown(value)),
                        None => format!("{name} was not measured"),
                    };
                    if !seen.contains(&text) {
                        seen.push(text);
                    }
                }
                (held.unwrap_or(false), seen.join(", "))
            }
            Err(error) => (false, format!("{} at offset {}", error.what, error.offset)),
        };
        Judged { expression: self.expression.clone(), strict: self.strict, held, evidence }
    }
}

/// Families of counts in which a missing member means none.
const ABSENT_IS_ZERO: [&str; 3] = ["errors.", "http.codes.", "vusers."];

fn value_of(name: &str, names: &BTreeMap<String, f64>) -> Option<f64> {
    let zero = || {
        let counted = ABSENT_IS_ZERO.iter().any(|family| name.starts_with(family));
        (counted && !name.starts_with("vusers.session_length")).then_some(0.0)
    };
    names.get(name).copied().or_else(zero)
}

fn shown(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.4}").trim_end_matches('0').to_owned()
    }
}

/// The names an expression reads; none when it cannot be parsed.
pub(crate) fn names_in(expression: &str) -> Vec<String> {
    let Ok(expression) = Expression::parse(expression) else { return Vec::new() };
    expression.names().into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// The smallest latency any threshold allows (ms): the objective the generator's own lag is held against. A latency is a
/// name like `….response_time.p99`, `….latency_ms.max`, compared with a number.
pub fn objective_ms(thresholds: &[Threshold]) -> Option<f64> {
    let mut smallest: Option<f64> = None;
    for threshold in thresholds {
        let Ok(expression) = Expression::parse(&threshold.expression) else { continue };
        expression.walk(&mut |part| {
            let Expression::Binary(operator, left, right) = part else { return };
            let limit = match (operator, left.as_ref(), right.as_ref()) {
                (
                    Operator::Less | Operator::LessEqual,
                    Expression::Name(name, _),
                    Expression::Number(limit),
                )
                | (
                    Operator::Greater | Operator::GreaterEqual,
                    Expression::Number(limit),
                    Expression::Name(name, _),
                ) if is_latency(name) => *limit,
                _ => return,
            };
            smallest = Some(smallest.map_or(limit, |known| known.min(limit)));
        });
    }
    smallest
}

fn is_latency(name: &str) -> bool {
    let Some((series, statistic)) = name.rsplit_once('.') else { return false };
    let latency = ["response_time", "response_ms", "service_ms", "first_byte_ms", "latency_ms"];
    statistic != "count" && latency.iter().any(|suffix| series.ends_with(suffix))
}
