//! Users whose connection breaks off, and who open it again.

use super::*;
use crate::plan::template::Piece;
use crate::plan::{
    Awaited, Content, Expect, Function, Reconnect, Subscribe, ValueTemplate, WebsocketConnect, WebsocketSend,
};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

mod cutting;
mod polled;
mod resuming;

/// The far end of one connection.
struct Peer {
    stream: DuplexStream,
    decoder: Decoder,
    heard: VecDeque<String>,
}

impl Peer {
    async fn text(&mut self, text: &str) {
        let mut frame = Vec::new();
        websocket::encode(Opcode::Text, text.as_bytes(), None, &mut frame);
        let _ = self.stream.write_all(&frame).await;
    }

    /// The next text; None when the connection has ended.
    async fn heard(&mut self) -> Option<String> {
        let mut buffer = vec![0; 4096];
        while self.heard.is_empty() {
            let read = self.stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
            let heard = &mut self.heard;
            let fed = self.decoder.feed(&mut buffer[..read], |event| {
                if let Event::Text(text) = event {
                    heard.push_back(text.to_owned());
                }
            });
            fed.unwrap();
        }
        self.heard.pop_front()
    }

    async fn close(&mut self, code: u16) {
        let mut frame = Vec::new();
        websocket::encode(Opcode::Close, &websocket::close_payload(code, ""), None, &mut frame);
        let _ = self.stream.write_all(&frame).await;
        self.stay().await;
    }

    /// Keeps the connection open until the other side has closed it.
    async fn stay(&mut self) {
        while self.heard().await.is_some() {}
    }
}

/// A server that does something else with each of its connections, numbered from 0. What is no WebSocket is answered
/// with 200 after `http`.
fn server<F: Future<Output = ()> + 'static>(
    http: Duration,
    each: impl Fn(usize, Peer) -> F + 'static,
) -> impl Fn(DuplexStream) {
    let each = Rc::new(each);
    let count = Rc::new(Cell::new(0));
    move |mut stream| {
        let (each, count) = (Rc::clone(&each), Rc::clone(&count));
        tokio::task::spawn_local(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            let head = String::from_utf8(head).unwrap();
            let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
            let Some(key) = key else {
                tokio::time::sleep(http).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                let _ = stream.read_buf(&mut Vec::new()).await;
                return;
            };
            let accept = websocket::accept_key(key);
            let upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade";
            let answer = format!("{upgrade}\r\nsec-websocket-accept: {accept}\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            let decoder = Decoder::new(Role::Server, 1 << 20);
            let number = count.replace(count.get() + 1);
            each(number, Peer { stream, decoder, heard: VecDeque::new() }).await;
        });
    }
}

const CONNECT: OperationId = OperationId(1);
const SEND: OperationId = OperationId(2);
const EXPECT: OperationId = OperationId(3);
const RECONNECT: OperationId = OperationId(4);

fn open() -> Step {
    Step::Open(Arc::new(Step::WebsocketConnect(Box::new(WebsocketConnect {
        operation: CONNECT.into(),
        url: Template::constant("/"),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        timeout: SECOND,
        function: None,
    }))))
}

fn awaited(timeout: Duration, text: Option<&str>) -> Awaited {
    let data = text.map(|text| ValueTemplate::Constant(text.into()));
    Awaited { timeout, data, captures: Vec::new(), matches: Vec::new(), confirms: false }
}

fn send(text: Template, response: Option<Awaited>) -> Step {
    Step::WebsocketSend(Box::new(WebsocketSend {
        operation: SEND.into(),
        payload: Content::Text(text),
        response,
    }))
}

fn say(text: &str) -> Step {
    send(Template::constant(text), None)
}

fn expect(text: &str, timeout: Duration) -> Step {
    let awaited = awaited(timeout, Some(text));
    Step::Expect(Box::new(Expect { operation: EXPECT.into(), event: None, awaited }))
}

/// Says `join <cursor>` and waits for `joined`.
fn subscribe(resumes: bool) -> Step {
    let cursor = Expression::Call { function: Function::Cursor, arguments: Vec::new() };
    let text = Template { pieces: vec![Piece::Text("join ".into()), Piece::Hole(cursor)] };
    let steps = vec![send(text, Some(awaited(SECOND, None))), Step::Join(Template::constant("room"))];
    Step::Subscribe(Arc::new(Subscribe { steps, resumes }))
}

fn automatic() -> Reconnect {
    Reconnect {
        operation: RECONNECT,
        is_automatic: true,
        first: 500 * MILLISECOND,
        most: 4 * SECOND,
        attempts: 5,
        resume: true,
    }
}

fn reconnecting(reconnect: Reconnect, flow: Vec<Step>) -> Plan {
    let operation = |name: &str, kind| Operation { name: name.into(), kind };
    Plan {
        operations: vec![
            operation("GET /", OperationKind::Http),
            operation("connect", OperationKind::WebsocketConnect),
            operation("send", OperationKind::WebsocketSend),
            operation("expect", OperationKind::Expect),
            operation("reconnect", OperationKind::Reconnect),
        ],
        delivery: Some(Rules::default()),
        reconnect: Some(reconnect),
        cursor: Some("seq".into()),
        drain: Duration::ZERO,
        ..plan(arrivals(1, 1, None), flow)
    }
}

/// Count and failures of an operation.
fn ran(summary: &Summary, name: &str) -> (u64, u64) {
    let operation = summary.operations.iter().find(|operation| operation.name == name);
    operation.map_or((0, 0), |operation| (operation.count, operation.failed))
}

fn codes(summary: &Summary) -> Vec<(&str, u64)> {
    summary.errors.iter().map(|error| (error.code.as_str(), error.count)).collect()
}

/// Connections lost, opened again, and attempts that failed.
fn reconnects(summary: &Summary) -> [u64; 3] {
    let traffic = &summary.traffic;
    [Counter::ConnectionsLost, Counter::Reconnects, Counter::ReconnectsFailed].map(|counter| traffic[counter])
}

#[tokio::test(start_paused = true)]
async fn a_think_goes_on_to_its_instant_however_its_connection_ends() {
    for end in [None, Some(1000), Some(1011)] {
        let breaks_once = server(SECOND, move |number, mut peer: Peer| async move {
            if number == 0 {
                tokio::time::sleep(SECOND).await;
                match end {
                    Some(code) => peer.close(code).await,
                    None => return,
                }
            }
            peer.stay().await;
        });
        let flow = vec![open(), think(10.0)];
        let summary = simulate(reconnecting(automatic(), flow), Control::new(), breaks_once).await;
        assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]), "{end:?}");
        assert_eq!(reconnects(&summary), [1, 1, 0]);
        assert_eq!((ran(&summary, "connect"), ran(&summary, "reconnect")), ((2, 0), (1, 0)));
        let session = summary.users.session_ms.max;
        assert!((9_990.0..10_100.0).contains(&session), "ten seconds of thinking took {session} ms");
        let reconnect = &summary.kinds.iter().find(|kind| kind.name == "reconnect").unwrap().response_ms;
        assert!(reconnect.max <= 510.0, "the first wait is at most half a second, got {reconnect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_are_used_up_and_then_the_user_fails() {
    let breaks_for_good = server(SECOND, |number, mut peer: Peer| async move {
        if number == 0 {
            tokio::time::sleep(SECOND).await;
        } else {
            // The handshake is answered, the subscription never.
            peer.heard().await;
        }
    });
    let plan = reconnecting(automatic(), vec![open(), think(0.5), subscribe(true), think(60.0)]);
    let start = Instant::now();
    let summary = simulate(plan, Control::new(), breaks_for_good).await;
    assert_eq!((summary.users.completed, summary.users.failed), (0, 1));
    // The subscription of the flow went down with the first connection, those of the attempts with theirs.
    assert_eq!(reconnects(&summary), [6, 0, 5]);
    assert_eq!((ran(&summary, "connect"), ran(&summary, "send")), ((6, 0), (6, 6)));
    assert_eq!(ran(&summary, "reconnect"), (1, 1));
    assert_eq!(codes(&summary), [("closed_1006", 6), ("closed_1006", 1)]);
    // At most 0.5 + 1 + 2 + 4 + 4 s of waiting.
    assert!(start.elapsed() < 13 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_was_under_way_has_failed_and_the_flow_goes_on() {
    let breaks_once = server(SECOND, |number, mut peer: Peer| async move {
        peer.heard().await;
        if number == 1 {
            peer.stay().await;
        }
    });
    let flow = vec![open(), send(Template::constant("?"), Some(awaited(9 * SECOND, None))), say("!")];
    let start = Instant::now();
    let summary = simulate(reconnecting(automatic(), flow), Control::new(), breaks_once).await;
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![("closed_1006", 1)]));
    assert_eq!((ran(&summary, "send"), reconnects(&summary)), ((2, 1), [1, 1, 0]));
    assert!(start.elapsed() < 3 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_expect_under_way_waits_on_and_takes_what_is_replayed() {
    let replays = server(SECOND, |number, mut peer: Peer| async move {
        peer.heard().await;
        peer.text("joined").await;
        tokio::time::sleep(SECOND).await;
        if number > 0 {
            peer.text("missed").await;
            peer.stay().await;
        }
    });
    let flow = vec![open(), subscribe(true), expect("missed", 5 * SECOND)];
    let summary = simulate(reconnecting(automatic(), flow), Control::new(), replays).await;
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
    assert_eq!((ran(&summary, "expect"), ran(&summary, "send")), ((1, 0), (2, 0)));
    let waited = summary.operations.iter().find(|operation| operation.name == "expect").unwrap();
    assert!((2_000.0..2_600.0).contains(&waited.response_ms.max), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn an_expect_whose_message_never_comes_fails_at_its_limit_connected_or_not() {
    let breaks_for_good = server(SECOND, |_, _| async {});
    let flow = vec![open(), expect("never", 2 * SECOND)];
    let start = Instant::now();
    let patient = Reconnect { attempts: 1000, ..automatic() };
    let summary = simulate(reconnecting(patient, flow), Control::new(), breaks_for_good).await;
    assert_eq!((summary.users.failed, ran(&summary, "expect")), (1, (1, 1)));
    assert!(codes(&summary).contains(&("expectation_missed", 1)), "{:?}", codes(&summary));
    assert!(start.elapsed() < 4 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_send_waits_for_the_connection_within_its_limit_and_counts_from_its_plan() {
    // Its arrival is at second 1; the server is down from second 2 to second 6.
    let start = Instant::now();
    let is_down = move || (2 * SECOND..6 * SECOND).contains(&start.elapsed());
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hears = Rc::clone(&heard);
    let breaks = server(SECOND, move |number, mut peer: Peer| {
        let hears = Rc::clone(&hears);
        async move {
            if number == 0 {
                tokio::time::sleep_until(start + 2 * SECOND).await;
                return;
            }
            while let Some(text) = peer.heard().await {
                hears.borrow_mut().push(text);
            }
        }
    });
    let breaks = move |stream| {
        if !is_down() {
            breaks(stream);
        }
    };
    let limited = |text| send(Template::constant(text), Some(awaited(2 * SECOND, None)));
    // Due at second 3: its limit ends at 5. The next is due then, and waits until the connection is back.
    let flow = vec![open(), think(2.0), limited("in vain"), say("in time"), think(1.0)];
    let busy = Reconnect { first: 100 * MILLISECOND, most: 100 * MILLISECOND, attempts: 1000, ..automatic() };
    let summary = simulate(reconnecting(busy, flow), Control::new(), breaks).await;
    assert_eq!(summary.users.completed, 1);
    assert_eq!(*heard.borrow(), ["in time"]);
    assert_eq!(ran(&summary, "send"), (2, 1));
    assert!(codes(&summary).contains(&("not_connected", 1)), "{:?}", codes(&summary));
    let sent = summary.operations.iter().find(|operation| operation.name == "send").unwrap();
    assert!((900.0..1_200.0).contains(&sent.response_ms.max), "from second 5 to the return: {sent:?}");
    assert!(sent.service_ms.max < 10.0, "it began when the connection was back: {sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_send_does_not_wait_longer_than_its_limit_for_an_attempt_that_is_far_off() {
    let start = Instant::now();
    let breaks = server(SECOND, |_, _: Peer| tokio::time::sleep(SECOND));
    let patient = Reconnect { first: 3600 * SECOND, most: 3600 * SECOND, ..automatic() };
    let limited = send(Template::constant("in vain"), Some(awaited(2 * SECOND, None)));
    let flow = vec![open(), think(2.0), limited];
    let summary = simulate(reconnecting(patient, flow), Control::new(), breaks).await;
    assert_eq!(codes(&summary), [("not_connected", 1)]);
    assert!(start.elapsed() < 10 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_by_http_does_not_mind_the_loss() {
    let breaks_once = server(3 * SECOND, |number, mut peer: Peer| async move {
        if number == 0 {
            tokio::time::sleep(SECOND).await;
            return;
        }
        peer.stay().await;
    });
    let flow = vec![open(), get(5 * SECOND), think(2.0)];
    let summary = simulate(reconnecting(automatic(), flow), Control::new(), breaks_once).await;
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
    assert_eq!((ran(&summary, "GET /"), reconnects(&summary)), ((1, 0), [1, 1, 0]));
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_wait_for_the_next_attempt() {
    let breaks_for_good = server(SECOND, |_, _| async {});
    let control = Control::new();
    let stop = control.clone();
    let slow = Reconnect { first: 300 * SECOND, most: 300 * SECOND, ..automatic() };
    let plan = reconnecting(slow, vec![open(), think(1000.0)]);
    let start = Instant::now();
    let (summary, ()) = tokio::join!(simulate(plan, control, breaks_for_good), async move {
        tokio::time::sleep(2 * SECOND).await;
        stop.stop();
    });
    assert_eq!(summary.users.stopped, 1);
    assert!(start.elapsed() < 5 * SECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_leaves_does_not_reconnect() {
    let connections = Rc::new(Cell::new(0));
    let counted = Rc::clone(&connections);
    let ends_the_drain = server(SECOND, move |_, mut peer: Peer| {
        counted.set(counted.get() + 1);
        async move {
            peer.heard().await;
            peer.text("joined").await;
            tokio::time::sleep(SECOND).await;
        }
    });
    let plan = reconnecting(automatic(), vec![open(), subscribe(true)]);
    let plan = Plan { drain: 5 * SECOND, ..plan };
    let summary = simulate(plan, Control::new(), ends_the_drain).await;
    assert_eq!((summary.users.completed, connections.get()), (1, 1));
    assert_eq!(reconnects(&summary), [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_step_cuts_the_connection_and_opens_it_again_at_once() {
    let farewells = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&farewells);
    let keeps = server(SECOND, move |_, mut peer: Peer| {
        let told = Rc::clone(&told);
        async move {
            peer.heard().await;
            peer.text("joined").await;
            let mut rest = Vec::new();
            let _ = peer.stream.read_to_end(&mut rest).await;
            told.borrow_mut().push(rest.len());
        }
    });
    let by_hand = Reconnect { is_automatic: false, first: 300 * SECOND, ..automatic() };
    let flow = vec![open(), subscribe(true), Step::Reconnect, think(1.0)];
    let start = Instant::now();
    let run = simulate_closely(reconnecting(by_hand, flow), Control::new(), keeps).await;
    assert_eq!((run.summary.users.completed, codes(&run.summary)), (1, vec![]));
    assert_eq!(reconnects(&run.summary), [0, 1, 0], "a connection cut on purpose is not lost");
    assert_eq!((ran(&run.summary, "reconnect"), run.memberships), ((1, 0), [2, 2, 2]));
    assert_eq!(farewells.borrow()[0], 0, "no goodbye");
    assert!(start.elapsed() < 4 * SECOND, "no back-off before the first attempt: {:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn without_a_connection_there_is_nothing_to_open_again() {
    for (before, why) in [
        (vec![], "none was opened before"),
        (vec![Step::Disconnect], "none was opened before"),
        (vec![open(), Step::Disconnect], "the flow has closed its own (disconnect)"),
    ] {
        let flow = [before, vec![Step::Reconnect]].concat();
        let keeps = server(SECOND, |_, mut peer: Peer| async move { peer.stay().await });
        let summary = simulate(reconnecting(automatic(), flow), Control::new(), keeps).await;
        assert_eq!((summary.users.failed, codes(&summary)), (1, vec![("not_connected", 1)]), "{why}");
        let detail = format!("the step opens a connection again, and {why}");
        assert_eq!(summary.errors[0].example, detail);
    }
}

#[tokio::test(start_paused = true)]
async fn a_loss_without_the_option_fails_the_user_as_ever() {
    let by_hand = Reconnect { is_automatic: false, ..automatic() };
    let flow = vec![open(), think(9.0)];
    let summary =
        simulate(reconnecting(by_hand, flow), Control::new(), server(SECOND, |_, _| async {})).await;
    assert_eq!((summary.users.failed, codes(&summary)), (1, vec![("closed_1006", 1)]));
    assert_eq!(reconnects(&summary), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_went_down_with_its_connection_joins_when_it_is_back() {
    let breaks_first = server(SECOND, |number, mut peer: Peer| async move {
        peer.heard().await;
        if number > 0 {
            peer.text("joined").await;
            peer.stay().await;
        }
    });
    let plan = reconnecting(automatic(), vec![open(), subscribe(true), think(3.0)]);
    let run = simulate_closely(plan, Control::new(), breaks_first).await;
    assert_eq!(run.summary.users.completed, 1);
    assert_eq!(
        run.memberships,
        [1, 1, 2],
        "who was not let in was no member, and its request ended with its connection"
    );
    assert_eq!(ran(&run.summary, "send"), (2, 1));
}

/// Copies that came meanwhile would not be leaks: the ledger knows of the request, and of its end.
#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_never_confirmed_ends_with_its_connection() {
    let never_answers = server(SECOND, |_, mut peer: Peer| async move {
        peer.heard().await;
        peer.stay().await;
    });
    let plan = Plan { reconnect: None, ..reconnecting(automatic(), vec![open(), subscribe(true)]) };
    let run = simulate_closely(plan, Control::new(), never_answers).await;
    assert_eq!(run.summary.users.failed, 1);
    assert_eq!(run.memberships, [0, 0, 1]);
}
