//! The differences between the protocol's two versions, in one place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::payload::{self, Payload};
use super::{Packet, PacketError, SEPARATOR};

/// The type byte before the bytes of a binary message of protocol 3: the number, not the digit.
const MESSAGE: u8 = 4;

/// A version of the protocol: the `EIO` of a request's query.
///
/// | | three | four |
/// |---|---|---|
/// | who pings | the client | the server |
/// | polling body | `<UTF-16 units>:<packet>` each, or binary | packets joined by U+001E |
/// | base64 | `b4<base64>` | `b<base64>` |
/// | binary frame | the byte 4, then the message | the message |
/// | handshake | without `maxPayload` | with it |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `EIO=3`: Socket.IO 1 and 2.
    ///
    /// Servers of Socket.IO 1 write characters beyond ASCII in a polling body as UTF-8 *twice*, under the same number;
    /// that is not undone, because nothing tells it from text that looks so.
    Three = 3,
    /// `EIO=4`: Socket.IO 3 and 4.
    #[default]
    Four = 4,
}

impl Version {
    /// The version a query's `EIO` names; None when it is not one of ours.
    pub fn from_query(value: &str) -> Option<Version> {
        match value {
            "3" => Some(Version::Three),
            "4" => Some(Version::Four),
            _ => None,
        }
    }

    /// The number in the query.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Whether the heartbeat is the client's: it pings every `pingInterval`, and the server is dead that has answered
    /// with nothing for `pingTimeout`.
    pub fn client_pings(self) -> bool {
        self == Version::Three
    }

    /// Decodes the packet of a WebSocket text frame.
    ///
    /// # Errors
    /// [`PacketError`], never `Handshake`.
    pub fn decode(self, text: &str) -> Result<Packet<'_>, PacketError> {
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
                let base64 = match self {
                    Version::Three => base64_of_message(data)?,
                    Version::Four => data,
                };
                let bytes = STANDARD.decode(base64).map_err(|_| PacketError::Base64)?;
                Ok(Packet::Binary(bytes.into()))
            }
            found => Err(PacketError::UnknownType { found }),
        }
    }

    /// Decodes the packet of a WebSocket binary frame.
    ///
    /// # Errors
    /// [`PacketError::Empty`] and [`PacketError::BinaryType`], in protocol 3 only.
    pub fn decode_binary(self, frame: &[u8]) -> Result<Packet<'_>, PacketError> {
        match (self, frame) {
            (Version::Four, bytes) | (Version::Three, [MESSAGE, bytes @ ..]) => {
                Ok(Packet::Binary(bytes.into()))
            }
            (Version::Three, []) => Err(PacketError::Empty),
            (Version::Three, [kind @ 0..=9, ..]) => {
                Err(PacketError::BinaryType { found: char::from(b'0' + kind) })
            }
            (Version::Three, [kind, ..]) => Err(PacketError::BinaryType { found: char::from(*kind) }),
        }
    }

    /// Appends the text form to `out`; binary becomes base64, for polling and for clients that asked for it.
    pub fn encode(self, packet: &Packet<'_>, out: &mut String) {
        let (kind, data) = match packet {
            Packet::Open(data) => ('0', data.as_ref()),
            Packet::Close => ('1', ""),
            Packet::Ping(data) => ('2', data.as_ref()),
            Packet::Pong(data) => ('3', data.as_ref()),
            Packet::Text(data) => ('4', data.as_ref()),
            Packet::Upgrade => ('5', ""),
            Packet::Noop => ('6', ""),
            Packet::Binary(bytes) => {
                out.push_str(match self {
                    Version::Three => "b4",
                    Version::Four => "b",
                });
                STANDARD.encode_string(bytes, out);
                return;
            }
        };
        out.reserve(1 + data.len());
        out.push(kind);
        out.push_str(data);
    }

    /// Appends the payload of a binary WebSocket frame that carries the message `bytes`.
    pub fn encode_binary(self, bytes: &[u8], out: &mut Vec<u8>) {
        out.reserve(1 + bytes.len());
        if self == Version::Three {
            out.push(MESSAGE);
        }
        out.extend_from_slice(bytes);
    }

    /// The packets of a polling body, lazily. Nothing follows an error. Protocol 3 has packets of no length, which
    /// count as nothing: `0:` is a body without packets. Its binary form is read by [`super::binary_payload`].
    pub fn payload(self, body: &str) -> Payload<'_> {
        Payload::new(self, body)
    }

    /// Appends a packet in its text form to a polling body. In protocol 3 what is appended does not depend on the body:
    /// it may be written once and shared by all who receive the packet.
    pub fn append(self, packet: &str, body: &mut String) {
        match self {
            Version::Three => payload::push_counted(packet, body),
            Version::Four => {
                if !body.is_empty() {
                    body.push(SEPARATOR);
                }
                body.push_str(packet);
            }
        }
    }

    /// A polling body. Without packets it is `0:` in protocol 3, and empty in 4, which no receiver accepts: send a
    /// noop.
    pub fn encode_payload<'a>(self, packets: impl IntoIterator<Item = &'a Packet<'a>>) -> String {
        let mut body = String::new();
        let mut text = String::new();
        for packet in packets {
            if self == Version::Three {
                text.clear();
                self.encode(packet, &mut text);
                self.append(&text, &mut body);
                continue;
            }
            // Nothing has to be known before the packet is written.
            if !body.is_empty() {
                body.push(SEPARATOR);
            }
            self.encode(packet, &mut body);
        }
        if body.is_empty() && self == Version::Three {
            body.push_str("0:");
        }
        body
    }
}

/// The base64 behind the type of a message.
fn base64_of_message(data: &str) -> Result<&str, PacketError> {
    match data.chars().next() {
        Some('4') => Ok(&data[1..]),
        Some(found) => Err(PacketError::BinaryType { found }),
        None => Err(PacketError::Empty),
    }
}
