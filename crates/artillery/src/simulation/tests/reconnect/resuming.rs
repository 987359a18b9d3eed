//! Taking up where a lost connection broke off, on each transport in its own way.

use super::*;
use crate::plan::{SocketioConnect, SocketioEmit, SocketioOptions, SseOpen};
use sonagi_transport::link::SocketioTransport;

#[tokio::test(start_paused = true)]
async fn subscriptions_are_taken_again_with_the_cursor_and_only_then() {
    for (resume, resumes, expected) in [
        (true, true, ["join ", "join 7", "join 7"]),
        (false, true, ["join ", "join ", "join "]),
        (true, false, ["join ", "join ", "join "]),
    ] {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hears = Rc::clone(&heard);
        let breaks_twice = server(SECOND, move |number, mut peer: Peer| {
            let hears = Rc::clone(&hears);
            async move {
                let text = peer.heard().await;
                hears.borrow_mut().extend(text);
                peer.text("joined").await;
                if number == 0 {
                    peer.text(r#"{"seq":7}"#).await;
                }
                if number == 2 {
                    return peer.stay().await;
                }
                tokio::time::sleep(SECOND).await;
            }
        });
        let reconnect = Reconnect { resume, ..automatic() };
        let plan = reconnecting(reconnect, vec![open(), subscribe(resumes), think(9.0)]);
        let run = simulate_closely(plan, Control::new(), breaks_twice).await;
        assert_eq!((run.summary.users.completed, reconnects(&run.summary)), (1, [2, 2, 0]));
        assert_eq!(*heard.borrow(), expected, "resume: {resume}, resumes: {resumes}");
        assert_eq!(run.memberships, [3, 3, 3], "begun, ended, gone");
    }
}

/// A message that comes with the confirmation, or before it, gives no position that the request could have named.
#[tokio::test(start_paused = true)]
async fn a_subscription_that_had_no_cursor_to_tell_does_not_resume() {
    for before_the_cut in [None, Some(r#"{"seq":6}"#)] {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hears = Rc::clone(&heard);
        let is_busy_on_return = server(SECOND, move |number, mut peer: Peer| {
            let hears = Rc::clone(&hears);
            async move {
                let text = peer.heard().await;
                hears.borrow_mut().extend(text);
                if number == 0 {
                    peer.text("joined").await;
                    if let Some(text) = before_the_cut {
                        peer.text(text).await;
                    }
                    return tokio::time::sleep(SECOND).await;
                }
                let mut frames = Vec::new();
                for text in ["joined", r#"{"seq":7}"#] {
                    websocket::encode(Opcode::Text, text.as_bytes(), None, &mut frames);
                }
                peer.stream.write_all(&frames).await.unwrap();
                peer.stay().await;
            }
        });
        let plan = reconnecting(automatic(), vec![open(), subscribe(true), think(5.0)]);
        let run = simulate_closely(plan, Control::new(), is_busy_on_return).await;
        assert_eq!((run.summary.users.completed, reconnects(&run.summary)), (1, [1, 1, 0]));
        let told = if before_the_cut.is_some() { "join 6" } else { "join " };
        assert_eq!(*heard.borrow(), ["join ", told]);
        assert_eq!(run.resumed, usize::from(before_the_cut.is_some()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_of_a_loop_is_taken_again_with_its_own_element() {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hears = Rc::clone(&heard);
    let breaks_once = server(SECOND, move |number, mut peer: Peer| {
        let hears = Rc::clone(&hears);
        async move {
            for _ in 0..2 {
                let text = peer.heard().await;
                hears.borrow_mut().extend(text);
                peer.text("joined").await;
            }
            if number > 0 {
                peer.stay().await;
            }
        }
    });
    let element = Expression::Call { function: Function::LoopElement, arguments: Vec::new() };
    let text = Template { pieces: vec![Piece::Hole(element)] };
    let steps = vec![send(text, Some(awaited(SECOND, None)))];
    let body = vec![Step::Subscribe(Arc::new(Subscribe { steps, resumes: true }))];
    let repeat = Repeat::Over(Expression::Constant(serde_json::json!(["a", "b"])));
    let flow = vec![open(), Step::Loop(Loop { body, repeat, pace: None }), think(5.0)];
    let summary = simulate(reconnecting(automatic(), flow), Control::new(), breaks_once).await;
    assert_eq!((summary.users.completed, reconnects(&summary)), (1, [1, 1, 0]));
    assert_eq!(*heard.borrow(), ["a", "b", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_connection_of_the_flows_own_begins_anew() {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hears = Rc::clone(&heard);
    let greets = server(SECOND, move |_, mut peer: Peer| {
        let hears = Rc::clone(&hears);
        async move {
            let text = peer.heard().await;
            hears.borrow_mut().extend(text);
            peer.text(r#"{"seq":7}"#).await;
            peer.stay().await;
        }
    });
    let (connect, join) = (open(), subscribe(true));
    let flow = vec![connect.clone(), join.clone(), think(1.0), connect, join, think(1.0)];
    let summary = simulate(reconnecting(automatic(), flow), Control::new(), greets).await;
    assert_eq!((summary.users.completed, reconnects(&summary)), (1, [0, 0, 0]));
    assert_eq!(*heard.borrow(), ["join ", "join "]);
}

/// An event stream's server: its nth answer, kept open for so long. Tells when each request came, and its head.
fn streams(
    answers: [(&'static str, Duration); 2],
    told: Rc<RefCell<Vec<(Duration, String)>>>,
) -> impl Fn(DuplexStream) {
    let start = Instant::now();
    move |mut stream| {
        let told = Rc::clone(&told);
        tokio::task::spawn_local(async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            told.borrow_mut().push((start.elapsed(), String::from_utf8(head).unwrap().to_lowercase()));
            let (answer, open) = answers[told.borrow().len() - 1];
            stream.write_all(answer.as_bytes()).await.unwrap();
            tokio::time::sleep(open).await;
        });
    }
}

fn listen() -> Step {
    let steps = vec![
        Step::SseOpen(Box::new(SseOpen {
            operation: CONNECT.into(),
            url: Template::constant("/"),
            headers: Vec::new(),
            timeout: SECOND,
        })),
        Step::Join(Template::constant("room")),
    ];
    Step::Subscribe(Arc::new(Subscribe { steps, resumes: true }))
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 3000\nid: e5\ndata: x\n\n";

#[tokio::test(start_paused = true)]
async fn an_event_stream_goes_on_behind_its_last_event_no_sooner_than_its_server_wants() {
    let told = Rc::new(RefCell::new(Vec::new()));
    let ends_once = streams([(STREAM, SECOND), (STREAM, Duration::from_secs(60))], Rc::clone(&told));
    let run =
        simulate_closely(reconnecting(automatic(), vec![listen(), think(9.0)]), Control::new(), ends_once);
    let run = run.await;
    assert_eq!((run.summary.users.completed, reconnects(&run.summary)), (1, [1, 1, 0]));
    assert_eq!(run.memberships, [2, 2, 2]);
    let told = told.borrow();
    assert!(!told[0].1.contains("last-event-id"), "{}", told[0].1);
    assert!(told[1].1.contains("last-event-id: e5\r\n"), "{}", told[1].1);
    let waited = told[1].0 - told[0].0;
    assert!((4 * SECOND..4600 * MILLISECOND).contains(&waited), "a second of stream and three: {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn an_event_stream_whose_server_says_204_is_given_up_at_once() {
    let told = Rc::new(RefCell::new(Vec::new()));
    let answers = [(STREAM, SECOND), ("HTTP/1.1 204 No Content\r\n\r\n", SECOND)];
    let plan = reconnecting(automatic(), vec![listen(), think(9.0)]);
    let summary = simulate(plan, Control::new(), streams(answers, Rc::clone(&told))).await;
    assert_eq!((summary.users.failed, told.borrow().len()), (1, 2));
    assert_eq!((ran(&summary, "reconnect"), reconnects(&summary)), ((1, 1), [1, 0, 1]));
}

fn session(namespace: &str) -> Step {
    let options = SocketioOptions { transport: SocketioTransport::Websocket, ..SocketioOptions::default() };
    let namespace = Template::constant(namespace);
    let connect = SocketioConnect { operation: CONNECT.into(), options, namespace };
    Step::Open(Arc::new(Step::SocketioConnect(Box::new(connect))))
}

#[tokio::test(start_paused = true)]
async fn a_recovered_socketio_session_is_not_asked_for_its_rooms_again() {
    for (pid, joins) in [("p", 1), ("other", 2)] {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hears = Rc::clone(&heard);
        let recovers = server(SECOND, move |number, mut peer: Peer| {
            let hears = Rc::clone(&hears);
            async move {
                peer.text(r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":9999}"#)
                    .await;
                let text = peer.heard().await;
                hears.borrow_mut().extend(text);
                if number > 0 {
                    peer.text(r#"42["message",{"n":2},"o2"]"#).await;
                    peer.text(&format!("40{{\"sid\":\"t\",\"pid\":\"{pid}\"}}")).await;
                    while let Some(text) = peer.heard().await {
                        hears.borrow_mut().push(text);
                    }
                    return;
                }
                peer.text(r#"40{"sid":"t","pid":"p"}"#).await;
                let text = peer.heard().await;
                hears.borrow_mut().extend(text);
                peer.text(r#"42["message",{"n":1},"o1"]"#).await;
                tokio::time::sleep(SECOND).await;
            }
        });
        let plan = reconnecting(automatic(), vec![session("/"), join_by_emit(), think(5.0)]);
        let run = simulate_closely(plan, Control::new(), recovers).await;
        assert_eq!((run.summary.users.completed, codes(&run.summary)), (1, vec![]), "{pid}");
        assert_eq!(run.memberships, [2, 2, 2]);
        let heard = heard.borrow();
        assert_eq!(heard[0], "40");
        assert_eq!(heard[2], r#"40{"pid":"p","offset":"o1"}"#);
        let asked = heard.iter().filter(|text| text.contains("joinRoom")).count();
        assert_eq!(asked, joins, "{heard:?}");
    }
}

fn join_by_emit() -> Step {
    let Step::Open(open) = session("/") else { unreachable!() };
    let Step::SocketioConnect(connect) = open.as_ref() else { unreachable!() };
    let emit = SocketioEmit {
        operation: SEND.into(),
        namespace: Template::constant("/"),
        connect: Arc::new((**connect).clone()),
        event: Template::constant("joinRoom"),
        arguments: Vec::new(),
        acknowledge: None,
        response: None,
    };
    let steps = vec![Step::SocketioEmit(Box::new(emit)), Step::Join(Template::constant("room"))];
    Step::Subscribe(Arc::new(Subscribe { steps, resumes: false }))
}
