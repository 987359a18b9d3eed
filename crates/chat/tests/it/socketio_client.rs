//! Socket.IO over a WebSocket, on top of the tests' WebSocket.

use std::net::SocketAddr;

use serde_json::Value;

use crate::client::{Ws, get};

pub const PATH: &str = "/socket.io/?EIO=4&transport=websocket";

pub struct Sio {
    pub ws: Ws,
    last_ack: u64,
    /// Frames that came while an acknowledgement was awaited.
    pub passed: Vec<String>,
}

impl Sio {
    /// Opened, connected to `/` with the token.
    pub async fn connect(at: SocketAddr, token: &str) -> Sio {
        let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
        assert!(ws.next_text().await.starts_with("0{"));
        ws.text(&format!(r#"40{{"token":"{token}"}}"#)).await;
        assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
        Sio { ws, last_ack: 0, passed: Vec::new() }
    }

    /// Opened, connected to `/` without a token.
    pub async fn nobody(at: SocketAddr) -> Sio {
        let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
        assert!(ws.next_text().await.starts_with("0{"));
        ws.text("40").await;
        assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
        Sio { ws, last_ack: 0, passed: Vec::new() }
    }

    pub async fn in_room(at: SocketAddr, room: &str, token: &str) -> Sio {
        let mut sio = Sio::connect(at, token).await;
        let ack = sio.emit("joinRoom", &serde_json::json!({"roomId": room})).await;
        assert_eq!((&ack["ok"], &ack["room"]), (&true.into(), &room.into()));
        sio
    }

    /// Emits without awaiting and returns the acknowledgement's id.
    pub async fn emit_only(&mut self, event: &str, argument: &Value) -> u64 {
        self.last_ack += 1;
        self.ws.text(&format!(r#"42{}["{event}",{argument}]"#, self.last_ack)).await;
        self.last_ack
    }

    /// Emits and returns what it is acknowledged with.
    pub async fn emit(&mut self, event: &str, argument: &Value) -> Value {
        let id = self.emit_only(event, argument).await;
        self.acknowledged(id).await
    }

    pub async fn acknowledged(&mut self, id: u64) -> Value {
        let prefix = format!("43{id}[");
        loop {
            let text = self.ws.next_text().await;
            if let Some(rest) = text.strip_prefix(&prefix) {
                return serde_json::from_str(rest.strip_suffix(']').unwrap()).unwrap();
            }
            self.passed.push(text);
        }
    }

    /// The next `newMessage`.
    pub async fn message(&mut self) -> Value {
        loop {
            let text = match self.passed.is_empty() {
                true => self.ws.next_text().await,
                false => self.passed.remove(0),
            };
            if let Some(message) = new_message(&text) {
                return message;
            }
        }
    }
}

/// The payload of a `newMessage` frame.
pub fn new_message(text: &str) -> Option<Value> {
    let rest = text.strip_prefix(r#"42["newMessage","#)?;
    Some(serde_json::from_str(rest.strip_suffix(']').unwrap()).unwrap())
}

/// The path of a session that is polled.
pub async fn polled(at: SocketAddr, version: &str) -> String {
    let path = format!("/socket.io/?{version}&transport=polling");
    let open = get(at, &path, "").await;
    let handshake: Value = serde_json::from_str(&open.body[1..]).unwrap();
    format!("{path}&sid={}", handshake["sid"].as_str().unwrap())
}
