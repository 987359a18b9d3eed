//! Engine.IO 3 and Socket.IO 2's protocol 4, byte by byte: what clients of Socket.IO 1 and 2 speak.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service};
use sonagi_wire::websocket::Opcode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Got, Reply, Ws, get, metric, post, request, serve, within};
use crate::socketio_client::{Sio, new_message};

const ECHO: &str = "/engine.io/?EIO=3&transport=polling";
const ECHO_WS: &str = "/engine.io/?EIO=3&transport=websocket";
const CHAT: &str = "/socket.io/?EIO=3&transport=polling";
const CHAT_WS: &str = "/socket.io/?EIO=3&transport=websocket";

async fn suite() -> Service {
    sonagi_chat::start(Config { protocol_suite: true, seed_users: 2, ..Config::default() }).await.unwrap()
}

/// The packets of a text body.
fn packets(body: &str) -> Vec<String> {
    let (mut packets, mut rest) = (Vec::new(), body);
    while !rest.is_empty() {
        let (length, after) = rest.split_once(':').unwrap();
        let (mut units, length) = (0, length.parse::<usize>().unwrap());
        let end = after.char_indices().find_map(|(at, c)| {
            let here = (units == length).then_some(at);
            units += c.len_utf16();
            here
        });
        let (packet, after) = after.split_at(end.unwrap_or(after.len()));
        assert_eq!(packet.encode_utf16().count(), length, "{body}");
        packets.push(packet.to_owned());
        rest = after;
    }
    packets
}

/// Opens a polled session and returns the path of its requests.
async fn open(at: SocketAddr, path: &str) -> String {
    let opened = get(at, path, "").await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    let handshake: Value = serde_json::from_str(&packets(&opened.body)[0][1..]).unwrap();
    format!("{path}&sid={}", handshake["sid"].as_str().unwrap())
}

async fn socket(at: SocketAddr, path: &str) -> Ws {
    let mut ws = Ws::open(at, path, "").await.ok().unwrap();
    assert!(ws.next_text().await.starts_with("0{"));
    ws
}

/// A request whose body, and whose answer's, is any bytes.
async fn bytes(at: SocketAddr, method: &str, path: &str, kind: &str, body: &[u8]) -> (Reply, Vec<u8>) {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: chat\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
    let mut all = Vec::new();
    within("an answer", stream.read_to_end(&mut all)).await.unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (Reply { status, head, body: String::new() }, all[end + 4..].to_vec())
}

#[tokio::test]
async fn the_handshake_is_behind_its_length_and_the_main_namespace_comes_unasked() {
    let service = serve(1).await;
    let at = service.address();
    let opened = get(at, CHAT, "").await;
    let found = packets(&opened.body);
    let handshake: Value = serde_json::from_str(&found[0][1..]).unwrap();
    let json = format!(
        r#"{{"sid":{},"upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000}}"#,
        handshake["sid"]
    );
    assert_eq!(opened.body, format!("{}:0{json}2:40", json.len() + 1));
    assert_eq!(opened.header("content-type"), Some("text/plain; charset=UTF-8"));
    let mut ws = Ws::open(at, CHAT_WS, "").await.ok().unwrap();
    let handshake: Value = serde_json::from_str(&ws.next_text().await[1..]).unwrap();
    assert_eq!((&handshake["upgrades"], &handshake["maxPayload"]), (&json!([]), &Value::Null));
    assert_eq!(ws.next_text().await, "40");
    assert_eq!(metric(&service.metrics(), "chat_socketio_connected"), 2);
}

#[tokio::test]
async fn lengths_count_utf_16_units_in_both_directions() {
    let service = suite().await;
    let at = service.address();
    let session = open(at, &format!("{ECHO}&b64=1")).await;
    let body = "6:4hello4:4소나기3:4\u{1f327}1:410:b4AQIDBA==";
    assert_eq!(post(at, &session, "", body).await.body, "ok");
    assert_eq!(get(at, &session, "").await.body, body);
    // A length that ends in the middle of a character, or beyond the body; no length; nothing.
    for broken in ["2:4\u{1f327}", "9:4hello", "4hello", ":4", "1:4x", ""] {
        let session = open(at, ECHO).await;
        let posted = post(at, &session, "", broken).await;
        assert_eq!((posted.status, &posted.json()["code"]), (400, &3.into()), "{broken}");
        assert_eq!(get(at, &session, "").await.json()["code"], 1, "{broken}");
    }
}

#[tokio::test]
async fn binary_travels_in_a_binary_body_unless_the_client_takes_only_text() {
    let service = suite().await;
    let at = service.address();
    let binary = b"\x00\x06\xff4hello\x01\x05\xff\x04\x01\x02\x03\xfe\x00\x04\xff4\xeb\xb9\x84";
    let session = open(at, ECHO).await;
    let (posted, answer) = bytes(at, "POST", &session, "application/octet-stream", binary).await;
    assert_eq!((posted.status, answer.as_slice()), (200, &b"ok"[..]));
    let (polled, answer) = bytes(at, "GET", &session, "text/plain", b"").await;
    assert_eq!(polled.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer, binary);
    // Without a binary packet in it a body is text.
    bytes(at, "POST", &session, "application/octet-stream", b"\x00\x06\xff4hello").await;
    let text = get(at, &session, "").await;
    assert_eq!(
        (text.body.as_str(), text.header("content-type")),
        ("6:4hello", Some("text/plain; charset=UTF-8"))
    );

    let session = open(at, &format!("{ECHO}&b64=1")).await;
    bytes(at, "POST", &session, "application/octet-stream", binary).await;
    assert_eq!(get(at, &session, "").await.body, "6:4hello10:b4AQID/g==2:4비");
    for broken in
        [&b"\x02\x01\xff4"[..], b"\x00\xff4", b"\x00\x02\xff4", b"\x01\x01\xff\x03", b"\x00\x02\xff4\xff"]
    {
        let session = open(at, ECHO).await;
        let (posted, _) = bytes(at, "POST", &session, "application/octet-stream", broken).await;
        assert_eq!(posted.status, 400, "{broken:?}");
    }
}

#[tokio::test]
async fn a_browser_without_cross_origin_requests_polls_by_script_and_posts_forms() {
    let service = suite().await;
    let at = service.address();
    let path = format!("{ECHO}&j=7&b64=1");
    let opened = get(at, &path, "").await;
    assert_eq!(opened.header("content-type"), Some("text/javascript; charset=UTF-8"));
    let argument = opened.body.strip_prefix("___eio[7](").unwrap().strip_suffix(");").unwrap();
    let body: String = serde_json::from_str(argument).unwrap();
    let handshake: Value = serde_json::from_str(&packets(&body)[0][1..]).unwrap();
    let session = format!("{path}&sid={}", handshake["sid"].as_str().unwrap());
    // `9:4a"\n<line end>&+ ` as a form has it: a line end is written as a backslash and an n, those two with one more.
    let form = "application/x-www-form-urlencoded";
    let (posted, answer) = bytes(at, "POST", &session, form, b"d=9%3A4a%22%5C%5Cn%5Cn%26%2B+").await;
    assert_eq!((answer.as_slice(), posted.header("content-type")), (&b"ok"[..], Some("text/html")));
    let polled = get(at, &session, "").await;
    assert_eq!(polled.body, r#"___eio[7]("9:4a\"\\n\n&+ ");"#);
    let (posted, _) = bytes(at, "POST", &session, form, b"x=1").await;
    assert_eq!(posted.status, 400);
}

#[tokio::test]
async fn the_client_pings_and_the_server_answers_with_the_same_data() {
    let service = suite().await;
    let at = service.address();
    let session = open(at, ECHO).await;
    post(at, &session, "", "1:24:2abc").await;
    assert_eq!(get(at, &session, "").await.body, "1:34:3abc");
    let mut ws = socket(at, ECHO_WS).await;
    ws.text("2").await;
    assert_eq!(ws.next_text().await, "3");
    // A pong answers nothing.
    ws.text("3").await;
    assert_eq!(ws.closed().await, Some(1002));
    assert_eq!(post(at, &session, "", "1:3").await.status, 400);
}

#[tokio::test]
async fn a_client_that_is_silent_for_an_interval_and_a_timeout_is_dead_and_one_that_pings_is_not() {
    let limits = Limits {
        ping_interval: Duration::from_millis(300),
        ping_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let config = Config { protocol_suite: true, limits, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let at = service.address();
    let mut alive = socket(at, ECHO_WS).await;
    let polled = open(at, ECHO).await;
    let mut silent = socket(at, ECHO_WS).await;
    let mut end = tokio::spawn(async move { (silent.next().await, tokio::time::Instant::now()) });
    let opened = tokio::time::Instant::now();
    // It was there first: without its pings it would be dead by then, too.
    let (close, ended) = loop {
        alive.text("2").await;
        assert_eq!(alive.next_text().await, "3");
        tokio::select! {
            ended = &mut end => break ended.unwrap(),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    };
    // And no ping of ours before.
    assert_eq!(close, Got::Close(Some(4004)));
    assert!(ended - opened > Duration::from_millis(400), "{:?}", ended - opened);
    alive.text("4hello").await;
    assert_eq!(alive.next_text().await, "4hello");
    assert_eq!(get(at, &polled, "").await.json()["code"], 1);
    assert_eq!(metric(&service.metrics(), "chat_dead_peers_total"), 2);
}

#[tokio::test]
async fn a_session_is_upgraded_with_a_probe_and_stays_in_its_protocol() {
    let service = suite().await;
    let at = service.address();
    let session = open(at, ECHO).await;
    let sid = session.rsplit('=').next().unwrap();
    let other = format!("/engine.io/?EIO=4&transport=polling&sid={sid}");
    assert_eq!(get(at, &other, "").await.json()["code"], 3);
    let mut ws = Ws::open(at, &format!("{ECHO_WS}&sid={sid}"), "").await.ok().unwrap();
    ws.text("2probe").await;
    assert_eq!(ws.next_text().await, "3probe");
    assert_eq!(get(at, &session, "").await.body, "1:6");
    bytes(at, "POST", &session, "application/octet-stream", b"\x00\x07\xff4queued\x01\x02\xff\x04\x09").await;
    ws.text("5").await;
    assert_eq!(ws.next_text().await, "4queued");
    assert_eq!(ws.next().await, Got::Binary(vec![4, 9]));
    ws.frame(Opcode::Binary, &[4, 1, 2]).await;
    assert_eq!(ws.next().await, Got::Binary(vec![4, 1, 2]));
    ws.text("b4AQI=").await;
    assert_eq!(ws.next().await, Got::Binary(vec![4, 1, 2]), "base64 is understood without being asked for");
    assert_eq!(get(at, &session, "").await.json()["code"], 3);
    ws.frame(Opcode::Binary, &[3, 1]).await;
    assert_eq!(ws.closed().await, Some(1002));
}

#[tokio::test]
async fn a_close_packet_and_a_session_that_ends_are_written_in_the_protocol() {
    let service = suite().await;
    let at = service.address();
    let session = open(at, ECHO).await;
    assert_eq!(post(at, &session, "", "1:1").await.body, "ok");
    // The poll that may have been sent beside it; then it is gone.
    assert_eq!(get(at, &session, "").await.body, "1:6");
    assert_eq!(get(at, &session, "").await.json()["code"], 1);
    let session = open(at, ECHO).await;
    let mut stream = TcpStream::connect(at).await.unwrap();
    let poll = format!("GET {session} HTTP/1.1\r\nHost: chat\r\n\r\n");
    stream.write_all(poll.as_bytes()).await.unwrap();
    within("the poll's arrival", async {
        while metric(&service.metrics(), "chat_requests_total") < 6 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let drained = tokio::spawn(service.drain(Duration::from_secs(5)));
    let ended = within("the last poll", crate::client::read_reply(&mut stream)).await.unwrap();
    assert_eq!((ended.status, ended.body.as_str()), (200, "1:1"));
    drop(stream);
    within("the drain", drained).await.unwrap();
}

#[tokio::test]
async fn the_token_is_in_the_query_or_the_header_and_a_wrong_one_is_an_error_packet() {
    let service = serve(2).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let header = format!("Authorization: Bearer {token}\r\n");
    for (path, headers) in [(format!("{CHAT_WS}&token={token}"), ""), (CHAT_WS.to_owned(), header.as_str())] {
        let mut ws = Ws::open(at, &path, headers).await.ok().unwrap();
        ws.next_text().await;
        assert_eq!(ws.next_text().await, "40");
        ws.text(r#"420["joinRoom",{"roomId":"lobby"}]"#).await;
        assert_eq!(ws.next_text().await, r#"430[{"ok":true,"room":"lobby","seq":0}]"#);
    }
    let mut ws = socket(at, &format!("{CHAT_WS}&token=made-up")).await;
    assert_eq!(ws.next_text().await, r#"44"unauthorized""#);
    // What it was refused it may not use.
    ws.text(r#"420["joinRoom","lobby"]"#).await;
    assert_eq!(ws.closed().await, Some(1002));
    let mut nobody = socket(at, CHAT_WS).await;
    assert_eq!(nobody.next_text().await, "40");
    nobody.text(r#"420["joinRoom","lobby"]"#).await;
    let refused = nobody.next_text().await;
    assert!(refused.starts_with(r#"430[{"ok":false,"error":{"code":"unauthorized","#), "{refused}");
}

#[tokio::test]
async fn who_asks_for_the_main_namespace_again_gets_the_same_answer_and_stays_in_its_rooms() {
    let service = serve(1).await;
    let token = &service.credentials()[0].token;
    let mut ws = socket(service.address(), &format!("{CHAT_WS}&token={token}")).await;
    ws.next_text().await;
    ws.text(r#"420["joinRoom","lobby"]"#).await;
    ws.next_text().await;
    ws.text("40").await;
    assert_eq!(ws.next_text().await, "40");
    ws.text(r#"42["sendMessage",{"roomId":"lobby","content":1}]"#).await;
    assert_eq!(new_message(&ws.next_text().await).unwrap()["seq"], 1);
    // In protocol 4 a CONNECT has no payload.
    ws.text(r#"40{"token":"x"}"#).await;
    assert_eq!(ws.closed().await, Some(1002));
}

#[tokio::test]
async fn namespaces_take_a_query_and_refusals_are_json_strings() {
    let service = suite().await;
    let mut ws = socket(service.address(), CHAT_WS).await;
    assert_eq!([ws.next_text().await, ws.next_text().await], ["40", r#"42["auth",{}]"#]);
    ws.text("40/custom?token=a%20b&x,").await;
    assert_eq!(ws.next_text().await, "40/custom,");
    assert_eq!(ws.next_text().await, r#"42/custom,["auth",{"token":"a b","x":""}]"#);
    ws.text(r#"42/custom,7["message-with-ack",1,"2"]"#).await;
    assert_eq!(ws.next_text().await, r#"43/custom,7[1,"2"]"#);
    ws.text("40/random,").await;
    assert_eq!(ws.next_text().await, r#"44/random,"Invalid namespace""#);
    ws.text("41/custom,").await;
    ws.text(r#"42["message","still here"]"#).await;
    assert_eq!(ws.next_text().await, r#"42["message-back","still here"]"#);
}

#[tokio::test]
async fn attachments_come_in_the_binary_form_of_each_transport() {
    let service = suite().await;
    let at = service.address();
    let event = r#"451-["message",{"_placeholder":true,"num":0}]"#;
    let back = r#"451-["message-back",{"_placeholder":true,"num":0}]"#;
    for (path, frames) in [
        (CHAT_WS.to_owned(), [Got::Text(back.into()), Got::Binary(vec![4, 1, 2, 3])]),
        (format!("{CHAT_WS}&b64=1"), [Got::Text(back.into()), Got::Text("b4AQID".into())]),
    ] {
        let mut ws = socket(at, &path).await;
        assert_eq!([ws.next_text().await, ws.next_text().await], ["40", r#"42["auth",{}]"#]);
        ws.text(event).await;
        ws.frame(Opcode::Binary, &[4, 1, 2, 3]).await;
        assert_eq!([ws.next().await, ws.next().await], frames);
    }
    let session = open(at, &format!("{CHAT}&b64=1")).await;
    let posted = post(at, &session, "", &format!("{}:{event}8:b4AQID==", event.len())).await;
    assert_eq!(posted.status, 400, "base64 padded too far");
    let session = open(at, &format!("{CHAT}&b64=1")).await;
    post(at, &session, "", &format!("{}:{event}6:b4AQID", event.len())).await;
    assert_eq!(get(at, &session, "").await.body, format!("{}:{back}6:b4AQID", back.len()));
}

#[tokio::test]
async fn members_of_both_protocols_and_all_transports_hear_the_same() {
    let service = serve(3).await;
    let (at, users) = (service.address(), service.credentials());
    let mut four = Sio::in_room(at, "lobby", &users[0].token).await;
    let mut three = socket(at, &format!("{CHAT_WS}&token={}", users[1].token)).await;
    three.next_text().await;
    three.text(r#"420["joinRoom","lobby"]"#).await;
    three.next_text().await;
    let polled = open(at, &format!("{CHAT}&token={}", users[2].token)).await;
    post(at, &polled, "", r#"23:420["joinRoom","lobby"]"#).await;
    assert_eq!(packets(&get(at, &polled, "").await.body), [r#"430[{"ok":true,"room":"lobby","seq":0}]"#]);
    let text = r#"421["sendMessage",{"roomId":"lobby","content":"비 ☔ 🌧"}]"#;
    post(at, &polled, "", &format!("{}:{text}", text.encode_utf16().count())).await;
    let heard = four.ws.next_text().await;
    assert_eq!(new_message(&heard).unwrap()["content"], "비 ☔ 🌧");
    assert_eq!(three.next_text().await, heard);
    let mut got = packets(&get(at, &polled, "").await.body);
    if got.len() < 2 {
        got.extend(packets(&get(at, &polled, "").await.body));
    }
    got.sort();
    assert_eq!(got, [heard, r#"431[{"ok":true,"seq":1}]"#.to_owned()]);
}

#[tokio::test]
async fn versions_that_are_neither_are_refused() {
    let service = suite().await;
    for version in ["2", "5", "33", "abc", ""] {
        for path in ["engine.io", "socket.io"] {
            let path = format!("/{path}/?EIO={version}&transport=polling");
            let refused = request(service.address(), "GET", &path, "", "").await;
            assert_eq!((refused.status, &refused.json()["code"]), (400, &5.into()), "{path}");
        }
    }
}
