//! Targets that misbehave, met by whole users: every one is a classified outcome, never a hang and never a panic.

use crate::support::Place;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const USERS: u64 = 3;

/// What a target does with a connection.
#[derive(Clone, Copy, Debug)]
enum Target {
    Down,
    Resets,
    Stalls,
    Babbles,
    ClosesInMidAnswer,
    ClosesInMidFrame,
    SpeaksAnotherProtocol,
}

impl Target {
    /// A target of this kind; its thread ends with the test process.
    fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        if !matches!(self, Target::Down) {
            std::thread::spawn(move || {
                let mut held = Vec::new();
                for stream in listener.incoming().take(64) {
                    held.extend(self.answer(stream.unwrap()));
                }
            });
        }
        url
    }

    /// Answers one connection; returns it when it is to stay open.
    fn answer(self, mut stream: TcpStream) -> Option<TcpStream> {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // Closing with unread bytes resets: so this one only looks.
        if matches!(self, Target::Resets) {
            let _ = stream.peek(&mut [0; 1]);
            return None;
        }
        let request = read_head(&mut stream);
        let answer: &[u8] = match self {
            Target::Down | Target::Resets => unreachable!("both have been dealt with"),
            Target::Stalls => return Some(stream),
            Target::Babbles => b"\x15\x03\x01 this is no answer \xff\xfe\r\n\r\n",
            Target::ClosesInMidAnswer => b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nonly this",
            Target::SpeaksAnotherProtocol => b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
            Target::ClosesInMidFrame => {
                let accept = sonagi_wire::websocket::accept_key(header(&request, "sec-websocket-key"));
                let head = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                     sec-websocket-accept: {accept}\r\n\r\n"
                );
                let _ = stream.write_all(head.as_bytes());
                b"\x81\x7d only a part"
            }
        };
        let _ = stream.write_all(answer);
        None
    }
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

const HTTP: &str = "flow: [{ get: { url: / } }]";
const WEBSOCKET: &str = "{ engine: ws, flow: [{ connect: / }, { think: 1 }, { send: hello }] }";
const SOCKETIO: &str = "{ engine: socketio-v3, flow: [{ connect: {} }, { emit: [hello] }] }";

fn script(scenario: &str) -> String {
    let scenario = if scenario == HTTP { format!("{{ {HTTP} }}") } else { scenario.to_owned() };
    format!(
        "config:\n  target: set by the test\n  phases: [{{ duration: 1, arrivalCount: {USERS} }}]\n  timeout: 2\n  \
         http: {{ timeout: 2 }}\n  ws: {{ timeout: 2 }}\n  socketio: {{ timeout: 2, transports: [websocket] }}\n\
         scenarios:\n  - {scenario}\n"
    )
}

/// Runs one scenario against one target; says what is not as it should be.
fn check(target: Target, scenario: &str, code: &str) -> Option<String> {
    let place = Place::new();
    place.write("meet.yml", &script(scenario));
    let answer = place.sonagi(&["run", "meet.yml", "--target", &target.start(), "--json"]);
    if answer.code != Some(1) {
        return Some(format!("{target:?} with {scenario}: {answer:?}"));
    }
    let summary = answer.json();
    let errors = &summary["errors"];
    let as_expected =
        summary["users"]["failed"] == USERS && errors[0]["code"] == code && errors[0]["count"] == USERS;
    let described = errors[0]["example"].as_str().is_some_and(|example| !example.is_empty());
    (!as_expected || !described).then(|| format!("{target:?} with {scenario}: wanted {code}, got {errors}"))
}

#[test]
fn a_target_that_misbehaves_is_a_classified_outcome_of_every_user() {
    let table = [
        (Target::Down, HTTP, "connect_refused"),
        (Target::Down, WEBSOCKET, "connect_refused"),
        (Target::Down, SOCKETIO, "connect_refused"),
        (Target::Resets, HTTP, "reset"),
        (Target::Resets, WEBSOCKET, "reset"),
        (Target::Resets, SOCKETIO, "reset"),
        (Target::Stalls, HTTP, "timeout"),
        (Target::Stalls, WEBSOCKET, "handshake_timeout"),
        (Target::Stalls, SOCKETIO, "handshake_timeout"),
        (Target::Babbles, HTTP, "protocol"),
        (Target::Babbles, WEBSOCKET, "protocol"),
        (Target::Babbles, SOCKETIO, "protocol"),
        (Target::ClosesInMidAnswer, HTTP, "closed_early"),
        (Target::ClosesInMidFrame, WEBSOCKET, "closed_early"),
        (Target::ClosesInMidFrame, SOCKETIO, "closed_early"),
        (Target::SpeaksAnotherProtocol, WEBSOCKET, "handshake_refused_200"),
        (Target::SpeaksAnotherProtocol, SOCKETIO, "handshake_refused_200"),
    ];
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = table
            .iter()
            .map(|(target, scenario, code)| scope.spawn(|| check(*target, scenario, code)))
            .collect();
        runs.into_iter().filter_map(|run| run.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
