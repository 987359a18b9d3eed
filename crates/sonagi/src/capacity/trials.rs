//! A trial: a run at one load, and what it says of the target.

use crate::error::Error;
use sonagi_measure::histogram::Quantiles;
use sonagi_measure::summary::{Cause, Health, Summary};
use sonagi_report::capacity::TrialRow;
use sonagi_verdict::capacity::{Outcome, Trial};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A generator that begins planned things within this many milliseconds is in time.
const IN_TIME_MS: f64 = 10.0;
/// The share of planned arrivals that may be left out.
const LEFT_OUT: f64 = 0.01;

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Varied {
    /// Arrivals per second.
    Rate,
    /// Users at a time.
    Users,
    /// A variable of the script.
    Variable(String),
}

impl Varied {
    pub(crate) fn named(name: &str) -> Varied {
        match name {
            "rate" => Varied::Rate,
            "users" => Varied::Users,
            name => Varied::Variable(name.to_owned()),
        }
    }
}

impl fmt::Display for Varied {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Varied::Rate => "rate",
            Varied::Users => "users",
            Varied::Variable(name) => name,
        })
    }
}

/// Carries out trials of a script.
pub(crate) trait Trials {
    /// Runs one, into this folder of a parent if one is named; None: somebody stopped it before it began.
    fn run(
        &mut self,
        load: u64,
        seconds: f64,
        folder: Option<(&Path, &str)>,
    ) -> Result<Option<TrialRun>, Error>;

    /// Whether somebody asked to stop.
    fn is_stopped(&self) -> bool;

    /// Whether a trial is as long as the script says, and not as long as it is asked to be.
    fn has_own_length(&self) -> bool;
}

/// A trial that is over.
pub(crate) struct TrialRun {
    pub(crate) summary: Summary,
    /// Whether the expression held.
    pub(crate) held: bool,
    /// The values that it saw.
    pub(crate) evidence: String,
    /// The figures of the run, by the names of thresholds.
    pub(crate) figures: BTreeMap<String, f64>,
    pub(crate) folder: Option<PathBuf>,
}

impl TrialRun {
    /// What it says of the target.
    ///
    /// A generator that fell behind says nothing, with one exception: where users stay longer than they arrive until
    /// there is room for no more, arrivals are left out by a generator that is in time. If the expression does not hold
    /// either, that is the target's doing.
    pub(crate) fn outcome(&self) -> Outcome {
        let Summary { generator, users, .. } = &self.summary;
        let is_in_time = generator.cause == Some(Cause::Overloaded)
            && generator.send_lag_ms.p99 < IN_TIME_MS
            && generator.hiccup_ms.p99 < IN_TIME_MS;
        let is_behind = generator.state == Health::Invalid;
        let left_out = (users.missed + users.skipped) as f64 > LEFT_OUT * users.planned as f64;
        match self.held {
            _ if is_behind && !is_in_time => Outcome::Unreliable,
            true if is_behind || left_out => Outcome::Unreliable,
            true => Outcome::Held,
            false => Outcome::Missed,
        }
    }

    /// Its latencies: of deliveries, or else of responses, or else of what the script measures most.
    pub(crate) fn latency(&self) -> Option<&Quantiles> {
        let Summary { delivery, http_answers_ms, kinds, metrics, .. } = &self.summary;
        let delivered = delivery.iter().map(|delivery| &delivery.latency_ms);
        let kinds = kinds.iter().map(|kind| &kind.response_ms);
        let of = |name: &str| metrics.get(name).and_then(|metric| metric.values.as_ref());
        let told = delivered
            .chain([http_answers_ms])
            .chain(of("http_req_duration"))
            .find(|latency| latency.count > 0);
        told.or_else(|| kinds.max_by_key(|latency| latency.count).filter(|latency| latency.count > 0))
            .or_else(|| of("iteration_duration"))
    }

    /// What the target did in a second: of a rate, users that came to their end; else operations.
    fn achieved_per_s(&self, varied: &Varied) -> Option<f64> {
        let summary = &self.summary;
        let did = match varied {
            Varied::Rate => summary.users.completed,
            _ => summary.operations.iter().map(|operation| operation.count - operation.failed).sum(),
        };
        (did > 0 && summary.duration_s > 0.0).then(|| did as f64 / summary.duration_s)
    }

    /// It as a row of the record; whether it is of full length is for the search to say.
    pub(crate) fn row(&self, varied: &Varied, load: u64, seconds: f64) -> TrialRow {
        let outcome = self.outcome();
        let achieved_per_s = self.achieved_per_s(varied);
        let achieved = achieved_per_s.filter(|_| *varied == Varied::Rate);
        let latency = self.latency();
        let evidence = match outcome {
            Outcome::Unreliable => self.why_unreliable(),
            _ => self.evidence.clone(),
        };
        let delivery = self.summary.delivery.as_ref().filter(|delivery| delivery.counts.owed > 0);
        let folder = self.folder.as_deref().and_then(Path::file_name);
        TrialRow {
            trial: Trial { load, seconds, outcome, achieved },
            is_full: false,
            achieved_per_s,
            p50_ms: latency.map(|latency| latency.p50),
            p99_ms: latency.map(|latency| latency.p99),
            delivered: delivery.map(|delivery| delivery.ratio),
            evidence,
            folder: folder.map(|name| name.to_string_lossy().into_owned()),
        }
    }

    fn why_unreliable(&self) -> String {
        let finding = self.summary.generator.findings.first();
        finding.cloned().unwrap_or_else(|| {
            let users = &self.summary.users;
            let left_out = users.missed + users.skipped;
            format!("{left_out} of {} planned arrivals could not be started", users.planned)
        })
    }
}
