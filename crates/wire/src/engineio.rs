//! Engine.IO packets, their WebSocket and polling forms, and the handshake: protocol 4, and [`Version::Three`] of
//! Socket.IO 1 and 2 beside it.
//!
//! Text in, packets out, borrowed where the text allows. Sessions, heartbeats and upgrades are not here: they need a
//! clock and a socket. JSONP is not here either: only browsers of its time need it.
//!
//! The free functions speak protocol 4. Who speaks either carries the version along:
//! ```
//! use sonagi_wire::engineio::{Packet, PacketError, Version};
//!
//! let version = Version::from_query("3").unwrap_or_default();
//! // A client reads what a poll brought,
//! let packets: Result<Vec<_>, PacketError> = version.payload("4:4소나기1:3").collect();
//! assert_eq!(packets?, [Packet::Text("소나기".into()), Packet::Pong("".into())]);
//! // and a server joins packets that were encoded once for all who receive them.
//! let mut shared = String::new();
//! version.encode(&Packet::Text("소나기".into()), &mut shared);
//! let mut body = String::new();
//! version.append(&shared, &mut body);
//! version.append("3", &mut body);
//! assert_eq!(body, "4:4소나기1:3");
//! # Ok::<(), PacketError>(())
//! ```
//!
//! The decision to question: [`decode`] takes the base64 form of a binary packet although it belongs to polling,
//! because clients that were told to avoid binary frames send it over WebSocket too.

mod payload;
mod refusal;
mod version;

use std::borrow::Cow;

pub use payload::{BinaryPayload, Payload, binary_payload, encode_binary_payload};
pub use refusal::Refusal;
pub use version::Version;

/// The separator of packets in a polling body: the ASCII record separator.
pub const SEPARATOR: char = '\u{1e}';

/// An Engine.IO packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// `0`: the server's handshake, a [`Handshake`] as JSON.
    Open(Cow<'a, str>),
    /// `1`: the session ends.
    Close,
    /// `2`: the server's heartbeat (protocol 3: the client's), or a client's `probe` of a transport it would upgrade
    /// to.
    Ping(Cow<'a, str>),
    /// `3`: the answer to a ping, with the same data.
    Pong(Cow<'a, str>),
    /// `4`: a message.
    Text(Cow<'a, str>),
    /// A binary message: a binary WebSocket frame, or `b` and base64 in a polling body. Protocol 3 puts the type before
    /// the bytes, and has a binary form of the polling body.
    Binary(Cow<'a, [u8]>),
    /// `5`: the client moves to the transport it probed.
    Upgrade,
    /// `6`: nothing; ends a pending poll while the transport is upgraded.
    Noop,
}

/// The JSON of an open packet. Times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handshake {
    /// The session's id, to be repeated in each request's query.
    pub sid: String,
    /// Transports the client may upgrade to.
    pub upgrades: Vec<String>,
    /// The time between two pings of the server (protocol 3: of the client), in milliseconds.
    pub ping_interval: u64,
    /// How long the server (protocol 3: the client) waits for a pong, in milliseconds.
    pub ping_timeout: u64,
    /// The most bytes of a polling body; 0 when the server did not say (it joined protocol 4 late), and then not
    /// written.
    #[serde(default)]
    pub max_payload: u64,
}

impl Handshake {
    /// Reads an open packet's data. Unknown members are ignored.
    ///
    /// # Errors
    /// [`PacketError::Handshake`] when a member is missing or has the wrong type.
    pub fn from_json(json: &str) -> Result<Handshake, PacketError> {
        serde_json::from_str(json).map_err(|error| PacketError::Handshake { reason: error.to_string() })
    }

    /// The data of an open packet.
    pub fn to_json(&self) -> String {
        let sid = serde_json::Value::from(self.sid.as_str());
        let upgrades = serde_json::Value::from(self.upgrades.clone());
        let Handshake { ping_interval, ping_timeout, .. } = self;
        let max_payload = match self.max_payload {
            0 => String::new(),
            bytes => format!(r#","maxPayload":{bytes}"#),
        };
        format!(
            r#"{{"sid":{sid},"upgrades":{upgrades},"pingInterval":{ping_interval},"pingTimeout":{ping_timeout}{max_payload}}}"#
        )
    }
}

/// Text that is not an Engine.IO packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// An empty frame, an empty body, or nothing between two separators.
    #[error("engine.io packet must begin with its type, got nothing")]
    Empty,
    /// The first character is not a packet type.
    #[error("engine.io packet type must be 0 to 6 or b, got {found:?}")]
    UnknownType {
        /// The first character.
        found: char,
    },
    /// A close, upgrade or noop packet with something behind its type.
    #[error("engine.io {packet} packet must be alone, got {length} bytes behind it")]
    UnexpectedData {
        /// `close`, `upgrade` or `noop`.
        packet: &'static str,
        /// The bytes that should not be there.
        length: usize,
    },
    /// A binary packet that is not base64.
    #[error("engine.io binary packet must be padded base64, got something else")]
    Base64,
    /// Protocol 3: bytes that are not a message.
    #[error("engine.io 3 binary packet must be a message, type 4, got type {found:?}")]
    BinaryType {
        /// The first character of the base64 form; the type byte as a digit, or as the character it is.
        found: char,
    },
    /// Protocol 3: no length where a packet of a polling body must begin.
    #[error(
        "engine.io 3 packet must follow its length and the length's end mark in a payload, got something else"
    )]
    Length,
    /// Protocol 3: a polling body that ends in a packet, or a length that cuts a character in two.
    #[error(
        "engine.io 3 packet must be as long as it says, {announced} units, got fewer or half a character"
    )]
    TooShort {
        /// UTF-16 units in a text body, bytes in a binary one.
        announced: usize,
    },
    /// Protocol 3: text in a binary polling body that is not UTF-8.
    #[error("engine.io 3 text in a binary payload must be UTF-8, got something else")]
    Utf8,
    /// An open packet whose JSON is not a handshake.
    #[error("engine.io handshake must have sid, upgrades, pingInterval and pingTimeout, got: {reason}")]
    Handshake {
        /// The JSON reader's message.
        reason: String,
    },
}

/// Decodes the packet of a WebSocket text frame. (A WebSocket binary frame *is* `Packet::Binary`.)
///
/// # Errors
/// [`PacketError`], never `Handshake`: an open packet's JSON is read by [`Handshake::from_json`].
pub fn decode(text: &str) -> Result<Packet<'_>, PacketError> {
    Version::Four.decode(text)
}

/// Appends the text form to `out`; binary becomes `b<base64>` (polling only: over WebSocket send it raw).
///
/// Text with a U+001E in it cannot be told from two packets in a polling body: the protocol has no escape for it.
/// Socket.IO never sends one, because JSON escapes it.
pub fn encode(packet: &Packet<'_>, out: &mut String) {
    Version::Four.encode(packet, out);
}

/// The packets of a polling body (joined by U+001E), lazily. Nothing follows an error: a body that is wrong in one
/// place cannot be trusted after it.
pub fn payload(body: &str) -> Payload<'_> {
    Version::Four.payload(body)
}

/// A polling body. No packets give an empty body, which no receiver accepts: send a noop instead.
pub fn encode_payload<'a>(packets: impl IntoIterator<Item = &'a Packet<'a>>) -> String {
    Version::Four.encode_payload(packets)
}
