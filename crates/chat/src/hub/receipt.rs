//! The sender's answers about its messages. Never their content: an acknowledgement that carried a tracked message's
//! stamp would look like a delivery.

use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sonagi_wire::websocket::{self, Opcode};
use tokio::sync::oneshot;

use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::rooms::peer::Peer;
use crate::store::Failure;
use crate::sync::lock;

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Stored {
        seq: u64,
        /// Milliseconds since the Unix epoch.
        at: u64,
    },
    /// The same client id was sent before and got this number.
    Repeated {
        seq: u64,
    },
    Failed(Failure),
}

/// How the sender wants to be told.
#[derive(Clone, Debug)]
pub(crate) enum Receipt {
    /// Socket.IO without an acknowledgement id: told of a refusal only, as the event `exception`.
    Silent,
    /// `/ws`, with the client's id of the message, as JSON, when it gave one.
    Raw(Option<String>),
    /// Socket.IO with this acknowledgement id.
    SocketIo(u64),
    /// HTTP: a request waits to be answered.
    Reply(Arc<Reply>),
    /// STOMP: a SEND, or a COMMIT with others.
    Stomp(Arc<dyn Awaited>),
}

/// An answer that waits for one message, or for several.
pub(crate) trait Awaited: fmt::Debug + Send + Sync {
    /// Reports a published message; returns the answer, a whole frame, if it was the last and one is wanted.
    fn published(&self) -> Option<Bytes>;
    /// Reports a refused message: the sender is told, and its connection closes.
    fn refused(&self, sender: &Peer, problem: &Problem, metrics: &Metrics);
}

/// The way back to a request that waits for its message's number. Dropped unused, it says so by ending.
#[derive(Debug)]
pub(crate) struct Reply(Mutex<Option<oneshot::Sender<Result<u64, Problem>>>>);

impl Reply {
    pub(crate) fn channel() -> (Arc<Reply>, oneshot::Receiver<Result<u64, Problem>>) {
        let (reply, replied) = oneshot::channel();
        (Arc::new(Reply(Mutex::new(Some(reply)))), replied)
    }

    fn give(&self, answer: Result<u64, Problem>) {
        if let Some(reply) = lock(&self.0).take() {
            // Nobody there: the request was given up.
            let _ = reply.send(answer);
        }
    }
}

impl Receipt {
    pub(crate) fn give(&self, sender: &Arc<Peer>, outcome: Outcome, metrics: &Metrics) {
        match outcome {
            Outcome::Stored { seq, .. } | Outcome::Repeated { seq } => {
                if let Receipt::Reply(reply) = self {
                    reply.give(Ok(seq));
                }
                if let Some(frame) = self.acceptance(seq) {
                    tell(sender, &frame, metrics);
                }
            }
            Outcome::Failed(failure) => self.refuse(sender, &failure.problem(), metrics),
        }
    }

    /// Whether acceptance is a frame on the sender's queue, which may then go with its own copy.
    pub(crate) fn is_framed(&self) -> bool {
        !matches!(self, Receipt::Reply(_))
    }

    /// The frame that says the message has this number, if the sender wants one.
    pub(crate) fn acceptance(&self, seq: u64) -> Option<Bytes> {
        let text = match self {
            Receipt::Silent | Receipt::Reply(_) => return None,
            Receipt::Stomp(awaited) => return awaited.published(),
            Receipt::Raw(id) => {
                format!(r#"{{"type":"ack","id":{},"seq":{seq}}}"#, id.as_deref().unwrap_or("null"))
            }
            Receipt::SocketIo(id) => format!(r#"43{id}[{{"ok":true,"seq":{seq}}}]"#),
        };
        Some(websocket::shared(Opcode::Text, text.as_bytes()))
    }

    pub(crate) fn refuse(&self, sender: &Arc<Peer>, problem: &Problem, metrics: &Metrics) {
        let fields = problem.fields();
        let text = match self {
            Receipt::Reply(reply) => return reply.give(Err(problem.clone())),
            Receipt::Stomp(awaited) => return awaited.refused(sender, problem, metrics),
            Receipt::Silent => format!(r#"42["exception",{{{fields}}}]"#),
            Receipt::Raw(id) => {
                format!(r#"{{"type":"error","id":{},{fields}}}"#, id.as_deref().unwrap_or("null"))
            }
            Receipt::SocketIo(id) => format!(r#"43{id}[{{"ok":false,"error":{{{fields}}}}}]"#),
        };
        tell(sender, &websocket::shared(Opcode::Text, text.as_bytes()), metrics);
    }
}

/// Hands a frame to who sent something.
pub(crate) fn tell(sender: &Peer, frame: &Bytes, metrics: &Metrics) {
    let (_, written) = sender.outbox.deliver(frame);
    metrics.bytes_out.add(written as u64);
    metrics.writes.add(u64::from(written > 0));
}
