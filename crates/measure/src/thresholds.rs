//! `ensure:` thresholds: expressions over summary names, e.g. `http.response_time.p95 < 200`, `delivery.ratio >= 0.999`.
//!
//! The language is Artillery's (filtrex): numbers, names with dots, `+ - * / % ^`, comparison, `in`, `and` `or` `not`, functions
//! like `max`, parentheses. Names with other characters go in single quotes (`'errors.Failed capture or match' < 3`); without
//! them the longest name counts that the run has measured (`login-time.p95`), as Artillery puts in what it has measured
//! before it reads an expression. A name the run has not measured makes a threshold fail and say so, except counts of
//! things that may well not happen (`errors.*`, `http.codes.*`, `vusers.*`), which are 0: a threshold that holds because
//! nothing was measured would be a lie.

mod expression;
mod known;

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
    /// The name that is none of a metric that a run measures by itself, when that is what is wrong.
    pub metric: Option<String>,
}

/// Checks the form (names are known only at run time, except obviously misspelt ones).
///
/// # Errors
/// Says where the expression stops making sense.
pub fn parse(expression: &str) -> Result<(), ParseError> {
    let expression = Expression::parse(expression)?;
    expression.names().into_iter().try_for_each(|(name, offset)| known::check(name, offset))
}

/// The names in an expression that no run measures by itself: a function's or a plugin's, then.
pub fn foreign(expression: &str) -> Vec<String> {
    names_in(expression).into_iter().filter(|name| !known::is_ours(name)).collect()
}

impl Threshold {
    /// Evaluates it over [`crate::summary::Summary::names`].
    pub fn judge(&self, names: &BTreeMap<String, f64>) -> Judged {
        let (held, evidence) = match Expression::parse_with(&self.expression, &|rest| longest(rest, names)) {
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

/// The longest of the names a text begins with that an expression would take apart.
fn longest(rest: &str, names: &BTreeMap<String, f64>) -> Option<usize> {
    let begins = |name: &&String| {
        let after = rest.strip_prefix(name.as_str());
        // Half of a name is none.
        after.is_some_and(|after| !after.starts_with(expression::is_part))
            && name.contains(|c| !expression::is_part(c))
            && name.contains(char::is_alphabetic)
    };
    names.keys().filter(begins).map(String::len).max()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> BTreeMap<String, f64> {
        let known = [("http.response_time.p95", 212.4), ("delivery.ratio", 0.9995), ("a", 2.0), ("b", 3.0)];
        known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    #[track_caller]
    fn check(expression: &str, held: bool, evidence: &str) {
        let judged = Threshold { expression: expression.to_owned(), strict: true }.judge(&names());
        assert_eq!((judged.held, judged.evidence.as_str()), (held, evidence), "{expression}");
    }

    #[test]
    fn a_threshold_holds_when_its_expression_is_true() {
        let p95 = "http.response_time.p95 = 212.4";
        check("http.response_time.p95 < 250", true, p95);
        check("http.response_time.p95 < 212.4", false, p95);
        check("http.response_time.p95 <= 212.4", true, p95);
        check("250 > http.response_time.p95", true, p95);
        check(
            "delivery.ratio >= 0.999 and http.response_time.p95 < 100",
            false,
            &format!("delivery.ratio = 0.9995, {p95}"),
        );
        check(
            "delivery.ratio >= 0.999 or http.response_time.p95 < 100",
            true,
            &format!("delivery.ratio = 0.9995, {p95}"),
        );
        check("not (a == 2)", false, "a = 2");
        check("not a == 3", true, "a = 2");
    }

    #[test]
    fn arithmetic_binds_as_in_school() {
        for expression in [
            "a + b * 2 == 8",
            "(a + b) * 2 == 10",
            "b - a - 1 == 0",
            "12 / b / a == 2",
            "-a + b == 1",
            "7 % b == 1",
            "a < b == 1",
            "1 or 0 and 0",
            "2 * -b == -6",
            "1.5e0 + .5 == a",
            "a != b && !(a > b) || 0",
            "a in (1, 2) and b not in (1, 2)",
            "not a in (1, 3)",
            "a + 1 in (b, 7)",
            "max(a, b, 1) == 3 and min(a,b) == 2",
            "round(2.5) + floor(1.9) + ceil(0.1) + abs(-2) + sqrt(9) + log(1) == 10",
            "2 ^ 3 ^ 2 == 64",
            "-2 ^ 2 == 4",
        ] {
            let names = names();
            let judged = Threshold { expression: expression.to_owned(), strict: true }.judge(&names);
            assert!(judged.held, "{expression}");
        }
    }

    #[test]
    fn what_did_not_happen_is_zero_and_what_was_not_measured_fails() {
        check("errors.ECONNREFUSED == 0", true, "errors.ECONNREFUSED = 0");
        check("'errors.Failed capture or match' < 1", true, "errors.Failed capture or match = 0");
        check("http.codes.500 == 0", true, "http.codes.500 = 0");
        check("socketio.response_time.p99 < 100", false, "socketio.response_time.p99 was not measured");
        check("not (socketio.response_time.p99 > 100)", false, "socketio.response_time.p99 was not measured");
        check("vusers.session_length.p99 < 100", false, "vusers.session_length.p99 was not measured");
    }

    #[track_caller]
    fn refuse(expression: &str, offset: usize, what: &str, hint: Option<&str>) {
        let error = parse(expression).unwrap_err();
        assert_eq!(
            (error.what.as_str(), error.offset, error.hint.as_deref()),
            (what, offset, hint),
            "{expression}"
        );
    }

    #[test]
    fn a_broken_expression_says_where_and_what() {
        refuse("", 0, "expected a number, a name or `(`, but the expression ends here", None);
        refuse("a <", 3, "expected a number, a name or `(`, but the expression ends here", None);
        refuse("(a < 2", 6, "expected `)`, but the expression ends here", None);
        refuse("a = 2", 2, "expected an operator, got `=`", Some("equality is written `==`"));
        refuse("a b", 2, "expected an operator, got `b`", None);
        refuse(
            "a < 250ms",
            4,
            "`250ms` is not a number",
            Some("numbers have no unit; latencies are in milliseconds"),
        );
        refuse("'a < 2", 0, "the quoted name has no closing quote", None);
        refuse(&"(".repeat(100), 64, "the expression is nested deeper than 64", None);
    }

    #[test]
    fn a_misspelt_name_is_told_with_the_right_one() {
        refuse(
            "delivery.lots < 1",
            0,
            "`delivery.lots` is not a metric",
            Some("did you mean `delivery.lost`?"),
        );
        refuse(
            "2 > deliver.lost",
            4,
            "`deliver.lost` is not a metric",
            Some("did you mean `delivery.lost`?"),
        );
        for right in [
            "plugins.expect.ok > 0",
            "delivery.latency_ms.p99 < 5",
            "orange < 2",
            "order < 2",
            "andes.or < 1",
        ] {
            assert_eq!(parse(right), Ok(()), "{right}");
        }
    }

    #[test]
    fn the_objective_is_the_smallest_latency_allowed() {
        let objective = |expressions: &[&str]| {
            let threshold = |e: &&str| Threshold { expression: (*e).to_owned(), strict: false };
            objective_ms(&expressions.iter().map(threshold).collect::<Vec<_>>())
        };
        assert_eq!(
            objective(&["http.response_time.p95 < 250 and 100 >= delivery.latency_ms.p99"]),
            Some(100.0)
        );
        assert_eq!(
            objective(&["vusers.failed < 1", "http.response_time.count > 5", "http.response_time.p95 > 5"]),
            None
        );
        assert_eq!(objective(&["vusers.session_length.p99 < 5"]), None);
    }

    #[test]
    fn a_name_that_was_measured_is_one_word_whatever_it_holds() {
        let known = [
            ("my-counter", 1.0),
            ("my", 5.0),
            ("counter", 2.0),
            ("a/b", 1.0),
            ("a", 4.0),
            ("b", 2.0),
            ("login-time.p95", 7.0),
            ("login time", 3.0),
            ("http://h:80/x?y=1", 2.0),
            ("a/b/c", 9.0),
            ("5", 1.0),
        ];
        let names = known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        for (expression, evidence) in [
            ("my-counter == 1", "my-counter = 1"),
            ("login-time.p95 < 10", "login-time.p95 = 7"),
            ("a/b == 1", "a/b = 1"),
            ("a/b/c == 9", "a/b/c = 9"),
            ("a / b == 2", "a = 4, b = 2"),
            ("(login time) in (2, 3) and not (a in (1,2))", "login time = 3, a = 4"),
            ("http://h:80/x?y=1 == 2", "http://h:80/x?y=1 = 2"),
            ("b - my-counter == 5 - 4", "b = 2, my-counter = 1"),
        ] {
            let judged = Threshold { expression: expression.to_owned(), strict: true }.judge(&names);
            assert_eq!((judged.held, judged.evidence.as_str()), (true, evidence), "{expression}");
        }
        let torn = Threshold { expression: "my-counters == 1".to_owned(), strict: true }.judge(&names);
        assert_eq!(torn.evidence, "my = 5, counters was not measured");
    }
}
