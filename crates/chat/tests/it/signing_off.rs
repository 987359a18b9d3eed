//! Whoever signs off on a connection leaves nothing of itself there for who signs on next.

use std::time::Duration;

use sonagi_chat::{Config, Service};

use crate::client::{Ws, get, post};
use crate::socketio_client::{PATH, Sio, polled};
use crate::stomp_client::Stomp;

/// What a client hears of a join of `dm-1-2` and of a send into it, asked with the numbers 8 and 9.
const REFUSED: [&str; 2] = [
    r#"438[{"ok":false,"error":{"code":"unauthorized","#,
    r#"439[{"ok":false,"error":{"code":"unauthorized","#,
];
const INTRUDE: [&str; 2] = [
    r#"428["joinRoom","dm-1-2"]"#,
    r#"429["sendMessage",{"roomId":"dm-1-2","content":"as whoever was here before"}]"#,
];

/// A service of three users with a room of the first two.
async fn with_a_private_room(config: Config) -> Service {
    let service = sonagi_chat::start(Config { seed_users: 3, ..config }).await.unwrap();
    let token = &service.credentials()[0].token;
    let made = post(service.address(), "/rooms/find-or-create", token, r#"{"friendId":2}"#).await;
    assert_eq!(made.json()["roomId"], "dm-1-2");
    service
}

#[tokio::test]
async fn whoever_connects_again_without_a_token_is_nobody_by_websocket() {
    let service = with_a_private_room(Config::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut sio = Sio::in_room(at, "dm-1-2", &users[0].token).await;
    sio.ws.text("41").await;
    sio.ws.text("40").await;
    assert!(sio.ws.next_text().await.starts_with(r#"40{"sid":"#));
    for (intrude, refused) in INTRUDE.into_iter().zip(REFUSED) {
        sio.ws.text(intrude).await;
        let told = sio.ws.next_text().await;
        assert!(told.starts_with(refused), "{told}");
    }
    // And with another's token it is the other, who is not let in either.
    sio.ws.text("41").await;
    sio.ws.text(&format!(r#"40{{"token":"{}"}}"#, users[2].token)).await;
    assert!(sio.ws.next_text().await.starts_with(r#"40{"sid":"#));
    sio.ws.text(INTRUDE[0]).await;
    let told = sio.ws.next_text().await;
    assert!(told.starts_with(r#"438[{"ok":false,"error":{"code":"forbidden","#), "{told}");
}

#[tokio::test]
async fn whoever_connects_again_without_a_token_is_nobody_by_polling() {
    let service = with_a_private_room(Config::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let session = polled(at, "EIO=4").await;
    post(at, &session, "", &format!("40{{\"token\":\"{}\"}}\u{1e}41\u{1e}40", users[0].token)).await;
    let granted = get(at, &session, "").await.body;
    assert_eq!(granted.matches(r#"40{"sid":"#).count(), 2, "{granted}");
    post(at, &session, "", &INTRUDE.join("\u{1e}")).await;
    let told = get(at, &session, "").await.body;
    let told: Vec<&str> = told.split('\u{1e}').collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().zip(REFUSED).all(|(told, refused)| told.starts_with(refused)), "{told:?}");
}

#[tokio::test]
async fn whoever_was_recovered_and_connects_again_without_a_token_is_nobody() {
    let recovery = Some(Duration::from_secs(60));
    let service = with_a_private_room(Config { recovery, ..Config::default() }).await;
    let (at, users) = (service.address(), service.credentials());
    let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
    ws.next_text().await;
    ws.text(&format!(r#"40{{"token":"{}"}}"#, users[0].token)).await;
    let granted: serde_json::Value = serde_json::from_str(&ws.next_text().await[2..]).unwrap();
    drop(ws);
    let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
    ws.next_text().await;
    ws.text(&format!(r#"40{{"pid":{}}}"#, granted["pid"])).await;
    let recovered: serde_json::Value = serde_json::from_str(&ws.next_text().await[2..]).unwrap();
    assert_eq!(recovered, granted);
    ws.text("41").await;
    // The private id went with the session, too.
    ws.text(&format!(r#"40{{"pid":{}}}"#, granted["pid"])).await;
    assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
    ws.text(INTRUDE[0]).await;
    let told = ws.next_text().await;
    assert!(told.starts_with(REFUSED[0]), "{told}");
}

#[tokio::test]
async fn a_token_for_another_namespace_opens_nothing_in_the_first() {
    let service = with_a_private_room(Config { protocol_suite: true, ..Config::default() }).await;
    let mut ws = Ws::open(service.address(), PATH, "").await.ok().unwrap();
    ws.next_text().await;
    ws.text(&format!(r#"40/custom,{{"token":"{}"}}"#, service.credentials()[0].token)).await;
    assert!(ws.next_text().await.starts_with(r#"40/custom,{"sid":"#));
    ws.next_text().await;
    ws.text("40").await;
    assert!(ws.next_text().await.starts_with(r#"40{"sid":"#));
    ws.next_text().await;
    ws.text(INTRUDE[0]).await;
    let told = ws.next_text().await;
    assert!(told.starts_with(REFUSED[0]), "{told}");
}

#[tokio::test]
async fn a_socket_io_2_client_that_connects_again_is_whom_its_handshake_names() {
    let service = with_a_private_room(Config::default()).await;
    let (at, users) = (service.address(), service.credentials());
    for (token, refused) in
        [(format!("&token={}", users[0].token), r#"438[{"ok":true,"#), (String::new(), REFUSED[0])]
    {
        let path = format!("/socket.io/?EIO=3&transport=websocket{token}");
        let mut ws = Ws::open(at, &path, "").await.ok().unwrap();
        assert!(ws.next_text().await.starts_with("0{"));
        assert_eq!(ws.next_text().await, "40");
        ws.text("41").await;
        ws.text("40").await;
        assert_eq!(ws.next_text().await, "40");
        ws.text(INTRUDE[0]).await;
        let told = ws.next_text().await;
        assert!(told.starts_with(refused), "{told}");
    }
}

#[tokio::test]
async fn what_follows_a_stomp_disconnect_is_nobody_s_and_not_looked_at() {
    let service = with_a_private_room(Config::default()).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    for path in ["/location", "/location/000/session/websocket"] {
        let mut stomp = Stomp::connect_to(at, path, "1.2", &format!("login:{token}\n")).await;
        stomp.frame("DISCONNECT\nreceipt:bye\n\n").await;
        stomp.frame("CONNECT\naccept-version:1.2\nhost:chat\n\n").await;
        stomp.frame("SUBSCRIBE\nid:s\nreceipt:in\ndestination:/sub/room/dm-1-2\n\n").await;
        stomp.frame("SEND\nreceipt:said\ndestination:/pub/room/dm-1-2\n\n1").await;
        assert_eq!(stomp.next().await.header("receipt-id"), Some("bye"));
        assert!(stomp.next_if_any().await.is_err(), "{path}");
    }
    let said = get(at, "/rooms/dm-1-2/messages", token).await.json();
    assert_eq!(said["messages"], serde_json::json!([]));
}
