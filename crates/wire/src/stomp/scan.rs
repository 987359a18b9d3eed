//! Finds where a frame ends, resuming where it stopped: every byte is looked at once however the stream was cut.
//!
//! Limits and rules are checked in the order of the bytes, so that a violation does not depend on the cut either.

use memchr::{memchr, memchr2};

use super::frame::Padding;
use super::frame::{Command, Frame};
use super::side::Side;
use super::version::Version;
use super::violation::Violation;

/// A decoder's limits (Size Limits). A frame's head is bounded by its lines: `line × (headers + 1)` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a line, without its LF.
    pub line: u32,
    /// The most headers of a frame.
    pub headers: u16,
    /// The most bytes of a body.
    pub body: u32,
}

impl Default for Limits {
    /// 8 KiB a line (a bearer token fits), 64 headers, 1 MiB a body.
    fn default() -> Limits {
        Limits { line: 8 << 10, headers: 64, body: 1 << 20 }
    }
}

/// A scan's rules; they do not change within a frame.
#[derive(Clone, Copy)]
pub(super) struct ScanRules {
    pub(super) side: Side,
    /// None until one is settled: lines may end with CR LF then, as a client of 1.2 may write them.
    pub(super) version: Option<Version>,
    pub(super) limits: Limits,
}

impl ScanRules {
    /// Whether CR LF ends a line, and no other CR may be in one.
    pub(super) fn allows_crlf(self) -> bool {
        matches!(self.version, None | Some(Version::V1_2))
    }
}

/// How far a frame was read. Positions count from the frame's first byte.
#[derive(Default)]
pub(super) struct Scan {
    /// Everything before was looked at.
    at: usize,
    /// Where the line that is being read begins.
    line: usize,
    command: Option<Command>,
    headers: u16,
    /// Where the header lines begin and end.
    head: (usize, usize),
    /// Where the body begins, once the head has ended.
    body: Option<usize>,
    length: Option<usize>,
}

impl Scan {
    /// Reads on in `bytes`, which begin with the frame's first byte. The frame's size once it is whole, its NUL
    /// included.
    #[inline]
    pub(super) fn run(&mut self, bytes: &[u8], rules: ScanRules) -> Result<Option<usize>, Violation> {
        while self.body.is_none() {
            let found = memchr2(b'\n', 0, &bytes[self.at..]).map(|offset| self.at + offset);
            let limit = rules.limits.line;
            if found.unwrap_or(bytes.len()) - self.line > limit as usize {
                return Err(Violation::LineTooLong { limit });
            }
            let Some(end) = found else {
                self.at = bytes.len();
                return Ok(None);
            };
            if bytes[end] == 0 {
                return Err(Violation::NulInHead);
            }
            self.take_line(&bytes[self.line..end], end + 1, rules)?;
            self.at = end + 1;
            self.line = end + 1;
        }
        self.run_body(bytes, rules)
    }

    /// How many bytes the frame still needs beyond the `have` there are; None while only its NUL can tell.
    pub(super) fn missing(&self, have: usize) -> Option<usize> {
        Some(self.body? + self.length? + 1 - have)
    }

    /// The frame, once [`Scan::run`] said that it is whole.
    pub(super) fn frame<'a>(&self, bytes: &'a [u8], size: usize, version: Version) -> Option<Frame<'a>> {
        let body = &bytes[self.body?..size - 1];
        Some(Frame { command: self.command?, version, head: &bytes[self.head.0..self.head.1], body })
    }

    fn take_line(&mut self, line: &[u8], next: usize, rules: ScanRules) -> Result<(), Violation> {
        let text = if rules.allows_crlf() {
            let text = line.strip_suffix(b"\r").unwrap_or(line);
            if memchr(b'\r', text).is_some() {
                return Err(Violation::CarriageReturn);
            }
            text
        } else if line == b"\r" || self.command.is_none() && line.ends_with(b"\r") {
            return Err(Violation::CarriageReturn);
        } else {
            line
        };
        let Some(command) = self.command else {
            let command = Command::from_name(text).filter(|command| command.sent_by() != rules.side);
            self.command = Some(command.ok_or(Violation::Command)?);
            self.head = (next, next);
            return Ok(());
        };
        if text.is_empty() {
            self.body = Some(next);
            let forbidden = !command.has_body() && rules.version != Some(Version::V1_0);
            return if forbidden && self.length.is_some_and(|length| length > 0) {
                Err(Violation::Body { command })
            } else {
                Ok(())
            };
        }
        self.take_header(text, rules)?;
        self.head.1 = next;
        Ok(())
    }

    fn take_header(&mut self, text: &[u8], rules: ScanRules) -> Result<(), Violation> {
        if self.headers == rules.limits.headers {
            return Err(Violation::TooManyHeaders { limit: rules.limits.headers });
        }
        self.headers += 1;
        if memchr(b':', text).is_none_or(|colon| colon == 0) {
            return Err(Violation::Header);
        }
        if let Some(value) = text.strip_prefix(b"content-length:")
            && self.length.is_none()
        {
            // The CR is off already; before a version is settled a client of 1.0 may pad.
            let padding = Padding::of(None, rules.version.unwrap_or(Version::V1_0));
            self.length = Some(content_length(padding.strip(value), rules.limits.body)?);
        }
        Ok(())
    }

    fn run_body(&mut self, bytes: &[u8], rules: ScanRules) -> Result<Option<usize>, Violation> {
        let (Some(body), Some(command)) = (self.body, self.command) else { return Ok(None) };
        if let Some(length) = self.length {
            return match bytes.get(body + length) {
                None => Ok(None),
                Some(0) => Ok(Some(body + length + 1)),
                Some(_) => Err(Violation::NulMissing),
            };
        }
        let found = memchr(0, &bytes[self.at..]).map(|offset| self.at + offset);
        self.at = found.unwrap_or(bytes.len());
        let length = self.at - body;
        if length > 0 && !command.has_body() && rules.version != Some(Version::V1_0) {
            return Err(Violation::Body { command });
        }
        if length > rules.limits.body as usize {
            return Err(Violation::BodyTooLong { limit: rules.limits.body });
        }
        Ok(found.map(|end| end + 1))
    }
}

fn content_length(digits: &[u8], limit: u32) -> Result<usize, Violation> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Violation::ContentLength);
    }
    // Only digits are left to fail on, so a failure means a number too large to hold.
    let length =
        std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX);
    if length > limit as usize { Err(Violation::BodyTooLong { limit }) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_is_not_looked_at_again() {
        let rules = ScanRules { side: Side::Client, version: Some(Version::V1_2), limits: Limits::default() };
        let frame = b"MESSAGE\na:a long value\n\na body that only its NUL ends\0";
        let mut scan = Scan::default();
        for end in 1..frame.len() {
            assert_eq!(scan.run(&frame[..end], rules), Ok(None));
            assert_eq!(scan.at, end);
        }
        assert_eq!(scan.run(frame, rules), Ok(Some(frame.len())));
    }
}
