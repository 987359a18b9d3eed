//! A run in one document: what `--json` prints, `run.json` keeps and the console renders. Names are a public contract
//! (schema: `docs/summary.schema.json`). Latencies are milliseconds, ratios 0 to 1, times seconds.

use crate::ledger::Counts;
use crate::outcome::OperationKind;
use crate::thresholds::Judged;
use std::collections::BTreeMap;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    pub name: String,
    pub target: String,
    pub started: String,
    pub version: String,
    /// False while running or when the run was cut off (no closing record in its folder).
    pub complete: bool,
    pub interrupted: bool,
    pub duration_s: f64,
    pub verdict: Verdict,
    pub users: Users,
    /// Present when the script tracks delivery.
    pub delivery: Option<Delivery>,
    pub traffic: Traffic,
    pub operations: Vec<OperationSummary>,
    /// Responses by status code.
    pub http_codes: BTreeMap<u16, u64>,
    pub errors: Vec<ErrorSummary>,
    pub thresholds: Vec<Judged>,
    pub generator: Generator,
    pub scenarios: BTreeMap<String, u64>,
    pub run_folder: Option<String>,
}

/// The first thing a reader sees.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Verdict { pub result: Conclusion, /** One sentence each, most important first. */ pub reasons: Vec<String>, /** What to try, where we know. */ pub hints: Vec<String> }
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conclusion { Pass, Fail, /** The generator itself fell behind: the figures say nothing of the target. */ Invalid }

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Users { pub planned: u64, pub started: u64, pub missed: u64, pub skipped: u64, pub completed: u64, pub failed: u64, pub active: u64, pub peak: u64, pub session_ms: Quantiles }

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Delivery {
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of owed copies that arrived (on time, late or replayed): (owed − lost) / owed; 1 when nothing was owed.
    pub ratio: f64,
    pub deadline_ms: f64,
    /// Planned send to receipt.
    pub latency_ms: Quantiles,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Traffic { pub messages_sent: u64, pub messages_received: u64, pub bytes_sent: u64, pub bytes_received: u64, pub http_requests: u64, pub http_responses: u64, pub http_bytes_received: u64, pub connections_opened: u64, pub websocket_sent: u64, pub websocket_received: u64, pub socketio_emits: u64, pub socketio_received: u64 }

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Quantiles { pub count: u64, pub min: f64, pub mean: f64, pub p50: f64, pub p75: f64, pub p90: f64, pub p95: f64, pub p99: f64, pub p999: f64, pub max: f64 }

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct OperationSummary { pub name: String, pub kind: OperationKind, pub count: u64, pub failed: u64, pub rate_per_s: f64, /** From the planned instant. */ pub response_ms: Quantiles, /** From the actual start. */ pub service_ms: Quantiles, /** Actual start to first byte; HTTP only. */ pub first_byte_ms: Option<Quantiles> }

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ErrorSummary { /** Documented code, e.g. `connect_refused`. */ pub code: String, /** Artillery's name, e.g. `ECONNREFUSED`. */ pub artillery: String, pub operation: Option<String>, pub count: u64, pub first_at_s: f64, pub example: String }

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Generator { pub state: Health, /** Why it is not `ok`: what happened, the rule, what we saw. */ pub findings: Vec<String>, pub send_lag_ms: Quantiles, pub hiccup_ms: Quantiles, pub achieved_ratio: f64, pub busiest_core: f64, pub cpu_s: f64, pub resident_peak_mb: f64, pub open_files_peak: u64, pub open_files_limit: u64, pub shards: usize }
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health { Ok, Warn, Invalid }
