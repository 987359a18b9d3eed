//! Whole virtual users from a script: schedule, flow, templates, client, codec, recorder and ledger, over in-memory pipes.
//!
//! Time stands still while there is something to do, so nothing here depends on how fast it is done.

use serde_json::{Value, json};
use sonagi_artillery::Overrides;
use sonagi_artillery::plan::Plan;
use sonagi_artillery::simulation::simulate;
use sonagi_engine::Control;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::Summary;
use std::path::Path;
use tokio::io::DuplexStream;
use tokio::task::LocalSet;

use super::server;

/// Users of `scripts/room.yml`, and copies of each message.
const ROOM: u64 = 20;
/// Frames the server answers a message with in `websocket_flood`.
pub(super) const FLOOD: u64 = 500;
pub(super) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";
const CREATED: &[u8] =
    b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 19\r\n\r\n{\"id\":42,\"ok\":true}";

/// The plan of `scripts/<name>.yml` with `{{ n }}` set, for `users` users that arrive within a tenth of a second. Its path is
/// relative: an absolute one would lie on the heap, and its length decides which way `realloc` goes ten thousand times.
fn plan(name: &str, users: u64, n: u64) -> Plan {
    let path = format!("scripts/{name}.yml");
    let overrides = Overrides {
        variables: vec![("n".to_owned(), Value::from(n))],
        overrides: Some(json!({"config": {"phases": [{"duration": "100ms", "arrivalCount": users}]}})),
        ..Overrides::default()
    };
    match sonagi_artillery::load(Path::new(&path), &overrides) {
        Ok(loaded) => loaded.plan,
        Err(problems) => panic!("{problems}"),
    }
}

/// Runs a plan on a paused clock; every user completes its flow.
pub(super) fn run(plan: Plan, server: impl Fn(DuplexStream) + 'static) -> Summary {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime for one thread");
    let summary = LocalSet::new().block_on(&runtime, simulate(plan, Control::new(), server));
    let users = &summary.users;
    assert_eq!((users.completed, users.failed), (users.planned, 0), "{:?}", summary.errors);
    summary
}

/// How often the plan's `operation` was done, none of them failing.
fn done(summary: &Summary, operation: usize) -> u64 {
    assert_eq!(summary.operations[operation].failed, 0);
    summary.operations[operation].count
}

fn no_server(_: DuplexStream) {}

pub(super) fn load_script(operations: u64) {
    for _ in 0..operations {
        assert_eq!(plan("http-post", 1, 1).operations.len(), 1);
    }
}

/// Ten to a turn of the loop, so that the loop's own cost is small in it.
pub(super) fn template(operations: u64) {
    run(plan("template", 1, operations / 10), no_server);
}

pub(super) fn arrival(operations: u64) {
    assert_eq!(run(plan("arrival", operations, 0), no_server).users.planned, operations);
}

pub(super) fn http_get(operations: u64) {
    let summary = run(plan("http-get", 1, operations), server::http(b"\r\n\r\n", OK));
    assert_eq!(done(&summary, 0), operations);
}

pub(super) fn http_post(operations: u64) {
    let summary = run(plan("http-post", 1, operations), server::http(b"\"}", CREATED));
    assert_eq!(done(&summary, 0), operations);
}

pub(super) fn http_connect(operations: u64) {
    let summary = run(plan("http-get", operations, 1), server::http(b"\r\n\r\n", OK));
    assert_eq!(done(&summary, 0), operations);
}

pub(super) fn websocket_connect(operations: u64) {
    let summary = run(plan("websocket-connect", operations, 0), server::websocket(&[], |_, _| {}));
    assert_eq!(done(&summary, 0), operations);
}

pub(super) fn websocket_echo(operations: u64) {
    let summary = run(plan("websocket-echo", 1, operations), server::websocket(&[], server::text));
    assert_eq!(done(&summary, 1), operations);
}

pub(super) fn websocket_flood(operations: u64) {
    let summary = run(plan("websocket-flood", 1, operations / FLOOD), server::websocket(&[], flood()));
    assert_eq!(summary.traffic[Counter::MessagesReceived], operations);
}

/// The server's part of it.
pub(super) fn flood() -> impl Fn(&[u8], &mut Vec<u8>) + Clone {
    let mut frames = Vec::new();
    (0..FLOOD).for_each(|_| server::text(&[b'x'; 86], &mut frames));
    move |_, out| out.extend_from_slice(&frames)
}

pub(super) fn room_copy(operations: u64) {
    let summary = run(plan("room", ROOM, operations / (ROOM * ROOM)), server::room());
    let counts = summary.delivery.expect("the script stamps its messages").counts;
    assert_eq!((counts.owed, counts.delivered), (operations, operations), "{counts:?}");
}

/// A session, a namespace, and `43<id>[…]` for each `42<id>[…]`.
pub(super) fn socketio_emit(operations: u64) {
    const OPEN: &[u8] =
        br#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#;
    let mut greeting = Vec::new();
    server::text(OPEN, &mut greeting);
    let answer = |packet: &[u8], out: &mut Vec<u8>| match packet {
        [b'4', b'0', ..] => server::text(br#"40{"sid":"t"}"#, out),
        [b'4', b'2', rest @ ..] => {
            let id = rest.split(|byte| *byte == b'[').next().unwrap_or_default();
            server::text(&[b"43", id, br#"[{"ok":true}]"#].concat(), out);
        }
        _ => {}
    };
    let summary = run(plan("socketio-emit", 1, operations), server::websocket(greeting.leak(), answer));
    assert_eq!(done(&summary, 1), operations);
}
