//! WebSocket and Socket.IO users whose server ends things at the wrong moment.

use super::*;
use crate::plan::template::Piece;
use crate::plan::{Awaited, Content, SocketioConnect, SocketioOptions, WebsocketConnect, WebsocketSend};
use sonagi_transport::link::SocketioTransport;
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};

/// Frames a server sends at once.
#[derive(Clone, Default)]
struct Frames(Vec<u8>);

impl Frames {
    fn text(mut self, text: &str) -> Frames {
        websocket::encode(Opcode::Text, text.as_bytes(), None, &mut self.0);
        self
    }

    fn close(mut self, code: u16) -> Frames {
        websocket::encode(Opcode::Close, &websocket::close_payload(code, ""), None, &mut self.0);
        self
    }
}

/// A WebSocket server that greets with `greeting` and answers each message with `answer`.
fn server(greeting: Frames, answer: Frames) -> impl Fn(DuplexStream) {
    move |mut stream| {
        let (greeting, answer) = (greeting.clone(), answer.clone());
        tokio::task::spawn_local(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut head).await.unwrap();
            }
            let head = String::from_utf8(head).unwrap();
            let key = head.lines().find_map(|line| {
                line.split_once(": ").filter(|f| f.0.eq_ignore_ascii_case("sec-websocket-key"))
            });
            let accept = websocket::accept_key(key.unwrap().1);
            let upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade";
            let head = format!("{upgrade}\r\nsec-websocket-accept: {accept}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &greeting.0].concat()).await.unwrap();
            let mut decoder = Decoder::new(Role::Server, 1 << 20);
            let mut buffer = vec![0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                let mut replies = Vec::new();
                decoder
                    .feed(&mut buffer[..read], |event| match event {
                        Event::Text(_) => replies.extend_from_slice(&answer.0),
                        Event::Close { code, .. } => {
                            replies.extend(Frames::default().close(code.unwrap_or(1000)).0);
                        }
                        _ => {}
                    })
                    .unwrap();
                let _ = stream.write_all(&replies).await;
            }
        });
    }
}

fn connect() -> Step {
    Step::WebsocketConnect(Box::new(WebsocketConnect {
        operation: OperationId(0).into(),
        url: Template::constant("/"),
        headers: Vec::new(),
        subprotocols: Vec::new(),
        timeout: SECOND,
        function: None,
    }))
}

fn send(response: Option<Awaited>) -> Step {
    let payload = Content::Text(Template::constant("hello"));
    Step::WebsocketSend(Box::new(WebsocketSend { operation: OperationId(1).into(), payload, response }))
}

fn send_stamped(response: Option<Awaited>) -> Step {
    let function = crate::plan::Function::Stamp;
    let stamp = Piece::Hole(Expression::Call { function, arguments: Vec::new() });
    let payload = Content::Text(Template { pieces: vec![stamp] });
    Step::WebsocketSend(Box::new(WebsocketSend { operation: OperationId(1).into(), payload, response }))
}

fn any_within(timeout: Duration) -> Option<Awaited> {
    Some(Awaited { timeout, data: None, captures: Vec::new(), matches: Vec::new(), confirms: false })
}

fn join() -> Step {
    Step::Join(Template::constant("room"))
}

fn talk(flow: Vec<Step>) -> Plan {
    let operation = |name: &str, kind| Operation { name: name.into(), kind };
    Plan {
        operations: vec![
            operation("connect", OperationKind::WebsocketConnect),
            operation("send", OperationKind::WebsocketSend),
        ],
        delivery: Some(Rules::default()),
        ..plan(arrivals(1, 1, None), flow)
    }
}

fn codes(summary: &Summary) -> Vec<(&str, u64)> {
    summary.errors.iter().map(|error| (error.code.as_str(), error.count)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_before_the_end_counts_once_and_the_end_after_it() {
    let flow = vec![connect(), send(any_within(SECOND)), think(1.0)];
    let ends = server(Frames::default(), Frames::default().text("answer").close(1008));
    let summary = simulate(talk(flow), Control::new(), ends).await;
    let send = &summary.operations[1];
    assert_eq!((send.count, send.failed), (1, 0));
    assert_eq!(codes(&summary), [("closed_1008", 1)]);
    assert_eq!(summary.users.failed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_close_under_a_waiting_operation_fails_it_once_and_at_once() {
    for code in [1000, 1008] {
        let flow = vec![connect(), send(any_within(10 * SECOND))];
        let ends = server(Frames::default(), Frames::default().close(code));
        let start = Instant::now();
        let summary = simulate(talk(flow), Control::new(), ends).await;
        assert!(start.elapsed() < 3 * SECOND, "waited for an answer that cannot come: {:?}", start.elapsed());
        let send = &summary.operations[1];
        assert_eq!((send.count, send.failed), (1, 1));
        assert_eq!(codes(&summary), [(format!("closed_{code}").as_str(), 1)]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_ordinary_goodbye_between_operations_is_no_failure() {
    let flow = vec![connect(), think(1.0)];
    let summary =
        simulate(talk(flow), Control::new(), server(Frames::default().close(1000), Frames::default())).await;
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn hanging_up_in_mid_flow_ends_the_membership_and_a_rejoin_begins_another() {
    let flow = vec![connect(), join(), join(), Step::Disconnect, think(1.0), connect(), join(), think(1.0)];
    let run =
        simulate_closely(talk(flow), Control::new(), server(Frames::default(), Frames::default())).await;
    assert_eq!(run.summary.users.completed, 1);
    assert_eq!(run.memberships, [2, 2, 2], "begun, ended, gone");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_no_connection_took_was_not_sent() {
    let plan = talk(vec![join(), send_stamped(None)]);
    let run = simulate_closely(plan, Control::new(), server(Frames::default(), Frames::default())).await;
    assert_eq!(codes(&run.summary), [("not_connected", 1)]);
    assert_eq!(run.summary.delivery.unwrap().counts.messages, 0);
    assert_eq!(run.memberships, [1, 1, 1]);
}

/// The sender is owed its own copy; it never comes. What is answered was taken, and has to come.
#[tokio::test(start_paused = true)]
async fn a_message_whose_answer_does_not_come_in_time_is_not_known_to_have_been_taken() {
    for (answer, lost, unknown) in
        [(Frames::default(), 0, 1), (Frames::default().text(r#"{"type":"ack"}"#), 1, 0)]
    {
        let flow = vec![connect(), join(), think(1.0), send_stamped(any_within(SECOND))];
        let summary = simulate(talk(flow), Control::new(), server(Frames::default(), answer)).await;
        let counts = summary.delivery.unwrap().counts;
        assert_eq!((counts.messages, counts.lost, counts.unknown), (1, lost, unknown));
    }
}

/// A user whose iteration is over drains for two seconds beside its successors, which come twice a second.
#[tokio::test(start_paused = true)]
async fn who_only_drains_is_not_held() {
    let stage = Stage { name: None, duration: 5 * SECOND, from: Some(3), users: 3 };
    let flow = vec![connect(), join(), think(0.5)];
    let drain = 2 * SECOND;
    let plan = Plan { load: Load::Closed { stages: vec![stage] }, drain, ..talk(flow) };
    let run = simulate_closely(plan, Control::new(), server(Frames::default(), Frames::default())).await;
    assert!(run.summary.users.completed >= 27, "{}", run.summary.users.completed);
    assert_eq!(run.most_connected, 3);
    assert_eq!(run.departed as u64, run.summary.users.completed, "the ledger need not know them for ever");
}

fn connect_socketio() -> Step {
    Step::SocketioConnect(Box::new(SocketioConnect {
        operation: OperationId(0).into(),
        options: SocketioOptions { transport: SocketioTransport::Websocket, ..SocketioOptions::default() },
        namespace: Template::constant("/"),
    }))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_disconnects_the_namespace_ends_membership_and_user() {
    let open = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#;
    let greeting = Frames::default().text(open);
    let answer = Frames::default().text(r#"40{"sid":"t"}"#).text("41");
    let plan = talk(vec![connect_socketio(), join(), think(60.0)]);
    let run = simulate_closely(plan, Control::new(), server(greeting, answer)).await;
    assert_eq!(codes(&run.summary), [("closed_early", 1)]);
    assert_eq!(run.summary.users.failed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_fails_a_user_that_only_waits() {
    let open = r#"0{"sid":"s","upgrades":[],"pingInterval":1000,"pingTimeout":500,"maxPayload":1000000}"#;
    let silent = server(Frames::default().text(open), Frames::default().text(r#"40{"sid":"t"}"#));
    let start = Instant::now();
    let summary = simulate(talk(vec![connect_socketio(), think(60.0)]), Control::new(), silent).await;
    assert_eq!((codes(&summary), summary.users.failed), (vec![("timeout", 1)], 1));
    assert!(start.elapsed() < 4 * SECOND, "noticed only after {:?}", start.elapsed());
}
