//! Engine.IO protocol 4 packets, their WebSocket and polling forms, and the handshake.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    Open(Cow<'a, str>),
    Close,
    Ping(Cow<'a, str>),
    Pong(Cow<'a, str>),
    Text(Cow<'a, str>),
    Binary(Cow<'a, [u8]>),
    Upgrade,
    Noop,
}

/// The JSON of an open packet.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handshake { pub sid: String, pub upgrades: Vec<String>, pub ping_interval: u64, pub ping_timeout: u64, pub max_payload: u64 }

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("engine.io packet error")]
pub struct PacketError; // closed enum in the end

/// One WebSocket text frame's packet. (A WebSocket binary frame *is* `Packet::Binary`.)
pub fn decode(text: &str) -> Result<Packet<'_>, PacketError> { let _ = text; todo!() }
/// The text form; binary becomes `b<base64>` (polling only: over WebSocket send it raw).
pub fn encode(packet: &Packet<'_>, out: &mut String) { let _ = (packet, out); todo!() }
/// The packets of a polling body (joined by U+001E), lazily.
pub fn payload(body: &str) -> impl Iterator<Item = Result<Packet<'_>, PacketError>> { let _ = body; std::iter::empty() }
/// A polling body.
pub fn encode_payload<'a>(packets: impl IntoIterator<Item = &'a Packet<'a>>) -> String { let _ = packets.into_iter(); todo!() }

/// The errors of §"error handling": HTTP 400 body `{"code":n,"message":"…"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal { UnknownTransport = 0, UnknownSid = 1, BadHandshakeMethod = 2, BadRequest = 3, Forbidden = 4, UnsupportedVersion = 5 }
