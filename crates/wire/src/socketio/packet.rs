//! The text part: `<type>[<attachments>-][<namespace>,][<ack id>][<JSON>]`.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Revision;

/// The attachments one packet may announce unless the caller says otherwise: the reference decoder's default.
pub const MAX_ATTACHMENTS: usize = 10;

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asks for a namespace, or grants it; carries an object or nothing.
    Connect = 0,
    /// Leaves a namespace; carries nothing.
    Disconnect = 1,
    /// An event; carries an array that begins with its name.
    Event = 2,
    /// The answer to an event with an id; carries an array.
    Ack = 3,
    /// A namespace is refused; carries an object. In protocol 4 it is ERROR: any JSON or nothing, also for a namespace
    /// that was granted.
    ConnectError = 4,
    /// An event whose array holds placeholders for binary attachments.
    BinaryEvent = 5,
    /// An acknowledgement with binary attachments.
    BinaryAck = 6,
}

impl Kind {
    /// Whether binary attachments follow the text part.
    pub fn is_binary(self) -> bool {
        matches!(self, Kind::BinaryEvent | Kind::BinaryAck)
    }

    fn from_digit(digit: u8) -> Option<Kind> {
        Some(match digit {
            b'0' => Kind::Connect,
            b'1' => Kind::Disconnect,
            b'2' => Kind::Event,
            b'3' => Kind::Ack,
            b'4' => Kind::ConnectError,
            b'5' => Kind::BinaryEvent,
            b'6' => Kind::BinaryAck,
            _ => return None,
        })
    }
}

/// The text part of a packet. `data` is raw JSON ("" when absent), validated only as far as its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The packet's type.
    pub kind: Kind,
    /// The namespace, `/` when the packet names none.
    pub namespace: Cow<'a, str>,
    /// On an event: acknowledge me with this id. On an acknowledgement: the id it answers.
    pub ack: Option<u64>,
    /// Binary packets that follow: at least one when the kind is binary, else 0.
    pub attachments: usize,
    /// Raw JSON, "" when absent.
    pub data: Cow<'a, str>,
}

impl Packet<'_> {
    /// The same packet, free of the text it was read from.
    pub fn into_owned(self) -> Packet<'static> {
        Packet {
            kind: self.kind,
            namespace: Cow::Owned(self.namespace.into_owned()),
            ack: self.ack,
            attachments: self.attachments,
            data: Cow::Owned(self.data.into_owned()),
        }
    }
}

/// Text that is not a Socket.IO packet, or a packet in the wrong place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// No text at all.
    #[error("socket.io packet must begin with its type, got nothing")]
    Empty,
    /// The first character is not a packet type.
    #[error("socket.io packet type must be 0 to 6, got {found:?}")]
    UnknownType {
        /// The first character.
        found: char,
    },
    /// A binary packet without `<number>-` behind its type, or with 0 as the number.
    #[error("socket.io {kind:?} must announce at least one attachment as a number and a dash, got none")]
    AttachmentCount {
        /// The packet's kind.
        kind: Kind,
    },
    /// More attachments than the decoder was told to accept.
    #[error("socket.io packet may have at most {limit} attachments, got {announced}")]
    TooManyAttachments {
        /// The packet's announced count; `usize::MAX` also stands for anything larger.
        announced: usize,
        /// The decoder's limit.
        limit: usize,
    },
    /// An acknowledgement id over 2⁶⁴ − 1.
    #[error("socket.io acknowledgement id must fit in 64 bits, got {digits} digits")]
    AckTooLarge {
        /// The id's length in digits.
        digits: usize,
    },
    /// An acknowledgement that does not say what it answers.
    #[error("socket.io {kind:?} must carry the id it answers, got none")]
    AckMissing {
        /// `Ack` or `BinaryAck`.
        kind: Kind,
    },
    /// An id on a packet that nobody can acknowledge.
    #[error("socket.io {kind:?} must not carry an acknowledgement id, got {ack}")]
    AckUnexpected {
        /// `Connect`, `Disconnect` or `ConnectError`.
        kind: Kind,
        /// The id.
        ack: u64,
    },
    /// The payload does not begin as the kind demands.
    #[error("socket.io {kind:?} must carry {}, got {}", .revision.payload_rule(*.kind), Found(*.found))]
    Payload {
        /// The protocol whose rule it is.
        revision: Revision,
        /// The packet's kind.
        kind: Kind,
        /// The payload's first character; None when there is no payload.
        found: Option<char>,
    },
    /// [`Assembler::begin`](super::Assembler::begin) was given a packet that awaits nothing.
    #[error("socket.io packet to assemble must announce attachments, got none")]
    NothingToAssemble,
    /// A text packet between a binary packet and its attachments.
    #[error(
        "socket.io attachments must follow their packet at once, got a text packet with {missing} missing"
    )]
    TextBetweenAttachments {
        /// Attachments still awaited.
        missing: usize,
    },
    /// A binary packet that no text packet announced.
    #[error("socket.io attachment must be announced by a binary packet, got one unannounced")]
    UnexpectedAttachment,
}

struct Found(Option<char>);

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(found) => write!(f, "one that begins with {found:?}"),
            None => f.write_str("none"),
        }
    }
}

/// Reads the text part of a packet that may announce up to [`MAX_ATTACHMENTS`].
///
/// # Errors
/// [`PacketError`] for the first rule broken, read from left to right.
pub fn decode(text: &str) -> Result<Packet<'_>, PacketError> {
    read(text, Revision::Five)
}

pub(super) fn read(text: &str, revision: Revision) -> Result<Packet<'_>, PacketError> {
    let Some(found) = text.chars().next() else { return Err(PacketError::Empty) };
    let kind =
        u8::try_from(found).ok().and_then(Kind::from_digit).ok_or(PacketError::UnknownType { found })?;
    let mut rest = &text[1..];
    let mut attachments = 0;
    if kind.is_binary() {
        (attachments, rest) = attachment_count(kind, rest)?;
    }
    let mut namespace = "/";
    if rest.starts_with('/') {
        (namespace, rest) = rest.split_once(',').unwrap_or((rest, ""));
    }
    let (ack, rest) = ack_id(rest)?;
    match (kind, ack) {
        (Kind::Ack | Kind::BinaryAck, None) => return Err(PacketError::AckMissing { kind }),
        (Kind::Connect | Kind::Disconnect | Kind::ConnectError, Some(ack)) => {
            return Err(PacketError::AckUnexpected { kind, ack });
        }
        _ => {}
    }
    if !revision.allows(kind, rest.bytes().next()) {
        return Err(PacketError::Payload { revision, kind, found: rest.chars().next() });
    }
    Ok(Packet { kind, namespace: namespace.into(), ack, attachments, data: rest.into() })
}

fn attachment_count(kind: Kind, text: &str) -> Result<(usize, &str), PacketError> {
    let (digits, rest) = leading_digits(text);
    let Some(rest) = rest.strip_prefix('-').filter(|_| !digits.is_empty()) else {
        return Err(PacketError::AttachmentCount { kind });
    };
    // Only digits are left to fail on, so a failure means a number too large to hold.
    let announced = digits.parse().unwrap_or(usize::MAX);
    if announced == 0 {
        return Err(PacketError::AttachmentCount { kind });
    }
    if announced > MAX_ATTACHMENTS {
        return Err(PacketError::TooManyAttachments { announced, limit: MAX_ATTACHMENTS });
    }
    Ok((announced, rest))
}

fn ack_id(text: &str) -> Result<(Option<u64>, &str), PacketError> {
    let (digits, rest) = leading_digits(text);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    match digits.parse() {
        Ok(id) => Ok((Some(id), rest)),
        Err(_) => Err(PacketError::AckTooLarge { digits: digits.len() }),
    }
}

fn leading_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Appends the text part to `out`; the attachments are sent after it as binary packets. The caller keeps the kind's
/// rules: what is given is written.
pub fn encode(packet: &Packet<'_>, out: &mut String) {
    out.reserve(packet.namespace.len() + packet.data.len() + 24);
    out.push(char::from(b'0' + packet.kind as u8));
    // Writing to a String cannot fail.
    if packet.kind.is_binary() {
        let _ = write!(out, "{}-", packet.attachments);
    }
    if !matches!(packet.namespace.as_ref(), "" | "/") {
        out.push_str(&packet.namespace);
        out.push(',');
    }
    if let Some(ack) = packet.ack {
        let _ = write!(out, "{ack}");
    }
    out.push_str(&packet.data);
}
