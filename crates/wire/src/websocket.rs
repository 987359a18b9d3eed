//! RFC 6455 frames for both sides: a push decoder that borrows its input, and encoders.
//!
//! The decoder keeps nothing while a connection is idle: the caller reads into a buffer shared by all its
//! connections and feeds the slice; only an unfinished frame or message is copied aside. It is strict: what the
//! RFC forbids is a [`Violation`], never repaired. Extensions are deliberately absent, so every reserved bit is a
//! violation, and so is the opening handshake except for [`accept_key`]: that is HTTP and has its own parser.
//!
//! The decision to question is the callback: [`Decoder::feed`] calls back with borrowed events rather than
//! returning them, because that lets a read of a thousand small frames be decoded without one allocation.

mod decoder;
mod encode;
mod header;
mod mask;
mod text;
mod violation;

pub use decoder::{Decoder, Event};
pub use encode::{Opcode, accept_key, close_payload, encode, header, shared};
pub use header::{MAX_CONTROL_PAYLOAD, is_valid_close_code};
pub use violation::Violation;

/// Our end of the connection: clients mask what they send and refuse masked frames, servers the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// We opened the connection.
    Client,
    /// We accepted the connection.
    Server,
}
