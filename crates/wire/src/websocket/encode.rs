//! Frames out: whole messages as single frames, masked for a client, plain and shareable for a server.

use base64::Engine as _;
use bytes::Bytes;
use sha1::{Digest as _, Sha1};

use super::header::{MAX_CONTROL_PAYLOAD, MAX_HEADER};
use super::mask;

/// A frame's opcode (RFC 6455 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// The next fragment of a message.
    Continuation = 0,
    /// A text message, or its first fragment.
    Text = 1,
    /// A binary message, or its first fragment.
    Binary = 2,
    /// The end of the connection, with a code and a reason.
    Close = 8,
    /// To be answered by a pong with the same payload.
    Ping = 9,
    /// The answer to a ping, or a sign of life nobody asked for.
    Pong = 10,
}

impl Opcode {
    /// Whether this is a close, ping or pong: at most 125 bytes, never fragmented.
    #[inline]
    pub fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// Appends one final frame to `out`; `mask` is the client's key, None for a server.
///
/// # Panics
/// When a control frame is given more than 125 bytes: no peer may accept it, so it is our mistake.
#[inline]
pub fn encode(opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    assert!(
        !opcode.is_control() || payload.len() <= MAX_CONTROL_PAYLOAD,
        "a websocket control frame carries at most 125 bytes, got {}",
        payload.len()
    );
    out.reserve(MAX_HEADER + payload.len());
    begin(opcode, payload.len(), if mask.is_some() { 0x80 } else { 0 }, out);
    match mask {
        None => out.extend_from_slice(payload),
        Some(key) => {
            out.extend_from_slice(&key);
            let start = out.len();
            out.extend_from_slice(payload);
            mask::apply(key, &mut out[start..]);
        }
    }
}

/// Appends the header of one final, unmasked frame; its payload of `length` bytes is for the caller to append, from
/// as many parts as it lies in.
///
/// # Panics
/// When [`encode`] does.
#[inline]
pub fn header(opcode: Opcode, length: usize, out: &mut Vec<u8>) {
    assert!(
        !opcode.is_control() || length <= MAX_CONTROL_PAYLOAD,
        "a websocket control frame carries at most 125 bytes, got {length}"
    );
    begin(opcode, length, 0, out);
}

#[inline]
fn begin(opcode: Opcode, length: usize, mask_bit: u8, out: &mut Vec<u8>) {
    let first = 0x80 | opcode as u8;
    match length {
        0..=125 => out.extend_from_slice(&[first, mask_bit | length as u8]),
        126..=0xffff => {
            let [high, low] = (length as u16).to_be_bytes();
            out.extend_from_slice(&[first, mask_bit | 126, high, low]);
        }
        _ => {
            out.extend_from_slice(&[first, mask_bit | 127]);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
}

/// An unmasked frame, ready to be shared by every receiver of a broadcast.
///
/// # Panics
/// When [`encode`] does.
pub fn shared(opcode: Opcode, payload: &[u8]) -> Bytes {
    let mut frame = Vec::new();
    encode(opcode, payload, None, &mut frame);
    frame.into()
}

/// The payload of a close frame: the code, then the reason cut at a character's boundary to the 123 bytes that fit.
pub fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    let reason = &reason[..reason.floor_char_boundary(MAX_CONTROL_PAYLOAD - 2)];
    let mut payload = Vec::with_capacity(2 + reason.len());
    payload.extend_from_slice(&code.to_be_bytes());
    payload.extend_from_slice(reason.as_bytes());
    payload
}

/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455 §4.2.2). The key is taken as sent: whether it is 16
/// bytes in base64 is for the server's handshake to judge.
pub fn accept_key(key: &str) -> String {
    let digest =
        Sha1::new().chain_update(key).chain_update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11").finalize();
    base64::engine::general_purpose::STANDARD.encode(digest)
}
