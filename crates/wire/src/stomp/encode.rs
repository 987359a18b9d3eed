//! Frames out.

use super::escape;
use super::frame::Command;
use super::version::Version;

/// A header that the frame's version has no way to carry: a line end in 1.0 or in a frame that connects, a CR in 1.1, a
/// NUL in any, an empty name. Nothing of the frame was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stomp {} must be able to say header {name:?}, got a character it has no escape for", .version.name())]
pub struct Unwritable {
    /// The version the frame was written for.
    pub version: Version,
    /// The header's name.
    pub name: String,
}

/// Appends one frame to a buffer: headers in the order given, then [`body`](Writer::body) or [`end`](Writer::end). A
/// writer that is dropped before leaves half a frame.
///
/// ```
/// use sonagi_wire::stomp::{Command, Version, Writer};
/// let mut out = Vec::new();
/// Writer::new(Command::Send, Version::V1_2, &mut out).header("destination", "/pub/a:b").body(b"hi")?;
/// assert_eq!(out, b"SEND\ndestination:/pub/a\\cb\ncontent-length:2\n\nhi\0");
/// # Ok::<(), sonagi_wire::stomp::Unwritable>(())
/// ```
#[must_use = "a frame needs its body or its end"]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    begin: usize,
    command: Command,
    version: Version,
    wrong: Option<Unwritable>,
}

impl<'o> Writer<'o> {
    /// Begins a frame. CONNECT, STOMP and CONNECTED escape nothing whatever the version.
    pub fn new(command: Command, version: Version, out: &'o mut Vec<u8>) -> Writer<'o> {
        let begin = out.len();
        out.extend_from_slice(command.name().as_bytes());
        out.push(b'\n');
        Writer { out, begin, command, version, wrong: None }
    }

    /// Adds a header. Of a repeated one receivers take the first.
    pub fn header(mut self, name: &str, value: &str) -> Writer<'o> {
        let version = self.command.escapes().then_some(self.version);
        if write_header(name, value, version, self.out).is_none() && self.wrong.is_none() {
            self.wrong = Some(Unwritable { version: self.version, name: name.to_owned() });
        }
        self
    }

    /// Adds a header when there is a value.
    pub fn optional(self, name: &str, value: Option<&str>) -> Writer<'o> {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    /// Ends the frame with a body and its `content-length`, which must not be among the headers.
    ///
    /// # Errors
    /// [`Unwritable`] for the first such header.
    ///
    /// # Panics
    /// When the command carries no body: no peer may accept it, so it is our mistake.
    pub fn body(self, body: &[u8]) -> Result<(), Unwritable> {
        assert!(self.command.has_body(), "stomp {} carries no body", self.command.name());
        write_body(body, self.out);
        self.finish()
    }

    /// Ends the frame without a body.
    ///
    /// # Errors
    /// The errors of [`Writer::body`].
    pub fn end(self) -> Result<(), Unwritable> {
        self.out.extend_from_slice(b"\n\0");
        self.finish()
    }

    fn finish(self) -> Result<(), Unwritable> {
        match self.wrong {
            None => Ok(()),
            Some(wrong) => {
                self.out.truncate(self.begin);
                Err(wrong)
            }
        }
    }
}

/// Writes a header line; None when the version has no escape for it.
pub(super) fn write_header(
    name: &str,
    value: &str,
    version: Option<Version>,
    out: &mut Vec<u8>,
) -> Option<()> {
    if name.is_empty() {
        return None;
    }
    escape::escape(name, true, version, out)?;
    out.push(b':');
    escape::escape(value, false, version, out)?;
    out.push(b'\n');
    Some(())
}

/// `content-length`, the empty line, the body and its NUL.
pub(super) fn write_body(body: &[u8], out: &mut Vec<u8>) {
    out.reserve(body.len() + 32);
    out.extend_from_slice(b"content-length:");
    write_number(body.len() as u64, out);
    out.extend_from_slice(b"\n\n");
    out.extend_from_slice(body);
    out.push(0);
}

pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
