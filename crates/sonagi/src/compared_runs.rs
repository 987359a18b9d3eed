//! Runs as observations: run folders, folders of them, and reports of one run, also of other tools.

use crate::error::Error;
use crate::languages::LANGUAGES;
use crate::matrix_folder;
use crate::recorded;
use crate::warm_up::{self, WarmUpWish};
use serde_json::Value;
use sonagi_measure::folder::{self, RUN, RunState};
use sonagi_measure::totals::Header;
use sonagi_report::Matrix;
use sonagi_report::matrix::Run;
use sonagi_verdict::compare::Observation;
use std::path::{Path, PathBuf};

/// No more runs are read than these: each is read as a whole.
const RUNS_AT_MOST: usize = 1000;
/// Where runs are looked for instead of being named, no more are compared than these, the newest.
const RECENT_AT_MOST: usize = 100;
/// And no more folders are looked at, the newest by name.
const LOOKED_AT: usize = 5000;

/// The runs that these paths name, in their order, each once.
///
/// # Errors
/// A path that names none, or a folder that cannot be read.
pub(crate) fn all(paths: &[PathBuf], cut: WarmUpWish) -> Result<Vec<Observation>, Error> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !path.exists() {
            // Behind `--` everything is a run, by the conventions of POSIX, also what was meant as a flag.
            let is_flag = path.as_os_str().as_encoded_bytes().starts_with(b"--");
            let hint =
                if is_flag { "\nhint: flags stand before the `--` that divides the sides" } else { "" };
            return Err(Error::could_not(format_args!("there is no run {}{hint}", path.display())));
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
    found.iter().map(|run| observation(run, cut)).collect()
}

/// Runs that were looked for.
pub(crate) struct Recent {
    /// The newest of them, oldest first.
    pub(crate) runs: Vec<Observation>,
    /// How many others there are.
    pub(crate) older: usize,
}

/// The runs in a folder, and in its matrices, that are wanted by what they say of their begin. Only these are read as a
/// whole.
///
/// # Errors
/// One of them cannot be read.
pub(crate) fn recent(
    folder: &Path,
    is_wanted: &dyn Fn(&Header) -> bool,
    cut: WarmUpWish,
) -> Result<Recent, Error> {
    let mut folders = entries(folder);
    folders.reverse();
    let runs = |path: PathBuf| if is_run(&path) { vec![path] } else { runs_of_matrix(&path) };
    let begun = |path: PathBuf| Some((folder::header(&path).ok().filter(is_wanted)?.started, path));
    let mut found: Vec<(String, PathBuf)> =
        folders.into_iter().take(LOOKED_AT).flat_map(runs).take(LOOKED_AT).filter_map(begun).collect();
    found.sort();
    let older = found.len().saturating_sub(RECENT_AT_MOST);
    let runs = found[older..].iter().map(|(_, run)| observation(run, cut));
    Ok(Recent { runs: runs.collect::<Result<_, _>>()?, older })
}

/// The run folders of a path, oldest first: itself, or those in it, then those of the matrices in it.
fn below(path: &Path) -> Vec<PathBuf> {
    if path.is_file() || is_run(path) {
        return vec![path.to_owned()];
    }
    let own = runs_in(path);
    let deeper: Vec<PathBuf> = entries(path).iter().flat_map(|folder| runs_of_matrix(folder)).collect();
    own.into_iter().chain(deeper).collect()
}

fn is_run(path: &Path) -> bool {
    path.join(RUN).is_file()
}

fn runs_of_matrix(folder: &Path) -> Vec<PathBuf> {
    if folder.join(matrix_folder::DOCUMENT).is_file() { runs_in(folder) } else { Vec::new() }
}

/// The run folders in a folder; of a matrix without the one that shows drift.
fn runs_in(folder: &Path) -> Vec<PathBuf> {
    let matrix = matrix_folder::read(folder).and_then(Result::ok).unwrap_or_default();
    let anchors: Vec<PathBuf> = (matrix.runs.iter().filter(|run| run.is_anchor))
        .filter_map(|run| matrix_folder::folder_of(folder, run))
        .collect();
    entries(folder).into_iter().filter(|path| is_run(path) && !anchors.contains(path)).collect()
}

/// What is in a folder, by name; nothing of one that cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    let mut entries: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries
}

/// A run as one observation, without its warm-up.
pub(crate) fn observation(path: &Path, cut: WarmUpWish) -> Result<Observation, Error> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    if path.is_file() {
        return of_file(path, &name);
    }
    let reader = recorded::open(path)?;
    let summary = match sonagi_k6::summary::recorded(&reader, RunState::of(path)) {
        Some(recorded) => recorded.record,
        None => folder::read(path, LANGUAGES.naming).map_err(|error| recorded::unread(path, &error))?,
    };
    let (summary, found) = warm_up::behind(path, &reader, summary, cut)?;
    let observation = Observation::of_run(&name, reader.header(), &summary);
    Ok(match found {
        Some(found) => observation.warmed_up(&cut.name(), found),
        None => observation,
    })
}

/// A report of one run: of ours, or another tool's.
fn of_file(path: &Path, name: &str) -> Result<Observation, Error> {
    let text = std::fs::read(path).map_err(|error| Error::file("read", path, error))?;
    let document: Value = serde_json::from_slice(&text)
        .map_err(|error| Error::could_not(format_args!("{} is no report: {error}", path.display())))?;
    // Ours is one of Artillery's as well; it has no conditions, so that it is compared with its like alone.
    let (tool, figures) = match document.get("sonagi") {
        Some(_) => ("sonagi's report", Some(recorded::of_report(path)?.names())),
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

/// Whether anything is to be said of the runs together.
pub(crate) fn asks(matrix: &Matrix) -> bool {
    matrix.is_repeated() || matrix.compare.is_some()
}

/// A run as one observation, without its warm-up if its folder is there.
pub(crate) fn observed(run: &Run, folder: Option<&Path>) -> Option<Observation> {
    let summary = run.summary.as_ref()?;
    let read = folder.and_then(|folder| observation(folder, WarmUpWish::Auto).ok());
    Some(read.unwrap_or_else(|| Observation::of_summary(&run.label(), summary)))
}

/// Answers again what the script asked, from the folders of the matrix's runs.
pub(crate) fn judge(matrix: &mut Matrix, folder: &Path) {
    if asks(matrix) {
        let of = |run: &Run| observed(run, matrix_folder::folder_of(folder, run).as_deref());
        let observed: Vec<Option<Observation>> = matrix.runs.iter().map(of).collect();
        matrix.judge(&observed);
    }
}
