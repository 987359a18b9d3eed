//! The timed operations of virtual users.

/// Index into the plan's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u16);

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
