//! Runs one after another: plan → engine → sinks → verdict → exit code.
//!
//! The one decision a reader would question: runs of one command line never overlap. Each has the machine to itself,
//! so that its generator's health is its own.

use crate::destination::Destination;
use crate::diagnosed::Diagnosed;
use crate::error::Error;
use crate::exit::Exit;
use crate::limits;
use crate::load::{Script, ScriptRun};
use crate::matrix;
use crate::output::Report;
use crate::page::Pages;
use crate::queued_sink::QueuedSink;
use crate::results::{self, ResultsLayout};
use crate::run_events::{self, WantedSinks, pass};
use crate::run_options::RunOptions;
use crate::signals::StopRequests;
use crate::stop;
use crate::target_watch::{self, TargetWatch};
use crate::terminal::Terminal;
use crate::watched_service::{SERVICE_LOG, WatchedService};
use serde_json::Value;
use sonagi_artillery::LoadedProcessor;
use sonagi_artillery::plan::Plan;
use sonagi_engine::{Control, RunEvent, Speaker};
use sonagi_measure::summary::{self, Summary};
use sonagi_measure::totals::ScriptFile;
use sonagi_report::figures::counted;
use sonagi_report::sink::{Folder, Trouble};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Runs that were left and are named one by one.
const NOT_RUN: usize = 20;

/// Runs every script, unless a signal ends it sooner, and prints the results.
pub(crate) fn all(scripts: Vec<Script>, options: &RunOptions, terminal: &Terminal) -> Result<Exit, Error> {
    target_watch::judge(&options.watch.texts).map_err(|why| Error::flag("--watch", why))?;
    let destination = options.output.as_deref().map(|path| Destination::prepare(path, &now()?));
    let destination = destination.transpose()?;
    let planned = scripts.iter().map(|script| script.runs.len()).sum();
    let several = scripts.len() > 1;
    let is_array = planned > 1 || scripts.iter().any(Script::has_matrix);
    let mut session = RunSession::start(options, terminal, planned)?;
    let trouble = session.scripts(scripts).err();
    let RunSession { pages, stop_requests, begun, summaries, reports, mut worst, .. } = session;
    // Each output is written even when one before it failed: measurements must not be lost with it.
    let report = |destination| results::report(&destination, reports, is_array, options, terminal);
    let unreported = destination.map(report).and_then(Result::err);
    let shown = ResultsLayout { is_array, several, is_last_resort: options.quiet && unreported.is_some() };
    let unprinted = results::conclude(&summaries, shown, options, terminal).err();
    let was_interrupted = stop_requests.to_stop_at_once() || (trouble.is_none() && begun < planned);
    for error in [trouble, unreported, unprinted].into_iter().flatten() {
        terminal.say(&error.to_string());
        worst = worst.worst(error.exit());
    }
    pages.finish(&stop_requests);
    Ok(if was_interrupted { Exit::Interrupted } else { worst })
}

/// The runs of a command line, one after another.
pub(crate) struct RunSession<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) terminal: &'a Terminal,
    pub(crate) pages: Pages,
    control: Control,
    stop_requests: StopRequests,
    /// The number of runs planned, and of those begun.
    planned: usize,
    begun: usize,
    summaries: Vec<Summary>,
    /// The results for `--output`.
    reports: Vec<Value>,
    worst: Exit,
}

impl<'a> RunSession<'a> {
    /// So many runs are planned; signals and pages stop them from now on.
    pub(crate) fn start(
        options: &'a RunOptions,
        terminal: &'a Terminal,
        planned: usize,
    ) -> Result<RunSession<'a>, Error> {
        let control = Control::new();
        let stop_requests = stop::by_signal(&control, terminal)?;
        let pages = Pages::start(options.pages.clone(), options.runs.clone(), terminal)?;
        Ok(RunSession {
            options,
            terminal,
            pages,
            control,
            stop_requests,
            planned,
            begun: 0,
            summaries: Vec::new(),
            reports: Vec::new(),
            worst: Exit::Pass,
        })
    }

    /// Whether a signal asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop_requests.to_stop()
    }

    /// Whether a second signal asked to stop at once.
    pub(crate) fn is_stopped_at_once(&self) -> bool {
        self.stop_requests.to_stop_at_once()
    }

    /// What stops the run that is under way when it is called, and none after it.
    pub(crate) fn stopper(&self) -> impl FnOnce() + Send + use<> {
        let control = self.control.clone();
        move || control.stop()
    }

    /// Runs scripts up to the first that cannot be run: the next may build on it. The remaining ones are named.
    fn scripts(&mut self, scripts: Vec<Script>) -> Result<(), Error> {
        let mut trouble = Ok(());
        for mut script in scripts {
            if trouble.is_ok() {
                trouble = self.script(&mut script);
            }
            for job in script.runs.iter().take(NOT_RUN) {
                self.terminal.say(&format!("not run: {}", job.full_name()));
            }
            if let Some(more) = script.runs.len().checked_sub(NOT_RUN).filter(|more| *more > 0) {
                self.terminal.say(&format!("not run: {}", counted(more as u64, "more run")));
            }
        }
        trouble
    }

    /// Runs all runs of a script; those that a signal or an error left are still in it afterwards.
    fn script(&mut self, script: &mut Script) -> Result<(), Error> {
        if script.has_matrix() {
            return matrix::run(self, script);
        }
        while let Some(job) = self.next(script) {
            let runs = self.pages.runs().map(Path::to_owned);
            let finished = self.run(script, job, runs.as_deref(), None)?;
            results::tell(&finished, self.options, self.terminal)?;
            if self.options.shows_console() {
                let plot = finished.folder.and_then(|folder| self.pages.plot(&folder));
                plot.map_or(Ok(()), |plot| self.terminal.print(&format!("{plot}\n")))?;
            }
        }
        Ok(())
    }

    /// Runs the script's next run, unless we were asked to stop.
    pub(crate) fn next(&mut self, script: &mut Script) -> Option<ScriptRun> {
        // First: a signal that comes between the two is seen by the second.
        self.control.renew();
        (!self.stop_requests.to_stop() && !script.runs.is_empty()).then(|| script.runs.remove(0))
    }

    /// Carries out one run, from its service to its summary. `folder` names its folder in `runs`; None: named by its
    /// start and name.
    pub(crate) fn run(
        &mut self,
        script: &Script,
        job: ScriptRun,
        runs: Option<&Path>,
        folder: Option<String>,
    ) -> Result<Finished, Error> {
        self.begun += 1;
        let stop_requests = self.stop_requests.clone();
        let mut watched = WatchedService::of(&job, &|| stop_requests.to_stop())?;
        let ran = self.carried_out(script, job, (runs, folder), watched.as_mut());
        // The service ends with its run, even a failed one.
        let used = watched.map(|watched| watched.end(&|| stop_requests.to_stop_at_once()));
        let used = used.and_then(|(used, troubles)| {
            troubles.iter().for_each(|trouble| self.failed(trouble));
            used
        });
        Ok(self.finished(ran?, used))
    }

    /// Carries out one run against a service that outlives it, from its plan to its summary.
    pub(crate) fn run_beside(
        &mut self,
        script: &Script,
        job: ScriptRun,
        place: (Option<&Path>, Option<String>),
        service: &mut WatchedService,
    ) -> Result<Finished, Error> {
        self.begun += 1;
        service.begin_run();
        let ran = self.carried_out(script, job, place, Some(service))?;
        let used = service.used_in_run(&ran.summary);
        Ok(self.finished(ran, used))
    }

    /// Carries out one run, from its plan to its summary, in the folder with this name of these runs.
    fn carried_out(
        &mut self,
        script: &Script,
        mut job: ScriptRun,
        (runs, folder): (Option<&Path>, Option<String>),
        watched: Option<&mut WatchedService>,
    ) -> Result<Ran, Error> {
        let title = (self.planned > 1).then(|| format!("{}/{} {}", self.begun, self.planned, job.label()));
        let report = self.options.output.is_some().then(Report::default);
        let diagnosed = Diagnosed::new();
        let plan = script.plan(&mut job, watched.as_ref().and_then(|watched| watched.url()))?;
        let (processor, script) = (script.processor.clone(), script.file());
        let seed = job.turn.map(|turn| turn.seed).or(self.options.seed);
        let followers = (report.clone(), &diagnosed);
        let setup = RunSetup { processor, script, runs, folder, title, seed, watched, followers };
        let (summary, incomplete) = one(plan, setup, self)?;
        let summary = Summary { combination: job.combination.0.into_iter().collect(), ..summary };
        Ok(Ran { summary, incomplete, report, diagnosed })
    }

    /// A run with what its service used: its folder, its pages and its part of the command's outcome.
    fn finished(&mut self, ran: Ran, used: Option<summary::Service>) -> Finished {
        let Ran { summary, incomplete, report, diagnosed } = ran;
        if let Some(error) = incomplete {
            self.failed(&error);
        }
        let mut summary = match used {
            Some(used) => summary.beside(used),
            None => summary,
        };
        self.amend(&summary);
        self.pages.settle();
        let folder = summary.run_folder.as_ref().map(PathBuf::from);
        if let Some(Err(error)) = folder.as_ref().map(|folder| self.pages.write(folder, self.planned == 1)) {
            self.failed(&error);
        }
        summary.run_folder = summary.run_folder.filter(|_| !self.pages.is_temporary());
        self.reports.extend(report.map(|report| report.document(&summary)));
        self.judge(&summary);
        self.summaries.push(summary.clone());
        Finished { summary, folder, diagnosed }
    }

    /// Whether these are all runs of the command.
    pub(crate) fn has_only(&self, script: &Script) -> bool {
        self.planned == script.runs.len()
    }

    /// Reports a failure around a run, perhaps of the run itself: the command goes on, and its exit code tells.
    pub(crate) fn failed(&mut self, error: &Error) {
        self.terminal.say(&error.to_string());
        self.worst = self.worst.worst(error.exit());
    }

    /// Takes the run's exit into account, with its functions' suggestion (`artillery.suggestedExitCode`).
    fn judge(&mut self, summary: &Summary) {
        let own = Exit::of(summary);
        let exit = self.control.take_exit_code().map_or(own, |code| own.suggested(code, summary));
        if exit != own && !self.options.quiet {
            let text = format!("exit code {}: a function set artillery.suggestedExitCode", exit.code());
            self.terminal.say(&text);
        }
        self.worst = self.worst.worst(exit);
    }

    /// Adds to the run's folder the parts of the summary that the engine does not know.
    fn amend(&mut self, summary: &Summary) {
        let is_new = summary.service.is_some() || !summary.combination.is_empty();
        if let Some(folder) = summary.run_folder.as_ref().filter(|_| is_new)
            && let Err(error) = sonagi_measure::folder::amend(Path::new(folder), summary)
        {
            self.failed(&Error::could_not(format_args!(
                "the run folder: {error}; the CPU and memory of the run's service are missing in it"
            )));
        }
    }
}

/// A run that is over.
pub(crate) struct Finished {
    pub(crate) summary: Summary,
    /// Where it was written, if only for a page.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) diagnosed: Diagnosed,
}

/// A run whose service has not been looked at yet.
struct Ran {
    summary: Summary,
    /// Why its folder is incomplete, if it is.
    incomplete: Option<Error>,
    report: Option<Report>,
    diagnosed: Diagnosed,
}

/// A run's processor, folder and followers.
struct RunSetup<'p> {
    /// The script's processor, loaded when the script was checked.
    processor: LoadedProcessor,
    script: Option<ScriptFile>,
    runs: Option<&'p Path>,
    /// Its folder's name in `runs`; None: named by its start and name.
    folder: Option<String>,
    title: Option<String>,
    /// The seed of its random choices; None: any.
    seed: Option<u64>,
    /// The service that was started for it.
    watched: Option<&'p mut WatchedService>,
    /// What follows it beside its folder and the terminal.
    followers: (Option<Report>, &'p Diagnosed),
}

/// Carries out one plan, from its folder to its summary; the second value is the folder's incompleteness.
fn one(plan: Plan, setup: RunSetup<'_>, session: &RunSession<'_>) -> Result<(Summary, Option<Error>), Error> {
    let RunSession { options, terminal, control, .. } = session;
    let RunSetup { processor, script, runs, folder, title, seed, mut watched, followers } = setup;
    let (report, diagnosed) = followers;
    let started = now()?;
    let folder = folder.unwrap_or_else(|| sonagi_measure::folder::name(&started, &plan.name));
    let folder = runs.map(|runs| reserve(runs, &folder)).transpose()?;
    let path = folder.as_ref().map(|folder| folder.path().display().to_string());
    let diagnosed = (!options.quiet && !options.json).then(|| diagnosed.clone());
    let mut sinks = run_events::sinks(WantedSinks { folder, diagnosed }).map_err(Error::could_not)?;
    if let Some(report) = report {
        sinks.add(QueuedSink::start(report).map_err(Error::could_not)?);
    }
    if !options.quiet {
        terminal.say(&format!("{} against {}", title.as_deref().unwrap_or(&plan.name), plan.target));
        sinks.add(QueuedSink::start(terminal.live(title.as_deref())).map_err(Error::could_not)?);
    }
    let watch = watch(&plan, watched.as_deref(), options)?;
    let own = sonagi_artillery::Options::default();
    let own = sonagi_artillery::Options {
        threads: options.shards.unwrap_or(own.threads),
        seed: seed.unwrap_or_else(any_seed),
        source_addresses: options.source_addresses.clone(),
        started,
        fail_on_status: options.fail_on_status,
        processor,
        watcher: watch.clone().map(|watch| watch as _),
    };
    let has_network = watched.as_ref().is_some_and(|watched| watched.proxy().is_some());
    if let Some(warning) = limits::shortage(&plan, has_network) {
        terminal.say(&warning);
    }
    if let Some((watched, path)) = watched.as_mut().zip(path.as_ref()) {
        watched.log_in(Path::new(path));
    }
    let mut on = |event: RunEvent<'_>| {
        if let (Some(watched), RunEvent::Second(snapshot)) = (&mut watched, &event) {
            watched.second(snapshot);
        }
        pass(&mut sinks, &event, script.as_ref(), |trouble| warn(&trouble, terminal));
        if let RunEvent::Line(line) = event {
            speak(line.speaker, &line.text, options, terminal);
        }
    };
    if let Some(path) = &path {
        session.pages.begin(Path::new(path), stop::by_page(control, terminal));
    }
    let ran = sonagi_artillery::run(plan, own, control, &mut on);
    session.pages.over();
    match ran {
        Ok(summary) => {
            let incomplete = sinks.incomplete().map(incomplete);
            Ok((Summary { run_folder: path, ..summary }, incomplete))
        }
        Err(error) => {
            // The sinks have written everything by then.
            drop(sinks);
            if let Some(path) = &path {
                discard(Path::new(path));
            }
            session.pages.settle();
            Err(Error::could_not(error))
        }
    }
}

/// Who looks at the target of a run. None: nothing is to be watched.
fn watch(
    plan: &Plan,
    watched: Option<&WatchedService>,
    options: &RunOptions,
) -> Result<Option<Arc<TargetWatch>>, Error> {
    // In front of a service there may be a proxy of ours, which nobody wants to watch.
    let own = watched.and_then(WatchedService::own_target);
    let target = own.as_deref().unwrap_or(&plan.target);
    let target = target_watch::whereabouts(target).filter(|_| options.watch.is_automatic);
    let first = watched.and_then(WatchedService::first_process);
    let target = target.map(|target| target.started_as(first));
    let asked: Vec<String> = options.watch.texts.iter().chain(&plan.watch).cloned().collect();
    let network = watched.and_then(WatchedService::network_lateness);
    let network = network.map(|lateness| Arc::new(OnceLock::from(lateness)));
    TargetWatch::of(&asked, target, network).map_err(|why| Error::flag("--watch", why))
}

/// Removes the folder of a run that did not begin.
pub(crate) fn discard(folder: &Path) {
    let _ = std::fs::remove_file(folder.join(SERVICE_LOG));
    // Succeeds only when the folder is empty, that is when nothing was run.
    let _ = std::fs::remove_dir(folder);
}

/// The present, in the format of run folders and summaries.
pub(crate) fn now() -> Result<String, Error> {
    Ok(jiff::Timestamp::now().round(jiff::Unit::Second).map_err(Error::could_not)?.to_string())
}

pub(crate) fn reserve(runs: &Path, name: &str) -> Result<Folder, Error> {
    Folder::reserve(runs, name).map_err(|error| {
        Error::could_not(format_args!(
            "cannot write a run folder in {}: {error}\nhint: choose another place with --runs DIR, or none with \
             --no-folder",
            runs.display()
        ))
    })
}

/// Prints the script's own output, unchanged and also under `--quiet`: programs read it. It goes to stderr where
/// standard output is the JSON document's.
pub(crate) fn speak(speaker: Speaker, text: &str, options: &RunOptions, terminal: &Terminal) {
    match speaker {
        Speaker::Engine => {}
        // If it cannot be written now, neither can the result, and that is an error then.
        Speaker::Output if !options.json => drop(terminal.print(&format!("{text}\n"))),
        Speaker::Output | Speaker::ErrorOutput => terminal.say(text),
    }
}

/// Warns once per sink: the run goes on, and so does the sink if it can.
pub(crate) fn warn(trouble: &Trouble, terminal: &Terminal) {
    let Trouble { sink, error } = trouble;
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        terminal
            .say(&format!("warning: {sink}: {error}; the run goes on, but this output may be incomplete"));
    }
}

/// The error for an incomplete record: its later readers would see something else than readers of the summary.
pub(crate) fn incomplete(Trouble { sink, error }: Trouble) -> Error {
    Error::could_not(format_args!(
        "{sink} is incomplete: {error}\nhint: the printed summary is complete; `sonagi report` can read the run only \
         up to the last second on disk"
    ))
}

/// A random seed; it is written to `run.json`, so that the run can be repeated.
pub(crate) fn any_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
