//! Socket.IO protocol 5 packets. JSON stays text: the hot path never parses it.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind { Connect = 0, Disconnect = 1, Event = 2, Ack = 3, ConnectError = 4, BinaryEvent = 5, BinaryAck = 6 }

/// The text part of a packet. `data` is raw JSON ("" when absent), validated only as far as its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> { pub kind: Kind, pub namespace: Cow<'a, str>, pub ack: Option<u64>, pub attachments: usize, pub data: Cow<'a, str> }

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("socket.io packet error")]
pub struct PacketError; // closed enum in the end

pub fn decode(text: &str) -> Result<Packet<'_>, PacketError> { let _ = text; todo!() }
pub fn encode(packet: &Packet<'_>, out: &mut String) { let _ = (packet, out); todo!() }

/// Puts binary packets back together: text parts that announce attachments wait for them.
#[derive(Default)]
pub struct Assembler { /* pending */ }
/// A whole packet with its attachments in placeholder order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled { pub packet: Packet<'static>, pub attachments: Vec<Vec<u8>> }
impl Assembler {
    /// `Ok(None)`: more attachments are awaited. A text packet without attachments comes straight back, borrowed use is
    /// the caller's: call `decode` first and only hand over packets with `attachments > 0`.
    pub fn begin(&mut self, packet: Packet<'_>) -> Result<(), PacketError> { let _ = packet; todo!() }
    pub fn attachment(&mut self, bytes: &[u8]) -> Result<Option<Assembled>, PacketError> { let _ = bytes; todo!() }
    pub fn is_waiting(&self) -> bool { todo!() }
}
/// The event's name without parsing the arguments: the first string of the JSON array; None when it is not one.
pub fn event_name(data: &str) -> Option<Cow<'_, str>> { let _ = data; todo!() }
