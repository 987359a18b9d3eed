//! Reading a run folder back, second by second: what is in memory is one of them, and whatever is made of it.

use super::hlog;
use super::lines::WholeLines;
use super::places::Places;
use super::{DRAINING, EVENTS, LATENCY, RUN, SERIES, VERSION, series, version1};
use crate::at::At;
use crate::metrics::{MetricStore, Registry};
use crate::outcome::{Failure, OperationId};
use crate::recorder::{FailureCount, merge_failure};
use crate::summary::{Naming, Service, Summary, Verdict};
use crate::thresholds::Judged;
use crate::totals::{Header, Snapshot, Tally};
use serde::Deserialize;
use serde_json::Value;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder cannot be read as a run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);

/// Recomputes the summary from the folder's files (a cut-off run has `complete == false`). `naming` has the names that
/// the thresholds of its header use.
///
/// # Errors
/// There is no `run.json` with a header. Missing or torn series are no error: they are what a cut-off run leaves.
pub fn read(path: &Path, naming: Naming) -> Result<Summary, ReadError> {
    let folder = Reader { naming, ..Reader::open(path)? };
    Ok(folder.summed_up(MetricStore::default()).0)
}

/// The run's header.
///
/// # Errors
/// When [`read`] fails.
pub fn header(path: &Path) -> Result<Header, ReadError> {
    Reader::open(path).map(|folder| Header::clone(&folder.header))
}

/// A run folder that is read.
pub struct Reader {
    pub(super) path: PathBuf,
    version: u64,
    header: Arc<Header>,
    /// The names that thresholds of the header use.
    pub(super) naming: Naming,
    /// What `run.json` says of the run's end; None: it was cut off.
    end: Option<Value>,
}

impl Reader {
    /// Of the folder at this path.
    ///
    /// # Errors
    /// As [`read`].
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        let mut run = document(path)?;
        let (version, header) = (version_of(&run, path)?, Arc::new(header_of(&run, path)?));
        let end = run.get_mut("summary").map(Value::take).filter(|summary| !summary.is_null());
        Ok(Reader { path: path.to_owned(), version, header, naming: Naming::PATHS, end })
    }

    /// The run's header.
    pub fn header(&self) -> &Arc<Header> {
        &self.header
    }

    /// Whether the run's end is in the folder.
    pub fn has_end(&self) -> bool {
        self.end.is_some()
    }

    /// Every complete second of the run, in order; its metrics are entered into the registry. Of a run under way, more
    /// may come after the last one: ask again.
    pub fn seconds(&self, registry: &Arc<Registry>) -> impl Iterator<Item = Snapshot> + Send + use<> {
        let file = |name: &str| WholeLines::open(&self.path.join(name));
        let places = Places::new(&self.header);
        let mut seconds: Box<dyn Iterator<Item = Snapshot> + Send> = match self.version {
            1 => Box::new(version1::Decoder::new(Arc::clone(&places), file(version1::SERIES))),
            _ => {
                let mut decoder = series::Decoder::new(Arc::clone(&places), Arc::clone(registry));
                Box::new(file(SERIES).filter_map(move |line| decoder.snapshot(&line)))
            }
        };
        let mut latencies = hlog::Decoder::new(&self.header, file(LATENCY));
        let registry = Arc::clone(registry);
        let mut events = Events { places, registry, lines: file(EVENTS), ahead: None };
        iter::from_fn(move || {
            let mut snapshot = seconds.next()?;
            events.enter(&mut snapshot);
            latencies.enter(&mut snapshot);
            Some(snapshot)
        })
    }

    /// Everything that was written down beside the seconds, in order: an object each, with `at_ns`, `kind` and what
    /// belongs to it. Of a run under way, more may come.
    pub fn events(&self) -> impl Iterator<Item = Value> + Send + use<> {
        WholeLines::open(&self.path.join(EVENTS)).filter_map(|line| serde_json::from_slice(&line).ok())
    }

    /// When the last phase of the script was over, from the run's begin on; None: it has none, or has not ended.
    pub fn phases_ended(&self) -> Option<At> {
        let over = self.events().find(|event| event["kind"] == DRAINING)?;
        over["at_ns"].as_i64().map(At)
    }

    /// The whole run, by the code that sums it up when it ends: its summary, and every value of its metrics. The store
    /// is one that has seen nothing.
    pub fn summed_up(&self, metrics: MetricStore) -> (Summary, MetricStore) {
        let seconds = self.seconds(metrics.registry());
        let mut tally = self.tally(metrics);
        seconds.for_each(|snapshot| tally.absorb(&snapshot));
        let summary = self.concluded(&mut tally);
        (summary, tally.metrics)
    }

    /// The part of the run from this second on by itself: what its times are once it is warm. Thresholds are not
    /// judged. The store is one that has seen nothing.
    pub fn summed_up_from(&self, second: u64, metrics: MetricStore) -> Summary {
        let seconds = self.seconds(metrics.registry()).filter(|snapshot| snapshot.second >= second);
        let mut tally = self.tally(metrics);
        tally.header.thresholds.clear();
        seconds.for_each(|snapshot| tally.absorb_part(&snapshot));
        tally.summary()
    }

    /// Nothing of the run yet.
    pub(super) fn tally(&self, metrics: MetricStore) -> Tally {
        let mut tally = Tally::new(Header::clone(&self.header), metrics);
        tally.run_folder = Some(self.path.display().to_string());
        tally.naming = self.naming;
        tally
    }

    /// The summary of a run whose seconds are all in the tally.
    pub(super) fn concluded(&self, tally: &mut Tally) -> Summary {
        let said = |name: &str| self.of_end(name).as_bool().unwrap_or(false);
        (tally.complete, tally.interrupted) = (said("complete"), said("interrupted"));
        // Judged of figures as they were then.
        tally.ended_by = self.judged();
        tally.ended_by.retain(|judged| judged.ended_run_s.is_some());
        let mut summary = tally.summary();
        // No series has it: the code that started the run entered it.
        if let Value::Object(combination) = self.of_end("combination") {
            summary.combination = combination.clone();
        }
        summary.samples_left_out = self.of_end("samples_left_out").as_u64().unwrap_or(0);
        self.enter_judgement(&mut summary);
        if let Ok(service) = serde_json::from_value::<Service>(self.of_end("service").clone()) {
            summary = summary.beside(service);
        }
        summary
    }

    /// What `run.json` says of the run's end under this name.
    fn of_end(&self, name: &str) -> &Value {
        self.end.as_ref().and_then(|end| end.get(name)).unwrap_or(&Value::Null)
    }

    /// What the run's thresholds came to, as `run.json` says; empty of a run that was cut off.
    fn judged(&self) -> Vec<Judged> {
        Vec::<Judged>::deserialize(self.of_end("thresholds")).unwrap_or_default()
    }

    /// Nor does a series tell how a script's language judged its run by rules of its own.
    fn enter_judgement(&self, summary: &mut Summary) {
        let judged = self.judged();
        let is_languages = self.header.language.is_some() || !judged.is_empty();
        if !self.header.thresholds.is_empty() || !is_languages {
            return;
        }
        summary.thresholds = judged;
        // Older folders keep the name of a threshold's one metric only in its text: `checks: rate>0.9`.
        for judged in summary.thresholds.iter_mut().filter(|judged| judged.metrics.is_empty()) {
            judged.metrics.extend(judged.expression.split([':', '{']).next().map(str::to_owned));
        }
        if let Ok(verdict) = Verdict::deserialize(self.of_end("verdict")) {
            summary.verdict = verdict;
        }
    }
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

/// What the events say of their seconds. Torn lines, and what is not ours, are left out.
struct Events {
    places: Arc<Places>,
    registry: Arc<Registry>,
    lines: WholeLines,
    /// The first event of a later second.
    ahead: Option<Value>,
}

impl Events {
    /// Enters the events of this second; those of the seconds before it have been asked for.
    fn enter(&mut self, snapshot: &mut Snapshot) {
        while let Some(event) = self.next() {
            let Some(second) = event.get("second").and_then(Value::as_u64) else { continue };
            if second > snapshot.second {
                self.ahead = Some(event);
                return;
            }
            match event.get("kind").and_then(Value::as_str).filter(|_| second == snapshot.second) {
                Some("error") => enter_error(&event, &self.places, snapshot),
                Some("custom") => version1::enter_reported(&event, &self.registry, snapshot),
                Some("expectations") => enter_expectations(&event, snapshot),
                _ => {}
            }
        }
    }

    /// The next event that can be read.
    fn next(&mut self) -> Option<Value> {
        self.ahead.take().or_else(|| self.lines.find_map(|line| serde_json::from_slice(&line).ok()))
    }
}

/// First time and example of a failure.
fn enter_error(event: &Value, places: &Places, snapshot: &mut Snapshot) {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let Some(failure) = text("code").and_then(Failure::from_code) else { return };
    let instant = |name: &str| At(event.get(name).and_then(Value::as_i64).unwrap_or(i64::MAX));
    let operation = text("operation").and_then(|name| places.operation(name));
    let operation = operation.map(|id| OperationId(id as u16));
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
