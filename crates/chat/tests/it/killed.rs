//! TCP that dies at any instant: whoever comes back with its cursor misses nothing and gets nothing twice.

use std::net::SocketAddr;

use crate::client::{Ws, post, serve, within};
use crate::sse_client::Events;
use crate::stomp_client::Stomp;

/// Messages of one round.
const MESSAGES: u64 = 300;

/// Shares them one after the other, as fast as they are answered.
async fn sharing(at: SocketAddr, group: String) {
    let mut ws = Ws::open(at, &format!("/ws?room=location:{group}-elsewhere"), "").await.ok().unwrap();
    for n in 1..=MESSAGES {
        let frame =
            serde_json::json!({"type": "send", "room": format!("location:{group}"), "content": n, "id": n});
        ws.text(&frame.to_string()).await;
        assert_eq!(ws.json_of("ack").await["seq"], n);
    }
}

/// Somebody who can be killed and come back.
trait Receiver: Sized {
    async fn come(at: SocketAddr, group: &str, after: u64) -> Self;
    async fn seq(&mut self) -> u64;
}

impl Receiver for Events {
    async fn come(at: SocketAddr, group: &str, after: u64) -> Events {
        let id = format!("Last-Event-ID: {after}\r\n");
        Events::open(at, &format!("group={group}"), &id).await.ok().unwrap()
    }

    async fn seq(&mut self) -> u64 {
        self.seq().await
    }
}

struct Plain(Stomp);
struct InSockJs(Stomp);

async fn come(at: SocketAddr, path: &str, group: &str, after: u64) -> Stomp {
    let mut stomp = Stomp::connect_to(at, path, "1.2", "").await;
    let subscribe =
        format!("SUBSCRIBE\nid:s\nack:client\ndestination:/sub/location/{group}\nafter:{after}\n\n");
    stomp.frame(&subscribe).await;
    stomp
}

impl Receiver for Plain {
    async fn come(at: SocketAddr, group: &str, after: u64) -> Plain {
        Plain(come(at, "/location", group, after).await)
    }

    async fn seq(&mut self) -> u64 {
        self.0.seq().await
    }
}

impl Receiver for InSockJs {
    async fn come(at: SocketAddr, group: &str, after: u64) -> InSockJs {
        InSockJs(come(at, "/location/0/s/websocket", group, after).await)
    }

    async fn seq(&mut self) -> u64 {
        self.0.seq().await
    }
}

async fn killed_at_random<R: Receiver>(name: &str) {
    let service = serve(0).await;
    let at = service.address();
    for round in 0..10 {
        let group = format!("{name}-{round}");
        let sharing = tokio::spawn(sharing(at, group.clone()));
        let (mut last, mut lives) = (0, 0);
        within("all messages", async {
            while last < MESSAGES {
                let mut receiver = R::come(at, &group, last).await;
                lives += 1;
                let until = (last + fastrand::u64(1..60)).min(MESSAGES);
                while last < until {
                    assert_eq!(receiver.seq().await, last + 1, "{name}, life {lives}");
                    last += 1;
                }
                // Dropped with whatever lies in its buffers.
            }
        })
        .await;
        sharing.await.unwrap();
        assert!(lives > 4, "{lives}");
    }
}

#[tokio::test]
async fn an_event_stream_that_is_killed_and_comes_back_loses_and_doubles_nothing() {
    killed_at_random::<Events>("sse").await;
}

#[tokio::test]
async fn a_stomp_connection_that_is_killed_and_comes_back_loses_and_doubles_nothing() {
    killed_at_random::<Plain>("stomp").await;
}

#[tokio::test]
async fn stomp_in_sockjs_that_is_killed_and_comes_back_loses_and_doubles_nothing() {
    killed_at_random::<InSockJs>("sockjs").await;
}

#[tokio::test]
async fn what_is_shared_by_one_transport_is_received_by_all_in_the_same_order() {
    let service = serve(0).await;
    let at = service.address();
    let mut events = Events::come(at, "7", 0).await;
    let (mut plain, mut sockjs) = (Plain::come(at, "7", 0).await, InSockJs::come(at, "7", 0).await);
    let mut ws = Ws::open(at, "/ws?room=location:7", "").await.ok().unwrap();
    ws.json_of("joined").await;
    ws.say("ws", "").await;
    assert_eq!(ws.json_of("message").await["content"], "ws");
    plain.0.share("7", "stomp").await;
    assert_eq!(ws.json_of("message").await["content"], "stomp");
    sockjs.0.share("7", "sockjs").await;
    assert_eq!(ws.json_of("message").await["content"], "sockjs");
    post(at, "/location/sse/share?group=7", "", "\"sse\"").await;
    assert_eq!(ws.json_of("message").await["content"], "sse");
    for (seq, content) in (1..).zip(["ws", "stomp", "sockjs", "sse"]) {
        let event = events.event().await.unwrap();
        let (stomp, sockjs) = (plain.0.next().await.json(), sockjs.0.next().await.json());
        for message in [event.json(), stomp, sockjs] {
            assert_eq!((&message["seq"], &message["content"]), (&seq.into(), &content.into()));
        }
    }
}
