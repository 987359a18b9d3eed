//! Receivers on every transport that come back with their cursor whenever they lose what they are connected to, to any
//! of several services: what they get in all must be every message once, in order.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::client::{Ws, get, post};
use crate::socketio_client::{Sio, new_message, polled};
use crate::sse_client::Events;
use crate::stomp_client::{Frame, Stomp};

/// Where the services are by now.
pub type Instances = Arc<Mutex<Vec<SocketAddr>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Ws,
    SocketIo,
    SocketIoPolled,
    Sse,
    Stomp,
    SockJs,
    SockJsPolled,
    LongPoll,
    ShortPoll,
}

pub const WIRES: [Wire; 9] = [
    Wire::Ws,
    Wire::SocketIo,
    Wire::SocketIoPolled,
    Wire::Sse,
    Wire::Stomp,
    Wire::SockJs,
    Wire::SockJsPolled,
    Wire::LongPoll,
    Wire::ShortPoll,
];

/// Receives a location group from its beginning until `last`, and returns how often it connected.
pub async fn receive(wire: Wire, group: String, last: u64, instances: Instances) -> usize {
    let (mut got, mut lives) = (0, 0);
    while got < last {
        let at = {
            let instances = instances.lock().unwrap();
            instances[fastrand::usize(..instances.len())]
        };
        lives += 1;
        let (said, mut heard) = unbounded_channel();
        // Its panics are the ends of its connections.
        let session = tokio::spawn(session(wire, at, group.clone(), got, said));
        while let Some(seq) = heard.recv().await {
            assert_eq!(seq, got + 1, "{wire:?}, life {lives} at {at}");
            got = seq;
            if got == last {
                break;
            }
        }
        session.abort();
        if got < last {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    lives
}

async fn session(wire: Wire, at: SocketAddr, group: String, after: u64, said: UnboundedSender<u64>) {
    let tell = |seq: u64| said.send(seq).unwrap();
    match wire {
        Wire::Ws => {
            let mut ws =
                Ws::open(at, &format!("/ws?room=location:{group}&after={after}"), "").await.ok().unwrap();
            loop {
                tell(ws.json_of("message").await["seq"].as_u64().unwrap());
            }
        }
        Wire::SocketIo => {
            let mut sio = Sio::nobody(at).await;
            let joined =
                sio.emit("joinRoom", &json!({"roomId": format!("location:{group}"), "after": after})).await;
            assert_eq!((&joined["ok"], &joined["gap"]), (&json!(true), &json!(false)));
            loop {
                tell(sio.message().await["seq"].as_u64().unwrap());
            }
        }
        Wire::SocketIoPolled => socketio_polled(at, &group, after, tell).await,
        Wire::Sse => {
            let id = format!("Last-Event-ID: {after}\r\n");
            let mut events = Events::open(at, &format!("group={group}"), &id).await.ok().unwrap();
            loop {
                tell(events.seq().await);
            }
        }
        Wire::Stomp | Wire::SockJs => {
            let path = if wire == Wire::Stomp { "/location" } else { "/location/0/s/websocket" };
            let mut stomp = Stomp::connect_to(at, path, "1.2", "").await;
            stomp.frame(&subscribe(&group, after)).await;
            loop {
                tell(stomp.seq().await);
            }
        }
        Wire::SockJsPolled => sockjs_polled(at, &group, after, tell).await,
        Wire::LongPoll => long_polled(at, &group, after, tell).await,
        Wire::ShortPoll => {
            let mut after = after;
            loop {
                let polled = get(at, &format!("/cur/{group}?after={after}"), "").await;
                assert_eq!(polled.status, 200);
                seqs(&polled.json()).into_iter().for_each(&tell);
                after = polled.json()["next"].as_u64().unwrap();
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    }
}

fn subscribe(group: &str, after: u64) -> String {
    format!("SUBSCRIBE\nid:s\ndestination:/sub/location/{group}\nafter:{after}\n\n")
}

fn seqs(answer: &Value) -> Vec<u64> {
    assert_eq!(answer["gap"], json!(false), "{answer}");
    answer["messages"].as_array().unwrap().iter().map(|message| message["seq"].as_u64().unwrap()).collect()
}

async fn socketio_polled(at: SocketAddr, group: &str, after: u64, tell: impl Fn(u64)) {
    let path = polled(at, "EIO=4").await;
    assert_eq!(post(at, &path, "", "40").await.body, "ok");
    assert!(get(at, &path, "").await.body.starts_with("40{"));
    let join = json!(["joinRoom", {"roomId": format!("location:{group}"), "after": after}]);
    assert_eq!(post(at, &path, "", &format!("420{join}")).await.body, "ok");
    loop {
        let body = get(at, &path, "").await;
        assert_eq!(body.status, 200);
        for packet in body.body.split('\x1e') {
            match packet {
                "2" => assert_eq!(post(at, &path, "", "3").await.body, "ok"),
                "1" => panic!("the session has ended"),
                packet => new_message(packet).into_iter().for_each(|one| tell(one["seq"].as_u64().unwrap())),
            }
        }
    }
}

async fn sockjs_polled(at: SocketAddr, group: &str, after: u64, tell: impl Fn(u64)) {
    let path = format!("/location/0/{:x}", fastrand::u64(..));
    let poll = async || post(at, &format!("{path}/xhr"), "", "").await.body;
    assert_eq!(poll().await, "o\n");
    let connect = "CONNECT\naccept-version:1.2\n\n\0".to_owned();
    let body = json!([connect, subscribe(group, after) + "\0"]).to_string();
    assert_eq!(post(at, &format!("{path}/xhr_send"), "", &body).await.status, 204);
    loop {
        for line in poll().await.lines() {
            let messages: Vec<String> = match line.strip_prefix('a') {
                Some(array) => serde_json::from_str(array).unwrap(),
                None if line == "h" => Vec::new(),
                None => panic!("{line}"),
            };
            for message in messages.iter().filter(|message| *message != "\n") {
                let frame = Frame::read(message);
                match frame.command.as_str() {
                    "MESSAGE" => tell(frame.seq()),
                    "CONNECTED" => {}
                    _ => panic!("{frame:?}"),
                }
            }
        }
    }
}

async fn long_polled(at: SocketAddr, group: &str, after: u64, tell: impl Fn(u64)) {
    let path = format!("/location/long/{group}?after=");
    let first = get(at, &path, "").await;
    assert_eq!(first.status, 200);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let mut cursor = format!("{}.{after}", next.split('.').next().unwrap());
    loop {
        let answer = get(at, &format!("{path}{cursor}"), "").await;
        match answer.status {
            200 => {
                seqs(&answer.json()).into_iter().for_each(&tell);
                cursor = answer.json()["next"].as_str().unwrap().to_owned();
            }
            204 => {}
            status => panic!("{status}"),
        }
    }
}

/// Says something in a group as this user, again and elsewhere until it is acknowledged, and returns its number.
pub async fn share(group: &str, token: &str, id: &str, instances: &Instances) -> u64 {
    let mut tries = 0;
    loop {
        let at = {
            let instances = instances.lock().unwrap();
            instances[fastrand::usize(..instances.len())]
        };
        let request = format!(
            "POST /location/long/{group}/notify HTTP/1.1\r\nHost: chat\r\nAuthorization: Bearer {token}\r\n\
             Idempotency-Key: {id}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        );
        let answer = tokio::spawn(async move { crate::client::exchange(at, request.as_bytes()).await }).await;
        match answer {
            Ok(answer) if answer.status == 200 => return answer.json()["seq"].as_u64().unwrap(),
            Ok(answer) => assert!(answer.status >= 500, "{}: {}", answer.status, answer.body),
            // Its connection has ended.
            Err(_) => {}
        }
        tries += 1;
        assert!(tries < 2000, "not acknowledged in {tries} tries");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
