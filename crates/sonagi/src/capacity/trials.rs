//! A trial: a run at one load, and what it says of the target.

use crate::error::Error;
use crate::fingerprint::{self, Ticks};
use sonagi_measure::folder::Reader;
use sonagi_measure::histogram::Quantiles;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Cause, Health, Summary};
use sonagi_measure::totals::Snapshot;
use sonagi_report::capacity::TrialRow;
use sonagi_verdict::capacity::{Goal, Outcome, Trial};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A generator that begins planned things within this many milliseconds is in time.
const IN_TIME_MS: f64 = 10.0;
/// The share of planned arrivals that may be left out.
const LEFT_OUT: f64 = 0.01;

/// A rate is told by no fewer seconds.
const STEADY_S: f64 = 2.5;
/// The last second of the load may end so much behind it.
const SECONDS_MAY_BE_LATE_S: f64 = 0.5;

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

/// The problem of a service that follows what is varied: the one for all trials would be that of one.
pub(crate) fn service_is_varied(varied: &Varied) -> String {
    format!(
        "error: --vary {varied}: what starts or restarts the service follows it, and one service is for all trials\n\
         hint: `--fresh` starts or restarts it for each trial"
    )
}

/// How long trials of a script are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TrialLength {
    /// As long as they are asked to be, and no shorter than this.
    AsAsked { least_s: f64 },
    /// As long as the script says, whatever is asked.
    OfScript { seconds: f64 },
}

impl TrialLength {
    /// As long as they are asked to be.
    pub(crate) const AS_ASKED: TrialLength = TrialLength::AsAsked { least_s: 0.0 };

    /// Seconds of a trial that is asked to be so long.
    pub(crate) fn of(self, asked_s: f64) -> f64 {
        match self {
            TrialLength::AsAsked { least_s } => asked_s.max(least_s),
            TrialLength::OfScript { seconds } => seconds,
        }
    }

    /// The goal with trials that can be had: a trial of the script's own length is one of full length. So the search is
    /// told no other length than the one that a trial has.
    pub(crate) fn fitted(self, goal: Goal) -> Goal {
        let Goal { from, to, width, initial_s, final_s, .. } = goal;
        Goal { initial_s: self.of(initial_s), ..Goal::of(from, to, width, self.of(final_s)) }
    }

    /// Whether the script alone says it.
    pub(crate) fn is_of_script(self) -> bool {
        matches!(self, TrialLength::OfScript { .. })
    }
}

/// A second of a trial.
#[derive(Clone, Copy, Debug)]
struct Done {
    /// When it ended, from the run's begin on.
    end_s: f64,
    /// Its length.
    seconds: f64,
    /// How much was done in it.
    did: u64,
}

/// What was done in a second, from the second behind the first in which anything was to the end of the load (s). Before
/// it nothing can have ended yet, and behind it the run waits for late messages: neither is work of the target's. None:
/// so few seconds tell nothing.
fn steady(seconds: impl Iterator<Item = Done>, until_s: f64) -> Option<f64> {
    let of_load = seconds.take_while(|second| second.end_s < until_s + SECONDS_MAY_BE_LATE_S);
    let behind = of_load.skip_while(|second| second.did == 0).skip(1);
    let (did, seconds) =
        behind.fold((0, 0.0), |(did, seconds), second| (did + second.did, seconds + second.seconds));
    (seconds >= STEADY_S).then(|| did as f64 / seconds)
}

/// The demand of a trial on this machine at one time, as far as that is known before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Open files, at least.
    pub(crate) files: u64,
    /// Local ports for connections to one address, those in TIME_WAIT included if the generator closes first.
    pub(crate) ports: u64,
}

/// Carries out trials of a script.
pub(crate) trait Trials {
    /// Runs one, into this folder of a parent if one is named; None: somebody stopped it before it began. `seconds` is
    /// a length that it can have ([`TrialLength::of`]).
    fn run(
        &mut self,
        load: u64,
        seconds: f64,
        folder: Option<(&Path, &str)>,
    ) -> Result<Option<TrialRun>, Error>;

    /// Writes what the service of all trials prints into this folder.
    fn log_in(&mut self, folder: &Path);

    /// What ends the trial that is under way when it is called, gracefully.
    fn stopper(&self) -> Box<dyn FnOnce() + Send>;

    /// Whether somebody asked to stop.
    fn is_stopped(&self) -> bool;

    /// How long its trials are.
    fn length(&self) -> TrialLength;

    /// The demand of a trial at this load, of so many seconds.
    fn demand(&self, load: u64, seconds: f64) -> Demand;

    /// How this machine's time was used until now, where the system says so.
    fn ticks(&self) -> Option<Ticks> {
        fingerprint::now()
    }
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
    /// How the trial's service ended before the trial did, if it did.
    pub(crate) fn service_end(&self) -> Option<&str> {
        self.summary.service.as_ref()?.ended.as_deref()
    }

    /// What it says of the target. One whose service ended has failed, whatever the expression saw.
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
            _ if self.service_end().is_some() => Outcome::Missed,
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

    /// What the target did in a second while the load lasted, which was so long: of a rate, users that came to their
    /// end; else operations. A trial in which it did nothing at all achieved 0.
    fn achieved_per_s(&self, varied: &Varied, load_s: f64) -> Option<f64> {
        let summary = &self.summary;
        let did = match varied {
            Varied::Rate => summary.users.completed,
            _ => summary.operations.iter().map(|operation| operation.count - operation.failed).sum(),
        };
        let whole = (summary.duration_s > 0.0).then(|| did as f64 / summary.duration_s);
        self.steady(varied, load_s).or(whole)
    }

    /// What was done in a second by the seconds of its folder.
    fn steady(&self, varied: &Varied, load_s: f64) -> Option<f64> {
        let of_users = *varied == Varied::Rate;
        let done = move |second: Snapshot| {
            let operations = second.operations.iter().map(|operation| operation.count() - operation.failed);
            let did = if of_users { second.counters[Counter::UsersCompleted] } else { operations.sum() };
            Done { end_s: second.at.0 as f64 / 1e9, seconds: second.interval_ns as f64 / 1e9, did }
        };
        let reader = Reader::open(self.folder.as_deref()?).ok()?;
        // Before the first arrival a test sets up what it needs, which is no load.
        let is_before = |second: &Snapshot| second.counters[Counter::ArrivalsPlanned] == 0;
        let mut seconds = reader.seconds(&Arc::default()).skip_while(is_before).peekable();
        let first = seconds.peek()?;
        let began_s = (first.at.0 - first.interval_ns) as f64 / 1e9;
        // A script that says itself how long a trial is has noted when it was over.
        let over_s = reader.phases_ended().map(|at| at.0 as f64 / 1e9);
        steady(seconds.map(done), over_s.unwrap_or(began_s + load_s))
    }

    /// It as a row of the record; whether it is of full length is for the search to say.
    pub(crate) fn row(&self, varied: &Varied, load: u64, seconds: f64) -> TrialRow {
        let outcome = self.outcome();
        let achieved_per_s = self.achieved_per_s(varied, seconds);
        let achieved = achieved_per_s.filter(|_| *varied == Varied::Rate);
        let latency = self.latency();
        let evidence = match (outcome, self.service_end()) {
            (_, Some(how)) => format!("the service ended: {how}"),
            (Outcome::Unreliable, None) => self.why_unreliable(),
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
            late: delivery.map(|delivery| delivery.counts.late as f64 / delivery.counts.owed as f64),
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

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_measure::ledger::Rules;
    use sonagi_measure::metrics::MetricStore;
    use sonagi_measure::totals::{Header, Totals};

    /// Seconds of which each did this much.
    fn seconds(did: &[u64]) -> impl Iterator<Item = Done> {
        did.iter().enumerate().map(|(at, did)| Done { end_s: at as f64 + 1.0, seconds: 1.0, did: *did })
    }

    #[test]
    fn a_rate_is_what_was_done_while_the_load_lasted_and_not_in_the_drain() {
        // Sessions of two seconds, at 100 a second for six; then one second of waiting for late messages.
        assert_eq!(steady(seconds(&[0, 40, 100, 100, 100, 100, 100, 60, 0]), 6.0), Some(100.0));
        // A target that works its queue off behind the load does no more in a second for it.
        assert_eq!(steady(seconds(&[50, 50, 50, 50, 50, 50, 50, 50]), 5.0), Some(50.0));
    }

    #[test]
    fn a_trial_in_which_nothing_came_to_its_end_achieved_nothing() {
        let mut summary = Totals::new(&Header::default(), Rules::default(), MetricStore::default()).summary();
        summary.duration_s = 8.0;
        let (evidence, figures) = (String::new(), BTreeMap::new());
        let run = TrialRun { summary, held: false, evidence, figures, folder: None };
        let row = run.row(&Varied::Rate, 100, 8.0);
        assert_eq!((row.achieved_per_s, row.trial.achieved), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_goal_asks_for_no_trial_that_cannot_be_had() {
        let goal = Goal::of(10, 100, 0.05, 0.6);
        assert_eq!(TrialLength::AS_ASKED.fitted(goal), goal);
        let least = TrialLength::AsAsked { least_s: 0.5 }.fitted(goal);
        assert_eq!(least, Goal { initial_s: 0.5, ..goal });
        let own = TrialLength::OfScript { seconds: 7.0 }.fitted(goal);
        assert_eq!((own.initial_s, own.final_s, own.duration_sum_s), (7.0, 7.0, 28.0));
    }

    #[test]
    fn too_few_seconds_tell_no_rate() {
        assert_eq!(steady(seconds(&[0, 0, 0, 40, 100]), 5.0), None);
        assert_eq!(steady(seconds(&[]), 5.0), None);
    }
}
