//! A frame's header: 2 to 14 bytes that say what follows (RFC 6455 §5.2).
//!
//! Rules are checked byte by byte in the order of the wire, on as much of the header as has arrived. So the verdict
//! does not depend on how the stream was cut, and a peer that sends one bad byte and waits is refused at once.

use super::{Opcode, Role, Violation};

/// The most bytes a control frame may carry (RFC 6455 §5.5).
pub const MAX_CONTROL_PAYLOAD: usize = 125;

/// The longest header: two bytes, a 64-bit length, a mask.
pub(super) const MAX_HEADER: usize = 14;

/// The decoder's state, as far as it limits the next frame.
#[derive(Clone, Copy)]
pub(super) struct Expect {
    pub(super) role: Role,
    pub(super) max_message: usize,
    /// The bytes of the unfinished message so far; None when there is none.
    pub(super) unfinished: Option<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) fin: bool,
    pub(super) opcode: Opcode,
    /// The payload's bytes: within `max_message`, or within 125 for a control frame.
    pub(super) length: usize,
    /// All zero when the frame is not masked: the same as no mask.
    pub(super) mask: [u8; 4],
    /// The header's own bytes.
    pub(super) size: usize,
}

/// Reads a header from the front of `bytes`; None when more bytes are needed.
#[inline]
pub(super) fn parse(bytes: &[u8], expect: Expect) -> Result<Option<Header>, Violation> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let (fin, opcode) = first_byte(first, expect.unfinished.is_some())?;
    let Some(&second) = bytes.get(1) else { return Ok(None) };
    let masked = second & 0x80 != 0;
    match expect.role {
        Role::Client if masked => return Err(Violation::MaskedFromServer),
        Role::Server if !masked => return Err(Violation::UnmaskedFromClient),
        _ => {}
    }
    let short = second & 0x7f;
    if opcode.is_control() && usize::from(short) > MAX_CONTROL_PAYLOAD {
        return Err(Violation::LongControl);
    }
    let Some((length, at)) = length(bytes, short)? else { return Ok(None) };
    let length = within_limit(length, opcode, expect)?;
    if !masked {
        return Ok(Some(Header { fin, opcode, length, mask: [0; 4], size: at }));
    }
    let Some(&mask) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { return Ok(None) };
    Ok(Some(Header { fin, opcode, length, mask, size: at + 4 }))
}

#[inline]
fn first_byte(byte: u8, in_message: bool) -> Result<(bool, Opcode), Violation> {
    let fin = byte & 0x80 != 0;
    if byte & 0x70 != 0 {
        return Err(Violation::ReservedBits { bits: byte >> 4 & 7 });
    }
    let opcode = match byte & 0x0f {
        0 => Opcode::Continuation,
        1 => Opcode::Text,
        2 => Opcode::Binary,
        8 => Opcode::Close,
        9 => Opcode::Ping,
        10 => Opcode::Pong,
        opcode => return Err(Violation::ReservedOpcode { opcode }),
    };
    if opcode.is_control() {
        if !fin {
            return Err(Violation::FragmentedControl);
        }
    } else if in_message != (opcode == Opcode::Continuation) {
        return Err(if in_message { Violation::InterruptedMessage } else { Violation::StrayContinuation });
    }
    Ok((fin, opcode))
}

/// The payload length and where the header goes on after it.
#[inline]
fn length(bytes: &[u8], short: u8) -> Result<Option<(u64, usize)>, Violation> {
    match short {
        126 => {
            let Some(&[_, _, high, low]) = bytes.first_chunk() else { return Ok(None) };
            let length = u64::from(u16::from_be_bytes([high, low]));
            if length < 126 { Err(Violation::OverlongLength { length }) } else { Ok(Some((length, 4))) }
        }
        127 => {
            let Some(&[_, _, a, b, c, d, e, f, g, h]) = bytes.first_chunk() else { return Ok(None) };
            let length = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            if length >> 63 != 0 {
                Err(Violation::LengthTopBit { length })
            } else if length <= u64::from(u16::MAX) {
                Err(Violation::OverlongLength { length })
            } else {
                Ok(Some((length, 10)))
            }
        }
        short => Ok(Some((u64::from(short), 2))),
    }
}

#[inline]
fn within_limit(length: u64, opcode: Opcode, expect: Expect) -> Result<usize, Violation> {
    // A control frame is bounded by its own rule, and must get through even when messages are limited to nothing.
    let limit = if opcode.is_control() { MAX_CONTROL_PAYLOAD } else { expect.max_message };
    let before = if opcode.is_control() { 0 } else { expect.unfinished.unwrap_or(0) };
    match usize::try_from(length) {
        Ok(length) if before.checked_add(length).is_some_and(|total| total <= limit) => Ok(length),
        _ => Err(Violation::MessageTooBig { length: length.saturating_add(before as u64), limit }),
    }
}

/// Whether `code` may appear in a close frame (§7.4 and the IANA registry, which added 1012–1014): 1000–1003, 1007–1014
/// and 3000–4999. The rest is reserved, or names a condition that only a library reports to its own side (1005, 1006,
/// 1015).
pub fn is_valid_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
