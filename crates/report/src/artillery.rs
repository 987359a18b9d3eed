//! The summary as Artillery prints it: dotted names, dots up to the value, so that scripts which read that output go on.
//!
//! It does not compute anything: the names and values are [`Summary::names`], of which Artillery's families are printed.
//! The one decision a reader would question: `http.response_time` and friends are what *we* measured, from the planned
//! instant; on a target that stalls they are higher than Artillery's own, which start the clock late.

use crate::console::word;
use crate::page::tame;
use sonagi_measure::custom::Kind;
use sonagi_measure::summary::Summary;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Column of the values.
const VALUE_COLUMN: usize = 81;
/// What Artillery names beside errors; everything else is ours and not printed.
const FAMILIES: [&str; 5] = ["vusers.", "http.", "websocket.", "socketio.", "plugins.expect."];
/// Counts that are printed even when they are zero, as Artillery does.
const ALWAYS: [&str; 3] = ["vusers.created", "vusers.completed", "vusers.failed"];
const HISTOGRAMS: [&str; 3] = ["http.response_time", "socketio.response_time", "vusers.session_length"];
/// Lines of a histogram, by the last part of their names.
const LINES: [&str; 6] = ["min", "max", "mean", "median", "p95", "p99"];

/// Artillery's console summary. Ends with a newline.
pub fn summary(run: &Summary) -> String {
    render(run, &names(run), &end_clock(&run.started, run.duration_s))
}

/// The thresholds, as Artillery lists its checks, and the verdict with its reasons. Not part of [`summary`], whose readers
/// know only Artillery's lines. Ends with a newline.
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
    out.push_str(&format!("{}  {}: {}\n", word(run.verdict.result), tame(&run.name), reasons.join("; ")));
    out
}

/// What is printed, by Artillery's names. An error goes by Artillery's name only, not by our code as well.
fn names(run: &Summary) -> BTreeMap<String, f64> {
    let mut names = run.names();
    names.retain(|name, value| {
        let is_own = run.custom.contains_key(name) || histogram_of(run, name).is_some();
        is_own
            || FAMILIES.iter().any(|family| name.starts_with(family))
                && (*value != 0.0 || ALWAYS.contains(&name.as_str()))
    });
    for error in &run.errors {
        *names.entry(format!("errors.{}", error.artillery)).or_default() += error.count as f64;
    }
    names
}

fn render(run: &Summary, names: &BTreeMap<String, f64>, clock: &str) -> String {
    let title = format!("Summary report @ {clock}(+0000)");
    let rule = "-".repeat(title.len());
    let mut out = format!("{rule}\n{title}\n{rule}\n\n");
    let mut last_histogram = "";
    for (name, value) in names {
        match histogram_of(run, name) {
            None => line(&mut out, "", name, &scalar(run, name, *value)),
            Some(histogram) if histogram == last_histogram => {}
            Some(histogram) => {
                last_histogram = histogram;
                self::histogram(&mut out, histogram, names);
            }
        }
    }
    out
}

/// The histogram a name is a part of: one of Artillery's, or of the script's own.
fn histogram_of<'r>(run: &'r Summary, name: &str) -> Option<&'r str> {
    let own =
        run.custom.iter().filter(|(_, metric)| metric.kind == Kind::Histogram).map(|(name, _)| name.as_str());
    let part_of = |stem: &&str| name.strip_prefix(*stem).is_some_and(|rest| rest.starts_with('.'));
    HISTOGRAMS.into_iter().chain(own).find(part_of)
}

fn histogram(out: &mut String, stem: &str, names: &BTreeMap<String, f64>) {
    if names.get(&format!("{stem}.count")).is_none_or(|count| *count == 0.0) {
        return;
    }
    out.push_str(stem);
    out.push_str(":\n");
    for part in LINES {
        if let Some(value) = names.get(&format!("{stem}.{part}")) {
            line(out, "  ", part, &number(*value));
        }
    }
}

fn line(out: &mut String, indent: &str, name: &str, value: &str) {
    let used = indent.len() + name.chars().count() + 3;
    let dots = ".".repeat(VALUE_COLUMN.saturating_sub(used + 1).max(3));
    writeln!(out, "{indent}{name}: {dots} {value}").expect("writing to a string cannot fail");
}

fn scalar(run: &Summary, name: &str, value: f64) -> String {
    let is_rate = match run.custom.get(name) {
        Some(own) => own.kind == Kind::Rate,
        None => name.ends_with("_rate"),
    };
    match is_rate {
        true => format!("{}/sec", number(value.round())),
        false => number(value),
    }
}

/// Artillery rounds to one decimal and prints whole numbers without one.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

/// `HH:MM:SS` at the run's end, from an RFC 3339 start in UTC; `00:00:00` when that is not one.
fn end_clock(started: &str, duration_s: f64) -> String {
    let part = |range: std::ops::Range<usize>| started.get(range).and_then(|text| text.parse::<u64>().ok());
    let start = match (part(11..13), part(14..16), part(17..19)) {
        (Some(hours), Some(minutes), Some(seconds)) => hours * 3600 + minutes * 60 + seconds,
        _ => return "00:00:00".to_string(),
    };
    let end = (start + duration_s.max(0.0) as u64) % 86_400;
    format!("{:02}:{:02}:{:02}", end / 3600, end / 60 % 60, end % 60)
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
