//! How connections end: slow consumers, dead peers, a service that drains, limits at the door.

use std::time::Duration;

use sonagi_chat::{Config, Limits};
use sonagi_wire::websocket::{self, Opcode};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Got, Ws, get, metric, post, read_reply, serve, within};
use crate::socketio_client::{PATH, Sio};

#[tokio::test]
async fn a_slow_consumer_is_closed_with_4008_and_nobody_else_notices() {
    let limits = Limits { queue_bytes: 256 * 1024, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let (at, users) = (service.address(), service.credentials());
    let mut slow = Ws::in_room(at, "lobby", &users[0].token).await;
    let mut quick = Ws::in_room(at, "lobby", &users[1].token).await;
    let content = "x".repeat(60_000);
    let mut sent = 0;
    // The kernel's buffers fill first; how much they take is not ours to know, so it is bounded generously.
    while metric(&service.metrics(), "chat_slow_consumers_total") == 0 {
        assert!(sent < 2000, "no slow consumer after {sent} messages");
        quick.say(&content, "").await;
        assert_eq!(quick.json_of("message").await["seq"], sent + 1);
        sent += 1;
    }
    quick.say("after", "").await;
    assert_eq!(quick.json_of("message").await["seq"], sent + 1);
    let mut last = 0;
    loop {
        match slow.next().await {
            Got::Text(text) => {
                let message: serde_json::Value = serde_json::from_str(&text).unwrap();
                let seq = message["seq"].as_u64().unwrap();
                assert_eq!(seq, last + 1, "what did arrive has no gap");
                last = seq;
            }
            Got::Close(code) => {
                assert_eq!(code, Some(4008));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(last < sent);
    assert_eq!(metric(&service.metrics(), "chat_slow_consumers_total"), 1);
}

#[tokio::test]
async fn a_flood_is_not_read_on_while_its_connection_closes() {
    let (close_bytes, two_seconds) = (1_000_000, Duration::from_secs(2));
    // The second for the sweep to come often.
    let limits =
        Limits { close_bytes, close_grace: two_seconds, connect_timeout: two_seconds, ..Limits::default() };
    let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
    let mut flood = Ws::open(service.address(), "/ws/echo", "").await.ok().unwrap();
    let mut frame = Vec::new();
    // What no client may send: a text that is not masked.
    websocket::encode(Opcode::Text, b"x", None, &mut frame);
    flood.stream.write_all(&frame).await.unwrap();
    assert_eq!(flood.closed().await, Some(1002));
    let mut sent = 0;
    let junk = [0; 64 * 1024];
    // Until the service hangs up.
    within("the end", async {
        while flood.stream.write_all(&junk).await.is_ok() {
            sent += junk.len();
        }
    })
    .await;
    let read = metric(&service.metrics(), "chat_received_bytes_total") as usize;
    assert!((1_000_000..1_200_000).contains(&read) && sent > read, "read {read} of {sent}");
}

#[tokio::test]
async fn a_polled_session_that_does_not_poll_is_a_slow_consumer_too() {
    let limits = Limits { queue_bytes: 100_000, close_grace: Duration::from_millis(10), ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let (at, users) = (service.address(), service.credentials());
    let session = polled_in_lobby(at, &users[0].token).await;
    let mut quick = Ws::in_room(at, "lobby", &users[1].token).await;
    for seq in 1..=2 {
        quick.say(&"x".repeat(60_000), "").await;
        assert_eq!(quick.json_of("message").await["seq"], seq);
    }
    assert_eq!(get(at, &session, "").await.body, "1", "what was queued has been given up");
    assert_eq!(get(at, &session, "").await.status, 400);
    let metrics = service.metrics();
    assert_eq!(metric(&metrics, "chat_slow_consumers_total"), 1);
    assert_eq!(metric(&metrics, "chat_connections{transport=\"polling\"}"), 0);
}

#[tokio::test]
async fn a_slow_consumer_that_never_polls_again_is_counted_too() {
    let limits = Limits {
        queue_bytes: 100_000,
        close_grace: Duration::from_millis(10),
        // Only for the sweep to come often.
        connect_timeout: Duration::from_secs(2),
        ..Limits::default()
    };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let (at, users) = (service.address(), service.credentials());
    polled_in_lobby(at, &users[0].token).await;
    let mut quick = Ws::in_room(at, "lobby", &users[1].token).await;
    for seq in 1..=2 {
        quick.say(&"x".repeat(60_000), "").await;
        assert_eq!(quick.json_of("message").await["seq"], seq);
    }
    within("the end of the session", async {
        while metric(&service.metrics(), "chat_connections{transport=\"polling\"}") > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(metric(&service.metrics(), "chat_slow_consumers_total"), 1);
}

/// The path of a polled session that has joined the lobby.
async fn polled_in_lobby(at: std::net::SocketAddr, token: &str) -> String {
    let open = get(at, "/socket.io/?EIO=4&transport=polling", "").await.body;
    let handshake: serde_json::Value = serde_json::from_str(&open[1..]).unwrap();
    let session = format!("/socket.io/?EIO=4&transport=polling&sid={}", handshake["sid"].as_str().unwrap());
    post(at, &session, "", &format!(r#"40{{"token":"{token}"}}"#)).await;
    post(at, &session, "", r#"42["joinRoom","lobby"]"#).await;
    session
}

#[tokio::test]
async fn nothing_is_published_for_a_connection_that_broke_the_protocol() {
    let service = serve(2).await;
    let (at, users) = (service.address(), service.credentials());
    let mut breaks = Sio::in_room(at, "lobby", &users[0].token).await;
    let mut stays = Ws::in_room(at, "lobby", &users[1].token).await;
    let mut frames = Vec::new();
    for text in ["4abc", r#"42["sendMessage",{"roomId":"lobby","content":"too late"}]"#] {
        websocket::encode(Opcode::Text, text.as_bytes(), Some([0; 4]), &mut frames);
    }
    breaks.ws.stream.write_all(&frames).await.unwrap();
    assert_eq!(breaks.ws.closed().await, Some(1002));
    stays.say("in time", "").await;
    let message = stays.json_of("message").await;
    assert_eq!((&message["seq"], &message["content"]), (&1.into(), &"in time".into()));
}

#[tokio::test]
async fn a_websocket_that_does_not_answer_a_ping_is_closed() {
    let limits = Limits {
        ping_interval: Duration::from_millis(100),
        ping_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let token = &service.credentials()[0].token;
    let mut alive = Ws::in_room(service.address(), "lobby", token).await;
    let mut dead = Ws::in_room(service.address(), "lobby", token).await;
    for _ in 0..4 {
        assert_eq!(alive.next().await, Got::Ping);
        alive.frame(Opcode::Pong, b"").await;
    }
    assert_eq!(dead.closed().await, Some(4004));
    alive.say("still in", "").await;
    assert_eq!(alive_message(&mut alive).await, "still in");
}

async fn alive_message(ws: &mut Ws) -> String {
    loop {
        if let Got::Text(text) = ws.next().await
            && let Ok(json) = serde_json::from_str::<serde_json::Value>(&text)
            && json["type"] == "message"
        {
            return json["content"].as_str().unwrap().to_owned();
        }
    }
}

/// Asks until the answer is 503. One that was connected but had not asked when the drain began gets none.
async fn not_ready(at: std::net::SocketAddr) {
    loop {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n").await;
        if read_reply(&mut stream).await.is_some_and(|reply| reply.status == 503) {
            return;
        }
    }
}

#[tokio::test]
async fn a_service_that_drains_is_not_ready_refuses_newcomers_and_closes_with_1012() {
    let service = serve(2).await;
    let at = service.address();
    let tokens: Vec<String> = service.credentials().iter().map(|user| user.token.clone()).collect();
    let mut raw = Ws::in_room(at, "lobby", &tokens[0]).await;
    let mut sio = Sio::in_room(at, "lobby", &tokens[1]).await;
    // Closes are spread over the grace: this one's keeps the drain open until the test has asked its questions.
    let mut last = Ws::in_room(at, "lobby", &tokens[0]).await;
    assert_eq!(get(at, "/healthz", "").await.status, 200);
    let draining = tokio::spawn(service.drain(Duration::from_secs(6)));
    within("the end of readiness", not_ready(at)).await;
    let refused = Ws::open(at, &format!("/ws?room=lobby&token={}", tokens[0]), "").await.err().unwrap();
    assert_eq!((refused.status, refused.error_code().as_str()), (503, "draining"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(Ws::open(at, PATH, "").await.err().unwrap().status, 503);
    assert_eq!(raw.closed().await, Some(1012));
    // No packet DISCONNECT before it: clients take that as word not to come back.
    assert_eq!(sio.ws.next().await, Got::Close(Some(1012)));
    assert_eq!(last.closed().await, Some(1012));
    drop((raw, sio, last));
    draining.await.unwrap();
    assert!(TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn a_head_or_body_that_does_not_come_is_not_waited_for() {
    let limits = Limits {
        header_timeout: Duration::from_millis(100),
        body_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
    let at = service.address();
    for begun in ["", "GET / HTTP/1.1\r\nHo"] {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert!(within("the end", read_reply(&mut stream)).await.is_none_or(|reply| reply.status == 408));
    }
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(b"POST /auth/login HTTP/1.1\r\nHost: c\r\nContent-Length: 9\r\n\r\n{").await.unwrap();
    assert_eq!(within("an answer", read_reply(&mut stream)).await.unwrap().status, 408);
}

#[tokio::test]
async fn a_connection_over_the_limit_is_turned_away() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
    let at = service.address();
    let mut first = Ws::open(at, "/ws/echo", "").await.ok().unwrap();
    let mut second = TcpStream::connect(at).await.unwrap();
    assert_eq!(within("an answer", read_reply(&mut second)).await.unwrap().status, 503);
    first.text("still served").await;
    assert_eq!(first.next().await, Got::Text("still served".into()));
    assert_eq!(metric(&service.metrics(), "chat_connections_refused_total"), 1);
}

#[tokio::test]
async fn a_client_may_be_in_so_many_rooms_and_no_more() {
    let limits = Limits { rooms_per_connection: 1, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 2, limits, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    post(at, "/rooms/find-or-create", token, r#"{"name":"second"}"#).await;
    let mut ws = Ws::in_room(at, "lobby", token).await;
    ws.text(r#"{"type":"join","room":"second"}"#).await;
    assert_eq!(ws.json().await["code"], "too_many_rooms");
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_is_dropped() {
    let limits = Limits { write_timeout: Duration::from_millis(200), ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    for seq in 1..=16 {
        ws.say(&"x".repeat(60_000), "").await;
        assert_eq!(ws.json_of("ack").await["seq"], seq);
    }
    let mut deaf = TcpStream::connect(at).await.unwrap();
    // More than the kernel's buffers take: a megabyte for each request.
    let head =
        format!("GET /rooms/lobby/messages HTTP/1.1\r\nHost: c\r\nAuthorization: Bearer {token}\r\n\r\n");
    deaf.write_all(head.repeat(100).as_bytes()).await.unwrap();
    let metrics = || service.metrics();
    within("the first answer", async {
        while metric(&metrics(), "chat_requests_total") < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    within("the end of the connection", async {
        while metric(&metrics(), "chat_sockets_open") > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(metric(&metrics(), "chat_requests_total") < 100, "it was not dropped for having been served");
}

#[tokio::test]
async fn a_request_under_way_is_answered_before_a_drained_service_stops() {
    let service = serve(1).await;
    let at = service.address();
    let mut idle = TcpStream::connect(at).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: c\r\n\r\n").await.unwrap();
    assert_eq!(within("an answer", read_reply(&mut idle)).await.unwrap().status, 200);
    let mut slow = TcpStream::connect(at).await.unwrap();
    let body = r#"{"email":"user1@example.test","password":"password"}"#;
    let head = format!("POST /auth/login HTTP/1.1\r\nHost: c\r\nContent-Length: {}\r\n\r\n", body.len());
    slow.write_all(head.as_bytes()).await.unwrap();
    within("the request's arrival", async {
        while metric(&service.metrics(), "chat_requests_total") < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let draining = tokio::spawn(service.drain(Duration::from_secs(600)));
    within("the end of readiness", not_ready(at)).await;
    assert!(within("the end of the idle one", read_reply(&mut idle)).await.is_none());
    slow.write_all(body.as_bytes()).await.unwrap();
    let reply = within("an answer", read_reply(&mut slow)).await.unwrap();
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
    within("the end, long before the grace is over", draining).await.unwrap();
}

#[tokio::test]
async fn an_echo_is_drained_like_every_other_connection() {
    let service = serve(0).await;
    let at = service.address();
    let mut first = Ws::open(at, "/ws/echo", "").await.ok().unwrap();
    let mut last = Ws::open(at, "/ws/echo", "").await.ok().unwrap();
    let draining = tokio::spawn(service.drain(Duration::from_secs(6)));
    assert_eq!(first.closed().await, Some(1012));
    assert_eq!(Ws::open(at, "/ws/echo", "").await.err().unwrap().error_code(), "draining");
    assert_eq!(last.closed().await, Some(1012));
    drop((first, last));
    draining.await.unwrap();
}

#[tokio::test]
async fn answers_to_pings_that_are_never_read_are_bounded_like_messages() {
    let limits = Limits { queue_bytes: 50_000, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    let mut pings = Vec::new();
    for _ in 0..10_000 {
        websocket::encode(Opcode::Ping, b"", Some([0; 4]), &mut pings);
    }
    // One read of the service takes them all before it writes: 20,000 bytes of pongs, in 10,000 frames.
    ws.stream.write_all(&pings).await.unwrap();
    assert_eq!(ws.closed().await, Some(4008));
}
