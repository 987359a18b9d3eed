//! Socket.IO 5: namespaces, authorisation, the chat's events, and every breach that ends a session.

use std::time::Duration;

use serde_json::json;
use sonagi_chat::{Config, Limits};
use sonagi_wire::websocket::Opcode;

use crate::client::{Got, Ws, get, metric, post, serve};
use crate::socketio_client::{PATH, Sio, new_message, polled};

#[tokio::test]
async fn a_namespace_is_entered_with_a_token_and_others_do_not_exist() {
    let service = serve(2).await;
    let at = service.address();
    let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
    ws.next_text().await;
    for connect in [r#"40{"token":"made-up"}"#, r#"40{"token":""}"#, r#"40{"token":7}"#] {
        ws.text(connect).await;
        assert_eq!(ws.next_text().await, r#"44{"message":"unauthorized"}"#);
    }
    ws.text("40/random,").await;
    assert_eq!(ws.next_text().await, r#"44/random,{"message":"Invalid namespace"}"#);
    ws.text(&format!(r#"40{{"token":"{}"}}"#, service.credentials()[0].token)).await;
    assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
    let header = format!("Authorization: Bearer {}\r\n", service.credentials()[0].token);
    let mut ws = Ws::open(at, PATH, &header).await.ok().unwrap();
    ws.next_text().await;
    ws.text("40").await;
    assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
    assert_eq!(metric(&service.metrics(), "chat_socketio_connected"), 2);
}

#[tokio::test]
async fn who_has_no_token_is_let_in_where_everybody_may_be() {
    let service = serve(1).await;
    let mut sio = Sio::nobody(service.address()).await;
    for (event, argument) in [
        ("joinRoom", json!("lobby")),
        ("joinRoom", json!("nowhere")),
        ("sendMessage", json!({"roomId": "lobby", "content": 1})),
    ] {
        let refused = sio.emit(event, &argument).await;
        assert_eq!(
            (&refused["ok"], &refused["error"]["code"]),
            (&false.into(), &"unauthorized".into()),
            "{event}"
        );
    }
    let joined = sio.emit("joinRoom", &json!({"roomId": "location:7"})).await;
    assert_eq!(joined, json!({"ok": true, "room": "location:7", "seq": 0}));
    assert_eq!(sio.emit("sendMessage", &json!({"lat": 37.5})).await, json!({"ok": true, "seq": 1}));
    let message = sio.message().await;
    assert_eq!((&message["senderId"], &message["content"]), (&0.into(), &json!({"lat": 37.5})));
    assert_eq!(sio.emit("leaveRoom", &json!("location:7")).await, json!({"ok": true, "room": "location:7"}));
    // In the handshake's query, too.
    let path = format!("{PATH}&token={}", service.credentials()[0].token);
    let mut ws = Ws::open(service.address(), &path, "").await.ok().unwrap();
    ws.next_text().await;
    ws.text("40").await;
    ws.next_text().await;
    ws.text(r#"420["joinRoom","lobby"]"#).await;
    assert_eq!(ws.next_text().await, r#"430[{"ok":true,"room":"lobby","seq":0}]"#);
}

#[tokio::test]
async fn a_join_behind_a_cursor_brings_what_was_missed_and_says_what_cannot_be() {
    let service = serve(1).await;
    let mut sio = Sio::nobody(service.address()).await;
    for n in 0..5 {
        sio.emit("sendMessage", &json!({"roomId": "location:7", "content": n})).await;
    }
    for (after, gap, first) in [(json!(3), false, 4), (json!("0"), false, 1), (json!(9), true, 1)] {
        let mut sio = Sio::nobody(service.address()).await;
        let joined = sio.emit("joinRoom", &json!({"roomId": "location:7", "after": after})).await;
        assert_eq!(joined, json!({"ok": true, "room": "location:7", "seq": 5, "gap": gap}));
        assert!(sio.passed.is_empty(), "the answer comes first");
        for seq in first..=5 {
            assert_eq!(sio.message().await["seq"], seq, "after {after}");
        }
    }
}

#[tokio::test]
async fn members_on_every_transport_get_the_same_message() {
    let service = serve(3).await;
    let (at, users) = (service.address(), service.credentials());
    let mut sender = Sio::in_room(at, "lobby", &users[0].token).await;
    let mut raw = Ws::in_room(at, "lobby", &users[1].token).await;
    let session = polled(at, "EIO=4").await;
    post(at, &session, "", &format!(r#"40{{"token":"{}"}}"#, users[2].token)).await;
    assert!(get(at, &session, "").await.body.starts_with("40{"));
    post(at, &session, "", r#"420["joinRoom","lobby"]"#).await;
    assert_eq!(get(at, &session, "").await.body, r#"430[{"ok":true,"room":"lobby","seq":0}]"#);

    let ack = sender.emit("sendMessage", &json!({"roomId": "lobby", "content": {"text": "방"}})).await;
    assert_eq!(ack, json!({"ok": true, "seq": 1}));
    let mut message = sender.message().await;
    let at_ms = message["at"].take();
    assert!(at_ms.as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(
        message,
        json!({"roomId": "lobby", "seq": 1, "senderId": users[0].id, "content": {"text": "방"}, "at": null})
    );
    let polled = new_message(&get(at, &session, "").await.body).unwrap();
    assert_eq!((&polled["content"]["text"], &polled["at"]), (&"방".into(), &at_ms));
    let raw = raw.json().await;
    assert_eq!((&raw["content"]["text"], &raw["at"], &raw["seq"]), (&"방".into(), &at_ms, &1.into()));
}

#[tokio::test]
async fn a_content_alone_goes_to_the_only_room() {
    let service = serve(1).await;
    let mut sio = Sio::connect(service.address(), &service.credentials()[0].token).await;
    let refused = sio.emit("sendMessage", &json!("hello")).await;
    assert_eq!((&refused["ok"], &refused["error"]["code"]), (&false.into(), &"bad_request".into()));
    sio.emit("joinRoom", &json!("lobby")).await;
    assert_eq!(sio.emit("sendMessage", &json!(7)).await, json!({"ok": true, "seq": 1}));
    assert_eq!(sio.message().await["content"], 7);
}

#[tokio::test]
async fn what_is_not_allowed_is_acknowledged_with_an_error_or_told_as_an_exception() {
    let service = serve(6).await;
    let (at, users) = (service.address(), service.credentials());
    post(at, "/rooms/find-or-create", &users[0].token, r#"{"friendId":2}"#).await;
    let mut sio = Sio::connect(at, &users[3].token).await;
    let cases = [
        ("joinRoom", json!("dm-1-2"), "forbidden"),
        ("joinRoom", json!("nowhere"), "no_such_room"),
        ("joinRoom", json!({}), "bad_request"),
        ("leaveRoom", json!("lobby"), "no_such_room"),
        ("sendMessage", json!({"roomId": "dm-1-2", "content": "x"}), "forbidden"),
        ("sendMessage", json!({"roomId": "lobby", "content": "x".repeat(70_000)}), "too_large"),
        ("dance", json!(1), "bad_request"),
    ];
    for (event, argument, code) in cases {
        let ack = sio.emit(event, &argument).await;
        assert_eq!((&ack["ok"], &ack["error"]["code"]), (&false.into(), &code.into()), "{event} {argument}");
    }
    sio.ws.text(r#"42["joinRoom","nowhere"]"#).await;
    let told = sio.ws.next_text().await;
    assert!(told.starts_with(r#"42["exception",{"code":"no_such_room","#), "{told}");
    sio.ws.text(r#"42["sendMessage",{"roomId":"dm-1-2","content":"x"}]"#).await;
    let told = sio.ws.next_text().await;
    assert!(told.starts_with(r#"42["exception",{"code":"forbidden","#), "{told}");
}

#[tokio::test]
async fn a_breach_of_socket_io_ends_the_session() {
    let service = serve(1).await;
    let token = &service.credentials()[0].token;
    let connect = format!(r#"40{{"token":"{token}"}}"#);
    for packet in [
        "4abc",
        "42{}",
        r#"42abc["x"]"#,
        r#"42[1]"#,
        r#"42["x""#,
        r#"42["connect"]"#,
        r#"42/other,["x"]"#,
        connect.as_str(),
        r#"44{"message":"x"}"#,
        "41/other,",
    ] {
        let mut sio = Sio::connect(service.address(), token).await;
        sio.ws.text(packet).await;
        assert_eq!(sio.ws.closed().await, Some(1002), "{packet}");
    }
    // An event before CONNECT, a CONNECT that is no JSON.
    for packet in [r#"42["joinRoom","lobby"]"#, "40{"] {
        let mut ws = Ws::open(service.address(), PATH, "").await.ok().unwrap();
        ws.text(packet).await;
        assert_eq!(ws.closed().await, Some(1002), "{packet}");
    }
    // A binary frame nothing announced, and text where an attachment was due.
    let mut sio = Sio::connect(service.address(), token).await;
    sio.ws.frame(Opcode::Binary, b"x").await;
    assert_eq!(sio.ws.closed().await, Some(1002));
    let mut sio = Sio::connect(service.address(), token).await;
    sio.ws.text(r#"451-["x",{"_placeholder":true,"num":0}]"#).await;
    sio.ws.text(r#"42["joinRoom","lobby"]"#).await;
    assert_eq!(sio.ws.closed().await, Some(1002));
}

#[tokio::test]
async fn a_socket_that_does_not_connect_in_time_is_closed() {
    let limits = Limits { connect_timeout: Duration::from_millis(100), ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let mut silent = Ws::open(service.address(), PATH, "").await.ok().unwrap();
    assert_eq!(silent.closed().await, Some(4003));
    let path = format!("/ws?token={}", service.credentials()[0].token);
    let mut roomless = Ws::open(service.address(), &path, "").await.ok().unwrap();
    assert_eq!(roomless.closed().await, Some(4003));
}

#[tokio::test]
async fn whoever_disconnects_from_the_namespace_is_in_no_room_and_may_come_back() {
    let service = serve(2).await;
    let (at, users) = (service.address(), service.credentials());
    let mut leaves = Sio::in_room(at, "lobby", &users[0].token).await;
    let mut stays = Sio::in_room(at, "lobby", &users[1].token).await;
    leaves.ws.text("41").await;
    leaves.ws.text(&format!(r#"40{{"token":"{}"}}"#, users[0].token)).await;
    assert!(leaves.ws.next_text().await.starts_with(r#"40{"sid":"#));
    stays.emit("sendMessage", &json!({"roomId": "lobby", "content": "unheard"})).await;
    assert_eq!(leaves.emit("joinRoom", &json!("lobby")).await["seq"], 1);
    assert!(leaves.passed.is_empty(), "{:?}", leaves.passed);
}

#[tokio::test]
async fn the_protocol_suite_finds_its_echo_in_both_namespaces() {
    let service = sonagi_chat::start(Config { protocol_suite: true, ..Config::default() }).await.unwrap();
    let mut ws = Ws::open(service.address(), PATH, "").await.ok().unwrap();
    ws.next_text().await;
    for (namespace, prefix) in [("/", ""), ("/custom", "/custom,")] {
        ws.text(&format!(r#"40{prefix}{{"token":"123"}}"#)).await;
        assert!(ws.next_text().await.starts_with(&format!(r#"40{prefix}{{"sid":"#)), "{namespace}");
        assert_eq!(ws.next_text().await, format!(r#"42{prefix}["auth",{{"token":"123"}}]"#));
        ws.text(&format!(r#"42{prefix}["message",1,"2",{{"3":[true]}}]"#)).await;
        assert_eq!(ws.next_text().await, format!(r#"42{prefix}["message-back",1,"2",{{"3":[true]}}]"#));
        ws.text(&format!(r#"42{prefix}456["message-with-ack",1,"2",{{"3":[false]}}]"#)).await;
        assert_eq!(ws.next_text().await, format!(r#"43{prefix}456[1,"2",{{"3":[false]}}]"#));
        ws.text(&format!(r#"451-{prefix}789["message-with-ack",{{"_placeholder":true,"num":0}}]"#)).await;
        ws.frame(Opcode::Binary, &[1, 2, 3]).await;
        assert_eq!(ws.next_text().await, format!(r#"461-{prefix}789[{{"_placeholder":true,"num":0}}]"#));
        assert_eq!(ws.next().await, Got::Binary(vec![1, 2, 3]));
    }
}
