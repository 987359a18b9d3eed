//! RFC 6455 frames for both sides: a push decoder that borrows its input, and encoders.
//!
//! The decoder keeps nothing while a connection is idle: the caller reads into a buffer shared by all its
//! connections and feeds the slice; only an unfinished frame or message is copied aside.

use bytes::Bytes;

/// Which end of the connection we are: clients mask what they send and refuse masked frames, servers the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role { Client, Server }

/// What the decoder hands over: whole messages and control frames, borrowed from the input where possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
    Ping(&'a [u8]),
    Pong(&'a [u8]),
    /// The peer's close frame; `code` is None for an empty one (1005 is never on the wire).
    Close { code: Option<u16>, reason: &'a str },
}

/// A breach of the protocol; `code()` is what our close frame must carry (1002, 1007 or 1009).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("websocket protocol violation")]
pub struct Violation; // the wire author turns this into a closed enum, one variant a rule, with `code()`
impl Violation { pub fn code(&self) -> u16 { todo!() } }

pub struct Decoder { /* role, max_message, partial state */ }
impl Decoder {
    /// `max_message` bounds a message's (and a frame's) payload in bytes: over it the violation's code is 1009.
    pub fn new(role: Role, max_message: usize) -> Decoder { let _ = (role, max_message); todo!() }
    /// Decodes `input` in place (a server unmasks in place) and calls `on` for each event in order.
    /// After a close frame or a violation further input is ignored.
    pub fn feed(&mut self, input: &mut [u8], on: impl FnMut(Event<'_>)) -> Result<(), Violation> { let _ = (input, on); todo!() }
    /// True when no frame or message is half read: a connection that ends here ended between messages.
    pub fn is_idle(&self) -> bool { todo!() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 }

/// Appends one final frame to `out`; `mask` is the client's key, None for a server.
pub fn encode(opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) { let _ = (opcode, payload, mask, out); todo!() }
/// One unmasked frame, ready to be shared by every receiver of a broadcast.
pub fn shared(opcode: Opcode, payload: &[u8]) -> Bytes { let _ = (opcode, payload); todo!() }
/// The payload of a close frame.
pub fn close_payload(code: u16, reason: &str) -> Vec<u8> { let _ = (code, reason); todo!() }
/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455 §4.2.2).
pub fn accept_key(key: &str) -> String { let _ = key; todo!() }
