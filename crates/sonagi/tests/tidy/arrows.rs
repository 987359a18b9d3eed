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
];

/// Words that a crate's source must not say, and why.
const NEVER_SAYS: &[(&str, &[&str], &str)] = &[
    ("crates/wire/src/", CLOCK_AND_NET, "codecs see no clock, no socket"),
    ("crates/measure/src/", CLOCK_AND_NET, "measurements are handed their instants"),
    ("crates/wire/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/measure/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/transport/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/engine/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/artillery/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/report/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/chat/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/k6/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/lab/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
    ("crates/transpile/src/", CLOCK_AND_NET, "a source becomes a module by itself"),
    ("crates/transpile/src/", PRINT_AND_EXIT, ONLY_THE_BINARY),
];
const CLOCK_AND_NET: &[&str] = &["Instant::now", "SystemTime::now", "std::net", "std::thread::sleep"];
const PRINT_AND_EXIT: &[&str] = &[
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "dbg!",
    "io::stdout",
    "io::stderr",
    "process::exit",
    "env::args",
    "env::args_os",
];
const ONLY_THE_BINARY: &str = "only the binary prints, exits and reads arguments";

/// A file that may say one of these words all the same: it writes nothing itself.
const MAY_SAY: &[(&str, &str)] = &[
    ("crates/artillery/src/processor/process.rs", "io::stderr"), // where the output of a child process goes
];

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
fn only_the_binary_prints_exits_and_reads_arguments() {
    let mut problems = Vec::new();
    for file in tree::files_ending(&[".rs"]) {
        let source = blanked(&file.text);
        for (folder, words, why) in NEVER_SAYS.iter().filter(|(folder, ..)| file.path.starts_with(folder)) {
            let may_say = |word: &str| MAY_SAY.contains(&(file.path.as_str(), word));
            for word in words.iter().filter(|word| says(&source, word) && !may_say(word)) {
                problems.push(format!("{}: says {word} in {folder}: {why}", file.path));
            }
        }
    }
    tree::none_of(problems);
}
