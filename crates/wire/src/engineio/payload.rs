//! Polling bodies, read lazily.

use std::fmt::Write as _;

use super::{Packet, PacketError, SEPARATOR, Version};

/// The most digits of a length in protocol 3: more than any body is long.
const MAX_DIGITS: usize = 10;

/// Ends a length in a binary body of protocol 3.
const LENGTH_END: u8 = 255;

/// The packets of a polling body; see [`Version::payload`].
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    version: Version,
    /// None behind the last packet, or an error.
    rest: Option<&'a str>,
}

impl<'a> Payload<'a> {
    pub(super) fn new(version: Version, body: &'a str) -> Payload<'a> {
        Payload { version, rest: Some(body) }
    }

    /// The next packet's text; the outer None at the end.
    fn text(&mut self) -> Option<Result<&'a str, PacketError>> {
        let rest = self.rest.take()?;
        if self.version == Version::Four {
            let (packet, after) = match rest.split_once(SEPARATOR) {
                Some((packet, after)) => (packet, Some(after)),
                None => (rest, None),
            };
            self.rest = after;
            return Some(Ok(packet));
        }
        if rest.is_empty() {
            return Some(Err(PacketError::Empty));
        }
        let mut rest = rest;
        while !rest.is_empty() {
            match counted(rest) {
                Err(error) => return Some(Err(error)),
                Ok(("", after)) => rest = after,
                Ok((packet, after)) => {
                    self.rest = (!after.is_empty()).then_some(after);
                    return Some(Ok(packet));
                }
            }
        }
        None
    }
}

impl<'a> Iterator for Payload<'a> {
    type Item = Result<Packet<'a>, PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        let packet = self.text()?.and_then(|text| self.version.decode(text));
        if packet.is_err() {
            self.rest = None;
        }
        Some(packet)
    }
}

/// A packet behind its length, and what follows it.
fn counted(body: &str) -> Result<(&str, &str), PacketError> {
    let digits = body.bytes().take(MAX_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let (length, rest) = body.split_at(digits);
    let rest = rest.strip_prefix(':').filter(|_| digits <= MAX_DIGITS).ok_or(PacketError::Length)?;
    let announced = length.parse().map_err(|_| PacketError::Length)?;
    split_at_unit(rest, announced).ok_or(PacketError::TooShort { announced })
}

/// Splits behind so many UTF-16 units; None when there are fewer, or a pair of them would be cut.
fn split_at_unit(text: &str, units: usize) -> Option<(&str, &str)> {
    // A byte of ASCII is a unit.
    if text.as_bytes().get(..units)?.is_ascii() {
        return Some(text.split_at(units));
    }
    let mut left = units;
    for (at, character) in text.char_indices() {
        if left == 0 {
            return Some(text.split_at(at));
        }
        left = left.checked_sub(character.len_utf16())?;
    }
    (left == 0).then_some((text, ""))
}

/// Appends the packet behind its length.
pub(super) fn push_counted(packet: &str, body: &mut String) {
    let units =
        if packet.is_ascii() { packet.len() } else { packet.chars().map(char::len_utf16).sum::<usize>() };
    body.reserve(packet.len() + 12);
    // Writing to a String cannot fail.
    let _ = write!(body, "{units}:");
    body.push_str(packet);
}

/// The packets of a binary polling body of protocol 3 (`application/octet-stream`), lazily. Nothing follows an error;
/// an empty body has no packets.
pub fn binary_payload(body: &[u8]) -> BinaryPayload<'_> {
    BinaryPayload { rest: body }
}

/// The packets of a binary polling body; see [`binary_payload`].
#[derive(Clone, Debug)]
pub struct BinaryPayload<'a> {
    rest: &'a [u8],
}

impl<'a> BinaryPayload<'a> {
    fn packet(&mut self) -> Result<Packet<'a>, PacketError> {
        let (is_binary, rest) = match self.rest {
            [kind @ (0 | 1), rest @ ..] => (*kind == 1, rest),
            _ => return Err(PacketError::Length),
        };
        let digits = rest.iter().take(MAX_DIGITS + 1).take_while(|digit| **digit <= 9).count();
        let (length, rest) = rest.split_at(digits);
        let (Some((&LENGTH_END, rest)), 1..=MAX_DIGITS) = (rest.split_first(), digits) else {
            return Err(PacketError::Length);
        };
        let announced = length.iter().fold(0, |sum: u64, digit| sum * 10 + u64::from(*digit)) as usize;
        let (packet, rest) = rest.split_at_checked(announced).ok_or(PacketError::TooShort { announced })?;
        self.rest = rest;
        if is_binary {
            return Version::Three.decode_binary(packet);
        }
        Version::Three.decode(simdutf8::basic::from_utf8(packet).map_err(|_| PacketError::Utf8)?)
    }
}

impl<'a> Iterator for BinaryPayload<'a> {
    type Item = Result<Packet<'a>, PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let packet = self.packet();
        if packet.is_err() {
            self.rest = &[];
        }
        Some(packet)
    }
}

/// A binary polling body of protocol 3, for receivers that did not ask for base64 (`b64=1`). Each packet's bytes are
/// the same wherever they stand.
pub fn encode_binary_payload<'a>(packets: impl IntoIterator<Item = &'a Packet<'a>>) -> Vec<u8> {
    let (mut body, mut text, mut bytes) = (Vec::new(), String::new(), Vec::new());
    for packet in packets {
        text.clear();
        bytes.clear();
        let (kind, packet) = if let Packet::Binary(message) = packet {
            Version::Three.encode_binary(message, &mut bytes);
            (1, bytes.as_slice())
        } else {
            Version::Three.encode(packet, &mut text);
            (0, text.as_bytes())
        };
        body.push(kind);
        body.extend(packet.len().to_string().bytes().map(|digit| digit - b'0'));
        body.push(LENGTH_END);
        body.extend_from_slice(packet);
    }
    body
}
