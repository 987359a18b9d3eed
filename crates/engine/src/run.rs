//! A run from its plan to its summary: shards are started, their records merged once a second, the end awaited.
//!
//! The calling thread is the collector. It does no load, so a slow disk behind its caller never delays a message.

use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, ProcessGauges, Snapshot, Totals};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::time::Instant;

use crate::control::Control;
use crate::health;
use crate::net::NetOptions;
use crate::plan::{Plan, Step};
use crate::rooms::Rooms;
use crate::shard::{SECOND_NS, Shared};
use crate::thread::{self, Report, Task};

/// How long the collector waits for shards to end after an abort.
const ABORT_PATIENCE: Duration = Duration::from_secs(1);
/// How often the collector looks at the clock while no record comes.
const TICK: Duration = Duration::from_millis(50);

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads generating load, at least 1.
    pub shards: usize,
    /// All random choices follow from it.
    pub seed: u64,
    /// Local addresses to connect from, in turn; empty: the kernel's choice.
    pub source_addresses: Vec<IpAddr>,
    /// The wall clock's time of the start, RFC 3339 in UTC.
    pub started: String,
}

impl Default for Options {
    fn default() -> Options {
        let shards = std::thread::available_parallelism().map_or(1, usize::from);
        Options { shards, seed: 0, source_addresses: Vec::new(), started: String::new() }
    }
}

/// What a run tells its caller while it goes.
#[derive(Debug)]
pub enum Happening<'a> {
    /// First of all.
    Began(&'a Header),
    /// A phase or stage began.
    Phase {
        /// When it was planned to begin.
        at: At,
        /// Its name in the script.
        name: &'a str,
    },
    /// A `log` step spoke.
    Log {
        /// When.
        at: At,
        /// The user's number in the run.
        user: u32,
        /// Its words.
        text: &'a str,
    },
    /// About once a second.
    Second(&'a Snapshot),
    /// The last phase is over; users finish.
    Draining {
        /// When the last phase ended.
        at: At,
    },
    /// Last of all.
    Ended(&'a Summary),
}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan has nothing to do.
    #[error("a run needs at least one scenario\n  hint: add a scenario with a flow to the script")]
    NothingToDo,
    /// A thread, timer or runtime could not be had.
    #[error("the generator could not start: {0}")]
    Start(#[from] std::io::Error),
    /// The network could not be set up (certificates, source addresses).
    #[error("the generator could not set up its network: {0}")]
    Network(String),
}

/// Carries the plan out and returns when it is over. `on` is called on this thread.
///
/// # Errors
/// Only when the run could not be carried out; a target that misbehaves is in the summary.
pub fn run(
    plan: Plan,
    options: Options,
    control: Control,
    on: &mut dyn FnMut(Happening<'_>),
) -> Result<Summary, Error> {
    if plan.scenarios.is_empty() {
        return Err(Error::NothingToDo);
    }
    health::raise_file_limit();
    let header = header(&plan, &options);
    let rules = plan.delivery.unwrap_or_default();
    let mut totals = Totals::new(&header, rules);
    on(Happening::Began(&header));

    let run = Run::new(plan, options, control);
    let (before, legacy) = run.solo(run.plan.before.clone(), Vec::new(), on)?;
    let last = if before.is_complete {
        let shards = Shards::start(&run, legacy.clone())?;
        let mut collector = Collector::new(&run, &mut totals, before.records);
        let leftover = collector.collect(shards, on)?;
        let (after, _) = run.solo(run.plan.after.clone(), legacy, on)?;
        leftover.into_iter().chain(after.records).collect()
    } else {
        before.records
    };
    on(Happening::Second(&totals.absorb(last, run.now(), run.gauges())));
    finish(&run, &mut totals, on)
}

/// Closes the books. An aborted run's copies under way are neither lost nor delivered: its ledger stays open.
fn finish(run: &Run, totals: &mut Totals, on: &mut dyn FnMut(Happening<'_>)) -> Result<Summary, Error> {
    if run.control().is_stopping() {
        totals.interrupt();
    }
    if !run.control().is_aborted() {
        on(Happening::Second(&totals.close(run.now())));
    }
    let summary = totals.summary();
    on(Happening::Ended(&summary));
    Ok(summary)
}

fn header(plan: &Plan, options: &Options) -> Header {
    let rules = plan.delivery.unwrap_or_default();
    Header {
        name: plan.name.clone(),
        started: options.started.clone(),
        target: plan.target.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: options.seed,
        shards: options.shards.max(1),
        scenarios: plan.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        operations: plan.operations.clone(),
        plan: plan.source.clone(),
        environment: health::environment(),
        deadline_ms: rules.deadline_ns as f64 / 1e6,
        tracked: plan.delivery.is_some(),
        thresholds: plan.thresholds.clone(),
    }
}

/// What all threads of a run are given.
pub(crate) struct Run {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) net: NetOptions,
    pub(crate) shards: usize,
    /// The run's tag in stamps: 24 bits that tell its messages from those of other runs.
    pub(crate) tag: u32,
    epoch: Instant,
}

/// What a single user's flow left.
struct Solo {
    records: Vec<Record>,
    is_complete: bool,
}

type Legacy = Vec<(String, serde_json::Value)>;

impl Run {
    fn new(plan: Plan, options: Options, control: Control) -> Run {
        let net = NetOptions {
            verify_certificates: plan.verify_certificates,
            source_addresses: options.source_addresses,
            http2: plan.http.http2,
        };
        let shared = Shared {
            control,
            rooms: Rooms::default(),
            members: AtomicU32::new(0),
            active: AtomicU64::new(0),
            seed: options.seed,
        };
        // Not from the seed: two runs with one seed must not mistake each other's messages for their own.
        let tag = fastrand::u32(..1 << 24);
        let shards = options.shards.max(1);
        Run { plan: Arc::new(plan), shared: Arc::new(shared), net, shards, tag, epoch: Instant::now() }
    }

    fn control(&self) -> &Control {
        &self.shared.control
    }

    fn gauges(&self) -> ProcessGauges {
        health::process(self.net.source_addresses.len())
    }

    fn now(&self) -> At {
        At(self.epoch.elapsed().as_nanos() as i64)
    }

    /// One user walks `flow` on a thread of its own; returns what it measured and the variables it set.
    fn solo(
        &self,
        flow: Vec<Step>,
        legacy: Legacy,
        on: &mut dyn FnMut(Happening<'_>),
    ) -> Result<(Solo, Legacy), Error> {
        if flow.is_empty() || self.control().is_stopping() {
            return Ok((Solo { records: Vec::new(), is_complete: true }, legacy));
        }
        let (reports, inbox) = channel();
        let thread = thread::start(self, self.epoch, legacy, Task::Solo(flow), reports)?;
        let (mut solo, mut own) = (Solo { records: Vec::new(), is_complete: false }, Vec::new());
        for report in inbox {
            match report {
                Report::Log { at, user, text } => on(Happening::Log { at, user, text: &text }),
                Report::Second { record, .. } | Report::Ended { record, .. } => solo.records.push(*record),
                Report::Left { variables, completed } => (own, solo.is_complete) = (variables, completed),
                Report::Failed(error) => return Err(error),
            }
        }
        join(thread);
        Ok((solo, own))
    }
}

/// The running threads and what they send.
struct Shards {
    threads: Vec<JoinHandle<()>>,
    inbox: Receiver<Report>,
    epoch: Instant,
}

impl Shards {
    fn start(run: &Run, legacy: Legacy) -> Result<Shards, Error> {
        let (reports, inbox) = channel();
        let epoch = Instant::now();
        let start = |shard: usize| -> Result<JoinHandle<()>, Error> {
            let reports: Sender<Report> = reports.clone();
            Ok(thread::start(run, epoch, legacy.clone(), Task::Arrivals { shard }, reports)?)
        };
        let threads = (0..run.shards).map(start).collect::<Result<_, _>>()?;
        Ok(Shards { threads, inbox, epoch })
    }
}

/// Merges what shards send, second by second.
struct Collector<'a> {
    run: &'a Run,
    totals: &'a mut Totals,
    /// Records of seconds that not all shards have delivered yet.
    seconds: BTreeMap<u64, Vec<Record>>,
    /// Records of shards that have ended, and of the `before` flow: they go with the next second.
    leftover: Vec<Record>,
    running: usize,
    boundaries: Vec<(At, Option<String>)>,
    phase: usize,
}

impl<'a> Collector<'a> {
    fn new(run: &'a Run, totals: &'a mut Totals, leftover: Vec<Record>) -> Collector<'a> {
        let boundaries = run.plan.load.boundaries();
        Collector {
            run,
            totals,
            seconds: BTreeMap::new(),
            leftover,
            running: run.shards,
            boundaries,
            phase: 0,
        }
    }

    /// Until all shards have ended (or were abandoned after an abort). Returns what came too late for a full second.
    fn collect(&mut self, shards: Shards, on: &mut dyn FnMut(Happening<'_>)) -> Result<Vec<Record>, Error> {
        let mut aborted: Option<Instant> = None;
        self.enter_phases(At(0), on);
        while self.running > 0 {
            match shards.inbox.recv_timeout(TICK) {
                Ok(report) => self.take(report, on)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.merge_whole_seconds(on);
            self.enter_phases(At(shards.epoch.elapsed().as_nanos() as i64), on);
            if self.run.control().is_aborted() {
                let since = aborted.get_or_insert_with(Instant::now);
                if since.elapsed() > ABORT_PATIENCE {
                    return Ok(self.rest());
                }
            }
        }
        shards.threads.into_iter().for_each(join);
        Ok(self.rest())
    }

    fn rest(&mut self) -> Vec<Record> {
        let seconds = std::mem::take(&mut self.seconds).into_values().flatten();
        self.leftover.drain(..).chain(seconds).collect()
    }

    fn take(&mut self, report: Report, on: &mut dyn FnMut(Happening<'_>)) -> Result<(), Error> {
        match report {
            Report::Second { second, record } => self.seconds.entry(second).or_default().push(*record),
            Report::Ended { record } => {
                self.leftover.push(*record);
                self.running -= 1;
            }
            Report::Log { at, user, text } => on(Happening::Log { at, user, text: &text }),
            Report::Left { .. } => {}
            Report::Failed(error) => {
                self.run.control().abort();
                return Err(error);
            }
        }
        Ok(())
    }

    /// A second is whole when every shard still running has delivered it.
    fn merge_whole_seconds(&mut self, on: &mut dyn FnMut(Happening<'_>)) {
        while let Some(entry) = self.seconds.first_entry() {
            if entry.get().len() < self.running || self.running == 0 {
                return;
            }
            let (second, mut records) = entry.remove_entry();
            records.append(&mut self.leftover);
            let at = At(second as i64 * SECOND_NS);
            on(Happening::Second(&self.totals.absorb(records, at, self.run.gauges())));
        }
    }

    fn enter_phases(&mut self, now: At, on: &mut dyn FnMut(Happening<'_>)) {
        while self.phase < self.boundaries.len() {
            let begin = if self.phase == 0 { At(0) } else { self.boundaries[self.phase - 1].0 };
            if now < begin {
                return;
            }
            if let Some(name) = &self.boundaries[self.phase].1 {
                on(Happening::Phase { at: begin, name });
            }
            self.phase += 1;
        }
        if self.phase == self.boundaries.len() && now >= self.run.plan.load.end() {
            self.phase += 1;
            on(Happening::Draining { at: self.run.plan.load.end() });
        }
    }
}

/// A shard that panicked has said so on stderr; what it delivered until then counts.
fn join(thread: JoinHandle<()>) {
    let _ = thread.join();
}
