//! A run as Artillery tells it: the printed summary, dotted names and dots up to the value, so that scripts which read
//! that output go on; and the report in JSON that its `-o` writes ([`Periods`]).
//!
//! Nothing is computed here: the names and values are [`Metrics`], of which the console prints Artillery's own
//! families.

mod figures;
mod periods;

pub use figures::figures;
pub use periods::Periods;

use sonagi_measure::at::unix_ms;
use sonagi_measure::figures::tame;
use sonagi_measure::summary::{Quantiles, Summary};
use std::collections::BTreeMap;

use crate::names::{Metrics, endpoint_prefix, figures_of};

/// Column of the values.
const VALUE_COLUMN: usize = 81;
/// What Artillery has names for; everything else is ours and not printed.
const FAMILIES: [&str; 7] =
    ["vusers.", "http.", "websocket.", "socketio.", "errors.", "plugins.expect.", "apdex."];
/// Lines of a histogram, by the last part of their names.
const LINES: [&str; 6] = ["min", "max", "mean", "median", "p95", "p99"];

/// Artillery's console summary. Ends with a newline.
pub fn summary(run: &Summary) -> String {
    let mut out = render(run, &Metrics::of(run), &end_clock(&run.started, run.duration_s));
    if let Some(apdex) = &run.plugins.apdex
        && let Some((score, ranking)) = apdex.score.zip(apdex.ranking())
    {
        out.push_str(&format!("\nApdex score: {score} ({ranking})\n"));
    }
    out
}

/// The thresholds, as Artillery lists its checks, and the verdict with its reasons. Not part of [`summary`], whose
/// readers know only Artillery's lines. Ends with a newline.
pub fn checks(run: &Summary) -> String {
    let mut out = String::new();
    if !run.thresholds.is_empty() {
        out.push_str("Checks:\n");
    }
    for threshold in &run.thresholds {
        let (mark, seen) = match (threshold.held, threshold.strict) {
            (true, _) => ("ok", String::new()),
            (false, true) => ("fail", format!(" ({})", threshold.evidence)),
            (false, false) => ("fail, not strict", format!(" ({})", threshold.evidence)),
        };
        out.push_str(&format!("{mark}: {}{seen}\n", tame(&threshold.expression)));
    }
    let reasons: Vec<_> = run.verdict.reasons.iter().map(|reason| tame(reason)).collect();
    out.push_str(&format!("{}  {}: {}\n", run.verdict.result.word(), tame(&run.name), reasons.join("; ")));
    out
}

fn render(run: &Summary, metrics: &Metrics, clock: &str) -> String {
    let Metrics { counters, rates, summaries } = metrics;
    let rate = |rate: &f64| format!("{}/sec", number(rate.round()));
    // By name, whatever they are.
    let mut all: BTreeMap<&str, String> = BTreeMap::new();
    all.extend(counters.iter().map(|(name, count)| (name.as_str(), line("", name, &number(*count)))));
    all.extend(rates.iter().map(|(name, value)| (name.as_str(), line("", name, &rate(value)))));
    all.extend(summaries.iter().map(|(name, values)| (name.as_str(), histogram(name, values))));
    all.retain(|name, _| is_printed(run, name));
    let title = format!("Summary report @ {clock}(+0000)");
    let rule = "-".repeat(title.len());
    format!("{rule}\n{title}\n{rule}\n\n{}", String::from_iter(all.into_values()))
}

/// What Artillery would print: its families, the script's own metrics, and endpoints unless the script hides them.
fn is_printed(run: &Summary, name: &str) -> bool {
    let is_hidden = run.plugins.hidden.iter().any(|part| name.contains(part.as_str()));
    let of_endpoints = || name.starts_with(&endpoint_prefix(&run.plugins.endpoint_prefix));
    let is_known = FAMILIES.iter().any(|family| name.starts_with(family));
    !is_hidden && (is_known || run.metrics.contains_key(name) || of_endpoints())
}

fn histogram(name: &str, values: &Quantiles) -> String {
    let figures = figures_of(values);
    let value = |part: &str| figures.into_iter().find(|(named, _)| *named == part).map(|(_, value)| value);
    let lines = LINES.into_iter().filter_map(|part| Some(line("  ", part, &number(value(part)?))));
    format!("{name}:\n{}", String::from_iter(lines))
}

fn line(indent: &str, name: &str, value: &str) -> String {
    let used = indent.len() + name.chars().count() + 3;
    let dots = ".".repeat(VALUE_COLUMN.saturating_sub(used + 1).max(3));
    format!("{indent}{name}: {dots} {value}\n")
}

/// Artillery rounds to one decimal and prints whole numbers without one.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

/// `HH:MM:SS` at the run's end, from an RFC 3339 start in UTC; `00:00:00` when that is not one.
fn end_clock(started: &str, duration_s: f64) -> String {
    let end = unix_ms(started).map_or(0, |ms| ms / 1000 + duration_s.max(0.0) as u64);
    format!("{:02}:{:02}:{:02}", end / 3600 % 24, end / 60 % 60, end % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_dated_at_the_end_of_the_run() {
        assert_eq!(end_clock("2026-11-20T23:59:50Z", 20.4), "00:00:10");
        assert_eq!(end_clock("", 20.4), "00:00:00");
    }
}
