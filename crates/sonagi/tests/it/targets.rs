//! Targets that misbehave, each in its own way.

use socket2::{Domain, Socket, Type};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// An address that refuses whoever connects. Its port stays taken until the tests end: one that was given back would
/// go to the next target.
pub(crate) fn refusing() -> SocketAddr {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    std::mem::forget(socket);
    address
}

/// A target's behaviour on a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Down,
    Resets,
    Stalls,
    Babbles,
    ClosesInMidAnswer,
    ClosesInMidFrame,
    SpeaksAnotherProtocol,
    /// Answers whatever it is asked in these words.
    Says(&'static str, End),
    /// Answers a poll without a cursor as it should, and one with the cursor it gave in these words.
    Polled(&'static str, End),
    /// An event stream of these words.
    Streams(&'static str, End),
    /// A WebSocket that speaks STOMP: one message for each that it gets, none for "". `{receipt}` stands for what it is
    /// asked for.
    Stomp(&'static [&'static str], End),
    /// A WebSocket that speaks SockJS: says this at once.
    Sockjs(&'static str, End),
}

/// How a target goes on when it has said what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Closes,
    IsSilent,
    /// Repeats this text without end.
    Repeats(&'static str),
}

/// The answer to a first poll.
const NOTHING_YET: &str = "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"messages\":[],\"next\":1}";

const EVENT_STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

impl Target {
    /// A target of this kind; its threads end with the test process.
    pub(crate) fn start(self) -> String {
        if matches!(self, Target::Down) {
            return format!("http://{}", refusing());
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().take(64) {
                let stream = stream.unwrap();
                std::thread::spawn(move || self.answer(stream));
            }
        });
        url
    }

    /// Answers one connection, and ends it with the return.
    fn answer(self, mut stream: TcpStream) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // Closing with unread bytes resets: so this one only looks.
        if matches!(self, Target::Resets) {
            let _ = stream.peek(&mut [0; 1]);
            return;
        }
        let request = read_head(&mut stream);
        match self {
            Target::Down | Target::Resets => unreachable!("both have been dealt with"),
            Target::Stalls => End::IsSilent.carry_out(&mut stream, raw),
            Target::Babbles => say(&mut stream, b"\x15\x03\x01 this is no answer \xff\xfe\r\n\r\n"),
            Target::ClosesInMidAnswer => {
                say(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nonly this");
            }
            Target::SpeaksAnotherProtocol => {
                say(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
            }
            Target::ClosesInMidFrame => {
                upgrade(&mut stream, &request, "");
                say(&mut stream, b"\x81\x7d only a part");
            }
            Target::Says(words, end) => {
                say(&mut stream, words.as_bytes());
                end.carry_out(&mut stream, raw);
            }
            Target::Polled(words, end) => {
                let mut request = request;
                while !request.is_empty() && !request.contains("?after=1 ") {
                    say(&mut stream, NOTHING_YET.as_bytes());
                    request = read_head(&mut stream);
                }
                say(&mut stream, words.as_bytes());
                end.carry_out(&mut stream, raw);
            }
            Target::Streams(words, end) => {
                say(&mut stream, format!("{EVENT_STREAM}{words}").as_bytes());
                end.carry_out(&mut stream, raw);
            }
            Target::Stomp(answers, end) => {
                upgrade(&mut stream, &request, "sec-websocket-protocol: v12.stomp\r\n");
                for answer in answers {
                    let said = read_message(&mut stream);
                    let asked = said.lines().find_map(|line| line.strip_prefix("receipt:"));
                    let answer = answer.replace("{receipt}", asked.unwrap_or_default());
                    if !answer.is_empty() {
                        say(&mut stream, &framed(&answer));
                    }
                }
                end.carry_out(&mut stream, framed);
            }
            Target::Sockjs(words, end) => {
                upgrade(&mut stream, &request, "");
                if !words.is_empty() {
                    say(&mut stream, &framed(words));
                }
                end.carry_out(&mut stream, framed);
            }
        }
    }
}

impl End {
    fn carry_out(self, stream: &mut TcpStream, write: fn(&str) -> Vec<u8>) {
        match self {
            End::Closes => {}
            End::IsSilent => while stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {},
            End::Repeats(words) => {
                // Not so fast that taking it in were all the machine does.
                let much = write(&words.repeat(4096 / words.len()));
                while stream.write_all(&much).is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
}

fn say(stream: &mut TcpStream, words: &[u8]) {
    let _ = stream.write_all(words);
}

fn raw(words: &str) -> Vec<u8> {
    words.as_bytes().to_vec()
}

/// A WebSocket text message of the words.
fn framed(words: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    websocket::encode(Opcode::Text, words.as_bytes(), None, &mut frame);
    frame
}

fn upgrade(stream: &mut TcpStream, request: &str, more: &str) {
    let accept = websocket::accept_key(header(request, "sec-websocket-key"));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-accept: {accept}\r\n{more}\r\n"
    );
    say(stream, head.as_bytes());
}

/// The next text message of a client; nothing when none comes any more.
fn read_message(stream: &mut TcpStream) -> String {
    let mut decoder = Decoder::new(Role::Server, 1 << 20);
    let (mut message, mut byte) = (None, [0; 1]);
    while message.is_none() && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        let fed = decoder.feed(&mut byte, |event| {
            if let Event::Text(text) = event {
                message = Some(text.to_owned());
            }
        });
        fed.unwrap();
    }
    message.unwrap_or_default()
}

/// Everything up to the empty line, so that closing later does not reset.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while head.len() < 16_384 && !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}
