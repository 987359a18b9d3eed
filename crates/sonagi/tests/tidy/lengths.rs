//! Files and functions stay short enough to be read at once.

use crate::source::blanked;
use crate::tree::{self, File};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;

/// What is too long today: a ratchet. A row may shrink and go, never grow; a new row needs a reviewer's yes.
/// Path or `path::function`, its most lines, and the split that is wanted.
const EXCEPTIONS: &[(&str, usize, &str)] = &[];

/// A file or function and how long it is.
struct Measured {
    name: String,
    lines: usize,
    limit: usize,
}

#[test]
fn files_and_functions_are_short() {
    let measured = measure();
    let exception = |name: &str| EXCEPTIONS.iter().find(|(excepted, ..)| *excepted == name);
    let mut problems = Vec::new();
    for Measured { name, lines, limit } in &measured {
        match exception(name) {
            None if lines > limit => problems.push(format!("{name}: {lines} lines, at most {limit}")),
            Some((_, most, split)) if lines > most => {
                problems.push(format!("{name}: grew to {lines} lines, was {most}; wanted: {split}"));
            }
            Some(_) if lines <= limit => {
                problems
                    .push(format!("{name}: {lines} lines are short enough; remove its row from EXCEPTIONS"));
            }
            _ => {}
        }
    }
    for (name, ..) in EXCEPTIONS {
        if !measured.iter().any(|one| one.name == *name) {
            problems.push(format!("{name}: is gone; remove its row from EXCEPTIONS"));
        }
    }
    tree::none_of(problems);
}

fn measure() -> Vec<Measured> {
    let mut measured = Vec::new();
    for file in tree::files_ending(&[".rs", ".mjs", ".py", ".sh"]) {
        measured.push(Measured {
            name: file.path.clone(),
            lines: file.text.lines().count(),
            limit: FILE_LINES,
        });
        if file.path.ends_with(".rs") {
            measured.extend(functions(&file));
        }
    }
    measured
}

fn functions(file: &File) -> Vec<Measured> {
    let source = blanked(&file.text);
    let mut found = Vec::new();
    for (at, _) in source.match_indices("fn ") {
        let begins_a_word = !source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String =
            source[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !begins_a_word || name.is_empty() {
            continue;
        }
        if let Some(body) = body(&source[at..]) {
            let name = format!("{}::{name}", file.path);
            found.push(Measured { name, lines: body.lines().count(), limit: FUNCTION_LINES });
        }
    }
    found
}

/// The function that begins here, to its closing brace; None when it has no body.
fn body(source: &str) -> Option<&str> {
    let mut nesting = 0_i32;
    let mut braces = 0_i32;
    for (at, c) in source.char_indices() {
        match c {
            '(' | '[' => nesting += 1,
            ')' | ']' => nesting -= 1,
            ';' if nesting == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                // A brace inside the brackets of a signature (`[u8; { N }]`) does not end the function.
                if braces == 0 && nesting == 0 {
                    return Some(&source[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn a_function_is_as_long_as_from_its_name_to_its_brace() {
    let check = |text: &str, expected: &[(&str, usize)]| {
        let file = File { path: "f.rs".to_owned(), text: text.to_owned() };
        let found = functions(&file);
        let found: Vec<(&str, usize)> = found.iter().map(|one| (one.name.as_str(), one.lines)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("pub fn a() {\n    b(\"}\");\n}\nfn c() {}", &[("f.rs::a", 3), ("f.rs::c", 1)]);
    check("trait T { fn d(&self) -> [u8; 2]; fn e(\n) { 1 } }", &[("f.rs::e", 2)]);
    check("type F = fn (u8); // fn g() {}", &[]);
}
