//! A small client of the tests: one HTTP request, one WebSocket, with a bound on every wait.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use sonagi_chat::{Config, Service};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No wait of a test is longer: reaching it is a failure, never a way to go on.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("{what}: nothing within {PATIENCE:?}"))
}

pub async fn serve(seed_users: usize) -> Service {
    sonagi_chat::start(Config { seed_users, ..Config::default() }).await.unwrap()
}

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn error_code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// One request on its own connection; `token` may be empty.
pub async fn request(at: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> Reply {
    let authorization = match token {
        "" => String::new(),
        token => format!("Authorization: Bearer {token}\r\n"),
    };
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: chat\r\n{authorization}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    exchange(at, text.as_bytes()).await
}

pub async fn get(at: SocketAddr, path: &str, token: &str) -> Reply {
    request(at, "GET", path, token, "").await
}

pub async fn post(at: SocketAddr, path: &str, token: &str, body: &str) -> Reply {
    request(at, "POST", path, token, body).await
}

/// Sends the bytes and reads one answer by its length, or to the end of the stream.
pub async fn exchange(at: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    within("an HTTP answer", read_reply(&mut stream)).await.unwrap()
}

/// `None` when the stream ended first.
pub async fn read_reply(stream: &mut TcpStream) -> Option<Reply> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let status = head.split(' ').nth(1)?.parse().unwrap();
            let reply = Reply { status, head, body: String::new() };
            let length = reply.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).unwrap();
                return Some(Reply { body, ..reply });
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

/// What a WebSocket brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    Text(String),
    Binary(Vec<u8>),
    Ping,
    Pong(Vec<u8>),
    Close(Option<u16>),
    /// The stream ended.
    End,
}

pub struct Ws {
    pub stream: TcpStream,
    /// What the upgrade was answered with.
    pub answer: Reply,
    decoder: Decoder,
    inbox: VecDeque<Got>,
}

impl Ws {
    /// Upgrades, or returns the answer that refused.
    pub async fn open(at: SocketAddr, path: &str, headers: &str) -> Result<Ws, Reply> {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: chat\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        // Byte by byte to the end of the head: what follows is frames.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let byte = within("an upgrade", stream.read_u8()).await.unwrap();
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply { status, head, body: String::new() };
        if status == 101 {
            assert_eq!(reply.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
            let decoder = Decoder::new(Role::Client, 64 * 1024 * 1024);
            return Ok(Ws { stream, answer: reply, decoder, inbox: VecDeque::new() });
        }
        let length: usize = reply.header("content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        reply.body = String::from_utf8(body).unwrap();
        Err(reply)
    }

    /// A connection that is a member of the room.
    pub async fn in_room(at: SocketAddr, room: &str, token: &str) -> Ws {
        let mut ws = Ws::open(at, &format!("/ws?room={room}&token={token}"), "").await.ok().unwrap();
        let joined = ws.json().await;
        assert_eq!((&joined["type"], &joined["room"]), (&"joined".into(), &room.into()));
        ws
    }

    pub async fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        let mut out = Vec::new();
        websocket::encode(opcode, payload, Some([1, 2, 3, 4]), &mut out);
        // A server that has closed already is found out by reading.
        let _ = self.stream.write_all(&out).await;
    }

    pub async fn text(&mut self, text: &str) {
        self.frame(Opcode::Text, text.as_bytes()).await;
    }

    /// Several frames in one write.
    pub async fn texts(&mut self, texts: impl Iterator<Item = String>) {
        let mut out = Vec::new();
        texts.for_each(|text| websocket::encode(Opcode::Text, text.as_bytes(), Some([1, 2, 3, 4]), &mut out));
        self.stream.write_all(&out).await.unwrap();
    }

    pub async fn say(&mut self, content: &str, id: &str) {
        self.text(&serde_json::json!({"type": "send", "content": content, "id": id}).to_string()).await;
    }

    pub async fn next(&mut self) -> Got {
        within("a frame", async {
            loop {
                if let Some(got) = self.inbox.pop_front() {
                    return got;
                }
                let mut chunk = [0; 16 * 1024];
                let read = self.stream.read(&mut chunk).await.unwrap_or(0);
                if read == 0 {
                    return Got::End;
                }
                let inbox = &mut self.inbox;
                let fed = self.decoder.feed(&mut chunk[..read], |event| {
                    inbox.push_back(match event {
                        Event::Text(text) => Got::Text(text.to_owned()),
                        Event::Binary(bytes) => Got::Binary(bytes.to_vec()),
                        Event::Ping(_) => Got::Ping,
                        Event::Pong(payload) => Got::Pong(payload.to_vec()),
                        Event::Close { code, .. } => Got::Close(code),
                    });
                });
                fed.unwrap();
            }
        })
        .await
    }

    /// The next text frame, which must be one.
    pub async fn next_text(&mut self) -> String {
        match self.next().await {
            Got::Text(text) => text,
            other => panic!("a text frame was due, got {other:?}"),
        }
    }

    pub async fn json(&mut self) -> Value {
        serde_json::from_str(&self.next_text().await).unwrap()
    }

    /// The next JSON object of this type; others are skipped.
    pub async fn json_of(&mut self, kind: &str) -> Value {
        loop {
            let json = self.json().await;
            if json["type"] == kind {
                return json;
            }
        }
    }

    /// Reads to the close frame and returns its code, or `None` when the stream ended without one.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                Got::Close(code) => return code,
                Got::End => return None,
                _ => {}
            }
        }
    }
}

/// A number of the service's metrics text.
pub fn metric(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no metric {name}")).parse().unwrap()
}
