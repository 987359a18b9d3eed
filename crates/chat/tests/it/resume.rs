//! Coming back with a cursor: nothing is lost and nothing comes twice, wherever the connection broke.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service, StoreLocation};

use crate::client::{Got, Ws, get, metric};
use crate::socketio_client::Sio;

async fn serve(store: StoreLocation, limits: Limits) -> Service {
    sonagi_chat::start(Config { seed_users: 2, store, limits, ..Config::default() }).await.unwrap()
}

async fn join(service: &Service, group: &str, after: Option<u64>) -> (Ws, Value) {
    let after = after.map_or_else(String::new, |after| format!("&after={after}"));
    let path = format!("/ws?room=location:{group}{after}");
    let mut ws = Ws::open(service.address(), &path, "").await.ok().unwrap();
    let joined = ws.json().await;
    assert_eq!(joined["type"], "joined", "{joined}");
    (ws, joined)
}

/// Sends so many messages and waits until all are published.
async fn say(ws: &mut Ws, count: usize) {
    for n in 0..count {
        ws.text(&json!({"type": "send", "content": n, "room": "location:7"}).to_string()).await;
    }
    for _ in 0..count {
        ws.json_of("ack").await;
    }
}

async fn seqs(ws: &mut Ws, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        seqs.push(ws.json_of("message").await["seq"].as_u64().unwrap());
    }
    seqs
}

/// Two senders never stop while a receiver's socket is cut again and again, mostly with something unread in it.
async fn cut_again_and_again(service: &Service, rounds: usize, seed: u64) {
    let at = service.address();
    let stop = Arc::new(AtomicBool::new(false));
    let senders: Vec<_> = (0..2)
        .map(|_| {
            let stop = stop.clone();
            tokio::spawn(async move {
                let mut ws = Ws::open(at, "/ws?room=location:quiet", "").await.ok().unwrap();
                let mut sent = 0;
                while !stop.load(Relaxed) {
                    say(&mut ws, 5).await;
                    sent += 5;
                }
                sent
            })
        })
        .collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut last = 0;
    for round in 0..rounds {
        let (mut ws, joined) = join(service, "7", Some(last)).await;
        assert_eq!(joined["gap"], false, "round {round}, seed {seed}: {joined}");
        for _ in 0..random.usize(..60) {
            let message = ws.json().await;
            let seq = message["seq"].as_u64().unwrap();
            assert_eq!(seq, last + 1, "round {round}, seed {seed}");
            last = seq;
        }
    }
    stop.store(true, Relaxed);
    let mut sent = 0;
    for sender in senders {
        sent += sender.await.unwrap();
    }
    let (mut ws, _) = join(service, "7", Some(last)).await;
    for seq in last + 1..=sent {
        assert_eq!(ws.json().await["seq"], seq, "seed {seed}");
    }
    assert!(last > 0 && metric(&service.metrics(), "chat_replayed_total") > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_cut_anywhere_and_resumed_loses_and_doubles_nothing() {
    let seed = fastrand::u64(..);
    let service = serve(StoreLocation::Memory, Limits::default()).await;
    cut_again_and_again(&service, 150, seed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_room_has_forgotten_comes_from_the_store_and_joins_what_it_remembers() {
    let seed = fastrand::u64(..);
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { recent_messages: 3, history_page: 7, ..Limits::default() };
    for store in [StoreLocation::File(folder.path().join("chat.db")), StoreLocation::Memory] {
        let service = serve(store, limits.clone()).await;
        cut_again_and_again(&service, 60, seed).await;
    }
}

#[tokio::test]
async fn a_long_absence_is_made_up_for_no_faster_than_the_connection_takes_it() {
    let limits = Limits { recent_messages: 10, queue_bytes: 32 * 1024, ..Limits::default() };
    let service = serve(StoreLocation::Memory, limits).await;
    let (mut sender, _) = join(&service, "quiet", None).await;
    // More than the system's buffers take as well.
    let content = "x".repeat(4096);
    for _ in 0..3000 {
        let send = json!({"type": "send", "content": content, "room": "location:7"});
        sender.text(&send.to_string()).await;
        sender.json_of("ack").await;
    }
    let (mut ws, joined) = join(&service, "7", Some(0)).await;
    assert_eq!((&joined["seq"], &joined["gap"]), (&3000.into(), &false.into()));
    // More than its queue holds, and more comes meanwhile.
    say(&mut sender, 10).await;
    assert_eq!(seqs(&mut ws, 3010).await, (1..=3010).collect::<Vec<u64>>());
}

#[tokio::test]
async fn who_leaves_or_asks_again_while_it_catches_up_gets_nothing_twice() {
    let limits = Limits { recent_messages: 10, queue_bytes: 32 * 1024, ..Limits::default() };
    let service = serve(StoreLocation::Memory, limits).await;
    let (mut sender, _) = join(&service, "quiet", None).await;
    say(&mut sender, 3000).await;
    let mut ws = Ws::open(service.address(), "/ws", "").await.ok().unwrap();
    let join = r#"{"type":"join","room":"location:7","after":0}"#;
    for frame in [join, join, r#"{"type":"leave","room":"location:7"}"#] {
        ws.text(frame).await;
    }
    let (mut told, mut last) = (Vec::new(), 0);
    while told.last().is_none_or(|word| word != "left") {
        let frame = ws.json().await;
        if frame["type"] == "message" {
            assert_eq!(frame["seq"], last + 1);
            last += 1;
        } else {
            let word = frame["code"].as_str().or(frame["type"].as_str()).unwrap();
            told.push(word.to_owned());
        }
    }
    assert_eq!(told, ["joined", "joining", "left"]);
    assert!(last < 3000, "it had read all of it");
    // Whatever comes next is the answer to this.
    ws.text(r#"{"type":"join","room":"location:7","after":2999}"#).await;
    assert_eq!(ws.json().await["type"], "joined");
    assert_eq!(ws.json().await["seq"], 3000);
    ws.text(r#"{"type":"join","room":"location:7","after":2000}"#).await;
    assert_eq!(ws.json().await, json!({"type": "joined", "room": "location:7", "seq": 3000, "gap": false}));
    say(&mut sender, 1).await;
    assert_eq!(ws.json().await["seq"], 3001, "it is a member already");
}

#[tokio::test]
async fn what_is_deleted_or_of_another_life_is_a_gap_and_what_is_kept_follows() {
    let limits = Limits { history_kept: 100, recent_messages: 20, ..Limits::default() };
    let service = serve(StoreLocation::Memory, limits).await;
    let (mut sender, joined) = join(&service, "quiet", None).await;
    assert_eq!(joined, json!({"type": "joined", "room": "location:quiet", "seq": 0}));
    // At the 256th the oldest are deleted, up to 156.
    say(&mut sender, 260).await;
    for (after, gap, kept) in [(0, true, 157), (155, true, 157), (156, false, 157), (200, false, 201)] {
        let (mut ws, joined) = join(&service, "7", Some(after)).await;
        assert_eq!(joined["gap"], gap, "after {after}");
        let expected: Vec<u64> = (kept..=260).collect();
        assert_eq!(seqs(&mut ws, expected.len()).await, expected, "after {after}");
    }
    for after in [261, i64::MAX as u64] {
        let (mut ws, joined) = join(&service, "7", Some(after)).await;
        assert_eq!(joined["gap"], true, "after {after}");
        assert_eq!(seqs(&mut ws, 100).await, (161..=260).collect::<Vec<u64>>());
    }
    let (mut empty, joined) = join(&service, "nobody", Some(7)).await;
    assert_eq!((&joined["seq"], &joined["gap"]), (&0.into(), &true.into()));
    empty.text(r#"{"type":"send","content":1}"#).await;
    assert_eq!(empty.json().await["seq"], 1);
    let page = Ws::open(service.address(), "/ws?room=location:7&after=x", "").await.err().unwrap();
    assert_eq!((page.status, page.error_code().as_str()), (400, "bad_request"));
}

async fn in_file(file: &Path) -> Service {
    serve(StoreLocation::File(file.to_owned()), Limits::default()).await
}

#[tokio::test]
async fn a_cursor_outlives_the_process_with_the_store_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let service = in_file(&file).await;
    let (mut sender, _) = join(&service, "quiet", None).await;
    say(&mut sender, 5).await;
    let cursor = get(service.address(), "/location/long/7", "").await.json()["next"].clone();
    let after = format!("/location/long/7?after={}", cursor.as_str().unwrap());
    drop(sender);
    service.drain(std::time::Duration::ZERO).await;
    let service = in_file(&file).await;
    let (mut ws, joined) = join(&service, "7", Some(2)).await;
    assert_eq!((&joined["seq"], &joined["gap"]), (&5.into(), &false.into()));
    assert_eq!(seqs(&mut ws, 3).await, [3, 4, 5]);
    ws.text(r#"{"type":"send","content":"six"}"#).await;
    ws.json_of("ack").await;
    let answer = get(service.address(), &after, "").await.json();
    assert_eq!((&answer["gap"], &answer["messages"][0]["seq"]), (&false.into(), &6.into()));
    // Another store: the number is one it has, and yet means nothing.
    let other = serve(StoreLocation::Memory, Limits::default()).await;
    let (mut sender, _) = join(&other, "quiet", None).await;
    say(&mut sender, 7).await;
    let answer = get(other.address(), &after, "").await.json();
    assert_eq!((&answer["gap"], answer["messages"].as_array().unwrap().len()), (&true.into(), 7));
}

#[tokio::test]
async fn a_chat_room_is_resumed_like_a_location_group() {
    let service = serve(StoreLocation::Memory, Limits::default()).await;
    let (at, users) = (service.address(), service.credentials());
    let mut sender = Sio::in_room(at, "lobby", &users[0].token).await;
    for n in 0..3 {
        sender.emit("sendMessage", &json!({"roomId": "lobby", "content": n})).await;
    }
    let path = format!("/ws?room=lobby&token={}&after=1", users[1].token);
    let mut ws = Ws::open(at, &path, "").await.ok().unwrap();
    assert_eq!(ws.json().await, json!({"type": "joined", "room": "lobby", "seq": 3, "gap": false}));
    let mut contents = VecDeque::new();
    while contents.len() < 2 {
        match ws.next().await {
            Got::Text(text) => {
                contents.push_back(serde_json::from_str::<Value>(&text).unwrap()["content"].clone());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(contents, [json!(1), json!(2)]);
}
