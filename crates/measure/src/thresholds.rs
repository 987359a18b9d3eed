//! Thresholds: expressions over the figures of a run, e.g. `http_answers_ms.p95 < 200`, `delivery.ratio >=
//! 0.999`.
//!
//! The language is that of [`crate::expression`]; names are metrics. Those with signs go in single quotes
//! (`'errors.Failed capture or match' < 3`); without them the longest name counts that the run has measured
//! (`login-time.p95`): functions may report such a name, so a threshold keeps its text, and is read anew when it is
//! judged.
//!
//! A threshold holds when it is neither 0 nor NaN. A name that the run has not measured makes it fail and say so,
//! wherever the name stands, except counts of things that may well not happen (`errors.*`), which are 0: a threshold
//! that holds because nothing was measured would be a lie.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::expression::{
    Expression, Lookup, NameToken, Operator, Resolve, SyntaxError, Value, is_part_of_name, number_text, parse,
};
use crate::metrics::{AbortRule, SeriesName};

/// Digits behind the point of a value that a threshold saw.
const DIGITS: usize = 4;
/// And where it takes more to tell it from its limit.
const DIGITS_AT_MOST: usize = 9;

/// A threshold as it was written, in scripts and in the headers of run folders.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Threshold {
    /// One that cannot be read may be one over names that only the run will tell.
    expression: String,
    strict: bool,
    /// It ends the run when it is crossed, from so many seconds on; None: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    abort_after_s: Option<f64>,
}

/// A metric that a threshold names.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// E.g. `http_answers_ms.p95`; with tags as [`SeriesName`] writes it.
    pub name: String,
    /// Where it stands, in characters from the start of the expression.
    pub offset: usize,
}

/// A metric compared with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The metric.
    pub metric: Metric,
    /// Whether it must stay below the limit.
    pub is_upper_limit: bool,
    /// The number.
    pub limit: f64,
}

/// The figures of a run, for thresholds to name.
#[derive(Clone, Debug)]
pub struct Figures {
    /// What the run has measured, by name.
    pub measured: BTreeMap<String, f64>,
    /// Whether a name is that of a count of things that may well not happen: 0 where the run has not measured it.
    pub may_be_absent: fn(&str) -> bool,
}

/// What a figure tells, where the judgement of a run depends on it. A threshold on one replaces its default rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Owed copies that did not come.
    Lost,
    /// Copies received outside their room.
    Leaked,
    /// Copies received more than once.
    Duplicate,
    /// Copies received out of order.
    Reordered,
    /// Users that failed, or their errors.
    FailedUsers,
    /// Statuses of HTTP answers.
    Statuses,
    /// A latency in milliseconds: the generator's own lag is held against its limit.
    Latency,
}

/// The result of a threshold.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Judged {
    /// The script's text.
    pub expression: String,
    /// Whether it decides the run.
    pub strict: bool,
    /// Whether it held.
    pub held: bool,
    /// The values it saw, e.g. `http_answers_ms.p99 = 312.4`.
    pub evidence: String,
    /// The metrics it names, each once; empty in folders written before it was kept.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// It was crossed while the run went on, and ended it after so many seconds; what it saw is of then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_run_s: Option<f64>,
}

impl Threshold {
    /// A threshold of this expression; a failed strict one makes the run fail (exit code 1).
    pub fn new(expression: impl Into<String>, strict: bool) -> Threshold {
        Threshold { expression: expression.into(), strict, abort_after_s: None }
    }

    /// Reads it; `figures` are the run's, if it has any yet.
    fn read(&self, figures: Option<&BTreeMap<String, f64>>) -> Result<Expression<Metric>, SyntaxError> {
        parse(&self.expression, &mut Metrics { figures }).map(|parsed| parsed.expression)
    }

    /// The same that ends the run, if the rule says so, as soon as it is crossed.
    #[must_use]
    pub fn aborting(mut self, rule: AbortRule) -> Threshold {
        self.abort_after_s = rule.on_fail.then_some(rule.delay.as_secs_f64());
        self
    }

    /// Whether it ends the run as soon as it is crossed.
    pub fn abort(&self) -> AbortRule {
        let after = self.abort_after_s.and_then(|after| Duration::try_from_secs_f64(after).ok());
        AbortRule { on_fail: after.is_some(), delay: after.unwrap_or_default() }
    }

    /// The script's text, e.g. `http_answers_ms.p99 < 250 and users.failed == 0`.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// Whether it decides the run.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Why it cannot be read.
    pub fn error(&self) -> Option<SyntaxError> {
        self.read(None).err()
    }

    /// The metrics it names, in the order in which they stand; none when it cannot be read.
    pub fn metrics(&self) -> Vec<Metric> {
        self.read(None).iter().flat_map(Expression::names).cloned().collect()
    }

    /// Its limits: metrics compared with a number by `<`, `<=`, `>` or `>=`, whichever stands first.
    pub fn comparisons(&self) -> Vec<Comparison> {
        self.read(None).map_or_else(|_| Vec::new(), |expression| comparisons(&expression))
    }

    /// Evaluates it.
    pub fn judge(&self, figures: &Figures) -> Judged {
        self.weigh(figures).1
    }

    /// What it came to while a run goes on, if it does not hold. What has not been measured yet may still be: then
    /// nothing is said.
    pub fn crossed(&self, figures: &Figures) -> Option<Judged> {
        let (is_measured, judged) = self.weigh(figures);
        (is_measured && !judged.held).then_some(judged)
    }

    /// Whether all it names was measured, and what it came to.
    fn weigh(&self, figures: &Figures) -> (bool, Judged) {
        let read = self.read(Some(&figures.measured));
        let (is_measured, held, evidence) = match &read {
            Ok(read) => evaluate(read, figures),
            Err(error) => (false, false, format!("{} at offset {}", error.what, error.offset)),
        };
        let mut metrics: Vec<String> = Vec::new();
        for metric in read.iter().flat_map(Expression::names) {
            if !metrics.contains(&metric.name) {
                metrics.push(metric.name.clone());
            }
        }
        let (expression, strict) = (self.expression.clone(), self.strict);
        (is_measured, Judged { expression, strict, held, evidence, metrics, ended_run_s: None })
    }
}

fn comparisons(expression: &Expression<Metric>) -> Vec<Comparison> {
    let mut all = Vec::new();
    expression.walk(&mut |part| {
        let Expression::Binary(operator, pair) = part else { return };
        let is_less = match operator {
            Operator::Less | Operator::LessEqual => true,
            Operator::Greater | Operator::GreaterEqual => false,
            _ => return,
        };
        let (metric, limit, is_upper_limit) = match (&pair[0], &pair[1]) {
            (Expression::Name(metric), Expression::Number(limit)) => (metric, *limit, is_less),
            (Expression::Number(limit), Expression::Name(metric)) => (metric, *limit, !is_less),
            _ => return,
        };
        all.push(Comparison { metric: metric.clone(), is_upper_limit, limit });
    });
    all
}

/// Whether all that a threshold names was measured, whether it holds, and the values it saw.
fn evaluate(expression: &Expression<Metric>, mut figures: &Figures) -> (bool, bool, String) {
    let limits = comparisons(expression);
    let mut seen: Vec<String> = Vec::new();
    let mut all_measured = true;
    for metric in expression.names() {
        let value = figures.of(metric);
        all_measured &= value.is_some();
        let text = match value {
            Some(value) => {
                let limits = limits.iter().filter(|limit| limit.metric.name == metric.name);
                format!("{} = {}", metric.name, shown(value, limits.map(|limit| limit.limit)))
            }
            None => format!("{} was not measured", metric.name),
        };
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    // A metric that was not measured must not hide behind the other side of an `or`.
    let value = if all_measured { expression.evaluate(&mut figures) } else { Ok(Value::Undefined) };
    match value {
        Ok(value) => (all_measured, value.is_truthy(), seen.join(", ")),
        Err(error) => (all_measured, false, error.to_string()),
    }
}

impl Figures {
    fn of(&self, metric: &Metric) -> Option<f64> {
        let name = &metric.name;
        self.measured.get(name).copied().or_else(|| (self.may_be_absent)(name).then_some(0.0))
    }
}

impl Lookup<Metric> for &Figures {
    fn value(&mut self, metric: &Metric) -> Value {
        self.of(metric).map_or(Value::Undefined, Value::Number)
    }

    /// A threshold that throws dice has no use; what it decides must be the same when the folder is read.
    fn random(&mut self) -> f64 {
        0.5
    }
}

/// Resolves the names of thresholds.
struct Metrics<'f> {
    /// The run's figures, when it is over.
    figures: Option<&'f BTreeMap<String, f64>>,
}

impl Resolve for Metrics<'_> {
    type Name = Metric;

    fn resolve(&mut self, name: NameToken<'_>) -> Result<Expression<Metric>, SyntaxError> {
        let at = name.offset;
        let name = match SeriesName::of(name.text) {
            Some(Ok(series)) => series.to_string(),
            _ => name.text.to_owned(),
        };
        Ok(Expression::Name(Metric { name, offset: at }))
    }

    fn known(&self, rest: &[char]) -> Option<usize> {
        let figures = self.figures?;
        let begins = |name: &&String| {
            let mut after = rest.iter();
            name.chars().all(|c| after.next() == Some(&c))
                // Half of a name is none.
                && after.next().is_none_or(|after| !is_part_of_name(*after))
                && is_apart(name)
        };
        figures.keys().filter(begins).map(|name| name.chars().count()).max()
    }
}

/// Whether an expression would take a name apart that is not in quotes.
fn is_apart(name: &str) -> bool {
    name.contains(|c| !is_part_of_name(c)) && name.contains(char::is_alphabetic)
}

/// With four digits behind the point, or as many more as it takes to see that it is no whole number and on which side
/// of its limits it lies.
fn shown(value: f64, limits: impl Iterator<Item = f64> + Clone) -> String {
    if value.fract() == 0.0 {
        return number_text(value);
    }
    let is_told = |text: &str| {
        let shown: f64 = text.parse().unwrap_or(value);
        let is_same_side = |limit: f64| value.partial_cmp(&limit) == shown.partial_cmp(&limit);
        shown.fract() != 0.0 && limits.clone().all(is_same_side)
    };
    let mut texts = (DIGITS..=DIGITS_AT_MOST).map(|digits| format!("{value:.digits$}"));
    let told = texts.find(|text| is_told(text)).unwrap_or_else(|| value.to_string());
    told.trim_end_matches('0').to_owned()
}

/// The smallest latency any threshold allows (ms): the objective the generator's own lag is held against. Counted are
/// names whose subject is a latency, compared with a number.
pub fn objective_ms(thresholds: &[Threshold], subject: fn(&str) -> Option<Subject>) -> Option<f64> {
    let is_latency = |comparison: &Comparison| {
        comparison.is_upper_limit && subject(&comparison.metric.untagged()) == Some(Subject::Latency)
    };
    let limits = thresholds.iter().flat_map(Threshold::comparisons).filter(is_latency);
    limits.map(|comparison| comparison.limit).reduce(f64::min)
}

impl Metric {
    /// Its name without tags: `http_answers_ms.p95` of `http_answers_ms{page:list}.p95`.
    fn untagged(&self) -> Cow<'_, str> {
        match SeriesName::of(&self.name) {
            Some(Ok(series)) if series.figure.is_empty() => series.metric.into(),
            Some(Ok(series)) => format!("{}.{}", series.metric, series.figure).into(),
            _ => self.name.as_str().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(known: &[(&str, f64)]) -> Figures {
        let measured = known.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Figures { measured, may_be_absent: |name| name.starts_with("errors.") }
    }

    fn names() -> Figures {
        figures(&[("http_answers_ms.p95", 212.4), ("delivery.ratio", 0.9995), ("a", 2.0), ("b", 3.0)])
    }

    #[track_caller]
    fn check(expression: &str, held: bool, evidence: &str) {
        let judged = Threshold::new(expression, true).judge(&names());
        assert_eq!((judged.held, judged.evidence.as_str()), (held, evidence), "{expression}");
    }

    #[test]
    fn a_threshold_holds_when_its_expression_is_true() {
        let p95 = "http_answers_ms.p95 = 212.4";
        check("http_answers_ms.p95 < 250", true, p95);
        check("http_answers_ms.p95 < 212.4", false, p95);
        check("http_answers_ms.p95 <= 212.4", true, p95);
        check("250 > http_answers_ms.p95", true, p95);
        check(
            "delivery.ratio >= 0.999 and http_answers_ms.p95 < 100",
            false,
            &format!("delivery.ratio = 0.9995, {p95}"),
        );
        check(
            "delivery.ratio >= 0.999 or http_answers_ms.p95 < 100",
            true,
            &format!("delivery.ratio = 0.9995, {p95}"),
        );
        check("not (a == 2)", false, "a = 2");
        // Like filtrex: `not` binds closer than a comparison: (not a) == 3.
        check("not a == 3", false, "a = 2");
        check("not (a == 3)", true, "a = 2");
        // Neither 0 nor NaN.
        check("a", true, "a = 2");
        check("a - 2", false, "a = 2");
        check("(a - 2) / (b - 3)", false, "a = 2, b = 3");
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
            "a + 1 in (b, 7)",
            "max(a, b, 1) == 3 and min(a,b) == 2",
            "round(2.5) + floor(1.9) + ceil(0.1) + abs(-2) + sqrt(9) + log(1) == 10",
            "2 ^ 3 ^ 2 == 64",
            "-2 ^ 2 == 4",
        ] {
            let names = names();
            let judged = Threshold::new(expression, true).judge(&names);
            assert!(judged.held, "{expression}");
        }
    }

    #[test]
    fn what_did_not_happen_is_zero_and_what_was_not_measured_fails() {
        check("errors.reset == 0", true, "errors.reset = 0");
        check("'errors.no stock' < 1", true, "errors.no stock = 0");
        check("poll.response_ms.p99 < 100", false, "poll.response_ms.p99 was not measured");
        check("not (poll.response_ms.p99 > 100)", false, "poll.response_ms.p99 was not measured");
    }

    #[test]
    fn a_threshold_that_cannot_be_read_is_not_met_and_says_where() {
        check(
            "a <",
            false,
            "expected a name, a number, a text in double quotes or `(`, but the expression ends here at offset 3",
        );
        check("a ~= (\"(\" + a)", false, "not a regular expression: `(2`");
    }

    #[test]
    fn a_threshold_says_which_metrics_it_is_about() {
        let judged = Threshold::new("a < 3 and 'b' > a", true).judge(&names());
        assert_eq!(judged.metrics, ["a", "b"]);
    }

    #[test]
    fn a_header_has_thresholds_as_they_were_written() {
        let threshold = Threshold::new("a < 3", true);
        let written = serde_json::to_value(&threshold).unwrap();
        assert_eq!(written, serde_json::json!({ "expression": "a < 3", "strict": true }));
        assert_eq!(serde_json::from_value::<Threshold>(written).unwrap(), threshold);
    }

    #[test]
    fn the_objective_is_the_smallest_latency_allowed() {
        let objective = |expressions: &[&str]| {
            let threshold = |expression: &&str| Threshold::new(*expression, false);
            let subject = |name: &str| (name == "time.p95" || name == "wait.max").then_some(Subject::Latency);
            objective_ms(&expressions.iter().map(threshold).collect::<Vec<_>>(), subject)
        };
        assert_eq!(objective(&["time.p95 < 250 and 100 >= wait.max"]), Some(100.0));
        assert_eq!(objective(&["failed < 1", "time.count < 5", "time.p95 > 5"]), None);
        assert_eq!(objective(&["'time{page:list}.p95' < 80"]), Some(80.0));
        assert_eq!(objective(&["'failed{page:list}' < 80"]), None);
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
        let names = figures(&known);
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
            let judged = Threshold::new(expression, true).judge(&names);
            assert_eq!((judged.held, judged.evidence.as_str()), (true, evidence), "{expression}");
        }
        let torn = Threshold::new("my-counters == 1", true).judge(&names);
        assert_eq!(torn.evidence, "my = 5, counters was not measured");
    }

    #[test]
    fn a_value_is_seen_to_lie_on_its_side_of_the_limit() {
        let evidence = |expression: &str, value: f64| {
            let figures = figures(&[("delivery.ratio", value)]);
            Threshold::new(expression, true).judge(&figures).evidence
        };
        assert_eq!(evidence("delivery.ratio >= 0.999", 0.998_994_2), "delivery.ratio = 0.99899");
        assert_eq!(evidence("delivery.ratio >= 0.999", 0.999), "delivery.ratio = 0.999");
        assert_eq!(evidence("delivery.ratio == 1", 0.999_994_5), "delivery.ratio = 0.99999");
        assert_eq!(evidence("delivery.ratio > 0.5", 0.999_999_999_9), "delivery.ratio = 0.9999999999");
        assert_eq!(evidence("delivery.ratio < 0.5", 0.25), "delivery.ratio = 0.25");
    }
}
