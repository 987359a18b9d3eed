//! Coming back to more than a queue holds: to several rooms in one breath, in frames much longer than their messages,
//! or faster than it is acknowledged. All of it arrives.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::{Value, json};
use sonagi_chat::{Config, Limits, Service};

use crate::client::Ws;
use crate::socketio_client::{Sio, new_message};
use crate::stomp_client::Stomp;

#[derive(Clone, Copy, Debug)]
enum How {
    Raw,
    Stomp,
    SockJs,
    SocketIo,
}

const ALL: [How; 4] = [How::Raw, How::Stomp, How::SockJs, How::SocketIo];

/// A service with so many messages of that size in each of the groups.
async fn full(limits: Limits, groups: usize, messages: usize, size: usize) -> Service {
    let service = sonagi_chat::start(Config { limits, ..Config::default() }).await.unwrap();
    let mut ws = Ws::open(service.address(), "/ws", "").await.ok().unwrap();
    let content = "x".repeat(size);
    for group in 0..groups {
        for _ in 0..messages {
            let send = json!({"type": "send", "room": format!("location:{group}"), "content": content});
            ws.text(&send.to_string()).await;
        }
        for _ in 0..messages {
            ws.json_of("ack").await;
        }
    }
    service
}

fn number(message: &Value) -> u64 {
    message["seq"].as_u64().unwrap()
}

/// Joins all groups in one write, from the beginning, and returns the numbers that came of each.
async fn missed(how: How, at: SocketAddr, groups: usize, total: usize) -> BTreeMap<String, Vec<u64>> {
    let mut got: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut note = |room: &str, seq| got.entry(room.to_owned()).or_default().push(seq);
    match how {
        How::Raw => {
            let mut ws = Ws::open(at, "/ws", "").await.ok().unwrap();
            let join = |group| format!(r#"{{"type":"join","room":"location:{group}","after":0}}"#);
            ws.texts((0..groups).map(join)).await;
            for _ in 0..total {
                let message = ws.json_of("message").await;
                note(message["room"].as_str().unwrap().strip_prefix("location:").unwrap(), number(&message));
            }
        }
        How::SocketIo => {
            let mut sio = Sio::nobody(at).await;
            let join = |group| format!(r#"42["joinRoom",{{"roomId":"location:{group}","after":0}}]"#);
            sio.ws.texts((0..groups).map(join)).await;
            for _ in 0..total {
                let message = loop {
                    if let Some(message) = new_message(&sio.ws.next_text().await) {
                        break message;
                    }
                };
                note(
                    message["roomId"].as_str().unwrap().strip_prefix("location:").unwrap(),
                    number(&message),
                );
            }
        }
        How::Stomp | How::SockJs => {
            let path = if matches!(how, How::Stomp) { "/location" } else { "/location/0/s/websocket" };
            let mut stomp = Stomp::connect_to(at, path, "1.2", "").await;
            let subscribe =
                |group| format!("SUBSCRIBE\nid:{group}\ndestination:/sub/location/{group}\nafter:0\n\n\0");
            stomp.piece(&(0..groups).map(subscribe).collect::<String>()).await;
            for _ in 0..total {
                let message = stomp.next().await;
                note(message.header("subscription").unwrap(), message.seq());
            }
        }
    }
    got
}

async fn check(limits: Limits, groups: usize, messages: usize, size: usize) {
    let service = full(limits, groups, messages, size).await;
    for how in ALL {
        let got = missed(how, service.address(), groups, groups * messages).await;
        assert_eq!(got.len(), groups, "{how:?}");
        let expected: Vec<u64> = (1..=messages as u64).collect();
        assert!(got.values().all(|seqs| *seqs == expected), "{how:?}");
    }
}

#[tokio::test]
async fn whoever_comes_back_to_many_rooms_in_one_breath_gets_all_that_they_keep() {
    // Each keeps half a queue.
    check(Limits { queue_bytes: 128 * 1024, ..Limits::default() }, 6, 60, 1000).await;
}

#[tokio::test]
async fn whoever_comes_back_to_many_rooms_in_one_breath_gets_what_the_store_has_as_well() {
    let limits = Limits { queue_bytes: 64 * 1024, recent_messages: 10, ..Limits::default() };
    check(limits, 8, 150, 200).await;
}

#[tokio::test]
async fn frames_that_are_much_longer_than_their_messages_are_given_as_they_fit() {
    check(Limits { queue_bytes: 32 * 1024, ..Limits::default() }, 1, 256, 20).await;
}

/// Subscribes from the beginning, acknowledges after every so many messages, and gets all.
async fn acknowledges(at: SocketAddr, mode: &str, messages: u64, every: u64) -> Stomp {
    let mut stomp = Stomp::connect(at, "1.2").await;
    stomp.subscribe("s", "/sub/location/0", &format!("after:0\nack:{mode}\n")).await;
    for seq in 1..=messages {
        let message = stomp.next().await;
        assert_eq!((message.command.as_str(), message.seq()), ("MESSAGE", seq), "{mode}");
        if seq % every == 0 {
            stomp.frame(&format!("ACK\nid:{}\n\n", message.header("ack").unwrap())).await;
        }
    }
    stomp
}

#[tokio::test]
async fn a_long_absence_is_made_up_for_as_it_is_acknowledged() {
    let limits = Limits { stomp_unacked: 40, recent_messages: 100, ..Limits::default() };
    let service = full(limits, 1, 500, 20).await;
    for mode in ["client", "client-individual"] {
        let mut stomp = acknowledges(service.address(), mode, 500, 1).await;
        stomp.frame("UNSUBSCRIBE\nid:s\nreceipt:over\n\n").await;
        assert_eq!(stomp.next().await.header("receipt-id"), Some("over"));
    }
}

#[tokio::test]
async fn a_client_that_acknowledges_many_at_once_gets_as_many_and_then_what_is_new() {
    let limits = Limits { stomp_unacked: 40, recent_messages: 100, ..Limits::default() };
    let service = full(limits, 1, 90, 20).await;
    // More than the half that is sent without asking whether it acknowledges at all.
    let mut stomp = acknowledges(service.address(), "client", 90, 30).await;
    stomp.share("0", "1").await;
    assert_eq!(stomp.seq().await, 91);
}
