//! Reading a run folder back.

use super::hlog::Tags;
use super::places::Places;
use super::series::Decoder;
use super::{EVENTS, LATENCY, RUN, SERIES, VERSION, hlog, version1};
use crate::At;
use crate::metrics::{MetricStore, Registry};
use crate::outcome::Failure;
use crate::recorder::{FailureCount, merge_failure};
use crate::summary::{Service, Summary};
use crate::thresholds::Judged;
use crate::totals::{Header, Snapshot, Tally};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

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
    let version = version_of(&run, path)?;
    let registry = Arc::new(Registry::default());
    let mut tally = Tally::new(header_of(&run, path)?, MetricStore::new(Arc::clone(&registry)));
    for snapshot in snapshots_of(path, version, &tally.header, &registry) {
        tally.absorb(&snapshot);
    }
    let end = run.get("summary").filter(|summary| !summary.is_null());
    let said = |name: &str| end.and_then(|end| end.get(name)).and_then(Value::as_bool).unwrap_or(false);
    tally.complete = said("complete");
    tally.interrupted = said("interrupted");
    tally.run_folder = Some(path.display().to_string());
    let mut summary = tally.summary();
    // No series has it: the code that started the run entered it.
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
/// When [`read`] fails.
pub fn header(path: &Path) -> Result<Header, ReadError> {
    header_of(&document(path)?, path)
}

/// The run's metrics by name, with every value that the run's own store had.
///
/// # Errors
/// When [`read`] fails.
pub fn metrics(path: &Path) -> Result<MetricStore, ReadError> {
    let run = document(path)?;
    let (version, header) = (version_of(&run, path)?, header_of(&run, path)?);
    let registry = Arc::new(Registry::default());
    let mut store = MetricStore::new(Arc::clone(&registry));
    for snapshot in snapshots_of(path, version, &header, &registry) {
        store.absorb(&snapshot.metrics);
    }
    Ok(store)
}

/// Every complete second of the run, in order.
///
/// # Errors
/// When [`read`] fails.
pub fn snapshots(path: &Path) -> Result<Vec<Snapshot>, ReadError> {
    let run = document(path)?;
    let (version, header) = (version_of(&run, path)?, header_of(&run, path)?);
    Ok(snapshots_of(path, version, &header, &Arc::default()))
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

/// Folders say which version they are of since the second.
fn version_of(run: &Value, path: &Path) -> Result<u64, ReadError> {
    let version = run.get("version").map_or(Some(1), Value::as_u64);
    version.filter(|version| (1..=VERSION).contains(version)).ok_or_else(|| {
        let (file, version) = (path.join(RUN), &run["version"]);
        ReadError(format!(
            "run folders up to version {VERSION} are read, got version {version} in {}\nhint: a newer sonagi wrote it; \
             read it with that",
            file.display()
        ))
    })
}

fn header_of(run: &Value, path: &Path) -> Result<Header, ReadError> {
    let header = run.get("header").cloned().unwrap_or_default();
    serde_json::from_value(header).map_err(|error| {
        ReadError(format!("{} has no header this version knows: {error}", path.join(RUN).display()))
    })
}

fn snapshots_of(path: &Path, version: u64, header: &Header, registry: &Arc<Registry>) -> Vec<Snapshot> {
    let bytes = |name: &str| std::fs::read(path.join(name)).unwrap_or_default();
    let mut snapshots = match version {
        1 => version1::seconds(&bytes(version1::SERIES), header),
        _ => seconds(&bytes(SERIES), header, registry),
    };
    enter_events(&bytes(EVENTS), header, registry, &mut snapshots);
    hlog::enter(&bytes(LATENCY), &Tags::new(header), &mut snapshots);
    snapshots.into_values().collect()
}

/// The seconds whose line is whole.
fn seconds(series: &[u8], header: &Header, registry: &Arc<Registry>) -> BTreeMap<u64, Snapshot> {
    let mut decoder = Decoder::new(header, Arc::clone(registry));
    let whole = series.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = series[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| decoder.snapshot(line)).map(|snapshot| (snapshot.second, snapshot)).collect()
}

/// What the events say of their seconds. A torn line, and what is not ours, are left out.
fn enter_events(
    events: &[u8],
    header: &Header,
    registry: &Registry,
    snapshots: &mut BTreeMap<u64, Snapshot>,
) {
    let places = Places::new(header);
    for line in events.split(|&byte| byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
        let second = event.get("second").and_then(Value::as_u64);
        let Some(snapshot) = second.and_then(|second| snapshots.get_mut(&second)) else { continue };
        match event.get("kind").and_then(Value::as_str) {
            Some("error") => enter_error(&event, &places, snapshot),
            Some("custom") => version1::enter_reported(&event, registry, snapshot),
            Some("expectations") => enter_expectations(&event, snapshot),
            _ => {}
        }
    }
}

/// First time and example of a failure.
fn enter_error(event: &Value, places: &Places<'_>, snapshot: &mut Snapshot) {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let Some(failure) = text("code").and_then(Failure::from_code) else { return };
    let instant = |name: &str| At(event.get(name).and_then(Value::as_i64).unwrap_or(i64::MAX));
    let operation = text("operation").and_then(|name| places.operation(name));
    let told = FailureCount {
        first_at: instant("at_ns"),
        called: text("called").unwrap_or_default().to_owned(),
        example: text("example").unwrap_or_default().to_owned(),
        example_at: instant("example_at_ns"),
        ..FailureCount::none(operation, failure)
    };
    merge_failure(&mut snapshot.failures, &told);
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
