//! Requests and responses as their senders see them, and what is told of their exchange.

use std::net::SocketAddr;

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_wire::http1::Headers;

use crate::net::Secured;

/// Bytes of a response's body that are kept, 16 MiB; the rest is read, counted and dropped.
pub const MAX_BODY: usize = 16 * 1024 * 1024;

/// The words that go with a status; empty where it has none of its own.
pub fn reason(status: u16) -> &'static str {
    let known = hyper::StatusCode::from_u16(status).ok();
    known.and_then(|status| status.canonical_reason()).unwrap_or_default()
}

/// Our name in requests that carry no `user-agent` of their own.
pub const USER_AGENT: &str = concat!("Sonagi/", env!("CARGO_PKG_VERSION"));

/// A request to an origin.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// As written: methods are case-sensitive.
    pub method: String,
    /// The path with its query, as [`Origin::parse`](crate::net::Origin::parse) gives it.
    pub path: String,
    /// In this order; `host` and `user-agent` replace ours. `content-length` and `transfer-encoding` are not sent: the body's
    /// framing is ours.
    pub headers: Vec<(String, String)>,
    /// Sent with its length; an empty one with none for methods that usually have no body.
    pub body: Bytes,
    /// What else is said about its writing.
    pub written: Written,
}

/// How a request is written over HTTP/1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Names of headers as they were given, and ours as Go writes them; else all in lower case.
    pub keeps_case: bool,
    /// In chunks, of which an empty body has none but the last.
    pub is_chunked: bool,
}

/// A whole response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The words that came with it, if headers were to be kept; over HTTP/2 those that go with it.
    pub reason: Box<str>,
    /// The headers, as far as they were to be kept.
    pub headers: Headers,
    /// The body, as far as it was to be kept.
    pub body: Bytes,
    /// The body's size, what was dropped included.
    pub body_bytes: u64,
    /// When the head had arrived.
    pub first_byte: At,
    /// When the whole of it had.
    pub ended: At,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// When the answer came that led to this one; None: it answers the first request.
    pub redirected: Option<At>,
}

/// What went over a client's connections, whatever came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes written to connections, inside TLS. Of a shared HTTP/2 connection what went since its last response.
    pub sent: u64,
    /// Bytes read from connections, likewise.
    pub received: u64,
    /// Connections established.
    pub opened: u64,
    /// Requests sent a second time, over a fresh connection.
    pub repeated: u64,
}

/// How the last request's answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Over HTTP/2.
    pub http2: bool,
    /// Over TLS.
    pub secured: Option<Secured>,
    /// From where.
    pub peer: Option<SocketAddr>,
}
