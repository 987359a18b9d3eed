//! Requests, responses, and the traffic of their exchange.

use std::net::SocketAddr;

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_wire::http1::Headers;

use crate::net::Secured;

/// Bytes of a response's body that are kept, 16 MiB; the rest is read, counted and discarded.
pub const MAX_BODY: usize = 16 * 1024 * 1024;

/// The reason phrase of a status; empty for unknown ones.
pub fn reason(status: u16) -> &'static str {
    let known = hyper::StatusCode::from_u16(status).ok();
    known.and_then(|status| status.canonical_reason()).unwrap_or_default()
}

/// The `user-agent` of requests that bring none.
pub const USER_AGENT: &str = concat!("Sonagi/", env!("CARGO_PKG_VERSION"));

/// A request to an origin.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Case-sensitive, as written.
    pub method: String,
    /// The path with its query, as [`Origin::parse`](crate::net::Origin::parse) gives it.
    pub path: String,
    /// Sent in this order; `host` and `user-agent` replace ours. `content-length` and `transfer-encoding` are not sent:
    /// the body's framing is ours.
    pub headers: Vec<(String, String)>,
    /// Sent with its length; an empty body without, for methods that usually have none.
    pub body: Bytes,
    /// Variations of the HTTP/1.1 form.
    pub written: WireForm,
}

/// Variations of a request's HTTP/1.1 form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireForm {
    /// Whether the script's header names keep their case, and ours are spelt as Go does; else all are lower case.
    pub keeps_case: bool,
    /// Whether the body is sent in chunks; an empty one is the last chunk alone.
    pub is_chunked: bool,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The reason phrase, if headers were to be kept; over HTTP/2 the status's usual one.
    pub reason: Box<str>,
    /// The headers, if they were to be kept.
    pub headers: Headers,
    /// The body, as far as it was to be kept.
    pub body: Bytes,
    /// The body's size in bytes, discarded ones included.
    pub body_bytes: u64,
    /// When the head had arrived.
    pub first_byte: At,
    /// When the whole response had arrived.
    pub ended: At,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// When the response that redirected to this one had arrived; None: there was no redirect.
    pub redirected: Option<At>,
}

/// The traffic of a client's connections, failed requests included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes written to connections, inside TLS. For a shared HTTP/2 connection, those since its last response.
    pub sent: u64,
    /// Bytes read from connections, likewise.
    pub received: u64,
    /// Connections established.
    pub opened: u64,
    /// Requests repeated over a fresh connection.
    pub repeated: u64,
}

/// The connection properties of the last response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Whether it came over HTTP/2.
    pub http2: bool,
    /// The TLS parameters; None without TLS.
    pub secured: Option<Secured>,
    /// The peer's address.
    pub peer: Option<SocketAddr>,
}
