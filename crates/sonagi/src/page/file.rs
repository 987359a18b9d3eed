//! The page as a file.

use crate::destination::Destination;
use crate::error::Error;
use crate::languages::LANGUAGES;
use serde::Serialize;
use serde_json::{Value, json};
use sonagi_measure::folder::header;
use sonagi_report::html;
use sonagi_report::lines::{Line, without_secrets};
use sonagi_report::{Capacity, Matrix};
use sonagi_verdict::compare::Comparison;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Writes the page of the run in `folder` to a file, or into a folder; returns where it is. The page does not tell of a
/// folder that is temporary.
pub(crate) fn write(folder: &Path, named: &Path, is_temporary: bool) -> Result<PathBuf, Error> {
    let unread =
        |error| Error::could_not(format_args!("cannot read the run folder {}: {error}", folder.display()));
    let started = header(folder).map_err(unread)?.started;
    let mut lines = html::lines(folder, &id(folder), &LANGUAGES).map_err(unread)?;
    if is_temporary {
        lines.iter_mut().for_each(forget_folder);
    }
    let destination = Destination::of_page(named, &started)?;
    destination.fill(|file| html::write(&lines, BufWriter::new(file)))?;
    Ok(destination.path().to_owned())
}

/// Writes the page of several runs, made at that time.
pub(crate) fn write_several(boot: &Value, started: &str, named: &Path) -> Result<PathBuf, Error> {
    let destination = Destination::of_page(named, started)?;
    destination.write(&html::of(boot))?;
    Ok(destination.path().to_owned())
}

/// What the page of a matrix is told.
pub(crate) fn of_matrix(matrix: &Matrix, links: Option<&Links>) -> Value {
    several("matrix", matrix.page(), links)
}

/// What the page of a search for a capacity is told; without an end it `goes_on`, or was cut off.
pub(crate) fn of_capacity(capacity: &Capacity, goes_on: bool, links: Option<&Links>) -> Value {
    several("capacity", capacity.page(goes_on), links)
}

/// What the page of two sides of runs is told, compared at this time.
pub(crate) fn of_comparison(comparison: &Comparison, started: &str) -> Value {
    let mut boot = several("sides", sonagi_report::comparison::page(comparison), None);
    boot["started"] = json!(started);
    boot["sonagi"] = json!(env!("CARGO_PKG_VERSION"));
    boot
}

fn several(mode: &str, page: Value, links: Option<&Links>) -> Value {
    let mut boot = without_secrets(page);
    boot["mode"] = json!(mode);
    boot["links"] = json!(links);
    boot
}

/// Where the pages of the runs are: the name of a run's folder is put behind `within`, and both are escaped.
#[derive(Serialize)]
pub(crate) struct Links {
    before: &'static str,
    within: String,
    behind: String,
}

impl Links {
    /// To the pages that are served of the runs in this folder of the library.
    pub(super) fn served(name: &str) -> Links {
        Links { before: "/runs/", within: format!("{name}/"), behind: String::new() }
    }

    /// To the files beside the one that is named, or in the folder.
    pub(super) fn files(named: &Path) -> Result<Links, Error> {
        let (within, behind) = match is_folder(named)? {
            true => (String::new(), ".html".to_owned()),
            false => beside(named),
        };
        Ok(Links { before: "", within, behind })
    }
}

/// Takes out of a line where the run's folder is, for one that is gone when somebody looks for it.
pub(super) fn forget_folder(line: &mut Line) {
    if let Line::Summary(summary) = line {
        summary["run_folder"] = Value::Null;
    }
}

/// A run's name in pages: its folder's.
pub(crate) fn id(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The file for one run of a command: the one named, or, of several runs, one beside it with the run's name in its own.
/// In a folder (there, or named with a slash at its end) it is called as the run is.
pub(super) fn of_run(named: &Path, folder: &Path, is_only: bool) -> Result<PathBuf, Error> {
    if is_folder(named)? {
        return Ok(named.join(format!("{}.html", id(folder))));
    }
    if is_only {
        return Ok(named.to_owned());
    }
    let (before, behind) = beside(named);
    Ok(named.with_file_name(format!("{before}{}{behind}", id(folder))))
}

/// What stands before and behind a run's name in the name of its file beside the one that was named.
fn beside(named: &Path) -> (String, String) {
    let stem = named.file_stem().unwrap_or_default().to_string_lossy();
    let ending = named.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    (format!("{stem}-"), ending.unwrap_or_default())
}

/// Whether a folder is named, which is made if it is not there.
fn is_folder(named: &Path) -> Result<bool, Error> {
    let is_folder = named.is_dir() || named.to_string_lossy().ends_with('/');
    if is_folder {
        std::fs::create_dir_all(named).map_err(|error| Error::file("create", named, error))?;
    }
    Ok(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_get_a_file_each() {
        let of = |named: &str, is_only| {
            of_run(Path::new(named), Path::new("/runs/20261123-chat"), is_only).unwrap()
        };
        assert_eq!(of("a/report.html", true), Path::new("a/report.html"));
        assert_eq!(of("a/report.html", false), Path::new("a/report-20261123-chat.html"));
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new/");
        assert_eq!(of(&format!("{}/", new.display()), true), new.join("20261123-chat.html"));
        assert!(new.is_dir());
    }
}
