//! The run folder: `run.json`, `latency.hlog`, `series.csv`, `events.jsonl`; written as the run goes, readable after a
//! crash up to its last second.

use crate::summary::Summary;
use crate::totals::{Header, Snapshot};
use std::io;
use std::path::Path;

/// Writes a run folder, one call a second. Each call leaves complete lines on disk.
pub struct Writer {/* files */}
impl Writer {
    /// Creates the folder and writes `run.json` with the header (no summary yet).
    pub fn create(path: &Path, header: &Header) -> io::Result<Writer> {
        let _ = (path, header);
        todo!()
    }
    pub fn snapshot(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let _ = snapshot;
        todo!()
    }
    /// A phase began, an annotation, …
    pub fn event(&mut self, at: crate::At, kind: &str, detail: serde_json::Value) -> io::Result<()> {
        let _ = (at, kind, detail);
        todo!()
    }
    /// Replaces `run.json` atomically, now with the summary.
    pub fn finish(self, summary: &Summary) -> io::Result<()> {
        let _ = summary;
        todo!()
    }
}
/// Recomputes the summary from the folder's files (a cut-off run has `complete == false`).
pub fn read(path: &Path) -> Result<Summary, ReadError> {
    let _ = path;
    todo!()
}
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);
