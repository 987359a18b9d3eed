//! Rooms over a plain WebSocket (`/ws`): JSON objects with a `type`, one per text frame.
//!
//! | from the client | answer |
//! |---|---|
//! | `{"type":"join","room":r}` | `{"type":"joined","room":r,"seq":n}` |
//! | `{"type":"leave","room":r}` | `{"type":"left","room":r}` |
//! | `{"type":"send","content":c,"room":r?,"id":i?}` | `{"type":"ack","id":i,"seq":n}`, once stored and published |
//!
//! Anything else is answered `{"type":"error","code":…,"message":…}` and the connection goes on.

use std::sync::Arc;

use serde::Deserialize;
use sonagi_wire::websocket::{self, Opcode};

use crate::hub::Hub;
use crate::link::Attendant;
use crate::outbox::Close;
use crate::peer::Peer;
use crate::problem::Problem;
use crate::receipt::Receipt;

pub(crate) struct RawRooms {
    pub(crate) peer: Arc<Peer>,
    pub(crate) hub: Arc<Hub>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Request {
    Join {
        room: String,
    },
    Leave {
        room: String,
    },
    Send {
        #[serde(default)]
        room: Option<String>,
        #[serde(default)]
        content: serde_json::Value,
        #[serde(default)]
        id: Option<serde_json::Value>,
    },
}

impl RawRooms {
    /// Joins and says so, or says why not.
    pub(crate) fn join(&self, room: &str) {
        match self.hub.join(&self.peer, room) {
            Ok(seq) => self.tell(&format!(r#"{{"type":"joined","room":"{room}","seq":{seq}}}"#)),
            Err(problem) => self.refuse(&problem),
        }
    }

    fn refuse(&self, problem: &Problem) {
        self.tell(&format!(r#"{{"type":"error",{}}}"#, problem.fields()));
    }

    fn tell(&self, text: &str) {
        self.peer.outbox.push(websocket::shared(Opcode::Text, text.as_bytes()));
    }
}

/// A client's id of a message: text as it is, anything else as its JSON; empty text is none.
pub(crate) fn client_id(id: Option<serde_json::Value>) -> Option<String> {
    match id? {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}

impl Attendant for RawRooms {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Request::Join { room }) => self.join(&room),
            Ok(Request::Leave { room }) => {
                if self.hub.leave(&self.peer, &room) {
                    self.tell(&format!(r#"{{"type":"left","room":"{room}"}}"#));
                } else {
                    self.refuse(&Problem::no_room(&room));
                }
            }
            Ok(Request::Send { room, content, id }) => {
                let id = client_id(id);
                let receipt = Receipt::Raw(id.clone());
                self.hub.say(&self.peer, room.as_deref(), &content, id, receipt);
            }
            Err(error) => self.refuse(&Problem::bad_request(format!(
                "a frame is a JSON object with the type join, leave or send: {error}"
            ))),
        }
    }

    fn binary(&mut self, _: &[u8]) {
        self.refuse(&Problem::bad_request("a frame is text, got a binary one"));
    }

    fn heard(&mut self) {
        self.peer.pulse.answered(self.hub.now(), &self.hub.config.limits);
    }

    fn farewell(&self) -> Option<&'static str> {
        None
    }

    fn closing(&mut self) {
        self.peer.outbox.close(Close::Normal);
        self.peer.leave_all(&self.hub.metrics);
    }
}

/// `/ws/echo`: says everything back.
pub(crate) struct Echo {
    pub(crate) peer: Arc<Peer>,
    pub(crate) hub: Arc<Hub>,
}

/// Bytes an echo may owe before it stops reading.
const ECHO_PATIENCE: usize = 256 * 1024;

impl Attendant for Echo {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        self.peer.outbox.push(websocket::shared(Opcode::Text, text.as_bytes()));
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.peer.outbox.push(websocket::shared(Opcode::Binary, bytes));
    }

    fn heard(&mut self) {
        self.peer.pulse.answered(self.hub.now(), &self.hub.config.limits);
    }

    fn farewell(&self) -> Option<&'static str> {
        None
    }

    fn closing(&mut self) {
        self.peer.outbox.close(Close::Normal);
    }

    fn patience(&self) -> usize {
        ECHO_PATIENCE
    }
}
