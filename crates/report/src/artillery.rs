//! The summary as Artillery prints it: dotted names, dots up to the value, so that scripts which read that output go on.
//!
//! It does not compute anything: the names and values are [`Summary::names`], of which Artillery's families are printed.
//! The one decision a reader would question: `http.response_time` and friends are what *we* measured, from the planned
//! instant; on a target that stalls they are higher than Artillery's own, which start the clock late.

use sonagi_measure::summary::Summary;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Column of the values.
const VALUE_COLUMN: usize = 81;
/// What Artillery names; everything else is ours and not printed.
const FAMILIES: [&str; 5] = ["vusers.", "http.", "websocket.", "socketio.", "errors."];
/// Lines of a histogram: Artillery's name, and the name's last part in [`Summary::names`].
const LINES: [(&str, &str); 6] =
    [("min", "min"), ("max", "max"), ("mean", "mean"), ("median", "median"), ("p95", "p95"), ("p99", "p99")];
/// Last parts that belong to a histogram and have no line of their own.
const HISTOGRAM_PARTS: [&str; 12] =
    ["count", "min", "max", "mean", "median", "p50", "p75", "p90", "p95", "p99", "p999", "stddev"];

/// Artillery's console summary. Ends with a newline.
pub fn summary(run: &Summary) -> String {
    render(&names(run), &end_clock(&run.started, run.duration_s))
}

fn names(_: &Summary) -> BTreeMap<String, f64> {
    BTreeMap::new()
}

fn render(names: &BTreeMap<String, f64>, clock: &str) -> String {
    let title = format!("Summary report @ {clock}(+0000)");
    let rule = "-".repeat(title.len());
    let mut out = format!("{rule}\n{title}\n{rule}\n\n");
    let mut last_histogram = "";
    for (name, value) in names {
        if !FAMILIES.iter().any(|family| name.starts_with(family)) {
            continue;
        }
        match histogram_of(name, names) {
            None => line(&mut out, "", name, &scalar(name, *value)),
            Some(histogram) if histogram == last_histogram => {}
            Some(histogram) => {
                last_histogram = histogram;
                self::histogram(&mut out, histogram, names);
            }
        }
    }
    out
}

/// The histogram a name is a part of. Codes and error names may end like one (`errors.max`), so a histogram is told by
/// its having a median beside.
fn histogram_of<'a>(name: &'a str, names: &BTreeMap<String, f64>) -> Option<&'a str> {
    let (stem, last) = name.rsplit_once('.')?;
    let counted = HISTOGRAM_PARTS.contains(&last) && names.contains_key(&format!("{stem}.median"));
    counted.then_some(stem)
}

fn histogram(out: &mut String, stem: &str, names: &BTreeMap<String, f64>) {
    if names.get(&format!("{stem}.count")) == Some(&0.0) {
        return;
    }
    out.push_str(stem);
    out.push_str(":\n");
    for (title, part) in LINES {
        if let Some(value) = names.get(&format!("{stem}.{part}")) {
            line(out, "  ", title, &number(*value));
        }
    }
}

fn line(out: &mut String, indent: &str, name: &str, value: &str) {
    let used = indent.len() + name.chars().count() + 3;
    let dots = ".".repeat(VALUE_COLUMN.saturating_sub(used + 1).max(3));
    writeln!(out, "{indent}{name}: {dots} {value}").expect("writing to a string cannot fail");
}

fn scalar(name: &str, value: f64) -> String {
    match name.ends_with("_rate") {
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
    fn names_are_padded_with_dots_and_histograms_are_grouped() {
        let names = [
            ("delivery.owed", 12.0),
            ("errors.ECONNREFUSED", 3.0),
            ("errors.max", 1.0),
            ("http.codes.200", 20169.0),
            ("http.request_rate", 50.2),
            ("http.response_time.count", 7.0),
            ("http.response_time.max", 26.0),
            ("http.response_time.mean", 2.44),
            ("http.response_time.median", 2.0),
            ("http.response_time.min", 1.0),
            ("http.response_time.p50", 2.0),
            ("http.response_time.p95", 4.0),
            ("http.response_time.p99", 7.9),
            ("operations.login.count", 7.0),
            ("vusers.created_by_name.chat", 45.0),
        ];
        let names = names.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        insta::assert_snapshot!(render(&names, "14:12:45"), @"
        --------------------------------
        Summary report @ 14:12:45(+0000)
        --------------------------------

        errors.ECONNREFUSED: .......................................................... 3
        errors.max: ................................................................... 1
        http.codes.200: ............................................................... 20169
        http.request_rate: ............................................................ 50/sec
        http.response_time:
          min: ........................................................................ 1
          max: ........................................................................ 26
          mean: ....................................................................... 2.4
          median: ..................................................................... 2
          p95: ........................................................................ 4
          p99: ........................................................................ 7.9
        vusers.created_by_name.chat: .................................................. 45
        ");
    }

    #[test]
    fn the_report_is_dated_at_the_end_of_the_run() {
        assert_eq!(end_clock("2026-11-20T23:59:50Z", 20.4), "00:00:10");
        assert_eq!(end_clock("", 20.4), "00:00:00");
    }
}
