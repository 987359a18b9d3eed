//! The outcomes of operations. A target that refuses, stalls or talks nonsense is an outcome: data, counted.
//!
//! The vocabulary is closed: [`FAILURES`] documents every failure once, and the metric codes, the hints and
//! the table in `docs/metrics.md` all come from it. Failures are told apart by what happened, never by the
//! text of an error message.

mod operation;
mod table;

pub use operation::{CountedAs, Operation, OperationId, OperationKind, TaggedId};
pub use table::{FAILURES, FailureEntry};

use crate::at::At;
use std::borrow::Cow;
use std::mem::discriminant;

/// The three instants of an operation, and a response's first byte where there is one.
/// Response time = `ended - planned`; service time = `ended - started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When the schedule wanted it.
    pub planned: At,
    /// When it really began.
    pub started: At,
    /// When the first byte of the answer came, where that is known.
    pub first_byte: Option<At>,
    /// When it was over; a timed-out operation ends at its limit.
    pub ended: At,
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The operation succeeded.
    Ok,
    /// An HTTP response with this status. A 500 is an answer, not a failure of the operation.
    Status(u16),
    /// The operation failed.
    Failed(Failure),
}

/// Why an operation failed. Closed: every variant has a documented metric code (`code()`), and a hint where
/// there is something to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// The name could not be resolved.
    NameNotResolved,
    /// Nobody listens there.
    ConnectRefused,
    /// The connection was not established in time.
    ConnectTimeout,
    /// No route, network down and the like.
    ConnectFailed,
    /// Our side ran out of ports or descriptors: counts against the generator, not the target.
    GeneratorExhausted,
    /// The TLS handshake failed, for none of the reasons that follow.
    TlsFailed,
    /// The peer answered the TLS handshake with something other than TLS.
    NotTls,
    /// The certificate vouches for itself, and nobody trusts it.
    CertificateSelfSigned,
    /// The authority that came along with the certificate vouches for itself, and nobody trusts it.
    CertificateRootUntrusted,
    /// The certificate came alone, and nobody trusted has issued it.
    CertificateIssuerUnknown,
    /// Nobody trusted has issued the last of the certificates that came.
    CertificateChainIncomplete,
    /// Its time is over.
    CertificateExpired,
    /// Its time has not begun.
    CertificateNotYetValid,
    /// The certificate is another host's.
    CertificateWrongName,
    /// The upgrade or handshake was answered with this HTTP status.
    HandshakeRefused(u16),
    /// A poll or a post of polling behind its first was answered with this HTTP status, which is neither news nor
    /// empty.
    PollRefused(u16),
    /// The upgrade or handshake did not end in time.
    HandshakeTimeout,
    /// The namespace refused us (Socket.IO CONNECT_ERROR).
    NamespaceRefused,
    /// The broker said ERROR (STOMP).
    BrokerError,
    /// No answer within the operation's time limit; recorded at the limit's value.
    Timeout,
    /// No answer within the operation's time limit, and no connection of the pool within half of it; recorded at the
    /// limit's value.
    PoolExhausted,
    /// The acknowledgement did not come within its time limit.
    AckTimeout,
    /// Reset by the peer.
    Reset,
    /// Ended by the peer in the middle of a response, frame or operation.
    ClosedEarly,
    /// The peer closed the WebSocket with this code (1005: without one, 1006: without a close frame).
    Closed(u16),
    /// The bytes are not of the protocol spoken.
    Protocol,
    /// The server chose none of the subprotocols offered.
    SubprotocolMissing,
    /// The server chose a subprotocol that was not offered.
    SubprotocolUnknown,
    /// There were too many redirects in a row.
    TooManyRedirects,
    /// A redirect to what is no address of HTTP.
    RedirectInvalid,
    /// A capture found nothing, or a match did not match.
    CaptureOrMatch,
    /// The acknowledgement that was to confirm a membership refuses it.
    JoinRefused,
    /// An expected message did not come in time.
    ExpectationMissed,
    /// A response is not as expected, and that is to fail its user.
    ExpectationFailed,
    /// A step needs a connection that is not there (any more).
    NotConnected,
    /// A template could not be rendered with this user's values.
    Template,
    /// A function of the processor threw, or said that it failed.
    Function,
    /// A function of the processor did not say that it is done.
    FunctionTimeout,
    /// The processor's Node ended by itself.
    ProcessorLost,
}

impl Failure {
    fn entry(self) -> &'static FailureEntry {
        let same = |e: &&FailureEntry| discriminant(&e.failure) == discriminant(&self);
        // A test walks all variants, so the fallback never shows.
        FAILURES.iter().find(same).unwrap_or(&FAILURES[0])
    }

    /// The status or the code of closing that it came with.
    pub fn parameter(self) -> Option<u16> {
        match self {
            Failure::HandshakeRefused(n) | Failure::PollRefused(n) | Failure::Closed(n) => Some(n),
            _ => None,
        }
    }

    /// Whether how long it took says something of the target: it was answered, if with a refusal, or waited for until
    /// its time limit. What was refused or cut off has no response time; what waited for a connection of our pool has,
    /// since its user did wait.
    pub fn has_time(self) -> bool {
        match self {
            Failure::ConnectTimeout
            | Failure::HandshakeTimeout
            | Failure::Timeout
            | Failure::PoolExhausted
            | Failure::AckTimeout
            | Failure::ExpectationMissed
            | Failure::ExpectationFailed
            | Failure::HandshakeRefused(_)
            | Failure::PollRefused(_)
            | Failure::NamespaceRefused
            | Failure::BrokerError
            | Failure::TooManyRedirects
            | Failure::RedirectInvalid
            | Failure::CaptureOrMatch
            | Failure::JoinRefused
            | Failure::Function
            | Failure::FunctionTimeout => true,
            Failure::NameNotResolved
            | Failure::ConnectRefused
            | Failure::ConnectFailed
            | Failure::GeneratorExhausted
            | Failure::TlsFailed
            | Failure::NotTls
            | Failure::CertificateSelfSigned
            | Failure::CertificateRootUntrusted
            | Failure::CertificateIssuerUnknown
            | Failure::CertificateChainIncomplete
            | Failure::CertificateExpired
            | Failure::CertificateNotYetValid
            | Failure::CertificateWrongName
            | Failure::Reset
            | Failure::ClosedEarly
            | Failure::Closed(_)
            | Failure::Protocol
            | Failure::SubprotocolMissing
            | Failure::SubprotocolUnknown
            | Failure::NotConnected
            | Failure::Template
            | Failure::ProcessorLost => false,
        }
    }

    /// Whether a request failed so, and not what the script makes of it and of its answer: its captures and
    /// expectations, its templates and functions.
    pub fn is_of_request(self) -> bool {
        !matches!(
            self,
            Failure::CaptureOrMatch
                | Failure::JoinRefused
                | Failure::ExpectationMissed
                | Failure::ExpectationFailed
                | Failure::Template
                | Failure::Function
                | Failure::FunctionTimeout
                | Failure::ProcessorLost
        )
    }

    /// The documented metric code, e.g. `connect_refused`, `closed_1006`.
    pub fn code(self) -> Cow<'static, str> {
        match self.parameter() {
            Some(n) => format!("{}_{n}", self.entry().code).into(),
            None => self.entry().code.into(),
        }
    }

    /// A sentence that says what happened.
    pub fn meaning(self) -> &'static str {
        self.entry().meaning
    }

    /// The remedy, if one is known.
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Failure::HandshakeRefused(429) | Failure::PollRefused(429) => table::LIMITED,
            _ => self.entry().hint,
        }
    }

    /// The failure with this metric code; the inverse of [`Failure::code`].
    pub fn from_code(code: &str) -> Option<Failure> {
        if let Some(entry) = FAILURES.iter().find(|e| e.code == code && e.failure.parameter().is_none()) {
            return Some(entry.failure);
        }
        let (name, number) = code.rsplit_once('_')?;
        let number = number.parse().ok()?;
        match FAILURES.iter().find(|e| e.code == name)?.failure {
            Failure::HandshakeRefused(_) => Some(Failure::HandshakeRefused(number)),
            Failure::PollRefused(_) => Some(Failure::PollRefused(number)),
            Failure::Closed(_) => Some(Failure::Closed(number)),
            _ => None,
        }
    }
}
