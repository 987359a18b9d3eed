//! The libraries of the workspace, as cargo resolves them for this platform: their licences, and that each is there in
//! one version.

use crate::tree;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that a library may have, or offer as one of several.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
];

/// Libraries that are there in several versions, and how many. The list only shrinks: each was looked into, and its
/// users agree on no version yet.
const SEVERAL: &[(&str, usize)] = &[
    ("base64", 2),            // hdrhistogram
    ("bit-set", 2),           // fancy-regex, dom_query
    ("bit-vec", 2),           // through bit-set
    ("fallible-iterator", 2), // tokio-postgres, rusqlite
    ("getrandom", 3),         // ring; ahash of jsonschema, in tests
    ("hashbrown", 2),         // rquickjs
    ("nom", 2),               // serde_json_path, hdrhistogram
    ("num-bigint", 2),        // oxc; fraction of jsonschema, in tests
    ("phf", 2),               // tokio-postgres, dom_query
    ("phf_shared", 2),        // through phf
    ("syn", 2),               // procedural macros, while they are built
];

/// Every library with its version and its licences.
fn libraries() -> BTreeSet<(String, String, String)> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--workspace", "--edges", "normal,build,dev"])
        .args(["--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(tree::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let library = |line: &str| {
        let (package, licences) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        Some((words.next()?.to_owned(), words.next()?.to_owned(), licences.to_owned()))
    };
    let all: BTreeSet<_> = text.lines().filter_map(library).collect();
    assert!(all.len() > 100, "cargo tree names {} libraries", all.len());
    all
}

/// Whether a library may be used under these licences (SPDX; a slash is an older `OR`). What stands beside an `AND` is
/// asked of each side, whatever the precedence: that refuses too much rather than too little.
fn may_be_used(licences: &str) -> bool {
    let licences = licences.replace(['(', ')'], "").replace('/', " OR ");
    licences.split(" AND ").all(|either| either.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[test]
fn licences_are_among_those_that_may_be_used() {
    assert!(may_be_used("(MIT OR GPL-2.0-only) AND Unicode-3.0") && may_be_used("Unlicense/MIT"));
    assert!(!may_be_used("MIT AND GPL-2.0-only") && !may_be_used("GPL-3.0-or-later") && !may_be_used(""));
    let refused = libraries().into_iter().filter(|(.., licences)| !may_be_used(licences));
    let named = refused.map(|(name, version, licences)| format!("{name} {version}: {licences:?}"));
    tree::none_of(named.collect());
}

#[test]
fn a_library_is_there_in_one_version() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version, _) in libraries() {
        versions.entry(name).or_default().insert(version);
    }
    let known: BTreeMap<&str, usize> = SEVERAL.iter().copied().collect();
    let mut problems = Vec::new();
    for (name, versions) in &versions {
        let expected = known.get(name.as_str()).copied().unwrap_or(1);
        if versions.len() != expected {
            let list: Vec<&str> = versions.iter().map(String::as_str).collect();
            let hint = format!("cargo tree --workspace -i {name}@{}", list[0].trim_start_matches('v'));
            problems.push(format!("{name}: {}, known: {expected}; hint: {hint}", list.join(", ")));
        }
    }
    let gone = SEVERAL.iter().filter(|(name, _)| !versions.contains_key(*name));
    problems.extend(gone.map(|(name, _)| format!("{name}: no library; hint: take it out of the list")));
    tree::none_of(problems);
}
