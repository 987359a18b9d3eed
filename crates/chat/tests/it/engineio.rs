//! Engine.IO 4: every refusal and every way a session ends, over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use sonagi_chat::{Config, Limits, Service};
use sonagi_wire::websocket::{self, Opcode};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Got, Reply, Ws, exchange, get, metric, post, read_reply, request, within};
use crate::socketio_client::polled;

const POLLING: &str = "/engine.io/?EIO=4&transport=polling";
const WEBSOCKET: &str = "/engine.io/?EIO=4&transport=websocket";

/// The settings the published suites ask for.
async fn serve() -> Service {
    let limits = Limits {
        ping_interval: Duration::from_millis(300),
        ping_timeout: Duration::from_millis(200),
        connect_timeout: Duration::from_millis(1000),
        ..Limits::default()
    };
    sonagi_chat::start(Config { protocol_suite: true, limits, ..Config::default() }).await.unwrap()
}

/// A service whose pings do not come into the test.
async fn serve_calm() -> Service {
    sonagi_chat::start(Config { protocol_suite: true, seed_users: 2, ..Config::default() }).await.unwrap()
}

async fn open(at: SocketAddr) -> String {
    let reply = get(at, POLLING, "").await;
    assert_eq!(reply.status, 200);
    let handshake: serde_json::Value = serde_json::from_str(reply.body.strip_prefix('0').unwrap()).unwrap();
    format!("{POLLING}&sid={}", handshake["sid"].as_str().unwrap())
}

/// A GET that stays open.
async fn begin_get(at: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let text = format!("GET {path} HTTP/1.1\r\nHost: chat\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// The path of the WebSocket that takes a polled session over.
fn probe_of(session: &str) -> String {
    format!("{WEBSOCKET}&sid={}", session.rsplit('=').next().unwrap())
}

async fn reply(stream: &mut TcpStream) -> Reply {
    within("an answer to a poll", read_reply(stream)).await.unwrap()
}

#[tokio::test]
async fn the_handshake_announces_upgrades_and_limits() {
    let service = serve().await;
    let reply = get(service.address(), POLLING, "").await;
    let mut handshake: serde_json::Value = serde_json::from_str(&reply.body[1..]).unwrap();
    assert_eq!(handshake["sid"].as_str().unwrap().len(), 30);
    handshake["sid"] = "s".into();
    let expected = serde_json::json!({
        "sid": "s", "upgrades": ["websocket"], "pingInterval": 300, "pingTimeout": 200, "maxPayload": 1_000_000
    });
    assert_eq!(handshake, expected);
    let mut ws = Ws::open(service.address(), WEBSOCKET, "").await.ok().unwrap();
    let handshake: serde_json::Value = serde_json::from_str(&ws.next_text().await[1..]).unwrap();
    assert_eq!(handshake["upgrades"], serde_json::json!([]));
}

#[tokio::test]
async fn a_bad_request_is_refused_with_the_code_of_its_rule() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let cases = [
        ("GET", "/engine.io/?EIO=4", 0),
        ("GET", "/engine.io/?EIO=4&transport=pigeon", 0),
        ("GET", "/engine.io/?transport=polling", 5),
        ("GET", "/engine.io/?EIO=2&transport=polling", 5),
        ("GET", "/engine.io/?EIO=abc&transport=websocket", 5),
        ("GET", "/engine.io/?EIO=4&transport=polling&sid=nobody", 1),
        ("POST", "/engine.io/?EIO=4&transport=polling&sid=nobody", 1),
        ("POST", POLLING, 2),
        ("PUT", POLLING, 2),
        ("PUT", session.as_str(), 3),
        ("GET", WEBSOCKET, 3),
    ];
    let messages = [
        "Transport unknown",
        "Session ID unknown",
        "Bad handshake method",
        "Bad request",
        "",
        "Unsupported protocol version",
    ];
    for (method, path, code) in cases {
        let reply = request(at, method, path, "", "").await;
        let expected = serde_json::json!({"code": code, "message": messages[code]});
        assert_eq!((reply.status, reply.json()), (400, expected), "{method} {path}");
    }
    for path in ["/engine.io/?EIO=2&transport=websocket", "/engine.io/?EIO=4&transport=websocket&sid=nobody"]
    {
        assert_eq!(Ws::open(at, path, "").await.err().unwrap().status, 400);
    }
}

#[tokio::test]
async fn packets_travel_in_both_directions_of_a_poll() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut poll = begin_get(at, &session).await;
    let body = "4hello\u{1e}bAQIDBA==\u{1e}4방";
    let posted = post(at, &session, "", body).await;
    assert_eq!((posted.status, posted.body.as_str()), (200, "ok"));
    let mut got = reply(&mut poll).await.body;
    // The poll may be answered between two packets of the post.
    while got.len() < body.len() {
        got = format!("{got}\u{1e}{}", get(at, &session, "").await.body);
    }
    assert_eq!(got, body);
}

#[tokio::test]
async fn a_second_poll_ends_the_session() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut first = begin_get(at, &session).await;
    arrived(&service).await;
    assert_eq!(get(at, &session, "").await.status, 400);
    let first = reply(&mut first).await;
    assert_eq!((first.status, first.body.as_str()), (200, "1"));
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
}

/// Returns once the request after the handshake has reached the service.
async fn arrived(service: &Service) {
    within("the request's arrival", async {
        while metric(&service.metrics(), "chat_requests_total") < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_post_ends_the_session() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut slow = TcpStream::connect(at).await.unwrap();
    let head = format!("POST {session} HTTP/1.1\r\nHost: chat\r\nContent-Length: 6\r\n\r\n4h");
    slow.write_all(head.as_bytes()).await.unwrap();
    arrived(&service).await;
    assert_eq!(post(at, &session, "", "4fast").await.status, 400);
    slow.write_all(b"ello").await.unwrap();
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
}

#[tokio::test]
async fn a_poll_given_up_ends_the_session() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let poll = begin_get(at, &session).await;
    arrived(&service).await;
    drop(poll);
    within("the end of the session", async {
        while metric(&service.metrics(), "chat_connections{transport=\"polling\"}") > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
}

#[tokio::test]
async fn a_packet_the_protocol_does_not_allow_ends_the_session() {
    let service = serve_calm().await;
    let at = service.address();
    // No type, a ping from a client, an open from a client, base64 that is none, nothing.
    for body in ["abc", "2", "0{}", "b$$", ""] {
        let session = open(at).await;
        let posted = post(at, &session, "", body).await;
        assert_eq!((posted.status, &posted.json()["code"]), (400, &3.into()), "{body}");
        assert_eq!(get(at, &session, "").await.json()["code"], 1, "{body}");
    }
    for text in ["abc", "2", "0{}", "bAQID", ""] {
        let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
        ws.next_text().await;
        ws.text(text).await;
        assert_eq!(ws.closed().await, Some(1002), "{text}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_413() {
    let limits = Limits { max_payload: 1000, ..Limits::default() };
    let config = Config { protocol_suite: true, limits, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let at = service.address();
    let session = open(at).await;
    assert_eq!(post(at, &session, "", &"4".repeat(1001)).await.status, 413);
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
    let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
    ws.text(&"4".repeat(1001)).await;
    assert_eq!(ws.closed().await, Some(1009));
}

#[tokio::test]
async fn a_close_packet_ends_the_session_and_releases_the_poll() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut poll = begin_get(at, &session).await;
    arrived(&service).await;
    assert_eq!(post(at, &session, "", "1").await.body, "ok");
    let poll = reply(&mut poll).await;
    assert_eq!((poll.status, poll.body.as_str()), (200, "6"));
    assert_eq!(get(at, &session, "").await.status, 400);
    let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
    ws.text("1").await;
    assert_eq!(ws.closed().await, Some(1000));
}

#[tokio::test]
async fn pings_come_at_the_interval_and_their_answers_keep_the_session() {
    let service = serve().await;
    let at = service.address();
    let session = open(at).await;
    let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
    ws.next_text().await;
    for _ in 0..3 {
        assert_eq!(get(at, &session, "").await.body, "2");
        assert_eq!(post(at, &session, "", "3").await.status, 200);
        assert_eq!(ws.next_text().await, "2");
        ws.text("3").await;
    }
}

#[tokio::test]
async fn a_ping_unanswered_ends_the_session() {
    let service = serve().await;
    let at = service.address();
    let session = open(at).await;
    let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
    assert_eq!(get(at, &session, "").await.body, "2");
    // The next poll gets the close, or comes after the end.
    let last = get(at, &session, "").await;
    assert!(last.body == "1" || last.status == 400, "{}", last.body);
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
    assert_eq!(ws.closed().await, Some(4004));
    assert_eq!(metric(&service.metrics(), "chat_dead_peers_total"), 2);
}

#[tokio::test]
async fn a_session_moves_from_polling_to_websocket_with_what_was_queued() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let sid = session.rsplit('=').next().unwrap();
    let path = format!("{WEBSOCKET}&sid={sid}");
    let mut ws = Ws::open(at, &path, "").await.ok().unwrap();
    let mut poll = begin_get(at, &session).await;
    ws.text("2probe").await;
    assert_eq!(ws.next_text().await, "3probe");
    // The pending poll is released, and so is every further one, until the client has upgraded.
    assert_eq!(reply(&mut poll).await.body, "6");
    assert_eq!(get(at, &session, "").await.body, "6");
    assert_eq!(closed_at_once(at, &path).await, Some(1000));
    post(at, &session, "", "4queued").await;
    ws.text("5").await;
    assert_eq!(ws.next_text().await, "4queued");
    ws.text("4hello").await;
    assert_eq!(ws.next_text().await, "4hello");
    ws.frame(Opcode::Binary, b"\x01\x02").await;
    assert_eq!(ws.next().await, Got::Binary(vec![1, 2]));
    assert_eq!(get(at, &session, "").await.json()["code"], 3);
    assert_eq!(post(at, &session, "", "4x").await.json()["code"], 3);
    assert_eq!(closed_at_once(at, &path).await, Some(1000));
    ws.text("4still here").await;
    assert_eq!(ws.next_text().await, "4still here");
    let metrics = service.metrics();
    assert_eq!(metric(&metrics, "chat_connections{transport=\"polling\"}"), 0);
    assert_eq!(metric(&metrics, "chat_connections{transport=\"websocket\"}"), 1);
}

/// The code with which a WebSocket is closed before anything else comes.
async fn closed_at_once(at: SocketAddr, path: &str) -> Option<u16> {
    let mut ws = Ws::open(at, path, "").await.ok().unwrap();
    let Got::Close(code) = ws.next().await else { panic!("no close") };
    ws.frame(Opcode::Close, &1000u16.to_be_bytes()).await;
    assert_eq!(ws.next().await, Got::End);
    code
}

#[tokio::test]
async fn another_websocket_of_a_session_that_began_on_one_is_closed_at_once() {
    let service = serve_calm().await;
    let at = service.address();
    let mut ws = Ws::open(at, WEBSOCKET, "").await.ok().unwrap();
    let handshake: serde_json::Value = serde_json::from_str(&ws.next_text().await[1..]).unwrap();
    let path = format!("{WEBSOCKET}&sid={}", handshake["sid"].as_str().unwrap());
    assert_eq!(closed_at_once(at, &path).await, Some(1000));
    ws.text("4still here").await;
    assert_eq!(ws.next_text().await, "4still here");
    assert_eq!(metric(&service.metrics(), "chat_protocol_violations_total"), 0);
}

#[tokio::test]
async fn a_poll_that_was_sent_beside_the_close_is_answered_whichever_comes_first() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    // The close overtakes the poll: its answer is the same, and there is one such answer.
    assert_eq!(post(at, &session, "", "1").await.body, "ok");
    assert_eq!(post(at, &session, "", "4x").await.json()["code"], 1, "it takes nothing any more");
    assert!(Ws::open(at, &probe_of(&session), "").await.is_err());
    let released = get(at, &session, "").await;
    assert_eq!((released.status, released.body.as_str()), (200, "6"));
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
    // One that was answered before is not owed a second time.
    let session = open(at).await;
    let mut poll = begin_get(at, &session).await;
    while metric(&service.metrics(), "chat_requests_total") < 8 {
        tokio::task::yield_now().await;
    }
    post(at, &session, "", "1").await;
    assert_eq!(reply(&mut poll).await.body, "6");
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_and_a_close_in_parallel_do_not_race() {
    let service = serve_calm().await;
    let at = service.address();
    for n in 0..200 {
        let session = open(at).await;
        let (poll, close) = tokio::join!(get(at, &session, ""), post(at, &session, "", "1"));
        assert_eq!((poll.status, poll.body.as_str()), (200, "6"), "session {n}");
        assert_eq!((close.status, close.body.as_str()), (200, "ok"), "session {n}");
        assert_eq!(get(at, &session, "").await.status, 400, "session {n}");
    }
}

#[tokio::test]
async fn a_probe_that_fails_leaves_the_session_polling() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let sid = session.rsplit('=').next().unwrap();
    let path = format!("{WEBSOCKET}&sid={sid}");
    let mut ws = Ws::open(at, &path, "").await.ok().unwrap();
    ws.text("4too early").await;
    assert_eq!(ws.closed().await, Some(1002));
    post(at, &session, "", "4still polling").await;
    assert_eq!(get(at, &session, "").await.body, "4still polling");
    assert!(Ws::open(at, &path, "").await.is_ok(), "another probe may follow");
}

#[tokio::test]
async fn an_upgrade_that_overtakes_the_pending_poll_answers_it_and_carries_on() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut poll = begin_get(at, &session).await;
    arrived(&service).await;
    let mut ws = Ws::open(at, &probe_of(&session), "").await.ok().unwrap();
    // In one segment: nothing of the service can run between the two.
    let mut frames = Vec::new();
    for text in ["2probe", "5", "4first"] {
        websocket::encode(Opcode::Text, text.as_bytes(), Some([1, 2, 3, 4]), &mut frames);
    }
    ws.stream.write_all(&frames).await.unwrap();
    assert_eq!(ws.next_text().await, "3probe");
    assert_eq!(ws.next_text().await, "4first");
    assert_eq!(reply(&mut poll).await.body, "6");
    ws.text("4second").await;
    assert_eq!(ws.next_text().await, "4second");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_may_upgrade_before_its_poll_has_returned() {
    let service = serve_calm().await;
    let at = service.address();
    for n in 0..100 {
        let session = open(at).await;
        let mut poll = begin_get(at, &session).await;
        let mut ws = Ws::open(at, &probe_of(&session), "").await.ok().unwrap();
        ws.text("2probe").await;
        assert_eq!(ws.next_text().await, "3probe");
        ws.text("5").await;
        ws.text("4hello").await;
        assert_eq!(ws.next_text().await, "4hello", "upgrade {n}");
        // It came before the upgrade, or after it and was refused.
        let poll = reply(&mut poll).await;
        assert!(poll.body == "6" || poll.status == 400, "upgrade {n}: {}", poll.body);
    }
}

#[tokio::test]
async fn a_post_that_an_upgrade_overtakes_is_refused_and_the_session_goes_on() {
    let service = serve_calm().await;
    let at = service.address();
    for rest in [Some("ello"), None] {
        let session = open(at).await;
        let mut slow = TcpStream::connect(at).await.unwrap();
        let head = format!("POST {session} HTTP/1.1\r\nHost: chat\r\nContent-Length: 6\r\n\r\n4h");
        slow.write_all(head.as_bytes()).await.unwrap();
        let mut ws = Ws::open(at, &probe_of(&session), "").await.ok().unwrap();
        for (text, answer) in [("2probe", "3probe"), ("5", ""), ("4up", "4up")] {
            ws.text(text).await;
            assert!(answer.is_empty() || ws.next_text().await == answer);
        }
        match rest {
            Some(rest) => {
                slow.write_all(rest.as_bytes()).await.unwrap();
                assert_eq!(reply(&mut slow).await.status, 400);
            }
            None => {
                // Its side is shut in the middle of the body; the answer, if any, ends the stream.
                slow.shutdown().await.unwrap();
                within("the end of the post", read_reply(&mut slow)).await;
            }
        }
        ws.text("4still here").await;
        assert_eq!(ws.next_text().await, "4still here");
    }
    assert_eq!(metric(&service.metrics(), "chat_protocol_violations_total"), 0);
}

#[tokio::test]
async fn a_post_that_breaks_off_ends_the_session_and_is_no_violation() {
    let service = serve_calm().await;
    let at = service.address();
    let session = open(at).await;
    let mut slow = TcpStream::connect(at).await.unwrap();
    let head = format!("POST {session} HTTP/1.1\r\nHost: chat\r\nContent-Length: 6\r\n\r\n4h");
    slow.write_all(head.as_bytes()).await.unwrap();
    arrived(&service).await;
    slow.shutdown().await.unwrap();
    within("the end of the post", read_reply(&mut slow)).await;
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
    assert_eq!(metric(&service.metrics(), "chat_protocol_violations_total"), 0);
}

#[tokio::test]
async fn a_probe_that_does_not_upgrade_in_time_is_closed_and_the_session_polls_on() {
    let limits = Limits { upgrade_timeout: Duration::from_millis(200), ..Limits::default() };
    let config = Config { protocol_suite: true, limits, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let at = service.address();
    let session = open(at).await;
    let mut ws = Ws::open(at, &probe_of(&session), "").await.ok().unwrap();
    ws.text("2probe").await;
    assert_eq!(ws.next_text().await, "3probe");
    assert_eq!(get(at, &session, "").await.body, "6");
    assert_eq!(ws.closed().await, Some(4003));
    post(at, &session, "", "4still polling").await;
    assert_eq!(get(at, &session, "").await.body, "4still polling");
}

#[tokio::test]
async fn only_a_get_becomes_a_websocket() {
    let service = serve_calm().await;
    let at = service.address();
    let probe = probe_of(&open(at).await);
    for (path, code) in [(probe.as_str(), 3), (WEBSOCKET, 2)] {
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: chat\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let reply = exchange(at, text.as_bytes()).await;
        assert_eq!((reply.status, &reply.json()["code"]), (400, &code.into()));
    }
}

#[tokio::test]
async fn ids_of_an_instances_sessions_begin_with_its_number() {
    let config = Config { instance: Some(7), ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let session = polled(service.address(), "EIO=4").await;
    let sid = session.rsplit_once("sid=").unwrap().1;
    assert!(sid.starts_with("7.") && sid.len() == 32, "{sid}");
    assert_eq!(post(service.address(), &session, "", "40").await.status, 200);
}
