//! A server of threads and blocking sockets: slow, plain, and of another make than what it tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: AtomicU64,
    pub(crate) messages: AtomicU64,
    pub(crate) pongs: AtomicU64,
    pub(crate) closes: AtomicU64,
    members: Mutex<Vec<TcpStream>>,
}

pub(crate) struct Server {
    pub(crate) seen: Arc<Seen>,
    address: SocketAddr,
}

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

impl Server {
    /// Its threads end with the test's process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let of_threads = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, seen) = (stream.unwrap(), Arc::clone(&of_threads));
                // A client that leaves in the middle of something ends its thread, not the test.
                thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { seen, address }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn serve(stream: TcpStream, seen: &Seen) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut path = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap().to_owned();
            }
        }
        if path.starts_with("/ws/") {
            stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n")?;
            return websocket(&path, reader, stream, seen);
        }
        seen.requests.fetch_add(1, SeqCst);
        match path.as_str() {
            "/events" => return events(stream, &mut reader),
            "/chunks" => {
                return stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            }
            "/ends" => return stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nretry: 1\n\n"),
            _ => {}
        }
        let status = if path == "/busy" { "503 Busy" } else { "200 OK" };
        stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes())?;
    }
}

/// A stream of three messages, each in two segments, and what is none between them; held until the client goes.
fn events(mut stream: TcpStream, reader: &mut impl Read) -> std::io::Result<()> {
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 1000\n\nid: 0\n\n")?;
    for number in 1..=3 {
        stream.write_all(format!("id: {number}\nda").as_bytes())?;
        stream.write_all(b"ta: {}\n\n: still here\n\n")?;
    }
    reader.read_to_end(&mut Vec::new()).map(drop)
}

fn websocket(
    path: &str,
    mut reader: BufReader<TcpStream>,
    mut stream: TcpStream,
    seen: &Seen,
) -> std::io::Result<()> {
    match path {
        "/ws/room" => {
            // Under the lock, so that no broadcast comes before the greeting.
            let mut members = seen.members.lock().unwrap();
            frame(&mut stream, TEXT, b"joined")?;
            members.push(stream.try_clone()?);
        }
        "/ws/flood" => loop {
            frame(&mut stream, TEXT, &[b'x'; 86])?;
        },
        _ => frame(&mut stream, PING, b"there?")?,
    }
    loop {
        let (opcode, payload) = received(&mut reader)?;
        match opcode {
            PONG => {
                assert_eq!(payload, b"there?");
                seen.pongs.fetch_add(1, SeqCst);
            }
            CLOSE => {
                seen.closes.fetch_add(1, SeqCst);
                return frame(&mut stream, CLOSE, &payload);
            }
            _ if path == "/ws/room" => {
                seen.messages.fetch_add(1, SeqCst);
                let members = seen.members.lock().unwrap();
                members.iter().try_for_each(|mut member| frame(&mut member, TEXT, &payload))?;
            }
            _ if path == "/ws/leaves" => return Ok(()),
            _ => {
                seen.messages.fetch_add(1, SeqCst);
                frame(&mut stream, TEXT, &payload)?;
            }
        }
    }
}

/// Writes a frame in two segments, so that the client sees halves of frames.
fn frame(stream: &mut (impl Write + ?Sized), first: u8, payload: &[u8]) -> std::io::Result<()> {
    let whole = [&[first, payload.len() as u8][..], payload].concat();
    let (one, other) = whole.split_at(whole.len() / 3);
    stream.write_all(one)?;
    stream.write_all(other)
}

fn received(reader: &mut impl Read) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 6];
    reader.read_exact(&mut head)?;
    assert!((0x80..0xfe).contains(&head[1]), "a client's frame is masked and, in these tests, short");
    let mut payload = vec![0; usize::from(head[1] & 0x7f)];
    reader.read_exact(&mut payload)?;
    payload.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= head[2 + at % 4]);
    Ok((head[0], payload))
}
