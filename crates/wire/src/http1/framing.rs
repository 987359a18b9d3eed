//! How a body ends (RFC 9112 §6.3), worked out from the headers as they are met.

use super::Violation;
use crate::sse::is_event_stream;

/// The body's and the connection's framing, as far as the headers read so far tell it.
#[derive(Default)]
pub(super) struct Framing {
    length: Option<u64>,
    /// There is a transfer-encoding, and whether its last coding is `chunked`.
    chunked: Option<bool>,
    says_close: bool,
    says_keep_alive: bool,
    pub(super) sets_cookies: bool,
    pub(super) has_location: bool,
    pub(super) is_coded: bool,
    pub(super) is_event_stream: bool,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFraming {
    None,
    Length(u64),
    Chunked,
    UntilEnd,
}

impl Framing {
    /// Takes note of a header. Told apart by length first: most headers concern nobody here.
    pub(super) fn note(&mut self, name: &str, value: &[u8]) -> Result<(), Violation> {
        match name.len() {
            8 if name.eq_ignore_ascii_case("location") => self.has_location = true,
            10 if name.eq_ignore_ascii_case("connection") => {
                for token in tokens(value) {
                    self.says_close |= token.eq_ignore_ascii_case(b"close");
                    self.says_keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            10 if name.eq_ignore_ascii_case("set-cookie") => self.sets_cookies = true,
            12 if name.eq_ignore_ascii_case("content-type") => {
                self.is_event_stream = is_event_stream(value);
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                // A list of equal values is what a careless proxy makes of two headers.
                for token in value.split(|&byte| byte == b',') {
                    let length = number(token.trim_ascii())?;
                    if self.length.replace(length).is_some_and(|other| other != length) {
                        return Err(Violation::Lengths);
                    }
                }
            }
            16 if name.eq_ignore_ascii_case("content-encoding") => self.is_coded = true,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                // Empty elements of a list mean nothing (RFC 9110 §5.6.1.2), and `identity`, which older servers send,
                // says that there is no coding. Over several headers the last coding decides.
                for coding in tokens(value) {
                    if !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity") {
                        self.chunked = Some(coding.eq_ignore_ascii_case(b"chunked"));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The body's framing, and whether the connection outlives it. `bodiless`: the request and the status leave no room
    /// for a body.
    pub(super) fn judge(&self, is_http_1_0: bool, bodiless: bool) -> Result<(BodyFraming, bool), Violation> {
        let persists = !self.says_close && (!is_http_1_0 || self.says_keep_alive);
        if self.chunked.is_some() && is_http_1_0 {
            return Err(Violation::Transfer);
        }
        Ok(match (self.chunked, self.length) {
            _ if bodiless => (BodyFraming::None, persists),
            // With a length beside it somebody on the way may have read another message than we do (§6.1).
            (Some(true), length) => (BodyFraming::Chunked, persists && length.is_none()),
            (Some(false), _) | (None, None) => (BodyFraming::UntilEnd, false),
            (None, Some(0)) => (BodyFraming::None, persists),
            (None, Some(length)) => (BodyFraming::Length(length), persists),
        })
    }
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn number(digits: &[u8]) -> Result<u64, Violation> {
    if digits.is_empty() {
        return Err(Violation::Length);
    }
    digits.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0')).ok_or(Violation::Length)?;
        sum.checked_mul(10).and_then(|sum| sum.checked_add(digit)).ok_or(Violation::Length)
    })
}
