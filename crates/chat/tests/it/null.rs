//! The null mode: minimal answers on the service's own connections.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sonagi_chat::{Config, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Got, Ws, exchange, get, post, read_reply, within};
use crate::socketio_client::Sio;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";

async fn serve() -> Service {
    sonagi_chat::start(Config { seed_users: 3, null: true, ..Config::default() }).await.unwrap()
}

async fn stats(at: SocketAddr) -> Value {
    get(at, "/null/stats", "").await.json()
}

/// Sends the bytes and reads exactly `expected`.
async fn talk(stream: &mut TcpStream, bytes: &str, expected: &str) {
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut got = vec![0; expected.len()];
    within("the answers", stream.read_exact(&mut got)).await.unwrap();
    assert_eq!(String::from_utf8(got).unwrap(), expected);
}

#[tokio::test]
async fn any_path_and_method_is_answered_ok_and_the_body_dropped() {
    let service = serve().await;
    let mut stream = TcpStream::connect(service.address()).await.unwrap();
    talk(&mut stream, "GET / HTTP/1.1\r\nhost: x\r\n\r\n", OK).await;
    talk(&mut stream, "PUT /a/b?c HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nGET /", OK).await;
    let head = OK.strip_suffix("ok").unwrap();
    talk(&mut stream, "HEAD / HTTP/1.1\r\n\r\n", head).await;
    // A chunked body is hyper's to read; its answer differs in nothing that matters.
    stream
        .write_all(b"POST /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        .await
        .unwrap();
    let reply = within("an answer", read_reply(&mut stream)).await.unwrap();
    assert_eq!((reply.status, reply.body.as_str()), (200, "ok"));
    assert_eq!(stats(service.address()).await["requests"], 5);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_however_they_are_cut() {
    let service = serve().await;
    let requests = "GET /1 HTTP/1.1\r\nhost: x\r\n\r\nPOST /2 HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcGET /after/1ms HTTP/1.1\r\n\r\n\
                    GET /null/nothing HTTP/1.1\r\n\r\n";
    for cut in [1, 10, 30, 60, 66, 70, 90, requests.len()] {
        let mut stream = TcpStream::connect(service.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(&requests.as_bytes()[..cut]).await.unwrap();
        talk(&mut stream, &requests[cut..], &OK.repeat(4)).await;
    }
}

#[tokio::test]
async fn a_connection_ends_when_its_client_asks_or_speaks_no_http() {
    let service = serve().await;
    let mut rest = String::new();
    for (request, status) in [
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
        ("GET / HTTP/1.0\r\n\r\n", 200),
        ("GET /after/1ms HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
        ("GET /after/1ms HTTP/1.0\r\n\r\n", 200),
        ("\u{16}\u{3}\u{1} hello\r\n\r\n", 400),
        ("GET /after/soon HTTP/1.1\r\n\r\n", 400),
        ("GET /ws/nowhere HTTP/1.1\r\n\r\n", 404),
        ("GET /ws/echo HTTP/1.1\r\n\r\n", 426),
        ("GET /null/reset HTTP/1.1\r\n\r\n", 405),
    ] {
        let mut stream = TcpStream::connect(service.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = within("an answer", read_reply(&mut stream)).await.unwrap();
        assert_eq!(reply.status, status, "{request}");
        within("the end", stream.read_to_string(&mut rest)).await.unwrap();
        assert_eq!(rest, "");
    }
    // Not a byte more than it takes to know: what nobody reads would reset the connection.
    let long = format!("{:y<1$}", "GET / HTTP/1.1\r\nx: ", 32 * 1024 + 1);
    assert_eq!(exchange(service.address(), long.as_bytes()).await.status, 431);
}

#[tokio::test]
async fn an_answer_after_a_time_comes_no_earlier_and_its_own_lateness_is_told() {
    let service = serve().await;
    let at = service.address();
    for path in ["/after/20ms", "/after/20000us"] {
        let started = Instant::now();
        assert_eq!(get(at, path, "").await.body, "ok");
        assert!(started.elapsed() >= Duration::from_millis(20));
    }
    let after = stats(at).await["after"].clone();
    assert_eq!(after["count"], 2);
    assert!(after["p50_ms"].as_f64().unwrap() >= 20.0, "{after}");
    assert!(after["max_ms"].as_f64() >= after["p50_ms"].as_f64(), "{after}");
    assert_eq!(post(at, "/null/reset", "", "").await.body, "ok");
    let stats = stats(at).await;
    assert_eq!(stats["after"]["count"], 0);
    assert_eq!(stats["requests"], 1, "the question itself");
}

#[tokio::test]
async fn a_room_confirms_the_join_and_says_everything_to_everybody_as_it_was_said() {
    let service = serve().await;
    let at = service.address();
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(Ws::open(at, "/ws/room/a?x=1", "").await.ok().unwrap());
    }
    let mut elsewhere = Ws::open(at, "/ws/room/b", "").await.ok().unwrap();
    for member in members.iter_mut().chain([&mut elsewhere]) {
        assert_eq!(member.next_text().await, "joined");
    }
    members[1].text("not { even JSON").await;
    for member in &mut members {
        assert_eq!(member.next_text().await, "not { even JSON");
    }
    elsewhere.text("alone").await;
    assert_eq!(elsewhere.next_text().await, "alone");
    let mut gone = members.pop().unwrap();
    gone.frame(sonagi_wire::websocket::Opcode::Close, &[3, 232]).await;
    assert_eq!(gone.closed().await, Some(1000));
    members[0].text("two are left").await;
    for member in &mut members {
        assert_eq!(member.next_text().await, "two are left");
    }
    let stats = stats(at).await;
    assert_eq!(stats["frames_in"], 3);
    // The confirmations, and 3 + 1 + 2 copies.
    assert_eq!(stats["frames_out"], 4 + 6);
    // What was written: as many, and the close frame.
    assert_eq!(stats["writes"], 4 + 6 + 1);
    assert_eq!(
        stats["connections"],
        3 + 1 + 1,
        "the one that parted still holds its socket; and the one that asks"
    );
}

#[tokio::test]
async fn an_echo_comes_back_from_the_same_connection_the_service_has() {
    let service = serve().await;
    let mut ws = Ws::open(service.address(), "/ws/echo", "").await.ok().unwrap();
    ws.text("hello").await;
    assert_eq!(ws.next_text().await, "hello");
    let stats = stats(service.address()).await;
    assert_eq!(
        (&stats["frames_in"], &stats["frames_out"], &stats["writes"]),
        (&1.into(), &1.into(), &1.into())
    );
}

#[tokio::test]
async fn a_flood_is_whole_frames_until_the_client_closes() {
    let service = serve().await;
    let mut ws = Ws::open(service.address(), "/ws/flood?bytes=300&batch=7", "").await.ok().unwrap();
    for _ in 0..1000 {
        assert_eq!(ws.next_text().await, "x".repeat(300));
    }
    ws.frame(sonagi_wire::websocket::Opcode::Close, &[3, 232]).await;
    // What was on its way still comes, whole; then the close frame.
    let code = loop {
        match ws.next().await {
            Got::Text(text) => assert_eq!(text.len(), 300),
            Got::Close(code) => break code,
            other => panic!("a text or close frame was due, got {other:?}"),
        }
    };
    assert_eq!(code, Some(1000));
    let stats = stats(service.address()).await;
    let (frames, writes) = (stats["frames_out"].as_u64().unwrap(), stats["writes"].as_u64().unwrap());
    // A write has seven frames at most; the close frame has one of its own.
    assert!(frames >= 1000 && writes >= frames / 7, "{stats}");
    assert!(writes < frames, "{stats}");
}

#[tokio::test]
async fn a_login_takes_any_password_and_the_chat_goes_on_without_a_store() {
    let service = serve().await;
    let at = service.address();
    let login = |email: &str| json!({"email": email, "password": "anything"}).to_string();
    let reply = post(at, "/api/auth/login", "", &login("user1@example.test")).await;
    assert_eq!(reply.status, 201);
    let token = reply.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(post(at, "/auth/login", "", &login("nobody@example.test")).await.status, 401);
    let mut sender = Ws::in_room(at, "lobby", &token).await;
    let mut receiver = Ws::in_room(at, "lobby", &service.credentials()[1].token).await;
    sender.say("hello", "1").await;
    sender.say("again", "2").await;
    for (seq, content) in [(1, "hello"), (2, "again")] {
        let message = receiver.json().await;
        assert_eq!((&message["seq"], &message["content"]), (&seq.into(), &content.into()));
        assert_eq!(sender.json_of("ack").await["seq"], seq);
    }
    let mut socketio = Sio::in_room(at, "lobby", &service.credentials()[2].token).await;
    let ack = socketio.emit("sendMessage", &json!({"roomId": "lobby", "content": "third"})).await;
    assert_eq!(ack, json!({"ok": true, "seq": 3}));
    assert_eq!(receiver.json().await["content"], "third");
}

#[tokio::test]
async fn a_drain_ends_plain_connections_at_once() {
    let service = serve().await;
    let mut idle = TcpStream::connect(service.address()).await.unwrap();
    talk(&mut idle, "GET / HTTP/1.1\r\n\r\n", OK).await;
    let grace = Duration::from_secs(3600);
    within("the drain", service.drain(grace)).await;
    let mut rest = Vec::new();
    within("the end", idle.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.is_empty());
}
