//! HTTP steps, and how requests are made unless a step says otherwise.

use bytes::Bytes;
use sonagi_measure::outcome::{CountedAs, OperationId};
use std::sync::Arc;
use std::time::Duration;

use super::endpoint::Told;
use super::expect::Expectations;
use super::hooks::Hooks;
use super::multipart::FormPart;
use super::prepared::Prepared;
use super::source::{Capture, Match};
use super::step::DEFAULT_TIMEOUT;
use super::template::{JsonTemplate, Template};
use sonagi_transport::http::MAX_BODY;

/// An HTTP request and what is wanted of its response.
#[derive(Clone, Debug)]
pub struct HttpStep {
    /// The operation it is counted and timed as.
    pub operation: CountedAs,
    /// In capitals, as it goes on the wire.
    pub method: String,
    /// Absolute, or relative to the target.
    pub url: Template,
    /// Names and values; a step's own win over defaults.
    pub headers: Vec<(String, Template)>,
    /// Added to the URL's own, encoded as a form is.
    pub query: Vec<(String, Template)>,
    /// Put among the user's cookies first, as if this URL had set them.
    pub cookies: Vec<(String, Template)>,
    /// The request's body.
    pub body: Body,
    /// User and password (RFC 7617).
    pub basic_auth: Option<(Template, Template)>,
    /// Whether 3xx responses with a Location are followed.
    pub follow_redirects: bool,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
    /// Values kept for later steps.
    pub captures: Vec<Capture>,
    /// Values demanded.
    pub matches: Vec<Match>,
    /// The expectations of the response, which are counted.
    pub expect: Option<Box<Expectations>>,
    /// Says that the response may come compressed. One that does is unpacked before it is searched, asked for or not.
    pub compressed: bool,
    /// A message to a room over a transport that only receives: counted as one, and its stamp goes into the ledger. A
    /// status below 300 is its acknowledgement; any other fails the operation.
    pub is_message: bool,
    /// The metrics of its responses by endpoint.
    pub told: Option<Box<Told>>,
    /// Functions around it.
    pub hooks: Option<Box<Hooks>>,
    /// The bytes all users have in common; front ends leave it at its default.
    pub prepared: Prepared,
}

impl HttpStep {
    /// A plain request, without anything that may be left out; redirects are followed.
    pub fn new(operation: OperationId, method: &str, url: Template) -> HttpStep {
        HttpStep {
            operation: operation.into(),
            method: method.to_owned(),
            url,
            headers: Vec::new(),
            query: Vec::new(),
            cookies: Vec::new(),
            body: Body::Empty,
            basic_auth: None,
            follow_redirects: true,
            timeout: DEFAULT_TIMEOUT,
            captures: Vec::new(),
            matches: Vec::new(),
            expect: None,
            compressed: false,
            is_message: false,
            told: None,
            hooks: None,
            prepared: Prepared::default(),
        }
    }
}

impl HttpStep {
    /// Whether the script itself demands an answer: which status, or what is in it. An error status that comes is then
    /// asked for, or has already been told of. A match that is not strict lets everything pass and demands nothing.
    pub(crate) fn asks_for_statuses(&self) -> bool {
        self.matches.iter().any(|wanted| wanted.strict)
            || self.expect.as_ref().is_some_and(|expected| expected.name_a_status())
    }
}

/// A request's body.
#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// Text as rendered.
    Text(Template),
    /// JSON.
    Json(JsonTemplate),
    /// The bytes as they are.
    Bytes(Bytes),
    /** application/x-www-form-urlencoded */
    Form(Vec<(String, Template)>),
    /** multipart/form-data */
    Multipart(Arc<[FormPart]>),
}

/// Defaults of the HTTP client.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Names and values; a step's own win over defaults.
    pub headers: Vec<(String, Template)>,
    /// Longest wait before it counts as failed.
    pub timeout: Duration,
    /// Connections per origin and shard shared by its users; None: one keep-alive connection per user.
    pub pool: Option<usize>,
    /// Whether the pool's connections to the target are opened before the first user arrives.
    pub warm: bool,
    /// Over TLS, offer HTTP/2 by ALPN.
    pub http2: bool,
    /// Bytes of a response's body that steps and functions see; the rest is read, counted and dropped.
    pub max_body: usize,
    /// Whether requests are told by the addresses they go to ([`Endpoint::Asked`](super::Endpoint::Asked)).
    pub by_address: bool,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions {
            headers: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            pool: None,
            warm: false,
            http2: true,
            max_body: MAX_BODY,
            by_address: false,
        }
    }
}
