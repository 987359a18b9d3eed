//! The words of an expression.

use std::fmt;

use super::SyntaxError;

/// A word and where it begins, in characters.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) offset: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Word {
    Number(f64),
    Text(String),
    /// A value's name, or a function's; in single quotes it may hold any sign.
    Name {
        text: String,
        is_quoted: bool,
    },
    /// An operator or bracket; some are words.
    Sign(&'static str),
    End,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Number(number) => write!(f, "the number {number}"),
            Word::Text(text) => write!(f, "the text {text:?}"),
            Word::Name { text, .. } => write!(f, "the name `{text}`"),
            Word::Sign(sign) => write!(f, "`{sign}`"),
            Word::End => f.write_str("its end"),
        }
    }
}

impl Word {
    /// Whether a value ends here: an operator comes next, not a name.
    fn ends_value(&self) -> bool {
        matches!(self, Word::Number(_) | Word::Text(_) | Word::Name { .. } | Word::Sign(")"))
    }
}

/// The longer ones first.
const SIGNS: [&str; 18] =
    ["==", "!=", "~=", ">=", "<=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ",", "?", ":"];
const WORDS: [&str; 5] = ["and", "or", "not", "in", "of"];

/// JavaScript's signs and what they mean here; the longer ones first.
const JAVASCRIPT: [(&str, &str); 5] =
    [("===", "=="), ("!==", "!="), ("&&", "and"), ("||", "or"), ("!", "not")];

/// Signs that authors know from elsewhere, and what to write instead.
const UNKNOWN: [(&str, &str); 3] =
    [("=", "equality is written `==`"), ("&", "write `and`"), ("|", "write `or`")];

/// A sign of JavaScript's in an expression: filtrex does not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Where, in characters from the start of the expression.
    pub offset: usize,
    /// The operator as written: `&&`.
    pub written: &'static str,
    /// The operator's meaning: `and`.
    pub means: &'static str,
}

/// The words of a text, and its first sign of JavaScript's. `known` is asked, where a value may begin, for the length
/// of a name that counts as one word whatever it holds.
pub(super) fn split(
    text: &str,
    known: impl Fn(&[char]) -> Option<usize>,
) -> Result<(Vec<Token>, Option<Foreign>), SyntaxError> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut foreign) = (Vec::<Token>::new(), None);
    let mut at = 0;
    while at < chars.len() {
        if chars[at].is_whitespace() {
            at += 1;
            continue;
        }
        let rest = &chars[at..];
        let may_be_value = tokens.last().is_none_or(|last| !last.word.ends_value());
        let known = if may_be_value { known(rest) } else { None };
        let (word, length) = match known.filter(|length| *length > plain_name(rest)) {
            Some(length) => (Word::Name { text: rest[..length].iter().collect(), is_quoted: true }, length),
            None => word(rest, at, &mut foreign)?,
        };
        tokens.push(Token { word, offset: at });
        at += length;
    }
    tokens.push(Token { word: Word::End, offset: chars.len() });
    Ok((tokens, foreign))
}

fn word(rest: &[char], at: usize, foreign: &mut Option<Foreign>) -> Result<(Word, usize), SyntaxError> {
    let begins = |text: &str| {
        let length = text.chars().count();
        rest.len() >= length && text.chars().eq(rest[..length].iter().copied())
    };
    let first = rest[0];
    if let '"' | '\'' = first {
        let (text, length) = quoted(rest, first, at)?;
        let word = if first == '"' { Word::Text(text) } else { Word::Name { text, is_quoted: true } };
        return Ok((word, length));
    }
    if first.is_ascii_digit() || (first == '.' && rest.get(1).is_some_and(char::is_ascii_digit)) {
        return number(rest, at);
    }
    let length = plain_name(rest);
    if length > 0 {
        let text: String = rest[..length].iter().collect();
        return Ok(match WORDS.into_iter().find(|word| *word == text) {
            Some(word) => (Word::Sign(word), length),
            None => (Word::Name { text, is_quoted: false }, length),
        });
    }
    // `!=` is filtrex's, `!==` and `!` are not.
    let javascript = JAVASCRIPT.iter().find(|(written, _)| begins(written));
    if let Some((written, means)) = javascript.filter(|(written, _)| *written != "!" || !begins("!=")) {
        foreign.get_or_insert(Foreign { offset: at, written, means });
        return Ok((Word::Sign(means), written.len()));
    }
    if let Some(sign) = SIGNS.into_iter().find(|sign| begins(sign)) {
        return Ok((Word::Sign(sign), sign.len()));
    }
    let hint = UNKNOWN.iter().find(|(written, _)| begins(written)).map(|(_, hint)| *hint);
    Err(SyntaxError::new(at, format!("`{first}` is not an operator"), hint))
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

/// Whether a character may stand within a name without quotes.
pub(crate) fn is_part_of_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit() || c == '.'
}

/// Length of the name at the start that needs no quotes; 0: there is none.
fn plain_name(rest: &[char]) -> usize {
    match rest.first() {
        Some(first) if begins_name(*first) => rest.iter().take_while(|c| is_part_of_name(**c)).count(),
        _ => 0,
    }
}

fn number(rest: &[char], at: usize) -> Result<(Word, usize), SyntaxError> {
    let digits = |from: usize| rest[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if rest.get(length) == Some(&'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if let Some('e' | 'E') = rest.get(length) {
        let sign = usize::from(matches!(rest.get(length + 1), Some('+' | '-')));
        let from = length + 1 + sign;
        let exponent = if from <= rest.len() { digits(from) } else { 0 };
        length = if exponent > 0 { from + exponent } else { length };
    }
    let digits: String = rest[..length].iter().collect();
    let tail: String = rest[length..].iter().take_while(|c| is_part_of_name(**c)).collect();
    match digits.parse::<f64>() {
        Ok(number) if tail.is_empty() && number.is_finite() => Ok((Word::Number(number), length)),
        _ => {
            let hint = match tail.as_str() {
                "ms" | "s" => "numbers have no unit; latencies are in milliseconds".to_owned(),
                _ => format!("a name that begins with a digit is written in single quotes: '{digits}{tail}'"),
            };
            Err(SyntaxError::new(at, format!("`{digits}{tail}` is not a number"), Some(&hint)))
        }
    }
}

/// The text in quotes, and how long it is with them.
fn quoted(rest: &[char], quote: char, at: usize) -> Result<(String, usize), SyntaxError> {
    let mut text = String::new();
    let mut next = 1;
    while let Some(&c) = rest.get(next) {
        next += 1;
        if c == quote {
            return Ok((text, next));
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.get(next) {
            Some(&escaped) if escaped == quote || escaped == '\\' => text.push(escaped),
            _ => {
                let hint = format!("write `\\\\` for a backslash, `\\{quote}` for a quote");
                return Err(SyntaxError::new(
                    at,
                    "a backslash stands before a quote or a backslash",
                    Some(&hint),
                ));
            }
        }
        next += 1;
    }
    Err(SyntaxError::new(at, format!("`{quote}` is not closed"), None))
}
