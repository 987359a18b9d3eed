//! The timed operations of virtual users.

/// Index into the plan's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u16);

/// An operation as steps with the same tags take it: index into the run's table of those
/// ([`crate::recorder::Recorder::tell_apart`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaggedId(pub u16);

/// What a step is counted and timed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedAs {
    /// Its operation.
    pub id: OperationId,
    /// The same with the step's tags; None: it has none.
    pub tagged: Option<TaggedId>,
}

impl From<OperationId> for CountedAs {
    fn from(id: OperationId) -> CountedAs {
        CountedAs { id, tagged: None }
    }
}

/// A timed operation of virtual users; its name is unique in a plan.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Operation {
    /// The name from the script or its URL, e.g. `GET /users`.
    pub name: String,
    /// The operation's kind; metric names derive from it.
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

/// What is known of a kind.
struct Row {
    kind: OperationKind,
    name: &'static str,
    word: &'static str,
    opens: Opens,
}

/// Whether a kind connects a user, and how it asks for that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opens {
    Nothing,
    /// By a request whose answer is an answer of HTTP like others.
    ByRequest,
    /// By the upgrade of a request to a WebSocket.
    ByUpgrade,
}

const fn row(kind: OperationKind, name: &'static str, word: &'static str, opens: Opens) -> Row {
    Row { kind, name, word, opens }
}

/// Every kind, by discriminant.
static ROWS: [Row; 16] = [
    row(OperationKind::Http, "http", "request", Opens::Nothing),
    row(OperationKind::WebsocketConnect, "websocket_connect", "WebSocket", Opens::ByUpgrade),
    row(OperationKind::WebsocketSend, "websocket_send", "message", Opens::Nothing),
    row(OperationKind::SocketioConnect, "socketio_connect", "session", Opens::ByRequest),
    row(OperationKind::SocketioEmit, "socketio_emit", "emit", Opens::Nothing),
    row(OperationKind::SocketioRequest, "socketio_request", "answered", Opens::Nothing),
    row(OperationKind::Expect, "expect", "expected", Opens::Nothing),
    row(OperationKind::SseConnect, "sse_connect", "event stream", Opens::ByRequest),
    row(OperationKind::PollSubscribe, "poll_subscribe", "first poll", Opens::ByRequest),
    row(OperationKind::Poll, "poll", "poll", Opens::Nothing),
    row(OperationKind::StompConnect, "stomp_connect", "STOMP session", Opens::ByUpgrade),
    row(OperationKind::StompSubscribe, "stomp_subscribe", "subscription", Opens::Nothing),
    row(OperationKind::StompSend, "stomp_send", "STOMP message", Opens::Nothing),
    row(OperationKind::StompRequest, "stomp_request", "STOMP request", Opens::Nothing),
    row(OperationKind::Function, "function", "function", Opens::Nothing),
    row(OperationKind::Reconnect, "reconnect", "reconnect", Opens::Nothing),
];

impl OperationKind {
    /// All kinds, by discriminant.
    pub fn all() -> impl Iterator<Item = OperationKind> {
        ROWS.iter().map(|row| row.kind)
    }

    fn row(self) -> &'static Row {
        let row = &ROWS[self as usize];
        debug_assert!(row.kind == self, "rows stand in the order of the kinds");
        row
    }

    /// The kind's name in metrics: `http`, `websocket_connect`, …
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What tells it in words from an operation of another kind that has its name: `STOMP session`, `answered`, …
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// Whether it is what connects a user: from its end on the user can be told of messages.
    pub fn connects(self) -> bool {
        self.row().opens != Opens::Nothing
    }

    /// Whether it connects a user by a request like others, whose status is one of HTTP's: not by the upgrade to a
    /// WebSocket.
    pub fn connects_by_request(self) -> bool {
        self.row().opens == Opens::ByRequest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row_and_is_written_by_its_name() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, index, "{}", row.name);
            assert_eq!(serde_json::to_value(row.kind).unwrap(), row.kind.name());
        }
    }
}
