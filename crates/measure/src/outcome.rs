//! What an operation came to. A target that refuses, stalls or talks nonsense is an outcome: data, counted.

/// Index into the plan's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u16);

/// One thing virtual users do and that is timed; its name is unique in a plan.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Operation { pub name: String, pub kind: OperationKind }

/// The vocabulary of operations; metric names of every front end derive from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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
}

/// The three instants of an operation, and a response's first byte where there is one.
/// Response time = `ended - planned`; service time = `ended - started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing { pub planned: At, pub started: At, pub first_byte: Option<At>, pub ended: At }

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome { Ok, Status(u16), Failed(Failure) }

/// Why an operation failed. Closed: every variant has a documented metric code (`code()`), an Artillery name, and a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// The name could not be resolved.
    NameNotResolved,
    ConnectRefused,
    ConnectTimeout,
    /// No route, network down and the like.
    ConnectFailed,
    /// Our side ran out of ports or descriptors: counts against the generator, not the target.
    GeneratorExhausted,
    TlsFailed,
    /// The upgrade or handshake was answered with this HTTP status.
    HandshakeRefused(u16),
    /// The upgrade or handshake did not end in time.
    HandshakeTimeout,
    /// The namespace refused us (Socket.IO CONNECT_ERROR).
    NamespaceRefused,
    /// No answer within the operation's time limit; recorded at the limit's value.
    Timeout,
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
    /// A step needs a connection that is not there (any more).
    NotConnected,
    /// A template could not be rendered with this user's values.
    Template,
}

use crate::At;
