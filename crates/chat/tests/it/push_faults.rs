//! Faults planted in event streams, STOMP and SockJS: what receivers see is what the service counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::{Value, json};
use sonagi_chat::{Config, Service};

use crate::client::{metric, post, within};
use crate::sse_client::Events;
use crate::stomp_client::Stomp;

const MEMBERS: usize = 12;
const STRANGERS: usize = 6;
const MESSAGES: usize = 30;

enum Receiver {
    Sse(Events),
    /// Acknowledges each message for itself, or none.
    Stomp(Stomp, bool),
}

impl Receiver {
    async fn come(service: &Service, user: usize, group: &str) -> Receiver {
        let (at, token) = (service.address(), &service.credentials()[user].token);
        // Strangers need none: what they never asked for cannot be acknowledged.
        let acks = user < MEMBERS && user.is_multiple_of(2);
        let path = match user % 3 {
            0 => {
                let mut events =
                    Events::open(at, &format!("group={group}&token={token}"), "").await.ok().unwrap();
                // The greeting, behind which it is a member.
                while events.next().await.unwrap().id.is_none() {}
                return Receiver::Sse(events);
            }
            1 => format!("/location?token={token}"),
            _ => format!("/location/0/s/websocket?token={token}"),
        };
        let mut stomp = Stomp::connect_to(at, &path, "1.2", "").await;
        let mode = if acks { "ack:client-individual\n" } else { "" };
        stomp.subscribe("s", &format!("/sub/location/{group}"), mode).await;
        Receiver::Stomp(stomp, acks)
    }

    async fn copy(&mut self) -> Value {
        match self {
            Receiver::Sse(events) => {
                let event = events.event().await.unwrap();
                let copy = event.json();
                let is_leaked = copy["content"]["group"] == "quiet";
                assert!(is_leaked || event.id.is_none() || event.id == Some(copy["seq"].to_string()));
                copy
            }
            Receiver::Stomp(stomp, acks) => {
                let message = stomp.next().await;
                assert_eq!(message.command, "MESSAGE", "{message:?}");
                if *acks {
                    stomp.frame(&format!("ACK\nid:{}\n\n", message.header("ack").unwrap())).await;
                }
                message.json()
            }
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

fn judge(copies: &[Value], is_member: bool, seen: &mut Seen) {
    if !is_member {
        seen.leaked += copies.len() as u64;
        return;
    }
    let mut first: HashMap<u64, ()> = HashMap::new();
    let mut highest: HashMap<u64, u64> = HashMap::new();
    for copy in copies {
        let (seq, sender) = (copy["seq"].as_u64().unwrap(), copy["senderId"].as_u64().unwrap());
        if first.insert(seq, ()).is_some() {
            seen.duplicate += 1;
            continue;
        }
        let highest = highest.entry(sender).or_default();
        if *highest > seq {
            seen.reordered += 1;
        }
        *highest = (*highest).max(seq);
    }
    seen.lost += (MEMBERS * MESSAGES - first.len()) as u64;
}

fn planted(service: &Service, kind: &str) -> u64 {
    metric(&service.metrics(), &format!("chat_faults_planted_total{{kind=\"{kind}\"}}"))
}

/// Copies there will be once none is held any more.
fn due(service: &Service) -> u64 {
    let owed = (MEMBERS * MEMBERS * MESSAGES) as u64;
    owed + planted(service, "duplicate") + planted(service, "leak") - planted(service, "drop")
}

async fn shower(plan: &str) -> (Seen, Seen) {
    let faults = format!("{plan},settle=0s,hold=100ms").parse().unwrap();
    let config = Config { seed_users: MEMBERS + STRANGERS, faults, ..Config::default() };
    let service = Arc::new(sonagi_chat::start(config).await.unwrap());
    let received = Arc::new(AtomicU64::new(0));
    let (over, mut is_over) = tokio::sync::watch::channel(false);
    let mut listeners = Vec::new();
    for user in 0..MEMBERS + STRANGERS {
        let group = if user < MEMBERS { "7" } else { "quiet" };
        let mut receiver = Receiver::come(&service, user, group).await;
        let (received, mut is_over) = (received.clone(), is_over.clone());
        listeners.push(tokio::spawn(async move {
            let mut copies = Vec::new();
            loop {
                tokio::select! {
                    copy = receiver.copy() => copies.push(copy),
                    _ = is_over.wait_for(|over| *over) => return copies,
                }
                received.fetch_add(1, Relaxed);
            }
        }));
    }
    is_over.mark_unchanged();
    let senders: Vec<_> = (0..MEMBERS)
        .map(|user| {
            let service = service.clone();
            tokio::spawn(async move {
                for n in 0..MESSAGES {
                    let path = "/location/sse/share?group=7";
                    let body = json!({"group": "7", "n": n}).to_string();
                    let token = &service.credentials()[user].token;
                    assert_eq!(post(service.address(), path, token, &body).await.status, 200);
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    within("every copy", async {
        // The last ones are held until their time: the count of copies says when none is.
        while metric(&service.metrics(), "chat_deliveries_total") < due(&service)
            || received.load(Relaxed) < due(&service)
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    over.send_replace(true);
    let mut seen = Seen::default();
    for (user, listener) in listeners.into_iter().enumerate() {
        judge(&listener.await.unwrap(), user < MEMBERS, &mut seen);
    }
    assert_eq!(metric(&service.metrics(), "chat_deliveries_total"), due(&service));
    let counted = Seen {
        lost: planted(&service, "drop"),
        duplicate: planted(&service, "duplicate"),
        reordered: planted(&service, "reorder"),
        leaked: planted(&service, "leak"),
    };
    (seen, counted)
}

#[tokio::test]
async fn each_fault_is_counted_as_streams_and_subscriptions_see_it() {
    for plan in ["drop=5%,seed=3", "duplicate=5%,seed=3", "reorder=5%,seed=3", "leak=3%,seed=3"] {
        let (seen, counted) = shower(plan).await;
        assert_eq!(seen, counted, "{plan}");
        let sum = seen.lost + seen.duplicate + seen.reordered + seen.leaked;
        assert!((40..800).contains(&sum), "{plan}: {seen:?}");
    }
}

#[tokio::test]
async fn all_faults_together_are_counted_as_streams_and_subscriptions_see_them() {
    for seed in 1..=3 {
        let plan = format!("drop=3%,duplicate=2%,delay=3ms@5%,reorder=3%,leak=1%,seed={seed}");
        let (seen, counted) = shower(&plan).await;
        assert_eq!(seen, counted, "{plan}");
        assert!(seen.lost > 0 && seen.duplicate > 0 && seen.reordered > 0 && seen.leaked > 0, "{seen:?}");
    }
}
