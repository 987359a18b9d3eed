//! Location groups, which anybody may make: how many, and how long they last.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sonagi_chat::{Config, Limits, Service, StoreLocation};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::client::{Reply, Ws, get, post, read_reply, within};

async fn serve(file: &Path, limits: Limits) -> Service {
    let store = StoreLocation::File(file.to_owned());
    sonagi_chat::start(Config { seed_users: 2, store, limits, ..Config::default() }).await.unwrap()
}

async fn notify(at: SocketAddr, group: &str, token: &str) -> Reply {
    post(at, &format!("/location/long/{group}/notify"), token, "1").await
}

/// The same, by a client of this address.
async fn notify_from(from: [u8; 4], at: SocketAddr, group: &str) -> Reply {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(at).await.unwrap();
    let text =
        format!("POST /location/long/{group}/notify HTTP/1.1\r\nHost: chat\r\nContent-Length: 1\r\n\r\n1");
    stream.write_all(text.as_bytes()).await.unwrap();
    within("an HTTP answer", read_reply(&mut stream)).await.unwrap()
}

#[tokio::test]
async fn one_address_holds_its_share_of_the_groups_however_it_asks_for_them() {
    let limits = Limits { groups_per_address: 3, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    for group in ["1", "2", "3", "1"] {
        assert_eq!(notify(at, group, "").await.status, 200, "{group}");
    }
    let refused = notify(at, "4", "").await;
    assert_eq!((refused.status, refused.error_code().as_str()), (409, "too_many_rooms"));
    assert_eq!(refused.json()["error"]["message"], "one address may hold 3 location groups");
    for path in ["/cur/4", "/location/long/4", "/location/sse/connect?group=4", "/rooms/location:4/messages"]
    {
        assert_eq!(get(at, path, token).await.status, 409, "{path}");
    }
    assert_eq!(Ws::open(at, "/ws?room=location:4", "").await.err().unwrap().status, 409);
    let mut ws = Ws::open(at, "/ws", "").await.ok().unwrap();
    for frame in
        [r#"{"type":"join","room":"location:4"}"#, r#"{"type":"send","room":"location:4","content":1}"#]
    {
        ws.text(frame).await;
        assert_eq!(ws.json().await["code"], "too_many_rooms", "{frame}");
    }
    // Others have theirs, and users their rooms.
    assert_eq!(notify_from([127, 0, 0, 2], at, "4").await.status, 200);
    assert_eq!(post(at, "/rooms/find-or-create", token, r#"{"name":"more"}"#).await.status, 200);
}

#[tokio::test]
async fn a_group_that_nobody_uses_is_forgotten_here_and_in_the_store_and_a_private_or_used_room_never() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let idle = Limits { group_idle: Duration::from_millis(100), groups_per_address: 4, ..Limits::default() };
    let service = serve(&file, idle.clone()).await;
    let (at, token) = (service.address(), service.credentials()[0].token.clone());
    post(at, "/rooms/find-or-create", &token, r#"{"friendId":2}"#).await;
    let mut private = Ws::in_room(at, "dm-1-2", &token).await;
    private.say("kept", "").await;
    private.json_of("ack").await;
    let mut held = Ws::open(at, "/ws?room=location:held", "").await.ok().unwrap();
    held.json_of("joined").await;
    held.say("1", "").await;
    for (group, token) in [("a", ""), ("b", ""), ("used", ""), ("used", token.as_str())] {
        assert_eq!(notify(at, group, token).await.status, 200, "{group}");
    }
    within("the share to be free again", async {
        while notify(at, "c", "").await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The next group waits for the other of the two.
    within("the rest of it", async {
        while notify(at, "d", "").await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    held.say("2", "").await;
    assert_eq!(held.json_of("ack").await["seq"], 1);
    assert_eq!(held.json_of("ack").await["seq"], 2, "somebody is there");
    drop((held, private));
    service.drain(Duration::ZERO).await;
    let db = rusqlite::Connection::open(&file).unwrap();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM rooms WHERE id IN ('location:a', 'location:b')"), 0);
    assert_eq!(count("SELECT count(*) FROM messages WHERE room NOT IN (SELECT key FROM rooms)"), 0);
    drop(db);

    let service = serve(&file, Limits { group_idle: Duration::from_secs(3600), ..idle }).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let said = async |path: &str| get(at, path, token).await.json()["messages"].as_array().unwrap().len();
    assert_eq!((said("/cur/a").await, said("/cur/b").await), (0, 0));
    assert_eq!((said("/cur/used").await, said("/rooms/dm-1-2/messages").await), (2, 1));
    assert_eq!(notify(at, "a", "").await.json(), json!({"ok": true, "seq": 1}));
}

#[tokio::test]
async fn a_store_has_one_service_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let first = serve(&file, Limits::default()).await;
    let store = StoreLocation::File(folder.path().join(".").join("chat.db"));
    let refused = sonagi_chat::start(Config { store, ..Config::default() }).await.err().unwrap().to_string();
    let name = file.canonicalize().unwrap();
    let expected = format!(
        "cannot open the message store {}: one service at a time may use it, and process {} does\n\
         hint: stop that one, or give this one another file",
        name.display(),
        std::process::id()
    );
    assert_eq!(refused, expected);
    assert_eq!(notify(first.address(), "a", "").await.json()["seq"], 1, "the first one goes on");
    first.drain(Duration::ZERO).await;
    let second = serve(&file, Limits::default()).await;
    assert_eq!(notify(second.address(), "a", "").await.json()["seq"], 2);
}
