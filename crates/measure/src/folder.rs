//! The run folder: `run.json`, `latency.hlog`, `series.jsonl`, `events.jsonl`; written as the run goes, readable after
//! a crash up to its last second.
//!
//! A second is committed by its line in `series.jsonl`, written after everything else of that
//! second. The reader ignores what no such line vouches for, so a run cut off anywhere reads as a shorter run, never as
//! a wrong one. No figure is taken from `run.json`'s summary: figures come from the series, and a finished run's come
//! out equal to what was printed (a test holds this).

mod follow;
mod hlog;
mod lines;
mod places;
mod read;
mod redact;
mod series;
mod version1;

pub use follow::{Follower, Judge, RunState};
pub(crate) use places::Count;
pub use read::{ReadError, Reader, header, read};
pub use redact::redact;

use crate::at::At;
use crate::expectations::Expected;
use crate::recorder::{FailureCount, merge_failure};
use crate::summary::Summary;
use crate::totals::{Header, Snapshot};
use lines::Lines;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file that every run folder has: its header, and the summary once it is over.
pub const RUN: &str = "run.json";
pub(crate) const LATENCY: &str = "latency.hlog";
pub(crate) const SERIES: &str = "series.jsonl";
/// The version of the folders that are written; those of version 1 are read.
pub const VERSION: u64 = 2;
pub(crate) const EVENTS: &str = "events.jsonl";

/// The kind of the event that the load is over, and users only finish.
pub const DRAINING: &str = "draining";

/// Writes a run folder, one call a second. Each call leaves complete lines in the kernel's hands: a killed process
/// loses nothing that was written, a killed machine at most what it had not flushed.
///
/// When the disk is full, the call says so once per attempt, torn lines are cut off again, and what could not be
/// written is kept (up to 16 MiB a file) and written first next time: the run goes on, and its record is complete again
/// as soon as there is room.
pub struct Writer {
    path: PathBuf,
    header: Header,
    /// As the log of latencies names them.
    operations: Vec<String>,
    latency: Lines,
    series: Lines,
    encoder: series::Encoder,
    events: Lines,
    /// Failures as the events tell them.
    told: Vec<FailureCount>,
}

impl Writer {
    /// Creates the folder (which may exist) and writes `run.json` with the header (no summary yet). The header's plan
    /// is written with its secrets masked ([`redact`]).
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Writer> {
        fs::create_dir_all(path)?;
        let mut header = header.clone();
        redact(&mut header.plan);
        redact(&mut header.environment);
        // First: where there is a run.json, a lock on the series says whether somebody writes.
        let mut series = Lines::create(&path.join(SERIES))?;
        put(path, &document(&header, None), Durable::Soon)?;
        let mut latency = Lines::create(&path.join(LATENCY))?;
        let mut events = Lines::create(&path.join(EVENTS))?;
        latency.push(&hlog::preamble(&header.started));
        latency.flush()?;
        // Nothing of it is needed; but a disk that is full from the start shows now, not with the first second.
        series.push(b"{\"version\":2}\n");
        series.flush()?;
        events.flush()?;
        let operations = hlog::operations(&header);
        let encoder = series::Encoder::new(header.submetrics.clone());
        let (path, told) = (path.to_owned(), Vec::new());
        Ok(Writer { path, header, operations, latency, series, encoder, events, told })
    }

    /// Writes one second.
    ///
    /// # Errors
    /// The disk is full or the like; what was not written is written with the next call.
    pub fn snapshot(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        for failure in &snapshot.failures {
            self.tell(failure, snapshot.second);
        }
        self.tell_expectations(snapshot);
        self.latency.push(&hlog::lines(snapshot, &self.operations));
        self.series.push(&self.encoder.line(snapshot, &self.header));
        self.latency.flush()?;
        self.events.flush()?;
        // Last: its line commits the second.
        self.series.flush()
    }

    /// A phase began, an annotation, …
    ///
    /// # Errors
    /// When [`Writer::snapshot`] fails.
    pub fn event(&mut self, at: At, kind: &str, mut detail: serde_json::Value) -> io::Result<()> {
        redact(&mut detail);
        self.push_event(&json!({ "at_ns": at.0, "kind": kind, "detail": detail }));
        self.events.flush()
    }

    /// Replaces `run.json` atomically, now with the summary.
    ///
    /// # Errors
    /// Something could not be written even now, or is no longer there; the folder reads as a run cut off at its last
    /// complete second.
    pub fn finish(mut self, summary: &Summary) -> io::Result<()> {
        let end = (summary.duration_s * 1e9) as i64;
        let detail = json!({ "interrupted": summary.interrupted });
        self.push_event(&json!({ "at_ns": end, "kind": "end", "detail": detail }));
        self.latency.finish(&self.path.join(LATENCY))?;
        self.events.finish(&self.path.join(EVENTS))?;
        self.series.finish(&self.path.join(SERIES))?;
        put(&self.path, &document(&self.header, Some(summary)), Durable::Now)
    }

    /// How many of the script's expectations held in a second.
    fn tell_expectations(&mut self, snapshot: &Snapshot) {
        if snapshot.expectations.is_empty() {
            return;
        }
        let told = |(kind, Expected { ok, failed, example }): (&String, &Expected)| {
            let (at, example) = example.as_ref().map(|(at, example)| (at.0, example)).unzip();
            (kind.clone(), json!({ "ok": ok, "failed": failed, "example": example, "example_at_ns": at }))
        };
        let kinds: Map<String, Value> = snapshot.expectations.kinds.iter().map(told).collect();
        self.push_event(&json!({
            "at_ns": snapshot.at.0,
            "kind": "expectations",
            "second": snapshot.second,
            "kinds": kinds,
        }));
    }

    /// A failure's first time and example go to the events; again only if a later second knows of an earlier one.
    fn tell(&mut self, failure: &FailureCount, second: u64) {
        let known = |told: &[FailureCount]| {
            let known = told.iter().find(|known| known.is_like(failure));
            known.map(|f| (f.first_at, f.example.clone()))
        };
        let before = known(&self.told);
        merge_failure(&mut self.told, failure);
        if known(&self.told) == before {
            return;
        }
        let operation = failure.operation.and_then(|id| self.header.operations.get(usize::from(id.0)));
        self.push_event(&json!({
            "at_ns": failure.first_at.0,
            "kind": "error",
            "second": second,
            "code": failure.failure.code(),
            "called": failure.called,
            "operation": operation.map(|operation| &operation.name),
            "example": failure.example,
            "example_at_ns": failure.example_at.0,
        }));
    }

    fn push_event(&mut self, event: &serde_json::Value) {
        let mut line = event.to_string().into_bytes();
        line.push(b'\n');
        self.events.push(&line);
    }
}

fn document(header: &Header, summary: Option<&Summary>) -> Value {
    json!({ "version": VERSION, "header": header, "summary": summary })
}

/// Replaces the summary in a finished run's `run.json`, atomically: with what only who started the run knows (the
/// matrix's combination, the service beside the run) in it.
///
/// # Errors
/// The folder cannot be read or written; the summary in it is then the one before.
pub fn amend(path: &Path, summary: &Summary) -> io::Result<()> {
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(path.join(RUN))?)?;
    run["summary"] = serde_json::to_value(summary)?;
    put(path, &run, Durable::Now)
}

/// Whether the disk must have a file before the call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// Its predecessor must not be lost.
    Now,
    /// When the kernel gets to it, as with the other files: a run should not wait for the disk before its first packet.
    Soon,
}

/// Writes `run.json` beside itself and moves it into place: whatever happens to the process, there is always a whole
/// one. A power failure may take the name's move with it (the folder itself is not flushed), and then the one before is
/// there, or, of a run that has not ended, a torn one.
fn put(folder: &Path, document: &serde_json::Value, durable: Durable) -> io::Result<()> {
    let new = folder.join("run.json.new");
    // In one piece: the serializer writes every bracket by itself, and each would be a system call.
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    let mut file = File::create(&new)?;
    file.write_all(&text)?;
    if durable == Durable::Now {
        file.sync_data()?;
    }
    fs::rename(&new, folder.join(RUN))
}

/// A folder's name from a run's start (RFC 3339) and name: `20260830-101500-chat`. Only letters, digits, `-`, `_` and
/// `.` of the name survive, at most 60 bytes of it.
pub fn name(started: &str, name: &str) -> String {
    let digits: String = started.chars().take(19).filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !slug.is_empty()) {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == 60 {
            break;
        }
    }
    let parts = [day, time, slug.trim_end_matches(['-', '.'])];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-")
}
