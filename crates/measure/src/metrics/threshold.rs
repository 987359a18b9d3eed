//! A threshold: one value of a metric, compared with a number (`p(95) < 200`).

use super::{Aggregate, Kind};
use crate::expression::{self, Operator};
use std::time::Duration;

/// How often thresholds that may end a run are judged while it goes on.
pub const JUDGED_EVERY: Duration = Duration::from_secs(2);

/// Whether a threshold that is crossed ends the run at once, in whichever language it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbortRule {
    /// It does.
    pub on_fail: bool,
    /// For so long after the run's start it does not.
    pub delay: Duration,
}

impl AbortRule {
    /// Whether one that is crossed ends a run that has lasted so long.
    pub fn ends(self, elapsed: Duration) -> bool {
        self.on_fail && elapsed >= self.delay
    }
}

/// A value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // each is the word scripts write
pub enum Aggregation {
    Count,
    Rate,
    Value,
    Avg,
    Min,
    Med,
    Max,
    /// `p(N)`, of 0 to 100.
    Percentile(f64),
}

/// A threshold's expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    /// The value of the metric.
    pub aggregation: Aggregation,
    /// The comparison.
    pub operator: Operator,
    /// The number it is compared with.
    pub number: f64,
}

/// Why an expression cannot be read, or does not fit its metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("threshold \"{expression}\"{why}")]
pub struct Misread {
    /// The script's text.
    expression: String,
    /// How the sentence about it goes on.
    why: String,
}

impl Misread {
    fn of(expression: &str, why: String) -> Misread {
        Misread { expression: expression.to_owned(), why }
    }

    /// A metric of this kind has no such value.
    pub(super) fn unfit(expression: &str, metric: &str, kind: Kind) -> Misread {
        let (name, methods) = (kind.name(), methods(kind));
        let why =
            format!(" cannot be applied to metric {metric}, which is a {name}\nhint: a {name} has {methods}");
        Misread::of(expression, why)
    }
}

/// The probable spelling of a percentile.
fn meant(method: &str) -> String {
    let digits = method.strip_prefix('p').filter(|digits| digits.parse::<f64>().is_ok());
    digits.map(|digits| format!("; use p({digits})")).unwrap_or_default()
}

fn several(expression: &str) -> &'static str {
    let joined = ["&&", "||", " and ", " or "].iter().any(|word| expression.contains(word));
    if joined { "\nhint: a threshold is one comparison; write several as several thresholds" } else { "" }
}

fn methods(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "count and rate",
        Kind::Gauge => "value",
        Kind::Rate => "rate",
        Kind::Trend => "avg, min, max, med and p(N)",
    }
}

const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessEqual),
    (">=", Operator::GreaterEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// Says which part of it makes no sense.
    pub fn parse(text: &str) -> Result<Expression, Misread> {
        let whole = text.trim();
        let form = || {
            let hint =
                "write a method, an operator (< <= > >= == === !=) and a number, as in \"p(95) < 200\"";
            Misread::of(whole, format!(" is no comparison\nhint: {hint}"))
        };
        let at = whole.find(['<', '>', '=', '!']).ok_or_else(form)?;
        let (sign, operator) =
            OPERATORS.into_iter().find(|(sign, _)| whole[at..].starts_with(sign)).ok_or_else(form)?;
        let (left, right) = (whole[..at].trim(), whole[at + sign.len()..].trim());
        if left.is_empty() || right.is_empty() {
            return Err(form());
        }
        let aggregation = aggregation(whole, left)?;
        let number = right.parse().map_err(|_| {
            let several = several(whole);
            Misread::of(whole, format!(" compares with \"{right}\", which is no number{several}"))
        })?;
        Ok(Expression { aggregation, operator, number })
    }

    /// Whether a metric of this kind has the value.
    pub fn fits(&self, kind: Kind) -> bool {
        use Aggregation::*;
        match kind {
            Kind::Counter => matches!(self.aggregation, Count | Rate),
            Kind::Gauge => matches!(self.aggregation, Value),
            Kind::Rate => matches!(self.aggregation, Rate),
            Kind::Trend => matches!(self.aggregation, Avg | Min | Med | Max | Percentile(_)),
        }
    }

    /// Whether it holds. A rate of nothing always does: there was nothing that could have failed.
    pub(super) fn holds(&self, aggregate: &mut Aggregate, elapsed: Duration) -> bool {
        if let Aggregate::Rate(rated) = aggregate
            && rated.total == 0
        {
            return true;
        }
        let value = self.aggregation.of(aggregate, elapsed).unwrap_or(0.0);
        let [value, limit] = [value, self.number].map(expression::Value::Number);
        self.operator.compares(&value, &limit)
    }
}

impl Aggregation {
    /// Reads a method's name alone, without operator and limit.
    pub fn named(text: &str) -> Option<Aggregation> {
        aggregation(text, text).ok()
    }

    /// This value of what an aggregate holds; None where it has none.
    pub fn of(self, aggregate: &mut Aggregate, elapsed: Duration) -> Option<f64> {
        Some(match (self, aggregate) {
            (Aggregation::Count, Aggregate::Counter(counted)) => counted.count,
            (Aggregation::Rate, Aggregate::Counter(counted)) => match elapsed.as_secs_f64() {
                0.0 => 0.0,
                seconds => counted.count / seconds,
            },
            (Aggregation::Rate, Aggregate::Rate(rated)) => rated.rate(),
            (Aggregation::Value, Aggregate::Gauge(gauged)) => gauged.value,
            (Aggregation::Min, Aggregate::Gauge(gauged)) => gauged.min,
            (Aggregation::Max, Aggregate::Gauge(gauged)) => gauged.max,
            (Aggregation::Count, Aggregate::Trend(trend)) => trend.count() as f64,
            (Aggregation::Avg, Aggregate::Trend(trend)) => trend.avg(),
            (Aggregation::Min, Aggregate::Trend(trend)) => trend.min(),
            (Aggregation::Max, Aggregate::Trend(trend)) => trend.max(),
            (Aggregation::Med, Aggregate::Trend(trend)) => trend.med(),
            (Aggregation::Percentile(percent), Aggregate::Trend(trend)) => trend.percentile(percent),
            _ => return None,
        })
    }
}

fn aggregation(whole: &str, text: &str) -> Result<Aggregation, Misread> {
    Ok(match text {
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "value" => Aggregation::Value,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "med" => Aggregation::Med,
        "max" => Aggregation::Max,
        _ => {
            let Some(percent) = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')) else {
                let (meant, several) = (meant(text), several(whole));
                let why = format!(
                    ": unknown aggregation \"{text}\"{meant}\nhint: there are count, rate, value, avg, min, med, max \
                     and p(N){several}"
                );
                return Err(Misread::of(whole, why));
            };
            match percent.parse() {
                Ok(number @ 0.0..=100.0) => Aggregation::Percentile(number),
                _ => {
                    let why = format!(" asks for p({percent}), which is not a number from 0 to 100");
                    return Err(Misread::of(whole, why));
                }
            }
        }
    })
}
