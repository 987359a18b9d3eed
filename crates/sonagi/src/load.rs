//! Loads scripts into plans: applies the flags that change a script, and lists all problems of all scripts at once.

use crate::dotenv;
use crate::error::Error;
use crate::invocation;
use crate::launch;
use crate::rounds::Turn;
use crate::target_watch;
use crate::terminal::Terminal;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::{Map, Value};
use sonagi_artillery::plan::Plan;
use sonagi_artillery::{
    Combination, Experiment, Loaded, LoadedProcessor, Notice, Overrides, Problem, Problems, Unloaded,
};
use sonagi_engine::Speaker;
use sonagi_lab::Mistake;
use sonagi_measure::totals::ScriptFile;
use sonagi_report::figures::counted;
use std::path::{Path, PathBuf};

/// Scripts of one command line whose processors are kept loaded for their runs; each is a process. Those of further
/// scripts are loaded again for their run.
const WAITING_MAX: usize = 8;

/// Receives the output of a script's processor while it is loaded.
pub(crate) type OnPrinted<'t> = &'t mut dyn FnMut(Speaker, &str);

/// `SCRIPT…` and the flags that are merged over a script before it is read.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = vec![
        Arg::new("scripts")
            .value_name("SCRIPT")
            .required(true)
            .num_args(1..)
            .value_parser(value_parser!(PathBuf))
            .help("Artillery scripts (YAML or JSON), or a k6 script (JavaScript or TypeScript)"),
    ];
    arguments.extend(changes());
    arguments
}

/// The flags that are merged over a script, without its name.
pub(crate) fn changes() -> Vec<Arg> {
    merged().into_iter().chain(narrowing()).collect()
}

/// Flags with values merged over a script.
fn merged() -> [Arg; 9] {
    let text = |name, value| Arg::new(name).long(name).value_name(value);
    let file = |name| text(name, "FILE").value_parser(value_parser!(PathBuf));
    [
        text("environment", "NAME").short('e').help("Merge this entry of config.environments over config"),
        file("config").short('c').help("Merge this file over the script; a processor is searched for in its folder \
                                        first"),
        file("input")
            .short('i')
            .action(ArgAction::Append)
            .help("Merge this file over the script, before --config; repeatable"),
        text("target", "URL").short('t').help("Replace config.target"),
        text("variables", "JSON")
            .short('v')
            .help("Set variables (a JSON object); they override config.variables"),
        text("overrides", "JSON").help("Merge this JSON object over the whole script; arrays are replaced"),
        file("payload").short('p').help("Take the rows of config.payload from this file"),
        file("dotenv")
            .alias("env-file")
            .help("Read environment variables for the script and its processor from this file; those already set win \
                   (also --env-file)"),
        Arg::new("insecure")
            .short('k')
            .long("insecure")
            .action(ArgAction::SetTrue)
            .help("Accept any TLS certificate"),
    ]
}

/// Flags that leave parts of a script out.
fn narrowing() -> [Arg; 3] {
    [
        Arg::new("scenario-name").long("scenario-name").value_name("NAME").help(
            "Run only the scenario with this name, or the one whose name matches this regular expression",
        ),
        Arg::new("solo").short('s').long("solo").action(ArgAction::SetTrue).help("Run one user, once"),
        Arg::new("matrix")
            .long("matrix")
            .value_name("AXIS=VALUE,…")
            .action(ArgAction::Append)
            .value_parser(axis)
            .help("Run only these values of a matrix axis, e.g. transport=sse,poll; repeatable"),
    ]
}

/// The scripts the command line names.
pub(crate) fn scripts(matches: &ArgMatches) -> Vec<PathBuf> {
    matches.get_many::<PathBuf>("scripts").into_iter().flatten().cloned().collect()
}

/// The flags that change a script.
pub(crate) fn overrides(matches: &ArgMatches, terminal: &Terminal) -> Result<Overrides, Error> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let config = file("config");
    let inputs = matches.get_many::<PathBuf>("input").into_iter().flatten().cloned();
    Ok(Overrides {
        environment: text("environment"),
        target: text("target"),
        variables: object("--variables", text("variables"))?.into_iter().flatten().collect(),
        overrides: object("--overrides", text("overrides"))?.map(Value::Object),
        insecure: matches.get_flag("insecure"),
        inputs: inputs.chain(config.clone()).collect(),
        config,
        payload: file("payload"),
        solo: matches.get_flag("solo"),
        scenario: text("scenario-name"),
        dotenv: file("dotenv").map(|path| stand_ins(&path, terminal)).unwrap_or_default(),
        matrix: matches.get_many::<Axis>("matrix").into_iter().flatten().cloned().collect(),
        serve: Some(crate::commands::refused_of_serve),
        launch: Some(launch::refused),
        watch: Some(target_watch::refused),
        ..Overrides::default()
    })
}

/// The variables of a dotenv file. A missing file is only warned about: a machine that has the variables themselves
/// needs none, and a variable that is then missing is a problem of the script.
fn stand_ins(path: &Path, terminal: &Terminal) -> Vec<(String, String)> {
    let shown = path.display();
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let (variables, odd) = dotenv::parse(&text);
            for line in odd {
                terminal.say(&format!("notice: {shown}:{line}: no variable; a line is NAME=value"));
            }
            variables
        }
        Err(error) => {
            terminal.say(&format!("notice: cannot read {shown}: {error}; no variables come from it"));
            Vec::new()
        }
    }
}

/// An axis of a matrix and the wanted values.
type Axis = (String, Vec<String>);

fn axis(text: &str) -> Result<Axis, String> {
    let rule = || format!("an axis is given as name=value,value; got `{text}`");
    let (name, values) = text.split_once('=').ok_or_else(rule)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if name.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err(rule());
    }
    Ok((name.trim().to_owned(), values))
}

fn object(flag: &str, text: Option<String>) -> Result<Option<Map<String, Value>>, Error> {
    let Some(text) = text else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(_) => Err(Error::flag(flag, format_args!("it takes a JSON object; got `{text}`"))),
        Err(error) => Err(Error::flag(
            flag,
            format_args!(
                "it takes a JSON object; {error}\nhint: quote it for the shell: {flag} '{{\"key\": 1}}'"
            ),
        )),
    }
}

/// `--strict`.
pub(crate) fn strict_argument() -> Arg {
    Arg::new("strict").long("strict").action(ArgAction::SetTrue).help(
        "Refuse scripts with problems that Artillery ignores (unknown keys, variables that nothing sets), as `check` \
         does",
    )
}

/// A script and its runs: one, or one per combination of its matrix.
pub(crate) struct Script {
    pub(crate) path: PathBuf,
    /// The text as it was checked.
    text: Vec<u8>,
    overrides: Overrides,
    /// Notices for its author.
    pub(crate) notices: Vec<Notice>,
    /// Why its functions could not be checked: its processor could not be loaded.
    pub(crate) unloaded: Option<Unloaded>,
    /// Its processor, loaded for the first of its runs.
    pub(crate) processor: LoadedProcessor,
    /// What it says of its runs together.
    pub(crate) experiment: Experiment,
    /// How often each combination is run; more than once: in rounds.
    pub(crate) repeat: usize,
    /// The runs, at least one, in the matrix's order, or that of their rounds.
    pub(crate) runs: Vec<ScriptRun>,
}

/// A run of a script.
pub(crate) struct ScriptRun {
    /// Empty without a matrix.
    pub(crate) combination: Combination,
    /// The run's name: the script's name and the combination's values.
    pub(crate) name: String,
    /// The service to start for it.
    pub(crate) service: Option<launch::Wish>,
    /// Its place in the rounds, where runs are repeated.
    pub(crate) turn: Option<Turn>,
    /// The plan of a script with a single run against a target of its own. Other runs are read again when their turn
    /// comes: a service has no address before it listens, and payloads need not stay in memory once per combination.
    plan: Option<Plan>,
}

impl ScriptRun {
    /// One of several runs of a combination.
    pub(crate) fn repeated(&self, turn: Turn) -> ScriptRun {
        ScriptRun {
            combination: self.combination.clone(),
            name: self.name.clone(),
            service: self.service.clone(),
            turn: Some(turn),
            plan: None,
        }
    }

    /// The part of its name that differs from the script's other runs; without a matrix, its whole name.
    pub(crate) fn label(&self) -> String {
        let label = match self.combination.0.as_slice() {
            [] => self.name.clone(),
            axes => axes.iter().map(|(_, value)| shown(value)).collect::<Vec<_>>().join(" "),
        };
        format!("{label}{}", self.round())
    }

    /// Its name, with its round where runs are repeated.
    pub(crate) fn full_name(&self) -> String {
        format!("{}{}", self.name, self.round())
    }

    fn round(&self) -> String {
        match self.turn {
            Some(turn) if turn.is_anchor => ", once more".to_owned(),
            Some(turn) => format!(", round {}", turn.round),
            None => String::new(),
        }
    }
}

impl Script {
    fn of(
        path: &Path,
        text: Vec<u8>,
        overrides: &Overrides,
        loaded: Vec<Loaded>,
        ExportsCheck { unloaded, processor }: ExportsCheck,
    ) -> Result<Script, Problems> {
        let is_alone = loaded.len() == 1;
        let experiment = loaded.first().map(|run| run.experiment.clone()).unwrap_or_default();
        let mut notices = Vec::new();
        let mut runs = Vec::with_capacity(loaded.len());
        for Loaded { plan, notices: of_run, combination, serve, launch, .. } in loaded {
            notices.extend(of_run);
            let name = plan.name.clone();
            let service = match (serve, launch) {
                (Some(serve), _) => Some((launch::Wish::served(&serve, path), "serve")),
                (None, Some(said)) => Some((launch::Wish::of(&said, Some(&plan.target), path), "launch")),
                (None, None) => None,
            };
            let service = service.map(|(wish, key)| wish.map_err(|mistakes| of_service(path, key, mistakes)));
            let service = service.transpose()?;
            let plan = (is_alone && service.is_none()).then_some(plan);
            runs.push(ScriptRun { combination, name, service, turn: None, plan });
        }
        let (path, overrides) = (path.to_owned(), overrides.clone());
        Ok(Script { path, text, overrides, notices, unloaded, processor, experiment, repeat: 1, runs })
    }

    /// Its file; None: it has none.
    pub(crate) fn file(&self) -> Option<ScriptFile> {
        let is_file = !self.path.as_os_str().is_empty();
        is_file.then(|| invocation::script(&self.path, &self.text))
    }

    /// The targets of its runs, as far as they are known beforehand.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().filter_map(|run| run.plan.as_ref()).map(|plan| plan.target.as_str())
    }

    /// Whether its runs are told together: those of a matrix, even of one run, or repeated ones.
    pub(crate) fn has_matrix(&self) -> bool {
        self.repeat > 1 || self.runs.first().is_some_and(|run| !run.combination.0.is_empty())
    }

    /// Compares the values of this axis, by what the script says of that besides.
    ///
    /// # Errors
    /// The script has no such axis.
    pub(crate) fn compare_across(&mut self, axis: &str) -> Result<(), Error> {
        let Combination(axes) = self.runs.first().map(|run| run.combination.clone()).unwrap_or_default();
        if !axes.iter().any(|(name, _)| name == axis) {
            let known: Vec<&str> = axes.iter().map(|(name, _)| name.as_str()).collect();
            let hint = match known.as_slice() {
                [] => "the script has no `matrix`".to_owned(),
                known => format!("its axes: {}", known.join(", ")),
            };
            let what = format!("the matrix of {} has no axis \"{axis}\"\nhint: {hint}", self.path.display());
            return Err(Error::flag("--compare", what));
        }
        self.experiment.compare.get_or_insert_default().across = axis.to_owned();
        Ok(())
    }

    /// The script's name: its file's.
    pub(crate) fn name(&self) -> String {
        let stem = || self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.overrides.name.clone().or_else(stem).unwrap_or_else(|| "script".to_owned())
    }

    /// The plan of one of its runs, against `target` if a service was started for it.
    pub(crate) fn plan(&self, job: &mut ScriptRun, target: Option<String>) -> Result<Plan, Error> {
        if let Some(plan) = job.plan.take() {
            return Ok(plan);
        }
        let now = std::fs::read(&self.path).map_err(|error| Error::file("read", &self.path, error))?;
        if now != self.text {
            return Err(Error::could_not(format_args!(
                "{} has changed since it was checked\nhint: do not edit a script before its last run is over",
                self.path.display()
            )));
        }
        let overrides = Overrides {
            target: target.or_else(|| self.overrides.target.clone()),
            combination: Some(job.combination.clone()),
            ..self.overrides.clone()
        };
        let loaded = sonagi_artillery::load(&self.path, &overrides);
        let loaded = loaded.map_err(|problems| Error::Problems(problems.to_string()))?;
        Ok(loaded.plan)
    }
}

/// Mistakes in what a script says of its service under this key, of which reading it has found most, with their places.
fn of_service(path: &Path, key: &str, mistakes: Vec<Mistake>) -> Problems {
    let problem = |Mistake { what, hint, .. }| Problem::of_file(path, format!("{key}: {what}"), hint);
    Problems(mistakes.into_iter().map(problem).collect())
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Loads every script, in order, and returns each with its result.
pub(crate) fn each(
    paths: &[PathBuf],
    overrides: &Overrides,
    tell: OnPrinted<'_>,
) -> Vec<(PathBuf, Result<Script, Problems>)> {
    let mut waiting = 0;
    let mut read = |path: &PathBuf| {
        let mut script = one(path, overrides, tell);
        if let Ok(script) = &mut script {
            waiting += usize::from(script.processor.is_waiting());
            if waiting > WAITING_MAX {
                script.processor = LoadedProcessor::default();
            }
        }
        (path.clone(), script)
    };
    paths.iter().map(&mut read).collect()
}

/// Loads one script, with all its problems.
pub(crate) fn one(path: &Path, overrides: &Overrides, tell: OnPrinted<'_>) -> Result<Script, Problems> {
    // An unreadable file is reported by `load_each`.
    let text = std::fs::read(path).unwrap_or_default();
    let loaded = sonagi_artillery::load_each(path, overrides)?;
    let asked = functions(&loaded, tell)?;
    Script::of(path, text, overrides, loaded, asked)
}

/// A script that is in no file and calls no functions: one run.
pub(crate) fn unwritten(script: &Value, overrides: &Overrides) -> Result<Script, Error> {
    let loaded = sonagi_artillery::load_value(script, overrides);
    let loaded = loaded.map_err(|problems| refused(&[problems]))?;
    let script = Script::of(Path::new(""), Vec::new(), overrides, vec![loaded], ExportsCheck::default());
    script.map_err(|problems| refused(&[problems]))
}

/// The result of asking processors for their functions.
#[derive(Default)]
struct ExportsCheck {
    /// Why one could not be loaded.
    unloaded: Option<Unloaded>,
    /// The first processor loaded.
    processor: LoadedProcessor,
}

/// Checks that the functions a script calls exist: Node loads its processor and lists its exports. All runs of a script
/// share one processor, unless a matrix varies its path. A processor that cannot be loaded ends the run that needs it;
/// here that only leaves the question open.
fn functions(loaded: &[Loaded], tell: OnPrinted<'_>) -> Result<ExportsCheck, Problems> {
    let mut known: Option<(&Path, Vec<String>)> = None;
    let mut first = None;
    for run in loaded.iter().filter(|run| run.calls_functions()) {
        let Some(processor) = &run.plan.processor else { continue };
        let exported = match known.take() {
            Some((module, exported)) if module == processor.module.as_path() => exported,
            _ => {
                let (exported, kept) = sonagi_artillery::exports(processor, tell);
                let processor = first.get_or_insert(kept).clone();
                match exported {
                    Ok(exported) => exported,
                    Err(unloaded) => return Ok(ExportsCheck { unloaded: Some(unloaded), processor }),
                }
            }
        };
        run.not_exported(&exported)?;
        known = Some((processor.module.as_path(), exported));
    }
    Ok(ExportsCheck { unloaded: None, processor: first.unwrap_or_default() })
}

/// Loads all scripts, or returns all problems of all of them.
pub(crate) fn all(
    paths: &[PathBuf],
    overrides: &Overrides,
    tell: OnPrinted<'_>,
) -> Result<Vec<Script>, Error> {
    let mut scripts = Vec::with_capacity(paths.len());
    let mut problems = Vec::new();
    for (_, script) in each(paths, overrides, tell) {
        match script {
            Ok(script) => scripts.push(script),
            Err(found) => problems.push(found),
        }
    }
    if problems.is_empty() { Ok(scripts) } else { Err(refused(&problems)) }
}

/// Why nothing is run.
fn refused(problems: &[Problems]) -> Error {
    let count: usize = problems.iter().map(|found| found.0.len()).sum();
    let mut text: String = problems.iter().map(|found| format!("{found}\n")).collect();
    text.push_str(&format!("error: {}; nothing was run", counted(count as u64, "problem")));
    Error::Problems(text)
}
