//! A Node process's inspector: calls of the DevTools protocol over a WebSocket, and their answers, however late.

use serde_json::{Value, json};
use sonagi_wire::websocket::{Decoder, Event, Opcode, Role, accept_key, encode};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long connecting and greeting may take, each.
const GREETING: Duration = Duration::from_millis(900);
/// Bytes of a greeting.
const HEAD_MAX: usize = 8 << 10;
/// Bytes of an answer: the profile of a large service has some hundred thousand.
const ANSWER_MAX: usize = 32 << 20;
/// Answers that are kept until somebody asks for them.
const ANSWERS_MAX: usize = 8;

/// A connection to an inspector.
#[derive(Debug)]
pub(super) struct Inspector {
    stream: TcpStream,
    decoder: Decoding,
    calls: u64,
    answers: Vec<Value>,
}

/// A [`Decoder`] that can be shown.
struct Decoding(Decoder);

impl std::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoding")
    }
}

/// A call whose answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call(u64);

impl Inspector {
    /// Opens a connection to the inspector at this address and path.
    ///
    /// # Errors
    /// It is not there, or does not speak WebSocket.
    pub(super) fn connect(address: SocketAddr, path: &str) -> io::Result<Inspector> {
        let mut stream = TcpStream::connect_timeout(&address, GREETING)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING))?;
        stream.set_write_timeout(Some(GREETING))?;
        // The sample key of RFC 6455: keys and masks guard against proxies, and there is none on the way to ourselves.
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        let greeting = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(greeting.as_bytes())?;
        let head = head(&mut stream)?;
        if !head.starts_with("HTTP/1.1 101") || !head.contains(&accept_key(key)) {
            return Err(io::Error::other("what listens there is no inspector"));
        }
        let decoder = Decoding(Decoder::new(Role::Client, ANSWER_MAX));
        Ok(Inspector { stream, decoder, calls: 0, answers: Vec::new() })
    }

    /// Makes a call.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn call(&mut self, method: &str, parameters: Value) -> io::Result<Call> {
        self.calls += 1;
        let call = json!({ "id": self.calls, "method": method, "params": parameters }).to_string();
        self.send(Opcode::Text, call.as_bytes())?;
        Ok(Call(self.calls))
    }

    /// The result of a call; None: it has not come within this time, and may be asked for later.
    ///
    /// # Errors
    /// The connection is lost, or the call was refused.
    pub(super) fn answer(&mut self, call: Call, patience: Duration) -> io::Result<Option<Value>> {
        let until = Instant::now() + patience;
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == call.0) {
                return result(self.answers.swap_remove(at)).map(Some);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.receive(left)? {
                return Ok(None);
            }
        }
    }

    /// Takes what has come; false: nothing came within this time.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        if patience.is_zero() { Ok(false) } else { self.receive(patience) }
    }

    fn receive(&mut self, patience: Duration) -> io::Result<bool> {
        let mut bytes = vec![0; 64 << 10];
        self.stream.set_read_timeout(Some(patience))?;
        let read = match self.stream.read(&mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let (answers, mut pongs, mut is_closed) = (&mut self.answers, Vec::new(), false);
        let fed = self.decoder.0.feed(&mut bytes[..read], |event| match event {
            Event::Text(text) => answers.extend(serde_json::from_str::<Value>(text)),
            Event::Ping(payload) => pongs.push(payload.to_vec()),
            Event::Close { .. } => is_closed = true,
            Event::Binary(_) | Event::Pong(_) => {}
        });
        // Events of the protocol, and answers that nobody waits for any more.
        self.answers.retain(|answer| answer["id"].is_u64());
        let surplus = self.answers.len().saturating_sub(ANSWERS_MAX);
        self.answers.drain(..surplus);
        if is_closed || fed.is_err() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        for pong in pongs {
            self.send(Opcode::Pong, &pong)?;
        }
        Ok(true)
    }

    fn send(&mut self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        let mut frame = Vec::new();
        encode(opcode, payload, Some([0x53, 0x6e, 0x67, 0x69]), &mut frame);
        self.stream.write_all(&frame)
    }
}

fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_MAX || stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// What a call came to: an error of the protocol, and an exception of what was evaluated, are errors.
fn result(mut answer: Value) -> io::Result<Value> {
    let thrown = &answer["result"]["exceptionDetails"];
    let refusal = match (&answer["error"]["message"], &thrown["exception"]["description"]) {
        (Value::String(text), _) | (_, Value::String(text)) => Some(text.as_str()),
        _ => thrown["text"].as_str(),
    };
    match refusal {
        Some(text) => {
            let line: String = text.lines().next().unwrap_or_default().chars().take(120).collect();
            Err(io::Error::other(format!("it refuses: {line}")))
        }
        None => Ok(answer["result"].take()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_told_by_its_first_line() {
        let thrown = json!({ "id": 1, "result": { "result": {}, "exceptionDetails": { "text": "Uncaught",
            "exception": { "description": "TypeError: no\n    at x" } } } });
        assert_eq!(result(thrown).unwrap_err().to_string(), "it refuses: TypeError: no");
        let refused = json!({ "id": 1, "error": { "message": "no such method" } });
        assert_eq!(result(refused).unwrap_err().to_string(), "it refuses: no such method");
        assert_eq!(result(json!({ "id": 1, "result": { "x": 2 } })).unwrap(), json!({ "x": 2 }));
    }
}
