//! Artillery's side of a run: what the kernel asks a script language for ([`Dialect`]), and what it hears of the run.

use serde_json::Value;
use sonagi_engine::{
    Collect, Control, Dialect, Level, LogLine, Phase, RunEvent, SECOND_NS, TICK, Watcher, health,
};
use sonagi_measure::At;
use sonagi_measure::ledger::RoomId;
use sonagi_measure::metrics::{Interval, JUDGED_EVERY, Registry};
use sonagi_measure::plugins::Plugins;
use sonagi_measure::recorder::{Counter, TaggedSeries};
use sonagi_measure::summary::{FailOnStatus, Naming, Summary};
use sonagi_measure::totals::{Follow, Header, Totals};
use sonagi_transport::http::Pool;
use sonagi_transport::net::{NetOptions, Origin};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

use crate::arrivals;
use crate::names;
use crate::plan::{Plan, Step};
use crate::processor::{LoadedProcessor, Sidecar, Unloaded};
use crate::shard::{MOST_LIVING, RunShared, Shard, hear};
use crate::tagged;
use crate::user::User;
use crate::values::RunValues;

/// How long opening a pool's connections may hold up the start.
const WARM_UP: Duration = Duration::from_secs(10);

/// How long a processor may take to say what is left to say once its users are gone.
const FAREWELL_NS: i64 = SECOND_NS;

/// How a plan is carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads generating load, at least 1.
    pub threads: usize,
    /// All random choices follow from it.
    pub seed: u64,
    /// Local addresses to connect from, in turn; empty: the kernel's choice.
    pub source_addresses: Vec<IpAddr>,
    /// The wall clock's time of the start, RFC 3339 in UTC.
    pub started: String,
    /// When error statuses fail the run.
    pub fail_on_status: FailOnStatus,
    /// The plan's processor, if it was loaded before the run ([`crate::exports`]): the first shard takes it over.
    pub processor: LoadedProcessor,
    /// Whoever looks at the target meanwhile.
    pub watcher: Option<Arc<dyn Watcher>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: health::cores().max(1),
            seed: 0,
            source_addresses: Vec::new(),
            started: String::new(),
            fail_on_status: FailOnStatus::default(),
            processor: LoadedProcessor::default(),
            watcher: None,
        }
    }
}

/// Why a plan could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan has nothing to do.
    #[error("a run needs at least one scenario\n  hint: add a scenario with a flow to the script")]
    NothingToDo,
    /// A source address that connections cannot come from.
    #[error(
        "connections cannot come from {address}: {cause}\n  hint: `ip address` lists this machine's addresses"
    )]
    SourceAddress {
        /// The address asked for.
        address: IpAddr,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The run could not be carried out; its functions could not be had, say.
    #[error(transparent)]
    Run(#[from] sonagi_engine::Error<Unloaded>),
}

/// Carries the plan out and returns when it is over. `on` is called on this thread.
///
/// # Errors
/// Only when the run could not be carried out; a target that misbehaves is in the summary.
pub fn run(
    plan: Plan,
    options: Options,
    control: &Control,
    on: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Summary, Error> {
    if plan.scenarios.is_empty() {
        return Err(Error::NothingToDo);
    }
    check_sources(&options.source_addresses)?;
    let (header, rules) = (header(&plan, &options), plan.delivery.unwrap_or_default());
    let artillery = Arc::new(Artillery::new(plan, options));
    let kernel = sonagi_engine::Options::new(&*artillery, header, rules, Instant::now());
    let kernel = sonagi_engine::Options { watcher: artillery.options.watcher.clone(), ..kernel };
    let mut follower = Follower {
        boundaries: artillery.plan.load.boundaries(),
        artillery: Arc::clone(&artillery),
        control: control.clone(),
        phase: 0,
        begins: false,
        next_judgement: JUDGED_EVERY,
        is_judged: false,
        on,
    };
    Ok(sonagi_engine::run(&artillery, &kernel, control, &mut follower)?)
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
    Header {
        name: plan.name.clone(),
        started: options.started.clone(),
        target: plan.target.clone(),
        seed: options.seed,
        shards: options.threads.max(1),
        scenarios: plan.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        operations: plan.operations.clone(),
        plan: plan.source.clone(),
        tracked: plan.delivery.is_some(),
        thresholds: plan.thresholds.clone(),
        population: plan.load.population(),
        arrivals: plan.load.planned(options.seed),
        load_s: Some(plan.load.end().0 as f64 / 1e9),
        fail_on_status: options.fail_on_status,
        plugins: Plugins {
            endpoint_prefix: names::endpoint_prefix(&plan.plugins.endpoint_prefix),
            ..plan.plugins.clone()
        },
        ..Header::default()
    }
}

/// A plan under way, as its threads share it.
struct Artillery {
    plan: Arc<Plan>,
    options: Options,
    shared: Arc<RunShared>,
    metrics: Arc<Registry>,
    /// Where operations with tags are sampled, by `TaggedId`.
    tagged: Vec<TaggedSeries>,
    /// The variables that the `before` flow set.
    before_variables: OnceLock<Vec<(String, Value)>>,
}

impl Artillery {
    fn new(plan: Plan, options: Options) -> Artillery {
        let (metrics, tagged) = tagged::metrics(&plan);
        Artillery {
            shared: Arc::new(RunShared::new(&plan.load, options.seed, MOST_LIVING)),
            plan: Arc::new(plan),
            options,
            metrics: Arc::new(metrics),
            tagged,
            before_variables: OnceLock::new(),
        }
    }

    /// The functions of the script, when it has some and the flow may call them.
    async fn functions(
        &self,
        kernel: &Rc<sonagi_engine::Shard>,
        common: &RunValues,
        task: Option<&Flow>,
    ) -> Result<Option<Rc<Sidecar>>, Unloaded> {
        let may_call = task.is_none_or(|flow| flow.iter().any(Step::calls_functions));
        let Some(processor) = self.plan.processor.clone().filter(|_| may_call) else { return Ok(None) };
        let (kept, control) = (self.options.processor.clone(), kernel.control.clone());
        Sidecar::start(processor, kept, common.shared(), control, &mut |said| hear(kernel, said)).await
    }
}

/// A flow that one user walks once.
type Flow = Vec<Step>;

/// The result of a flow that is walked once.
struct Walked {
    variables: Vec<(String, Value)>,
    is_complete: bool,
}

impl Dialect for Artillery {
    type Thread = Rc<Shard>;
    type Task = Flow;
    type Done = Walked;
    type Error = Unloaded;

    const IS_PREPARED_FIRST: bool = false;
    const NAMING: Naming = names::NAMING;
    const LINES_PER_SECOND: Option<u32> = Some(200);

    fn metrics(&self) -> Arc<Registry> {
        Arc::clone(&self.metrics)
    }

    fn net(&self, _: Option<usize>) -> NetOptions {
        NetOptions {
            verify_certificates: self.plan.verify_certificates,
            source_addresses: self.options.source_addresses.clone(),
            http2: self.plan.http.http2,
            timed: self.plan.plugins.extended,
            ..NetOptions::default()
        }
    }

    async fn prepare(
        &self,
        kernel: &Rc<sonagi_engine::Shard>,
        task: Option<&Flow>,
    ) -> Result<Rc<Shard>, Unloaded> {
        kernel.recorder.borrow_mut().tell_apart(&self.tagged);
        let pool = self.plan.http.pool.map(|connections| Rc::new(Pool::new(connections)));
        let before = self.before_variables.get().cloned().unwrap_or_default();
        let common = RunValues::new(Arc::clone(&self.plan), before, self.shared.delivery.tag);
        let processor = self.functions(kernel, &common, task).await?;
        if let Some(pool) = pool.as_ref().filter(|_| task.is_none() && self.plan.http.warm) {
            warm(pool, kernel, &self.plan).await;
            kernel.count(Counter::ConnectionsOpened, pool.open_connections() as u64);
        }
        Ok(Shard::new(Rc::clone(kernel), pool, processor, common, Arc::clone(&self.shared)))
    }

    async fn load(&self, shard: &Rc<Shard>) {
        arrivals::serve(shard).await;
    }

    async fn once(&self, shard: &Rc<Shard>, flow: Flow) -> Walked {
        let mut user = User::arrived(shard, 0, shard.clock.now());
        let is_complete = user.walk(&flow).await.is_ok();
        user.hang_up().await;
        user.depart();
        Walked { variables: user.into_own_values(), is_complete }
    }

    async fn leave(&self, shard: &Rc<Shard>) {
        let Some(processor) = &shard.processor else { return };
        let limit = shard.clock.sleep_until(shard.clock.now().plus(FAREWELL_NS));
        tokio::select! {
            () = processor.finish() => {}
            () = limit => {}
        }
    }

    fn observed(&self, shard: &Rc<Shard>) -> Interval {
        if let Some(processor) = &shard.processor {
            processor.take_said().into_iter().for_each(|said| hear(shard, said));
            shard.functions_wanted(processor.take_wanted_ns());
        }
        Interval::default()
    }
}

/// Opens the pool's connections to the target before second 0. Within [`WARM_UP`]: what is not open by then, or cannot
/// be opened, is left to the requests, which will tell why.
async fn warm(pool: &Rc<Pool>, shard: &Rc<sonagi_engine::Shard>, plan: &Plan) {
    let Ok((origin, _)) = Origin::parse(&plan.target) else { return };
    let until = shard.clock.now().plus(WARM_UP.as_nanos() as i64);
    tokio::select! {
        () = pool.open_all(&shard.net, &origin) => {}
        () = shard.clock.sleep_until(until) => {}
        () = shard.control.stopped() => {}
    }
}

/// Hears of the run, and tells which phase of the load it is in.
struct Follower<'f> {
    artillery: Arc<Artillery>,
    control: Control,
    /// Where phases end, and their names.
    boundaries: Vec<(At, Option<String>)>,
    phase: usize,
    /// The load has begun.
    begins: bool,
    /// When thresholds that may end the run are judged next, from the load's start.
    next_judgement: Duration,
    /// One of them has ended it.
    is_judged: bool,
    on: &'f mut dyn FnMut(RunEvent<'_>),
}

impl Follow for Follower<'_> {
    fn room(&self, room: RoomId) -> Option<String> {
        self.artillery.shared.delivery.rooms.name(room)
    }
}

impl Collect<Artillery> for Follower<'_> {
    fn event(&mut self, event: RunEvent<'_>) {
        (self.on)(event);
    }

    fn task(&mut self, phase: Phase) -> Option<Flow> {
        let plan = &self.artillery.plan;
        let flow = if phase == Phase::Before { &plan.before } else { &plan.after };
        (!flow.is_empty() && !self.control.is_stopping()).then(|| flow.clone())
    }

    fn done(&mut self, phase: Phase, done: Option<Walked>) -> bool {
        let Some(Walked { variables, is_complete }) = done else { return false };
        if phase == Phase::Before {
            // Set once: there is one such flow.
            let _ = self.artillery.before_variables.set(variables);
        }
        is_complete
    }

    fn begins(&mut self, _: At) {
        self.begins = true;
    }

    fn turn(&mut self, now: At, totals: &mut Totals) -> Duration {
        if self.begins {
            self.enter_phases(now);
            self.judge(now, totals);
        }
        TICK
    }

    fn loaded(&mut self, _: At) {
        self.begins = false;
    }

    /// A threshold that ends the run has judged it: that is a failure, not an interruption.
    fn is_interrupted(&self, is_stopping: bool) -> bool {
        is_stopping && !self.is_judged
    }
}

impl Follower<'_> {
    /// Has the run end gracefully when a threshold is crossed that ends it.
    fn judge(&mut self, now: At, totals: &mut Totals) {
        let elapsed = Duration::from_nanos(now.0.max(0) as u64);
        if elapsed < self.next_judgement || self.control.is_stopping() {
            return;
        }
        self.next_judgement = elapsed + JUDGED_EVERY;
        self.is_judged = totals.judge(elapsed);
        for threshold in totals.ended_by() {
            let text =
                format!("the threshold `{}` ends the run: {}", threshold.expression, threshold.evidence);
            (self.on)(RunEvent::Line(&LogLine { at: now, ..LogLine::new(Level::Error, text) }));
        }
        if self.is_judged {
            self.control.stop();
        }
    }

    fn enter_phases(&mut self, now: At) {
        while self.phase < self.boundaries.len() {
            let begin = if self.phase == 0 { At(0) } else { self.boundaries[self.phase - 1].0 };
            if now < begin {
                return;
            }
            if let Some(name) = &self.boundaries[self.phase].1 {
                (self.on)(RunEvent::Phase { at: begin, name });
            }
            self.phase += 1;
        }
        let end = self.artillery.plan.load.end();
        if self.phase == self.boundaries.len() && now >= end {
            self.phase += 1;
            (self.on)(RunEvent::Draining { at: end });
        }
    }
}
