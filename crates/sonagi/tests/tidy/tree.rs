//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold what tools made: none of it is ours to hold to rules.
const MADE: &[&str] =
    &[".git", ".cache", "target", "runs", "node_modules", "__pycache__", "corpus", "artifacts"];

/// A text file of the repository.
pub(crate) struct File {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All text files, in the order of their paths.
pub(crate) fn files() -> Vec<File> {
    let root = root();
    let ignored = ignored(&root);
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_symlink() || MADE.contains(&name.as_str()) || ignored.contains(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(File { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 50, "the walk found {} files: it did not see the repository", found.len());
    found
}

/// The places that version control ignores, by their paths from the root.
fn ignored(root: &Path) -> Vec<PathBuf> {
    let rules = fs::read_to_string(root.join(".gitignore")).unwrap();
    rules.lines().filter_map(|rule| Some(root.join(rule.strip_prefix('/')?))).collect()
}

/// The files whose names end so.
pub(crate) fn files_ending(suffixes: &[&str]) -> Vec<File> {
    files().into_iter().filter(|file| suffixes.iter().any(|suffix| file.path.ends_with(suffix))).collect()
}

/// Fails with every broken rule at once.
pub(crate) fn none_of(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} broken:\n{}", problems.len(), problems.join("\n"));
}
