//! Trials of an Artillery script: the script with other phases, or another value of a variable.

use super::trials::{Demand, TrialLength, TrialRun, Trials, Varied};
use crate::error::Error;
use crate::launch::Wish;
use crate::runs::{self, RunSession};
use crate::target_watch::{Whereabouts, whereabouts};
use crate::watched_service::WatchedService;
use crate::{limits, load};
use serde_json::{Value, json};
use sonagi_artillery::schedule::{Load, Shape};
use sonagi_artillery::{Experiment, Loaded, Overrides, Problem, Problems, names, nearest};
use sonagi_measure::thresholds::Threshold;
use std::path::{Path, PathBuf};

/// A local port is not free again for so long after its connection; on its own machine the kernel takes it sooner.
const TIME_WAIT_S: f64 = 60.0;
const TIME_WAIT_HERE_S: f64 = 1.0;

/// A script whose load is varied.
pub(crate) struct Varying {
    path: PathBuf,
    overrides: Overrides,
    varied: Varied,
    /// Whether the variable is an axis of the script's matrix.
    is_axis: bool,
    length: TrialLength,
    /// Whether the script asks for several runs, or to compare them.
    is_experiment: bool,
    /// Whether the service is another one with another value of the variable.
    service_follows: bool,
}

/// A phase that can be of any length.
#[derive(Clone, Copy, Debug)]
enum Lengthened {
    Rate(f64),
    Users(u64),
}

impl Varying {
    /// Reads the script, or says everything that is wrong with it or with what is to be varied, in this range.
    pub(crate) fn of(
        path: &Path,
        overrides: Overrides,
        varied: Varied,
        range: (u64, u64),
    ) -> Result<Varying, Problems> {
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
        let is_experiment = loaded.first().is_some_and(|run| run.experiment != Experiment::default());
        let (path, length) = (path.to_owned(), TrialLength::AS_ASKED);
        let service_follows = false;
        let varying = Varying { path, overrides, varied, is_axis, length, is_experiment, service_follows };
        let Varied::Variable(name) = &varying.varied else { return Ok(varying) };
        let (first, last) = (varying.with(range.0)?, varying.with(range.1)?);
        let length = length_in(name, range, [&first.plan.load, &last.plan.load])?;
        let service_follows = (&first.serve, &first.launch) != (&last.serve, &last.launch);
        Ok(Varying { length, service_follows, ..varying })
    }

    /// The script as it is written, with this value of its variable: phases and services may follow from it.
    fn with(&self, load: u64) -> Result<Loaded, Problems> {
        sonagi_artillery::load(&self.path, &self.with_value(load))
    }

    /// Whether the script asks for several runs, or to compare them, which a search does in its own way.
    pub(crate) fn is_experiment(&self) -> bool {
        self.is_experiment
    }

    /// How long its trials are.
    pub(crate) fn length(&self) -> TrialLength {
        self.length
    }

    /// The expression as the script reads it: its names that hold more than letters are quoted.
    pub(crate) fn until(&self) -> Result<Threshold, Error> {
        let loaded = sonagi_artillery::load(&self.path, &self.at(1, 1.0, None));
        let loaded = loaded.map_err(|problems| Error::Problems(problems.to_string()))?;
        loaded
            .plan
            .thresholds
            .into_iter()
            .next()
            .ok_or_else(|| Error::could_not("the expression was not read"))
    }

    /// The demand of a trial; none where the script cannot be read, which whoever runs it says.
    fn demand(&self, load: u64, seconds: f64) -> Demand {
        let Ok(script) = sonagi_artillery::load(&self.path, &self.at(load, seconds, None)) else {
            return Demand::default();
        };
        let connections = script.plan.least_crowd();
        let served = script.serve.as_ref().and_then(|serve| Wish::served(serve, &self.path).ok());
        let has_network =
            limits::has_network(script.launch.as_ref()) || served.is_some_and(|wish| wish.has_network());
        let opened = match self.varied {
            // Each user opens a connection of its own, if any does.
            Varied::Rate if connections > 0 => {
                let is_elsewhere = matches!(whereabouts(&script.plan.target), Some(Whereabouts::There(..)));
                let rests_s = if is_elsewhere { TIME_WAIT_S } else { TIME_WAIT_HERE_S };
                (load as f64 * seconds.min(rests_s)) as u64
            }
            _ => 0,
        };
        let files = connections * limits::files_of_connection(has_network);
        Demand { files, ports: connections.max(opened) }
    }

    /// Whether the service is another one with another value of the variable: one for all trials would be that of none.
    pub(crate) fn service_follows(&self) -> bool {
        self.service_follows
    }

    /// The script of one trial.
    fn at(&self, load: u64, seconds: f64, target: Option<String>) -> Overrides {
        let mut overrides = self.with_value(load);
        overrides.target = target.or(overrides.target);
        let phase = match &self.varied {
            Varied::Rate => Some(Lengthened::Rate(load as f64)),
            Varied::Users => Some(Lengthened::Users(load)),
            Varied::Variable(_) if self.length.is_of_script() => None,
            // Where it cannot be read, whoever reads the whole script says why.
            Varied::Variable(_) => self.with(load).ok().and_then(|script| lengthened(&script.plan.load)),
        };
        let phase = phase.map(|phase| match phase {
            Lengthened::Rate(rate) => json!({ "duration": seconds, "arrivalRate": rate }),
            Lengthened::Users(users) => json!({ "duration": seconds, "users": users }),
        });
        if let Some(phase) = phase {
            let over = overrides.overrides.get_or_insert_with(|| json!({}));
            lay(over, json!({ "config": { "phases": [phase] } }));
        }
        overrides
    }

    /// The script with the value of its variable.
    fn with_value(&self, load: u64) -> Overrides {
        let mut overrides = self.overrides.clone();
        if let Varied::Variable(name) = &self.varied {
            if self.is_axis {
                let over = overrides.overrides.get_or_insert_with(|| json!({}));
                lay(over, json!({ "matrix": { name: [load] } }));
                overrides.matrix.retain(|(axis, _)| axis != name);
            } else {
                overrides.variables.retain(|(known, _)| known != name);
                overrides.variables.push((name.clone(), json!(load)));
            }
        }
        overrides
    }
}

/// How long trials are, all over the range of a variable.
fn length_in(name: &str, (from, to): (u64, u64), [first, last]: [&Load; 2]) -> Result<TrialLength, Problems> {
    if lengthened(first).is_some() && lengthened(last).is_some() {
        return Ok(TrialLength::AS_ASKED);
    }
    let seconds = |load: &Load| load.end().0 as f64 / 1e9;
    if first.end() == last.end() {
        return Ok(TrialLength::OfScript { seconds: seconds(first) });
    }
    let what = format!(
        "the script's phases take {} s with {name} {from} and {} s with {to}: a search compares trials of one \
         length",
        seconds(first),
        seconds(last)
    );
    let hint = format!("write each `duration` without {name}");
    Err(Problems(vec![Problem::of_file("--vary", what, Some(hint))]))
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

    /// Ends the service; whether all went well around it.
    pub(crate) fn end(self) -> bool {
        let Some(service) = self.service else { return true };
        let (_, troubles) = service.end(&|| self.session.is_stopped_at_once());
        troubles.iter().for_each(|trouble| self.session.terminal.say(&trouble.to_string()));
        troubles.is_empty()
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

    fn length(&self) -> TrialLength {
        self.varying.length()
    }

    fn demand(&self, load: u64, seconds: f64) -> Demand {
        self.varying.demand(load, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long trials of a script are whose `n` goes from 10 to 40, and the phases of one of 7 s at either end; or
    /// what is wrong with that.
    fn varied(phases: &str, config: &str, below: &str) -> Result<(TrialLength, [Value; 2]), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.yml");
        let script = format!(
            "config: {{ target: 'http://127.0.0.1:9', phases: [{phases}], {config} }}\n{below}\n\
             scenarios: [{{ flow: [{{ get: {{ url: '/{{{{ n }}}}' }} }}] }}]\n"
        );
        std::fs::write(&path, script).unwrap();
        let varying = Varying::of(&path, Overrides::default(), Varied::named("n"), (10, 40));
        let varying = varying.map_err(|problems| problems.to_string())?;
        let phases =
            |load| varying.at(load, 7.0, None).overrides.unwrap_or_default()["config"]["phases"].clone();
        Ok((varying.length(), [phases(10), phases(40)]))
    }

    const VARIABLE: (&str, &str) = ("variables: { n: [1] }", "");
    const AXIS: (&str, &str) = ("http: { timeout: 9 }", "matrix: { n: [1, 2] }");

    #[test]
    fn a_phase_that_is_as_long_as_the_trial_follows_the_variable() {
        for (config, below) in [VARIABLE, AXIS] {
            let (length, phases) = varied("{ duration: 60, arrivalRate: '{{ n }}' }", config, below).unwrap();
            assert_eq!(length, TrialLength::AS_ASKED);
            let at = |rate: f64| json!([{ "duration": 7.0, "arrivalRate": rate }]);
            assert_eq!(phases, [at(10.0), at(40.0)], "{config}{below}");
        }
    }

    #[test]
    fn several_phases_say_themselves_how_long_a_trial_is() {
        let phases = "{ duration: 2.5, arrivalRate: 3 }, { duration: 4, arrivalRate: '{{ n }}' }";
        for (config, below) in [VARIABLE, AXIS] {
            let (length, phases) = varied(phases, config, below).unwrap();
            assert_eq!(
                (length, phases),
                (TrialLength::OfScript { seconds: 6.5 }, [Value::Null, Value::Null])
            );
        }
        let (length, _) = varied("{ duration: 3, arrivalCount: 5 }", VARIABLE.0, "").unwrap();
        assert_eq!(length, TrialLength::OfScript { seconds: 3.0 });
    }

    #[test]
    fn phases_that_get_longer_with_the_load_cannot_be_compared() {
        let phases = "{ duration: 2, arrivalRate: 3 }, { duration: '{{ n }}', arrivalRate: 3 }";
        let told = varied(phases, VARIABLE.0, "").unwrap_err();
        let problem = "the script's phases take 12 s with n 10 and 42 s with 40: ";
        assert!(told.contains(problem) && told.contains("hint: write each `duration` without n"), "{told}");
    }
}
