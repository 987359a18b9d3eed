//! All shards of a run merged: per second for the sinks, cumulative for the summary.
//!
//! A second becomes one [`Snapshot`] of differences; everything cumulative is the sum of snapshots ([`Tally`]). The run
//! folder stores snapshots, so a summary read from a folder comes out of the very same code as the one printed at the
//! end of the run.

mod tally;

pub use crate::snapshot::{ProcessGauges, Progress, Snapshot};
pub(crate) use tally::Tally;

use crate::at::At;
use crate::ledger::{Arrival, Counts, Ledger, ROOMS_MAX, RoomFate, RoomId, Rules};
use crate::metrics::{Interval, MetricStore};
use crate::outcome::Operation;
use crate::overrun::Overrun;
use crate::plugins::Plugins;
use crate::recorder::{Gauges, Record};
use crate::secrets::masked;
use crate::summary::{FailOnStatus, Naming, Summary};
use crate::thresholds::{Judged, Threshold};
use std::time::Duration;

/// The facts that do not change during a run; the heart of `run.json`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Header {
    /// The run's name.
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The target's URL.
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
    /// The command that began it, word by word, secrets masked; empty where no command did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The script's file; None where the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptFile>,
    /// The script's thresholds.
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
    /// The smallest latency that a threshold on a metric allows (ms): with those of `thresholds`, the objective that
    /// the generator's own lag is held against.
    pub objective_ms: Option<f64>,
    /// The largest population a closed run asks for.
    pub population: Option<u64>,
    /// Arrivals of the whole plan; None where nobody knows before its end.
    pub arrivals: Option<u64>,
    /// How long the phases of the load take (s).
    pub load_s: Option<f64>,
    /// Cores this process may use; 0: unknown.
    #[serde(default)]
    pub cores: usize,
    /// When error statuses fail the run.
    #[serde(default)]
    pub fail_on_status: FailOnStatus,
    /// The settings of the script's plugins.
    #[serde(default)]
    pub plugins: Plugins,
    /// Sub-metrics that the run tells apart, by their places in its registry.
    #[serde(default)]
    pub submetrics: Vec<String>,
    /// The script's language, where that has rules of its own for when a run fails, and a summary of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
}

/// The file of a script, by which a reader knows whether theirs is the same.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ScriptFile {
    /// Its path as it was given, secrets masked.
    pub path: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub sha256: String,
}

/// A script's language that judges its runs itself and sums them up in words of its own.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Language {
    /// Its name.
    pub name: String,
    /// Whether it plans iterations of its users, not users.
    #[serde(default)]
    pub iterates: bool,
    /// What it must know of the run for that, beside the series (free JSON; nobody else reads it).
    pub facts: serde_json::Value,
}

impl Header {
    /// When the run began, in milliseconds since 1970.
    pub fn started_ms(&self) -> u64 {
        crate::at::unix_ms(&self.started).unwrap_or(0)
    }
}

/// Everything so far.
pub struct Totals {
    tally: Tally,
    ledger: Ledger,
    overrun: Overrun,
    last_second: Option<u64>,
}

impl Totals {
    /// Nothing so far; `metrics` knows the metrics of the run and the thresholds on them.
    pub fn new(header: &Header, rules: Rules, metrics: MetricStore) -> Totals {
        Totals {
            tally: Tally::new(header.clone(), metrics),
            ledger: Ledger::new(rules),
            overrun: Overrun::default(),
            last_second: None,
        }
    }

    /// The same, with a language's names for what thresholds say.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Totals {
        self.tally.naming = naming;
        self
    }

    /// Merges one interval of all shards. `at` is its end: everything the shards saw up to then must be in the records.
    pub fn absorb(&mut self, records: Vec<Record>, at: At, process: ProcessGauges) -> Snapshot {
        self.absorb_following(records, at, process, &mut Nobody)
    }

    /// [`Totals::absorb`], with samples of what the ledger judges.
    pub fn absorb_following(
        &mut self,
        records: Vec<Record>,
        at: At,
        process: ProcessGauges,
        follower: &mut impl Follow,
    ) -> Snapshot {
        let mut snapshot = self.begin(at);
        let mut batches = Vec::with_capacity(records.len());
        let mut metrics = Vec::with_capacity(records.len());
        for record in records {
            snapshot.add(&record, at);
            batches.push(record.ledger);
            metrics.push(record.metrics);
        }
        snapshot.process = process;
        self.overrun.shift(&mut snapshot.shards, snapshot.interval_ns);
        // A run that stamps nothing owes nothing: who was in which room would be kept to its end for nobody.
        if self.tally.header.tracked {
            self.ledger.apply(&mut batches, at, |arrival| {
                snapshot.arrived(arrival);
                follower.arrived(arrival);
            });
        }
        snapshot.ledger = self.ledger.counts();
        snapshot.rooms = self.worst_rooms(follower);
        metrics.push(follower.counted(&snapshot.ledger, at));
        snapshot.metrics = Interval::merged(metrics);
        self.end(snapshot)
    }

    /// Closes the ledger: the last snapshot of a run.
    pub fn close(&mut self, at: At) -> Snapshot {
        self.close_following(at, &mut Nobody)
    }

    /// [`Totals::close`], as [`Totals::absorb_following`].
    pub fn close_following(&mut self, at: At, follower: &mut impl Follow) -> Snapshot {
        let mut snapshot = self.begin(at);
        let counts = self.ledger.close(at, |arrival| {
            snapshot.arrived(arrival);
            follower.arrived(arrival);
        });
        snapshot.ledger = counts;
        snapshot.rooms = self.worst_rooms(follower);
        follower.closed(&counts, at);
        snapshot.metrics = follower.counted(&counts, at);
        let last = &self.tally.sum;
        snapshot.process = last.process;
        let levels = |shard: &Gauges| Gauges { cpu_ns: 0, wait_ns: 0, functions_ns: 0, ..*shard };
        snapshot.shards = last.shards.iter().map(levels).collect();
        self.overrun.settle(&mut snapshot.shards);
        self.tally.complete = true;
        self.end(snapshot)
    }

    /// The user stopped the run before its plan was done.
    pub fn interrupt(&mut self) {
        self.tally.interrupted = true;
    }

    /// The metrics so far, with their thresholds.
    pub fn metrics(&mut self) -> &mut MetricStore {
        &mut self.tally.metrics
    }

    /// Judges the thresholds that end the run when they are crossed, of what was measured until now, `elapsed` after
    /// its start. Whether one was: it has failed then, whatever is measured afterwards.
    pub fn judge(&mut self, elapsed: Duration) -> bool {
        self.tally.judge(elapsed)
    }

    /// Thresholds that have ended the run.
    pub fn ended_by(&self) -> &[Judged] {
        &self.tally.ended_by
    }

    /// The summary so far (final once closed).
    pub fn summary(&mut self) -> Summary {
        self.tally.summary()
    }

    fn worst_rooms(&self, follower: &impl Follow) -> Vec<RoomFate> {
        let worst = self.ledger.worst_rooms(ROOMS_MAX).into_iter();
        let named = |room| follower.room(room).map_or_else(|| room.to_string(), |name| masked(&name));
        worst.map(|(room, counts)| RoomFate { room: named(room), counts }).collect()
    }

    fn begin(&mut self, at: At) -> Snapshot {
        let nearest = (at.0 + 500_000_000).div_euclid(1_000_000_000).saturating_sub(1).max(0) as u64;
        let second = self.last_second.map_or(nearest, |last| nearest.max(last + 1));
        self.last_second = Some(second);
        let interval_ns = at.since(self.tally.sum.at);
        Snapshot { at, second, interval_ns, ..Snapshot::default() }
    }

    fn end(&mut self, mut snapshot: Snapshot) -> Snapshot {
        self.tally.absorb(&snapshot);
        snapshot.progress = self.tally.progress(&snapshot);
        snapshot
    }
}

/// Makes samples of what the ledger judges, for a script's language that has metrics of it.
pub trait Follow {
    /// The first copy of an owed message was judged.
    fn arrived(&mut self, _arrival: Arrival) {}

    /// The name of a room.
    fn room(&self, _room: RoomId) -> Option<String> {
        None
    }

    /// The ledger is closed, and came to this; [`Follow::counted`] comes behind it.
    fn closed(&mut self, _counts: &Counts, _at: At) {}

    /// Observes everything since the last call, with the ledger's present counts.
    fn counted(&mut self, _counts: &Counts, _at: At) -> Interval {
        Interval::default()
    }
}

/// Makes no samples.
struct Nobody;

impl Follow for Nobody {}

/// A part of a run by itself, in whole seconds: what [`Summary`] says is of these seconds alone, levels and peaks as
/// they were then. Thresholds are not judged.
pub struct Period(Tally);

impl Period {
    /// None of the run yet.
    pub fn new(header: &Header) -> Period {
        let plan = serde_json::Value::Null;
        let header = Header { thresholds: Vec::new(), plan, arrivals: None, ..header.clone() };
        Period(Tally::new(header, MetricStore::default()))
    }

    /// Adds a second; the first one begins the period.
    pub fn absorb(&mut self, snapshot: &Snapshot) {
        self.0.absorb_part(snapshot);
    }

    /// The summary of these seconds.
    pub fn summary(&mut self) -> Summary {
        self.0.summary()
    }
}
