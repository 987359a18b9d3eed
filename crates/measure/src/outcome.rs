//! What an operation came to. A target that refuses, stalls or talks nonsense is an outcome: data, counted.
//!
//! The vocabulary is closed: [`FAILURES`] documents every failure once, and the metric codes, Artillery's names, the
//! hints and the table in `docs/metrics.md` all come from it. Failures are told apart by what happened, never by the
//! text of an error message.

use crate::At;
use std::borrow::Cow;
use std::mem::discriminant;

/// Index into the plan's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u16);

/// One thing virtual users do and that is timed; its name is unique in a plan.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Operation {
    /// As the script or its URL names it, e.g. `GET /users`.
    pub name: String,
    /// What it is; metric names derive from it.
    pub kind: OperationKind,
}

/// The vocabulary of operations; metric names of every front end derive from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// An HTTP request until the last byte of its response.
    Http,
    /// Opening a WebSocket until the upgrade is confirmed.
    WebsocketConnect,
    /// A WebSocket message until it is handed to the kernel.
    WebsocketSend,
    /// A Socket.IO session until its namespace is confirmed.
    SocketioConnect,
    /// An emit without acknowledgement until it is handed to the kernel.
    SocketioEmit,
    /// An emit until its acknowledgement or awaited answer.
    SocketioRequest,
    /// Waiting for a message a script expects.
    Expect,
    /// Opening an event stream until the response's head.
    SseConnect,
    /// The poll that subscribes, until it is answered.
    PollSubscribe,
    /// A further poll until it is answered; one that is held back by the target takes as long as it was held.
    Poll,
    /// A STOMP session until CONNECTED.
    StompConnect,
    /// A STOMP subscription until its receipt, or until it is handed to the kernel.
    StompSubscribe,
    /// A STOMP message without receipt until it is handed to the kernel.
    StompSend,
    /// A STOMP message until its receipt or awaited answer.
    StompRequest,
    /// A function of the script's processor, until it is done.
    Function,
    /// From the loss of a connection until another one stands, with all subscriptions confirmed again.
    Reconnect,
}

impl OperationKind {
    /// Whether it is what connects a user: from its end on the user can be told of messages.
    pub fn connects(self) -> bool {
        matches!(
            self,
            OperationKind::WebsocketConnect
                | OperationKind::SocketioConnect
                | OperationKind::SseConnect
                | OperationKind::PollSubscribe
                | OperationKind::StompConnect
        )
    }
}

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

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it should.
    Ok,
    /// An HTTP response with this status. A 500 is an answer, not a failure of the operation.
    Status(u16),
    /// It failed.
    Failed(Failure),
}

/// Why an operation failed. Closed: every variant has a documented metric code (`code()`), an Artillery name, and a
/// hint where there is something to try.
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
    /// The TLS handshake failed.
    TlsFailed,
    /// The upgrade or handshake was answered with this HTTP status.
    HandshakeRefused(u16),
    /// A poll behind the one that subscribed was answered with this HTTP status, which is neither news nor empty.
    PollRefused(u16),
    /// The upgrade or handshake did not end in time.
    HandshakeTimeout,
    /// The namespace refused us (Socket.IO CONNECT_ERROR).
    NamespaceRefused,
    /// The broker said ERROR (STOMP).
    BrokerError,
    /// No answer within the operation's time limit; recorded at the limit's value.
    Timeout,
    /// No answer within the operation's time limit, and no connection of the pool within half of it; recorded at the limit's
    /// value.
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
    /// A capture found nothing, or a match did not match.
    CaptureOrMatch,
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

/// What is known of one failure for the reader of a report.
#[derive(Clone, Copy, Debug)]
pub struct FailureEntry {
    /// The variant (its parameter, if it has one, is an example).
    pub failure: Failure,
    /// Metric code; variants with a parameter append `_<parameter>`.
    pub code: &'static str,
    /// The name Artillery's users know; variants with a parameter append ` <parameter>`.
    pub artillery: &'static str,
    /// What happened, one sentence.
    pub meaning: &'static str,
    /// What to try, where we know.
    pub hint: Option<&'static str>,
}

const fn entry(
    failure: Failure,
    code: &'static str,
    artillery: &'static str,
    meaning: &'static str,
    hint: Option<&'static str>,
) -> FailureEntry {
    FailureEntry { failure, code, artillery, meaning, hint }
}

/// Every failure, documented once.
pub const FAILURES: &[FailureEntry] = &[
    entry(
        Failure::NameNotResolved,
        "name_not_resolved",
        "ENOTFOUND",
        "The target's host name could not be resolved.",
        Some("check the host in `target` and this machine's resolver"),
    ),
    entry(
        Failure::ConnectRefused,
        "connect_refused",
        "ECONNREFUSED",
        "Nothing accepts connections at the target's address and port.",
        Some("is the target running and listening on this address and port?"),
    ),
    entry(
        Failure::ConnectTimeout,
        "connect_timeout",
        "ETIMEDOUT",
        "A connection was not established within the time limit.",
        Some("look at the target's listen backlog (ListenOverflows) and at firewalls that drop silently"),
    ),
    entry(
        Failure::ConnectFailed,
        "connect_failed",
        "EHOSTUNREACH",
        "The network gave no route to the target, or is down.",
        Some("check the route to the target from this machine"),
    ),
    entry(
        Failure::GeneratorExhausted,
        "generator_exhausted",
        "EADDRNOTAVAIL",
        "The generator ran out of local ports or file descriptors; this counts against the generator.",
        Some("raise `ulimit -n`, or spread connections over several local addresses"),
    ),
    entry(
        Failure::TlsFailed,
        "tls_failed",
        "ERR_TLS",
        "The TLS handshake failed, or the certificate was not accepted.",
        Some(
            "for a self-signed certificate: `-k`, or `tls: { rejectUnauthorized: false }`; does the port speak TLS?",
        ),
    ),
    entry(
        Failure::HandshakeRefused(401),
        "handshake_refused",
        "Unexpected server response:",
        "The WebSocket upgrade, Engine.IO handshake, event stream or first poll was answered with this HTTP status.",
        Some("check path, token and Origin of the handshake"),
    ),
    entry(
        Failure::PollRefused(500),
        "poll_refused",
        "Unexpected server response:",
        "A poll behind the one that subscribed was answered with this HTTP status, which says neither news nor nothing new.",
        Some("if the target says so that there is nothing new, list the status in `empty`"),
    ),
    entry(
        Failure::HandshakeTimeout,
        "handshake_timeout",
        "Opening handshake has timed out",
        "The upgrade or handshake was not finished within the time limit.",
        None,
    ),
    entry(
        Failure::NamespaceRefused,
        "namespace_refused",
        "connect_error",
        "The Socket.IO namespace answered CONNECT_ERROR.",
        Some("the example carries the server's reason; check the `auth` payload and the namespace's name"),
    ),
    entry(
        Failure::BrokerError,
        "broker_error",
        "ERROR frame",
        "The STOMP broker answered with an ERROR frame, which ends the session.",
        Some("the example carries the broker's reason; check login, host and destination"),
    ),
    entry(
        Failure::Timeout,
        "timeout",
        "ETIMEDOUT",
        "No answer came within the operation's time limit; its latency is recorded at the limit.",
        None,
    ),
    entry(
        Failure::PoolExhausted,
        "pool_exhausted",
        "EPOOLEXHAUSTED",
        "No connection of the pool came free within half of the operation's time limit, and no answer within the rest; its latency is recorded at the limit.",
        Some("raise `http.pool`; if the target answers slowly, that is why its connections are busy"),
    ),
    entry(
        Failure::AckTimeout,
        "ack_timeout",
        "response timeout",
        "An acknowledgement, or a receipt (STOMP), did not come within its time limit.",
        Some(
            "does the server call the acknowledgement callback of this event, or give receipts for such frames?",
        ),
    ),
    entry(Failure::Reset, "reset", "ECONNRESET", "The peer reset the connection.", None),
    entry(
        Failure::ClosedEarly,
        "closed_early",
        "ECONNRESET",
        "The peer ended the connection in the middle of a response, frame or operation.",
        None,
    ),
    entry(
        Failure::Closed(1006),
        "closed",
        "WebSocket closed",
        "The peer closed the WebSocket with this code (1005: without a code, 1006: without a close frame).",
        None,
    ),
    entry(
        Failure::Protocol,
        "protocol",
        "EPROTO",
        "The peer's bytes are not of the protocol spoken.",
        Some("does the script's engine match what the target speaks on this port and path?"),
    ),
    entry(
        Failure::CaptureOrMatch,
        "capture_or_match",
        "Failed capture or match",
        "A capture found nothing, or a match did not match.",
        Some("the example shows the beginning of the answer"),
    ),
    entry(
        Failure::ExpectationFailed,
        "expectation_failed",
        "Failed expectations for request",
        "A response is not as the script expects it, and the script has that fail the user (`reportFailuresAsErrors`).",
        None,
    ),
    entry(
        Failure::ExpectationMissed,
        "expectation_missed",
        "expected message missing",
        "A message the script waits for did not come in time.",
        None,
    ),
    entry(
        Failure::NotConnected,
        "not_connected",
        "ENOTCONN",
        "A step needs a connection that is not open (any more).",
        None,
    ),
    entry(
        Failure::Template,
        "template",
        "ERR_TEMPLATE",
        "A template could not be rendered with this user's values.",
        None,
    ),
    entry(
        Failure::Function,
        "function_failed",
        "function failed",
        "A function of the processor threw, or called done with an error; Artillery counts it by the error's code or message, and so do the names of `errors.` here.",
        Some("the example has the function's name, its message and where it was thrown"),
    ),
    entry(
        Failure::FunctionTimeout,
        "function_timeout",
        "function timeout",
        "A function of the processor did not call done, or its promise did not settle, in time.",
        Some("every way through the function has to end in done()"),
    ),
    entry(
        Failure::ProcessorLost,
        "processor_lost",
        "processor lost",
        "The processor's Node ended while the function was under way.",
        Some(
            "does the processor call process.exit, or need more memory (NODE_OPTIONS=--max-old-space-size)?",
        ),
    ),
];

impl Failure {
    fn entry(self) -> &'static FailureEntry {
        let same = |e: &&FailureEntry| discriminant(&e.failure) == discriminant(&self);
        // A test walks all variants, so the fallback never shows.
        FAILURES.iter().find(same).unwrap_or(&FAILURES[0])
    }

    fn parameter(self) -> Option<u16> {
        match self {
            Failure::HandshakeRefused(n) | Failure::PollRefused(n) | Failure::Closed(n) => Some(n),
            _ => None,
        }
    }

    /// Whether how long it took says something of the target: it was answered, if with a refusal, or waited for until its
    /// time limit. What was refused or cut off has no response time; what waited for a
    /// connection of our pool has, since its user did wait.
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
            | Failure::CaptureOrMatch
            | Failure::Function
            | Failure::FunctionTimeout => true,
            Failure::NameNotResolved
            | Failure::ConnectRefused
            | Failure::ConnectFailed
            | Failure::GeneratorExhausted
            | Failure::TlsFailed
            | Failure::Reset
            | Failure::ClosedEarly
            | Failure::Closed(_)
            | Failure::Protocol
            | Failure::NotConnected
            | Failure::Template
            | Failure::ProcessorLost => false,
        }
    }

    /// Whether a request failed so, and not what the script makes of it and of its answer: its captures and expectations,
    /// its templates and functions.
    pub fn is_of_request(self) -> bool {
        !matches!(
            self,
            Failure::CaptureOrMatch
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

    /// The name Artillery's users know, e.g. `ECONNREFUSED`. Several failures may share one.
    pub fn artillery(self) -> Cow<'static, str> {
        match self.parameter() {
            Some(n) => format!("{} {n}", self.entry().artillery).into(),
            None => self.entry().artillery.into(),
        }
    }

    /// What happened, one sentence.
    pub fn meaning(self) -> &'static str {
        self.entry().meaning
    }

    /// What to try, where we know.
    pub fn hint(self) -> Option<&'static str> {
        self.entry().hint
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
