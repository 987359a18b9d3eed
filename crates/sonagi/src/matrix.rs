//! A matrix's runs: one after another, compared at the end.
//!
//! A run that fails, or cannot be run at all, does not stop the others: their figures could only be had by running the
//! whole matrix again. `matrix.json` and `matrix.md` are written anew after each run, so a killed command leaves its
//! results so far.

use crate::error::Error;
use crate::load::Script;
use crate::output::Vocabulary;
use crate::runs::{self, RunSession};
use sonagi_artillery::Combination;
use sonagi_report::matrix::{self, Matrix, Run};
use std::path::{Path, PathBuf};

/// The document in the folder that holds the runs' folders.
pub(crate) const DOCUMENT: &str = "matrix.json";
const PAGE: &str = "matrix.md";

/// Runs the script's remaining runs.
pub(crate) fn run(session: &mut RunSession<'_>, script: &mut Script) -> Result<(), Error> {
    let (options, terminal) = (session.options, session.terminal);
    let mut record = Record::begin(session.pages.runs(), script)?;
    while let Some(job) = session.next(script) {
        let (combination, label) = (job.combination.clone(), job.label());
        let mut run = Run { combination: values(&combination), ..Run::default() };
        match session.run(script, job, record.folder.as_deref(), Some(slug(&combination))) {
            Ok(finished) => {
                if options.vocabulary == Vocabulary::Artillery {
                    runs::tell(&finished, options, terminal)?;
                } else if !options.quiet {
                    let cause = finished.cause().map(|cause| format!("; {cause}")).unwrap_or_default();
                    terminal.say(&format!("{label}: {}{cause}", finished.summary.verdict.result.word()));
                }
                if options.shows_console()
                    && let Some(plot) = finished.folder.and_then(|folder| session.pages.plot(&folder))
                {
                    terminal.print(&format!("{label}\n{plot}\n"))?;
                }
                run.summary = Some(finished.summary);
            }
            Err(error) => {
                session.failed(&error);
                run.error = Some(error.to_string());
            }
        }
        if let Err(error) = record.enter(run) {
            session.failed(&error);
        }
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

/// The results so far, and where they are stored.
struct Record {
    matrix: Matrix,
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
        let matrix = Matrix {
            name,
            started,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: String::new(),
            axes: axes.unwrap_or_default(),
            planned: script.runs.len(),
            runs: Vec::with_capacity(script.runs.len()),
        };
        Ok(Record { matrix, folder })
    }

    /// Enters a finished run.
    fn enter(&mut self, run: Run) -> Result<(), Error> {
        let own = run.summary.as_ref().and_then(|summary| summary.run_folder.as_deref());
        if let Some(header) = own.and_then(|own| sonagi_measure::folder::header(Path::new(own)).ok()) {
            self.matrix.machine = matrix::machine(&header.environment);
        }
        self.matrix.runs.push(run);
        let Some(folder) = &self.folder else { return Ok(()) };
        let files = [(DOCUMENT, self.matrix.document()), (PAGE, matrix::markdown(&self.matrix))];
        files.into_iter().try_for_each(|(name, text)| {
            let path = folder.join(name);
            replace(&path, &text).map_err(|error| Error::file("write", &path, error))
        })
    }
}

/// Replaces a file in one step: at any moment there is a whole file.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(&new, path)
}

fn values(Combination(axes): &Combination) -> serde_json::Map<String, serde_json::Value> {
    axes.iter().cloned().collect()
}

/// A combination's folder name; values without a letter or digit leave only dashes.
fn slug(combination: &Combination) -> String {
    let slug = sonagi_measure::folder::name("", &combination.slug());
    if slug.is_empty() { "run".to_owned() } else { slug }
}

/// The folder of a run of the matrix in this folder, which may have been moved since.
pub(crate) fn folder_of(folder: &Path, run: &Run) -> Option<PathBuf> {
    let told = Path::new(run.summary.as_ref()?.run_folder.as_deref()?);
    Some(folder.join(told.file_name()?)).filter(|folder| folder.is_dir())
}

/// The matrix whose runs' folders are in this folder; None when there is none.
pub(crate) fn read(folder: &Path) -> Option<Result<Matrix, Error>> {
    let path = folder.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).ok()?;
    Some(Matrix::read(&text).map_err(|error| {
        Error::could_not(format_args!("{} is not the document of a matrix: {error}", path.display()))
    }))
}
