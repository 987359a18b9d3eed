//! A frame as it lies in the input: the command, the header lines, the body.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::escape;
use super::side::Side;
use super::version::Version;
use super::violation::Violation;

/// A frame's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens a session.
    Connect,
    /// Opens a session, from 1.1 on; like CONNECT in all else.
    Stomp,
    /// Sends a message to a destination.
    Send,
    /// Asks for a destination's messages.
    Subscribe,
    /// Ends a subscription.
    Unsubscribe,
    /// Acknowledges a message.
    Ack,
    /// Refuses a message, from 1.1 on.
    Nack,
    /// Begins a transaction.
    Begin,
    /// Commits a transaction.
    Commit,
    /// Drops a transaction.
    Abort,
    /// Ends the session.
    Disconnect,
    /// Grants a session.
    Connected,
    /// A subscription's message.
    Message,
    /// A frame with a `receipt` header was processed.
    Receipt,
    /// Something went wrong; the server closes after it.
    Error,
}

const NAMES: [(&str, Command); 15] = [
    ("CONNECT", Command::Connect),
    ("STOMP", Command::Stomp),
    ("SEND", Command::Send),
    ("SUBSCRIBE", Command::Subscribe),
    ("UNSUBSCRIBE", Command::Unsubscribe),
    ("ACK", Command::Ack),
    ("NACK", Command::Nack),
    ("BEGIN", Command::Begin),
    ("COMMIT", Command::Commit),
    ("ABORT", Command::Abort),
    ("DISCONNECT", Command::Disconnect),
    ("CONNECTED", Command::Connected),
    ("MESSAGE", Command::Message),
    ("RECEIPT", Command::Receipt),
    ("ERROR", Command::Error),
];

impl Command {
    /// Every command, those of clients first.
    pub const ALL: [Command; 15] = {
        let mut all = [Command::Connect; 15];
        let mut at = 0;
        while at < all.len() {
            all[at] = NAMES[at].1;
            at += 1;
        }
        all
    };

    /// The frame's first line.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// Reads a first line; commands are case sensitive.
    pub fn from_name(name: &[u8]) -> Option<Command> {
        match name {
            b"MESSAGE" => Some(Command::Message), // nearly all a client reads
            b"SEND" => Some(Command::Send),       // nearly all a server reads
            _ => NAMES.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, command)| *command),
        }
    }

    /// The side that sends it.
    pub fn sent_by(self) -> Side {
        match self {
            Command::Connected | Command::Message | Command::Receipt | Command::Error => Side::Server,
            _ => Side::Client,
        }
    }

    /// Whether it may carry a body: SEND, MESSAGE and ERROR.
    pub fn has_body(self) -> bool {
        matches!(self, Command::Send | Command::Message | Command::Error)
    }

    /// Whether its headers are escaped in versions that escape: all but CONNECT, STOMP and CONNECTED.
    pub fn escapes(self) -> bool {
        !matches!(self, Command::Connect | Command::Stomp | Command::Connected)
    }
}

/// A frame, borrowed from the input or from what the decoder put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The frame's command.
    pub command: Command,
    /// The version its headers are read by: for CONNECT and CONNECTED the one the session gets, 1.0 where none is
    /// settled.
    pub version: Version,
    /// The header lines, each with its LF.
    pub(super) head: &'a [u8],
    /// The body, without its NUL.
    pub body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first value of the header as it lies in the frame, still escaped; in 1.0 without the spaces around it. For
    /// what is only compared.
    #[inline]
    pub fn raw(&self, name: &str) -> Option<&'a [u8]> {
        // An escape gives LF, CR, a colon or a backslash. A name with none of them is found as it is written.
        if name.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | b':' | b'\\')) {
            return self.raw_escaped(name);
        }
        raw(self.head, name.as_bytes(), self.padding())
    }

    #[cold]
    fn raw_escaped(&self, name: &str) -> Option<&'a [u8]> {
        let mut escaped = Vec::new();
        escape::escape(name, true, self.escapes_by(), &mut escaped)?;
        raw(self.head, &escaped, self.padding())
    }

    /// The first value of the header, unescaped.
    ///
    /// # Errors
    /// [`Violation::Escape`] or [`Violation::Utf8`] when the value is wrong: both are fatal to the session.
    pub fn header(&self, name: &str) -> Result<Option<Cow<'a, str>>, Violation> {
        self.raw(name).map(|raw| escape::unescape(raw, self.escapes_by())).transpose()
    }

    /// A header the command demands.
    ///
    /// # Errors
    /// The errors of [`Frame::header`], and [`Violation::HeaderMissing`].
    pub fn required(&self, name: &'static str) -> Result<Cow<'a, str>, Violation> {
        self.header(name)?.ok_or(Violation::HeaderMissing { command: self.command, name })
    }

    /// All headers in order, repeated ones too.
    pub fn headers(&self) -> Headers<'a> {
        Headers { rest: self.head, padding: self.padding(), escapes_by: self.escapes_by() }
    }

    /// Holds every header to the version's escapes and to UTF-8, which reading one header does for that one only. A
    /// service does this with what it passes on.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check(&self) -> Result<(), Violation> {
        self.headers().try_for_each(|header| header.map(|_| ()))
    }

    fn padding(&self) -> Padding {
        Padding::of((self.command.escapes()).then_some(self.version), self.version)
    }

    fn escapes_by(&self) -> Option<Version> {
        self.command.escapes().then_some(self.version)
    }
}

/// A frame's headers, unescaped.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    rest: &'a [u8],
    padding: Padding,
    escapes_by: Option<Version>,
}

impl<'a> Iterator for Headers<'a> {
    type Item = Result<(Cow<'a, str>, Cow<'a, str>), Violation>;

    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr(b'\n', self.rest)?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let colon = memchr(b':', line)?;
        let name = escape::unescape(&line[..colon], self.escapes_by);
        let value = escape::unescape(self.padding.strip(&line[colon + 1..]), self.escapes_by);
        Some(name.and_then(|name| Ok((name, value?))))
    }
}

/// The first value of a header in lines that each end with LF.
#[inline]
pub(super) fn raw<'a>(head: &'a [u8], name: &[u8], padding: Padding) -> Option<&'a [u8]> {
    let mut from = 0;
    for end in memchr_iter(b'\n', head) {
        let line = &head[from..end];
        if line.get(name.len()) == Some(&b':') && line.starts_with(name) {
            return Some(padding.strip(&line[name.len() + 1..]));
        }
        from = end + 1;
    }
    None
}

/// Characters around a value on its line that are no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    /// 1.1: nothing; a CR is data.
    None,
    /// 1.2, and the frames that connect, which are read before the version is known: the CR of the line's end.
    LineEnd,
    /// 1.0: spaces, as its own examples show them.
    Spaces,
}

impl Padding {
    /// `line_ends` is the version that says how lines end, None before one is settled; `values` the one that pads.
    pub(super) fn of(line_ends: Option<Version>, values: Version) -> Padding {
        match (line_ends, values) {
            (_, Version::V1_0) => Padding::Spaces,
            (Some(Version::V1_1), _) => Padding::None,
            _ => Padding::LineEnd,
        }
    }

    pub(super) fn strip(self, value: &[u8]) -> &[u8] {
        match self {
            Padding::None => value,
            Padding::LineEnd => value.strip_suffix(b"\r").unwrap_or(value),
            Padding::Spaces => value.trim_ascii(),
        }
    }
}
