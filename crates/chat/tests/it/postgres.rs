//! The service on a real PostgreSQL: what several of them share, what is answered when its connections are taken, and
//! what is left of acknowledged messages when the server crashes under load.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use serde_json::Value;
use sonagi_chat::{Config, PostgresLocation, Service, StoreLocation};

use crate::client::{Ws, get, metric, post, within};
use crate::postgres_cluster::Cluster;

async fn serve(address: &str, seed_users: usize, pool: usize, pool_timeout: Duration) -> Service {
    let mut location = PostgresLocation::new(address).unwrap();
    (location.pool, location.pool_timeout) = (pool, pool_timeout);
    let store = StoreLocation::Postgres(Box::new(location));
    sonagi_chat::start(Config { seed_users, store, ..Config::default() }).await.unwrap()
}

/// A room's whole history, as contents by their numbers.
async fn history(service: &Service, room: &str) -> BTreeMap<u64, Value> {
    let (mut all, mut after) = (BTreeMap::new(), 0);
    loop {
        let path = format!("/rooms/{room}/messages?limit=500&after={after}");
        let page = get(service.address(), &path, &service.credentials()[0].token).await.json();
        let messages = page["messages"].as_array().unwrap();
        for message in messages {
            let before = all.insert(message["seq"].as_u64().unwrap(), message["content"].clone());
            assert_eq!(before, None);
        }
        after = page["next"].as_u64().unwrap();
        if messages.is_empty() {
            return all;
        }
    }
}

#[tokio::test]
async fn services_that_share_a_store_share_users_tokens_and_history() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let first = serve(&address, 3, 2, Duration::from_secs(60)).await;
    let second = serve(&address, 0, 2, Duration::from_secs(60)).await;
    let login = r#"{"email":"user2@example.test","password":"password"}"#;
    let token = post(first.address(), "/auth/login", "", login).await.json()["access_token"].clone();
    let token = token.as_str().unwrap();
    let friends = get(second.address(), "/users/friends", token).await;
    assert_eq!((friends.status, friends.json()["friends"].as_array().unwrap().len()), (200, 2));
    assert_eq!(get(second.address(), "/users/friends", &format!("{token}0")).await.status, 401);
    // Each of them says something; neither knows of the other's but from the store.
    for (service, seq) in [(&first, 1), (&second, 2), (&first, 3)] {
        let mut ws = Ws::in_room(service.address(), "lobby", token).await;
        ws.say("hello", "").await;
        assert_eq!(ws.json_of("ack").await["seq"], seq);
    }
    assert_eq!(history(&first, "lobby").await.into_keys().collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn a_request_for_which_all_connections_are_taken_is_answered_503_and_counted() {
    let cluster = Cluster::shared();
    let address = cluster.database();
    let service = serve(&address, 30, 1, Duration::from_millis(300)).await;
    let (at, token) = (service.address(), service.credentials()[0].token.clone());
    let page = get(at, "/api/user/list-all?page=2", &token).await.json();
    assert_eq!((&page["users"][0]["id"], &page["totalPage"]), (&20.into(), &3.into()));
    let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute("BEGIN; LOCK TABLE users").await.unwrap();
    let asked = [(); 2].map(|()| {
        let token = token.clone();
        tokio::spawn(async move { get(at, "/api/user/list-all", &token).await })
    });
    let [mut first, mut second] = asked;
    let (refused, is_first) = tokio::select! {
        reply = &mut first => (reply.unwrap(), true),
        reply = &mut second => (reply.unwrap(), false),
    };
    let pending = if is_first { second } else { first };
    assert_eq!((refused.status, refused.error_code().as_str()), (503, "store_busy"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    let metrics = get(at, "/metrics", "").await.body;
    let pool = ["max", "size", "idle", "waiting", "timeouts_total"]
        .map(|name| metric(&metrics, &format!("chat_store_pool_{name}")));
    assert_eq!(pool, [1, 1, 0, 0, 1]);
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(within("the other one", pending).await.unwrap().status, 200);
    connection.abort();
}

/// Says one message after the other, each until it is acknowledged, and returns the numbers they got.
async fn speaking(
    service: Arc<Service>,
    speaker: usize,
    stop: Arc<AtomicBool>,
    said: Arc<AtomicUsize>,
) -> BTreeMap<u64, String> {
    let token = &service.credentials()[speaker].token;
    let mut ws = Ws::in_room(service.address(), "lobby", token).await;
    let mut numbers = BTreeMap::new();
    for n in 0.. {
        if stop.load(SeqCst) {
            break;
        }
        let content = format!("{speaker}-{n}");
        let seq = loop {
            ws.say(&content, &content).await;
            let answer = loop {
                let json = ws.json().await;
                if json["type"] != "message" {
                    break json;
                }
            };
            match answer["type"].as_str() {
                Some("ack") => break answer["seq"].as_u64().unwrap(),
                // It is not known whether it was stored: the same id says so the next time.
                _ => assert!(
                    ["store_unreachable", "store_busy"].contains(&answer["code"].as_str().unwrap()),
                    "{answer}"
                ),
            }
        };
        assert_eq!(numbers.insert(seq, content), None);
        said.fetch_add(1, SeqCst);
    }
    numbers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_acknowledged_messages_none_is_lost_or_doubled_when_the_server_crashes_under_load() {
    let cluster = Arc::new(Cluster::start());
    let service = Arc::new(serve(&cluster.database(), 6, 4, Duration::from_secs(1)).await);
    let (stop, said) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let speakers: Vec<_> = (0..6)
        .map(|speaker| tokio::spawn(speaking(service.clone(), speaker, stop.clone(), said.clone())))
        .collect();
    let hundred_more = async || {
        let until = said.load(SeqCst) + 100;
        within("messages", async {
            while said.load(SeqCst) < until {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    };
    for _ in 0..3 {
        hundred_more().await;
        let crashed = cluster.clone();
        tokio::task::spawn_blocking(move || {
            crashed.crash();
            crashed.again();
        })
        .await
        .unwrap();
    }
    hundred_more().await;
    stop.store(true, SeqCst);
    let mut acknowledged = BTreeMap::new();
    for speaker in speakers {
        for (seq, content) in within("a speaker", speaker).await.unwrap() {
            assert_eq!(acknowledged.insert(seq, Value::from(content)), None, "one number, two messages");
        }
    }
    let stored = history(&service, "lobby").await;
    assert_eq!(stored.len(), acknowledged.len());
    assert!(stored == acknowledged, "{stored:?}\n{acknowledged:?}");
    assert_eq!(stored.keys().copied().collect::<Vec<_>>(), (1..=stored.len() as u64).collect::<Vec<_>>());
}
