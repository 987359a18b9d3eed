//! How a message is acknowledged, which every version does differently.
//!
//! | version | MESSAGE carries | ACK (and NACK) carry |
//! |---|---|---|
//! | 1.0 | `message-id` | `message-id`; `subscription` if they like |
//! | 1.1 | `message-id`, `subscription` | `message-id`, `subscription` |
//! | 1.2 | `ack`, if it must be acknowledged | `id`, with the value of `ack` |

use std::borrow::Cow;

use super::encode::Writer;
use super::frame::{Command, Frame};
use super::version::Version;
use super::violation::Violation;

/// How a subscription's messages are acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckMode {
    /// Not at all.
    #[default]
    Auto,
    /// An acknowledgement covers all messages before it, too.
    Client,
    /// Each for itself, from 1.1 on.
    ClientIndividual,
}

impl AckMode {
    /// Reads SUBSCRIBE's `ack` header; none is `auto`.
    ///
    /// # Errors
    /// [`Violation::AckMode`] for a mode the version does not have.
    pub fn from_header(value: Option<&str>, version: Version) -> Result<AckMode, Violation> {
        match value {
            None | Some("auto") => Ok(AckMode::Auto),
            Some("client") => Ok(AckMode::Client),
            Some("client-individual") if version > Version::V1_0 => Ok(AckMode::ClientIndividual),
            Some(_) => Err(Violation::AckMode),
        }
    }

    /// The header's value.
    pub fn name(self) -> &'static str {
        match self {
            AckMode::Auto => "auto",
            AckMode::Client => "client",
            AckMode::ClientIndividual => "client-individual",
        }
    }
}

/// The id that acknowledges a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AckId<'a> {
    /// 1.0 and 1.1.
    Message {
        /// The message's `message-id`.
        message_id: Cow<'a, str>,
        /// Its `subscription`: always in 1.1, perhaps in 1.0.
        subscription: Option<Cow<'a, str>>,
    },
    /// 1.2: the message's `ack`.
    Ack(Cow<'a, str>),
}

impl<'a> AckId<'a> {
    /// The id that acknowledges this MESSAGE; None when it says (1.2) that it needs no acknowledgement.
    ///
    /// # Errors
    /// A missing or wrong header.
    pub fn of(message: &Frame<'a>) -> Result<Option<AckId<'a>>, Violation> {
        if message.version == Version::V1_2 {
            return Ok(message.header("ack")?.map(AckId::Ack));
        }
        AckId::message(message).map(Some)
    }

    /// The id that this ACK or NACK acknowledges.
    ///
    /// # Errors
    /// A missing or wrong header.
    pub fn read(ack: &Frame<'a>) -> Result<AckId<'a>, Violation> {
        if ack.version == Version::V1_2 {
            return ack.required("id").map(AckId::Ack);
        }
        AckId::message(ack)
    }

    fn message(frame: &Frame<'a>) -> Result<AckId<'a>, Violation> {
        let message_id = frame.required("message-id")?;
        let subscription = if frame.version == Version::V1_1 {
            Some(frame.required("subscription")?)
        } else {
            frame.header("subscription")?
        };
        Ok(AckId::Message { message_id, subscription })
    }

    /// Begins the ACK or NACK; the caller adds `transaction` or `receipt` if it wants and ends it.
    pub fn frame<'o>(&self, command: Command, version: Version, out: &'o mut Vec<u8>) -> Writer<'o> {
        let writer = Writer::new(command, version, out);
        match self {
            AckId::Message { message_id, subscription } => {
                writer.header("message-id", message_id).optional("subscription", subscription.as_deref())
            }
            AckId::Ack(id) => writer.header("id", id),
        }
    }
}
