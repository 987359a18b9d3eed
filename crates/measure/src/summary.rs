//! A run in one document: what `--json` prints, `run.json` keeps and the console renders. Names are a public contract
//! (schema: `docs/summary.schema.json`). Latencies are milliseconds, ratios 0 to 1, times seconds.

use crate::expectations::ExpectationSummary;
use crate::ledger::Counts;
use crate::metrics::MetricSummary;
use crate::outcome::OperationKind;
use crate::plugins::Figures;
use crate::thresholds::Judged;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

mod names;
mod service;
mod times;
mod traffic;

pub use crate::histogram::Quantiles;
pub use crate::ledger::RoomFate;
pub use names::Naming;
pub use service::{FULL_SHARE, NETWORK_LATE_MS, SATURATED_SECONDS, Service};
pub use traffic::Traffic;

/// The whole document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The run's name.
    pub name: String,
    /// The target's URL.
    pub target: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Sonagi's version.
    pub version: String,
    /// False while running or when the run was cut off (no closing record in its folder).
    pub complete: bool,
    /// Whether the user stopped it before its plan was done.
    pub interrupted: bool,
    /// From the run's start to the last record, drain included.
    pub duration_s: f64,
    /// The first thing a reader sees.
    pub verdict: Verdict,
    /// Virtual users.
    pub users: Users,
    /// Present when the script tracks delivery.
    pub delivery: Option<Delivery>,
    /// Bytes and connections on the wire.
    pub traffic: Traffic,
    /// Every operation of the plan that ran at least once, in the plan's order.
    pub operations: Vec<OperationSummary>,
    /// All operations of one kind together; `name` is the kind's metric name (`http`, `websocket_connect`, …).
    #[serde(default)]
    pub kinds: Vec<OperationSummary>,
    /// Responses by status code.
    pub http_codes: BTreeMap<u16, u64>,
    /// Response times of HTTP, one for each answer: a request that was redirected had several.
    #[serde(default)]
    pub http_answers_ms: Quantiles,
    /// The same by what was answered: `2xx`, `3xx`, `4xx`, `5xx`; only those there were.
    #[serde(default)]
    pub http_classes: BTreeMap<String, Quantiles>,
    /// HTTP answers as the verdict counts them.
    #[serde(default)]
    pub statuses: Statuses,
    /// Failures by operation, class and name, most frequent first.
    pub errors: Vec<ErrorSummary>,
    /// The thresholds of the script and what they came to.
    pub thresholds: Vec<Judged>,
    /// How the generator itself fared.
    pub generator: Generator,
    /// Users created, by scenario.
    pub scenarios: BTreeMap<String, u64>,
    /// Metrics by name: the script's own, those its functions reported by the names they gave, and what else was told
    /// by name.
    #[serde(default)]
    pub metrics: BTreeMap<String, MetricSummary>,
    /// What probes saw of the target, by metric.
    #[serde(default)]
    pub watched: BTreeMap<String, MetricSummary>,
    /// Values that were left out of them: of names beyond 10,000, or of another kind than their name's; and sets of
    /// tags beyond 20,000 that were not told apart.
    #[serde(default)]
    pub metrics_left_out: u64,
    /// Samples that are missing in outputs of single samples, each output's counted: they came faster than they could
    /// be written.
    #[serde(default)]
    pub samples_left_out: u64,
    /// The figures of the script's plugins.
    #[serde(default)]
    pub plugins: Figures,
    /// The results of the script's expectations.
    #[serde(default)]
    pub expectations: ExpectationSummary,
    /// Where the run was recorded.
    pub run_folder: Option<String>,
    /// The values of the script's matrix for this run, by axis, in the matrix's order; empty without one.
    #[serde(default)]
    pub combination: Map<String, Value>,
    /// The usage of the service started for the run, when the script asked for one.
    pub service: Option<Service>,
}

/// The first thing a reader sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// In one word.
    pub result: Conclusion,
    /// A sentence each, most important first.
    pub reasons: Vec<String>,
    /// Remedies, as far as they are known.
    pub hints: Vec<String>,
}

/// A verdict in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conclusion {
    /// Everything asked for held.
    #[default]
    Pass,
    /// A threshold or a default rule did not hold.
    Fail,
    /// The generator itself fell behind: the figures say nothing of the target.
    Invalid,
    /// The run was stopped before its plan was done: figures and reasons are those of the part before.
    Interrupted,
}

impl Conclusion {
    /// The word a reader sees first: `PASS`, `FAIL`, `INVALID` or `INTERRUPTED`.
    pub fn word(self) -> &'static str {
        match self {
            Conclusion::Pass => "PASS",
            Conclusion::Fail => "FAIL",
            Conclusion::Invalid => "INVALID",
            Conclusion::Interrupted => "INTERRUPTED",
        }
    }
}

/// When HTTP answers with an error status (4xx, 5xx) fail a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOnStatus {
    /// When every answer was one that the script does not ask for.
    #[default]
    All,
    /// When any was.
    Any,
    /// Never.
    Never,
}

/// HTTP answers as the verdict counts them: the last one of each request. Hops of redirects, polls and handshakes are
/// left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statuses {
    /// Answers, whatever their status.
    pub answers: u64,
    /// Answers with an error status: 4xx or 5xx.
    pub errors: u64,
    /// Errors that the script asks for: their request expects a status, or has a strict match on what the answer holds.
    pub expected: u64,
    /// Errors by status.
    pub codes: BTreeMap<u16, u64>,
    /// When they fail the run.
    pub fail_on: FailOnStatus,
}

/// Virtual users, or their iterations, by what became of them: `started = completed + failed + stopped + active`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Users {
    /// Arrivals of the whole plan. Where nobody knows them before its end, as of users that iterate as
    /// often as they can: those asked for so far.
    pub planned: u64,
    /// Arrivals whose user was started.
    pub started: u64,
    /// Arrivals that could not be started at all.
    pub missed: u64,
    /// Arrivals refused because as many users were active as may be.
    pub skipped: u64,
    /// Users that ended their flow.
    pub completed: u64,
    /// Users that gave up.
    pub failed: u64,
    /// Users whose run or time was over in mid-flow: neither completed nor failed.
    #[serde(default)]
    pub stopped: u64,
    /// Operations under way when their user was stopped; they count nowhere else.
    #[serde(default)]
    pub operations_cut: u64,
    /// Users alive now.
    pub active: u64,
    /// Most users alive at the end of any second.
    pub peak: u64,
    /// Most users in their flows with an open real-time connection at the end of any second; those that drain are not
    /// counted.
    #[serde(default)]
    pub connected_peak: u64,
    /// The largest population the phases of a closed run ask for; an open run asks for arrivals, not for a population.
    pub wanted: Option<u64>,
    /// Whether iterations are counted here: of users that iterate as often as they can, and in scripts whose language
    /// plans them.
    #[serde(default)]
    pub iterations: bool,
    /// Session length of completed users.
    pub session_ms: Quantiles,
}

impl Users {
    /// The noun of one of them.
    pub(crate) fn noun(&self) -> &'static str {
        if self.iterations { "iteration" } else { "user" }
    }
}

/// The ledger's results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Copies by what became of them.
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of owed copies that arrived (on time, late or replayed): (owed − lost) / owed; 1 when nothing was owed.
    pub ratio: f64,
    /// Later than this after its planned send, a copy is late.
    pub deadline_ms: f64,
    /// Planned send to receipt, of copies delivered or late.
    pub latency_ms: Quantiles,
    /// Planned send to receipt, of replayed copies.
    #[serde(default)]
    pub replay_latency_ms: Quantiles,
    /// The ten rooms at most with the most copies lost, late, doubled, reordered or leaked, the worst first; empty
    /// where all was well.
    #[serde(default)]
    pub rooms: Vec<RoomFate>,
}

/// An operation, or all of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationSummary {
    /// The operation's name.
    pub name: String,
    /// The operation's kind.
    pub kind: OperationKind,
    /// How often it ended.
    pub count: u64,
    /// How often it ended in a failure.
    pub failed: u64,
    /// `count` over the run's duration.
    pub rate_per_s: f64,
    /// From the planned instant; of operations that were answered or waited for until their limit.
    pub response_ms: Quantiles,
    /// From the actual start.
    pub service_ms: Quantiles,
    /// Actual start to first byte; HTTP only.
    pub first_byte_ms: Option<Quantiles>,
}

/// A kind of failure of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// Documented code, e.g. `connect_refused`.
    pub code: String,
    /// The name that the script's language or functions gave this failure, e.g. the message of a function; empty where
    /// it has none but its code.
    #[serde(default)]
    pub called: String,
    /// The operation, if it is a timed one.
    pub operation: Option<String>,
    /// How often.
    pub count: u64,
    /// The first time, from the run's start.
    pub first_at_s: f64,
    /// The example's text; empty without one.
    pub example: String,
}

/// The generator's own health.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// In one word.
    pub state: Health,
    /// Why it is not `ok`: what happened, the rule, what we saw.
    pub findings: Vec<String>,
    /// The cause of its lateness, if it was late.
    pub cause: Option<Cause>,
    /// How late planned things were begun.
    pub send_lag_ms: Quantiles,
    /// How late the shards' heartbeats came.
    pub hiccup_ms: Quantiles,
    /// Users started of those planned and not refused ([`Users::skipped`]); 1 when none was planned.
    pub achieved_ratio: f64,
    /// The highest share of one core a shard used in one second.
    pub busiest_core: f64,
    /// CPU time of all shards.
    pub cpu_s: f64,
    /// How long the shards were ready to run and had no core; 0 where the system does not say.
    #[serde(default)]
    pub cpu_wait_s: f64,
    /// Share of the run in which some task of the machine waited for a core (PSI); None where the system does not say.
    pub cpu_pressure: Option<f64>,
    /// Most memory resident, MB (10⁶ bytes).
    pub resident_peak_mb: f64,
    /// Most file descriptors open.
    pub open_files_peak: u64,
    /// How many may be open.
    pub open_files_limit: u64,
    /// Threads generating load.
    pub shards: usize,
}

/// Whether the generator kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// The generator kept up.
    #[default]
    Ok,
    /// Read the findings before trusting small differences.
    Warn,
    /// The generator fell behind: the results are unreliable.
    Invalid,
}

/// The cause of a generator's lateness, which decides on the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// Its threads had to wait for cores that others used.
    Starved,
    /// Its own threads had no time left.
    Overloaded,
    /// The generator ran out of local ports or file descriptors.
    Exhausted,
    /// Neither: more was planned for one instant than can begin in it, or the objective is tighter than timers are.
    Bursts,
}
