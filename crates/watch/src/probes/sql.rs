//! Statements as notes show them: what is asked, never the values it is asked with.

use sonagi_measure::secrets::masked;
use std::str::CharIndices;

/// Characters of a statement that a note shows.
const SHOWN: usize = 200;

/// A statement on one line without its literals and comments, cut.
pub(super) fn shown(statement: &str) -> String {
    let bare = masked(&without_literals(statement));
    let mut words = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = words.char_indices().nth(SHOWN) {
        words.truncate(at);
        words.push('…');
    }
    words
}

/// The statement with `?` for every literal. One that is cut off is none of the rest's business: all of it goes.
fn without_literals(statement: &str) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut chars = statement.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &statement[at..];
        match c {
            '\'' => {
                // E'…' knows escapes; the prefixes of other kinds (B, X, N, U&) change nothing.
                skip_quoted(&mut chars, '\'', ends_with_prefix(&out, ['e', 'E']));
                out.push('?');
            }
            '"' => {
                let end = chars.clone();
                skip_quoted(&mut chars, '"', false);
                let after = chars.offset();
                out.push('"');
                out.push_str(&statement[end.offset()..after]);
            }
            '-' if rest.starts_with("--") => _ = chars.find(|(_, c)| *c == '\n'),
            '/' if rest.starts_with("/*") => skip_comment(&mut chars),
            '$' => match dollar_tag(rest) {
                Some(tag) if !ends_with_word(&out) => {
                    let body = &rest[tag.len()..];
                    let end = body.find(tag).map_or(statement.len(), |end| at + 2 * tag.len() + end);
                    chars = skipped_to(statement, end);
                    out.push('?');
                }
                _ => out.push('$'),
            },
            c if c.is_ascii_digit() && !ends_with_word(&out) && !out.ends_with('$') => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                chars = skipped_to(statement, at + end);
                out.push('?');
            }
            c => out.push(c),
        }
    }
    out
}

/// The characters from a place on, counted from the statement's beginning.
fn skipped_to(statement: &str, at: usize) -> CharIndices<'_> {
    let mut chars = statement.char_indices();
    while chars.offset() < at && chars.next().is_some() {}
    chars
}

/// Goes behind the closing quote; one that is doubled closes nothing.
fn skip_quoted(chars: &mut CharIndices<'_>, quote: char, has_escapes: bool) {
    while let Some((_, c)) = chars.next() {
        if c == '\\' && has_escapes {
            chars.next();
        } else if c == quote {
            let mut next = chars.clone();
            match next.next() {
                Some((_, c)) if c == quote => *chars = next,
                _ => return,
            }
        }
    }
}

/// Goes behind the end of a comment, which may have comments in it.
fn skip_comment(chars: &mut CharIndices<'_>) {
    let (mut depth, mut before) = (1u32, ' ');
    chars.next();
    for (_, c) in chars {
        (depth, before) = match (before, c) {
            ('*', '/') => (depth - 1, ' '),
            ('/', '*') => (depth + 1, ' '),
            _ => (depth, c),
        };
        if depth == 0 {
            return;
        }
    }
}

/// `$$` or `$tag$` at the beginning of a text; `$1` is a parameter.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 1;
    let tag = &text[1..end];
    let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit())
        && tag.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_tag.then(|| &text[..=end])
}

fn ends_with_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a text ends with one of these letters, which is a word of its own.
fn ends_with_prefix(text: &str, letters: [char; 2]) -> bool {
    text.strip_suffix(letters).is_some_and(|before| !ends_with_word(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(statement: &str, expected: &str) {
        assert_eq!(shown(statement), expected);
    }

    #[test]
    fn a_statement_is_shown_without_its_values() {
        check("SELECT * FROM t1 WHERE id = 42 AND x>-1.5e3", "SELECT * FROM t1 WHERE id = ? AND x>-?");
        check("UPDATE t\n  SET a='it''s planted', b = $1", "UPDATE t SET a=?, b = $1");
        check(r"SELECT E'it\'s planted', e'a', 'C:\' , 'planted'", "SELECT E?, e?, ? , ?");
        check("SELECT $$planted$$, $t$ planted $$ $t$, a$b$c FROM x", "SELECT ?, ?, a$b$c FROM x");
        check(r#"SELECT "it's", 'planted' FROM "a""b""#, r#"SELECT "it's", ? FROM "a""b""#);
        check("SELECT 1 -- don't\n, 'planted' /* isn't /* it */ */ FROM t", "SELECT ? , ? FROM t");
        check("INSERT INTO t VALUES ('planted, and then it was cut of", "INSERT INTO t VALUES (?");
        check("COMMIT /*token='planted'*/", "COMMIT");
        check("ALTER ROLE a PASSWORD=planted", "ALTER ROLE a PASSWORD=***");
        check("SELECT 'é', 7, 'planted'", "SELECT ?, ?, ?");
        check("/*", "");
        check("'", "?");
        check(&"x".repeat(300), &format!("{}…", "x".repeat(200)));
    }
}
