//! Trials of a k6 script, for `sonagi capacity`: its scenario with another rate, other users, or another variable in
//! `__ENV`.
//!
//! The script's own thresholds are left out: a trial is judged by the one expression, and must not be ended by another.

use super::service::{self, TestService};
use super::unattended::{Unattended, UnderWay};
use super::{laid_over, variables_of_process, watching};
use crate::capacity::{Demand, REPEATS_ITSELF, TrialLength, TrialRun, Trials, Varied, service_is_varied};
use crate::error::Error;
use crate::invocation;
use crate::limits;
use crate::run_events::WantedSinks;
use crate::runs;
use crate::signals::StopRequests;
use crate::target_watch::{NetworkLateness, WatchWish};
use crate::terminal::Terminal;
use crate::watched_service::WatchedService;
use serde_json::{Map, Value, json};
use sonagi_artillery::nearest;
use sonagi_k6::Secrets;
use sonagi_k6::executor::Reason;
use sonagi_k6::options::{Executor, Scenario, Tiers, in_env};
use sonagi_k6::run::{Asked, Ended, Test, load};
use sonagi_measure::metrics::SeriesName;
use sonagi_measure::thresholds::{Figures, Threshold};
use sonagi_measure::watched;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Virtual users made beforehand, at most: each has an interpreter of its own.
const MOST_MADE: u64 = 1000;
/// Virtual users in all, at most, unless the script says more.
const MOST_USERS: u64 = 5000;
/// First parts of names that every run's summary has.
const OF_EVERY_RUN: [&str; 9] = [
    "delivery",
    "users",
    "traffic",
    "generator",
    "duration_s",
    "operations",
    "kinds",
    "errors",
    "http_answers_ms",
];

/// How trials of a k6 script are made.
pub(crate) struct K6Asked {
    pub(crate) script: PathBuf,
    pub(crate) varied: Varied,
    pub(crate) until: Threshold,
    /// The lowest and the highest load.
    pub(crate) range: (u64, u64),
    /// Variables laid over the environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The scenario to run, if the script has several.
    pub(crate) scenario: Option<String>,
    pub(crate) shards: Option<usize>,
    pub(crate) watch: WatchWish,
    /// Whether each trial starts the script's service anew.
    pub(crate) fresh: bool,
}

impl K6Asked {
    /// The variables of a trial.
    fn environment_of(&self, load: u64) -> Vec<(String, String)> {
        let mut environment = self.environment.clone();
        if let Varied::Variable(name) = &self.varied {
            environment.retain(|(known, _)| known != name);
            environment.push((name.clone(), load.to_string()));
        }
        environment
    }
}

/// Trials of a k6 script.
pub(crate) struct K6Trials {
    asked: K6Asked,
    path: PathBuf,
    source: Vec<u8>,
    scenario: Scenario,
    under_way: UnderWay,
    stop_requests: StopRequests,
    terminal: Terminal,
    /// The service that all trials go against, if the script has one that is not started anew for each.
    service: Option<WatchedService>,
    /// Whether the service has a network before it.
    has_network: bool,
}

impl K6Trials {
    /// Executors go on for no less than a second.
    pub(crate) const LENGTH: TrialLength = TrialLength::AsAsked { least_s: 1.0 };

    /// Reads the script, or says everything that is wrong with it or with what is asked; `found` are problems that are
    /// known already.
    pub(crate) fn start(
        asked: K6Asked,
        mut found: Vec<String>,
        terminal: &Terminal,
    ) -> Result<K6Trials, Error> {
        let path = asked.script.canonicalize().unwrap_or_else(|_| asked.script.clone());
        let source = std::fs::read(&path).map_err(|error| Error::file("read", &asked.script, error))?;
        let under_way = UnderWay::default();
        let stop_requests = under_way.listen(terminal, || {})?;
        let read = |load_of_trial: u64| {
            let environment = laid_over(variables_of_process(), &asked.environment_of(load_of_trial));
            let request = request(&asked, (&path, &source), (Map::new(), environment), None);
            load(request, &Arc::default(), &mut |_| {}).map_err(|ended| why(&ended, &asked.script))
        };
        let test = read(asked.range.0)?;
        if matches!(asked.varied, Varied::Variable(_)) && !asked.fresh {
            let last = read(asked.range.1)?;
            let [first, last] = [&test, &last].map(|test| test.options().sonagi.launch.as_ref());
            found.extend((first != last).then(|| service_is_varied(&asked.varied)));
        }
        let named = asked.until.metrics();
        let named = named.iter().map(|metric| &*metric.name);
        found.extend(named.filter_map(|name| unknown("--until", name, &test)));
        found.extend(open_axes(&asked, &test));
        let several = &test.options().sonagi.several;
        if several.repeat.is_some() || several.compare.is_some() {
            terminal.say(REPEATS_ITSELF);
        }
        let wish = service::wish(&test, &path)?;
        let has_network = limits::has_network(test.options().sonagi.launch.as_ref());
        if asked.fresh && wish.is_none() {
            let hint = "hint: `launch` in `options.sonagi` starts one (docs/launch.md)";
            found.push(format!("error: --fresh: the script has no service that is started anew\n{hint}"));
        }
        let scenario = chosen(&asked, &test).map_err(|problem| found.push(problem));
        if let Varied::Variable(name) = &asked.varied
            && !String::from_utf8_lossy(&source).contains(name.as_str())
        {
            let text = "the script's own text has no such name; does it read";
            terminal.say(&format!("notice: --vary {name}: {text} __ENV.{name}?"));
        }
        match scenario {
            Ok(scenario) if found.is_empty() => {
                let terminal = *terminal;
                let wish = wish.filter(|_| !asked.fresh);
                let launch = |wish| WatchedService::launch(&wish, &|| stop_requests.to_stop());
                let service = wish.map(launch).transpose()?;
                Ok(K6Trials {
                    asked,
                    path,
                    source,
                    scenario,
                    under_way,
                    stop_requests,
                    terminal,
                    service,
                    has_network,
                })
            }
            _ => Err(Error::Problems(found.join("\n"))),
        }
    }

    /// Ends the service; whether all went well around it.
    pub(crate) fn end(self) -> bool {
        let Some(service) = self.service else { return true };
        let (_, troubles) = service.end(&|| self.stop_requests.to_stop_at_once());
        troubles.iter().for_each(|trouble| self.terminal.say(&trouble.to_string()));
        troubles.is_empty()
    }

    /// The scenario of a trial, as k6's options write it.
    fn scenario(&self, load: u64, seconds: f64) -> Value {
        let Scenario { executor, exec, graceful_stop, env, tags, .. } = &self.scenario;
        let texts = |pairs: &[(String, String)]| -> Value {
            pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
        };
        let mut scenario = match &self.asked.varied {
            Varied::Rate => arriving(load as f64, executor),
            Varied::Users => json!({ "executor": "constant-vus", "vus": load }),
            Varied::Variable(_) => as_written(executor),
        };
        scenario["duration"] = format!("{}ms", (seconds * 1e3).round()).into();
        scenario["exec"] = exec.as_str().into();
        scenario["gracefulStop"] = format!("{}ms", graceful_stop.as_millis()).into();
        scenario["env"] = texts(env);
        scenario["tags"] = texts(tags);
        json!({ &self.scenario.name: scenario })
    }
}

/// What the library is asked.
fn request(
    asked: &K6Asked,
    (path, source): (&Path, &[u8]),
    (flags, environment): (Map<String, Value>, Vec<(String, String)>),
    network: Option<NetworkLateness>,
) -> Asked {
    Asked {
        script: path.to_owned(),
        source: source.to_owned(),
        environment,
        tiers: Tiers { flags, ..Tiers::default() },
        shards: asked.shards.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        no_thresholds: true,
        full_summary: false,
        no_summary: true,
        terminal: [true, false, false],
        without_global: false,
        secrets: Arc::new(Secrets::of(&[]).unwrap_or_default()),
        outputs: Vec::new(),
        standard_output: || Box::new(std::io::stdout()),
        watch: watching(asked.watch.texts.clone(), asked.watch.is_automatic, network),
        launch: service::mistakes,
    }
}

/// The scenario that is varied, or why there is none.
fn chosen(asked: &K6Asked, test: &Test) -> Result<Scenario, String> {
    let all = &test.options().scenarios;
    let names = || all.iter().map(|scenario| scenario.name.as_str());
    match (&asked.scenario, all.as_slice()) {
        (Some(name), _) => all.iter().find(|scenario| scenario.name == *name).cloned().ok_or_else(|| {
            let hint = match nearest(name, names()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("its scenarios: {}", names().collect::<Vec<_>>().join(", ")),
            };
            format!("error: --scenario-name: the script has no scenario \"{name}\"\nhint: {hint}")
        }),
        (None, [only]) => Ok(only.clone()),
        (None, several) => Err(format!(
            "error: {}: the script has {} scenarios ({}), and the load of one is varied\nhint: choose it: \
             --scenario-name {}",
            asked.script.display(),
            several.len(),
            names().collect::<Vec<_>>().join(", "),
            names().next().unwrap_or_default(),
        )),
    }
}

/// The variables of the script's matrix that nobody has chosen a value of: a search is of one service, not of several.
fn open_axes(asked: &K6Asked, test: &Test) -> Option<String> {
    let is_chosen = |name: &str| {
        asked.environment.iter().any(|(known, _)| known == name)
            || matches!(&asked.varied, Varied::Variable(varied) if varied == name)
    };
    let matrix = &test.options().sonagi.several.matrix;
    let open: Vec<&(String, Vec<Value>)> = matrix.iter().filter(|(name, _)| !is_chosen(name)).collect();
    let chosen = |(name, values): &&(String, Vec<Value>)| {
        format!("-e {name}={}", values.first().map(in_env).unwrap_or_default())
    };
    (!open.is_empty()).then(|| {
        let names: Vec<&str> = open.iter().map(|(name, _)| name.as_str()).collect();
        format!(
            "error: {}: a search is of one combination of the matrix; nothing says which {}\nhint: choose one: {}",
            asked.script.display(),
            names.join(" and "),
            open.iter().map(chosen).collect::<Vec<_>>().join(" ")
        )
    })
}

/// What is wrong with a name, if no run of the script measures it.
pub(super) fn unknown(place: &str, name: &str, test: &Test) -> Option<String> {
    if SeriesName::of(name).is_some() {
        let what = format!("error: {place}: `{name}` is a metric with tags");
        return Some(format!("{what}\nhint: the whole metric is measured, not its parts"));
    }
    let (metrics, metric) = (test.metrics(), name.split('.').next().unwrap_or_default());
    let is_known = metrics.iter().any(|known| known == metric)
        || OF_EVERY_RUN.contains(&metric)
        || watched::figures().any(|figure| figure == name);
    let known = || metrics.iter().map(String::as_str).chain(OF_EVERY_RUN);
    (!is_known).then(|| {
        let hint = match nearest(metric, known()) {
            Some(meant) => format!("did you mean `{meant}{}`?", &name[metric.len()..]),
            None => "e.g. `http_req_duration.p95 < 200 and http_req_failed.rate < 0.01`".to_owned(),
        };
        format!("error: {place}: no run of the script measures `{name}`\nhint: {hint}")
    })
}

/// A scenario of arrivals at a rate, with room for as many users as the target may need for them.
fn arriving(rate: f64, executor: &Executor) -> Value {
    let of_script = match executor {
        Executor::ConstantArrivalRate { max_vus, .. } | Executor::RampingArrivalRate { max_vus, .. } => {
            *max_vus
        }
        _ => 0,
    };
    let most = ((rate * 2.0) as u64).clamp(100, MOST_USERS).max(of_script);
    let made = ((rate / 4.0) as u64).clamp(10, MOST_MADE).min(most);
    let whole = rate.round().max(1.0);
    json!({
        "executor": "constant-arrival-rate", "rate": whole as u64, "timeUnit": "1s", "preAllocatedVUs": made,
        "maxVUs": most,
    })
}

/// The script's own scenario at its height, of any length.
fn as_written(executor: &Executor) -> Value {
    let highest = |start: u64, stages: &[sonagi_k6::options::Stage]| {
        stages.iter().map(|stage| stage.target).fold(start, u64::max).max(1)
    };
    let in_a_second = |rate: u64, unit: &std::time::Duration| rate as f64 / unit.as_secs_f64().max(1e-9);
    match executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => json!({ "executor": "constant-vus", "vus": vus }),
        Executor::RampingVus { start_vus, stages, .. } => {
            json!({ "executor": "constant-vus", "vus": highest(*start_vus, stages) })
        }
        Executor::ConstantArrivalRate { rate, time_unit, .. } => {
            arriving(in_a_second(*rate, time_unit), executor)
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            arriving(in_a_second(highest(*start_rate, stages), time_unit), executor)
        }
    }
}

fn why(ended: &Ended, script: &Path) -> Error {
    let why = ended.why.clone().unwrap_or_else(|| "the test ended before it began".to_owned());
    Error::Problems(format!("error: {}: {why}", script.display()))
}

impl Trials for K6Trials {
    fn run(
        &mut self,
        load_of_trial: u64,
        seconds: f64,
        folder: Option<(&Path, &str)>,
    ) -> Result<Option<TrialRun>, Error> {
        let abort = self.under_way.renew();
        // Behind it: a signal that came before is seen here, one that comes later asks the new one.
        if self.stop_requests.to_stop() {
            return Ok(None);
        }
        let environment = self.asked.environment_of(load_of_trial);
        let flags = Map::from_iter([("scenarios".to_owned(), self.scenario(load_of_trial, seconds))]);
        let network = NetworkLateness::default();
        let changes = (flags, laid_over(variables_of_process(), &environment));
        let request = request(&self.asked, (&self.path, &self.source), changes, Some(network.clone()));
        let folder = folder.map(|(parent, name)| runs::reserve(parent, name)).transpose()?;
        let service = match &mut self.service {
            Some(service) => TestService::of_all(service, network),
            None => TestService::of_test(network),
        };
        let unattended = Unattended {
            asked: request,
            file: invocation::script(&self.asked.script, &self.source),
            wanted: WantedSinks { folder, ..WantedSinks::default() },
            service,
            combination: Map::new(),
        };
        let ran = unattended.run(&abort, &self.stop_requests, &self.terminal, &mut |_| {})?;
        let Some(summary) = ran.summary else {
            return if abort.asked() { Ok(None) } else { Err(why(&ran.ended, &self.asked.script)) };
        };
        let figures =
            Figures { measured: summary.names(), may_be_absent: |name| name.starts_with("errors.") };
        let judged = self.asked.until.judge(&figures);
        let (held, evidence) = (judged.held, judged.evidence);
        Ok(Some(TrialRun { summary, held, evidence, figures: figures.measured, folder: ran.folder }))
    }

    fn log_in(&mut self, folder: &Path) {
        if let Some(service) = &mut self.service {
            service.log_in(folder);
        }
    }

    fn stopper(&self) -> Box<dyn FnOnce() + Send> {
        let under_way = self.under_way.clone();
        Box::new(move || under_way.ask(Reason::Request))
    }

    fn is_stopped(&self) -> bool {
        self.stop_requests.to_stop()
    }

    fn length(&self) -> TrialLength {
        K6Trials::LENGTH
    }

    fn demand(&self, load: u64, _: f64) -> Demand {
        // How long users of a rate stay is not known before.
        let connections = if self.asked.varied == Varied::Users { load } else { 0 };
        Demand { files: connections * limits::files_of_connection(self.has_network), ports: connections }
    }
}
