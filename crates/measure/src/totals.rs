//! All shards of a run merged: per second for the sinks, cumulative for the summary.
//!
//! A second becomes one [`Snapshot`] of differences; everything cumulative is the sum of snapshots ([`Tally`]). The run
//! folder stores snapshots, so a summary read from a folder comes out of the very same code as the one printed at the
//! end of the run.

use crate::At;
use crate::health::{Arrivals, Watch, rounded};
use crate::histogram::Histogram;
use crate::ledger::{Arrival, Counts, Ledger, Rules};
use crate::outcome::{Failure, Operation, OperationKind};
use crate::recorder::{Counter, Counters, FailureCount, Gauges, Record, Timings, merge_failure};
use crate::summary::{
    Conclusion, Delivery, ErrorSummary, OperationSummary, Summary, Traffic, Users, Verdict,
};
use crate::thresholds::{self, Threshold};
use crate::verdict;
use std::collections::BTreeMap;

/// What does not change during a run; the heart of `run.json`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Header {
    /// The run's name.
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// What is loaded.
    pub target: String,
    /// Sonagi's version.
    pub version: String,
    /// All random choices follow from it.
    pub seed: u64,
    /// Threads generating load.
    pub shards: usize,
    /// Scenario names by index.
    pub scenarios: Vec<String>,
    /// Operations by id.
    pub operations: Vec<Operation>,
    /// The plan as the author would recognise it, secrets removed (free JSON).
    pub plan: serde_json::Value,
    /// Machine, kernel, CPUs, limits (free JSON).
    pub environment: serde_json::Value,
    /// Later than this after its planned send, a copy is late.
    pub deadline_ms: f64,
    /// Whether the script tracks delivery.
    pub tracked: bool,
    /// What the script wants ensured.
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
}

/// Levels of the whole generator process at a snapshot; the engine measures, `measure` judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProcessGauges {
    /// Memory resident.
    pub resident_bytes: u64,
    /// File descriptors open.
    pub open_files: u64,
    /// File descriptors allowed.
    pub open_files_limit: u64,
    /// Local ports in use.
    pub ports_used: u64,
    /// Local ports there are, over all source addresses.
    pub ports_available: u64,
}

/// One second of a run: what was added since the snapshot before, and levels at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The end of the interval.
    pub at: At,
    /// The second it covers, from 0; strictly increasing.
    pub second: u64,
    /// Since the snapshot before (ns); usually a second.
    pub interval_ns: i64,
    /// Counts added.
    pub counters: Counters,
    /// Latencies added, by operation id.
    pub operations: Vec<Timings>,
    /// Responses added, by status code.
    pub codes: BTreeMap<u16, u64>,
    /// Failures added, one entry per operation and failure.
    pub failures: Vec<FailureCount>,
    /// Users created, by scenario.
    pub scenarios: Vec<u64>,
    /// Lengths of sessions completed.
    pub sessions: Histogram,
    /// Latencies of copies judged, live.
    pub delivery: Histogram,
    /// Latencies of copies judged, replayed.
    pub replays: Histogram,
    /// How late our own wake-ups were.
    pub lag: Histogram,
    /// How late the heartbeats came.
    pub hiccups: Histogram,
    /// Levels by shard.
    pub shards: Vec<Gauges>,
    /// The ledger's counts so far (cumulative).
    pub ledger: Counts,
    /// Levels of the process.
    pub process: ProcessGauges,
    /// The run so far, for a line of progress. Not recorded.
    pub progress: Progress,
}

/// A run so far, in figures for a line of progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// All counts so far.
    pub counters: Counters,
    /// Users alive now.
    pub users: u64,
    /// Connections open now.
    pub connections: u64,
    /// Failures so far.
    pub errors: u64,
    /// p99 of this second: of delivery when it is tracked, else of all operations' response times. None without data.
    pub p99_ms: Option<f64>,
}

/// Everything so far.
pub struct Totals {
    tally: Tally,
    ledger: Ledger,
    last_at: At,
    last_second: Option<u64>,
    last_shards: Vec<Gauges>,
    last_process: ProcessGauges,
}

impl Totals {
    /// Nothing so far.
    pub fn new(header: &Header, rules: Rules) -> Totals {
        Totals {
            tally: Tally::new(header.clone()),
            ledger: Ledger::new(rules),
            last_at: At(0),
            last_second: None,
            last_shards: Vec::new(),
            last_process: ProcessGauges::default(),
        }
    }

    /// Merges one interval of all shards, given in the order of the shards. `at` is its end: everything the shards saw
    /// up to then must be in the records.
    pub fn absorb(&mut self, records: Vec<Record>, at: At, process: ProcessGauges) -> Snapshot {
        let mut snapshot = self.begin(at);
        let mut batches = Vec::with_capacity(records.len());
        for record in records {
            snapshot.add(&record, at);
            batches.push(record.ledger);
        }
        snapshot.process = process;
        let Snapshot { delivery, replays, .. } = &mut snapshot;
        self.ledger.apply(&mut batches, at, |arrival| arrived(arrival, delivery, replays));
        snapshot.ledger = self.ledger.counts();
        self.end(snapshot)
    }

    /// Closes the ledger: the last snapshot of a run.
    pub fn close(&mut self, at: At) -> Snapshot {
        let mut snapshot = self.begin(at);
        let Snapshot { delivery, replays, .. } = &mut snapshot;
        let counts = self.ledger.close(at, |arrival| arrived(arrival, delivery, replays));
        snapshot.ledger = counts;
        snapshot.process = self.last_process;
        snapshot.shards = self.last_shards.iter().map(|shard| Gauges { cpu_ns: 0, ..*shard }).collect();
        self.tally.complete = true;
        self.end(snapshot)
    }

    /// The user stopped the run before its plan was done.
    pub fn interrupt(&mut self) {
        self.tally.interrupted = true;
    }

    /// The summary so far (final once closed).
    pub fn summary(&self) -> Summary {
        self.tally.summary()
    }

    fn begin(&mut self, at: At) -> Snapshot {
        let nearest = (at.0 + 500_000_000).div_euclid(1_000_000_000).saturating_sub(1).max(0) as u64;
        let second = self.last_second.map_or(nearest, |last| nearest.max(last + 1));
        self.last_second = Some(second);
        let interval_ns = at.since(self.last_at);
        self.last_at = at;
        Snapshot { at, second, interval_ns, ..Snapshot::default() }
    }

    fn end(&mut self, mut snapshot: Snapshot) -> Snapshot {
        self.tally.absorb(&snapshot);
        self.last_shards.clone_from(&snapshot.shards);
        self.last_process = snapshot.process;
        snapshot.progress = self.tally.progress(&snapshot);
        snapshot
    }
}

fn arrived(arrival: Arrival, live: &mut Histogram, replays: &mut Histogram) {
    let histogram = if arrival.replayed { replays } else { live };
    histogram.record_ns(arrival.latency_ns);
}

impl Snapshot {
    /// Adds what one shard saw.
    fn add(&mut self, record: &Record, end: At) {
        self.counters.merge(&record.counters);
        if self.operations.len() < record.operations.len() {
            self.operations.resize_with(record.operations.len(), Timings::default);
        }
        for (mine, theirs) in self.operations.iter_mut().zip(&record.operations) {
            mine.merge(theirs);
        }
        for (code, &count) in record.codes.iter().enumerate().filter(|(_, count)| **count > 0) {
            *self.codes.entry(code as u16).or_default() += count;
        }
        for failure in &record.failures {
            let mut failure = failure.clone();
            failure.first_at = failure.first_at.min(end);
            failure.example_at = failure.example_at.min(end);
            merge_failure(&mut self.failures, &failure);
        }
        add_each(&mut self.scenarios, &record.scenarios);
        for (mine, theirs) in [
            (&mut self.sessions, &record.sessions),
            (&mut self.lag, &record.lag),
            (&mut self.hiccups, &record.hiccups),
        ] {
            theirs.iter().for_each(|theirs| mine.merge(theirs));
        }
        self.shards.push(record.gauges);
    }
}

/// The sum of all snapshots of a run, and what is concluded from it.
pub(crate) struct Tally {
    pub(crate) header: Header,
    pub(crate) complete: bool,
    pub(crate) interrupted: bool,
    pub(crate) run_folder: Option<String>,
    end: At,
    counters: Counters,
    operations: Vec<Timings>,
    codes: BTreeMap<u16, u64>,
    failures: Vec<FailureCount>,
    scenarios: Vec<u64>,
    sessions: Histogram,
    delivery: Histogram,
    replays: Histogram,
    ledger: Counts,
    users: u64,
    users_peak: u64,
    connections: u64,
    watch: Watch,
}

impl Tally {
    pub(crate) fn new(header: Header) -> Tally {
        let operations = header.operations.iter().map(|_| Timings::default()).collect();
        let scenarios = vec![0; header.scenarios.len()];
        Tally {
            header,
            complete: false,
            interrupted: false,
            run_folder: None,
            end: At(0),
            counters: Counters::default(),
            operations,
            codes: BTreeMap::new(),
            failures: Vec::new(),
            scenarios,
            sessions: Histogram::new(),
            delivery: Histogram::new(),
            replays: Histogram::new(),
            ledger: Counts::default(),
            users: 0,
            users_peak: 0,
            connections: 0,
            watch: Watch::default(),
        }
    }

    pub(crate) fn absorb(&mut self, snapshot: &Snapshot) {
        self.end = snapshot.at;
        self.counters.merge(&snapshot.counters);
        for (mine, theirs) in self.operations.iter_mut().zip(&snapshot.operations) {
            mine.merge(theirs);
        }
        for (&code, count) in &snapshot.codes {
            *self.codes.entry(code).or_default() += count;
        }
        snapshot.failures.iter().for_each(|failure| merge_failure(&mut self.failures, failure));
        add_each(&mut self.scenarios, &snapshot.scenarios);
        self.sessions.merge(&snapshot.sessions);
        self.delivery.merge(&snapshot.delivery);
        self.replays.merge(&snapshot.replays);
        self.ledger = snapshot.ledger;
        self.users = snapshot.shards.iter().map(|shard| shard.users).sum();
        self.connections = snapshot.shards.iter().map(|shard| shard.connections).sum();
        self.users_peak = self.users_peak.max(self.users);
        self.watch.absorb(snapshot);
    }

    fn progress(&self, snapshot: &Snapshot) -> Progress {
        let second = if self.header.tracked {
            snapshot.delivery.clone()
        } else {
            let mut all = Histogram::new();
            snapshot.operations.iter().flat_map(|o| &o.response).for_each(|response| all.merge(response));
            all
        };
        Progress {
            counters: self.counters.clone(),
            users: self.users,
            connections: self.connections,
            errors: self.failures.iter().map(|failure| failure.count).sum(),
            p99_ms: (!second.is_empty()).then(|| second.quantile_ms(0.99)),
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        let header = &self.header;
        let duration_s = rounded(self.end.0.max(0) as f64 / 1e9, 1e3);
        let exhausted: u64 =
            self.failures.iter().filter(|f| f.failure == Failure::GeneratorExhausted).map(|f| f.count).sum();
        let objective = thresholds::objective_ms(&header.thresholds);
        let mut summary = Summary {
            name: header.name.clone(),
            target: header.target.clone(),
            started: header.started.clone(),
            version: header.version.clone(),
            complete: self.complete,
            interrupted: self.interrupted,
            duration_s,
            verdict: Verdict { result: Conclusion::Pass, reasons: Vec::new(), hints: Vec::new() },
            users: self.users(),
            delivery: header.tracked.then(|| self.delivery()),
            traffic: self.traffic(),
            operations: self.operations(duration_s),
            kinds: self.kinds(duration_s),
            http_codes: self.codes.clone(),
            errors: self.errors(),
            thresholds: Vec::new(),
            generator: self.watch.judge(self.arrivals(), exhausted, objective, header.shards),
            scenarios: self.scenarios(),
            run_folder: self.run_folder.clone(),
        };
        if !header.thresholds.is_empty() {
            let names = summary.names();
            summary.thresholds = header.thresholds.iter().map(|threshold| threshold.judge(&names)).collect();
        }
        summary.verdict = verdict::judge(&summary);
        summary
    }

    fn scenarios(&self) -> BTreeMap<String, u64> {
        let mut created = BTreeMap::new();
        for (name, count) in self.header.scenarios.iter().zip(&self.scenarios) {
            *created.entry(name.clone()).or_default() += count;
        }
        created
    }

    fn arrivals(&self) -> Arrivals {
        let get = |counter| self.counters.get(counter);
        Arrivals {
            expected: get(Counter::ArrivalsPlanned).saturating_sub(get(Counter::UsersSkipped)),
            started: get(Counter::ArrivalsStarted),
            missed: get(Counter::ArrivalsMissed),
        }
    }

    fn users(&self) -> Users {
        let get = |counter| self.counters.get(counter);
        Users {
            planned: get(Counter::ArrivalsPlanned),
            started: get(Counter::ArrivalsStarted),
            missed: get(Counter::ArrivalsMissed),
            skipped: get(Counter::UsersSkipped),
            completed: get(Counter::UsersCompleted),
            failed: get(Counter::UsersFailed),
            active: self.users,
            peak: self.users_peak,
            session_ms: self.sessions.quantiles(),
        }
    }

    fn delivery(&self) -> Delivery {
        let counts = self.ledger;
        let ratio =
            if counts.owed == 0 { 1.0 } else { (counts.owed - counts.lost) as f64 / counts.owed as f64 };
        Delivery {
            counts,
            ratio,
            deadline_ms: self.header.deadline_ms,
            latency_ms: self.delivery.quantiles(),
            replay_latency_ms: self.replays.quantiles(),
        }
    }

    fn traffic(&self) -> Traffic {
        let get = |counter| self.counters.get(counter);
        Traffic {
            messages_sent: get(Counter::MessagesSent),
            messages_received: get(Counter::MessagesReceived),
            bytes_sent: get(Counter::BytesSent),
            bytes_received: get(Counter::BytesReceived),
            http_requests: get(Counter::HttpRequests),
            http_responses: get(Counter::HttpResponses),
            http_bytes_received: get(Counter::HttpBytesReceived),
            connections_opened: get(Counter::ConnectionsOpened),
            websocket_sent: get(Counter::WebsocketSent),
            websocket_received: get(Counter::WebsocketReceived),
            socketio_emits: get(Counter::SocketioEmits),
            socketio_received: get(Counter::SocketioReceived),
        }
    }

    fn operations(&self, duration_s: f64) -> Vec<OperationSummary> {
        let ran = |(_, timings): &(&Operation, &Timings)| timings.response.is_some();
        let each = self.header.operations.iter().zip(&self.operations).filter(ran);
        each.map(|(operation, timings)| summarise(&operation.name, operation.kind, timings, duration_s))
            .collect()
    }

    fn kinds(&self, duration_s: f64) -> Vec<OperationSummary> {
        let mut kinds: BTreeMap<OperationKind, Timings> = BTreeMap::new();
        for (operation, timings) in self.header.operations.iter().zip(&self.operations) {
            if timings.response.is_some() {
                kinds.entry(operation.kind).or_default().merge(timings);
            }
        }
        kinds.iter().map(|(kind, timings)| summarise(kind.name(), *kind, timings, duration_s)).collect()
    }

    fn errors(&self) -> Vec<ErrorSummary> {
        let name = |f: &FailureCount| {
            let id = usize::from(f.operation?.0);
            self.header.operations.get(id).map(|operation| operation.name.clone())
        };
        let mut errors: Vec<ErrorSummary> = self
            .failures
            .iter()
            .map(|f| ErrorSummary {
                code: f.failure.code().into_owned(),
                artillery: f.failure.artillery().into_owned(),
                operation: name(f),
                count: f.count,
                first_at_s: rounded(f.first_at.0 as f64 / 1e9, 1e3),
                example: f.example.clone(),
            })
            .collect();
        errors.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| (&a.code, &a.operation).cmp(&(&b.code, &b.operation)))
        });
        errors
    }
}

fn summarise(name: &str, kind: OperationKind, timings: &Timings, duration_s: f64) -> OperationSummary {
    let quantiles = |histogram: &Option<Box<Histogram>>| histogram.as_ref().map(|h| h.quantiles());
    let count = timings.response.as_ref().map_or(0, |h| h.count());
    OperationSummary {
        name: name.to_owned(),
        kind,
        count,
        failed: timings.failed,
        rate_per_s: if duration_s > 0.0 { rounded(count as f64 / duration_s, 1e3) } else { 0.0 },
        response_ms: quantiles(&timings.response).unwrap_or_default(),
        service_ms: quantiles(&timings.service).unwrap_or_default(),
        first_byte_ms: quantiles(&timings.first_byte),
    }
}

fn add_each(mine: &mut Vec<u64>, theirs: &[u64]) {
    if mine.len() < theirs.len() {
        mine.resize(theirs.len(), 0);
    }
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}
