//! How many events a trial needs before it can assert an expression: with fewer, even a target that is too slow or
//! loses too much would show nothing bad in more than one trial of twenty.
//!
//! Counted is what the figure is made of: for `delivery.ratio` the copies owed, for a quantile the measured times. Zero
//! bad events are assumed, which is the least: with a share `q` that must be good, `qⁿ ≤ 0.05`. What needs no number of
//! events (a maximum, a count, a ratio of exactly 1) asks for none.

use sonagi_measure::thresholds::{Comparison, Threshold};

/// The chance that a trial shows nothing bad although too much is.
const RISK: f64 = 0.05;
/// More events than these are asked for by nobody: the bound is closer to 1 than any trial can tell.
const MOST: f64 = 1e7;

/// What a trial needs for one part of an expression.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Need {
    /// The figure that is limited.
    pub figure: String,
    /// The figure that counts its events.
    pub counted: String,
    /// How many.
    pub events: u64,
}

/// What a trial needs for an expression, in the order of its parts.
pub fn needs(until: &Threshold) -> Vec<Need> {
    until.comparisons().into_iter().filter_map(|comparison| need(&comparison)).collect()
}

fn need(comparison: &Comparison) -> Option<Need> {
    let Comparison { metric, is_upper_limit, limit } = comparison;
    let (of, figure) = metric.name.rsplit_once('.')?;
    let (good, counted) = match (of, figure) {
        ("delivery", "ratio") if !is_upper_limit => (*limit, "delivery.owed".to_owned()),
        (_, "rate") => (if *is_upper_limit { 1.0 - limit } else { *limit }, format!("{of}.count")),
        _ if *is_upper_limit => (quantile(figure)?, format!("{of}.count")),
        _ => return None,
    };
    if !(good > 0.0 && good < 1.0) {
        return None;
    }
    // A little less, as 0.95 ^ 59 is 0.0485 and no ratio is exact.
    let events = (RISK.ln() / good.ln() - 1e-9).ceil();
    (events <= MOST).then(|| Need { figure: metric.name.clone(), counted, events: events as u64 })
}

/// The share below a quantile: `p99`, `p999`, `median`.
fn quantile(figure: &str) -> Option<f64> {
    if figure == "median" {
        return Some(0.5);
    }
    let digits =
        figure.strip_prefix('p').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    format!("0.{digits}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, u64)]) {
        let needs = needs(&Threshold::new(expression, true));
        let needs: Vec<_> = needs.iter().map(|need| (need.counted.as_str(), need.events)).collect();
        assert_eq!(needs, expected, "{expression}");
    }

    #[test]
    fn a_trial_needs_as_many_events_as_would_show_a_bad_one_in_nineteen_of_twenty() {
        check(
            "delivery.ratio >= 0.999 and delivery.latency_ms.p99 < 300",
            &[("delivery.owed", 2995), ("delivery.latency_ms.count", 299)],
        );
        check(
            "http_req_duration.p95 < 200 and http_req_failed.rate < 0.01 and checks.rate > 0.9",
            &[("http_req_duration.count", 59), ("http_req_failed.count", 299), ("checks.count", 29)],
        );
        check("200 > http.response_time.median", &[("http.response_time.count", 5)]);
    }

    #[test]
    fn what_no_number_of_events_asserts_needs_none() {
        check(
            "delivery.ratio == 1 and delivery.ratio >= 1 and vusers.failed < 1 and a.max < 5 and a.p99 > 3",
            &[],
        );
    }
}
