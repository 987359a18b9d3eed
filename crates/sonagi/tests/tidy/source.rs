//! Rust text with comments and literals blanked out: what is left are words and braces that mean themselves.

use std::ops::Range;

/// Replaces every character inside a comment, a string or a character literal by a space; line breaks stay.
pub(crate) fn blanked(source: &str) -> String {
    let text: Vec<char> = source.chars().collect();
    let mut kept = String::with_capacity(source.len());
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(&text, at);
        if end == at {
            kept.push(text[at]);
            at += 1;
        } else {
            kept.extend(text[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    kept
}

/// A string or character in Rust text.
pub(crate) struct Literal {
    /// Its characters, from the first of the text.
    pub(crate) at: Range<usize>,
    pub(crate) is_raw: bool,
}

/// The strings and characters of Rust text, in order.
pub(crate) fn literals(source: &str) -> Vec<Literal> {
    let text: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(&text, at);
        if end > at && text[at] != '/' {
            found.push(Literal { at: at..end, is_raw: text[at] == 'r' });
        }
        at = end.max(at + 1);
    }
    found
}

/// Where the comment or literal that begins at `at` ends; `at` itself when none begins there.
fn literal_end(text: &[char], at: usize) -> usize {
    let rest = &text[at..];
    match rest {
        ['/', '/', ..] => at + rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => at + block_comment(rest),
        ['"', ..] => at + quoted(rest),
        ['\'', ..] => at + character(rest),
        ['r', '"' | '#', ..] if !word_before(text, at) => at + raw_string(rest),
        _ => at,
    }
}

/// Whether the letter at `at` continues a word (`b` and `c` before `r` are prefixes of literals, not words).
fn word_before(text: &[char], at: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = |n: usize| at.checked_sub(n).map(|index| text[index]).filter(|&c| is_word(c));
    match before(1) {
        Some('b' | 'c') => before(2).is_some(),
        one => one.is_some(),
    }
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut index = 0;
    while index + 1 < rest.len() {
        match (rest[index], rest[index + 1]) {
            ('/', '*') => (depth, index) = (depth + 1, index + 2),
            ('*', '/') if depth == 1 => return index + 2,
            ('*', '/') => (depth, index) = (depth - 1, index + 2),
            _ => index += 1,
        }
    }
    rest.len()
}

fn quoted(rest: &[char]) -> usize {
    let mut index = 1;
    while index < rest.len() {
        match rest[index] {
            '\\' => index += 2,
            '"' => return index + 1,
            _ => index += 1,
        }
    }
    rest.len()
}

/// A character literal; a lifetime or a label is none and has no end of its own.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => {
            3 + tail.iter().position(|&c| c == '\'').map_or(tail.len(), |end| end + 1)
        }
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

/// A raw string; a raw identifier (`r#type`) is none.
fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let body = 2 + hashes;
    (body..rest.len())
        .find(|&i| {
            rest[i] == '"' && rest[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
        })
        .map_or(rest.len(), |quote| quote + 1 + hashes)
}

/// Whether the text has the word or path, not as a part of a longer one.
pub(crate) fn says(blanked: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    blanked.match_indices(word).any(|(at, _)| {
        let before = blanked[..at].chars().next_back();
        let after = blanked[at + word.len()..].chars().next();
        let continues = word.ends_with(is_word) && after.is_some_and(is_word);
        !continues && !before.is_some_and(is_word)
    })
}

#[test]
fn comments_and_literals_are_blanked_and_lifetimes_are_not() {
    let check = |source: &str, expected: &str| assert_eq!(blanked(source), expected, "{source}");
    check("a // b\nc", "a     \nc");
    check("a /* { /* } */ */ b", "a                 b");
    check(r#"f("}\"{", 1)"#, "f(      , 1)");
    check("r#\"}\"}\"# + r#type", "         + r#type");
    check(r##"br"}" var"##, "b     var");
    check("match c { '{' => '\\'', b'\\n' }", "match c {     =>     , b     }");
    check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
}

#[test]
fn a_word_inside_a_longer_one_is_not_said() {
    assert!(says("std::env::args()", "env::args"));
    assert!(says("print!(1)", "print!"));
    assert!(!says("eprint!(1)", "print!"));
    assert!(!says("env::args_os()", "env::args"));
}
