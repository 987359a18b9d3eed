//! The end of a test in k6's words: the object `handleSummary` is given, the file `--summary-export` writes, the text.
//!
//! Shapes and layout are those of k6 2.2.0, learned from its output, so that programs that read them go on working;
//! where k6 orders the members of an object by chance, ours have a fixed order. Thresholds show their value even when
//! `summaryTrendStats` leaves it out.

mod collected;
mod data;
mod delivery;
mod exported;
mod figures;
pub(crate) mod recorded;
#[cfg(test)]
mod tests;
mod text;

pub use exported::exported;
pub use figures::TimeUnit;
pub use recorded::{Recorded, judged, recorded, store_of};

use crate::metrics::{Kind, Unit, delivery::subject};
use collected::Node;
use serde_json::Value;
use sonagi_measure::summary::{Health, Summary as RunSummary};
use sonagi_measure::thresholds::{self, Subject};
use sonagi_measure::verdict::{Fault, advice};
use std::collections::BTreeMap;
use std::time::Duration;

/// Facts of the test beside its measurements.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// How long the test ran.
    pub elapsed: Duration,
    /// The statistics of trends (`summaryTrendStats`).
    pub trend_stats: Vec<String>,
    /// The unit of durations (`summaryTimeUnit`).
    pub time_unit: Option<TimeUnit>,
    /// Whether scenarios, groups and the parts of a request's time are told (`--summary-mode full`). Scenarios and
    /// groups need samplers of [`crate::metrics::Detail::Scopes`].
    pub full: bool,
    /// Handed to `handleSummary`.
    pub no_color: bool,
    /// Handed to `handleSummary`.
    pub stdout_is_terminal: bool,
    /// Handed to `handleSummary`.
    pub stderr_is_terminal: bool,
    /// The value that `setup` returned, if there was a `setup`.
    pub setup_data: Option<Value>,
    /// Stamps that were drawn for the delivery ledger.
    pub drawn: u64,
    /// Reasons why the generator could not do its work, if there were any: the figures are worth nothing then.
    pub overload: Vec<String>,
    /// Remedies against that.
    pub advice: String,
    /// Samples that are missing in outputs: they came faster than they could be written.
    pub samples_left_out: u64,
}

impl Facts {
    /// The facts about the generator and the outputs.
    pub(crate) fn of_record(record: &RunSummary) -> Facts {
        let generator = &record.generator;
        let is_overloaded = generator.state == Health::Invalid;
        let overload = if is_overloaded { generator.findings.clone() } else { Vec::new() };
        let samples_left_out = record.samples_left_out;
        Facts { overload, advice: advice(generator, ""), samples_left_out, ..Facts::default() }
    }
}

/// The metric that counts failed requests.
const FAILED: &str = "http_req_failed";

/// All an end-of-test summary says.
#[derive(Clone, Debug)]
pub struct Summary {
    facts: Facts,
    total: Part,
    scenarios: Vec<Part>,
    /// The groups with their checks, for `handleSummary`.
    root: Node,
}

/// Everything measured in the whole test, a scenario, or a group.
#[derive(Clone, Debug, Default)]
struct Part {
    title: String,
    metrics: Vec<Measured>,
    checks: Vec<Check>,
    groups: Vec<Part>,
}

/// A metric or sub-metric.
#[derive(Clone, Debug)]
struct Measured {
    name: String,
    kind: Kind,
    unit: Unit,
    values: Vec<(String, f64)>,
    thresholds: Vec<Judged>,
}

/// A threshold.
#[derive(Clone, Debug)]
struct Judged {
    source: String,
    ok: bool,
    /// The statistic it is about, and its value.
    seen: Option<(String, f64)>,
}

#[derive(Clone, Debug)]
struct Check {
    name: String,
    path: String,
    passes: u64,
    fails: u64,
}

impl Measured {
    fn value(&self, of: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == of).map(|(_, value)| *value)
    }
}

impl Summary {
    /// Every threshold and whether it held, for the test's record.
    pub(crate) fn judged(&self) -> Vec<thresholds::Judged> {
        let of = |one: &Measured, judged: &Judged| {
            let seen = judged.seen.as_ref();
            let seen = seen.map(|(method, value)| format!("{method} = {}", figures::plain(*value)));
            thresholds::Judged {
                expression: format!("{}: {}", one.name, judged.source),
                strict: true,
                held: judged.ok,
                evidence: seen.unwrap_or_default(),
                // Of `sonagi_lost{room:a}` it is the metric that counts.
                metrics: one.name.split('{').next().map(str::to_owned).into_iter().collect(),
                ended_run_s: None,
            }
        };
        let metrics = self.total.metrics.iter();
        metrics.flat_map(|one| one.thresholds.iter().map(move |judged| of(one, judged))).collect()
    }

    /// Warnings for a reader to whom no text is shown.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let delivered = delivery::said(self);
        let faults = delivered.faults.into_iter().map(|fault| fault.reason);
        self.facts.overload.iter().cloned().chain(faults).collect()
    }

    /// Says how much is missing in outputs, if anything is.
    pub(crate) fn missing_in_outputs(&self) -> Option<String> {
        let are = match self.facts.samples_left_out {
            0 => return None,
            1 => "1 sample is".to_owned(),
            several => format!("{several} samples are"),
        };
        Some(format!("{are} missing in outputs (--out): they came faster than they could be written"))
    }

    /// Faults of deliveries that no threshold limits, for the test's record.
    pub(crate) fn unlimited_faults(&self) -> Vec<String> {
        let metrics = self.judged().into_iter().flat_map(|limit| limit.metrics);
        let limited: Vec<Subject> = metrics.filter_map(|name| subject(&name)).collect();
        let is_limited = |fault: &Fault| limited.contains(&fault.subject);
        let unlimited = delivery::said(self).faults.into_iter().filter(|fault| !is_limited(fault));
        unlimited
            .map(|fault| format!("{}; only a threshold makes that a failure of the test", fault.reason))
            .collect()
    }

    /// Says so when every HTTP request was answered with a status that counts as failed, and the script does not look
    /// at that: k6's exit code is then 0. Requests without an answer have lines of their own.
    pub(crate) fn nothing_but_errors(&self, statuses: &BTreeMap<u16, u64>) -> Option<String> {
        let metrics = &self.total.metrics;
        let of = |one: &Measured| one.value("passes").zip(one.value("fails"));
        let named = |name: &str| metrics.iter().find(|one| one.name == name).and_then(of);
        let is_limited =
            |one: &Measured| one.name.split('{').next() == Some(FAILED) && !one.thresholds.is_empty();
        let (failed, others) = named(FAILED)?;
        let answered: u64 = statuses.values().sum();
        let is_all = failed > 0.0 && others == 0.0 && failed as u64 == answered;
        let has_passed_checks = named("checks").is_some_and(|(passed, _)| passed > 0.0);
        if !is_all || has_passed_checks || metrics.iter().any(is_limited) {
            return None;
        }
        let codes: Vec<String> = statuses.iter().map(|(code, count)| format!("{code}: {count}")).collect();
        let what = match answered {
            1 => "the only HTTP answer was an error status".to_owned(),
            _ => format!("every one of {answered} HTTP answers was an error status"),
        };
        Some(format!(
            "{what} ({}); only a threshold on {FAILED} makes that a failure of the test",
            codes.join(", ")
        ))
    }
}

/// The order k6 lists names in: case does not matter, underscores and other signs come before digits, digits before
/// letters.
fn by_name(one: &str, other: &str) -> std::cmp::Ordering {
    const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let key = |name: &str| -> Vec<(u8, u32)> {
        let rank = |letter: char| match SIGNS.find(letter) {
            Some(at) => (0, at as u32),
            None => (1, letter.to_lowercase().next().map_or(0, |lower| lower as u32)),
        };
        name.chars().map(rank).collect()
    };
    // A sub-metric comes right after its metric. A name in lower case comes before one that differs in case only.
    let parent = |name: &str| key(name.split('{').next().unwrap_or_default());
    parent(one).cmp(&parent(other)).then_with(|| key(one).cmp(&key(other))).then_with(|| other.cmp(one))
}
