//! HTTP/1.1 responses as they arrive (RFC 9112): where a head ends, how its body is framed, and whether the connection
//! can carry another request.
//!
//! The client's side only, and no requests: those are written by who sends them. Codings (gzip) are not undone, since a
//! load test counts what the server sends.
//!
//! The decision to question: `httparse` reads heads, but the framing is ours. A client library brings buffers of its
//! own for each connection and half a dozen layers for each request; here a whole answer that comes in one read is
//! understood in place and nothing is kept of it but what was asked for.

mod chunks;
mod framing;
mod headers;
mod reader;
mod violation;

pub use headers::Headers;
pub use reader::{CutShort, Keep, Reader, RequestKind};
pub use violation::Violation;

/// The largest head read, interim responses (1xx) included; trailers and chunk extensions of one body have as much
/// again. In bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// The most headers in a response.
pub const MAX_HEADERS: usize = 128;

/// Whether bytes are a token, as methods and names of headers and cookies must be (RFC 9110 §5.6.2).
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| TOKEN[usize::from(*byte)])
}

/// Bytes that stand in tokens. A table, because every request's names are looked at.
static TOKEN: [bool; 256] = {
    let (mut table, signs) = ([false; 256], b"!#$%&'*+-.^_`|~");
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::is_token;

    #[test]
    fn a_token_has_letters_digits_and_a_few_signs() {
        for (bytes, expected) in [
            ("x-trace_id", true),
            ("GET", true),
            ("a!~", true),
            ("", false),
            ("a b", false),
            ("a:", false),
            ("é", false),
        ] {
            assert_eq!(is_token(bytes.as_bytes()), expected, "{bytes:?}");
        }
    }
}
