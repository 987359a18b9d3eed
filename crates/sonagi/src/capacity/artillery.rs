//! Trials of an Artillery script: the script with other phases, or another value of a variable.

use super::trials::{TrialRun, Trials, Varied};
use crate::error::Error;
use crate::load;
use crate::runs::{self, RunSession};
use crate::watched_service::WatchedService;
use serde_json::{Value, json};
use sonagi_artillery::schedule::{Load, Shape};
use sonagi_artillery::{Experiment, Loaded, Overrides, Problem, Problems, names, nearest};
use sonagi_measure::thresholds::Threshold;
use std::path::{Path, PathBuf};

/// A script whose load is varied.
pub(crate) struct Varying {
    path: PathBuf,
    overrides: Overrides,
    varied: Varied,
    /// Whether the variable is an axis of the script's matrix.
    is_axis: bool,
    /// The script's only phase, if it can be made as long as a trial; None: the script says how long one is.
    phase: Option<Lengthened>,
    /// Whether the script asks for several runs, or to compare them.
    is_experiment: bool,
}

/// A phase that can be of any length.
#[derive(Clone, Copy, Debug)]
enum Lengthened {
    Rate(f64),
    Users(u64),
}

impl Varying {
    /// Reads the script, or says everything that is wrong with it or with what is to be varied.
    pub(crate) fn of(path: &Path, overrides: Overrides, varied: Varied) -> Result<Varying, Problems> {
        let loaded = sonagi_artillery::load_each(path, &overrides)?;
        let is_axis = match (&varied, loaded.first()) {
            (Varied::Variable(name), Some(run)) => run.combination.0.iter().any(|(axis, _)| axis == name),
            _ => false,
        };
        let mut problems = Vec::new();
        if let (Varied::Variable(name), Some(run), false) = (&varied, loaded.first(), is_axis) {
            problems.extend(undeclared(name, run));
        }
        let others = |run: &Loaded| {
            let axes = run.combination.0.iter().filter(|(axis, _)| *axis != varied.to_string());
            axes.cloned().collect::<Vec<_>>()
        };
        let first = loaded.first().map(others);
        if loaded.iter().any(|run| Some(others(run)) != first) {
            let what = "the script has a matrix, and one capacity is searched at a time".to_owned();
            let hint = "narrow the other axes to one value each: --matrix transport=ws".to_owned();
            problems.push(Problem::of_file(path, what, Some(hint)));
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let phase = loaded.first().and_then(|run| lengthened(&run.plan.load));
        let is_experiment = loaded.first().is_some_and(|run| run.experiment != Experiment::default());
        Ok(Varying { path: path.to_owned(), overrides, varied, is_axis, phase, is_experiment })
    }

    /// Whether the script asks for several runs, or to compare them, which a search does in its own way.
    pub(crate) fn is_experiment(&self) -> bool {
        self.is_experiment
    }

    /// Whether trials are as long as the script says.
    pub(crate) fn has_own_length(&self) -> bool {
        matches!(self.varied, Varied::Variable(_)) && self.phase.is_none()
    }

    /// The script of one trial.
    fn at(&self, load: u64, seconds: f64, target: Option<String>) -> Overrides {
        let mut overrides = self.overrides.clone();
        overrides.target = target.or(overrides.target);
        let mut over = overrides.overrides.take().unwrap_or_else(|| json!({}));
        let phase = match (&self.varied, self.phase) {
            (Varied::Rate, _) => Some(json!({ "duration": seconds, "arrivalRate": load })),
            (Varied::Users, _) => Some(json!({ "duration": seconds, "users": load })),
            (_, Some(Lengthened::Rate(rate))) => Some(json!({ "duration": seconds, "arrivalRate": rate })),
            (_, Some(Lengthened::Users(users))) => Some(json!({ "duration": seconds, "users": users })),
            (_, None) => None,
        };
        if let Some(phase) = phase {
            lay(&mut over, json!({ "config": { "phases": [phase] } }));
        }
        if let Varied::Variable(name) = &self.varied {
            if self.is_axis {
                lay(&mut over, json!({ "matrix": { name: [load] } }));
                overrides.matrix.retain(|(axis, _)| axis != name);
            } else {
                overrides.variables.retain(|(known, _)| known != name);
                overrides.variables.push((name.clone(), json!(load)));
            }
        }
        Overrides { overrides: Some(over), ..overrides }
    }
}

/// Lays a JSON object over another one: the leaves of the upper count.
fn lay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// The one phase of a load, if it goes on at a rate or with a number of users.
fn lengthened(load: &Load) -> Option<Lengthened> {
    match load {
        Load::Open { phases, .. } => match phases.as_slice() {
            [phase] => match phase.shape {
                Shape::Rate { from, to } => Some(Lengthened::Rate(from.max(to))),
                Shape::Count(_) | Shape::Pause => None,
            },
            _ => None,
        },
        Load::Closed { stages } => match stages.as_slice() {
            [stage] => Some(Lengthened::Users(stage.users.max(stage.from.unwrap_or(0)))),
            _ => None,
        },
    }
}

/// The problem of a variable that the script does not have: to vary it would change nothing.
fn undeclared(name: &str, run: &Loaded) -> Option<Problem> {
    let known: Vec<&str> = run.plan.variables.iter().map(|(known, _)| known.as_str()).collect();
    if known.contains(&name) {
        return None;
    }
    let what = format!("the script has no variable or matrix axis \"{name}\"");
    let hint = match nearest(name, known.iter().copied().chain(["rate", "users"])) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => {
            "rate and users can be varied in any script; a variable is declared in `config.variables`"
                .to_owned()
        }
        None => format!("its variables: {}; rate and users can be varied in any script", known.join(", ")),
    };
    Some(Problem::of_file("--vary", what, Some(hint)))
}

/// Trials of an Artillery script.
pub(crate) struct ArtilleryTrials<'a> {
    session: RunSession<'a>,
    varying: Varying,
    /// The service that all trials go against.
    service: Option<WatchedService>,
}

impl<'a> ArtilleryTrials<'a> {
    /// Starts the script's service, if it has one, for all trials; `fresh`: each trial starts its own.
    pub(crate) fn start(session: RunSession<'a>, varying: Varying, fresh: bool) -> Result<Self, Error> {
        let (options, terminal) = (session.options, session.terminal);
        let mut tell = |speaker, text: &str| runs::speak(speaker, text, options, terminal);
        let script = load::one(&varying.path, &varying.at(1, 1.0, None), &mut tell);
        let script = script.map_err(|problems| Error::Problems(problems.to_string()))?;
        let service = match script.runs.first().filter(|_| !fresh) {
            Some(job) => WatchedService::of(job, &|| session.is_stopped())?,
            None => None,
        };
        Ok(ArtilleryTrials { session, varying, service })
    }

    /// The expression as the script reads it: its names that hold more than letters are quoted.
    pub(crate) fn until(&self) -> Result<Threshold, Error> {
        let loaded = sonagi_artillery::load(&self.varying.path, &self.varying.at(1, 1.0, None));
        let loaded = loaded.map_err(|problems| Error::Problems(problems.to_string()))?;
        loaded
            .plan
            .thresholds
            .into_iter()
            .next()
            .ok_or_else(|| Error::could_not("the expression was not read"))
    }

    /// Ends the service.
    pub(crate) fn end(self) {
        let Some(service) = self.service else { return };
        let (_, troubles) = service.end(&|| self.session.is_stopped());
        troubles.iter().for_each(|trouble| self.session.terminal.say(&trouble.to_string()));
    }
}

impl Trials for ArtilleryTrials<'_> {
    fn run(
        &mut self,
        load: u64,
        seconds: f64,
        folder: Option<(&Path, &str)>,
    ) -> Result<Option<TrialRun>, Error> {
        let (options, terminal) = (self.session.options, self.session.terminal);
        let overrides =
            self.varying.at(load, seconds, self.service.as_ref().and_then(WatchedService::target));
        let mut tell = |speaker, text: &str| runs::speak(speaker, text, options, terminal);
        let script = load::one(&self.varying.path, &overrides, &mut tell);
        let mut script = script.map_err(|problems| Error::Problems(problems.to_string()))?;
        let Some(job) = self.session.next(&mut script) else { return Ok(None) };
        let (runs, name) = folder.unzip();
        let name = name.map(str::to_owned);
        let finished = match &mut self.service {
            Some(service) => self.session.run_beside(&script, job, (runs, name), service)?,
            None => self.session.run(&script, job, runs, name)?,
        };
        let summary = finished.summary;
        let (held, evidence) = match summary.thresholds.first() {
            Some(judged) => (judged.held, judged.evidence.clone()),
            None => (false, "the run was not judged".to_owned()),
        };
        let figures = (names::NAMING.figures)(&summary).measured;
        Ok(Some(TrialRun { summary, held, evidence, figures, folder: finished.folder }))
    }

    fn log_in(&mut self, folder: &Path) {
        if let Some(service) = &mut self.service {
            service.log_in(folder);
        }
    }

    fn stopper(&self) -> Box<dyn FnOnce() + Send> {
        Box::new(self.session.stopper())
    }

    fn is_stopped(&self) -> bool {
        self.session.is_stopped()
    }

    fn has_own_length(&self) -> bool {
        self.varying.has_own_length()
    }
}
