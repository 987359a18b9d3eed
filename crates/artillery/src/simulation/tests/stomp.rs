//! STOMP users against a broker that keeps some promises and not others.

use super::*;
use crate::plan::template::{JsonPiece, Piece};
use crate::plan::{
    Awaited, Content, Expect, Function, JsonTemplate, Reconnect, StompConnect, StompSend, StompSubscribe,
    Subscribe,
};
use sonagi_measure::ledger::Rules;
use sonagi_transport::link::{StompAck, StompVersion};
use sonagi_wire::stomp::{self, Command, Limits, Side, Version, Versions, Writer};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use std::sync::Arc;

/// The broker's behaviour.
#[derive(Clone, Copy, Default)]
struct Habits {
    /// Answers SEND with a message before, instead of after, its receipt.
    message_first: bool,
    /// Takes SEND and does nothing.
    swallows: bool,
    /// Confirms SEND and passes nothing on.
    forgets: bool,
    /// Answers SEND with ERROR.
    refuses: bool,
    /// Its `heart-beat`, which it keeps only when told to.
    heart_beat: (u32, u32),
    is_alive: bool,
}

/// A broker of one room: what is sent comes back to its sender.
fn broker(habits: Habits) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            upgrade(&mut stream).await;
            let mut frames = Decoder::new(Role::Server, 1 << 20);
            let mut decoder = stomp::Decoder::new(Side::Server, Versions::ALL, Limits::default());
            let mut buffer = vec![0; 4096];
            let beat = Duration::from_millis(u64::from(habits.heart_beat.0.max(1)) / 2);
            loop {
                let mut out = Vec::new();
                let read = tokio::select! {
                    read = stream.read(&mut buffer) => read.unwrap_or(0),
                    () = tokio::time::sleep(beat), if habits.is_alive => {
                        websocket::encode(Opcode::Text, stomp::HEART_BEAT, None, &mut out);
                        stream.write_all(&out).await.unwrap();
                        continue;
                    }
                };
                if read == 0 {
                    return;
                }
                let fed = frames.feed(&mut buffer[..read], |event| match event {
                    Event::Text(text) => decoder
                        .feed(text.as_bytes(), |event| match event {
                            stomp::Event::Frame(frame) => answer(habits, frame, &mut out),
                            stomp::Event::HeartBeat => {}
                        })
                        .unwrap(),
                    Event::Close { .. } => websocket::encode(Opcode::Close, &[], None, &mut out),
                    _ => {}
                });
                fed.unwrap();
                let _ = stream.write_all(&out).await;
            }
        });
    }
}

fn answer(habits: Habits, frame: stomp::Frame<'_>, out: &mut Vec<u8>) {
    let mut say = |command, headers: &[(&str, &str)], body: &[u8]| {
        let mut bytes = Vec::new();
        let writer = Writer::new(command, Version::V1_2, &mut bytes);
        let writer = headers.iter().fold(writer, |writer, (name, value)| writer.header(name, value));
        if body.is_empty() { writer.end() } else { writer.body(body) }.unwrap();
        websocket::encode(Opcode::Text, &bytes, None, out);
    };
    let receipt = frame.header("receipt").unwrap();
    match frame.command {
        Command::Connect => {
            let beat = format!("{},{}", habits.heart_beat.0, habits.heart_beat.1);
            return say(Command::Connected, &[("version", "1.2"), ("heart-beat", &beat)], b"");
        }
        Command::Send if habits.swallows => return,
        Command::Send if habits.refuses => return say(Command::Error, &[("message", "not here")], b""),
        Command::Send if habits.message_first => {
            say(Command::Message, &[("destination", "/topic/a"), ("subscription", "sub-0")], frame.body);
        }
        _ => {}
    }
    if let Some(id) = receipt {
        say(Command::Receipt, &[("receipt-id", &id)], b"");
    }
    if frame.command == Command::Send && !habits.message_first && !habits.forgets {
        say(Command::Message, &[("destination", "/topic/a"), ("subscription", "sub-0")], frame.body);
    }
}

async fn upgrade(stream: &mut DuplexStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut head).await.unwrap();
    }
    let head = String::from_utf8(head).unwrap();
    let key = head
        .lines()
        .find_map(|line| line.split_once(": ").filter(|f| f.0.eq_ignore_ascii_case("sec-websocket-key")));
    let accept = websocket::accept_key(key.unwrap().1);
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-protocol: v12.stomp\r\nsec-websocket-accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
}

fn connect(heart_beat: (u32, u32)) -> Step {
    Step::StompConnect(Box::new(StompConnect {
        operation: OperationId(0).into(),
        url: Template::constant("/stomp"),
        headers: Vec::new(),
        connect_headers: Vec::new(),
        versions: vec![StompVersion::V1_2],
        heart_beat,
        sockjs: false,
        timeout: SECOND,
    }))
}

fn subscribe() -> Step {
    Step::StompSubscribe(Box::new(StompSubscribe {
        operation: OperationId(1).into(),
        destination: Template::constant("/topic/a"),
        headers: Vec::new(),
        ack: StompAck::Auto,
        receipt: true,
        timeout: SECOND,
    }))
}

fn stamp() -> Expression {
    Expression::Call { function: Function::Stamp, arguments: Vec::new() }
}

fn send(receipt: bool, response: Option<Awaited>) -> Step {
    let pieces =
        vec![JsonPiece::Raw("{\"mark\":".into()), JsonPiece::Value(stamp()), JsonPiece::Raw("}".into())];
    Step::StompSend(Box::new(StompSend {
        operation: OperationId(2).into(),
        destination: Template::constant("/topic/a"),
        headers: vec![("x".into(), Template { pieces: vec![Piece::Text(String::new())] })],
        content: Content::Json(JsonTemplate { pieces }),
        receipt,
        response,
        timeout: 2 * SECOND,
    }))
}

fn any(timeout: Duration) -> Awaited {
    Awaited { timeout, data: None, captures: Vec::new(), matches: Vec::new(), confirms: false }
}

fn talk(flow: Vec<Step>) -> Plan {
    let operation = |name: &str, kind| Operation { name: name.into(), kind };
    Plan {
        operations: vec![
            operation("connect", OperationKind::StompConnect),
            operation("subscribe", OperationKind::StompSubscribe),
            operation("send", OperationKind::StompRequest),
            operation("expect", OperationKind::Expect),
        ],
        delivery: Some(Rules::default()),
        ..plan(arrivals(1, 1, None), flow)
    }
}

fn conversation(heart_beat: (u32, u32), rest: Vec<Step>) -> Plan {
    let join = Step::Join(Template::constant("room"));
    talk([vec![connect(heart_beat), subscribe(), join, think(1.0)], rest].concat())
}

fn codes(summary: &Summary) -> Vec<(&str, u64)> {
    summary.errors.iter().map(|error| (error.code.as_str(), error.count)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_with_a_receipt_is_acknowledged_and_delivered() {
    for message_first in [false, true] {
        for (receipt, response) in
            [(true, None), (false, None), (true, Some(any(SECOND))), (false, Some(any(SECOND)))]
        {
            let plan = conversation((0, 0), vec![again(vec![send(receipt, response)], 3, None), think(1.0)]);
            let habits = Habits { message_first, ..Habits::default() };
            let summary = simulate(plan, Control::new(), broker(habits)).await;
            assert_eq!((codes(&summary), summary.users.completed), (vec![], 1));
            let counts = summary.delivery.unwrap().counts;
            assert_eq!((counts.messages, counts.owed, counts.delivered), (3, 3, 3), "{counts:?}");
            assert_eq!(
                (summary.traffic[Counter::StompSent], summary.traffic[Counter::StompReceived]),
                (3, 3)
            );
            assert_eq!(
                (summary.traffic[Counter::MessagesSent], summary.traffic[Counter::MessagesReceived]),
                (3, 3)
            );
            let counted: Vec<u64> = summary.operations.iter().map(|operation| operation.count).collect();
            assert_eq!(counted, [1, 1, 3], "receipts are no messages");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_never_comes_is_recorded_at_its_limit_and_the_message_is_not_acknowledged() {
    let plan = conversation((0, 0), vec![send(true, None), think(1.0)]);
    let habits = Habits { swallows: true, ..Habits::default() };
    let summary = simulate(plan, Control::new(), broker(habits)).await;
    assert_eq!((codes(&summary), summary.users.failed), (vec![("ack_timeout", 1)], 1));
    let recorded = summary.operations[2].response_ms.max;
    assert!((2000.0..2001.0).contains(&recorded), "{recorded} ms");
    let counts = summary.delivery.unwrap().counts;
    assert_eq!((counts.messages, counts.owed, counts.unknown), (1, 0, 1), "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_confirmed_and_never_came_is_lost() {
    let habits = Habits { forgets: true, ..Habits::default() };
    let plan = conversation((0, 0), vec![send(true, None), think(1.0)]);
    let counts = simulate(plan, Control::new(), broker(habits)).await.delivery.unwrap().counts;
    assert_eq!((counts.messages, counts.owed, counts.lost, counts.unknown), (1, 1, 1, 0), "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_frame_fails_the_operation_under_way_with_what_it_says() {
    for receipt in [true, false] {
        let habits = Habits { refuses: true, ..Habits::default() };
        let plan = conversation((0, 0), vec![send(receipt, None), think(1.0)]);
        let summary = simulate(plan, Control::new(), broker(habits)).await;
        assert_eq!((codes(&summary), summary.users.failed), (vec![("broker_error", 1)], 1));
        assert_eq!(summary.errors[0].example, "the server sent ERROR: not here");
        assert_eq!(summary.operations[2].failed, u64::from(receipt), "without a receipt it had left");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expect_step_knows_a_message_by_its_destination() {
    let expect = |topic: &str, timeout| {
        let event = Some(Template::constant(topic));
        Step::Expect(Box::new(Expect { operation: OperationId(3).into(), event, awaited: any(timeout) }))
    };
    let flow = vec![send(false, None), expect("/topic/a", SECOND), expect("/topic/b", SECOND)];
    let summary = simulate(conversation((0, 0), flow), Control::new(), broker(Habits::default())).await;
    assert_eq!((summary.operations[3].count, summary.operations[3].failed), (2, 1));
    assert_eq!(codes(&summary), [("expectation_missed", 1)]);
}

#[tokio::test(start_paused = true)]
async fn heart_beats_keep_an_idle_session_and_their_absence_ends_it() {
    for (is_alive, expected) in [(true, vec![]), (false, vec![("timeout", 1)])] {
        let habits = Habits { heart_beat: (1000, 1000), is_alive, ..Habits::default() };
        let start = Instant::now();
        let plan = conversation((1000, 1000), vec![think(30.0)]);
        let summary = simulate(plan, Control::new(), broker(habits)).await;
        assert_eq!(codes(&summary), expected);
        assert_eq!(start.elapsed() < 10 * SECOND, !is_alive, "after {:?}", start.elapsed());
        if is_alive {
            // About 900 ms apart, each a masked frame of seven bytes.
            let head = 700;
            let beats = 7 * 31_000 / 900;
            let sent = summary.traffic[Counter::BytesSent];
            assert!((beats..beats + head).contains(&sent), "{sent} bytes");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_without_a_session_fails_for_want_of_one() {
    for step in [subscribe(), send(true, None)] {
        let plan = talk(vec![Step::Join(Template::constant("room")), step]);
        let summary = simulate(plan, Control::new(), broker(Habits::default())).await;
        assert_eq!(codes(&summary), [("not_connected", 1)]);
        assert_eq!(summary.delivery.unwrap().counts.messages, 0);
    }
}

/// The broker behind a way that is cut at the second second and open again from the sixth on.
fn cut_off() -> impl Fn(DuplexStream) {
    let (start, broker) = (Instant::now(), broker(Habits::default()));
    move |mut stream| {
        let until = match start.elapsed() {
            now if now < 2 * SECOND => start + 2 * SECOND,
            now if now < 6 * SECOND => return,
            _ => start + 600 * SECOND,
        };
        let (mut near, far) = tokio::io::duplex(1 << 16);
        broker(far);
        tokio::task::spawn_local(async move {
            let _ =
                tokio::time::timeout_at(until, tokio::io::copy_bidirectional(&mut stream, &mut near)).await;
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_send_waits_for_a_lost_session_within_its_limit_and_goes_out_over_the_next() {
    let subscribe = vec![subscribe(), Step::Join(Template::constant("room"))];
    // The user comes at second 1. What it sends at 3 has until 5; what it sends then is in time.
    let flow = vec![
        Step::Open(Arc::new(connect((0, 0)))),
        Step::Subscribe(Arc::new(Subscribe { steps: subscribe, resumes: true })),
        think(2.0),
        send(true, None),
        send(true, None),
        think(1.0),
    ];
    let mut plan = talk(flow);
    plan.operations.push(Operation { name: "reconnect".into(), kind: OperationKind::Reconnect });
    let (first, most) = (100 * MILLISECOND, 100 * MILLISECOND);
    let (operation, attempts) = (OperationId(4), 1000);
    plan.reconnect = Some(Reconnect { operation, is_automatic: true, first, most, attempts, resume: true });
    let summary = simulate(plan, Control::new(), cut_off()).await;
    assert_eq!(summary.users.completed, 1, "{:?}", codes(&summary));
    assert!(codes(&summary).contains(&("not_connected", 1)), "{:?}", codes(&summary));
    let sent = &summary.operations[2];
    assert_eq!((sent.count, sent.failed), (2, 1));
    assert!((900.0..1_200.0).contains(&sent.response_ms.max), "from second 5 to the return: {sent:?}");
    let counts = summary.delivery.unwrap().counts;
    assert_eq!(
        (counts.messages, counts.settling, counts.unknown),
        (1, 1, 0),
        "right behind the join: {counts:?}"
    );
}
