//! The words of a condition.

use std::fmt;

use crate::script::template::Fault;

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
    /// A variable, or a function; in single quotes it may be called anything.
    Symbol {
        name: String,
        is_quoted: bool,
    },
    /// An operator or bracket, words among them.
    Sign(&'static str),
    End,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Number(number) => write!(f, "the number {number}"),
            Word::Text(text) => write!(f, "the text {text:?}"),
            Word::Symbol { name, .. } => write!(f, "the name `{name}`"),
            Word::Sign(sign) => write!(f, "`{sign}`"),
            Word::End => f.write_str("its end"),
        }
    }
}

/// The longer ones first.
const SIGNS: [&str; 18] =
    ["==", "!=", "~=", ">=", "<=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ",", "?", ":"];
const WORDS: [&str; 5] = ["and", "or", "not", "in", "of"];

/// Signs of JavaScript's, and the one each of them is here. Artillery does not read a condition with one, and takes it for true.
const JAVASCRIPT: [(&str, &str); 4] = [("===", "=="), ("!==", "!="), ("&&", "and"), ("||", "or")];

/// What authors bring along from elsewhere, and what to write instead.
const FOREIGN: [(&str, &str); 4] =
    [("=", "write `==`"), ("!", "write `not`"), ("&", "write `and`"), ("|", "write `or`")];

/// A sign of JavaScript's in a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    /// In characters from the start of the condition.
    pub(crate) offset: usize,
    pub(crate) theirs: &'static str,
    pub(crate) ours: &'static str,
}

/// The first one among the words of a condition.
pub(super) fn javascript(text: &str, tokens: &[Token]) -> Option<Foreign> {
    let chars: Vec<char> = text.chars().collect();
    let at = |token: &Token| {
        let offset = token.offset;
        let rest: String = chars.get(offset..)?.iter().take(3).collect();
        let found = JAVASCRIPT.iter().find(|(theirs, _)| rest.starts_with(theirs));
        found.map(|(theirs, ours)| Foreign { offset, theirs, ours })
    };
    tokens.iter().filter(|token| matches!(token.word, Word::Sign(_))).find_map(at)
}

pub(super) fn split(text: &str) -> Result<Vec<Token>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at].is_whitespace() {
            at += 1;
            continue;
        }
        let (word, length) = word(&chars[at..]).map_err(|(what, hint)| Fault { offset: at, what, hint })?;
        tokens.push(Token { word, offset: at });
        at += length;
    }
    tokens.push(Token { word: Word::End, offset: chars.len() });
    Ok(tokens)
}

type Wrong = (String, Option<String>);

fn word(rest: &[char]) -> Result<(Word, usize), Wrong> {
    let starts =
        |text: &&str| text.chars().zip(rest).filter(|(a, b)| a == *b).count() == text.chars().count();
    match rest[0] {
        quote @ ('"' | '\'') => {
            let (text, length) = quoted(rest, quote)?;
            let word =
                if quote == '"' { Word::Text(text) } else { Word::Symbol { name: text, is_quoted: true } };
            Ok((word, length))
        }
        c if c.is_ascii_digit() => number(rest),
        c if c.is_ascii_alphabetic() || matches!(c, '$' | '_') => {
            let is_part = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '$' | '_' | '.');
            let name: String = rest.iter().take_while(is_part).collect();
            let length = name.len();
            match WORDS.into_iter().find(|word| *word == name) {
                Some(word) => Ok((Word::Sign(word), length)),
                None => Ok((Word::Symbol { name, is_quoted: false }, length)),
            }
        }
        other => {
            if let Some((theirs, ours)) = JAVASCRIPT.iter().find(|(theirs, _)| starts(theirs)) {
                return Ok((Word::Sign(ours), theirs.len()));
            }
            let known = SIGNS.into_iter().find(|sign| starts(sign));
            let foreign = FOREIGN.iter().find(|(foreign, _)| starts(foreign));
            match (known, foreign) {
                (Some(sign), _) => Ok((Word::Sign(sign), sign.len())),
                (None, Some((foreign, hint))) => {
                    Err((format!("conditions have no `{foreign}`"), Some((*hint).to_owned())))
                }
                (None, None) => Err((format!("conditions have no `{other}`"), None)),
            }
        }
    }
}

fn number(rest: &[char]) -> Result<(Word, usize), Wrong> {
    let digits = |from: usize| rest[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut length = digits(0);
    if rest.get(length) == Some(&'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    let text: String = rest[..length].iter().collect();
    match (rest.get(length), text.parse()) {
        (Some(c), _) if c.is_ascii_alphanumeric() || *c == '_' => {
            let hint = "a name with a digit or another sign in front is written in single quotes: '2nd'";
            Err((format!("`{text}{c}…` is neither a number nor a name"), Some(hint.to_owned())))
        }
        (_, Ok(number)) => Ok((Word::Number(number), length)),
        (_, Err(_)) => Err((format!("`{text}` is no number"), None)),
    }
}

/// A text in quotes, and how long it is with them.
fn quoted(rest: &[char], quote: char) -> Result<(String, usize), Wrong> {
    let mut text = String::new();
    let mut at = 1;
    while let Some(c) = rest.get(at) {
        match c {
            c if *c == quote => return Ok((text, at + 1)),
            '\\' => {
                at += 1;
                match rest.get(at) {
                    Some(c) if *c == quote || *c == '\\' => text.push(*c),
                    _ => {
                        let hint = format!("write `\\\\` for a backslash, `\\{quote}` for a quote");
                        return Err(("a backslash that stands for nothing".to_owned(), Some(hint)));
                    }
                }
            }
            c => text.push(*c),
        }
        at += 1;
    }
    Err((format!("`{quote}` is not closed"), None))
}
