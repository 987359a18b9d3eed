//! Words and references that the repository's text must and must not have.

use crate::source::blanked;
use crate::tree;
use std::collections::BTreeSet;
use std::fs;

/// Places of one machine and hosts of registries: the default configuration of each tool knows where to go.
const ELSEWHERE: &[&str] = &[
    "/work/",
    "/root/",
    "/home/",
    "/opt/wheels",
    "registry.npmjs",
    "npmjs.org",
    "pypi.org",
    "pythonhosted",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "deb.debian.org",
];

/// This file names what others must not.
const THIS: &str = "crates/sonagi/tests/tidy/text.rs";

#[test]
fn no_file_names_a_place_of_one_machine_or_a_registrys_host() {
    let mut problems = Vec::new();
    for file in tree::files().iter().filter(|file| file.path != THIS) {
        for (number, line) in file.text.lines().enumerate() {
            for place in ELSEWHERE.iter().filter(|place| line.contains(**place)) {
                problems.push(format!("{}:{}: names {place}", file.path, number + 1));
            }
        }
    }
    tree::none_of(problems);
}

/// Folders that know no script language, and their names; links may have them.
const NEUTRAL: (&[&str], &[&str]) =
    (&["crates/engine/", "crates/measure/", "crates/report/", "crates/transport/"], &["artillery", "k6"]);

#[test]
fn what_all_script_languages_use_names_none_of_them() {
    let mut problems = Vec::new();
    let (folders, names) = NEUTRAL;
    let is_neutral = |file: &&tree::File| folders.iter().any(|folder| file.path.starts_with(folder));
    for file in tree::files_ending(&[".rs", ".toml"]).iter().filter(is_neutral) {
        for (number, line) in file.text.lines().enumerate() {
            let words = line.split_whitespace().filter(|word| !word.contains("https://"));
            let words: Vec<String> = words
                .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
                .map(str::to_lowercase)
                .collect();
            for name in names.iter().filter(|name| words.iter().any(|word| word == *name)) {
                problems.push(format!(
                    "{}:{}: says {name}; hint: its names are tables of its own crate",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    tree::none_of(problems);
}

/// Folders that know none of a language's names for figures, nor of its settings, and beginnings of such names.
const UNNAMED: (&[&str], &[&str]) = (
    &["crates/engine/src/", "crates/measure/src/", "crates/transport/src/"],
    &[
        "vusers",
        "maxVusers",
        "ifTrue",
        "whileTrue",
        "`ensure",
        "statusCode",
        "http.response_time",
        "http.request_rate",
        "socketio.response_time",
        "`before`",
        "`think`",
        "`pace`",
        "http_req",
        "ws_msgs",
        "iteration_duration",
        "sonagi_delivery",
        "sonagi_e2e",
        "sonagi_lost",
    ],
);

#[test]
fn names_and_settings_of_a_script_language_stand_in_its_own_crate() {
    let mut problems = Vec::new();
    let (folders, words) = UNNAMED;
    let is_unnamed = |file: &&tree::File| folders.iter().any(|folder| file.path.starts_with(folder));
    for file in tree::files_ending(&[".rs"]).iter().filter(is_unnamed) {
        for (number, line) in file.text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                problems.push(format!(
                    "{}:{}: says {word}; hint: `Naming` has it from the language's crate",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    tree::none_of(problems);
}

#[test]
fn what_is_left_to_do_names_its_issue() {
    let mut problems = Vec::new();
    for file in tree::files().iter().filter(|file| !file.path.starts_with("LICENSE") && file.path != THIS) {
        for (number, line) in file.text.lines().enumerate() {
            for marker in ["TODO", "FIXME", "XXX"] {
                let rest = line.split_once(marker).map(|(_, rest)| rest);
                // `TODO` in prose ("A TODO names its issue") is followed by a word; a marker by `:` or `(`.
                if rest.is_some_and(|rest| {
                    rest.starts_with(':') || rest.starts_with('(') && !rest.starts_with("(#")
                }) {
                    problems.push(format!(
                        "{}:{}: a {marker} without its issue, as in {marker}(#12)",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    tree::none_of(problems);
}

#[test]
fn no_test_is_ignored() {
    let ignored = |file: &tree::File| blanked(&file.text).contains("#[ignore");
    let rust = tree::files_ending(&[".rs"]);
    tree::none_of(rust.iter().filter(|file| ignored(file)).map(|file| file.path.clone()).collect());
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let manifest = fs::read_to_string(tree::root().join("Cargo.toml")).unwrap();
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let foreign = |line: &&str| line.contains('=') && !line.starts_with("sonagi-") && !line.starts_with('#');
    let without: Vec<String> =
        table.lines().filter(foreign).filter(|line| !line.contains(" # ")).map(str::to_owned).collect();
    tree::none_of(without);
}

/// The lines of a table of a manifest, without comments; None: it has no such table.
fn table(manifest: &str, title: &str) -> Option<Vec<String>> {
    let (_, rest) = manifest.split_once(&format!("\n{title}\n"))?;
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let lines = lines.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
    Some(lines.filter(|line| !line.is_empty()).collect())
}

#[test]
fn every_crate_has_the_workspaces_lints_of_clippy() {
    let ours = |file: &&tree::File| {
        ["crates/", "bench/bare/", "bench/counts/"].iter().any(|folder| file.path.starts_with(folder))
    };
    let whole = fs::read_to_string(tree::root().join("Cargo.toml")).unwrap();
    let wanted = table(&whole, "[workspace.lints.clippy]").unwrap();
    let manifests = tree::files_ending(&["Cargo.toml"]);
    let lacking = manifests.iter().filter(ours).filter(|file| {
        let inherits = table(&file.text, "[lints]").is_some_and(|lines| lines == ["workspace = true"]);
        !inherits && table(&file.text, "[lints.clippy]").as_ref() != Some(&wanted)
    });
    tree::none_of(lacking.map(|file| format!("{}: lacks lints of the workspace", file.path)).collect());
}

#[test]
fn every_make_target_a_document_names_exists() {
    let makefile = fs::read_to_string(tree::root().join("Makefile")).unwrap();
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter_map(|line| line.split_once(": ").or(line.split_once(":\t")))
        .map(|(name, _)| name)
        .collect();
    let mut problems = Vec::new();
    for file in tree::files_ending(&[".md"]) {
        for named in commands(&file.text, "make ") {
            if !targets.contains(named.as_str()) {
                problems
                    .push(format!("{}: names `make {named}`, which the Makefile does not have", file.path));
            }
        }
    }
    tree::none_of(problems);
}

/// The words after `program` in code spans and at the beginnings of code lines.
fn commands(text: &str, program: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let spans = line.split('`').skip(1).step_by(2).chain([line]);
        for rest in spans.filter_map(|span| span.strip_prefix(program)) {
            let word: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
                .collect();
            found.insert(word);
        }
    }
    found.remove("");
    found
}

#[test]
fn commands_are_read_from_code_spans_and_code_lines_not_from_prose() {
    let text = "To make sure, `make test` is run; see `x` and `make demo`.\nmake twice-2 # lists";
    assert_eq!(commands(text, "make ").into_iter().collect::<Vec<_>>(), ["demo", "test", "twice-2"]);
}

#[test]
fn every_path_a_document_names_exists() {
    let root = tree::root();
    let folders =
        ["crates/", "docs/", "examples/", "experiments/", "interop/", "conformance/", "scripts/", "fuzz/"];
    let mut problems = Vec::new();
    for file in tree::files_ending(&[".md"]).iter().filter(|file| file.path != "CHANGELOG.md") {
        for span in
            file.text.split('`').skip(1).step_by(2).filter(|span| folders.iter().any(|f| span.starts_with(f)))
        {
            // A span may go on after the path: `conformance/autobahn.sh server`; one with a placeholder names no file.
            let path = span.split(|c: char| c.is_whitespace() || c == ':').next().unwrap_or(span);
            if !path.contains(['<', '*', '{', '…']) && !root.join(path).exists() {
                problems.push(format!("{}: names `{path}`, which is not there", file.path));
            }
        }
    }
    tree::none_of(problems);
}
