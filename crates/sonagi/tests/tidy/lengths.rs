//! Files stay short enough to be read at once; clippy says so of functions (`clippy.toml`).

use crate::tree;

const FILE_LINES: usize = 500;

/// Files that are too long today: a ratchet. A row may shrink and go, never grow; a new row needs a reviewer's yes.
/// Path, its most lines, and the split that is wanted.
const EXCEPTIONS: &[(&str, usize, &str)] = &[];

#[test]
fn files_are_short() {
    let exception = |path: &str| EXCEPTIONS.iter().find(|(excepted, ..)| *excepted == path);
    let mut problems = Vec::new();
    let files = tree::files_ending(&[".rs", ".mjs", ".py", ".sh"]);
    for file in &files {
        let (path, lines) = (&file.path, file.text.lines().count());
        match exception(path) {
            None if lines > FILE_LINES => {
                problems.push(format!("{path}: {lines} lines, at most {FILE_LINES}"));
            }
            Some((_, most, split)) if lines > *most => {
                problems.push(format!("{path}: grew to {lines} lines, was {most}; wanted: {split}"));
            }
            Some(_) if lines <= FILE_LINES => {
                problems
                    .push(format!("{path}: {lines} lines are short enough; remove its row from EXCEPTIONS"));
            }
            _ => {}
        }
    }
    for (path, ..) in EXCEPTIONS {
        if !files.iter().any(|file| file.path == *path) {
            problems.push(format!("{path}: is gone; remove its row from EXCEPTIONS"));
        }
    }
    tree::none_of(problems);
}
