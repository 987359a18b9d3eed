//! The sum of all snapshots of a run, and the summary that follows from it.
//!
//! Whether the snapshots come from the running engine or from a run folder makes no difference here; that is what makes
//! a report of yesterday's run say what was printed yesterday.

use super::Header;
use crate::answers::Apart;
use crate::at::At;
use crate::health::{Watch, rounded};
use crate::histogram::Histogram;
use crate::metrics::MetricStore;
use crate::outcome::OperationKind;
use crate::plugins::{Apdex, Endpoint, Figures};
use crate::recorder::{Counter, FailureCount, Timings};
use crate::snapshot::{Progress, Snapshot};
use crate::summary::{
    Delivery, ErrorSummary, Naming, OperationSummary, Quantiles, Statuses, Summary, Traffic, Users,
};
use crate::thresholds::{self, Judged, Threshold};
use crate::verdict;
use std::collections::BTreeMap;
use std::time::Duration;

/// The sum of all snapshots of a run, and what is concluded from it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) header: Header,
    /// The names that thresholds of the header use.
    pub(crate) naming: Naming,
    pub(crate) complete: bool,
    pub(crate) interrupted: bool,
    pub(crate) run_folder: Option<String>,
    /// Thresholds that have ended the run.
    pub(crate) ended_by: Vec<Judged>,
    /// Not the run's start, when it is the tally of a part of one.
    begin: At,
    /// The seconds so far as one: what they counted, and levels at the end of the last.
    pub(super) sum: Snapshot,
    pub(crate) metrics: MetricStore,
    users_peak: u64,
    connections_peak: u64,
    watch: Watch,
}

impl Tally {
    pub(crate) fn new(header: Header, metrics: MetricStore) -> Tally {
        Tally {
            sum: Snapshot::blank(0, header.operations.len(), header.scenarios.len()),
            header,
            metrics,
            ..Tally::default()
        }
    }

    /// The first one begins the part of the run this is the tally of.
    pub(crate) fn absorb_part(&mut self, snapshot: &Snapshot) {
        if self.sum.at == At(0) {
            self.begin = At(snapshot.at.0 - snapshot.interval_ns);
        }
        self.absorb(snapshot);
    }

    pub(crate) fn absorb(&mut self, snapshot: &Snapshot) {
        self.sum.merge(snapshot);
        self.metrics.absorb(&snapshot.metrics);
        self.users_peak = self.users_peak.max(self.sum.level(|shard| shard.users));
        self.connections_peak = self.connections_peak.max(self.sum.level(|shard| shard.connections));
        self.watch.absorb(snapshot);
    }

    pub(super) fn progress(&self, snapshot: &Snapshot) -> Progress {
        let mut all = Histogram::new();
        let second = if self.header.tracked {
            &snapshot.delivery
        } else {
            snapshot.operations.iter().flat_map(|o| &o.response).for_each(|response| all.merge(response));
            &all
        };
        Progress {
            counters: self.sum.counters.clone(),
            arrivals: self.header.arrivals,
            users: self.sum.level(|shard| shard.users),
            connections: self.sum.level(|shard| shard.connections),
            errors: self.sum.failures.iter().map(|failure| failure.count).sum(),
            p99_ms: (!second.is_empty()).then(|| second.quantile_ms(0.99)),
        }
    }

    pub(crate) fn summary(&mut self) -> Summary {
        let mut summary = self.measured();
        let header = &self.header;
        if header.language.is_some() {
            return summary.judged_by_rules(Vec::new(), Vec::new(), Vec::new());
        }
        if !header.thresholds.is_empty() {
            let figures = (self.naming.figures)(&summary);
            let ended = |threshold: &Threshold| {
                self.ended_by.iter().find(|ended| ended.expression == threshold.expression()).cloned()
            };
            let judged = header.thresholds.iter();
            let judged = judged.map(|one| ended(one).unwrap_or_else(|| one.judge(&figures)));
            summary.thresholds = judged.collect();
        }
        summary.verdict = verdict::judge(&summary, &self.naming);
        summary.expectations.decisive = verdict::expect(&mut summary, &self.naming);
        summary
    }

    /// The figures, not judged yet.
    fn measured(&mut self) -> Summary {
        let header = &self.header;
        let duration_s = rounded(self.sum.at.since(self.begin).max(0) as f64 / 1e9, 1e3);
        let named = thresholds::objective_ms(&header.thresholds, self.naming.subject);
        let objectives = [header.objective_ms, named];
        let objective = objectives.into_iter().flatten().reduce(f64::min);
        let kinds = self.kinds();
        let http = kinds.get(&OperationKind::Http).cloned().unwrap_or_default();
        let responses = http.response.as_deref().cloned().unwrap_or_default();
        Summary {
            name: header.name.clone(),
            target: header.target.clone(),
            started: header.started.clone(),
            version: header.version.clone(),
            complete: self.complete,
            interrupted: self.interrupted,
            duration_s,
            users: self.users(),
            delivery: header.tracked.then(|| self.delivery()),
            traffic: Traffic::of(&self.sum.counters),
            operations: summarised(self.operations(), duration_s),
            kinds: summarised(kinds.iter().map(|(kind, timings)| (kind.name(), *kind, timings)), duration_s),
            http_codes: self.sum.codes.clone(),
            http_answers_ms: http.answers.each(&responses).quantiles(),
            http_classes: http_classes(&http),
            statuses: self.statuses(&http),
            errors: self.errors(),
            generator: self.watch.judge(&self.sum, objective, (header.shards, header.cores)),
            scenarios: self.scenarios(),
            metrics: self.metrics.summary(duration_s),
            watched: self.metrics.watched(duration_s),
            metrics_left_out: self.metrics.left_out() + self.metrics.untold(),
            plugins: self.plugins(&http, &responses),
            expectations: self.sum.expectations.summary(),
            run_folder: self.run_folder.clone(),
            ..Summary::default()
        }
    }

    pub(super) fn judge(&mut self, elapsed: Duration) -> bool {
        let ends = |threshold: &&Threshold| threshold.abort().ends(elapsed);
        if self.header.thresholds.iter().any(|threshold| ends(&threshold)) {
            let measured = self.measured();
            let figures = (self.naming.figures)(&measured);
            let crossed = self.header.thresholds.iter().filter(ends).filter_map(|one| one.crossed(&figures));
            let ended_run_s = Some(rounded(elapsed.as_secs_f64(), 1e3));
            self.ended_by = crossed.map(|judged| Judged { ended_run_s, ..judged }).collect();
        }
        !self.ended_by.is_empty()
    }

    fn scenarios(&self) -> BTreeMap<String, u64> {
        let mut created = BTreeMap::new();
        for (name, count) in self.header.scenarios.iter().zip(&self.sum.scenarios) {
            *created.entry(name.clone()).or_default() += count;
        }
        created
    }

    fn users(&self) -> Users {
        let get = |counter| self.sum.counters[counter];
        let so_far = get(Counter::ArrivalsPlanned);
        Users {
            planned: self.header.arrivals.map_or(so_far, |whole| whole.max(so_far)),
            started: get(Counter::ArrivalsStarted),
            missed: get(Counter::ArrivalsMissed),
            skipped: get(Counter::UsersSkipped),
            completed: get(Counter::UsersCompleted),
            failed: get(Counter::UsersFailed),
            stopped: get(Counter::UsersStopped),
            operations_cut: get(Counter::OperationsCut),
            active: self.sum.level(|shard| shard.users),
            peak: self.users_peak,
            connected_peak: self.connections_peak,
            wanted: self.header.population,
            iterations: self.header.population.is_some()
                || self.header.language.as_ref().is_some_and(|language| language.iterates),
            session_ms: self.sum.sessions.quantiles(),
        }
    }

    fn delivery(&self) -> Delivery {
        let counts = self.sum.ledger;
        let ratio = if counts.owed == 0 {
            1.0
        } else {
            counts.owed.saturating_sub(counts.lost) as f64 / counts.owed as f64
        };
        Delivery {
            counts,
            ratio,
            deadline_ms: self.header.deadline_ms,
            latency_ms: self.sum.delivery.quantiles(),
            replay_latency_ms: self.sum.replays.quantiles(),
            rooms: self.sum.rooms.clone(),
        }
    }

    fn operations(&self) -> impl Iterator<Item = (&str, OperationKind, &Timings)> {
        let each = self.header.operations.iter().zip(&self.sum.operations);
        each.map(|(operation, timings)| (operation.name.as_str(), operation.kind, timings))
    }

    /// All operations of each kind together.
    fn kinds(&self) -> BTreeMap<OperationKind, Timings> {
        let mut kinds: BTreeMap<OperationKind, Timings> = BTreeMap::new();
        self.operations().for_each(|(_, kind, timings)| kinds.entry(kind).or_default().merge(timings));
        kinds
    }

    fn statuses(&self, http: &Timings) -> Statuses {
        let answered = http.answers.codes();
        let codes: BTreeMap<u16, u64> = answered.range(400..600).map(|(code, n)| (*code, *n)).collect();
        Statuses {
            answers: answered.values().sum(),
            errors: codes.values().sum(),
            expected: self.sum.counters[Counter::ErrorsExpected],
            codes,
            fail_on: self.header.fail_on_status,
        }
    }

    fn plugins(&self, http: &Timings, responses: &Histogram) -> Figures {
        let asked = &self.header.plugins;
        Figures {
            apdex: asked.apdex_ms.map(|threshold| Apdex::of(threshold, responses)),
            total_ms: asked.extended.then(|| http.answers.answered(responses).quantiles()),
            endpoint_prefix: asked.endpoint_prefix.clone(),
            endpoints: self.endpoints(),
            hidden: asked.hidden.clone(),
        }
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let mut all: BTreeMap<&str, (Timings, BTreeMap<String, u64>)> = BTreeMap::new();
        let named = |id: usize| self.header.plugins.endpoints.get(id)?.as_deref();
        for (id, timings) in self.sum.operations.iter().enumerate() {
            if let Some(name) = named(id).filter(|_| timings.count() > 0) {
                all.entry(name).or_default().0.merge(timings);
            }
        }
        for failure in self.sum.failures.iter().filter(|failure| failure.failure.is_of_request()) {
            let endpoint = failure.operation.and_then(|id| named(usize::from(id.0)));
            if let Some((_, errors)) = endpoint.and_then(|name| all.get_mut(name)) {
                *errors.entry(failure.failure.code().into_owned()).or_default() += failure.count;
            }
        }
        let told = |(name, (timings, errors)): (&str, (Timings, _))| Endpoint {
            name: name.to_owned(),
            codes: timings.answers.codes(),
            errors,
            response_ms: timings.response.unwrap_or_default().quantiles(),
        };
        all.into_iter().map(told).collect()
    }

    fn errors(&self) -> Vec<ErrorSummary> {
        let name = |f: &FailureCount| {
            let id = usize::from(f.operation?.0);
            self.header.operations.get(id).map(|operation| operation.name.clone())
        };
        let mut errors: Vec<ErrorSummary> = self
            .sum
            .failures
            .iter()
            .map(|f| ErrorSummary {
                code: f.failure.code().into_owned(),
                called: f.called.clone(),
                operation: name(f),
                count: f.count,
                first_at_s: rounded(f.first_at.0 as f64 / 1e9, 1e3),
                example: f.example.clone(),
            })
            .collect();
        let key = |error: &ErrorSummary| (error.code.clone(), error.operation.clone(), error.called.clone());
        errors.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| key(a).cmp(&key(b))));
        errors
    }
}

fn http_classes(http: &Timings) -> BTreeMap<String, Quantiles> {
    let Timings { response, answers, .. } = http;
    let quantiles = |class: Apart| Some((class.name(), answers.apart(class)?.quantiles()));
    let others = [Apart::Redirected, Apart::Refused, Apart::Broken].into_iter().filter_map(quantiles);
    let succeeded = response.as_deref().map(|all| ("2xx", answers.succeeded(all).quantiles()));
    let there = succeeded.into_iter().chain(others).filter(|(_, values)| values.count > 0);
    there.map(|(name, values)| (name.to_owned(), values)).collect()
}

/// Those of which an operation has ended.
fn summarised<'t>(
    all: impl Iterator<Item = (&'t str, OperationKind, &'t Timings)>,
    duration_s: f64,
) -> Vec<OperationSummary> {
    let quantiles = |histogram: &Option<Box<Histogram>>| histogram.as_ref().map(|h| h.quantiles());
    let ran = all.filter(|(.., timings)| timings.count() > 0);
    ran.map(|(name, kind, timings)| OperationSummary {
        name: name.to_owned(),
        kind,
        count: timings.count(),
        failed: timings.failed,
        rate_per_s: if duration_s > 0.0 { rounded(timings.count() as f64 / duration_s, 1e3) } else { 0.0 },
        response_ms: quantiles(&timings.response).unwrap_or_default(),
        service_ms: quantiles(&timings.service).unwrap_or_default(),
        first_byte_ms: quantiles(&timings.first_byte),
    })
    .collect()
}
