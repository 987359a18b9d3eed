//! A matrix's runs: one after another, compared at the end.
//!
//! A run that fails, or cannot be run at all, does not stop the others: their figures could only be had by running the
//! whole matrix again. `matrix.json` and `matrix.md` are written anew after each run, so a killed command leaves its
//! results so far. What the runs say together is answered after each of them as well, of what was run by then.

use crate::compared_runs::{asks, observed};
use crate::error::Error;
use crate::fingerprint;
use crate::invocation;
use crate::load::{Script, ScriptRun};
use crate::matrix_folder::{DOCUMENT, replace};
use crate::output::Vocabulary;
use crate::results;
use crate::rounds::Turn;
use crate::runs::{self, RunSession};
use sonagi_artillery::Combination;
use sonagi_report::matrix::{self, Asked, MARGIN, Matrix, Run};
use sonagi_verdict::compare::Observation;
use std::path::{Path, PathBuf};

const PAGE: &str = "matrix.md";

/// Runs the script's remaining runs.
pub(crate) fn run(session: &mut RunSession<'_>, script: &mut Script) -> Result<(), Error> {
    let (options, terminal) = (session.options, session.terminal);
    let mut record = Record::begin(session.pages.runs(), script)?;
    let (is_only, is_one_run) = (session.has_only(script), script.runs.len() == 1);
    while let Some(job) = session.next(script) {
        let (label, name) = (job.label(), record.folder_name(&job));
        let mut run = begun(&job);
        if let Some(trouble) = run.before.and_then(|before| before.trouble()).filter(|_| !options.quiet) {
            terminal.say(&format!("notice: {label} begins on a busy machine: {trouble}"));
        }
        let mut folder = None;
        match session.run(script, job, record.folder.as_deref(), Some(name)) {
            Ok(finished) => {
                if options.vocabulary == Vocabulary::Artillery {
                    results::tell(&finished, options, terminal)?;
                } else if !options.quiet {
                    let cause = finished.cause().map(|cause| format!("; {cause}")).unwrap_or_default();
                    terminal.say(&format!("{label}: {}{cause}", finished.summary.verdict.result.word()));
                }
                if options.shows_console()
                    && let Some(plot) = finished.folder.as_ref().and_then(|folder| session.pages.plot(folder))
                {
                    terminal.print(&format!("{label}\n{plot}\n"))?;
                }
                run.cause = finished.cause();
                folder = finished.folder;
                run.summary = Some(finished.summary);
            }
            Err(error) => {
                session.failed(&error);
                run.error = Some(error.to_string());
            }
        }
        if let Err(error) = record.enter(run, folder.as_deref()) {
            session.failed(&error);
        }
    }
    // The page of a single run says it all.
    if let Some(folder) = record.folder.as_ref().filter(|_| !is_one_run)
        && let Err(error) = session.pages.write_matrix(&record.matrix, folder, is_only)
    {
        session.failed(&error);
    }
    if options.quiet || options.json || options.vocabulary == Vocabulary::Artillery {
        return Ok(());
    }
    let mut text = record.matrix.console(terminal.columns, terminal.colour);
    if let Some(folder) = record.folder.as_ref().filter(|_| !session.pages.is_temporary()) {
        text.push_str(&format!("\nrun folders {}\n", folder.display()));
    }
    terminal.print(&format!("{text}\n"))
}

/// A run that is about to begin. The machine is looked at where runs are compared: a quarter of a second each.
fn begun(job: &ScriptRun) -> Run {
    Run {
        combination: values(&job.combination),
        round: job.turn.map(|turn| turn.round),
        is_anchor: job.turn.is_some_and(|turn| turn.is_anchor),
        seed: job.turn.map(|turn| turn.seed),
        before: job.turn.map(|_| fingerprint::take()),
        ..Run::default()
    }
}

/// The results so far, and where they are stored.
struct Record {
    matrix: Matrix,
    /// What was observed of each run.
    observed: Vec<Option<Observation>>,
    /// The folder of the runs' folders.
    folder: Option<PathBuf>,
}

impl Record {
    fn begin(runs: Option<&Path>, script: &Script) -> Result<Record, Error> {
        let (started, name) = (runs::now()?, script.name());
        let folder = sonagi_measure::folder::name(&started, &name);
        let folder = runs.map(|runs| runs::reserve(runs, &folder)).transpose()?;
        let folder = folder.map(|folder| folder.path().to_owned());
        let first = script.runs.first().map(|run| &run.combination);
        let axes = first.map(|Combination(axes)| axes.iter().map(|(name, _)| name.clone()).collect());
        let is_anchor = |run: &&ScriptRun| run.turn.is_some_and(|turn| turn.is_anchor);
        let matrix = Matrix {
            name,
            started,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: invocation::command(),
            axes: axes.unwrap_or_default(),
            planned: script.runs.iter().filter(|run| !is_anchor(run)).count(),
            repeat: script.repeat,
            // The first round has the seed that draws all of them.
            seed: script.runs.first().and_then(|run| run.turn).map(|turn| turn.seed),
            combinations: in_order(script),
            compare: asked(script),
            runs: Vec::with_capacity(script.runs.len()),
            ..Matrix::default()
        };
        Ok(Record { matrix, observed: Vec::with_capacity(script.runs.len()), folder })
    }

    /// The name of a run's folder: its values, or of repeated runs its axes with their values, and the round.
    fn folder_name(&self, job: &ScriptRun) -> String {
        let Some(Turn { round, is_anchor, .. }) = job.turn else { return slug(&job.combination.slug()) };
        let axes = job.combination.0.iter().map(|(axis, _)| axis.as_str()).collect::<Vec<_>>().join("-");
        let name = match axes.is_empty() {
            true => slug(&self.matrix.name),
            false => slug(&format!("{axes}-{}", job.combination.slug())),
        };
        if is_anchor { format!("anchor-{name}") } else { format!("{name}-{round}") }
    }

    /// Enters a finished run, which is in this folder if it is in any.
    fn enter(&mut self, run: Run, folder: Option<&Path>) -> Result<(), Error> {
        let own = run.summary.as_ref().and_then(|summary| summary.run_folder.as_deref());
        if let Some(header) = own.and_then(|own| sonagi_measure::folder::header(Path::new(own)).ok()) {
            self.matrix.machine = matrix::machine(&header.environment);
        }
        self.observed.push(if asks(&self.matrix) { observed(&run, folder) } else { None });
        self.matrix.runs.push(run);
        self.judge();
        let Some(folder) = &self.folder else { return Ok(()) };
        let files = [(DOCUMENT, self.matrix.document()), (PAGE, matrix::markdown(&self.matrix))];
        files.into_iter().try_for_each(|(name, text)| {
            let path = folder.join(name);
            replace(&path, &text).map_err(|error| Error::file("write", &path, error))
        })
    }

    fn judge(&mut self) {
        self.matrix.judge(&self.observed);
    }
}

/// The combinations in the matrix's order; rounds have one of their own.
fn in_order(script: &Script) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let mut first: Vec<(usize, &Combination)> = Vec::new();
    for (at, run) in script.runs.iter().enumerate() {
        let place = run.turn.map_or(at, |turn| turn.combination);
        if !first.iter().any(|(known, _)| *known == place) {
            first.push((place, &run.combination));
        }
    }
    first.sort_by_key(|(place, _)| *place);
    first.into_iter().map(|(_, combination)| values(combination)).collect()
}

/// What the script asks of its runs.
fn asked(script: &Script) -> Option<Asked> {
    let compare = script.experiment.compare.as_ref()?;
    Some(Asked {
        across: compare.across.clone(),
        primary: compare.primary.clone(),
        margin: compare.margin.unwrap_or(MARGIN),
    })
}

fn values(Combination(axes): &Combination) -> serde_json::Map<String, serde_json::Value> {
    axes.iter().cloned().collect()
}

/// A folder's name; values without a letter or digit leave only dashes.
fn slug(name: &str) -> String {
    let slug = sonagi_measure::folder::name("", name);
    if slug.is_empty() { "run".to_owned() } else { slug }
}
