//! Answers that say the service would not or could not: 429 and 5xx. They are answers, and often the fastest ones, so
//! that latency does not show them. Other error statuses (404, 401) are mostly what scripts ask for.

use super::{FAILING, Symptom, SymptomKind};
use crate::timeline::Timeline;
use sonagi_measure::figures::count;
use sonagi_measure::metrics::TagSet;
use sonagi_measure::summary::Summary;

/// Statuses that are told one by one.
const TOLD: usize = 3;

fn is_refusal(status: u16) -> bool {
    status == 429 || status >= 500
}

pub(super) fn symptom(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let all: u64 = summary.http_codes.values().sum();
    let is_many = |times: u64| times >= FAILING.1 && times as f64 >= FAILING.0 * all as f64;
    let mut errors: Vec<(u16, u64)> = summary
        .http_codes
        .iter()
        .map(|(code, times)| (*code, *times))
        .filter(|(code, _)| is_refusal(*code))
        .collect();
    let unasked =
        errors.iter().map(|(_, times)| times).sum::<u64>().saturating_sub(summary.statuses.expected);
    if !is_many(unasked) {
        return None;
    }
    errors.retain(|(_, times)| is_many(*times));
    errors.sort_by_key(|(code, times)| (std::cmp::Reverse(*times), *code));
    errors.truncate(TOLD);
    let share = |times: u64| 100.0 * times as f64 / all.max(1) as f64;
    let told: Vec<String> = errors
        .iter()
        .enumerate()
        .map(|(at, (code, times))| match at {
            0 => format!("{} of {} answers were {code} ({:.1} %)", count(*times), count(all), share(*times)),
            _ => format!("{} were {code} ({:.1} %)", count(*times), share(*times)),
        })
        .collect();
    let text = match told.is_empty() {
        true => format!(
            "{} of {} answers had an error status ({:.1} %)",
            count(unasked),
            count(all),
            share(unasked)
        ),
        false => told.join(", "),
    };
    Some(Symptom::new(SymptomKind::Refused, onset(timeline), text))
}

/// The first second with such an answer.
fn onset(timeline: &Timeline) -> usize {
    let is_error = |tags: &TagSet| {
        let statuses = tags.iter().filter(|(name, _)| ["code", "status"].contains(name));
        statuses.filter_map(|(_, status)| status.parse::<u16>().ok()).any(is_refusal)
    };
    let metrics = ["http.codes", "http_reqs"].map(|metric| timeline.rate_where(metric, is_error));
    metrics.iter().filter_map(|rates| rates.iter().position(|rate| *rate > 0.0)).min().unwrap_or(0)
}
