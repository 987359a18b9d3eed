//! Event streams, polls and messages by HTTP under simulated time.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json_path::JsonPath;

use super::*;
use crate::plan::template::Piece;
use crate::plan::{Awaited, Expect, Function, JsonTemplate, PollOpen, SseOpen, Subscribe};
use sonagi_transport::link::{PollCursor, PollField, Rhythm};

mod failing;

/// When each request came, and its request line.
type RequestLog = Rc<RefCell<Vec<(Duration, String)>>>;

/// A server that answers the n-th request (of all connections, from 0) after a while in its own words. Without words it
/// hangs up, and behind half an answer, which ends in `cut`.
fn scripted(
    answer: impl Fn(usize, &str) -> (Duration, String) + Clone + 'static,
) -> (RequestLog, impl Fn(DuplexStream)) {
    let start = Instant::now();
    let asked = RequestLog::default();
    let noted = Rc::clone(&asked);
    let server = move |mut stream: DuplexStream| {
        let (answer, noted) = (answer.clone(), Rc::clone(&noted));
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while stream.read_buf(&mut request).await.is_ok_and(|n| n > 0) {
                let Some(head) = whole(&request) else { continue };
                let line = head.lines().next().unwrap().to_owned();
                let number = noted.borrow().len();
                noted.borrow_mut().push((start.elapsed(), line));
                let (delay, words) = answer(number, &head);
                request.clear();
                tokio::time::sleep(delay).await;
                let _ = stream.write_all(words.as_bytes()).await;
                if words.is_empty() || words.ends_with("cut") {
                    return;
                }
            }
        });
    };
    (asked, server)
}

/// A request once its body has come, too.
fn whole(request: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(request).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    (body.len() >= length.map_or(0, |length| length.parse().unwrap())).then(|| text.to_owned())
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn status(status: u16) -> String {
    format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n")
}

fn poll(rhythm: Rhythm, cursor: bool) -> Step {
    let from = PollField::Json(JsonPath::parse("$.next").unwrap());
    Step::PollOpen(Box::new(PollOpen {
        operation: OperationId(0).into(),
        again: OperationId(1).into(),
        url: Template::constant("/cur/g"),
        headers: vec![("x-empty".to_owned(), Template::default())],
        cursor: cursor.then(|| PollCursor { from, parameter: "after".to_owned() }),
        more: None,
        rhythm,
        empty: vec![210],
        messages: "messages".to_owned(),
        timeout: 10 * SECOND,
    }))
}

fn held(cursor: bool) -> Step {
    poll(Rhythm::Held(25 * SECOND), cursor)
}

fn pull(flow: Vec<Step>) -> Plan {
    let operation = |name: &str, kind| Operation { name: name.into(), kind };
    Plan {
        operations: vec![
            operation("subscribe", OperationKind::PollSubscribe),
            operation("poll", OperationKind::Poll),
            operation("stream", OperationKind::SseConnect),
            operation("publish", OperationKind::Http),
            operation("expect", OperationKind::Expect),
        ],
        delivery: Some(Rules::default()),
        ..plan(arrivals(1, 1, None), flow)
    }
}

fn codes(summary: &Summary) -> Vec<(&str, Option<&str>, u64)> {
    summary.errors.iter().map(|e| (e.code.as_str(), e.operation.as_deref(), e.count)).collect()
}

fn operation<'a>(summary: &'a Summary, name: &str) -> &'a sonagi_measure::summary::OperationSummary {
    summary.operations.iter().find(|operation| operation.name == name).unwrap()
}

/// When the requests came, from the first.
fn millis(asked: &RequestLog) -> Vec<u128> {
    let asked = asked.borrow();
    asked.iter().map(|(at, _)| (*at - asked[0].0).as_millis()).collect()
}

fn join() -> Step {
    Step::Join(Template::constant("g"))
}

fn expect(event: Option<&str>, timeout: Duration) -> Step {
    let awaited = Awaited { timeout, data: None, captures: Vec::new(), matches: Vec::new(), confirms: false };
    let event = event.map(Template::constant);
    Step::Expect(Box::new(Expect { operation: OperationId(4).into(), event, awaited }))
}

#[tokio::test(start_paused = true)]
async fn polls_are_planned_on_a_grid_and_a_slow_answer_delays_those_behind_it() {
    let (asked, server) = scripted(|number, _| match number {
        2 => (5 * SECOND, ok("[]")),
        _ => (10 * MILLISECOND, ok("[]")),
    });
    let plan = pull(vec![poll(Rhythm::Every(3 * SECOND), true), think(14.0)]);
    let summary = simulate(plan, Control::new(), server).await;
    assert_eq!(millis(&asked), [0, 3000, 6000, 11_000, 12_000]);
    let poll = operation(&summary, "poll");
    // Planned for 3, 6, 9 and 12 s; answered at 3.01, 11, 11.01 and 12.01 s.
    assert_eq!((poll.count, poll.failed), (4, 0));
    let rounded = |ms: f64| (ms / 10.0).round() * 10.0;
    assert_eq!(rounded(poll.response_ms.max), 5000.0);
    assert_eq!(rounded(poll.response_ms.mean), rounded((10.0 + 5000.0 + 2010.0 + 10.0) / 4.0));
    assert_eq!(rounded(poll.service_ms.mean), rounded((10.0 + 5000.0 + 10.0 + 10.0) / 4.0));
    assert_eq!((summary.traffic[Counter::Polls], summary.traffic[Counter::PollsEmpty]), (5, 5));
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_held_poll_is_followed_at_once_by_one_that_goes_on_behind_it() {
    let (asked, server) = scripted(|number, _| match number {
        0 => (10 * MILLISECOND, ok(r#"{"messages":[{"seq":1}],"next":"e 1"}"#)),
        1 => (4 * SECOND, ok(r#"{"messages":[{"seq":2},{"seq":3}],"next":"e.3","gap":false}"#)),
        _ => (30 * SECOND, String::new()),
    });
    let flow = vec![held(true), join(), expect(None, SECOND), expect(None, 10 * SECOND), think(1.0)];
    let run = simulate_closely(pull(flow), Control::new(), server).await;
    let lines: Vec<String> = asked.borrow().iter().map(|(_, line)| line.clone()).collect();
    assert_eq!(
        lines,
        ["GET /cur/g HTTP/1.1", "GET /cur/g?after=e%201 HTTP/1.1", "GET /cur/g?after=e.3 HTTP/1.1"]
    );
    assert_eq!(millis(&asked), [0, 10, 4010]);
    assert_eq!((run.summary.users.completed, codes(&run.summary)), (1, vec![]));
    assert_eq!(run.summary.traffic[Counter::PollsReceived], 3);
    assert_eq!(operation(&run.summary, "subscribe").count, 1);
    // The third, still held at the end, was cut off: it is neither a poll nor a failure.
    assert_eq!((operation(&run.summary, "poll").count, run.summary.traffic[Counter::Polls]), (1, 2));
    assert_eq!(run.memberships, [1, 1, 1]);
    assert_eq!(run.summary.http_codes.get(&200), Some(&2));
}

#[tokio::test(start_paused = true)]
async fn however_a_target_says_that_there_is_nothing_it_is_an_empty_poll_and_no_failure() {
    let answers =
        [status(204), status(304), status(200), ok("[]"), ok(r#"{"messages":[]}"#), status(503), status(210)];
    let count = answers.len() as u64;
    let (asked, server) = scripted(move |number, _| match answers.get(number) {
        Some(words) => (2 * SECOND, words.clone()),
        None => (60 * SECOND, String::new()),
    });
    let summary = simulate(pull(vec![held(true), think(20.0)]), Control::new(), server).await;
    assert_eq!((summary.traffic[Counter::Polls], summary.traffic[Counter::PollsEmpty]), (count, count));
    assert_eq!((summary.traffic[Counter::MessagesReceived], codes(&summary)), (0, vec![]));
    assert_eq!(millis(&asked), [0, 2000, 4000, 6000, 8000, 10_000, 12_000, 14_000]);
}

#[tokio::test(start_paused = true)]
async fn a_busy_target_is_not_an_empty_poll_and_is_asked_again_about_a_second_later() {
    let busy = "HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";
    let (asked, server) = scripted(move |number, _| match number {
        0 => (10 * MILLISECOND, ok("[]")),
        1 => (10 * MILLISECOND, status(503)),
        2 => (2 * SECOND, busy.to_owned()),
        3 | 5 => (10 * MILLISECOND, ok("[]")),
        4 => (10 * MILLISECOND, status(404)),
        6 => (10 * MILLISECOND, status(302)),
        _ => (60 * SECOND, String::new()),
    });
    let summary = simulate(pull(vec![held(true), think(20.0)]), Control::new(), server).await;
    assert_eq!((summary.traffic[Counter::Polls], summary.traffic[Counter::PollsEmpty]), (7, 3));
    assert_eq!((summary.users.completed, operation(&summary, "poll").failed), (1, 4));
    for (code, times) in [(200, 3), (503, 2), (404, 1), (302, 1)] {
        assert_eq!(summary.http_codes.get(&code), Some(&times), "{code}");
    }
    let at = millis(&asked);
    for (before, took) in [(1, 10), (2, 2000), (4, 10), (6, 10)] {
        let pause = at[before + 1] - at[before] - took;
        assert!((500..=1501).contains(&pause), "after {before}: {pause} ms of {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_answers_at_once_and_says_nothing_new_is_not_asked_in_a_hot_loop() {
    for words in [status(204), ok("[]"), ok(r#"{"messages":[{"seq":1}],"next":1}"#), ok("again")] {
        let said = words.clone();
        let (asked, server) = scripted(move |_, _| (Duration::ZERO, said.clone()));
        simulate(pull(vec![held(true), think(1.0)]), Control::new(), server).await;
        let count = asked.borrow().len();
        assert!((9..=13).contains(&count), "{count} polls in a second: {words}");
    }
    // News, however fast they come, are fetched at once.
    let (asked, server) = scripted(|number, _| (MILLISECOND, ok(&format!(r#"{{"next":{number}}}"#))));
    simulate(pull(vec![held(true), think(1.0)]), Control::new(), server).await;
    let count = asked.borrow().len();
    assert!((400..=1010).contains(&count), "{count} polls in a second");
}

#[tokio::test(start_paused = true)]
async fn without_a_cursor_a_held_poll_subscribes_when_it_has_left() {
    let (asked, server) = scripted(|_, _| (25 * SECOND, status(204)));
    let run = simulate_closely(pull(vec![held(false), join(), think(1.0)]), Control::new(), server).await;
    assert_eq!(asked.borrow().len(), 1);
    let subscribe = operation(&run.summary, "subscribe");
    assert_eq!((subscribe.count, subscribe.failed), (1, 0));
    assert!(subscribe.response_ms.max < 1.0, "{} ms", subscribe.response_ms.max);
    assert_eq!((run.memberships, codes(&run.summary)), ([1, 1, 1], vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_failed_poll_is_repeated_and_three_in_a_row_end_the_connection() {
    let run = async |failing: std::ops::Range<usize>| {
        let (asked, server) = scripted(move |number, _| match failing.contains(&number) {
            true => (10 * MILLISECOND, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut".to_owned()),
            false => (3 * SECOND, status(204)),
        });
        let flow = vec![held(true), join(), think(12.0)];
        (simulate_closely(pull(flow), Control::new(), server).await, asked)
    };
    let (twice, _) = run(1..3).await;
    assert_eq!(codes(&twice.summary), [("closed_early", Some("poll"), 2)]);
    assert_eq!(twice.summary.traffic[Counter::ConnectionsOpened], 3, "kept but for those that broke");
    assert_eq!(twice.summary.users.completed, 1);
    let (thrice, asked) = run(1..4).await;
    assert_eq!(codes(&thrice.summary), [("closed_early", Some("poll"), 3)]);
    assert_eq!((thrice.summary.users.failed, asked.borrow().len()), (1, 4));
    assert_eq!(thrice.memberships, [1, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_not_answered_within_its_limit_has_failed_and_is_repeated() {
    for (step, limit) in [(poll(Rhythm::Every(SECOND), true), 10), (held(true), 35)] {
        let (_, server) = scripted(|number, _| match number {
            0 => (MILLISECOND, ok("[]")),
            _ => (600 * SECOND, String::new()),
        });
        let start = Instant::now();
        let summary = simulate(pull(vec![step, think(200.0)]), Control::new(), server).await;
        assert_eq!(codes(&summary), [("timeout", Some("poll"), 3)]);
        let poll = operation(&summary, "poll");
        assert_eq!((poll.service_ms.max / 1000.0).round() as u64, limit);
        assert!(
            start.elapsed() < (3 * limit as u32 + 6) * SECOND,
            "noticed only after {:?}",
            start.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_poll_that_is_refused_or_never_answered_fails_its_step() {
    let (_, server) = scripted(|_, _| (MILLISECOND, ok("no such group").replace("200", "404")));
    let summary = simulate(pull(vec![held(true), join()]), Control::new(), server).await;
    assert_eq!(codes(&summary), [("handshake_refused_404", Some("subscribe"), 1)]);
    assert!(summary.errors[0].example.contains("404: no such group"), "{}", summary.errors[0].example);
    let (_, server) = scripted(|_, _| (100 * SECOND, String::new()));
    let summary = simulate(pull(vec![held(true), join()]), Control::new(), server).await;
    assert_eq!(codes(&summary), [("handshake_timeout", Some("subscribe"), 1)]);
    assert_eq!((operation(&summary, "subscribe").response_ms.max / 100.0).round(), 350.0);
}

#[tokio::test(start_paused = true)]
async fn a_finished_user_cuts_off_the_poll_that_is_held_for_it() {
    let (asked, server) = scripted(|number, _| match number {
        0 => (MILLISECOND, ok("[]")),
        _ => (25 * SECOND, status(204)),
    });
    let start = Instant::now();
    let plan = Plan { drain: SECOND, ..pull(vec![held(true), join(), think(2.0)]) };
    let run = simulate_closely(plan, Control::new(), server).await;
    assert_eq!((run.summary.users.completed, codes(&run.summary)), (1, vec![]));
    assert_eq!((asked.borrow().len(), run.summary.users.operations_cut), (2, 0));
    // Its messages under way may come while it drains.
    assert!((3..5).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

/// A step that sends a stamped message.
fn publish() -> Step {
    let stamp = Expression::Call { function: Function::Stamp, arguments: Vec::new() };
    let hole = Template { pieces: vec![Piece::Hole(stamp)] };
    let message = serde_json::json!({"mark": "stamp"});
    let body = JsonTemplate::compile(&message, &mut |_: &str| Ok::<_, ()>(hole.clone())).unwrap();
    let Step::Http(step) = get(10 * SECOND) else { unreachable!("it is one") };
    Step::Http(Box::new(HttpStep {
        operation: OperationId(3).into(),
        method: "POST".into(),
        url: Template::constant("/notify"),
        body: Body::Json(body),
        is_message: true,
        ..*step
    }))
}

/// A room: POST adds a message, GET answers with those behind the cursor.
fn room(answer_to_post: impl Fn(usize) -> String + Clone + 'static) -> impl Fn(DuplexStream) {
    let log = Rc::<RefCell<Vec<String>>>::default();
    let (_, server) = scripted(move |_, request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        if head.starts_with("POST") {
            log.borrow_mut().push(body.to_owned());
            return (MILLISECOND, answer_to_post(log.borrow().len()));
        }
        let after = head.split_once("after=").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let log = log.borrow();
        let messages = log[after.unwrap_or(log.len()).min(log.len())..].join(",");
        (MILLISECOND, ok(&format!(r#"{{"messages":[{messages}],"next":{}}}"#, log.len())))
    });
    server
}

#[tokio::test(start_paused = true)]
async fn a_message_by_http_is_acknowledged_by_its_status_and_delivered_by_polls() {
    let every = poll(Rhythm::Every(SECOND), true);
    let flow = vec![every, join(), think(0.5), again(vec![publish()], 5, Some(SECOND)), think(1.5)];
    let summary = simulate(pull(flow), Control::new(), room(|_| status(201))).await;
    let counts = summary.delivery.as_ref().unwrap().counts;
    assert_eq!((counts.messages, counts.owed, counts.delivered, counts.unknown), (5, 5, 5, 0));
    assert_eq!((summary.traffic[Counter::MessagesSent], summary.traffic[Counter::PollsReceived]), (5, 5));
    assert_eq!((summary.users.completed, codes(&summary)), (1, vec![]));
    let publish = operation(&summary, "publish");
    assert_eq!((publish.count, publish.failed, summary.http_codes[&201]), (5, 0, 5));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_answered_with_another_status_was_not_taken() {
    for refusal in [503, 302, 404] {
        let every = poll(Rhythm::Every(SECOND), true);
        let flow = vec![every, join(), think(0.5), again(vec![publish()], 5, Some(SECOND)), think(1.5)];
        let answer = move |number| status(if number == 2 { refusal } else { 200 });
        let summary = simulate(pull(flow), Control::new(), room(answer)).await;
        let counts = summary.delivery.as_ref().unwrap().counts;
        assert_eq!((counts.messages, counts.owed + counts.unknown), (2, 2), "{counts:?}");
        assert_eq!(codes(&summary), [("capture_or_match", Some("publish"), 1)]);
        let publish = operation(&summary, "publish");
        assert_eq!((publish.count, publish.failed, summary.http_codes[&refusal]), (2, 1, 1));
        assert_eq!(summary.users.failed, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_answer_never_comes_may_have_been_taken() {
    let (_, server) = scripted(|_, _| (60 * SECOND, String::new()));
    let flow = vec![join(), publish()];
    let summary = simulate(pull(flow), Control::new(), server).await;
    let counts = summary.delivery.as_ref().unwrap().counts;
    assert_eq!((counts.messages, counts.owed, counts.lost), (1, 0, 0), "{counts:?}");
    assert_eq!(codes(&summary), [("timeout", Some("publish"), 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_cut_off_may_have_been_taken_and_one_that_never_left_was_not() {
    let reads_and_hangs_up = scripted(|_, _| (MILLISECOND, String::new())).1;
    let flow = vec![join(), think(0.5), publish()];
    let summary = simulate(pull(flow.clone()), Control::new(), reads_and_hangs_up).await;
    let counts = summary.delivery.as_ref().unwrap().counts;
    assert_eq!(
        (counts.messages, counts.lost, summary.traffic[Counter::MessagesSent]),
        (1, 0, 1),
        "{counts:?}"
    );
    assert_eq!(codes(&summary), [("closed_early", Some("publish"), 1)]);
    let summary = simulate(pull(flow), Control::new(), drop).await;
    assert_eq!(summary.delivery.as_ref().unwrap().counts.messages, 0);
    assert_eq!((summary.traffic[Counter::MessagesSent], summary.users.failed), (0, 1));
}

fn stream() -> Step {
    Step::SseOpen(Box::new(SseOpen {
        operation: OperationId(2).into(),
        url: Template::constant("/sse?group=g"),
        headers: Vec::new(),
        timeout: 5 * SECOND,
    }))
}

/// A server of one event stream: its head, then pieces with pauses before them, then the end.
fn streaming(pieces: &'static [(u64, &'static str)]) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut head).await.unwrap();
            }
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(head).await.unwrap();
            for (pause, piece) in pieces {
                tokio::time::sleep(*pause as u32 * MILLISECOND).await;
                if stream.write_all(piece.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_is_expected_by_its_type_and_the_streams_end_is_a_loss() {
    let server = streaming(&[
        (100, "retry: 50\n\n: beat\n\nevent: noise\ndata: 1\n\n"),
        (100, "id: 4\nevent: moved\nda"),
        (900, "ta: {\"lat\":1}\n\ndata: plain\n\n"),
        (100, ""),
    ]);
    let flow =
        [stream(), join(), expect(Some("moved"), 5 * SECOND), expect(Some("message"), SECOND), think(2.0)];
    let subscribe = Subscribe { steps: flow[..2].to_vec(), resumes: true };
    let mut wrapped = vec![Step::Subscribe(std::sync::Arc::new(subscribe))];
    wrapped.extend_from_slice(&flow[2..]);
    let run = simulate_closely(pull(wrapped), Control::new(), server).await;
    assert_eq!((run.summary.users.failed, codes(&run.summary)), (1, vec![("closed_early", None, 1)]));
    assert_eq!(run.summary.traffic[Counter::ConnectionsLost], 1);
    assert_eq!(
        (run.summary.traffic[Counter::SseReceived], run.summary.traffic[Counter::MessagesReceived]),
        (3, 3)
    );
    let expected = operation(&run.summary, "expect");
    assert_eq!((expected.count, (expected.response_ms.max / 10.0).round()), (2, 110.0));
    assert_eq!(run.memberships, [1, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_under_a_waiting_operation_fails_it() {
    for (pieces, what) in [
        (&[(100, "data: 1\n\n")][..], "ended the event stream"),
        (&[(100, "data: 1\n\ndata: half")][..], "within an event"),
    ] {
        let flow = vec![stream(), expect(Some("never"), 60 * SECOND)];
        let summary = simulate(pull(flow), Control::new(), streaming(pieces)).await;
        assert_eq!(codes(&summary), [("closed_early", Some("expect"), 1)]);
        assert!(summary.errors[0].example.contains(what), "{}", summary.errors[0].example);
    }
    // Whether or not anybody waits, and wherever it ends.
    for last_words in [&[(100, "data: half")][..], &[(100, "data: 1\n\n")]] {
        let flow = vec![stream(), think(1.0)];
        let summary = simulate(pull(flow), Control::new(), streaming(last_words)).await;
        assert_eq!((codes(&summary), summary.users.failed), (vec![("closed_early", None, 1)], 1));
    }
}

/// A message is answered after two seconds; an event stream ends after one, with these last words.
fn beside(last_words: &'static str) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            let mut request = Vec::new();
            while whole(&request).is_none() {
                stream.read_buf(&mut request).await.unwrap();
            }
            if request.starts_with(b"POST") {
                tokio::time::sleep(2 * SECOND).await;
                return stream.write_all(status(200).as_bytes()).await.unwrap();
            }
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(head).await.unwrap();
            tokio::time::sleep(SECOND).await;
            stream.write_all(last_words.as_bytes()).await.unwrap();
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_while_a_message_is_under_way_does_not_fail_the_message() {
    for last_words in ["data: all\n\n", "data: half"] {
        for rest in [vec![], vec![think(1.0)]] {
            let flow = [vec![stream(), join(), publish()], rest].concat();
            let summary = simulate(pull(flow), Control::new(), beside(last_words)).await;
            let publish = operation(&summary, "publish");
            assert_eq!((publish.count, publish.failed, summary.http_codes.get(&200)), (1, 0, Some(&1)));
            assert_eq!((codes(&summary), summary.users.failed), (vec![("closed_early", None, 1)], 1));
        }
    }
}
