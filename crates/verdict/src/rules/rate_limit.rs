//! A rate limit: 429 (RFC 6585) on any transport. A limit, not a bottleneck: somebody wants it so.

use super::{Ruling, evidence, figure, percent, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use sonagi_measure::metrics::TagSet;

/// Fewer are an accident.
const LEAST: (f64, f64) = (0.005, 3.0);

/// The second of the first handshake or poll that was refused so.
fn first_refused(case: &Case<'_>) -> usize {
    let errors = case.summary.errors.iter().filter(|error| error.code.ends_with("_refused_429"));
    errors.map(|error| error.first_at_s).reduce(f64::min).map_or(0, |at| at.max(0.0) as usize)
}

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let is_refused =
        |tags: &TagSet| tags.iter().any(|(name, value)| ["code", "status"].contains(&name) && value == "429");
    let answered: f64 = case.timeline.rate_where("http.codes", is_refused).iter().sum();
    // Upgrades to a WebSocket are no answers of HTTP's; handshakes by a request and polls are both, and count once.
    let failed = case.failures(&["handshake_refused_429", "poll_refused_429"]) as f64;
    let refused = answered.max(failed);
    let all: f64 = case.timeline.rate("http.codes").iter().sum::<f64>();
    let opened: f64 = case.timeline.rate("connections.opened").iter().sum::<f64>();
    let all = (all + (failed - answered).max(0.0) + if all > 0.0 { 0.0 } else { opened }).max(1.0);
    // nginx answers 503 unless it is told another status, and writes down that it was a limit.
    let limited = case.total("nginx.log.limited").unwrap_or(0.0);
    let is_told = refused >= LEAST.1 && refused >= LEAST.0 * all;
    if !is_told && limited < LEAST.1 {
        return Ruling::RuledOut("no answer was 429".to_owned());
    }
    let rates = case.timeline.rate_where("http.codes", is_refused);
    let onset_s = match is_told {
        true => rates.iter().position(|rate| *rate > 0.0).unwrap_or_else(|| first_refused(case)),
        false => case.first("nginx.log.limited"),
    };
    let seconds = case.timeline.len().max(1) as f64;
    let mut found = Vec::new();
    if is_told {
        let (share, served) = (percent(refused / all), (all - refused) / seconds);
        let text = format!(
            "{refused} answers were 429 ({share} of all); {served} a second were let through",
            served = figure(served),
            refused = whole(refused)
        );
        found.push(evidence("http.codes", text));
    }
    if limited > 0.0 {
        let text =
            format!("nginx says {limited} times in its error log that it limits", limited = whole(limited));
        found.push(evidence("nginx.log.limited", text));
    }
    Ruling::Fires(Finding {
        id: "rate_limit",
        title: "The target refuses what is beyond a limit that somebody has set.".to_owned(),
        confidence: Confidence::Certain,
        onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "decide whether the limit is meant for this load; raise it where it is set (nginx limit_req, an API \
                 gateway, the framework's throttler)",
                [3, 3, 3, 3, 2, 2, 2],
            ),
            remedy(
                "let the test come from more addresses or accounts, if the limit is for each of them",
                [2, 2, 2, 3, 2, 2, 3],
            ),
            remedy("have clients wait as Retry-After says", [2, 2, 3, 3, 3, 2, 3]),
        ],
    })
}
