//! A test from its script to its end: the first user reads the script, the options are judged, all users are made,
//! `setup`, the scenarios, `teardown`, `handleSummary`.
//!
//! The calling thread is the collector: it merges what the shards measured, judges thresholds and tells its caller.
//! Each shard is a thread; what happens once (`setup` and the like) happens on a thread of its own, by a user of its
//! own.

mod bars;
mod closing;
mod collector;
mod delivery_metrics;
mod dialect;
mod ending;
mod header;
mod net;
mod one_shot;
mod periodic;
mod simulation;
#[cfg(test)]
mod tests;
mod thresholds;
mod traffic;
mod vu_pool;

use serde_json::{Map, Value};
use sonagi_engine::{Collect, RunEvent, Watcher};
use sonagi_measure::At;
use sonagi_measure::totals::{Follow, Header};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::time::Instant;

use crate::bundle::Bundle;
use crate::executor::{Abort, Plan, Reason};
use crate::metrics::{self, Detail, MetricStore, Registry, Sampler, SystemTags};
use crate::options::{Options, Scenario, Several, Tiers, consolidate};
use crate::output::Wanted;
use crate::runtime::{Task, Thrown};
use crate::secrets::Secrets;
use crate::shard::{Common, Delivery, Level, Limits, LogLine, Pace, Tally};
use dialect::K6;
pub use ending::{End, Ended, Exit, Files};
use one_shot::OneShot;

/// The hint for a script in JavaScript that is Artillery's, not k6's.
pub const AS_JSON: &str = "an Artillery script is run as YAML or JSON: `node -p \
                           'JSON.stringify(require(\"./script.js\"))'` writes it as that";

/// A test to run, with its settings.
pub struct Asked {
    /// The script's absolute path.
    pub script: PathBuf,
    /// Its text.
    pub source: Vec<u8>,
    /// `__ENV`.
    pub environment: Vec<(String, String)>,
    /// The options of all tiers but the script's own.
    pub tiers: Tiers,
    /// Threads generating load, at least 1.
    pub shards: usize,
    /// Whether thresholds are left out.
    pub no_thresholds: bool,
    /// Whether scenarios and groups are told apart in the summary (`--summary-mode full`).
    pub full_summary: bool,
    /// Whether nobody wants a summary: `handleSummary` is not called.
    pub no_summary: bool,
    /// Facts about the terminal for `handleSummary`: no colours, whether stdout is one, and whether stderr is one.
    pub terminal: [bool; 3],
    /// Whether scripts go without `global` (`--compatibility-mode base`).
    pub without_global: bool,
    /// Values that scripts may know and the log may not show.
    pub secrets: Arc<Secrets>,
    /// Where single samples go.
    pub outputs: Vec<Wanted>,
    /// Opens the standard output, for the outputs that go there.
    pub standard_output: fn() -> Box<dyn Write + Send>,
    /// Makes whoever looks at the target meanwhile, and at what `options.sonagi.watch` names.
    pub watch: Watching,
    /// Finds what is wrong with `options.sonagi.launch`, a text for each mistake.
    pub launch: fn(&Value) -> Vec<String>,
}

/// Makes the watcher of a test whose script names these; the error says what is wrong with one.
type MakeWatcher = dyn Fn(&[String]) -> Result<Option<Arc<dyn Watcher>>, String>;

/// How a test is watched: that is known when its script's options are.
pub struct Watching(Box<MakeWatcher>);

impl Watching {
    /// Watches as this function says.
    pub fn by(make: impl Fn(&[String]) -> Result<Option<Arc<dyn Watcher>>, String> + 'static) -> Watching {
        Watching(Box::new(make))
    }
}

/// A test that can be run: its script was read, its options make sense.
pub struct Test {
    asked: Asked,
    common: Arc<Common>,
    plan: Arc<Plan>,
    store: MetricStore,
    functions: Vec<String>,
    watcher: Option<Arc<dyn Watcher>>,
    /// When its clock began.
    epoch: Instant,
    started: SystemTime,
}

/// The option that is ours.
const OWN: &str = "sonagi";

/// Stack and memory of a user whose options do not say more.
const LIMITS: Limits = Limits { stack_bytes: 256 << 10, memory_bytes: 512 << 20 };

/// Reads the script with its first user and judges the options of all tiers; `abort` ends it early.
///
/// # Errors
/// How the test ended before it began: the script threw, or its options are wrong.
pub fn load(asked: Asked, abort: &Arc<Abort>, on: &mut dyn FnMut(RunEvent<'_>)) -> Result<Test, Ended> {
    let secrets = Arc::clone(&asked.secrets);
    read(asked, abort, &mut |event| masked(&secrets, event, on))
}

/// Tells it without the secrets that scripts were told.
fn masked(secrets: &Secrets, event: RunEvent<'_>, on: &mut dyn FnMut(RunEvent<'_>)) {
    match &event {
        RunEvent::Line(line) => match secrets.masked(line) {
            Some(line) => on(RunEvent::Line(&line)),
            None => on(event),
        },
        _ => on(event),
    }
}

/// What a script says of several runs, from that option alone: the others may make no sense yet, as long as nobody
/// knows which values they are of. Lines of the log are told.
///
/// # Errors
/// How the test ended before it began: the script threw, or what it says of several runs is wrong.
pub fn several(asked: &Asked, on: &mut dyn FnMut(RunEvent<'_>)) -> Result<Several, Ended> {
    let secrets = Arc::clone(&asked.secrets);
    let mut on = |event: RunEvent<'_>| masked(&secrets, event, on);
    let started = (Instant::now(), SystemTime::now());
    let script = evaluated(asked, started, &Arc::default(), &mut on)?.options;
    let own =
        |of: &Map<String, Value>| of.get(OWN).map(|own| (OWN.to_owned(), own.clone())).into_iter().collect();
    let tiers =
        Tiers { script: own(&script), config_file: own(&asked.tiers.config_file), ..Tiers::default() };
    let consolidated = consolidate(tiers).map_err(|problems| Ended::of_problems(&problems))?;
    Ok(consolidated.options.sonagi.several)
}

/// A script that was evaluated by its first user.
struct Evaluated {
    bundle: Arc<Bundle>,
    registry: Arc<Registry>,
    /// Its options, as it exports them.
    options: Map<String, Value>,
    functions: Vec<String>,
}

fn evaluated(
    asked: &Asked,
    (epoch, started): (Instant, SystemTime),
    abort: &Arc<Abort>,
    on: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Evaluated, Ended> {
    let registry = Arc::new(metrics::registry());
    let bundle = Arc::new(Bundle::new(asked.script.clone(), asked.source.clone()));
    let nothing = consolidate(asked.tiers.clone()).map_err(|problems| Ended::of_problems(&problems))?;
    let first = common(asked, &bundle, &registry, nothing.options, LIMITS);
    let tasks = [Task::Init, Task::Options, Task::Functions].map(|task| (task, None)).to_vec();
    let task = OneShot { tasks, abort: Arc::clone(abort), under_way: None };
    let reader = Arc::new(K6::new(first, Arc::new(Plan::of(&[], 1)), started));
    let alone = Header { operations: header::operations(), ..Header::default() };
    let alone = sonagi_engine::Options::new(&*reader, alone, Default::default(), epoch);
    let done = sonagi_engine::once(&reader, &alone, abort.control(), &mut Reading(on), task);
    let mut read = match done {
        Ok(Some(outcomes)) => outcomes.into_iter(),
        Ok(None) => return Err(Ended::early(Exit::Other, "a thread ended without a word")),
        Err(error) => return Err(Ended::early(Exit::Other, error.to_string())),
    };
    if let Some(Err(thrown)) = read.next() {
        if thrown == Thrown::Interrupted {
            return Err(Ended::before(&Reason::Signal));
        }
        return Err(Ended::of_script(&thrown, &bundle.entry, on));
    }
    let (options, functions) = (json(read.next()), json(read.next()));
    bundle.close();
    let options = if let Value::Object(options) = options { options } else { Map::new() };
    let functions: Vec<String> = serde_json::from_value(functions).unwrap_or_default();
    Ok(Evaluated { bundle, registry, options, functions })
}

fn read(asked: Asked, abort: &Arc<Abort>, on: &mut dyn FnMut(RunEvent<'_>)) -> Result<Test, Ended> {
    let (epoch, started) = (Instant::now(), SystemTime::now());
    let Evaluated { bundle, registry, options: script, functions } =
        evaluated(&asked, (epoch, started), abort, on)?;
    let consolidated = consolidate(Tiers { script, ..asked.tiers.clone() });
    let consolidated = consolidated.map_err(|problems| Ended::of_problems(&problems))?;
    for notice in consolidated.notices {
        on(RunEvent::Line(&LogLine::new(Level::Warn, notice)));
    }
    let options = consolidated.options;
    let plan = Plan::of(&options.scenarios, asked.shards.max(1));
    if functions.is_empty() {
        let why = format!(
            "no exported functions in script\nhint: a k6 script exports a default function; {AS_JSON}"
        );
        return Err(Ended::early(Exit::Other, why));
    }
    callable(&options, &functions)?;
    let store = thresholds::limited(&asked, &options, &registry)?;
    let watcher = (asked.watch.0)(&options.sonagi.watch);
    let watcher = watcher.map_err(|why| Ended::problems(&format!("sonagi.watch: {why}")))?;
    let mistakes: Vec<String> = options.sonagi.launch.as_ref().map(asked.launch).unwrap_or_default();
    if !mistakes.is_empty() {
        return Err(Ended::problems(&mistakes.join("\n")));
    }
    let limits = Limits {
        stack_bytes: options.sonagi.stack_size.unwrap_or(LIMITS.stack_bytes),
        memory_bytes: options.sonagi.memory_limit.unwrap_or(LIMITS.memory_bytes),
    };
    let common = common(&asked, &bundle, &registry, options, limits);
    Ok(Test { asked, common, plan: Arc::new(plan), store, functions, watcher, epoch, started })
}

/// Hears a script's first user.
struct Reading<'r, 'o>(&'r mut (dyn FnMut(RunEvent<'_>) + 'o));

impl Follow for Reading<'_, '_> {}

impl Collect<K6> for Reading<'_, '_> {
    fn event(&mut self, event: RunEvent<'_>) {
        (self.0)(event);
    }
}

/// The state that all users of a test share.
fn common(
    asked: &Asked,
    bundle: &Arc<Bundle>,
    registry: &Arc<Registry>,
    options: Options,
    limits: Limits,
) -> Arc<Common> {
    Arc::new(Common {
        bundle: Arc::clone(bundle),
        registry: Arc::clone(registry),
        options: Arc::new(options),
        detail: if asked.full_summary { Detail::Scopes } else { Detail::Total },
        keeps_samples: !asked.outputs.is_empty(),
        environment: asked.environment.clone(),
        limits,
        without_global: asked.without_global,
        secrets: Arc::clone(&asked.secrets),
        pace: Pace::default(),
        delivery: Delivery::default(),
        tally: Tally::default(),
    })
}

fn json(outcome: Option<Result<Option<String>, Thrown>>) -> Value {
    let text = outcome.and_then(Result::ok).flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
}

/// Every scenario's function must be one of the script's.
fn callable(options: &Options, functions: &[String]) -> Result<(), Ended> {
    let missing = options.scenarios.iter().filter(|scenario| !functions.contains(&scenario.exec));
    let told = missing.map(|Scenario { name, exec, .. }| {
        format!("executor {name}: function '{exec}' not found in exports")
    });
    let missing: Vec<String> = told.collect();
    if missing.is_empty() { Ok(()) } else { Err(Ended::problems(&missing.join("\n"))) }
}

impl Common {
    /// The sampler of a thread.
    fn sampler(&self) -> Sampler {
        metrics::sampler(&self.registry, self.detail, self.system_tags(), self.keeps_samples)
    }

    fn system_tags(&self) -> SystemTags {
        // The options have been judged: an unknown tag would have been a problem.
        SystemTags::named(self.options.system_tags.iter().map(String::as_str)).unwrap_or_default()
    }
}

impl Test {
    /// The description of its plan, in k6's words.
    pub fn plan(&self) -> Vec<String> {
        self.plan.lines(&self.common.options.scenarios)
    }

    /// The options, all tiers together.
    pub fn options(&self) -> &Options {
        &self.common.options
    }

    /// The metrics there are, by name: k6's, and those that the script made in its init code.
    pub fn metrics(&self) -> Vec<String> {
        self.common.registry.metrics().into_iter().map(|metric| metric.name.to_string()).collect()
    }

    /// Lets its users reach this address where they call one of these hosts at this port; whether that can be had.
    pub fn lead(&mut self, hosts: &[&str], port: u16, to: SocketAddr) -> bool {
        let Some(common) = Arc::get_mut(&mut self.common) else { return false };
        let options = Arc::make_mut(&mut common.options);
        hosts.iter().for_each(|host| options.hosts.set(host, port, to));
        true
    }

    /// Runs it to its end. `abort` ends it early: whoever asks gives the reason.
    pub fn run(self, abort: &Arc<Abort>, on: &mut dyn FnMut(RunEvent<'_>)) -> Ended {
        let secrets = Arc::clone(&self.asked.secrets);
        collector::run(self, abort, &mut |event| masked(&secrets, event, on))
    }

    /// It as its threads share it.
    fn dialect(&self) -> K6 {
        K6::new(Arc::clone(&self.common), Arc::clone(&self.plan), self.started)
    }

    fn has(&self, function: &str) -> bool {
        self.functions.iter().any(|own| own == function)
    }

    fn now(&self) -> At {
        At(self.epoch.elapsed().as_nanos() as i64)
    }
}
