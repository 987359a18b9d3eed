//! The rooms of `sonagi serve` (docs/service.md, Socket.IO) on socketioxide and axum. Nothing is stored, tokens are not
//! looked at, and an id sent twice is a second message.
//!
//! One thread, as it has one core, and the system's allocator: with mimalloc a copy cost no less, and an idle
//! connection held more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::serve::ListenerExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use socketioxide::SocketIo;
use socketioxide::extract::{AckSender, Data, SocketRef};

/// Packets a session may owe its socket; beyond it they are lost. The default of 128 is less than one round of a large room.
const QUEUE: usize = 8192;

/// The room a join or leave names: `{roomId}` or the id alone.
fn room_of(wanted: Value) -> Option<String> {
    match wanted {
        Value::String(room) => Some(room),
        Value::Object(mut fields) => match fields.remove("roomId") {
            Some(Value::String(room)) => Some(room),
            _ => None,
        },
        _ => None,
    }
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "roomId")]
    room: String,
    content: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewMessage {
    room_id: String,
    seq: u64,
    sender_id: u64,
    content: Value,
    at: u64,
}

/// The number of the last message of each room.
#[derive(Clone, Default)]
struct Rooms(Arc<Mutex<HashMap<String, u64>>>);

impl Rooms {
    fn last(&self, room: &str) -> u64 {
        self.0.lock().expect("no holder panics").get(room).copied().unwrap_or(0)
    }

    fn next(&self, room: &str) -> u64 {
        let mut rooms = self.0.lock().expect("no holder panics");
        let last = match rooms.get_mut(room) {
            Some(last) => last,
            None => rooms.entry(room.to_owned()).or_default(),
        };
        *last += 1;
        *last
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn converse(socket: &SocketRef, sender_id: u64, rooms: Rooms, io: SocketIo) {
    let of = rooms.clone();
    socket.on("joinRoom", async move |socket: SocketRef, Data::<Value>(wanted), ack: AckSender| {
        let Some(room) = room_of(wanted) else { return };
        socket.join(room.clone());
        let _ = ack.send(&json!({ "ok": true, "room": room, "seq": of.last(&room) }));
    });
    socket.on("leaveRoom", async move |socket: SocketRef, Data::<Value>(wanted), ack: AckSender| {
        let Some(room) = room_of(wanted) else { return };
        socket.leave(room.clone());
        let _ = ack.send(&json!({ "ok": true, "room": room }));
    });
    socket.on("sendMessage", async move |Data::<Message>(Message { room, content }), ack: AckSender| {
        let seq = rooms.next(&room);
        let message = NewMessage { room_id: room.clone(), seq, sender_id, content, at: now() };
        // What fails here is the copy of a member who is just leaving.
        let _ = io.to(room).emit("newMessage", &message).await;
        let _ = ack.send(&json!({ "ok": true, "seq": seq }));
    });
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let (layer, io) = SocketIo::builder().max_buffer_size(QUEUE).build_layer();
    let rooms = Rooms::default();
    let users = AtomicU64::new(0);
    let publisher = io.clone();
    let users = Arc::new(users);
    io.ns("/", async move |socket: SocketRef| {
        let sender_id = users.fetch_add(1, Ordering::Relaxed) + 1;
        converse(&socket, sender_id, rooms, publisher);
    });

    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().layer(layer)).await
}
