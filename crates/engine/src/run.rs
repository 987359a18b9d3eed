//! A run from its plan to its summary: shards are started, their records merged once a second, the end awaited.
//!
//! The calling thread is the collector. It does no load, so a slow disk behind its caller never delays a message.

use sonagi_measure::At;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::{FailOnStatus, Summary};
use sonagi_measure::totals::{Header, ProcessGauges, Snapshot, Totals};
use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::mpsc::{RecvTimeoutError, channel};
use tokio::time::Instant;

use crate::collect::{Collector, Patience, Shards, TICK, join};
use crate::control::Control;
use crate::delivery::draw_tag;
use crate::health;
use crate::net::NetOptions;
use crate::plan::{Plan, Step};
use crate::processor::Kept;
use crate::rooms::Rooms;
use crate::schedule::Load;
use crate::shard::{MOST_LIVING, Shared};
use crate::thread::{self, Report, Task};

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
    /// When error statuses fail the run.
    pub fail_on_status: FailOnStatus,
    /// What came of the plan's processor before the run ([`crate::exports`]): its first shard takes it over.
    pub processor: Kept,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            shards: health::cores().max(1),
            seed: 0,
            source_addresses: Vec::new(),
            started: String::new(),
            fail_on_status: FailOnStatus::default(),
            processor: Kept::default(),
        }
    }
}

/// Whose words a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The engine's own, about the script.
    Engine,
    /// The script's, for standard output: a `log` step, `console.log`.
    Output,
    /// The script's, for standard error: `console.error`.
    ErrorOutput,
}

impl Speaker {
    /// Who speaks on a standard stream.
    pub(crate) fn of_stream(is_error: bool) -> Speaker {
        if is_error { Speaker::ErrorOutput } else { Speaker::Output }
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
    /// Words for who watches.
    Log {
        /// When.
        at: At,
        /// Whose they are.
        speaker: Speaker,
        /// The user's number in the run; None: the processor's console.
        user: Option<u32>,
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
    /// A source address that connections cannot come from.
    #[error(
        "connections cannot come from {address}: {cause}\n  hint: `ip address` lists this machine's addresses"
    )]
    SourceAddress {
        /// The address asked for.
        address: IpAddr,
        /// What the system says of it.
        cause: std::io::Error,
    },
    /// The script's functions could not be had.
    #[error(transparent)]
    Processor(#[from] crate::processor::Unloaded),
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
    check_sources(&options.source_addresses)?;
    health::raise_file_limit();
    let header = header(&plan, &options);
    let rules = plan.delivery.unwrap_or_default();
    on(Happening::Began(&header));

    let run = Run::new(plan, options, control);
    let mut totals = Totals::new(&header, rules, MetricStore::new(Arc::clone(&run.shared.metrics)));
    let (before, legacy) = run.solo(run.plan.before.clone(), Vec::new(), on)?;
    let last = if before.is_complete {
        let shards = Shards::start(&run, legacy.clone(), on)?;
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

/// Each source address is tried once, so that a wrong one is not mistaken for exhausted ports later.
fn check_sources(addresses: &[IpAddr]) -> Result<(), Error> {
    for address in addresses {
        std::net::UdpSocket::bind((*address, 0))
            .map_err(|cause| Error::SourceAddress { address: *address, cause })?;
    }
    Ok(())
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
        population: plan.load.population(),
        arrivals: plan.load.planned(options.seed),
        load_s: Some(plan.load.end().0 as f64 / 1e9),
        cores: health::cores(),
        fail_on_status: options.fail_on_status,
        plugins: plan.plugins.clone(),
        ..Header::default()
    }
}

/// What all threads of a run are given.
pub(crate) struct Run {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) net: NetOptions,
    /// For who loads the processor first.
    pub(crate) processor: Kept,
    pub(crate) shards: usize,
    /// The run's tag in stamps: 24 bits that tell its messages from those of other runs.
    pub(crate) tag: u32,
    /// When second 0 began: the shards' start, and before that the run's own.
    pub(crate) epoch: Cell<Instant>,
}

/// The row after those of the arrivals: only a closed run's iterations need more.
fn next_row(load: &Load, seed: u64) -> u64 {
    match load {
        Load::Open { .. } => 0,
        Load::Closed { .. } => load.arrivals(seed).count() as u64,
    }
}

/// What a single user's flow left.
struct Solo {
    records: Vec<Record>,
    is_complete: bool,
}

pub(crate) type Legacy = Vec<(String, serde_json::Value)>;

impl Run {
    fn new(plan: Plan, options: Options, control: Control) -> Run {
        let net = NetOptions {
            verify_certificates: plan.verify_certificates,
            source_addresses: options.source_addresses,
            http2: plan.http.http2,
            timed: plan.plugins.extended,
            ..NetOptions::default()
        };
        let shared = Shared {
            control,
            rooms: Rooms::default(),
            metrics: Arc::default(),
            members: AtomicU32::new(0),
            next_row: AtomicU64::new(next_row(&plan.load, options.seed)),
            undelivered: AtomicU64::new(0),
            active: AtomicU64::new(0),
            seed: options.seed,
            most_living: MOST_LIVING,
        };
        let tag = draw_tag();
        let shards = options.shards.max(1);
        Run {
            plan: Arc::new(plan),
            shared: Arc::new(shared),
            net,
            processor: options.processor,
            shards,
            tag,
            epoch: Cell::new(Instant::now()),
        }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.shared.control
    }

    pub(crate) fn gauges(&self) -> ProcessGauges {
        health::process(self.net.source_addresses.len())
    }

    pub(crate) fn now(&self) -> At {
        At(self.epoch.get().elapsed().as_nanos() as i64)
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
        let thread = thread::start(self, legacy, Task::Solo { flow, epoch: self.epoch.get() }, reports)?;
        let (mut solo, mut own) = (Solo { records: Vec::new(), is_complete: false }, Vec::new());
        let mut patience = Patience::new(self.control());
        loop {
            match inbox.recv_timeout(TICK) {
                Ok(Report::Log { at, speaker, user, text }) => {
                    on(Happening::Log { at, speaker, user, text: &text });
                }
                Ok(Report::Second { record, .. }) => solo.records.push(*record),
                Ok(Report::Left { variables, completed }) => (own, solo.is_complete) = (variables, completed),
                Ok(Report::Ended { record }) => {
                    solo.records.push(*record);
                    break;
                }
                Ok(Report::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) if !patience.is_over() => {}
                Err(_) => return Ok((solo, own)),
            }
        }
        join(thread);
        Ok((solo, own))
    }
}
