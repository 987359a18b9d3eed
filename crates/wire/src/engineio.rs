//! Engine.IO protocol 4 packets, their WebSocket and polling forms, and the handshake.
//!
//! Text in, packets out, borrowed where the text allows. Sessions, heartbeats and upgrades are not here: they need a
//! clock and a socket. `EIO=3` is not here either: its clients ping, and its payloads are counted in UTF-16 units.
//!
//! The decision to question: [`decode`] takes the base64 form of a binary packet although it belongs to polling,
//! because clients that were told to avoid binary frames send it over WebSocket too.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What separates the packets of a polling body: the ASCII record separator.
pub const SEPARATOR: char = '\u{1e}';

/// One Engine.IO packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// `0`: the server's handshake, a [`Handshake`] as JSON.
    Open(Cow<'a, str>),
    /// `1`: the session ends.
    Close,
    /// `2`: the server's heartbeat, or a client's `probe` of a transport it would upgrade to.
    Ping(Cow<'a, str>),
    /// `3`: the answer to a ping, with the same data.
    Pong(Cow<'a, str>),
    /// `4`: a message.
    Text(Cow<'a, str>),
    /// A binary message: a binary WebSocket frame, or `b` and base64 in a polling body.
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
    /// The time between two pings of the server, in milliseconds.
    pub ping_interval: u64,
    /// How long the server waits for a pong, in milliseconds.
    pub ping_timeout: u64,
    /// The most bytes of a polling body; 0 when the server did not say (it joined the protocol late).
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
        let Handshake { ping_interval, ping_timeout, max_payload, .. } = self;
        format!(
            r#"{{"sid":{sid},"upgrades":{upgrades},"pingInterval":{ping_interval},"pingTimeout":{ping_timeout},"maxPayload":{max_payload}}}"#
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
    /// An open packet whose JSON is not a handshake.
    #[error("engine.io handshake must have sid, upgrades, pingInterval and pingTimeout, got: {reason}")]
    Handshake {
        /// What the JSON reader found.
        reason: String,
    },
}

/// One WebSocket text frame's packet. (A WebSocket binary frame *is* `Packet::Binary`.)
///
/// # Errors
/// [`PacketError`], never `Handshake`: an open packet's JSON is read by [`Handshake::from_json`].
pub fn decode(text: &str) -> Result<Packet<'_>, PacketError> {
    let Some(found) = text.chars().next() else { return Err(PacketError::Empty) };
    let data = &text[found.len_utf8()..];
    let alone = |packet: Packet<'static>, name: &'static str| match data.len() {
        0 => Ok(packet),
        length => Err(PacketError::UnexpectedData { packet: name, length }),
    };
    match found {
        '0' => Ok(Packet::Open(data.into())),
        '1' => alone(Packet::Close, "close"),
        '2' => Ok(Packet::Ping(data.into())),
        '3' => Ok(Packet::Pong(data.into())),
        '4' => Ok(Packet::Text(data.into())),
        '5' => alone(Packet::Upgrade, "upgrade"),
        '6' => alone(Packet::Noop, "noop"),
        'b' => {
            STANDARD.decode(data).map(|bytes| Packet::Binary(bytes.into())).map_err(|_| PacketError::Base64)
        }
        found => Err(PacketError::UnknownType { found }),
    }
}

/// Appends the text form to `out`; binary becomes `b<base64>` (polling only: over WebSocket send it raw).
///
/// Text with a U+001E in it cannot be told from two packets in a polling body: the protocol has no escape for it.
/// Socket.IO never sends one, because JSON escapes it.
pub fn encode(packet: &Packet<'_>, out: &mut String) {
    let (kind, data) = match packet {
        Packet::Open(data) => ('0', data.as_ref()),
        Packet::Close => ('1', ""),
        Packet::Ping(data) => ('2', data.as_ref()),
        Packet::Pong(data) => ('3', data.as_ref()),
        Packet::Text(data) => ('4', data.as_ref()),
        Packet::Upgrade => ('5', ""),
        Packet::Noop => ('6', ""),
        Packet::Binary(bytes) => {
            out.push('b');
            STANDARD.encode_string(bytes, out);
            return;
        }
    };
    out.reserve(1 + data.len());
    out.push(kind);
    out.push_str(data);
}

/// The packets of a polling body (joined by U+001E), lazily. Nothing follows an error: a body that is wrong in one
/// place cannot be trusted after it.
pub fn payload(body: &str) -> impl Iterator<Item = Result<Packet<'_>, PacketError>> {
    let mut failed = false;
    body.split(SEPARATOR)
        .map(decode)
        .take_while(move |packet| !std::mem::replace(&mut failed, packet.is_err()))
}

/// A polling body. No packets give an empty body, which no receiver accepts: send a noop instead.
pub fn encode_payload<'a>(packets: impl IntoIterator<Item = &'a Packet<'a>>) -> String {
    let mut body = String::new();
    for (index, packet) in packets.into_iter().enumerate() {
        if index > 0 {
            body.push(SEPARATOR);
        }
        encode(packet, &mut body);
    }
    body
}

/// Why a server turns a request away: HTTP 400 (403 for `Forbidden`) with the body `{"code":n,"message":"…"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `transport` is not one the server offers.
    UnknownTransport = 0,
    /// `sid` names no session.
    UnknownSid = 1,
    /// A handshake that is not a GET.
    BadHandshakeMethod = 2,
    /// A request the session's state does not allow: a second poll, a transport that goes backwards, bad packets.
    BadRequest = 3,
    /// The server's own check said no.
    Forbidden = 4,
    /// `EIO` is not a version the server speaks.
    UnsupportedVersion = 5,
}

impl Refusal {
    /// Every refusal, in the order of its codes.
    pub const ALL: [Refusal; 6] = [
        Refusal::UnknownTransport,
        Refusal::UnknownSid,
        Refusal::BadHandshakeMethod,
        Refusal::BadRequest,
        Refusal::Forbidden,
        Refusal::UnsupportedVersion,
    ];

    /// The number in the body.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The words in the body, as the reference server puts them.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::UnknownTransport => "Transport unknown",
            Refusal::UnknownSid => "Session ID unknown",
            Refusal::BadHandshakeMethod => "Bad handshake method",
            Refusal::BadRequest => "Bad request",
            Refusal::Forbidden => "Forbidden",
            Refusal::UnsupportedVersion => "Unsupported protocol version",
        }
    }

    /// The HTTP status the body comes with.
    pub fn status(self) -> u16 {
        if self == Refusal::Forbidden { 403 } else { 400 }
    }

    /// The response's body.
    pub fn to_json(self) -> String {
        format!(r#"{{"code":{},"message":"{}"}}"#, self.code(), self.message())
    }

    /// The refusal a response's body names; None when it is something else. Goes by the code: servers word the
    /// message as they like.
    pub fn from_json(body: &str) -> Option<Refusal> {
        #[derive(serde::Deserialize)]
        struct Body {
            code: usize,
        }
        let body: Body = serde_json::from_str(body).ok()?;
        Refusal::ALL.get(body.code).copied()
    }
}
