//! Runs as observations: run folders, folders of them, and reports of one run, also of other tools.

use crate::commands::report;
use crate::error::Error;
use crate::languages::LANGUAGES;
use crate::matrix;
use serde_json::Value;
use sonagi_measure::folder::{self, RUN};
use sonagi_verdict::compare::Observation;
use std::path::{Path, PathBuf};

/// No more runs are read than these: each is read as a whole.
const RUNS_AT_MOST: usize = 1000;

/// The runs that these paths name, in their order, each once.
///
/// # Errors
/// A path that names none, or a folder that cannot be read.
pub(crate) fn all(paths: &[PathBuf]) -> Result<Vec<Observation>, Error> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(Error::could_not(format_args!("there is no run {}", path.display())));
        }
        let mut runs = below(path);
        if runs.is_empty() {
            let what = format!("{} is no run folder, and has none in it", path.display());
            return Err(Error::could_not(format_args!("{what}\nhint: a run folder has a file {RUN}")));
        }
        runs.retain(|run| !found.contains(run));
        found.extend(runs);
    }
    if found.len() > RUNS_AT_MOST {
        let what = format!("{} runs are named; {RUNS_AT_MOST} at most are compared", found.len());
        return Err(Error::could_not(format_args!("{what}\nhint: name fewer, e.g. by a pattern")));
    }
    found.iter().map(|run| observation(run)).collect()
}

/// The run folders of a path, oldest first: itself, or those in it, then those of the matrices in it.
fn below(path: &Path) -> Vec<PathBuf> {
    let is_run = |path: &PathBuf| path.join(RUN).is_file();
    if path.is_file() || path.join(RUN).is_file() {
        return vec![path.to_owned()];
    }
    let inside = entries(path);
    let matrices = inside.iter().filter(|folder| folder.join(matrix::DOCUMENT).is_file());
    let deeper: Vec<PathBuf> = matrices.flat_map(|folder| entries(folder)).collect();
    inside.into_iter().chain(deeper).filter(is_run).collect()
}

/// What is in a folder, by name; nothing of one that cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut entries: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries
}

fn observation(path: &Path) -> Result<Observation, Error> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    if path.is_file() {
        return of_file(path, &name);
    }
    let reader = report::open(path)?;
    let summary = match sonagi_k6::summary::recorded(&reader) {
        Some(recorded) => recorded.record,
        None => folder::read(path, LANGUAGES.naming).map_err(|error| report::unread(path, &error))?,
    };
    Ok(Observation::of_run(&name, reader.header(), &summary))
}

/// A report of one run: of ours, or another tool's.
fn of_file(path: &Path, name: &str) -> Result<Observation, Error> {
    let text = std::fs::read(path).map_err(|error| Error::file("read", path, error))?;
    let document: Value = serde_json::from_slice(&text)
        .map_err(|error| Error::could_not(format_args!("{} is no report: {error}", path.display())))?;
    // Ours is one of Artillery's as well; it has no conditions, so that it is compared with its like alone.
    let (tool, figures) = match document.get("sonagi") {
        Some(_) => ("sonagi's report", Some(report::of_report(path)?.names())),
        None => match sonagi_k6::summary::exported(&document) {
            Some(figures) => ("k6", Some(figures)),
            None => ("artillery", sonagi_artillery::report::figures(&document)),
        },
    };
    let figures = figures.ok_or_else(|| {
        let what = format!(
            "{} is no report of Sonagi, k6 (--summary-export) or Artillery (--output)",
            path.display()
        );
        Error::could_not(what)
    })?;
    Ok(Observation::of_report(name, tool, figures))
}
