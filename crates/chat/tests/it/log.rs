//! The message log at its limits: what is refused, what fails, what is kept.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use sonagi_chat::{Config, Limits, Service, StoreLocation};

use crate::client::{Ws, get, metric, post};

async fn serve(file: &Path, limits: Limits) -> Service {
    let store = StoreLocation::File(file.to_owned());
    sonagi_chat::start(Config { seed_users: 1, store, limits, ..Config::default() }).await.unwrap()
}

/// The sequence numbers of the room's log, oldest first.
async fn stored(service: &Service) -> Vec<u64> {
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let page = get(at, "/rooms/lobby/messages?limit=500", token).await.json();
    page["messages"].as_array().unwrap().iter().map(|message| message["seq"].as_u64().unwrap()).collect()
}

/// Reads answers to sends until there are so many: acknowledgements and errors.
async fn answers(ws: &mut Ws, count: usize) -> Vec<Value> {
    let mut answers = Vec::new();
    while answers.len() < count {
        let json = ws.json().await;
        if json["type"] != "message" {
            answers.push(json);
        }
    }
    answers
}

fn acknowledged(answers: &[Value]) -> Vec<u64> {
    answers.iter().filter_map(|answer| answer["seq"].as_u64()).collect()
}

#[tokio::test]
async fn a_commit_that_fails_takes_its_numbers_back_and_publishes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let service = serve(&file, Limits::default()).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    let other = rusqlite::Connection::open(&file).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON messages WHEN NEW.content = '\"bad\"'
             BEGIN SELECT RAISE(ABORT, 'refused'); END",
        )
        .unwrap();
    let (told, heard) = std::sync::mpsc::channel();
    service.on_failure(move |text| told.send(text.to_owned()).unwrap());
    // Which of them share a transaction with the bad ones is not ours to know.
    for n in 0..40 {
        ws.say(if n % 10 == 5 { "bad" } else { "good" }, &n.to_string()).await;
    }
    let answers = answers(&mut ws, 40).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], n.to_string());
        assert!(answer["type"] == "ack" || answer["code"] == "store_failed", "{answer}");
        assert!(n % 10 != 5 || answer["type"] == "error", "{answer}");
    }
    assert_eq!(heard.recv().unwrap(), "cannot write the message store: refused");
    let numbers = acknowledged(&answers);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<u64>>());
    assert_eq!(metric(&service.metrics(), "chat_messages_total"), numbers.len() as u64);
    ws.say("after", "").await;
    assert_eq!(ws.json_of("ack").await["seq"], numbers.len() as u64 + 1);
    assert_eq!(stored(&service).await, (1..=numbers.len() as u64 + 1).collect::<Vec<u64>>());
}

#[tokio::test]
async fn sends_over_the_limit_are_refused_as_overloaded_and_those_accepted_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let service = serve(&file, Limits { sends_in_flight: 3, ..Limits::default() }).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    let other = rusqlite::Connection::open(&file).unwrap();
    // The log's thread waits for this lock with what it took; the queue behind it fills.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut sent = 0;
    while metric(&service.metrics(), "chat_sends_overloaded_total") == 0 {
        assert!(sent < 1000, "nothing was refused");
        ws.say("x", &sent.to_string()).await;
        sent += 1;
        tokio::task::yield_now().await;
    }
    other.execute_batch("COMMIT").unwrap();
    let answers = answers(&mut ws, sent).await;
    assert!(answers.iter().any(|answer| answer["code"] == "overloaded"));
    assert!(answers.iter().all(|answer| answer["type"] == "ack" || answer["code"] == "overloaded"));
    let numbers = acknowledged(&answers);
    assert!(numbers.len() >= 3);
    assert_eq!(stored(&service).await, numbers);
}

#[tokio::test]
async fn old_messages_are_deleted_in_runs_and_the_numbers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let limits = Limits { history_kept: 100, ..Limits::default() };
    let service = serve(&file, limits.clone()).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for (sent, kept) in [(256, 157..=256), (44, 157..=300), (212, 413..=512)] {
        for _ in 0..sent {
            ws.say("x", "").await;
        }
        answers(&mut ws, sent).await;
        assert_eq!(stored(&service).await, kept.collect::<Vec<u64>>());
    }
    drop(ws);
    service.drain(std::time::Duration::ZERO).await;
    let service = serve(&file, limits).await;
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    ws.say("x", "").await;
    assert_eq!(ws.json_of("ack").await["seq"], 513);
}

#[tokio::test]
async fn messages_in_quick_succession_share_a_batch_and_the_first_after_a_silence_does_not_wait() {
    let second = Duration::from_secs(1);
    let limits = Limits { gather_per_copy: second, gather_most: second, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    let started = Instant::now();
    ws.say("first", "1").await;
    assert_eq!(ws.json_of("message").await["seq"], 1);
    ws.say("second", "2").await;
    ws.say("third", "3").await;
    assert_eq!(ws.json_of("message").await["seq"], 2);
    assert!(started.elapsed() >= second, "the second batch begins that long after the first");
    assert_eq!(ws.json_of("message").await["seq"], 3);
    assert_eq!(metric(&service.metrics(), "chat_commits_total"), 2);
}

#[tokio::test]
async fn a_busy_room_holds_up_no_other_room_no_request_and_no_stop() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chat.db");
    let hour = Duration::from_secs(3600);
    let limits = Limits { gather_per_copy: hour, gather_most: hour, ..Limits::default() };
    let service = serve(&file, limits).await;
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut busy = Ws::in_room(at, "lobby", token).await;
    busy.say("first", "1").await;
    assert_eq!(busy.json_of("ack").await["seq"], 1);
    busy.say("waits for an hour", "2").await;
    // In order behind it on the same connection, so the wait has begun.
    let made = post(at, "/rooms/find-or-create", token, r#"{"name":"quiet"}"#).await;
    assert_eq!(made.status, 200, "{}", made.body);
    busy.text(r#"{"type":"join","room":"quiet"}"#).await;
    busy.text(r#"{"type":"send","room":"quiet","content":"hi","id":"3"}"#).await;
    let message = busy.json_of("message").await;
    assert_eq!((&message["room"], &message["content"]), (&"quiet".into(), &"hi".into()));
    service.drain(Duration::ZERO).await;
    let service = serve(&file, Limits::default()).await;
    assert_eq!(stored(&service).await, [1, 2], "what was accepted is stored");
}

#[tokio::test]
async fn a_full_batch_does_not_wait() {
    let hour = Duration::from_secs(3600);
    let limits =
        Limits { gather_per_copy: hour, gather_most: hour, sends_per_commit: 3, ..Limits::default() };
    let service = sonagi_chat::start(Config { seed_users: 1, limits, ..Config::default() }).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for n in 1..=4 {
        ws.say("x", &n.to_string()).await;
    }
    assert_eq!(acknowledged(&answers(&mut ws, 4).await), [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_sender_is_acknowledged_by_the_write_that_brings_its_own_copy() {
    let service =
        sonagi_chat::start(Config { seed_users: 1, null: true, ..Config::default() }).await.unwrap();
    let (at, token) = (service.address(), &service.credentials()[0].token);
    let mut ws = Ws::in_room(at, "lobby", token).await;
    post(at, "/null/reset", "", "").await;
    for seq in 1..=5 {
        ws.say("x", "id").await;
        // Behind the copy, never before it.
        assert_eq!(ws.json().await["type"], "message");
        assert_eq!(ws.json().await, serde_json::json!({"type": "ack", "id": "id", "seq": seq}));
    }
    assert_eq!(get(at, "/null/stats", "").await.json()["writes"], 5);
}
