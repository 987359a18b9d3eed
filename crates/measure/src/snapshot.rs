//! One second of a run, of all its shards: the one thing that sinks, the run's sum (and so thresholds), the run folder
//! and frames are given.
//!
//! It has no serialised form of its own, as a second alone has no names: those of operations are in the header, and
//! those of series are told once in a run. What writes seconds remembers what it has told, and there are two such
//! forms:
//!
//! - the record, by [`folder::Writer`](crate::folder::Writer): counts, samples and levels in `series.jsonl`, latencies
//!   in `latency.hlog`, first instants and examples in `events.jsonl`. [`folder::Reader`](crate::folder::Reader) gives
//!   the snapshot back, but for [`Snapshot::progress`], single samples, and examples that the record has already;
//! - the [`Frame`](crate::frame::Frame), by [`frame::Framer`](crate::frame::Framer), for whoever is not this process or
//!   looks by name: a `Serialize` in which every figure is a series and latencies are in buckets. Rooms, expectations
//!   and examples are no figures of a second, and the system's limits and waits are left out.

use crate::at::At;
use crate::expectations::Expectations;
use crate::histogram::Histogram;
use crate::ledger::{Arrival, Counts, RoomFate};
use crate::metrics::Interval;
use crate::recorder::{Counters, FailureCount, Gauges, Record, Timings, merge_failure};
use std::collections::BTreeMap;

/// Levels of the whole generator process at a snapshot; the engine measures, `measure` judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
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
    /// How long some task of the machine has waited for a core since it booted (PSI, µs); 0 where the system does not
    /// say.
    pub cpu_pressure_us: u64,
}

impl ProcessGauges {
    /// The higher one of each level.
    pub(crate) fn highest(self, other: ProcessGauges) -> ProcessGauges {
        ProcessGauges {
            resident_bytes: self.resident_bytes.max(other.resident_bytes),
            open_files: self.open_files.max(other.open_files),
            open_files_limit: self.open_files_limit.max(other.open_files_limit),
            ports_used: self.ports_used.max(other.ports_used),
            ports_available: self.ports_available.max(other.ports_available),
            cpu_pressure_us: self.cpu_pressure_us.max(other.cpu_pressure_us),
        }
    }
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
    /// Samples of metrics by name.
    pub metrics: Interval,
    /// What the script expected of responses.
    pub expectations: Expectations,
    /// The ledger's counts so far (cumulative).
    pub ledger: Counts,
    /// The rooms whose copies fared worst so far (cumulative), the worst first; at most
    /// [`ROOMS_MAX`](crate::ledger::ROOMS_MAX).
    pub rooms: Vec<RoomFate>,
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
    /// Arrivals of the whole plan, where they are known.
    pub arrivals: Option<u64>,
    /// Users alive now.
    pub users: u64,
    /// Users in their flows with an open connection now.
    pub connections: u64,
    /// Failures so far.
    pub errors: u64,
    /// p99 of this second: of delivery when it is tracked, else of all operations' response times. None without data.
    pub p99_ms: Option<f64>,
}

impl Snapshot {
    /// A second in which nothing happened, of a run with so many operations and scenarios.
    pub(crate) fn blank(second: u64, operations: usize, scenarios: usize) -> Snapshot {
        let (operations, scenarios) = (vec![Timings::default(); operations], vec![0; scenarios]);
        Snapshot { second, operations, scenarios, ..Snapshot::default() }
    }

    /// What latencies that are of no operation are called in the run folder, and as metrics of frames.
    const LATENCIES: [(&'static str, &'static str); 5] = [
        ("delivery", "delivery.latency"),
        ("replay", "delivery.replay_latency"),
        ("session", "session.length"),
        ("lag", "generator.lag"),
        ("hiccup", "generator.hiccup"),
    ];

    fn latencies(&self) -> [&Histogram; 5] {
        [&self.delivery, &self.replays, &self.sessions, &self.lag, &self.hiccups]
    }

    fn latencies_mut(&mut self) -> [&mut Histogram; 5] {
        [&mut self.delivery, &mut self.replays, &mut self.sessions, &mut self.lag, &mut self.hiccups]
    }

    /// Every latency that is of no operation, with what it is called in the run folder, and as a metric.
    pub(crate) fn each_latency(&self) -> impl Iterator<Item = ((&'static str, &'static str), &Histogram)> {
        Snapshot::LATENCIES.into_iter().zip(self.latencies())
    }

    /// The latency of this name in the run folder; None: there is none such.
    pub(crate) fn latency_mut(&mut self, name: &str) -> Option<&mut Histogram> {
        let at = Snapshot::LATENCIES.iter().position(|(known, _)| *known == name)?;
        self.latencies_mut().into_iter().nth(at)
    }

    /// A level of all shards together.
    pub fn level(&self, of: fn(&Gauges) -> u64) -> u64 {
        self.shards.iter().map(of).sum()
    }

    /// Adds a later second: counts and latencies add up, levels and what is cumulative are the later ones. Samples of
    /// metrics are added up elsewhere, as they have series of their own.
    pub(crate) fn merge(&mut self, later: &Snapshot) {
        self.counters.merge(&later.counters);
        add_each(&mut self.operations, &later.operations, Timings::merge);
        for (&code, count) in &later.codes {
            *self.codes.entry(code).or_default() += count;
        }
        later.failures.iter().for_each(|failure| merge_failure(&mut self.failures, failure));
        add_each(&mut self.scenarios, &later.scenarios, |mine, theirs| *mine += theirs);
        self.expectations.merge(&later.expectations);
        let latencies = self.latencies_mut().into_iter().zip(later.latencies());
        latencies.for_each(|(mine, theirs)| mine.merge(theirs));
        (self.at, self.second, self.interval_ns) = (later.at, later.second, later.interval_ns);
        (self.ledger, self.process) = (later.ledger, later.process);
        self.rooms.clone_from(&later.rooms);
        self.shards.clone_from(&later.shards);
    }

    /// Adds a copy that was judged.
    pub(crate) fn arrived(&mut self, arrival: Arrival) {
        let latencies = if arrival.replayed { &mut self.replays } else { &mut self.delivery };
        latencies.record_ns(arrival.latency_ns);
    }

    /// Adds what one shard saw.
    pub(crate) fn add(&mut self, record: &Record, end: At) {
        self.counters.merge(&record.counters);
        add_each(&mut self.operations, &record.operations, Timings::merge);
        for (code, &count) in record.codes.iter().enumerate().filter(|(_, count)| **count > 0) {
            *self.codes.entry(code as u16).or_default() += count;
        }
        for failure in &record.failures {
            let mut failure = failure.clone();
            failure.first_at = failure.first_at.min(end);
            failure.example_at = failure.example_at.min(end);
            merge_failure(&mut self.failures, &failure);
        }
        add_each(&mut self.scenarios, &record.scenarios, |mine, theirs| *mine += theirs);
        self.expectations.merge(&record.expectations);
        for (mine, theirs) in [
            (&mut self.sessions, &record.sessions),
            (&mut self.lag, &record.lag),
            (&mut self.hiccups, &record.hiccups),
        ] {
            theirs.iter().for_each(|theirs| mine.merge(theirs));
        }
        // What is of no shard, a flow that is walked once say, has no levels of one.
        if record.shard.is_none() && record.gauges == Gauges::default() {
            return;
        }
        let shard = record.shard.map_or(self.shards.len(), usize::from);
        if self.shards.len() <= shard {
            self.shards.resize(shard + 1, Gauges::default());
        }
        // A shard's last record may come with the one before it: its levels are the later ones.
        let (before, now) = (self.shards[shard], record.gauges);
        self.shards[shard] = Gauges {
            cpu_ns: before.cpu_ns + now.cpu_ns,
            wait_ns: before.wait_ns + now.wait_ns,
            functions_ns: before.functions_ns + now.functions_ns,
            ..now
        };
    }
}

/// Adds to each the one at its place.
fn add_each<T: Default>(mine: &mut Vec<T>, theirs: &[T], add: fn(&mut T, &T)) {
    mine.resize_with(mine.len().max(theirs.len()), T::default);
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| add(mine, theirs));
}
