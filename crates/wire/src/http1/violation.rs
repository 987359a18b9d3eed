//! The mistakes a server can make, one variant per rule.

use super::{MAX_HEAD, MAX_HEADERS};

/// A breach of RFC 9112 by the server, or a limit of ours. Whatever follows it on the connection has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// §2.3, §4: no `HTTP/1.0` or `HTTP/1.1` where a response must begin.
    #[error("a response must begin with HTTP/1.1 or HTTP/1.0, got something else")]
    Version,
    /// The same, and it begins as a record of TLS does.
    #[error(
        "a response must begin with HTTP/1.1 or HTTP/1.0, got TLS: is it https or wss that the port speaks?"
    )]
    Tls,
    /// §4: the rest of the status line.
    #[error("a status line must carry a status of three digits from 100 on, got another or none")]
    Status,
    /// §5: a header that is no header, one that is folded over lines (§5.2) included.
    #[error("a header must be a token, a colon and one line of text, got something else")]
    Header,
    /// Our own limit.
    #[error("a response must have at most {MAX_HEADERS} headers, got more")]
    TooManyHeaders,
    /// Our own limit.
    #[error("a response's head must end within {MAX_HEAD} bytes, got more")]
    HeadTooLong,
    /// §6.3: a length that is no number, or that does not fit 64 bits.
    #[error("content-length must be a number below 2^64, got something else")]
    Length,
    /// §6.3: more than one length, and they differ.
    #[error("content-length must not be given twice with different values, got two")]
    Lengths,
    /// §6.1: HTTP/1.0 knows no transfer codings.
    #[error("an HTTP/1.0 response must not carry transfer-encoding, got one")]
    Transfer,
    /// §7.1: where a chunk's size should be.
    #[error("a chunk must begin with its size in at most 16 hexadecimal digits, got something else")]
    ChunkSize,
    /// §7.1: a chunk's data does not end where its size says, or a line lacks its CRLF.
    #[error("a chunk must end with CR and LF, got something else")]
    ChunkEnd,
    /// Our own limit.
    #[error("chunk extensions and trailers must not exceed {MAX_HEAD} bytes, got more")]
    ChunkOverhead,
}

impl Violation {
    /// The violation in a head that begins with these bytes.
    #[cold]
    pub(super) fn at(head: &[u8], error: httparse::Error) -> Violation {
        // An alert, or a handshake (RFC 8446 §5.1).
        match head {
            [0x15 | 0x16, ..] => Violation::Tls,
            _ => error.into(),
        }
    }
}

impl From<httparse::Error> for Violation {
    fn from(error: httparse::Error) -> Violation {
        match error {
            httparse::Error::Version => Violation::Version,
            httparse::Error::Status | httparse::Error::Token => Violation::Status,
            httparse::Error::TooManyHeaders => Violation::TooManyHeaders,
            httparse::Error::HeaderName | httparse::Error::HeaderValue | httparse::Error::NewLine => {
                Violation::Header
            }
        }
    }
}
