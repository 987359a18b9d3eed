//! The answer to a request, and the request as it left.

use bytes::Bytes;
use sonagi_transport::http::{Headers, Phases, Request};
use sonagi_transport::net::Secured;
use std::net::SocketAddr;

use super::call::Call;
use super::errors::Unanswered;

/// The answer to a request, its redirects included; or why there is none.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) reason: Box<str>,
    pub(super) url: String,
    pub(super) headers: Headers,
    pub(super) body: Bytes,
    /// Whether the body was wanted.
    pub(super) has_body: bool,
    pub(super) phases: Phases,
    pub(super) error: String,
    /// The error as the log has it.
    pub(super) told: String,
    pub(super) error_code: u16,
    /// Where it came from; the host's name where no address is known, and its port.
    pub(super) remote: Option<Remote>,
    pub(super) proto: &'static str,
    pub(super) secured: Option<Secured>,
    /// The first request, as it left.
    pub(super) sent: Sent,
}

impl Answer {
    /// To a request that could not even be made: its body is empty, not missing.
    pub(super) fn failed(why: Unanswered) -> Answer {
        Answer { error: why.told, error_code: why.code, has_body: true, ..Answer::default() }
    }
}

/// The sender of an answer.
#[derive(Debug)]
pub(super) enum Remote {
    Peer(SocketAddr),
    Host(String, u16),
}

/// A request as it left. The members a script sees of it are made when it looks.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) body: Bytes,
    /// All that went out.
    headers: Vec<(String, String)>,
    /// The script said `Host`.
    has_host: bool,
}

impl Sent {
    /// The call's own request.
    pub(super) fn of(call: &Call, request: Request) -> Sent {
        let body = call.unpacked.clone().unwrap_or_else(|| call.body.clone());
        let (method, url) = (call.method.clone(), call.address.given.clone());
        Sent { method, url, body, headers: request.headers, has_host: call.has("Host") }
    }

    /// The headers that a script sees.
    pub(super) fn headers(&self) -> impl Iterator<Item = &(String, String)> {
        self.headers.iter().filter(|(name, _)| name != "Host" || self.has_host)
    }

    pub(super) fn cookies(&self) -> impl Iterator<Item = (&str, &str)> {
        let said = self.headers.iter().find(|(name, _)| name == "Cookie").map_or("", |(_, value)| value);
        let pairs = said.split("; ").filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name, value.trim_matches('"')))
    }
}
