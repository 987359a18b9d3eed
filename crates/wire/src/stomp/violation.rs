//! The mistakes a peer can make, one variant per rule.

use super::frame::Command;
use super::version::Version;

/// A breach of the protocol, or a limit of ours. After one that [`feed`](super::Decoder::feed) returned the stream has
/// no meaning: a server answers with an ERROR frame, and both close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A first line that is no command of the sending side.
    #[error("a stomp frame must begin with a command of its side, got something else")]
    Command,
    /// A command that the session's version does not have.
    #[error("a stomp {} session must not carry {}, got one", .version.name(), .command.name())]
    CommandVersion {
        /// The command.
        command: Command,
        /// The session's version.
        version: Version,
    },
    /// Anything before the frames that open a session.
    #[error("a stomp session must open with CONNECT (CONNECTED from a server), got {}", .command.name())]
    NotConnected {
        /// The command received instead.
        command: Command,
    },
    /// CONNECTED with a version we did not offer.
    #[error("a stomp server must choose a version the client accepts, got another")]
    Version,
    /// Something between frames that is no end of line (CR without LF included), a CR before 1.2, or a stray CR in 1.2.
    #[error("a stomp line must end with LF, from 1.2 on also CR LF, and hold no other CR, got one")]
    CarriageReturn,
    /// A header without a colon, or without a name.
    #[error("a stomp header must be a name, a colon and a value, got something else")]
    Header,
    /// NUL before the empty line.
    #[error("a stomp frame's head must end with an empty line, got NUL")]
    NulInHead,
    /// A `content-length` that is no number.
    #[error("stomp content-length must be a number, got something else")]
    ContentLength,
    /// The byte after `content-length` bytes is not NUL.
    #[error("a stomp body must be followed by NUL where its content-length ends, got another byte")]
    NulMissing,
    /// A body on a frame other than SEND, MESSAGE and ERROR (1.1, 1.2 Body).
    #[error("stomp {} must not carry a body, got one", .command.name())]
    Body {
        /// The command.
        command: Command,
    },
    /// Our own limit.
    #[error("a stomp line must have at most {limit} bytes, got more")]
    LineTooLong {
        /// The limit in bytes.
        limit: u32,
    },
    /// Our own limit.
    #[error("a stomp frame must have at most {limit} headers, got more")]
    TooManyHeaders {
        /// The limit.
        limit: u16,
    },
    /// Our own limit.
    #[error("a stomp body must have at most {limit} bytes, got more")]
    BodyTooLong {
        /// The limit in bytes.
        limit: u32,
    },
    /// A backslash before something that is no escape of the version.
    #[error("a backslash in a stomp {} header must begin an escape of that version, got another", .version.name())]
    Escape {
        /// The frame's version.
        version: Version,
    },
    /// A header that is not UTF-8.
    #[error("a stomp header must be UTF-8, got something else")]
    Utf8,
    /// A header the command demands.
    #[error("stomp {} must carry {name}, got none", .command.name())]
    HeaderMissing {
        /// The command.
        command: Command,
        /// The header's name.
        name: &'static str,
    },
    /// A `heart-beat` header that is not two numbers.
    #[error("stomp heart-beat must be two numbers below 2^32 with a comma between, got something else")]
    HeartBeat,
    /// An `ack` header of SUBSCRIBE that names no mode of the version.
    #[error("stomp ack must be auto, client or (from 1.1 on) client-individual, got something else")]
    AckMode,
}
