//! Whether a service is ready: asked of its port or its address, or heard from what it prints.

use crate::log::Stream;
use crate::settings::Ready;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time limit for a connection, and for an answer.
const CONNECT: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(2);
/// Bytes of an answer that hold its status.
const STATUS_LINE: usize = 64;

/// A host and port that are connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// Connects, to the first of its addresses that accepts.
    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The address that accepts.
    pub(crate) fn accepting(&self) -> io::Result<SocketAddr> {
        self.connect()?.peer_addr()
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        Address { host: address.ip().to_string(), port: address.port() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.host, self.port)
    }
}

/// What a service is asked that is to be ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadyCheck {
    pub(crate) address: Address,
    /// The page that is to answer; None: the port accepts connections.
    pub(crate) path: Option<String>,
}

impl ReadyCheck {
    /// Asks; Err: what came instead.
    pub(crate) fn ask(&self) -> Result<(), String> {
        let ReadyCheck { address, path } = self;
        match path {
            Some(path) => ask(address, path).map_err(|why| format!("http://{address}{path}: {why}")),
            None => address.accepting().map(drop).map_err(|why| format!("{address}: {why}")),
        }
    }
}

/// Asks for a page; Err: what came instead of a status below 400.
fn ask(address: &Address, path: &str) -> Result<(), String> {
    let answered = answer(address, path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answered);
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse::<u16>().ok());
    match status {
        Some(200..=399) => Ok(()),
        Some(status) => Err(format!("it answered {status}")),
        None => Err("what answered does not speak HTTP".to_owned()),
    }
}

fn answer(address: &Address, path: &str) -> io::Result<Vec<u8>> {
    let mut stream = address.connect()?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let Address { host, port } = address;
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    // In one piece: some servers answer what they have read so far.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answered = Vec::new();
    let mut buffer = [0; STATUS_LINE];
    // Up to the end of its first line: a connection that is kept open has no other end.
    while !answered.contains(&b'\n') && answered.len() < STATUS_LINE {
        match stream.read(&mut buffer)? {
            0 => break,
            read => answered.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(answered)
}

/// What a service that is starting has printed of itself.
#[derive(Default)]
pub(crate) struct Heard {
    is_ready: AtomicBool,
    address: OnceLock<SocketAddr>,
}

impl Heard {
    /// Takes in a line of a service that is ready when `ready` says so.
    pub(crate) fn line(&self, ready: Option<&Ready>, stream: Stream, text: &str) {
        match ready {
            Some(Ready::Line(line)) if text.contains(line.as_str()) => {
                self.is_ready.store(true, Ordering::Release);
            }
            Some(Ready::Listening { before, .. }) if stream == Stream::Out => {
                let address =
                    text.strip_prefix(before.as_str()).and_then(|rest| rest.trim_end().parse().ok());
                if let Some(address) = address {
                    // The first one counts.
                    let _ = self.address.set(address);
                }
            }
            _ => {}
        }
    }

    /// Whether the line that it is ready by was among it.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_service_says_where_it_listens_in_a_line_of_its_output() {
        let ready = Ready::Listening { before: "listening on http://".to_owned(), path: "/".to_owned() };
        let heard = Heard::default();
        for (stream, text) in [
            (Stream::Err, "listening on http://127.0.0.1:1"),
            (Stream::Out, "now listening on http://127.0.0.1:2"),
            (Stream::Out, "listening on http://somewhere"),
        ] {
            heard.line(Some(&ready), stream, text);
            assert_eq!(heard.address(), None, "{text}");
        }
        heard.line(Some(&ready), Stream::Out, "listening on http://127.0.0.1:3\r");
        heard.line(Some(&ready), Stream::Out, "listening on http://127.0.0.1:4");
        assert_eq!(heard.address(), Some("127.0.0.1:3".parse().unwrap()));
        assert!(!heard.is_ready());
    }

    #[test]
    fn a_line_that_a_service_is_ready_by_may_be_printed_anywhere() {
        let (ready, heard) = (Ready::Line("ready".to_owned()), Heard::default());
        heard.line(Some(&ready), Stream::Out, "not yet");
        assert!(!heard.is_ready());
        heard.line(Some(&ready), Stream::Err, "it is ready now");
        assert!(heard.is_ready());
    }

    #[test]
    fn a_short_answer_on_a_connection_that_stays_open_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, until_asked) = std::sync::mpsc::channel::<()>();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 512]).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            let _ = until_asked.recv();
        });
        let address = Address { host: "127.0.0.1".to_owned(), port };
        assert_eq!(ask(&address, "/"), Ok(()));
        drop(asked);
        server.join().unwrap();
    }

    #[test]
    fn a_status_below_400_is_ready_and_everything_else_says_what_it_is() {
        for (answer, expected) in [
            ("HTTP/1.1 204 No Content\r\n\r\n", Ok(())),
            ("HTTP/1.0 302 Found\r\n\r\n", Ok(())),
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", Err("it answered 503".to_owned())),
            ("-ERR unknown command\r\n", Err("what answered does not speak HTTP".to_owned())),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 512];
                let read = stream.read(&mut request).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                String::from_utf8_lossy(&request[..read]).into_owned()
            });
            let address = Address { host: "127.0.0.1".to_owned(), port };
            assert_eq!(ask(&address, "/healthz?a=1"), expected, "{answer}");
            let request = server.join().unwrap();
            assert!(
                request.starts_with(&format!("GET /healthz?a=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")),
                "{request}"
            );
        }
    }
}
