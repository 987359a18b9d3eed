//! All shards of a run merged: per second for the sinks, cumulative for the summary.

use crate::At;
use crate::ledger::{Counts, Rules};
use crate::outcome::Operation;
use crate::recorder::Record;
use crate::summary::Summary;

/// What does not change during a run; the heart of `run.json`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Header {
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub target: String,
    pub version: String,
    pub seed: u64,
    pub shards: usize,
    pub scenarios: Vec<String>,
    pub operations: Vec<Operation>,
    /// The plan as the author would recognise it, secrets removed (free JSON).
    pub plan: serde_json::Value,
    /// Machine, kernel, CPUs, limits (free JSON).
    pub environment: serde_json::Value,
    pub deadline_ms: f64,
    pub tracked: bool,
}

/// Levels of the whole generator process at a snapshot; the engine measures, `measure` judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProcessGauges { pub resident_bytes: u64, pub open_files: u64, pub open_files_limit: u64, pub ports_used: u64, pub ports_available: u64 }

/// One second of a run.
pub struct Snapshot { pub at: At, pub second: u64, /* deltas of counters and histograms, gauges, errors, health */ pub ledger: Counts, pub process: ProcessGauges }

/// Everything so far.
pub struct Totals { /* header, cumulative */ }
impl Totals {
    pub fn new(header: &Header, rules: Rules) -> Totals { let _ = (header, rules); todo!() }
    /// Merges one interval of all shards.
    pub fn absorb(&mut self, records: Vec<Record>, at: At, process: ProcessGauges) -> Snapshot { let _ = (records, at, process); todo!() }
    /// Closes the ledger: the last snapshot of a run.
    pub fn close(&mut self, at: At) -> Snapshot { let _ = at; todo!() }
    /// The summary so far (final once closed).
    pub fn summary(&self) -> Summary { todo!() }
}
