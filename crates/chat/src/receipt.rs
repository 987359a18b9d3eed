//! What a sender is told about its message. Never the content: an acknowledgement that carried a tracked message's
//! stamp would look like a delivery.

use std::sync::Arc;

use bytes::Bytes;
use sonagi_wire::websocket::{self, Opcode};

use crate::metrics::Metrics;
use crate::peer::Peer;
use crate::problem::Problem;

/// What became of a message.
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
    Failed,
}

/// How the sender wants to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// Socket.IO without an acknowledgement id: told of a refusal only, as the event `exception`.
    Silent,
    /// `/ws`, with the client's id of the message, as JSON, when it gave one.
    Raw(Option<String>),
    /// Socket.IO with this acknowledgement id.
    SocketIo(u64),
}

impl Receipt {
    pub(crate) fn give(&self, sender: &Arc<Peer>, outcome: Outcome, metrics: &Metrics) {
        match outcome {
            Outcome::Stored { seq, .. } | Outcome::Repeated { seq } => {
                if let Some(frame) = self.acceptance(seq) {
                    tell(sender, &frame, metrics);
                }
            }
            Outcome::Failed => self.refuse(sender, &Problem::store(), metrics),
        }
    }

    /// The frame that says the message has this number, if the sender wants one.
    pub(crate) fn acceptance(&self, seq: u64) -> Option<Bytes> {
        let text = match self {
            Receipt::Silent => return None,
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
