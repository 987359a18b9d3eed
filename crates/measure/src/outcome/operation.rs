//! The timed operations of virtual users.

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The name from the script or its URL, e.g. `GET /users`.
    pub name: String,
    /// The operation's kind; metric names derive from it.
    pub kind: OperationKind,
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
    /// By a connection of its own, such as the upgrade of a request to a WebSocket.
    ByConnection,
}

/// Makes [`OperationKind`] and its rows: a kind, its name in metrics, the word that tells it from another kind's
/// operation of its name, whether it connects a user, and what it is.
macro_rules! kinds {
    ($($kind:ident $name:literal $word:literal $opens:ident $meaning:literal;)*) => {
        /// The vocabulary of operations; metric names of every front end derive from it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum OperationKind {
            $(#[doc = $meaning] $kind),*
        }

        /// By discriminant.
        const ROWS: &[Row] = &[
            $(Row { kind: OperationKind::$kind, name: $name, word: $word, opens: Opens::$opens }),*
        ];
    };
}

kinds! {
    Http "http" "request" Nothing
        "An HTTP request until the last byte of its response.";
    WebsocketConnect "websocket_connect" "WebSocket" ByConnection
        "Opening a WebSocket until the upgrade is confirmed.";
    WebsocketSend "websocket_send" "message" Nothing
        "A WebSocket message until it is handed to the kernel.";
    SocketioConnect "socketio_connect" "session" ByRequest
        "A Socket.IO session until its namespace is confirmed.";
    SocketioEmit "socketio_emit" "emit" Nothing
        "An emit without acknowledgement until it is handed to the kernel.";
    SocketioRequest "socketio_request" "answered" Nothing
        "An emit until its acknowledgement or awaited answer.";
    Expect "expect" "expected" Nothing
        "Waiting for a message a script expects.";
    SseConnect "sse_connect" "event stream" ByRequest
        "Opening an event stream until the response's head.";
    PollSubscribe "poll_subscribe" "first poll" ByRequest
        "The poll that subscribes, until it is answered.";
    Poll "poll" "poll" Nothing
        "A further poll until it is answered; one that is held back by the target takes as long as it was held.";
    StompConnect "stomp_connect" "STOMP session" ByConnection
        "A STOMP session until CONNECTED.";
    StompSubscribe "stomp_subscribe" "subscription" Nothing
        "A STOMP subscription until its receipt, or until it is handed to the kernel.";
    StompSend "stomp_send" "STOMP message" Nothing
        "A STOMP message without receipt until it is handed to the kernel.";
    StompRequest "stomp_request" "STOMP request" Nothing
        "A STOMP message until its receipt or awaited answer.";
    Function "function" "function" Nothing
        "A function of the script's processor, until it is done.";
    Reconnect "reconnect" "reconnect" Nothing
        "From the loss of a connection until another one stands, with all subscriptions confirmed again.";
}

impl OperationKind {
    /// All kinds, by discriminant.
    pub fn all() -> impl Iterator<Item = OperationKind> {
        ROWS.iter().map(|row| row.kind)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
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

    /// Whether it connects a user by a request like others, whose status is one of HTTP's: not by a
    /// connection of its own.
    pub fn connects_by_request(self) -> bool {
        self.row().opens == Opens::ByRequest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_written_by_its_name() {
        for kind in OperationKind::all() {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
