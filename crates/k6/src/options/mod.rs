//! The options of a test, from all tiers, consolidated and checked.
//!
//! There are four tiers: the config file, the script's `options`, `K6_*` variables and flags. A later one overrides an
//! earlier one, option by option, except for `duration`, `iterations`, `stages` and `scenarios`: a tier that sets one
//! of them replaces all four. All tiers arrive in the script's own form, so an option is known, checked and written in
//! one place, `table::KNOWN`. Problems of all tiers are told together, where k6 stops at the first.

mod environment;
mod flags;
mod network;
mod problem;
mod read;
mod scenario;
mod several;
pub(crate) mod span;
mod table;
#[cfg(test)]
mod tests;
mod tiers;
pub(crate) mod tls;

pub use environment::environment;
pub use flags::{FLAGS, Flag, Takes, flags_to_tier};
pub use network::{Hostnames, Hosts, LocalIps, Net, Override};
pub(crate) use problem::meant;
pub use problem::{Problem, Problems};
pub use scenario::{Executor, Scenario, Stage};
pub use several::{Compare, REPEAT_MAX, Several, in_env, is_variable};

use serde_json::{Map, Value};
use sonagi_measure::ledger::Rules;
use std::time::Duration;

/// All tiers as JSON objects in the script's own form.
#[derive(Debug, Clone, Default)]
pub struct Tiers {
    /// `--config FILE`, or the default one.
    pub config_file: Map<String, Value>,
    /// The script's exported `options`.
    pub script: Map<String, Value>,
    /// From [`environment`].
    pub environment: Map<String, Value>,
    /// From [`flags_to_tier`].
    pub flags: Map<String, Value>,
}

/// Options that make sense, and what should be said of them nevertheless.
#[derive(Debug, Clone)]
pub struct Consolidated {
    /// The consolidated options.
    pub options: Options,
    /// One line each, for the user.
    pub notices: Vec<String>,
}

/// Everything a test is asked to do. k6's documentation of an option holds for the member of that name.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the members are k6's options, documented there and in docs/from-k6.md")]
pub struct Options {
    /// Sorted by start, then by name: the order they are listed and numbered in.
    pub scenarios: Vec<Scenario>,
    pub thresholds: Vec<MetricThresholds>,
    pub no_setup: bool,
    pub setup_timeout: Duration,
    pub no_teardown: bool,
    pub teardown_timeout: Duration,
    pub handle_summary_timeout: Duration,
    /// HTTP requests per second, of all virtual users together.
    pub rps: Option<u64>,
    pub dns: Dns,
    pub max_redirects: u32,
    pub user_agent: Option<String>,
    pub batch: usize,
    pub batch_per_host: usize,
    pub http_debug: Option<HttpDebug>,
    pub insecure_skip_tls_verify: bool,
    pub tls_cipher_suites: Option<Vec<String>>,
    /// Lowest and highest; None is "any".
    pub tls_version: (Option<String>, Option<String>),
    pub tls_auth: Vec<TlsAuth>,
    pub throw: bool,
    pub blacklist_ips: Vec<Net>,
    /// Each pattern leads to itself as it was written, for the message.
    pub block_hostnames: Hostnames<String>,
    pub hosts: Hosts,
    pub no_connection_reuse: bool,
    pub no_vu_connection_reuse: bool,
    pub min_iteration_duration: Duration,
    pub summary_trend_stats: Vec<String>,
    /// `s`, `ms` or `us`.
    pub summary_time_unit: Option<String>,
    /// Names of the system tags that are on, sorted.
    pub system_tags: Vec<String>,
    pub tags: Vec<(String, String)>,
    pub no_cookies_reset: bool,
    pub discard_response_bodies: bool,
    pub console_output: Option<String>,
    pub local_ips: Option<LocalIps>,
    /// `--out`, each as it was written.
    pub out: Vec<String>,
    pub sonagi: Sonagi,
    /// The value of `exec.test.options`.
    pub json: Value,
}

/// The thresholds of one metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricThresholds {
    /// `http_req_duration{expected_response:true}`
    pub metric: String,
    /// The conditions it must meet.
    pub thresholds: Vec<Threshold>,
}

/// A threshold; its expression is parsed by `metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threshold {
    /// The expression.
    pub source: String,
    /// Whether the test ends when it does not hold.
    pub abort_on_fail: bool,
    /// How long after the test's start it is first looked at for that.
    pub delay_abort_eval: Duration,
}

/// How names are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dns {
    /// How long an answer is kept; None: for ever.
    pub ttl: Option<Duration>,
    /// Which of several addresses is taken.
    pub select: DnsSelect,
    /// Which kind of address is wanted.
    pub policy: DnsPolicy,
}

/// Which of several addresses is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DnsSelect {
    First,
    Random,
    RoundRobin,
}

/// Which kind of address is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DnsPolicy {
    PreferIpv4,
    PreferIpv6,
    OnlyIpv4,
    OnlyIpv6,
    Any,
}

/// The parts of requests and responses that `httpDebug` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpDebug {
    /// Their heads.
    Headers,
    /// Their bodies, too.
    Full,
}

/// A client certificate and the hosts it is shown to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TlsAuth {
    pub cert: String,
    pub key: String,
    pub password: Option<String>,
    /// Empty: all hosts.
    pub domains: Vec<String>,
}

/// `options.sonagi`: what k6 does not have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sonagi {
    /// Connections outlive the iteration that opened them.
    pub keep_connections: bool,
    /// Bytes of stack per virtual user.
    pub stack_size: Option<usize>,
    /// Bytes of memory a virtual user's script may take.
    pub memory_limit: Option<usize>,
    /// How long a script may compute without waiting for anything before its iteration is interrupted.
    pub busy_limit: Option<Duration>,
    /// How the ledger judges deliveries.
    pub delivery: Rules,
    /// What is looked at while the test goes on, each as `--watch` has it.
    pub watch: Vec<String>,
    /// What its runs are together, where it is run more than once.
    pub several: Several,
    /// The service that is started for the test and ended after it, as its script says it.
    pub launch: Option<serde_json::Value>,
    /// How long connections that outlive their iterations are listened to when the test's scenarios are over, for
    /// messages under way.
    pub drain: Option<Duration>,
}

/// Options of all tiers in one, by k6's precedence; or every problem in them.
///
/// Whether `exec` names an exported function is not looked at: see [`consolidate_for`].
pub fn consolidate(tiers: Tiers) -> Result<Consolidated, Problems> {
    consolidate_for(tiers, &|_| true)
}

/// [`consolidate`]; besides, every scenario's function must be one that the script `exports`.
pub fn consolidate_for(tiers: Tiers, exports: &dyn Fn(&str) -> bool) -> Result<Consolidated, Problems> {
    tiers::consolidate(tiers, exports)
}

/// The members of an object of texts.
fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string()))).collect()
}
