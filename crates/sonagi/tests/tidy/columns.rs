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

/// The numbers of lines that are too long. A line of code may be if a text in it cannot be broken, because it is a raw
/// string or has no blank to break at; and in tests, where texts are written as they are expected.
fn beyond(text: &str, is_test: bool) -> Vec<usize> {
    let long = |line: &str| line.chars().count() > COLUMNS;
    if !text.lines().any(long) {
        return Vec::new();
    }
    let literals = literals(text);
    let mut begin = 0;
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let end = begin + line.chars().count();
        let edge = begin + COLUMNS;
        let stays = |literal: &Literal| {
            let from = literal.at.start.max(begin) - begin;
            let is_whole = literal.is_raw || !line.chars().skip(from + 1).any(|c| c == ' ');
            is_whole && literal.at.start < edge && edge <= literal.at.end
        };
        let is_text = |literal: &Literal| literal.at.start < end && begin < literal.at.end;
        let is_code = !line.trim_start().starts_with("//");
        let allowed = |literal: &Literal| if is_test { is_code && is_text(literal) } else { stays(literal) };
        if end > edge && !literals.iter().any(allowed) {
            found.push(index + 1);
        }
        begin = end + 1;
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
    check(&format!("f(\"x\"); // {words}"), false, &[1]);
    check(&format!("f(\"x\", {a});"), true, &[]);
}
