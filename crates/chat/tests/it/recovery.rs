//! Connection state recovery: a client that behaves as the official one does, on connections that break.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service};
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;

use crate::client::{Ws, get, metric, post, within};
use crate::socketio_client::{PATH, Sio};

async fn serve(limits: Limits) -> Service {
    let recovery = Some(Duration::from_secs(60));
    sonagi_chat::start(Config { seed_users: 3, recovery, limits, ..Config::default() }).await.unwrap()
}

/// What a client remembers between its connections.
#[derive(Clone, Default)]
struct Memory {
    sid: String,
    pid: String,
    offset: Option<String>,
    recovered: bool,
    connected: bool,
    /// Events that came before the answer to CONNECT: like the official client it keeps them whatever happens.
    aside: Vec<String>,
    /// Rooms and numbers of the messages heard.
    heard: Vec<(String, u64)>,
}

impl Memory {
    fn connect(&mut self, auth: &Value) -> String {
        self.connected = false;
        let mut auth = auth.clone();
        if !self.pid.is_empty() {
            auth["pid"] = self.pid.as_str().into();
        }
        if let Some(offset) = &self.offset {
            auth["offset"] = offset.as_str().into();
        }
        format!("40{auth}")
    }

    /// Takes a frame in; what it answers a CONNECT with becomes who the client is.
    fn hear(&mut self, text: &str) {
        if let Some(granted) = text.strip_prefix("40") {
            let granted: Value = serde_json::from_str(granted).unwrap();
            let pid = granted["pid"].as_str().unwrap().to_owned();
            self.recovered = pid == self.pid;
            (self.sid, self.pid) = (granted["sid"].as_str().unwrap().to_owned(), pid);
            self.connected = true;
            std::mem::take(&mut self.aside).iter().for_each(|event| self.hear(event));
        } else if text.starts_with("42") && !self.connected {
            self.aside.push(text.to_owned());
        } else if let Some(event) = text.strip_prefix("42") {
            let event: Value = serde_json::from_str(event).unwrap();
            assert_eq!(event[0], "newMessage");
            let message = &event[1];
            self.heard
                .push((message["roomId"].as_str().unwrap().to_owned(), message["seq"].as_u64().unwrap()));
            if let Some(offset) = event[2].as_str() {
                self.offset = Some(offset.to_owned());
            }
        }
    }

    fn numbers(&self, room: &str) -> Vec<u64> {
        self.heard.iter().filter(|(of, _)| of == room).map(|(_, seq)| *seq).collect()
    }
}

/// A connection of that client.
struct Conn {
    ws: Ws,
    me: Memory,
}

impl Conn {
    /// Connected, as whoever the service says it is.
    async fn open(at: SocketAddr, me: Memory, auth: &Value) -> Conn {
        let mut conn = Conn { ws: Ws::open(at, PATH, "").await.ok().unwrap(), me };
        conn.ws.next_text().await;
        conn.ws.text(&conn.me.connect(auth)).await;
        while !conn.take().await.starts_with("40") {}
        conn
    }

    async fn take(&mut self) -> String {
        let text = self.ws.next_text().await;
        self.me.hear(&text);
        text
    }

    /// Emits with an acknowledgement and returns that.
    async fn ask(&mut self, event: &str, argument: Value) -> Value {
        self.ws.text(&format!(r#"421["{event}",{argument}]"#)).await;
        loop {
            if let Some(ack) = self.take().await.strip_prefix("431[") {
                return serde_json::from_str(ack.strip_suffix(']').unwrap()).unwrap();
            }
        }
    }

    async fn join(&mut self, room: &str) -> Value {
        self.ask("joinRoom", json!({"roomId": room})).await
    }

    async fn hear(&mut self, count: usize) {
        while self.me.heard.len() < count {
            self.take().await;
        }
    }
}

async fn say(speaker: &mut Sio, room: &str) -> u64 {
    let ack = speaker.emit("sendMessage", &json!({"roomId": room, "content": "x"})).await;
    ack["seq"].as_u64().unwrap()
}

/// Returns once the service has seen the end of a connection, so many being left.
async fn left(service: &Service, connections: u64) {
    within("the end of a connection", async {
        while metric(&service.metrics(), "chat_connections{transport=\"websocket\"}") > connections {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn broadcasts_have_an_offset_and_sessions_a_private_id_only_where_they_can_be_recovered() {
    for recovery in [None, Some(Duration::from_secs(60))] {
        let service = sonagi_chat::start(Config { recovery, ..Config::default() }).await.unwrap();
        let mut ws = Ws::open(service.address(), PATH, "").await.ok().unwrap();
        ws.next_text().await;
        ws.text("40").await;
        let granted: Value = serde_json::from_str(&ws.next_text().await[2..]).unwrap();
        assert_eq!(granted["sid"].as_str().unwrap().len(), 30);
        assert_eq!(granted["pid"].is_string(), recovery.is_some());
        ws.text(r#"42["joinRoom","location:1"]"#).await;
        ws.text(r#"42["sendMessage",{"roomId":"location:1","content":7}]"#).await;
        let frame = ws.next_text().await;
        let event: Value = serde_json::from_str(frame.strip_prefix("42").unwrap()).unwrap();
        assert_eq!(
            (&event[1]["seq"], &event[1]["senderId"], &event[1]["content"]),
            (&1.into(), &0.into(), &7.into())
        );
        match recovery {
            None => assert_eq!(event.as_array().unwrap().len(), 2),
            Some(_) => {
                let (life, serial) = event[2].as_str().unwrap().split_once('.').unwrap();
                assert!(life.len() == 6 && life.bytes().all(|byte| byte.is_ascii_hexdigit()));
                assert_eq!(serial, "1");
                assert_eq!(event.as_array().unwrap().len(), 3);
            }
        }
    }
}

#[tokio::test]
async fn who_comes_back_is_who_it_was_where_it_was_and_first_hears_what_it_missed() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    let auth = json!({"token": users[1].token});
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    for room in ["lobby", "location:1", "location:left"] {
        assert_eq!(conn.join(room).await["seq"], 0);
    }
    conn.ask("leaveRoom", json!("location:left")).await;
    say(&mut speaker, "lobby").await;
    conn.hear(1).await;
    let before = conn.me.clone();
    drop(conn);
    left(&service, 1).await;
    for room in ["location:1", "lobby", "location:left", "location:1", "location:unknown"] {
        say(&mut speaker, room).await;
    }
    // Its private id is enough: it was shown the token for it.
    let mut conn = Conn::open(at, before.clone(), &json!({})).await;
    assert!(conn.me.recovered);
    assert_eq!(conn.me.sid, before.sid);
    conn.hear(4).await;
    let expected = [("lobby", 1), ("location:1", 1), ("lobby", 2), ("location:1", 2)];
    assert_eq!(conn.me.heard, expected.map(|(room, seq)| (room.to_owned(), seq)));
    // It is a member, and its user still.
    let ack = conn.ask("sendMessage", json!({"roomId": "lobby", "content": "back"})).await;
    assert_eq!(ack, json!({"ok": true, "seq": 3}));
    conn.hear(5).await;
    assert_eq!(conn.me.numbers("lobby"), [1, 2, 3]);
    let text = service.metrics();
    assert_eq!((metric(&text, "chat_recovered_total"), metric(&text, "chat_unrecovered_total")), (1, 0));
    assert_eq!(metric(&text, "chat_replayed_total"), 3);
}

#[tokio::test]
async fn who_heard_nothing_yet_is_owed_everything_since_it_joined() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    say(&mut speaker, "lobby").await;
    let auth = json!({"token": users[1].token});
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    assert_eq!(conn.join("lobby").await["seq"], 1);
    let mut me = conn.me.clone();
    drop(conn);
    left(&service, 1).await;
    say(&mut speaker, "lobby").await;
    // An offset of another life of the service says the same: nothing of this one.
    me.offset = Some("abcdef.900".into());
    let mut conn = Conn::open(at, me.clone(), &auth).await;
    assert!(conn.me.recovered);
    say(&mut speaker, "lobby").await;
    conn.hear(2).await;
    assert_eq!(conn.me.numbers("lobby"), [2, 3]);
    // Broken again before it heard of it: what it was given is owed still.
    drop(conn);
    left(&service, 1).await;
    let mut conn = Conn::open(at, me, &auth).await;
    assert!(conn.me.recovered);
    conn.hear(2).await;
    assert_eq!(conn.me.numbers("lobby"), [2, 3]);
}

#[tokio::test]
async fn a_connection_that_is_not_known_to_be_dead_is_taken_over() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    let auth = json!({"token": users[1].token});
    let mut old = Conn::open(at, Memory::default(), &auth).await;
    old.join("lobby").await;
    say(&mut speaker, "lobby").await;
    old.hear(1).await;
    let me = old.me.clone();
    // On its way, or in a buffer of a network that is gone.
    say(&mut speaker, "lobby").await;
    let mut new = Conn::open(at, me, &auth).await;
    assert!(new.me.recovered);
    assert_eq!(old.ws.closed().await, Some(1000));
    say(&mut speaker, "lobby").await;
    new.hear(3).await;
    assert_eq!(new.me.numbers("lobby"), [1, 2, 3]);
    assert_eq!(metric(&service.metrics(), "chat_socketio_connected"), 2);
}

#[tokio::test]
async fn by_polling_too_what_an_answer_under_way_took_with_it_is_given_again() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    let mut me = Memory::default();
    let auth = json!({"token": users[1].token});
    for round in 0..3 {
        let open = get(at, "/socket.io/?EIO=4&transport=polling", "").await;
        let handshake: Value = serde_json::from_str(&open.body[1..]).unwrap();
        let session =
            format!("/socket.io/?EIO=4&transport=polling&sid={}", handshake["sid"].as_str().unwrap());
        post(at, &session, "", &me.connect(&auth)).await;
        get(at, &session, "").await.body.split('\u{1e}').for_each(|packet| me.hear(packet));
        if round == 0 {
            post(at, &session, "", r#"42["joinRoom","lobby"]"#).await;
        }
        assert_eq!(me.recovered, round > 0);
        let before = me.heard.len();
        say(&mut speaker, "lobby").await;
        while me.heard.len() == before {
            get(at, &session, "").await.body.split('\u{1e}').for_each(|packet| me.hear(packet));
        }
        // Taken from the queue, and never heard.
        say(&mut speaker, "lobby").await;
        get(at, &session, "").await;
    }
    assert_eq!(me.numbers("lobby"), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn who_leaves_by_itself_or_breaks_the_protocol_begins_afresh() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let auth = json!({"token": users[1].token});
    for parting in ["41", "42{}"] {
        let mut conn = Conn::open(at, Memory::default(), &auth).await;
        conn.join("lobby").await;
        let me = conn.me.clone();
        conn.ws.text(parting).await;
        if parting == "41" {
            conn.ws.frame(Opcode::Close, &websocket::close_payload(1000, "")).await;
        }
        conn.ws.closed().await;
        let mut again = Conn::open(at, me.clone(), &auth).await;
        assert!(!again.me.recovered && again.me.sid != me.sid, "{parting}");
        assert_eq!(again.ask("leaveRoom", json!("lobby")).await["ok"], false);
    }
    // Another's token, and one that is none, recover nothing; whoever has a session closed in good order may come back.
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    conn.join("lobby").await;
    let mut me = conn.me.clone();
    conn.ws.frame(Opcode::Close, &websocket::close_payload(1001, "")).await;
    conn.ws.closed().await;
    let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
    ws.next_text().await;
    ws.text(&me.connect(&json!({"token": "made-up"}))).await;
    assert_eq!(ws.next_text().await, r#"44{"message":"unauthorized"}"#);
    let conn = Conn::open(at, me.clone(), &auth).await;
    assert!(conn.me.recovered);
    drop(conn);
    let conn = Conn::open(at, me, &json!({"token": users[2].token})).await;
    assert!(!conn.me.recovered);
}

#[tokio::test]
async fn who_missed_more_than_the_room_keeps_or_a_queue_should_hold_begins_afresh() {
    let service = serve(Limits { recent_messages: 4, queue_bytes: 2000, ..Limits::default() }).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    let auth = json!({"token": users[1].token});
    for (missed, recovered) in [(4, true), (5, false)] {
        let mut conn = Conn::open(at, Memory::default(), &auth).await;
        conn.join("lobby").await;
        say(&mut speaker, "lobby").await;
        conn.hear(1).await;
        let me = conn.me.clone();
        drop(conn);
        left(&service, 1).await;
        for _ in 0..missed {
            say(&mut speaker, "lobby").await;
        }
        let mut conn = Conn::open(at, me, &auth).await;
        assert_eq!(conn.me.recovered, recovered);
        conn.hear(if recovered { 5 } else { 1 }).await;
        // What is not recovered is in no room, and may come back by its cursor.
        assert_eq!(conn.ask("leaveRoom", json!("lobby")).await["ok"], recovered);
        drop(conn);
        left(&service, 1).await;
    }
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    for room in ["location:1", "location:2", "location:3"] {
        conn.join(room).await;
    }
    let me = conn.me.clone();
    drop(conn);
    left(&service, 1).await;
    for room in ["location:1", "location:2", "location:3"] {
        for _ in 0..3 {
            say(&mut speaker, room).await;
        }
    }
    let conn = Conn::open(at, me, &auth).await;
    assert!(!conn.me.recovered, "nine of them are over half of the queue");
    assert_eq!(metric(&service.metrics(), "chat_unrecovered_total"), 2);
}

#[tokio::test]
async fn who_joined_with_a_cursor_is_recovered_only_when_it_surely_has_what_it_was_given_for_it() {
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut speaker = Sio::connect(at, &users[0].token).await;
    for _ in 0..3 {
        say(&mut speaker, "lobby").await;
    }
    let auth = json!({"token": users[1].token});
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    conn.join("location:1").await;
    say(&mut speaker, "location:1").await;
    conn.hear(1).await;
    let joined = conn.ask("joinRoom", json!({"roomId": "lobby", "after": 1})).await;
    assert_eq!(joined, json!({"ok": true, "room": "lobby", "seq": 3, "gap": false}));
    conn.hear(3).await;
    assert_eq!(conn.me.numbers("lobby"), [2, 3]);
    let unsure = conn.me.clone();
    drop(conn);
    left(&service, 1).await;
    // Its last offset is of the other room and from before: whether it has the two, nobody here knows.
    let mut conn = Conn::open(at, unsure, &auth).await;
    assert!(!conn.me.recovered);
    conn.join("location:1").await;
    let joined = conn.ask("joinRoom", json!({"roomId": "lobby", "after": "3"})).await;
    assert_eq!((&joined["seq"], &joined["gap"]), (&3.into(), &false.into()));
    say(&mut speaker, "location:1").await;
    conn.hear(4).await;
    let sure = conn.me.clone();
    drop(conn);
    left(&service, 1).await;
    say(&mut speaker, "lobby").await;
    let mut conn = Conn::open(at, sure, &auth).await;
    assert!(conn.me.recovered);
    conn.hear(5).await;
    assert_eq!((conn.me.numbers("lobby"), conn.me.numbers("location:1")), (vec![2, 3, 4], vec![1, 2]));
    for (argument, code) in
        [(json!({"roomId": "lobby", "after": "x"}), "bad_request"), (json!({"after": 1}), "bad_request")]
    {
        assert_eq!(conn.ask("joinRoom", argument).await["error"]["code"], code);
    }
}

/// One connection that is cut after so many bytes from the service, wherever in a frame that is, or once it is `over`.
async fn cut_after(at: SocketAddr, me: &mut Memory, auth: &Value, mut bytes: usize, over: &Notify) {
    let mut ws = Ws::open(at, PATH, "").await.ok().unwrap();
    ws.text(&me.connect(auth)).await;
    let mut decoder = Decoder::new(Role::Client, 1 << 20);
    let mut chunk = [0; 64];
    while bytes > 0 {
        let part = bytes.min(chunk.len());
        let read = tokio::select! {
            read = within("bytes", ws.stream.read(&mut chunk[..part])) => read.unwrap(),
            () = over.notified() => break,
        };
        if read == 0 {
            break;
        }
        bytes -= read;
        let fed = decoder.feed(&mut chunk[..read], |event| match event {
            Event::Text(text) => me.hear(text),
            // The CONNECT of the connection before was read after this one's, and took the session over.
            Event::Close { code: Some(1000), .. } => {}
            other => panic!("{other:?}"),
        });
        fed.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_at_any_byte_a_client_loses_nothing_and_hears_nothing_twice() {
    const ROOMS: [&str; 3] = ["lobby", "location:1", "location:2"];
    let service = serve(Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let auth = json!({"token": users[1].token});
    let mut conn = Conn::open(at, Memory::default(), &auth).await;
    for room in ROOMS {
        conn.join(room).await;
    }
    let mut me = conn.me.clone();
    drop(conn);
    let mut speakers = [Sio::connect(at, &users[0].token).await, Sio::connect(at, &users[2].token).await];
    let (mut random, mut said, mut recovered) = (fastrand::Rng::with_seed(7), [0; 3], 0);
    for round in 0..200 {
        // On average less is said than heard: a client that falls behind for ever has no session to come back to.
        let (bytes, count, over) = (random.usize(1..4000), random.usize(1..8), Notify::new());
        let talk = async {
            for _ in 0..count {
                // Two at once, which share a batch now and then, in any rooms.
                let [one, two] = &mut speakers;
                let rooms = [random.usize(..3), random.usize(..3)];
                let (first, second) = tokio::join!(say(one, ROOMS[rooms[0]]), say(two, ROOMS[rooms[1]]));
                said[rooms[0]] = first.max(said[rooms[0]]);
                said[rooms[1]] = second.max(said[rooms[1]]);
            }
            over.notify_one();
        };
        tokio::join!(cut_after(at, &mut me, &auth, bytes, &over), talk);
        // What it was told last; a connection that was cut before that told it nothing.
        assert!(!me.connected || me.recovered, "round {round}");
        recovered += u64::from(me.connected);
    }
    let total = said.iter().sum::<u64>() as usize;
    let mut conn = Conn::open(at, me, &auth).await;
    assert!(conn.me.recovered && recovered > 100, "{recovered}");
    conn.hear(total).await;
    conn.ask("leaveRoom", json!("lobby")).await;
    for (room, said) in ROOMS.iter().zip(said) {
        assert_eq!(conn.me.numbers(room), (1..=said).collect::<Vec<u64>>(), "{room}");
    }
    assert_eq!(conn.me.heard.len(), total, "nothing comes twice");
}
