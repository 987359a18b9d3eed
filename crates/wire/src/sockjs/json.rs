//! Arrays of strings in JSON, both ways.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Invalid input from a client. The variants' texts are a server's answers to `xhr_send` (status 500).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// An empty body. (An empty WebSocket message is ignored instead.)
    #[error("Payload expected.")]
    Expected,
    /// Not a JSON array of strings.
    #[error("Broken JSON encoding.")]
    Broken,
}

/// The messages of an array, each unescaped when it is taken. The array was checked as a whole before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages<'a> {
    /// The input after the last quote that was read; sound JSON.
    rest: &'a str,
}

impl<'a> Messages<'a> {
    /// Reads the body of an `xhr_send`, or a client's WebSocket message: an array of strings, or one string alone. No
    /// limit of their number is needed: nothing is kept, and the text has its own limit.
    ///
    /// # Errors
    /// [`PayloadError`].
    pub fn decode(text: &'a str) -> Result<Messages<'a>, PayloadError> {
        match text.as_bytes().iter().find(|byte| !is_space(**byte)) {
            None => Err(PayloadError::Expected),
            Some(b'"') => {
                let start = text.find('"').unwrap_or(0);
                let end = string_end(text.as_bytes(), start + 1)?;
                only_space(text.as_bytes(), end)?;
                Ok(Messages { rest: text })
            }
            Some(_) => Messages::array(text),
        }
    }

    /// Reads an array of strings.
    pub(super) fn array(text: &'a str) -> Result<Messages<'a>, PayloadError> {
        let bytes = text.as_bytes();
        let mut at = expect(bytes, 0, b'[')?;
        if let Ok(end) = expect(bytes, at, b']') {
            only_space(bytes, end)?;
            return Ok(Messages { rest: "" });
        }
        loop {
            at = string_end(bytes, expect(bytes, at, b'"')?)?;
            match expect(bytes, at, b',') {
                Ok(next) => at = next,
                Err(_) => break,
            }
        }
        only_space(bytes, expect(bytes, at, b']')?)?;
        Ok(Messages { rest: text })
    }

    /// The next message, unescaped into `buffer` when it needs to be, else borrowed from the text.
    pub fn next_in<'b>(&mut self, buffer: &'b mut String) -> Option<&'b str>
    where
        'a: 'b,
    {
        let (raw, escaped) = self.next_raw()?;
        if !escaped {
            return Some(raw);
        }
        buffer.clear();
        unescape(raw, buffer);
        Some(buffer)
    }

    fn next_raw(&mut self) -> Option<(&'a str, bool)> {
        let start = memchr(b'"', self.rest.as_bytes())? + 1;
        let bytes = self.rest.as_bytes();
        let mut at = start + memchr2(b'"', b'\\', &bytes[start..])?;
        let escaped = bytes[at] == b'\\';
        while bytes[at] == b'\\' {
            at += 2;
            at += memchr2(b'"', b'\\', &bytes[at..])?;
        }
        let raw = &self.rest[start..at];
        self.rest = &self.rest[at + 1..];
        Some((raw, escaped))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let (raw, escaped) = self.next_raw()?;
        if !escaped {
            return Some(raw.into());
        }
        let mut plain = String::with_capacity(raw.len());
        unescape(raw, &mut plain);
        Some(plain.into())
    }
}

/// Appends an array of messages: what a client sends, and, behind an `a`, what a server does.
pub fn messages<'m>(messages: impl IntoIterator<Item = &'m str>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, message) in messages.into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",\"" } else { b"\"" });
        escape(message, out);
        out.push(b'"');
    }
    out.push(b']');
}

/// Appends `text` as the inside of a JSON string. What is escaped piece by piece is escaped as a whole.
///
/// Beside what JSON asks for, these are escaped because browsers mangle them on some transports: U+200C–200F,
/// U+2028–202F, U+2060–206F and U+FFF0–FFFF.
pub fn escape(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 8);
    let bytes = text.as_bytes();
    let mut from = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let (code, size) = match byte {
            b'"' | b'\\' | 0..0x20 => (u32::from(byte), 1),
            // The characters above are three bytes that begin so.
            0xe2 | 0xef => (text[at..].chars().next().map_or(0, u32::from), 3),
            _ => {
                at += 1;
                continue;
            }
        };
        if size == 3 && !matches!(code, 0x200c..=0x200f | 0x2028..=0x202f | 0x2060..=0x206f | 0xfff0..=0xffff)
        {
            at += size;
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        push_escaped(code, out);
        at += size;
        from = at;
    }
    out.extend_from_slice(&bytes[from..]);
}

fn push_escaped(code: u32, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match code {
        0x22 => out.extend_from_slice(b"\\\""),
        0x5c => out.extend_from_slice(b"\\\\"),
        0x0a => out.extend_from_slice(b"\\n"),
        0x0d => out.extend_from_slice(b"\\r"),
        0x09 => out.extend_from_slice(b"\\t"),
        code => {
            let digit = |shift: u32| HEX[(code >> shift & 15) as usize];
            out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
        }
    }
}

/// Undoes the escapes of a string that was checked. Half a surrogate pair becomes U+FFFD: JavaScript can send one, text
/// cannot hold it.
fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (plain, size) = match rest.as_bytes().get(at + 1) {
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'u') => unicode(&rest[at..]),
            Some(&other) => (char::from(other), 2), // a quote, a slash or a backslash
            None => break,
        };
        out.push(plain);
        rest = &rest[at + size..];
    }
    out.push_str(rest);
}

/// The character of `\uXXXX`, or of two of them, and their size.
fn unicode(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        text.get(at..at + 6)?.strip_prefix("\\u").and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    let first = unit(0).unwrap_or(0xfffd);
    if let (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) = (first, unit(6)) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| is_space(**byte)).count()
}

/// The position behind `byte`, which may follow spaces.
fn expect(bytes: &[u8], at: usize, byte: u8) -> Result<usize, PayloadError> {
    let at = skip_space(bytes, at);
    if bytes.get(at) == Some(&byte) { Ok(at + 1) } else { Err(PayloadError::Broken) }
}

fn only_space(bytes: &[u8], at: usize) -> Result<(), PayloadError> {
    if skip_space(bytes, at) == bytes.len() { Ok(()) } else { Err(PayloadError::Broken) }
}

/// The position behind the quote that ends the string whose inside begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, PayloadError> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u')
                    if bytes.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) =>
                {
                    at += 6;
                }
                _ => return Err(PayloadError::Broken),
            },
            None | Some(0..0x20) => return Err(PayloadError::Broken),
            Some(_) => at += 1,
        }
    }
}
