//! Whatever the bytes, loading ends with a plan or with problems that have a place.

use crate::support::{repository, script};
use proptest::prelude::*;
use sonagi_artillery::{Overrides, load};
use std::path::PathBuf;

fn sources() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [script("").join(""), repository("examples")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yml"))
        .collect();
    all.sort();
    all
}

/// Loads bytes as a script and holds what every answer must fulfil.
fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, bytes).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').count();
    match load(&path, &Overrides::default()) {
        Ok(loaded) => assert!(!loaded.plan.scenarios.is_empty()),
        Err(problems) => {
            assert!(!problems.0.is_empty());
            for problem in problems.0 {
                assert!((1..=lines + 1).contains(&problem.line), "{problem}");
                assert!(problem.column >= 1, "{problem}");
                assert!(!problem.what.is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_script_with_changed_bytes_never_panics(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..6),
    ) {
        let sources = sources();
        let mut bytes = std::fs::read(&sources[which.index(sources.len())]).unwrap();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        check(&bytes);
    }

    #[test]
    fn a_script_of_shuffled_lines_never_panics(
        which in any::<prop::sample::Index>(),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let sources = sources();
        let text = std::fs::read_to_string(&sources[which.index(sources.len())]).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        for (a, b) in swaps {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        check(lines.join("\n").as_bytes());
    }
}

#[test]
fn a_billion_laughs_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = level - 1;
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{previous}"); 10].join(", ")));
    }
    let problems = crate::support::problems(&text);
    assert_eq!(problems, ["6:10: more than 200000 values, aliases expanded"]);
}

#[test]
fn nesting_without_end_is_refused() {
    let problems = crate::support::problems(&"[".repeat(150));
    assert_eq!(problems, ["1:102: nested deeper than 100 levels"]);
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, b"config:\n  target: \xff\n").unwrap();
    let problems = load(&path, &Overrides::default()).unwrap_err();
    assert_eq!(
        (problems.0[0].line, problems.0[0].what.as_str()),
        (2, "a script is UTF-8 text; this line holds other bytes")
    );
}

#[test]
fn a_missing_script_is_a_problem_without_a_line() {
    let problems = load(&PathBuf::from("/nowhere/s.yml"), &Overrides::default()).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "/nowhere/s.yml: cannot read the script: No such file or directory (os error 2)"
    );
}
