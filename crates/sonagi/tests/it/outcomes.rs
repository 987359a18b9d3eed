//! Targets that misbehave, met by whole users: every one is a classified outcome, never a hang and never a panic.

use crate::support::Place;
use crate::targets::End::{Closes, IsSilent, Repeats};
use crate::targets::Target;

const USERS: u64 = 3;

const HTTP: &str = "{ flow: [{ get: { url: / } }] }";
const WEBSOCKET: &str = "{ engine: ws, flow: [{ connect: / }, { think: 1 }, { send: hello }] }";
const SOCKETIO: &str = "{ engine: socketio-v3, flow: [{ connect: {} }, { emit: [hello] }] }";
const POLL: &str = "{ engine: poll, flow: [{ subscribe: a }, { expect: { within: 15 } }] }";
const LONGPOLL: &str = "{ engine: longpoll, flow: [{ subscribe: a }, { expect: { within: 15 } }] }";
const SSE: &str = "{ engine: sse, flow: [{ subscribe: a }, { expect: { within: 4 } }] }";
const STOMP: &str = "{ engine: stomp, flow: [{ subscribe: a }, { expect: { within: 4 } }] }";
const SOCKJS: &str = "{ engine: stomp, flow: [{ connect: { sockjs: true } }, { subscribe: a }] }";

const CONFIG: &str = "
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: USERS }]
  timeout: 2
  http: { timeout: 2 }
  ws: { timeout: 2, maxMessage: 200000 }
  socketio: { timeout: 2, transports: [websocket] }
  poll: { url: /a, every: 0.2, timeout: 2, cursor: { json: $.next, as: after } }
  longpoll: { url: /a, hold: 1, timeout: 1, cursor: { json: $.next, as: after } }
  sse: { url: /a, timeout: 2 }
  stomp: { url: /a, timeout: 2, receipts: [subscribe], subscribe: { destination: /a } }
scenarios:
";

const ERROR_500: &str = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\nsick";
const OF_ANOTHER_TYPE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\ndata: 1\n\n";
const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata";
const NO_CHUNK: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nsix\r\ndata";
const BEGINNING_OF_A_HEAD: &str = "HTTP/1.1 200 OK\r\n";
const UNTIL_THE_END: &str = "HTTP/1.1 200 OK\r\n\r\n";
const CONNECTED: &str = "CONNECTED\nversion:1.2\n\n\0";
const ERROR: &str = "ERROR\nmessage:no\n\n\0";
const HALF_A_MESSAGE: &str = "RECEIPT\nreceipt-id:{receipt}\n\n\0MESSAGE\ndestination:/a\n\nhal";

/// Runs one scenario against one target; says what is not as it should be.
fn check(target: Target, scenario: &str, code: &str) -> Option<String> {
    let place = Place::new();
    let script = format!("{CONFIG}  - {scenario}\n").replace("USERS", &USERS.to_string());
    place.write("meet.yml", &script);
    let answer = place.sonagi(&["run", "meet.yml", "--target", &target.start(), "--json"]);
    if answer.code != Some(1) {
        return Some(format!("{target:?} with {scenario}: {answer:?}"));
    }
    let summary = answer.json();
    let errors = summary["errors"].as_array().unwrap();
    // Polls go on until three of them have failed, each of them for the same reason.
    let has_code = !errors.is_empty() && errors.iter().all(|error| error["code"] == code);
    let meets_all = errors.iter().any(|error| error["count"] == USERS) && summary["users"]["failed"] == USERS;
    let is_described =
        errors.iter().all(|error| error["example"].as_str().is_some_and(|text| !text.is_empty()));
    (!has_code || !meets_all || !is_described)
        .then(|| format!("{target:?} with {scenario}: wanted {code}, got {errors:?}"))
}

/// Some at a time: each is a process of its own, and has time limits to keep.
fn check_all(table: &[(Target, &str, &str)]) {
    let mut wrong = Vec::new();
    for some in table.chunks(20) {
        std::thread::scope(|scope| {
            let runs: Vec<_> = some
                .iter()
                .map(|(target, scenario, code)| scope.spawn(|| check(*target, scenario, code)))
                .collect();
            wrong.extend(runs.into_iter().filter_map(|run| run.join().unwrap()));
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_target_that_misbehaves_is_a_classified_outcome_of_every_user() {
    check_all(&[
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
    ]);
}

#[test]
fn so_it_is_over_every_transport_that_opens_with_a_request() {
    for scenario in [POLL, LONGPOLL, SSE, STOMP, SOCKJS] {
        check_all(&[
            (Target::Down, scenario, "connect_refused"),
            (Target::Resets, scenario, "reset"),
            (Target::Stalls, scenario, "handshake_timeout"),
            (Target::Babbles, scenario, "protocol"),
            (Target::Says("", Closes), scenario, "closed_early"),
            (Target::Says(BEGINNING_OF_A_HEAD, Closes), scenario, "closed_early"),
            (Target::Says(BEGINNING_OF_A_HEAD, IsSilent), scenario, "handshake_timeout"),
            (Target::Says(BEGINNING_OF_A_HEAD, Repeats("a: b\r\n")), scenario, "protocol"),
            (Target::Says(BEGINNING_OF_A_HEAD, Repeats("a")), scenario, "protocol"),
            (Target::Says(ERROR_500, Closes), scenario, "handshake_refused_500"),
        ]);
    }
}

#[test]
fn so_are_polls_that_begin_well() {
    let mut table = Vec::new();
    for scenario in [POLL, LONGPOLL] {
        table.extend([
            (Target::ClosesInMidAnswer, scenario, "closed_early"),
            (Target::Says(UNTIL_THE_END, Repeats("a")), scenario, "handshake_timeout"),
            (Target::Polled("", Closes), scenario, "closed_early"),
            (Target::Polled("", IsSilent), scenario, "timeout"),
            (Target::Polled("this is no answer\r\n\r\n", Closes), scenario, "protocol"),
            (
                Target::Polled("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", Closes),
                scenario,
                "closed_early",
            ),
            (
                Target::Polled("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", IsSilent),
                scenario,
                "timeout",
            ),
            (Target::Polled(UNTIL_THE_END, Repeats("a")), scenario, "timeout"),
        ]);
    }
    check_all(&table);
}

#[test]
fn so_are_event_streams_that_begin_well() {
    check_all(&[
        (Target::Says(OF_ANOTHER_TYPE, IsSilent), SSE, "protocol"),
        (Target::SpeaksAnotherProtocol, SSE, "protocol"),
        (Target::Says(CHUNKED, Closes), SSE, "closed_early"),
        (Target::Says(NO_CHUNK, IsSilent), SSE, "protocol"),
        (Target::Streams("", Closes), SSE, "closed_early"),
        (Target::Streams("data: half", Closes), SSE, "closed_early"),
        (Target::Streams("data: half", IsSilent), SSE, "expectation_missed"),
        (Target::Streams("data: whole\n", IsSilent), SSE, "expectation_missed"),
        (Target::Streams("", Repeats("a")), SSE, "protocol"),
        (Target::Streams("", Repeats("data: a\n")), SSE, "protocol"),
        (Target::Streams("id: ", Repeats("a")), SSE, "protocol"),
    ]);
}

#[test]
fn so_are_stomp_sessions_that_begin_well() {
    check_all(&[
        (Target::SpeaksAnotherProtocol, STOMP, "handshake_refused_200"),
        (Target::ClosesInMidFrame, SOCKJS, "closed_early"),
        (Target::Stomp(&[""], Closes), STOMP, "closed_1006"),
        (Target::Stomp(&[""], IsSilent), STOMP, "handshake_timeout"),
        (Target::Stomp(&["CONNECTED\nversion"], Closes), STOMP, "closed_early"),
        (Target::Stomp(&["CONNECTED\nversion"], IsSilent), STOMP, "handshake_timeout"),
        (Target::Stomp(&["CONNECTED\n"], Repeats("a")), STOMP, "protocol"),
        (Target::Stomp(&["CONNECTED\n"], Repeats("a:b\n")), STOMP, "protocol"),
        (Target::Stomp(&["HELLO\n\n\0"], IsSilent), STOMP, "protocol"),
        (Target::Stomp(&["CONNECTED\nversion:1.3\n\n\0"], IsSilent), STOMP, "protocol"),
        (Target::Stomp(&[ERROR], IsSilent), STOMP, "broker_error"),
        (Target::Stomp(&[ERROR], Closes), STOMP, "broker_error"),
        (Target::Stomp(&[CONNECTED, ""], Closes), STOMP, "closed_1006"),
        (Target::Stomp(&[CONNECTED, ""], IsSilent), STOMP, "ack_timeout"),
        (Target::Stomp(&[CONNECTED, ERROR], Closes), STOMP, "broker_error"),
        (Target::Stomp(&[CONNECTED, HALF_A_MESSAGE], Closes), STOMP, "closed_early"),
        (Target::Stomp(&[CONNECTED, HALF_A_MESSAGE], IsSilent), STOMP, "expectation_missed"),
        (Target::Stomp(&[CONNECTED, HALF_A_MESSAGE], Repeats("f")), STOMP, "protocol"),
        (Target::Sockjs("", IsSilent), SOCKJS, "handshake_timeout"),
        (Target::Sockjs("", Closes), SOCKJS, "closed_1006"),
        (Target::Sockjs("hello", IsSilent), SOCKJS, "protocol"),
        (Target::Sockjs("c[3000,\"Go away!\"]", IsSilent), SOCKJS, "closed_3000"),
        (Target::Sockjs("c[2010,\"Another connection still open\"]", Closes), SOCKJS, "closed_2010"),
        (Target::Sockjs("o", IsSilent), SOCKJS, "handshake_timeout"),
        (Target::Sockjs("o", Repeats("h")), SOCKJS, "protocol"),
    ]);
}
