//! The results of runs that are told together, of either script language, and where they are stored.

use crate::compared_runs::{asks, observed};
use crate::error::Error;
use crate::fingerprint;
use crate::invocation;
use crate::matrix_folder::{DOCUMENT, replace};
use crate::page::Pages;
use crate::rounds::Turn;
use crate::runs;
use serde_json::{Map, Value};
use sonagi_artillery::Combination;
use sonagi_report::matrix::{self, Asked, Matrix, Run};
use sonagi_verdict::compare::Observation;
use std::path::{Path, PathBuf};

const PAGE: &str = "matrix.md";

/// The runs that are told together, and what is asked of them.
pub(crate) struct Planned {
    /// The script's name.
    pub(crate) name: String,
    /// How often each combination is run.
    pub(crate) repeat: usize,
    pub(crate) compare: Option<Asked>,
    /// In the order in which they are made; turns where they are repeated.
    pub(crate) runs: Vec<(Combination, Option<Turn>)>,
}

/// A run that is about to begin. The machine is looked at where runs are compared: a quarter of a second each.
pub(crate) fn begun(combination: &Combination, turn: Option<Turn>) -> Run {
    Run {
        combination: values(combination),
        round: turn.map(|turn| turn.round),
        is_anchor: turn.is_some_and(|turn| turn.is_anchor),
        before: turn.map(|_| fingerprint::take()),
        ..Run::default()
    }
}

/// The results so far, and where they are stored.
pub(crate) struct MatrixRecord {
    pub(crate) matrix: Matrix,
    /// What was observed of each run.
    observed: Vec<Option<Observation>>,
    /// The folder of the runs' folders.
    pub(crate) folder: Option<PathBuf>,
}

impl MatrixRecord {
    /// Begins a record, with a folder among these runs if there are any.
    pub(crate) fn begin(runs: Option<&Path>, planned: Planned) -> Result<MatrixRecord, Error> {
        let started = runs::now()?;
        let combinations = in_order(&planned);
        let Planned { name, repeat, compare, runs: all } = planned;
        let folder = sonagi_measure::folder::name(&started, &name);
        let folder = runs.map(|runs| runs::reserve(runs, &folder)).transpose()?;
        let folder = folder.map(|folder| folder.path().to_owned());
        let axes =
            all.first().map(|(Combination(axes), _)| axes.iter().map(|(name, _)| name.clone()).collect());
        let is_anchor = |turn: &Option<Turn>| turn.is_some_and(|turn| turn.is_anchor);
        let matrix = Matrix {
            name,
            started,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: invocation::command(),
            axes: axes.unwrap_or_default(),
            planned: all.iter().filter(|(_, turn)| !is_anchor(turn)).count(),
            repeat,
            // The first round has the seed that draws all of them.
            seed: all.first().and_then(|(_, turn)| *turn).map(|turn| turn.seed),
            combinations,
            compare,
            runs: Vec::with_capacity(all.len()),
            ..Matrix::default()
        };
        Ok(MatrixRecord { matrix, observed: Vec::with_capacity(all.len()), folder })
    }

    /// The text for a terminal, with the folder of the runs unless it is there for pages only.
    pub(crate) fn console(&self, pages: &Pages, columns: usize, colour: bool) -> String {
        let text = self.matrix.console(columns, colour);
        match self.folder.as_ref().filter(|_| !pages.is_temporary()) {
            Some(folder) => format!("{text}\nrun folders {}\n\n", folder.display()),
            None => format!("{text}\n"),
        }
    }

    /// Writes the page of all runs, if one is wanted; the page of a single run says it all.
    pub(crate) fn write_page(&self, pages: &Pages, is_only: bool) -> Result<(), Error> {
        let folder = self.folder.as_ref().filter(|_| self.matrix.planned > 1);
        folder.map_or(Ok(()), |folder| pages.write_matrix(&self.matrix, folder, is_only))
    }

    /// The name of a run's folder: its values, or of repeated runs its axes with their values, and the round.
    pub(crate) fn folder_name(&self, combination: &Combination, turn: Option<Turn>) -> String {
        let Some(Turn { round, is_anchor, .. }) = turn else { return slug(&combination.slug()) };
        let axes = combination.0.iter().map(|(axis, _)| axis.as_str()).collect::<Vec<_>>().join("-");
        let name = match axes.is_empty() {
            true => slug(&self.matrix.name),
            false => slug(&format!("{axes}-{}", combination.slug())),
        };
        if is_anchor { format!("anchor-{name}") } else { format!("{name}-{round}") }
    }

    /// Enters a finished run, which is in this folder if it is in any.
    pub(crate) fn enter(&mut self, run: Run, folder: Option<&Path>) -> Result<(), Error> {
        let own = run.summary.as_ref().and_then(|summary| summary.run_folder.as_deref());
        if let Some(header) = own.and_then(|own| sonagi_measure::folder::header(Path::new(own)).ok()) {
            self.matrix.machine = matrix::machine(&header.environment);
        }
        self.observed.push(if asks(&self.matrix) { observed(&run, folder) } else { None });
        self.matrix.runs.push(run);
        self.matrix.judge(&self.observed);
        let Some(folder) = &self.folder else { return Ok(()) };
        let files = [(DOCUMENT, self.matrix.document()), (PAGE, matrix::markdown(&self.matrix))];
        files.into_iter().try_for_each(|(name, text)| {
            let path = folder.join(name);
            replace(&path, &text).map_err(|error| Error::file("write", &path, error))
        })
    }
}

/// The combinations in the matrix's order; rounds have one of their own.
fn in_order(planned: &Planned) -> Vec<Map<String, Value>> {
    let mut first: Vec<(usize, &Combination)> = Vec::new();
    for (at, (combination, turn)) in planned.runs.iter().enumerate() {
        let place = turn.map_or(at, |turn| turn.combination);
        if !first.iter().any(|(known, _)| *known == place) {
            first.push((place, combination));
        }
    }
    first.sort_by_key(|(place, _)| *place);
    first.into_iter().map(|(_, combination)| values(combination)).collect()
}

fn values(Combination(axes): &Combination) -> Map<String, Value> {
    axes.iter().cloned().collect()
}

/// A folder's name; values without a letter or digit leave only dashes.
fn slug(name: &str) -> String {
    let slug = sonagi_measure::folder::name("", name);
    if slug.is_empty() { "run".to_owned() } else { slug }
}
