//! Users that are told by an event stream or by polls. Their plans are written here: no script is in what is counted.

use serde_json_path::JsonPath;
use sonagi_artillery::plan::{Expression, Jitter, Plan, PollOpen, Scenario, SseOpen, Step, Template, Think};
use sonagi_artillery::schedule::{Load, Phase, Shape, Spacing};
use sonagi_measure::outcome::{Operation, OperationId, OperationKind};
use sonagi_measure::recorder::Counter;
use sonagi_transport::link::{PollCursor, PollField, Rhythm};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::packets::CHAT;
use super::{server, user};

/// One user that opens its connection so and thinks for so long.
fn plan(open: Step, seconds: f64, kinds: &[OperationKind]) -> Plan {
    let think = Think { seconds: Expression::Constant(seconds.into()), jitter: Jitter::None };
    let operation = |kind: &OperationKind| Operation { name: kind.name().to_owned(), kind: *kind };
    let phase =
        Phase { name: None, duration: Duration::from_secs(1), shape: Shape::Count(1), max_users: None };
    Plan {
        target: "http://simulated".to_owned(),
        load: Load::Open { phases: vec![phase], spacing: Spacing::Even },
        scenarios: vec![Scenario { name: "only".into(), weight: 1.0, flow: vec![open, Step::Think(think)] }],
        operations: kinds.iter().map(operation).collect(),
        ..Plan::empty()
    }
}

/// A chat message as both transports bring it.
fn message() -> &'static str {
    CHAT.strip_prefix("42[\"newMessage\",").and_then(|rest| rest.strip_suffix(']')).unwrap_or_default()
}

pub(super) fn sse_event(operations: u64) {
    let open = Step::SseOpen(Box::new(SseOpen {
        operation: OperationId(0).into(),
        url: Template::constant("/sse"),
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
    }));
    // A user of a paused clock thinks until there is nothing left to read.
    let summary = user::run(plan(open, 1.0, &[OperationKind::SseConnect]), stream(operations));
    assert_eq!(summary.traffic[Counter::SseReceived], operations);
}

/// So many events as fast as they are read.
fn stream(events: u64) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut request).await.expect("a client that connects asks");
            }
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(head).await.expect("the client awaits its answer");
            // Ids of one length, so that the number of operations does not change what one is.
            let event = format!("id: 1000000\ndata: {}\n\n", message());
            let some = event.repeat(SOME as usize);
            for _ in 0..events / SOME {
                stream.write_all(some.as_bytes()).await.expect("the client reads on");
            }
            let _ = stream.read_buf(&mut request).await;
        });
    }
}

/// Events written at a time.
const SOME: u64 = 100;

/// A poll a millisecond, each answered at once.
pub(super) fn poll_answer(operations: u64) {
    let next = JsonPath::parse("$.next").expect("it is one");
    let open = Step::PollOpen(Box::new(PollOpen {
        more: None,
        operation: OperationId(0).into(),
        again: OperationId(1).into(),
        url: Template::constant("/cur/g"),
        headers: Vec::new(),
        cursor: Some(PollCursor { from: PollField::Json(next), parameter: "after".to_owned() }),
        rhythm: Rhythm::Every(Duration::from_millis(1)),
        empty: Vec::new(),
        messages: "messages".to_owned(),
        timeout: Duration::from_secs(1),
    }));
    let body = format!("{{\"group\":\"g\",\"messages\":[{}],\"next\":1000000,\"gap\":false}}", message());
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let kinds = [OperationKind::PollSubscribe, OperationKind::Poll];
    let plan = plan(open, operations as f64 / 1e3, &kinds);
    let summary = user::run(plan, server::http(b"\r\n\r\n", answer.leak().as_bytes()));
    // The last one is due as the user leaves.
    let polls = summary.traffic[Counter::PollsReceived];
    assert!((operations..=operations + 1).contains(&polls), "{polls} of {operations}");
}
