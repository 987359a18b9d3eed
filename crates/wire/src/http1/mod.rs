//! HTTP/1.1 responses as they arrive (RFC 9112): where a head ends, how its body is framed, and whether the connection
//! can carry another request.
//!
//! The client's side only, and no requests: those are written by who sends them. Codings (gzip) are not undone, since a load
//! test counts what the server sends.
//!
//! The decision to question: `httparse` reads heads, but the framing is ours. A client library brings buffers of its own for
//! each connection and half a dozen layers for each request; here a whole answer that comes in one read is understood
//! in place and nothing is kept of it but what was asked for.

mod chunks;
mod framing;
mod headers;
mod reader;
mod violation;

pub use headers::Headers;
pub use reader::{Asked, CutShort, Keep, Reader};
pub use violation::Violation;

/// The largest head read, interim responses (1xx) included; trailers and chunk extensions of one body have as much again.
/// In bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// The most headers in a response.
pub const MAX_HEADERS: usize = 128;
