//! WebSocket frames by hand: what a client sends (masked), what a server sends (not masked), and the upgrade.
//!
//! Messages in several frames are refused: no target of the floor sends them, and joining them would need a buffer
//! per link. The key of the upgrade is fixed and its answer not checked: it guards against caches, not peers.

use crate::arguments::Target;
use crate::failure::Failure;
use crate::links::Links;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;

/// One frame at the front of some bytes.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    pub(crate) opcode: u8,
    pub(crate) payload: &'a [u8],
    /// With its head.
    pub(crate) length: usize,
}

pub(crate) fn upgrade(target: &Target) -> Vec<u8> {
    let head = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13";
    let key = "c2V2ZW50ZWVuIGJ5dGVzIQ==";
    let (path, host) = (&target.path, &target.host);
    format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{head}\r\nsec-websocket-key: {key}\r\n\r\n").into_bytes()
}

/// The frame at the front; none while it is incomplete.
#[inline]
pub(crate) fn frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, Failure> {
    let &[first, second, ref rest @ ..] = bytes else { return Ok(None) };
    if first & FINAL == 0 || first & 0x70 != 0 || first & 0x0f == 0 || second & MASKED != 0 {
        let what = format!("a frame begins {first:#04x} {second:#04x}: masked, in parts, or of an extension");
        return Err(Failure::peer(what));
    }
    let (head, payload) = match second {
        126 => {
            let Some(length) = rest.first_chunk() else { return Ok(None) };
            (4, u64::from(u16::from_be_bytes(*length)))
        }
        127 => {
            let Some(length) = rest.first_chunk() else { return Ok(None) };
            (10, u64::from_be_bytes(*length))
        }
        short => (2, u64::from(short)),
    };
    let end = usize::try_from(payload).ok().and_then(|payload| payload.checked_add(head));
    let length = end.ok_or_else(|| Failure::peer(format!("a frame of {payload} bytes")))?;
    let payload = bytes.get(head..length);
    Ok(payload.map(|payload| Frame { opcode: first & 0x0f, payload, length }))
}

/// Hands every whole data frame to `each`, answers pings, and returns how many bytes that took.
#[inline]
pub(crate) fn each_message(
    links: &mut Links,
    who: usize,
    bytes: &[u8],
    mut each: impl FnMut(&mut Links, &[u8]) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut taken = 0;
    while let Some(frame) = frame(&bytes[taken..])? {
        match frame.opcode {
            TEXT | BINARY => each(links, frame.payload)?,
            _ => control(links, who, &frame)?,
        }
        taken += frame.length;
    }
    Ok(taken)
}

#[cold]
fn control(links: &mut Links, who: usize, frame: &Frame<'_>) -> Result<(), Failure> {
    match frame.opcode {
        PING => {
            let mut pong = Vec::new();
            Masks::new().encode(&mut pong, PONG, frame.payload);
            links.send(who, &pong)
        }
        PONG => Ok(()),
        CLOSE => Err(Failure::peer("the server closed a WebSocket that was in use")),
        other => Err(Failure::peer(format!("a frame of type {other}"))),
    }
}

/// Encodes frames, each with the next mask of a fixed sequence: the work of masking is real, its secrecy is not.
pub(crate) struct Masks {
    state: u32,
}

impl Masks {
    pub(crate) fn new() -> Self {
        Self { state: 0x9e37_79b9 }
    }

    /// Replaces what is in `frame` by a text frame.
    #[inline]
    pub(crate) fn text(&mut self, frame: &mut Vec<u8>, payload: &[u8]) {
        self.encode(frame, TEXT, payload);
    }

    /// Replaces what is in `frame` by a close frame: a normal end.
    pub(crate) fn close(&mut self, frame: &mut Vec<u8>) {
        self.encode(frame, CLOSE, &1000_u16.to_be_bytes());
    }

    #[inline]
    fn encode(&mut self, frame: &mut Vec<u8>, opcode: u8, payload: &[u8]) {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        let mask = self.state.to_ne_bytes();
        frame.clear();
        frame.push(FINAL | opcode);
        match payload.len() {
            short @ 0..=125 => frame.push(MASKED | short as u8),
            middle @ 126..=0xffff => {
                frame.push(MASKED | 126);
                frame.extend_from_slice(&(middle as u16).to_be_bytes());
            }
            long => {
                frame.push(MASKED | 127);
                frame.extend_from_slice(&(long as u64).to_be_bytes());
            }
        }
        frame.extend_from_slice(&mask);
        let begin = frame.len();
        frame.extend_from_slice(payload);
        for chunk in frame[begin..].chunks_mut(4) {
            chunk.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as a server sends it.
    fn served(opcode: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![FINAL | opcode];
        match payload.len() {
            short @ 0..=125 => frame.push(short as u8),
            middle @ 126..=0xffff => frame.extend([&[126], &(middle as u16).to_be_bytes()[..]].concat()),
            long => frame.extend([&[127], &(long as u64).to_be_bytes()[..]].concat()),
        }
        [&frame, payload].concat()
    }

    #[test]
    fn a_frame_split_at_any_point_is_incomplete_until_its_last_byte() {
        for size in [0, 1, 125, 126, 127, 65_535, 65_536] {
            let payload = vec![b'x'; size];
            let whole = served(TEXT, &payload);
            let points = (0..whole.len().min(40)).chain(whole.len().saturating_sub(3)..whole.len());
            for end in points {
                assert_eq!(frame(&whole[..end]).unwrap(), None, "{size} bytes cut at {end}");
            }
            let read = frame(&whole).unwrap().unwrap();
            assert_eq!((read.opcode, read.payload, read.length), (TEXT, &payload[..], whole.len()));
        }
    }

    #[test]
    fn a_frame_is_read_as_the_specification_shows_it() {
        // RFC 6455, 5.7: "Hello" as a server sends it.
        let read = frame(&[0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]).unwrap().unwrap();
        assert_eq!(read, Frame { opcode: TEXT, payload: b"Hello", length: 7 });
    }

    #[test]
    fn a_masked_a_split_and_an_extended_frame_are_refused() {
        for first_bytes in [[0x81, 0x85], [0x01, 0x05], [0x80, 0x05], [0xc1, 0x05]] {
            assert!(frame(&first_bytes).is_err(), "{first_bytes:x?}");
        }
        assert!(frame(&[0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
    }

    #[test]
    fn a_sent_frame_is_masked_by_its_own_key() {
        let mut masks = Masks::new();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for size in [0, 3, 125, 126, 65_536] {
            let payload: Vec<u8> = (0..size).map(|at| at as u8).collect();
            masks.text(&mut one, &payload);
            masks.text(&mut other, &payload);
            let head = one.len() - size;
            let mask: [u8; 4] = one[head - 4..head].try_into().unwrap();
            let bare: Vec<u8> =
                one[head..].iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
            assert_eq!((one[0], one[1] & MASKED, bare), (0x81, MASKED, payload));
            assert_ne!(mask, other[head - 4..head]);
        }
    }
}
