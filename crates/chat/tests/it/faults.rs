//! What the service counts as planted is what receivers see, by the ledger's definitions.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sonagi_chat::{Config, Service};
use tokio::sync::Barrier;

use crate::client::{Got, Ws, metric, post, within};
use crate::socketio_client::{Sio, new_message};

/// A member that records every copy it gets.
struct Member {
    wire: Wire,
    room: &'static str,
    copies: Vec<Value>,
}

enum Wire {
    Raw(Ws),
    SocketIo(Sio),
}

impl Member {
    async fn join(service: &Service, user: usize, room: &'static str) -> Member {
        let (at, token) = (service.address(), &service.credentials()[user].token);
        let wire = match user % 2 {
            0 => Wire::Raw(Ws::in_room(at, room, token).await),
            _ => Wire::SocketIo(Sio::in_room(at, room, token).await),
        };
        Member { wire, room, copies: Vec::new() }
    }

    async fn say(&mut self, content: &str) {
        match &mut self.wire {
            Wire::Raw(ws) => ws.say(content, content).await,
            Wire::SocketIo(sio) => {
                sio.emit_only("sendMessage", &json!({"roomId": self.room, "content": content})).await;
            }
        }
    }

    async fn leave(&mut self) {
        match &mut self.wire {
            Wire::Raw(ws) => ws.text(&json!({"type": "leave", "room": self.room}).to_string()).await,
            Wire::SocketIo(sio) => {
                sio.emit_only("leaveRoom", &json!({"roomId": self.room})).await;
            }
        }
    }

    /// Records copies until something else came, which must be an answer that went well.
    async fn answer(&mut self) {
        loop {
            let text = match &mut self.wire {
                Wire::Raw(ws) => ws.next_text().await,
                Wire::SocketIo(sio) => sio.ws.next_text().await,
            };
            let copy = match &self.wire {
                Wire::Raw(_) => {
                    let json: Value = serde_json::from_str(&text).unwrap();
                    match json["type"].as_str().unwrap() {
                        "message" => {
                            let room = json["room"].clone();
                            let mut json = json;
                            json["roomId"] = room;
                            json
                        }
                        "ack" | "left" => return,
                        _ => panic!("{text}"),
                    }
                }
                Wire::SocketIo(_) => match new_message(&text) {
                    Some(json) => json,
                    None if text.starts_with("43") && text.contains(r#""ok":true"#) => return,
                    None => panic!("{text}"),
                },
            };
            self.copies.push(copy);
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    lost: u64,
    duplicate: u64,
    reordered: u64,
    leaked: u64,
}

/// What a ledger would say of one receiver's copies when it was owed `owed` messages.
fn judge(member: &Member, owed: u64, seen: &mut Seen) {
    let mut first_at: HashMap<u64, usize> = HashMap::new();
    // The highest number received so far of each sender; room numbers grow along each sender's messages.
    let mut highest: HashMap<u64, u64> = HashMap::new();
    for (at, copy) in member.copies.iter().enumerate() {
        if copy["roomId"] != member.room {
            seen.leaked += 1;
            continue;
        }
        let (seq, sender) = (copy["seq"].as_u64().unwrap(), copy["senderId"].as_u64().unwrap());
        if first_at.insert(seq, at).is_some() {
            seen.duplicate += 1;
            continue;
        }
        let highest = highest.entry(sender).or_default();
        if *highest > seq {
            seen.reordered += 1;
        }
        *highest = (*highest).max(seq);
    }
    seen.lost += owed - first_at.len() as u64;
}

const MEMBERS: usize = 20;
const STRANGERS: usize = 6;
const MESSAGES: usize = 30;

/// Twenty members, half of them on each wire, send thirty messages each while six strangers sit in another room.
async fn shower(faults: &str) -> (Seen, String) {
    let faults = format!("{faults},settle=0s").parse().unwrap();
    let config = Config { seed_users: MEMBERS + STRANGERS, faults, ..Config::default() };
    let service = sonagi_chat::start(config).await.unwrap();
    let mut members = Vec::new();
    for user in 0..MEMBERS {
        members.push(Member::join(&service, user, "lobby").await);
    }
    post(service.address(), "/rooms/find-or-create", &service.credentials()[0].token, r#"{"name":"quiet"}"#)
        .await;
    for user in MEMBERS..MEMBERS + STRANGERS {
        members.push(Member::join(&service, user, "quiet").await);
    }
    let all_acknowledged = Arc::new(Barrier::new(members.len()));
    let mut tasks = Vec::new();
    for (user, mut member) in members.into_iter().enumerate() {
        let all_acknowledged = all_acknowledged.clone();
        tasks.push(tokio::spawn(async move {
            if user < MEMBERS {
                for n in 0..MESSAGES {
                    member.say(&format!("{user}-{n}")).await;
                }
                for _ in 0..MESSAGES {
                    member.answer().await;
                }
            }
            all_acknowledged.wait().await;
            // Leaving flushes what is held or late for this member, so its answer ends the record.
            member.leave().await;
            member.answer().await;
            member
        }));
    }
    let mut seen = Seen::default();
    for (user, task) in tasks.into_iter().enumerate() {
        let owed = if user < MEMBERS { (MEMBERS * MESSAGES) as u64 } else { 0 };
        judge(&task.await.unwrap(), owed, &mut seen);
    }
    (seen, service.metrics())
}

fn planted(metrics: &str, kind: &str) -> u64 {
    metric(metrics, &format!("chat_faults_planted_total{{kind=\"{kind}\"}}"))
}

fn counted(metrics: &str) -> Seen {
    Seen {
        lost: planted(metrics, "drop"),
        duplicate: planted(metrics, "duplicate"),
        reordered: planted(metrics, "reorder"),
        leaked: planted(metrics, "leak"),
    }
}

#[tokio::test]
async fn without_a_plan_every_copy_arrives_once_and_in_order() {
    let (seen, metrics) = shower("").await;
    assert_eq!(seen, Seen::default());
    assert_eq!(counted(&metrics), seen);
    assert_eq!(metric(&metrics, "chat_deliveries_total"), (MEMBERS * MEMBERS * MESSAGES) as u64);
}

#[tokio::test]
async fn each_fault_alone_is_counted_as_receivers_see_it() {
    for fault in ["drop=5%", "duplicate=5%", "reorder=5%", "leak=2%"] {
        let (seen, metrics) = shower(&format!("{fault},seed=3")).await;
        assert_eq!(seen, counted(&metrics), "{fault}");
        let sum = seen.lost + seen.duplicate + seen.reordered + seen.leaked;
        // Twelve thousand copies: far from 0 and from all, whatever the seed.
        assert!((120..1200).contains(&sum), "{fault}: {seen:?}");
    }
}

#[tokio::test]
async fn a_delay_loses_and_reorders_nothing() {
    let (seen, metrics) = shower("delay=20ms@10%,seed=5").await;
    assert_eq!(seen, Seen::default());
    assert!(planted(&metrics, "delay") > 0);
}

#[tokio::test]
async fn all_faults_together_are_counted_as_receivers_see_them() {
    for seed in 1..=5 {
        let plan = format!("drop=3%,duplicate=2%,delay=3ms@5%,reorder=3%,leak=1%,seed={seed}");
        let (seen, metrics) = shower(&plan).await;
        assert_eq!(seen, counted(&metrics), "{plan}");
        assert!(seen.lost > 0 && seen.duplicate > 0 && seen.reordered > 0 && seen.leaked > 0, "{seen:?}");
        assert!(planted(&metrics, "delay") > 0);
    }
}

#[tokio::test]
async fn a_seed_drops_the_same_copies_in_every_run() {
    let (first, _) = shower("drop=5%,seed=9").await;
    let (second, _) = shower("drop=5%,seed=9").await;
    assert_eq!(first, second);
}

#[tokio::test]
async fn a_copy_nobody_overtakes_is_delivered_in_order_after_the_hold_and_not_counted() {
    let faults = "reorder=100%,hold=20ms,settle=0s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 1, faults, ..Config::default() }).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    for n in 1..=2 {
        ws.say("held", "").await;
        assert_eq!(ws.json().await["type"], "ack");
        // Read before the next is sent: nothing can overtake it.
        assert_eq!(ws.json().await["seq"], n);
    }
    assert_eq!(planted(&service.metrics(), "reorder"), 0);
}

#[tokio::test]
async fn a_message_leaks_to_each_stranger_on_the_same_wire_once_at_most() {
    let faults = "leak=100%,settle=0s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 6, faults, ..Config::default() }).await.unwrap();
    let (at, users) = (service.address(), service.credentials());
    post(at, "/rooms/find-or-create", &users[0].token, r#"{"name":"quiet"}"#).await;
    let mut sender = Ws::in_room(at, "lobby", &users[0].token).await;
    let mut members = Vec::new();
    for user in &users[1..4] {
        members.push(Ws::in_room(at, "lobby", &user.token).await);
    }
    let mut stranger = Ws::in_room(at, "quiet", &users[4].token).await;
    let mut other_wire = Sio::in_room(at, "quiet", &users[5].token).await;
    let echo = Ws::open(at, "/ws/echo", "").await.ok().unwrap();
    sender.say("leaks", "").await;
    assert_eq!(sender.json_of("ack").await["seq"], 1);
    assert_eq!(planted(&service.metrics(), "leak"), 1);
    assert_eq!(stranger.json().await["room"], "lobby");
    let left = other_wire.emit("leaveRoom", &json!("quiet")).await;
    assert_eq!((&left["ok"], other_wire.passed.len()), (&true.into(), 0));
    drop((members, echo));
}

#[tokio::test]
async fn whoever_closes_first_gets_what_was_held_for_it() {
    let faults = "reorder=100%,settle=0s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 1, faults, ..Config::default() }).await.unwrap();
    let mut ws = Ws::in_room(service.address(), "lobby", &service.credentials()[0].token).await;
    ws.say("held", "").await;
    assert_eq!(ws.json().await["type"], "ack");
    ws.frame(sonagi_wire::websocket::Opcode::Close, b"").await;
    assert_eq!(ws.json().await["content"], "held");
    assert_eq!(ws.next().await, Got::Close(None));
    assert_eq!(planted(&service.metrics(), "reorder"), 0);
}

#[tokio::test]
async fn a_copy_held_for_a_connection_that_is_gone_counts_nothing() {
    let faults = "reorder=100%,settle=0s".parse().unwrap();
    let service = sonagi_chat::start(Config { seed_users: 2, faults, ..Config::default() }).await.unwrap();
    let (at, users) = (service.address(), service.credentials());
    let mut sender = Ws::in_room(at, "lobby", &users[0].token).await;
    let gone = Ws::in_room(at, "lobby", &users[1].token).await;
    sender.say("held for both", "").await;
    assert_eq!(sender.json().await["type"], "ack");
    drop(gone);
    within("the end of the connection", async {
        while metric(&service.metrics(), "chat_connections{transport=\"websocket\"}") > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    sender.say("overtakes", "").await;
    assert_eq!(sender.json().await["seq"], 2);
    assert_eq!(sender.json().await["seq"], 1);
    // Acknowledged after all is counted.
    assert_eq!(sender.json().await["type"], "ack");
    assert_eq!(planted(&service.metrics(), "reorder"), 1);
}
