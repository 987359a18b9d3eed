//! A k6 test that is run several times: with each combination of its matrix's values, and in rounds where it is
//! repeated.
//!
//! The values are variables of `__ENV`. What a run prints of its own is left out, k6's summary among it: a table of all
//! runs stands in its place, as it does for YAML scripts.

use super::flags::GivenFlags;
use super::log::TestLog;
use super::service::TestService;
use super::trials::unknown;
use super::unattended::{Ran, Unattended, UnderWay};
use super::{asked, refused};
use crate::diagnosed::Diagnosed;
use crate::error::Error;
use crate::invocation;
use crate::matrix_record::{MatrixRecord, Planned, begun};
use crate::page::{Dashboard, Pages};
use crate::rounds;
use crate::runs;
use crate::signals::StopRequests;
use crate::target_watch::NetworkLateness;
use crate::terminal::Terminal;
use serde_json::Value;
use sonagi_artillery::{Combination, nearest};
use sonagi_k6::executor::Reason;
use sonagi_k6::options::{Compare, Several, in_env, is_variable};
use sonagi_k6::run::{Asked, Ended, Exit, Test, load};
use sonagi_measure::summary::Summary;
use sonagi_report::figures::counted;
use sonagi_report::matrix::{self, MARGIN, Run};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Flags and keys of several runs.
const WORDS: [&str; 3] = ["matrix", "repeat", "compare"];

/// Why there are no several runs: the process's exit, and what to say.
type Refused = (Exit, String);

/// Names with their values.
type Axes = Vec<(String, Vec<Value>)>;

/// The runs that the flags or the script ask for; None: it is one.
pub(super) fn planned(given: &GivenFlags, source: &[u8]) -> Result<Option<Planned>, Refused> {
    let is_given = WORDS.iter().any(|flag| given.one(flag).is_some());
    // Only then is the script read once more than others are.
    if !is_given && !String::from_utf8_lossy(source).contains("sonagi") {
        return Ok(None);
    }
    let of_flags = of_flags(given)?;
    let first = |(name, values): &(String, Vec<Value>)| {
        (name.clone(), values.first().map(in_env).unwrap_or_default())
    };
    let first: Vec<(String, String)> = of_flags.iter().map(first).collect();
    let test = match read(given, &first, |_| Vec::new()) {
        Ok(test) => test,
        // It will be told when the test is run.
        Err(_) if !is_given => return Ok(None),
        Err(refused) => return Err(refused),
    };
    let several = &test.options().sonagi.several;
    let axes = narrowed(&several.matrix, of_flags).map_err(problem)?;
    let repeat = repeat(given)?.or(several.repeat).unwrap_or(1);
    let compare = compared(given, several, &axes, &test).map_err(problem)?;
    if axes.is_empty() && repeat < 2 {
        return Ok(None);
    }
    for flag in ["out", "summary-export"] {
        let is_page = |value: &String| Dashboard::is_one(value);
        if given.many(flag).iter().any(|value| !is_page(value)) {
            let hint = "--runs DIR writes a folder for each run; `sonagi report FOLDER` prints its summary";
            return Err((
                Exit::Other,
                format!("--{flag} is of one run, and these are several\nhint: {hint}"),
            ));
        }
    }
    let combinations = combinations(&axes);
    let drawn = rounds::drawn(combinations.len(), repeat, runs::any_seed()).map_err(problem)?;
    judge(given, &combinations)?;
    let runs = match drawn {
        Some(turns) => {
            turns.into_iter().map(|turn| (combinations[turn.combination].clone(), Some(turn))).collect()
        }
        None => combinations.into_iter().map(|combination| (combination, None)).collect(),
    };
    let stem = given.script.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Some(Planned { name: stem.unwrap_or_else(|| "script".to_owned()), repeat, compare, runs }))
}

/// The script read with these variables over its environment.
fn read(
    given: &GivenFlags,
    over: &[(String, String)],
    launch: fn(&Value) -> Vec<String>,
) -> Result<Test, Refused> {
    let request = asked(given, &NetworkLateness::default(), over)?;
    let request = Asked { launch, outputs: Vec::new(), ..request };
    load(request, &Arc::default(), &mut |_| {}).map_err(|Ended { exit, why, .. }| {
        (exit, why.unwrap_or_else(|| "the script cannot be read".to_owned()))
    })
}

/// The values of `--matrix NAME=VALUE,…`.
fn of_flags(given: &GivenFlags) -> Result<Axes, Refused> {
    let mut axes: Axes = Vec::new();
    for text in given.many("matrix") {
        let rule = |what: &str| (Exit::Other, format!("--matrix takes NAME=VALUE,VALUE; {what}"));
        let Some((name, values)) = text.split_once('=') else { return Err(rule(&format!("got `{text}`"))) };
        if !is_variable(name) {
            return Err(rule(&format!("`{name}` is no name of a variable")));
        }
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if let Some(twice) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
            return Err(rule(&format!("{name} has `{}` twice", twice.1)));
        }
        if axes.iter().any(|(known, _)| known == name) {
            return Err(rule(&format!("{name} is given twice")));
        }
        axes.push((name.to_owned(), values.into_iter().map(Value::from).collect()));
    }
    Ok(axes)
}

/// The script's matrix with the values that flags leave; of a script without one, the flags are the matrix.
fn narrowed(matrix: &[(String, Vec<Value>)], flags: Axes) -> Result<Axes, String> {
    if matrix.is_empty() {
        return Ok(flags);
    }
    let mut axes = matrix.to_vec();
    for (name, wanted) in flags {
        let known = || matrix.iter().map(|(name, _)| name.as_str());
        let Some((_, values)) = axes.iter_mut().find(|(axis, _)| *axis == name) else {
            let hint = match nearest(&name, known()) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("its variables: {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("--matrix: the script's matrix has no {name}\nhint: {hint}"));
        };
        let texts: Vec<String> = values.iter().map(in_env).collect();
        let wanted: Vec<String> = wanted.iter().map(in_env).collect();
        if let Some(other) = wanted.iter().find(|value| !texts.contains(value)) {
            let hint = format!("its values: {}", texts.join(", "));
            return Err(format!("--matrix: {name} has no value {other}\nhint: {hint}"));
        }
        values.retain(|value| wanted.contains(&in_env(value)));
    }
    Ok(axes)
}

fn repeat(given: &GivenFlags) -> Result<Option<usize>, Refused> {
    let Some(text) = given.one("repeat") else { return Ok(None) };
    match text.parse::<usize>() {
        Ok(times) if (1..=1000).contains(&times) => Ok(Some(times)),
        _ => Err((Exit::Other, format!("--repeat takes a whole number from 1 to 1000; got `{text}`"))),
    }
}

/// What is compared, by the flag or the script.
fn compared(
    given: &GivenFlags,
    several: &Several,
    axes: &[(String, Vec<Value>)],
    test: &Test,
) -> Result<Option<matrix::Asked>, String> {
    let flag = given.one("compare");
    let known = || axes.iter().map(|(name, _)| name.as_str());
    if let Some(across) = flag.as_ref().filter(|across| !known().any(|name| name == across.as_str())) {
        let hint = match known().collect::<Vec<_>>().as_slice() {
            [] => "e.g. --matrix POOL=2,10,50 --compare POOL".to_owned(),
            known => format!("its variables: {}", known.join(", ")),
        };
        return Err(format!("--compare: the matrix has no {across}\nhint: {hint}"));
    }
    let of_script = several.compare.clone();
    if flag.is_none() && of_script.is_none() {
        return Ok(None);
    }
    let Compare { across, primary, margin } = of_script.unwrap_or_default();
    // Read already: where the script names none, its matrix has one.
    let across = flag.or(across).or_else(|| known().next().map(str::to_owned)).unwrap_or_default();
    let is_own = |name: &str| ["failed_share", "operations_per_s"].contains(&name);
    if let Some(name) = primary.as_ref().filter(|name| !is_own(name))
        && let Some(what) = unknown("options.sonagi.compare.primary", name, test)
    {
        return Err(what.trim_start_matches("error: ").to_owned());
    }
    Ok(Some(matrix::Asked { across, primary, margin: margin.unwrap_or(MARGIN) }))
}

/// All combinations, the last axis first to change.
fn combinations(axes: &[(String, Vec<Value>)]) -> Vec<Combination> {
    let mut all = vec![Combination::default()];
    for (name, values) in axes {
        let with = |Combination(before): Combination| {
            values.iter().map(move |value| {
                let mut all = before.clone();
                all.push((name.clone(), value.clone()));
                Combination(all)
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all
}

/// Reads the script with each combination: what is wrong with any is told before the first run.
fn judge(given: &GivenFlags, combinations: &[Combination]) -> Result<(), Refused> {
    let mut found: Vec<(Exit, String, Vec<String>)> = Vec::new();
    for combination in combinations {
        let Err((exit, why)) = read(given, &in_environment(combination), super::service::mistakes) else {
            continue;
        };
        match found.iter_mut().find(|(_, known, _)| *known == why) {
            Some((_, _, with)) => with.push(combination.to_string()),
            None => found.push((exit, why, vec![combination.to_string()])),
        }
    }
    let Some(exit) = found.first().map(|(exit, _, _)| *exit) else { return Ok(()) };
    let told = |(_, why, with): &(Exit, String, Vec<String>)| match with.as_slice() {
        all if all.len() == combinations.len() => why.clone(),
        [only] => format!("with {only}: {why}"),
        [first, more @ ..] => format!("with {first}, and {} more: {why}", more.len()),
        [] => why.clone(),
    };
    Err((exit, found.iter().map(told).collect::<Vec<_>>().join("\n")))
}

fn in_environment(Combination(axes): &Combination) -> Vec<(String, String)> {
    axes.iter().map(|(name, value)| (name.clone(), in_env(value))).collect()
}

fn problem(why: String) -> Refused {
    (Exit::Problems, why)
}

/// Makes the runs, and tells what they say together; returns the process's exit code.
pub(super) fn run(planned: Planned, given: &GivenFlags, mut log: TestLog, terminal: &Terminal) -> u8 {
    let exit = match Session::start(given, terminal) {
        Ok(session) => session.all(planned, &mut log).unwrap_or_else(|(exit, why)| {
            log.error(&why);
            exit
        }),
        Err((exit, why)) => return refused(&mut log, exit, &why),
    };
    log.finish();
    exit.code()
}

/// The runs of a command, one after another.
struct Session<'a> {
    given: &'a GivenFlags,
    terminal: &'a Terminal,
    pages: Pages,
    under_way: UnderWay,
    stop_requests: StopRequests,
    /// The first that was not a pass.
    exit: Exit,
}

impl<'a> Session<'a> {
    fn start(given: &'a GivenFlags, terminal: &'a Terminal) -> Result<Session<'a>, Refused> {
        let wish = given.pages().map_err(|why| (Exit::Other, why))?;
        let under_way = UnderWay::default();
        let stop_requests = under_way.listen(terminal).map_err(other)?;
        let pages = Pages::start(wish, given.one("runs").map(PathBuf::from), terminal).map_err(other)?;
        Ok(Session { given, terminal, pages, under_way, stop_requests, exit: Exit::Passed })
    }

    fn all(mut self, planned: Planned, log: &mut TestLog) -> Result<Exit, Refused> {
        let runs = planned.runs.clone();
        let mut record = MatrixRecord::begin(self.pages.runs(), planned).map_err(other)?;
        for (at, (combination, turn)) in runs.iter().enumerate() {
            if self.stop_requests.to_stop() {
                self.terminal.say(&format!("not run: {}", counted((runs.len() - at) as u64, "run")));
                break;
            }
            let name = record.folder_name(combination, *turn);
            let run = begun(combination, *turn);
            let label = Some(run.label()).filter(|_| !combination.0.is_empty());
            let label = label.unwrap_or_else(|| format!("{}, {}", record.matrix.name, run.label()));
            self.say(&format!("{}/{} {label}", at + 1, runs.len()));
            if let Some(trouble) = run.before.and_then(|before| before.trouble()) {
                self.say(&format!("notice: {label} begins on a busy machine: {trouble}"));
            }
            let place = record.folder.clone().map(|parent| (parent, name));
            let (run, folder) = self.one(run, combination, place, log)?;
            let cause = run.cause.as_ref().map(|cause| format!("; {cause}")).unwrap_or_default();
            if let Some(summary) = &run.summary {
                self.say(&format!("{label}: {}{cause}", summary.verdict.result.word()));
            }
            if let Err(error) = record.enter(run, folder.as_deref()) {
                self.failed(&error);
            }
        }
        if let Some(folder) = &record.folder
            && let Err(error) = self.pages.write_matrix(&record.matrix, folder, true)
        {
            self.failed(&error);
        }
        self.tell(&record)?;
        if self.stop_requests.to_stop() {
            self.exit = Exit::Interrupted;
        }
        let exit = self.exit;
        self.pages.finish(&self.stop_requests);
        Ok(exit)
    }

    /// Makes one run, into the folder of this name there; returns it, and where it is.
    fn one(
        &mut self,
        mut run: Run,
        combination: &Combination,
        place: Option<(PathBuf, String)>,
        log: &mut TestLog,
    ) -> Result<(Run, Option<PathBuf>), Refused> {
        let abort = self.under_way.renew();
        let network = NetworkLateness::default();
        let mut request = asked(self.given, &network, &in_environment(combination))?;
        (request.no_summary, request.outputs) = (true, Vec::new());
        let file = invocation::script(&self.given.script, &request.source);
        let folder = place.map(|(parent, name)| runs::reserve(&parent, &name)).transpose().map_err(other)?;
        let diagnosed = Diagnosed::new();
        if let Some(folder) = &folder {
            let under_way = self.under_way.clone();
            self.pages.begin(folder.path(), move || under_way.ask(Reason::Request));
        }
        let unattended = Unattended {
            asked: request,
            file,
            folder,
            diagnosed: Some(diagnosed.clone()),
            service: TestService::of_test(network),
            combination: run.combination.clone(),
        };
        let ran = unattended.run(&abort, &self.stop_requests, self.terminal, &mut |line| log.line(line));
        self.pages.over();
        self.pages.settle();
        let Ran { ended, summary, folder, is_recorded } = ran.map_err(other)?;
        if self.exit == Exit::Passed {
            self.exit = if is_recorded || ended.exit != Exit::Passed { ended.exit } else { Exit::Other };
        }
        let is_interrupted = self.stop_requests.to_stop();
        if let Some(why) = ended.why.as_ref().filter(|_| summary.is_none() && !is_interrupted) {
            log.error(why);
            run.error = Some(why.clone());
        }
        if let Some(Err(error)) = folder.as_deref().map(|folder| self.pages.write(folder, false)) {
            self.failed(&error);
        }
        let own = folder.as_deref().filter(|_| !self.pages.is_temporary()).map(told);
        run.summary = summary.map(|summary| Summary { run_folder: own, ..summary });
        run.cause = diagnosed.cause();
        Ok((run, folder))
    }

    /// Prints what the runs say together.
    fn tell(&self, record: &MatrixRecord) -> Result<(), Refused> {
        if self.is_quiet() {
            return Ok(());
        }
        let is_coloured = self.terminal.colour && !self.given.has("no-color");
        let mut text = record.matrix.console(self.terminal.columns, is_coloured);
        if let Some(folder) = record.folder.as_ref().filter(|_| !self.pages.is_temporary()) {
            text.push_str(&format!("\nrun folders {}\n", folder.display()));
        }
        self.terminal.print(&format!("{text}\n")).map_err(other)
    }

    fn is_quiet(&self) -> bool {
        self.given.has("quiet")
    }

    fn say(&self, text: &str) {
        if !self.is_quiet() {
            self.terminal.say(text);
        }
    }

    fn failed(&mut self, error: &Error) {
        self.terminal.say(&error.to_string());
        if self.exit == Exit::Passed {
            self.exit = Exit::Other;
        }
    }
}

fn told(folder: &Path) -> String {
    folder.display().to_string()
}

/// What went wrong around the runs.
fn other(error: Error) -> Refused {
    let text = error.to_string();
    (Exit::Other, text.strip_prefix("error: ").unwrap_or(&text).to_owned())
}
