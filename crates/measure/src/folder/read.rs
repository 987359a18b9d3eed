//! Reading a run folder back.

use super::hlog::Tags;
use super::series::{COMMIT, Reader};
use super::{EVENTS, LATENCY, RUN, SERIES, hlog};
use crate::At;
use crate::outcome::Failure;
use crate::recorder::{FailureCount, merge_failure};
use crate::summary::{Service, Summary};
use crate::thresholds::Judged;
use crate::totals::{Header, Snapshot, Tally};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder cannot be read as a run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);

/// Recomputes the summary from the folder's files (a cut-off run has `complete == false`).
///
/// # Errors
/// There is no `run.json` with a header. Missing or torn series are no error: they are what a cut-off run leaves.
pub fn read(path: &Path) -> Result<Summary, ReadError> {
    let run = document(path)?;
    let mut tally = Tally::new(header_of(&run, path)?);
    for snapshot in snapshots_of(path, &tally.header) {
        tally.absorb(&snapshot);
    }
    let end = run.get("summary").filter(|summary| !summary.is_null());
    let said = |name: &str| end.and_then(|end| end.get(name)).and_then(Value::as_bool).unwrap_or(false);
    tally.complete = said("complete");
    tally.interrupted = said("interrupted");
    tally.run_folder = Some(path.display().to_string());
    let mut summary = tally.summary();
    // What no series tells: who started the run entered it.
    if let Some(Value::Object(combination)) = end.and_then(|end| end.get("combination")) {
        summary.combination = combination.clone();
    }
    // Nor what a k6 script's thresholds came to.
    let judged = end.and_then(|end| end.get("thresholds")).cloned().unwrap_or_default();
    if tally.header.thresholds.is_empty()
        && let Ok(judged) = serde_json::from_value::<Vec<Judged>>(judged)
        && !judged.is_empty()
    {
        summary = summary.judged(judged.into_iter().map(with_metrics).collect());
    }
    let service = end.and_then(|end| end.get("service")).cloned().unwrap_or_default();
    Ok(match serde_json::from_value::<Service>(service) {
        Ok(service) => summary.beside(service),
        Err(_) => summary,
    })
}

/// A k6 script's threshold with the metric it is about, which older folders keep only in its text: `sonagi_lost:
/// count<5`.
fn with_metrics(mut judged: Judged) -> Judged {
    if judged.metrics.is_empty() {
        judged.metrics.extend(judged.expression.split([':', '{']).next().map(str::to_owned));
    }
    judged
}

/// The run's header.
///
/// # Errors
/// As [`read`].
pub fn header(path: &Path) -> Result<Header, ReadError> {
    header_of(&document(path)?, path)
}

/// Every complete second of the run, in order.
///
/// # Errors
/// As [`read`].
pub fn snapshots(path: &Path) -> Result<Vec<Snapshot>, ReadError> {
    let header = header(path)?;
    Ok(snapshots_of(path, &header))
}

fn document(path: &Path) -> Result<Value, ReadError> {
    let file = path.join(RUN);
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let file = file.display();
        ReadError(format!(
            "a run folder holds a readable {RUN}, got {error} for {file}\nhint: name the folder of one run"
        ))
    })?;
    serde_json::from_str(&text).map_err(|error| ReadError(format!("{} is not JSON: {error}", file.display())))
}

fn header_of(run: &Value, path: &Path) -> Result<Header, ReadError> {
    let header = run.get("header").cloned().unwrap_or_default();
    serde_json::from_value(header).map_err(|error| {
        ReadError(format!("{} has no header this version knows: {error}", path.join(RUN).display()))
    })
}

fn snapshots_of(path: &Path, header: &Header) -> Vec<Snapshot> {
    let bytes = |name: &str| std::fs::read(path.join(name)).unwrap_or_default();
    let reader = Reader::new(header);
    let mut snapshots = committed(&bytes(SERIES), &reader);
    enter_events(&bytes(EVENTS), &reader, &mut snapshots);
    hlog::enter(&bytes(LATENCY), &Tags::new(header), &mut snapshots);
    snapshots.into_values().collect()
}

/// The seconds whose last row is there.
fn committed(series: &[u8], reader: &Reader<'_>) -> BTreeMap<u64, Snapshot> {
    let whole = series.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(&series[..whole]);
    let (mut done, mut current) = (BTreeMap::new(), None::<Snapshot>);
    for row in csv.records().map_while(Result::ok) {
        let (Some(second), Some(series), Some(value)) = (row.get(0), row.get(1), row.get(2)) else {
            continue;
        };
        let Ok(second) = second.parse() else { continue };
        if current.as_ref().is_none_or(|snapshot| snapshot.second != second) {
            current = Some(reader.blank(second));
        }
        if let Some(snapshot) = &mut current {
            reader.enter(snapshot, series, value);
        }
        if series == COMMIT {
            done.extend(current.take().map(|snapshot| (second, snapshot)));
        }
    }
    done
}

/// What the events say of their seconds. A torn line, and what is not ours, are left out.
fn enter_events(events: &[u8], reader: &Reader<'_>, snapshots: &mut BTreeMap<u64, Snapshot>) {
    for line in events.split(|&byte| byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
        let second = event.get("second").and_then(Value::as_u64);
        let Some(snapshot) = second.and_then(|second| snapshots.get_mut(&second)) else { continue };
        match event.get("kind").and_then(Value::as_str) {
            Some("error") => enter_error(&event, reader, snapshot),
            Some("custom") => enter_custom(&event, snapshot),
            Some("expectations") => enter_expectations(&event, snapshot),
            _ => {}
        }
    }
}

/// First time and example of a failure.
fn enter_error(event: &Value, reader: &Reader<'_>, snapshot: &mut Snapshot) {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let Some(failure) = text("code").and_then(Failure::from_code) else { return };
    let instant = |name: &str| At(event.get(name).and_then(Value::as_i64).unwrap_or(i64::MAX));
    let operation = text("operation").and_then(|name| reader.operation(name));
    let told = FailureCount {
        first_at: instant("at_ns"),
        called: text("called").unwrap_or_default().to_owned(),
        example: text("example").unwrap_or_default().to_owned(),
        example_at: instant("example_at_ns"),
        ..FailureCount::none(operation, failure)
    };
    merge_failure(&mut snapshot.failures, &told);
}

/// What the script's functions reported; the values of histograms are in the log of latencies.
fn enter_custom(event: &Value, snapshot: &mut Snapshot) {
    let Some(Value::Object(metrics)) = event.get("metrics") else { return };
    for (name, told) in metrics {
        let kind = told.get("kind").and_then(|kind| serde_json::from_value(kind.clone()).ok());
        let Some(metric) = kind.and_then(|kind| snapshot.custom.of(kind, name)) else { continue };
        metric.count = told.get("count").and_then(Value::as_u64).unwrap_or(0);
        metric.sum = told.get("sum").and_then(Value::as_f64).unwrap_or(0.0);
    }
    snapshot.custom.left_out = event.get("left_out").and_then(Value::as_u64).unwrap_or(0);
}

/// How many of the script's expectations held.
fn enter_expectations(event: &Value, snapshot: &mut Snapshot) {
    let Some(Value::Object(kinds)) = event.get("kinds") else { return };
    for (kind, told) in kinds {
        let count = |name: &str| told.get(name).and_then(Value::as_u64).unwrap_or(0);
        let example = told.get("example").and_then(Value::as_str);
        let at = told.get("example_at_ns").and_then(Value::as_i64);
        let expected = snapshot.expectations.of(kind);
        (expected.ok, expected.failed) = (count("ok"), count("failed"));
        expected.example = at.zip(example).map(|(at, example)| (At(at), example.to_owned()));
    }
}
