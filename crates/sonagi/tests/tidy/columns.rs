//! Lines end by column 120: comments, which nothing else breaks, and the code that rustfmt gives up on.

use crate::source::{Literal, literals};
use crate::tree;

const COLUMNS: usize = 120;

#[test]
fn lines_of_rust_end_by_column_120() {
    let mut problems = Vec::new();
    for file in tree::files_ending(&[".rs"]).iter().filter(|file| file.path.starts_with("crates/")) {
        for line in beyond(&file.text, is_test(&file.path)) {
            problems.push(format!("{}:{line}: longer than {COLUMNS} columns", file.path));
        }
    }
    tree::none_of(problems);
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// The numbers of lines that are too long. A text over the edge may stay where it cannot be broken: in a raw string, or
/// without a blank to break at; and in tests, where it stands as it is expected.
fn beyond(text: &str, is_test: bool) -> Vec<usize> {
    let long = |line: &str| line.chars().count() > COLUMNS;
    if !text.lines().any(long) {
        return Vec::new();
    }
    let literals = literals(text);
    let mut begin = 0;
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let length = line.chars().count();
        let edge = begin + COLUMNS;
        let over = literals.iter().find(|literal| literal.at.start < edge && edge <= literal.at.end);
        let stays = |literal: &Literal| {
            let from = literal.at.start.max(begin) - begin;
            is_test || literal.is_raw || !line.chars().skip(from + 1).any(|c| c == ' ')
        };
        if length > COLUMNS && !over.is_some_and(stays) {
            found.push(index + 1);
        }
        begin += length + 1;
    }
    found
}

#[test]
fn only_texts_that_cannot_be_broken_may_be_longer() {
    let (a, words) = ("a".repeat(130), "a b ".repeat(40));
    let check = |text: &str, is_test, expected: &[usize]| {
        assert_eq!(beyond(text, is_test), expected, "{text}");
    };
    check(&format!("/// {a}\n"), true, &[1]);
    check(&format!("f();\n    f({a});"), true, &[2]);
    check(&format!("f(\"{a}\");"), false, &[]);
    check(&format!("f(\"{words}\");"), false, &[1]);
    check(&format!("f(\"{words}\");"), true, &[]);
    check(&format!("f(r#\"{words}\"#);\n// {words}"), false, &[2]);
    check(&format!("f(\"x\n{words}\n\");"), true, &[]);
    check(&format!("f(\"x\"); // {words}"), true, &[1]);
}
