//! Arrows between crates: the invariants of absence.
//!
//! Direct dependencies between our crates are an allow list; what must not be anywhere below a crate is a deny
//! list over its whole tree of normal dependencies, as cargo resolves it for this platform.

use crate::source::{blanked, says};
use crate::tree;
use std::process::Command;

/// A crate, and those of ours that it may depend on.
const MAY_USE: &[(&str, &[&str])] = &[
    ("sonagi-wire", &[]),
    ("sonagi-measure", &[]),
    ("sonagi-transport", &["sonagi-wire", "sonagi-measure"]),
    ("sonagi-engine", &["sonagi-measure", "sonagi-transport"]),
    (
        "sonagi-artillery",
        &["sonagi-engine", "sonagi-measure", "sonagi-transport", "sonagi-transpile", "sonagi-wire"],
    ),
    ("sonagi-watch", &["sonagi-measure", "sonagi-wire"]),
    ("sonagi-verdict", &["sonagi-measure"]),
    ("sonagi-report", &["sonagi-measure", "sonagi-verdict"]),
    ("sonagi-chat", &["sonagi-wire"]),
    ("sonagi-lab", &["sonagi-measure", "sonagi-transport"]),
    ("sonagi-transpile", &[]),
    (
        "sonagi-k6",
        &["sonagi-engine", "sonagi-measure", "sonagi-transport", "sonagi-transpile", "sonagi-wire"],
    ),
    ("sonagi-bare", &[]), // the floor shares no code with what is measured against it
    (
        "sonagi",
        &[
            "sonagi-measure",
            "sonagi-engine",
            "sonagi-artillery",
            "sonagi-k6",
            "sonagi-lab",
            "sonagi-report",
            "sonagi-verdict",
            "sonagi-watch",
            "sonagi-chat",
            "sonagi-wire",
        ],
    ),
];

/// A crate, and what must not be anywhere in its tree.
const NEVER_SEES: &[(&str, &[&str])] = &[
    ("sonagi-wire", &["tokio", "hyper", "rustls", "socket2", "mio", "jiff"]),
    ("sonagi-measure", &["tokio", "hyper", "rustls", "socket2", "mio", "jiff"]),
    (
        "sonagi-transport",
        &[
            "saphyr-parser",
            "clap",
            "sonagi-engine",
            "sonagi-artillery",
            "sonagi-k6",
            "sonagi-report",
            "sonagi-chat",
        ],
    ),
    (
        "sonagi-engine",
        &[
            "saphyr-parser",
            "rquickjs",
            "clap",
            "sonagi-transpile",
            "sonagi-artillery",
            "sonagi-k6",
            "sonagi-report",
            "sonagi-chat",
        ],
    ),
    ("sonagi-artillery", &["clap", "rquickjs", "sonagi-k6", "sonagi-report", "sonagi-chat"]),
    ("sonagi-k6", &["saphyr-parser", "clap", "sonagi-artillery", "sonagi-report", "sonagi-chat"]),
    ("sonagi-report", &["tokio", "hyper", "socket2", "sonagi-engine", "sonagi-artillery", "sonagi-chat"]),
    ("sonagi-chat", &["sonagi-engine", "sonagi-measure", "saphyr-parser", "clap"]),
    (
        "sonagi-lab",
        &["clap", "sonagi-engine", "sonagi-artillery", "sonagi-k6", "sonagi-report", "sonagi-chat"],
    ),
    ("sonagi-transpile", &["tokio", "hyper", "rustls", "socket2", "mio", "clap"]),
    (
        "sonagi-watch",
        &["clap", "sonagi-engine", "sonagi-verdict", "sonagi-artillery", "sonagi-k6", "sonagi-report"],
    ),
    ("sonagi-verdict", &["tokio", "hyper", "rustls", "socket2", "mio", "jiff", "sonagi-engine"]),
];

/// Crates whose source names neither a clock nor a socket, and why. That only the binary prints, exits and reads
/// arguments is clippy's to say (`clippy.toml`).
const NO_CLOCK_AND_NO_NET: &[(&str, &str)] = &[
    ("crates/wire/src/", "codecs see no clock, no socket"),
    ("crates/measure/src/", "measurements are handed their instants"),
    ("crates/transpile/src/", "a source becomes a module by itself"),
    ("crates/verdict/src/", "runs are judged by what was written down of them"),
];
const CLOCK_AND_NET: &[&str] = &["Instant::now", "SystemTime::now", "std::net", "std::thread::sleep"];

/// A crate's normal dependencies on this platform, each with its depth: 1 is direct.
fn tree_of(package: &str) -> Vec<(usize, String)> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "depth", "--format", " {p}"])
        .args(["--package", package])
        .current_dir(tree::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    lines.map(|(depth, rest)| (depth.parse().unwrap(), rest.split(' ').next().unwrap().to_owned())).collect()
}

#[test]
fn crates_depend_on_those_they_may_and_on_no_others() {
    let mut problems = Vec::new();
    for (package, allowed) in MAY_USE {
        for (_, used) in
            tree_of(package).iter().filter(|(depth, used)| *depth == 1 && used.starts_with("sonagi"))
        {
            if !allowed.contains(&used.as_str()) {
                problems.push(format!("{package} → {used}: not among what it may use"));
            }
        }
    }
    tree::none_of(problems);
}

#[test]
fn a_new_crate_says_what_it_may_use() {
    let known: Vec<&str> = MAY_USE.iter().map(|(package, _)| package.trim_start_matches("sonagi-")).collect();
    let crates = std::fs::read_dir(tree::root().join("crates")).unwrap();
    let names = crates.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    tree::none_of(names.filter(|name| !known.contains(&name.as_str())).collect());
}

#[test]
fn what_a_crate_must_never_see_is_nowhere_below_it() {
    let mut problems = Vec::new();
    for (package, unseen) in NEVER_SEES {
        let below = tree_of(package);
        assert!(!below.is_empty(), "cargo tree names no dependency of {package}");
        for name in unseen.iter().filter(|name| below.iter().any(|(_, used)| used == *name)) {
            problems
                .push(format!("{package} sees {name}; hint: cargo tree -e normal -p {package} -i {name}"));
        }
    }
    tree::none_of(problems);
}

#[test]
fn pure_crates_see_no_clock_and_no_socket() {
    let mut problems = Vec::new();
    for file in tree::files_ending(&[".rs"]) {
        let source = blanked(&file.text);
        for (folder, why) in NO_CLOCK_AND_NO_NET.iter().filter(|(folder, _)| file.path.starts_with(folder)) {
            for word in CLOCK_AND_NET.iter().filter(|word| says(&source, word)) {
                problems.push(format!("{}: says {word} in {folder}: {why}", file.path));
            }
        }
    }
    tree::none_of(problems);
}
