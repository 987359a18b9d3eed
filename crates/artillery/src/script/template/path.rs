//! The way into a variable's value, as lodash reads it.

use crate::plan::Expression;
use crate::plan::template::Key;

/// The first operator of an expression, outside quotes, parentheses and brackets.
pub(super) fn operator(text: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 17] =
        ["||", "??", "&&", "===", "!==", "==", "!=", "<=", ">=", "?", "<", ">", "+", "*", "|", "/", "%"];
    let mut quote = None;
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, _) if depth > 0 => {}
            (None, '-') if text[..at].ends_with(' ') => return Some("-"),
            (None, _) => {
                if let Some(found) = OPERATORS.iter().find(|operator| text[at..].starts_with(**operator)) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// `friends[0].user["first name"]` into its variable and keys. What stands in braces between brackets is a key that is
/// worked out: `nested` reads it.
pub(super) fn split_path<E>(
    text: &str,
    wrong: &dyn Fn(String) -> E,
    nested: &mut dyn FnMut(&str) -> Result<Expression, E>,
) -> Result<(String, Vec<Key>), E> {
    let plain = |c: char| {
        !c.is_whitespace() && !matches!(c, '.' | '[' | ']' | '(' | ')' | '{' | '}' | '"' | '\'' | ',' | ';')
    };
    let bad = || wrong(format!("`{text}` is not a valid variable name: a path looks like `friends[0].id`"));
    let end = text.find(|c| !plain(c)).unwrap_or(text.len());
    let (variable, mut rest) = text.split_at(end);
    if variable.is_empty() || variable.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(bad());
    }
    let mut keys = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(|c| !plain(c)).unwrap_or(after.len());
            if end == 0 {
                return Err(bad());
            }
            keys.push(key(&after[..end]));
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let close = bracket(after).ok_or_else(bad)?;
            let inside = after[..close].trim();
            let worked_out = inside.strip_prefix("{{").and_then(|inside| inside.strip_suffix("}}"));
            let quoted = ['"', '\''].iter().find_map(|q| inside.strip_prefix(*q)?.strip_suffix(*q));
            keys.push(match (worked_out, quoted) {
                (Some(inner), _) => Key::Of(Box::new(nested(inner)?)),
                (None, Some(name)) => Key::Name(name.to_owned()),
                (None, None) if !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit()) => key(inside),
                (None, None) => {
                    return Err(wrong(format!(
                        "`[{inside}]` in `{text}`: an index is a number, a name in quotes, or a variable in braces"
                    )));
                }
            });
            rest = &after[close + 1..];
        } else {
            return Err(bad());
        }
    }
    Ok((variable.to_owned(), keys))
}

/// Where the bracket closes that was open before.
fn bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn key(text: &str) -> Key {
    match text.parse::<usize>() {
        Ok(index) => Key::Index(index),
        Err(_) => Key::Name(text.to_owned()),
    }
}
