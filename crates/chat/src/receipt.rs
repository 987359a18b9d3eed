//! What a sender is told about its message. Never the content: an acknowledgement that carried a tracked message's
//! stamp would look like a delivery.

use std::sync::Arc;

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
            Outcome::Stored { seq, .. } | Outcome::Repeated { seq } => self.accept(sender, seq, metrics),
            Outcome::Failed => self.refuse(sender, &Problem::store(), metrics),
        }
    }

    fn accept(&self, sender: &Arc<Peer>, seq: u64, metrics: &Metrics) {
        self.tell(
            sender,
            metrics,
            match self {
                Receipt::Silent => return,
                Receipt::Raw(id) => {
                    format!(r#"{{"type":"ack","id":{},"seq":{seq}}}"#, id.as_deref().unwrap_or("null"))
                }
                Receipt::SocketIo(id) => format!(r#"43{id}[{{"ok":true,"seq":{seq}}}]"#),
            },
        );
    }

    pub(crate) fn refuse(&self, sender: &Arc<Peer>, problem: &Problem, metrics: &Metrics) {
        let fields = problem.fields();
        self.tell(
            sender,
            metrics,
            match self {
                Receipt::Silent => format!(r#"42["exception",{{{fields}}}]"#),
                Receipt::Raw(id) => {
                    format!(r#"{{"type":"error","id":{},{fields}}}"#, id.as_deref().unwrap_or("null"))
                }
                Receipt::SocketIo(id) => format!(r#"43{id}[{{"ok":false,"error":{{{fields}}}}}]"#),
            },
        );
    }

    fn tell(&self, sender: &Arc<Peer>, metrics: &Metrics, text: String) {
        let (_, written) = sender.outbox.deliver(&websocket::shared(Opcode::Text, text.as_bytes()));
        metrics.bytes_out.add(written as u64);
    }
}
