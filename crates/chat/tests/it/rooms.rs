//! Rooms over a plain WebSocket: who may enter, what members get, in which order.

use serde_json::json;
use sonagi_wire::websocket::Opcode;
use tokio::io::AsyncWriteExt;

use crate::client::{Got, Ws, get, metric, post, serve};
use crate::location::until;
use crate::socketio_client::Sio;

#[tokio::test]
async fn every_member_gets_every_message_once_and_in_order_the_sender_included() {
    let service = serve(4).await;
    let mut members = Vec::new();
    for user in service.credentials() {
        members.push(Ws::in_room(service.address(), "lobby", &user.token).await);
    }
    for n in 0..10 {
        for (user, member) in members.iter_mut().enumerate() {
            member.say(&format!("{user}:{n}"), "").await;
        }
    }
    let mut logs = Vec::new();
    for member in &mut members {
        let mut log = Vec::new();
        let mut acks = 0;
        while log.len() < 40 || acks < 10 {
            let frame = member.json().await;
            match frame["type"].as_str().unwrap() {
                "message" => log.push((frame["seq"].as_u64().unwrap(), frame["content"].clone())),
                "ack" => acks += 1,
                other => panic!("{other}"),
            }
        }
        logs.push(log);
    }
    let seqs: Vec<u64> = logs[0].iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, (1..=40).collect::<Vec<u64>>());
    assert!(logs.iter().all(|log| *log == logs[0]));
    for user in 0..4 {
        let own: Vec<_> =
            logs[0].iter().filter_map(|(_, c)| c.as_str()?.strip_prefix(&format!("{user}:"))).collect();
        assert_eq!(own, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }
    // Copies are counted when all of them are on their way: some have arrived by then.
    until(&service, "chat_deliveries_total", 160).await;
    let metrics = service.metrics();
    assert_eq!(metric(&metrics, "chat_messages_total"), 40);
    assert_eq!(metric(&metrics, "chat_deliveries_total"), 160);
    assert_eq!(metric(&metrics, "chat_connections{transport=\"websocket\"}"), 4);
}

#[tokio::test]
async fn an_acknowledgement_never_carries_the_content() {
    let service = serve(1).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    ws.say("secret stamp", "a").await;
    let frames = [ws.json().await, ws.json().await];
    let ack = frames.iter().find(|frame| frame["type"] == "ack").unwrap();
    assert_eq!(*ack, json!({"type": "ack", "id": "a", "seq": 1}));
}

#[tokio::test]
async fn a_room_between_two_users_is_closed_to_others_on_join_and_on_send() {
    let service = serve(6).await;
    let (at, users) = (service.address(), service.credentials());
    post(at, "/rooms/find-or-create", &users[0].token, r#"{"friendId":2}"#).await;
    let mut insider = Ws::in_room(at, "dm-1-2", &users[1].token).await;
    let refused = Ws::open(at, &format!("/ws?room=dm-1-2&token={}", users[2].token), "").await.err().unwrap();
    assert_eq!((refused.status, refused.error_code().as_str()), (403, "forbidden"));
    let mut outsider = Ws::in_room(at, "lobby", &users[2].token).await;
    outsider.text(r#"{"type":"join","room":"dm-1-2"}"#).await;
    assert_eq!(outsider.json().await["code"], "forbidden");
    outsider.text(r#"{"type":"send","room":"dm-1-2","content":"x","id":"7"}"#).await;
    let refusal = outsider.json().await;
    assert_eq!((&refusal["code"], &refusal["id"]), (&"forbidden".into(), &"7".into()));
    // The next thing the insider gets is its own message: nothing came before.
    insider.say("mine", "").await;
    assert_eq!(insider.json_of("message").await["content"], "mine");
}

#[tokio::test]
async fn a_connection_without_a_valid_token_is_refused_before_the_upgrade() {
    let service = serve(1).await;
    for path in ["/ws?room=lobby", "/ws?room=lobby&token=made-up"] {
        let refused = Ws::open(service.address(), path, "").await.err().unwrap();
        assert_eq!((refused.status, refused.error_code().as_str()), (401, "unauthorized"));
    }
    let header = format!("Authorization: Bearer {}\r\n", service.credentials()[0].token);
    let mut ws = Ws::open(service.address(), "/ws?room=lobby", &header).await.ok().unwrap();
    assert_eq!(ws.json().await["type"], "joined");
    let refused = Ws::open(service.address(), "/ws?room=nowhere", &header).await.err().unwrap();
    assert_eq!((refused.status, refused.error_code().as_str()), (404, "no_such_room"));
}

#[tokio::test]
async fn a_message_sent_twice_with_one_id_is_published_once() {
    let service = serve(1).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for content in ["first", "again"] {
        ws.say(content, "same").await;
        assert_eq!(ws.json_of("ack").await["seq"], 1);
    }
    // Both in one read, so most likely in one transaction.
    let mut both = Vec::new();
    for _ in 0..2 {
        let send = br#"{"type":"send","content":"once","id":"twin"}"#;
        sonagi_wire::websocket::encode(Opcode::Text, send, Some([0; 4]), &mut both);
    }
    ws.stream.write_all(&both).await.unwrap();
    for _ in 0..2 {
        assert_eq!(ws.json_of("ack").await["seq"], 2);
    }
    ws.say("second", "other").await;
    let message = ws.json_of("message").await;
    assert_eq!((&message["seq"], &message["content"]), (&3.into(), &"second".into()));
    assert_eq!(metric(&service.metrics(), "chat_messages_repeated_total"), 2);
}

#[tokio::test]
async fn whoever_left_a_room_gets_no_more_of_it() {
    let service = serve(2).await;
    let (at, users) = (service.address(), service.credentials());
    let mut stays = Ws::in_room(at, "lobby", &users[0].token).await;
    let mut leaves = Ws::in_room(at, "lobby", &users[1].token).await;
    stays.say("before", "").await;
    assert_eq!(leaves.json().await["content"], "before");
    leaves.text(r#"{"type":"leave","room":"lobby"}"#).await;
    assert_eq!(leaves.json().await, json!({"type": "left", "room": "lobby"}));
    stays.say("between", "x").await;
    assert_eq!(stays.json_of("ack").await["seq"], 1);
    assert_eq!(stays.json_of("ack").await["seq"], 2);
    leaves.text(r#"{"type":"join","room":"lobby"}"#).await;
    assert_eq!(leaves.json().await, json!({"type": "joined", "room": "lobby", "seq": 2}));
}

#[tokio::test]
async fn what_cannot_be_understood_is_answered_and_the_connection_goes_on() {
    let service = serve(1).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for frame in ["{", "[]", r#"{"type":"dance"}"#, r#"{"type":"send"}"#, r#"{"type":"join"}"#] {
        ws.text(frame).await;
        let answer = ws.json().await;
        assert_eq!((&answer["type"], &answer["code"]), (&"error".into(), &"bad_request".into()), "{frame}");
    }
    let large = "x".repeat(64 * 1024);
    ws.say(&large, "").await;
    assert_eq!(ws.json().await["code"], "too_large");
    ws.say("still here", "").await;
    assert_eq!(ws.json_of("message").await["content"], "still here");
}

#[tokio::test]
async fn the_echo_returns_text_binary_and_pings_and_answers_a_close() {
    let service = serve(0).await;
    let mut ws = Ws::open(service.address(), "/ws/echo", "").await.ok().unwrap();
    ws.text("방").await;
    assert_eq!(ws.next().await, Got::Text("방".into()));
    let large = vec![7; 3_000_000];
    let (sent, got) = {
        let mut out = Vec::new();
        sonagi_wire::websocket::encode(Opcode::Binary, &large, Some([9, 8, 7, 6]), &mut out);
        (out, large)
    };
    ws.stream.write_all(&sent).await.unwrap();
    assert!(ws.next().await == Got::Binary(got));
    ws.frame(Opcode::Ping, b"hi").await;
    assert_eq!(ws.next().await, Got::Pong(b"hi".to_vec()));
    ws.frame(Opcode::Close, &sonagi_wire::websocket::close_payload(1000, "bye")).await;
    assert_eq!(ws.next().await, Got::Close(Some(1000)));
    assert_eq!(ws.next().await, Got::End);
}

#[tokio::test]
async fn a_breach_of_the_websocket_protocol_is_closed_with_its_code() {
    let service = serve(0).await;
    // An unmasked frame, a reserved opcode, text that is no UTF-8.
    for (frame, code) in [
        (&b"\x81\x01a"[..], 1002),
        (&b"\x83\x80\x00\x00\x00\x00"[..], 1002),
        (&b"\x81\x81\x00\x00\x00\x00\xff"[..], 1007),
    ] {
        let mut ws = Ws::open(service.address(), "/ws/echo", "").await.ok().unwrap();
        ws.stream.write_all(frame).await.unwrap();
        assert_eq!(ws.closed().await, Some(code));
    }
    assert_eq!(metric(&service.metrics(), "chat_protocol_violations_total"), 3);
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_sent() {
    let service = serve(1).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for id in ["7", "\"7a\"", "12345678901234567890123", "[1]", "null"] {
        ws.text(&format!(r#"{{"type":"send","content":"x","id":{id}}}"#)).await;
        let ack = [ws.next_text().await, ws.next_text().await].into_iter().find(|text| text.contains("ack"));
        assert!(ack.as_ref().unwrap().contains(&format!(r#""id":{id},"#)), "{id}: {ack:?}");
        ws.text(&format!(r#"{{"type":"send","id":{id}}}"#)).await;
        let refusal = ws.next_text().await;
        assert!(refusal.contains(&format!(r#""id":{id},"#)), "{id}: {refusal}");
    }
}

#[tokio::test]
async fn a_content_is_passed_on_and_kept_as_it_was_written() {
    let service = serve(1).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut raw = Ws::in_room(at, "lobby", token).await;
    let mut sio = Sio::in_room(at, "lobby", token).await;
    let content = r#"{"n":12345678901234567890123,"f":1.10,"e":1E400,"t":"\u00e9","n":1}"#;
    raw.text(&format!(r#"{{"type":"send","content":{content}}}"#)).await;
    assert!(sio.ws.next_text().await.contains(content));
    sio.ws.text(&format!(r#"42["sendMessage",{{"content":{content}}}]"#)).await;
    assert!(sio.ws.next_text().await.contains(content));
    sio.ws.text(&format!(r#"42["sendMessage",{content}]"#)).await;
    assert!(sio.ws.next_text().await.contains(content));
    // `null` is a content like any other; only where there is none is it missing.
    raw.text(r#"{"type":"send","content":null}"#).await;
    assert!(sio.ws.next_text().await.contains(r#""content":null"#));
    for null in [r#"{"content":null}"#, "null"] {
        sio.ws.text(&format!(r#"42["sendMessage",{null}]"#)).await;
        assert!(sio.ws.next_text().await.contains(r#""content":null"#));
    }
    let page = get(at, "/rooms/lobby/messages", token).await.body;
    assert_eq!(page.matches(content).count(), 3, "{page}");
    assert_eq!(page.matches(r#""content":null"#).count(), 3, "{page}");
}
