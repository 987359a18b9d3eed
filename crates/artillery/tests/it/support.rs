//! Loading scripts from text.

use sonagi_artillery::{Loaded, Overrides, Problems, load};
use std::path::{Path, PathBuf};

/// Loads a text as `s.yml` in a folder with a payload and a processor.
pub(crate) fn load_text(text: &str) -> Result<Loaded, Problems> {
    load_with(text, &Overrides::default())
}

pub(crate) fn load_with(text: &str, overrides: &Overrides) -> Result<Loaded, Problems> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("users.csv"), "email,password\na@example.test,secret\n").unwrap();
    std::fs::write(folder.path().join("people.js"), "exports.pickPerson = async () => {};\n").unwrap();
    load(&path, overrides)
}

/// The problems of a text as `check` has them, one per line, without the file's name: `2:3: what | hint`.
pub(crate) fn problems(text: &str) -> Vec<String> {
    told(load_with(text, &Overrides { strict: true, ..Overrides::default() }))
}

/// The problems that also stop a run that is not strict.
pub(crate) fn stopping(text: &str) -> Vec<String> {
    told(load_text(text))
}

fn told(loaded: Result<Loaded, Problems>) -> Vec<String> {
    match loaded {
        Ok(_) => Vec::new(),
        Err(Problems(all)) => all
            .into_iter()
            .map(|problem| {
                let hint = problem.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
                format!("{}:{}: {}{hint}", problem.line, problem.column, problem.what)
            })
            .collect(),
    }
}

/// The problems of all runs of a matrix: `2:3: what`.
pub(crate) fn every_problem(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, text).unwrap();
    match sonagi_artillery::load_each(&path, &Overrides { strict: true, ..Overrides::default() }) {
        Ok(_) => Vec::new(),
        Err(Problems(all)) => all
            .into_iter()
            .map(|problem| format!("{}:{}: {}", problem.line, problem.column, problem.what))
            .collect(),
    }
}

pub(crate) fn notices(loaded: &Loaded) -> Vec<String> {
    loaded
        .notices
        .iter()
        .map(|notice| format!("{}:{}: {}", notice.line, notice.column, notice.text))
        .collect()
}

/// A script of this folder.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scripts").join(name)
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

pub(crate) fn loaded(path: &Path, overrides: &Overrides) -> Loaded {
    load(path, overrides).unwrap_or_else(|problems| panic!("{problems}"))
}
