//! Whether a service is ready: asked of its port or its address.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

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
