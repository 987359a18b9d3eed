//! A message that arrives in pieces; text is validated as it comes, so that bad UTF-8 is refused early.

use super::Violation;

/// The most memory set aside on the word of a header alone: larger messages grow as their bytes arrive.
const MAX_RESERVE: usize = 64 * 1024;

/// The payload so far of an unfinished message.
pub(super) enum Message {
    Text(Text),
    Binary(Vec<u8>),
}

impl Message {
    pub(super) fn len(&self) -> usize {
        match self {
            Message::Text(text) => text.valid.len() + text.tail.len(),
            Message::Binary(bytes) => bytes.len(),
        }
    }

    pub(super) fn reserve(&mut self, bytes: usize) {
        let bytes = bytes.min(MAX_RESERVE);
        match self {
            Message::Text(text) => text.valid.reserve(bytes),
            Message::Binary(buffer) => buffer.reserve(bytes),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        match self {
            Message::Text(text) => text.push(bytes),
            Message::Binary(buffer) => {
                buffer.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

/// Valid text, and the 0 to 3 bytes of a character that was cut off by the end of a piece.
#[derive(Default)]
pub(super) struct Text {
    valid: String,
    tail: Tail,
}

impl Text {
    fn push(&mut self, mut bytes: &[u8]) -> Result<(), Violation> {
        while !self.tail.is_empty() {
            let Some((&byte, rest)) = bytes.split_first() else { return Ok(()) };
            bytes = rest;
            self.tail.push(byte);
            match std::str::from_utf8(self.tail.bytes()) {
                Ok(character) => {
                    self.valid.push_str(character);
                    self.tail = Tail::default();
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(Violation::InvalidText),
            }
        }
        let (whole, tail) = bytes.split_at(unfinished_character(bytes));
        self.valid.push_str(simdutf8::basic::from_utf8(whole).map_err(|_| Violation::InvalidText)?);
        if std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_some()) {
            return Err(Violation::InvalidText);
        }
        tail.iter().for_each(|&byte| self.tail.push(byte));
        Ok(())
    }

    /// The whole text; a message must not end within a character.
    pub(super) fn finish(&self) -> Result<&str, Violation> {
        if self.tail.is_empty() { Ok(&self.valid) } else { Err(Violation::InvalidText) }
    }
}

/// Where the character that `bytes` may break off in begins; the length when it ends with a whole one.
/// Only a lead byte that is legal counts, so `bytes` up to there can be judged on its own.
fn unfinished_character(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(3).enumerate() {
        let width = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if width > back + 1 { bytes.len() - back - 1 } else { bytes.len() };
    }
    bytes.len()
}

/// At most four bytes; a fourth always settles whether they are a character.
#[derive(Default)]
struct Tail {
    bytes: [u8; 4],
    length: u8,
}

impl Tail {
    fn len(&self) -> usize {
        usize::from(self.length)
    }

    fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len()]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.len()] = byte;
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, Violation};

    fn fed(pieces: &[&[u8]]) -> Result<String, Violation> {
        let mut text = Text::default();
        for piece in pieces {
            text.push(piece)?;
        }
        text.finish().map(str::to_owned)
    }

    #[test]
    fn text_cut_anywhere_is_the_same_text() {
        let whole = "κόσμε 소나기 🌧 plain";
        for first in 0..=whole.len() {
            for second in first..=whole.len() {
                let bytes = whole.as_bytes();
                assert_eq!(
                    fed(&[&bytes[..first], &bytes[first..second], &bytes[second..]]).as_deref(),
                    Ok(whole)
                );
            }
        }
    }

    #[test]
    fn bad_utf8_is_refused_at_its_first_impossible_byte() {
        let cases: [(&[u8], usize); 10] = [
            (b"ok\x80", 3),
            (b"\xc0\x80", 1),
            (b"\xc1", 1),
            (b"\xf5", 1),
            (b"\xff", 1),
            (b"\xe0\x80", 2),
            (b"\xed\xa0", 2),
            (b"\xf0\x80", 2),
            (b"\xf4\x90", 2),
            (b"\xce\xbaA\xe2\x82A", 6),
        ];
        for (bytes, refused_at) in cases {
            let mut text = Text::default();
            let at = bytes.iter().position(|byte| text.push(&[*byte]).is_err()).map(|at| at + 1);
            assert_eq!(at, Some(refused_at), "{bytes:x?} byte by byte");
            assert!(Text::default().push(&bytes[..refused_at]).is_err(), "{bytes:x?} at once");
            assert!(Text::default().push(&bytes[..refused_at - 1]).is_ok(), "{bytes:x?} before the bad byte");
        }
    }

    #[test]
    fn a_text_must_not_end_within_a_character() {
        assert_eq!(fed(&[b"a\xf0\x9f", b"\x8c"]), Err(Violation::InvalidText));
    }
}
