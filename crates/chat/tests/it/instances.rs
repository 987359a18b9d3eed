//! Several services over one PostgreSQL and one Redis: to their clients they are one.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sonagi_chat::{Config, PostgresLocation, Service, StoreLocation};

use crate::client::{Ws, get, metric, post, within};
use crate::postgres_cluster::Cluster;
use crate::receivers::{Instances, WIRES, receive, share};
use crate::redis_server::Redis;
use crate::socketio_client::Sio;
use crate::stomp_client::Stomp;

/// What they share.
struct Stack {
    _cluster: Arc<Cluster>,
    database: String,
    redis: Redis,
}

impl Stack {
    fn start() -> Stack {
        let cluster = Cluster::shared();
        Stack { database: cluster.database(), _cluster: cluster, redis: Redis::start() }
    }

    async fn service(&self) -> Service {
        let config = Config {
            store: StoreLocation::Postgres(Box::new(PostgresLocation::new(&self.database).unwrap())),
            bus: Some(self.redis.address().parse().unwrap()),
            seed_users: 4,
            ..Config::default()
        };
        let service = sonagi_chat::start(config).await.unwrap();
        within("the bus", async {
            while metric(&service.metrics(), "chat_bus_up") == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        service
    }
}

fn addresses(services: &[Service]) -> Instances {
    Arc::new(Mutex::new(services.iter().map(Service::address).collect()))
}

/// 100 senders at once, three messages each: their numbers.
async fn said_by_a_hundred(tokens: &[String], instances: &Instances) -> Vec<u64> {
    let senders: Vec<_> = (0..100)
        .map(|n| {
            let (token, instances) = (tokens[n % tokens.len()].clone(), instances.clone());
            tokio::spawn(async move {
                let mut seqs = Vec::new();
                for part in 0..3 {
                    seqs.push(share("7", &token, &format!("{n}-{part}"), &instances).await);
                }
                seqs
            })
        })
        .collect();
    let mut seqs = Vec::new();
    for sender in senders {
        seqs.extend(sender.await.unwrap());
    }
    seqs.sort_unstable();
    seqs
}

#[tokio::test]
async fn a_hundred_senders_over_three_instances_are_heard_by_all_in_one_order_while_instances_are_replaced() {
    let stack = Stack::start();
    let mut services = vec![stack.service().await, stack.service().await, stack.service().await];
    let instances = addresses(&services);
    // A token of one instance is good at all.
    let tokens: Vec<String> = services[0].credentials().iter().map(|one| one.token.clone()).collect();
    let receivers: Vec<_> =
        WIRES.iter().map(|wire| tokio::spawn(receive(*wire, "7".into(), 300, instances.clone()))).collect();
    let saying = {
        let instances = instances.clone();
        tokio::spawn(async move { said_by_a_hundred(&tokens, &instances).await })
    };
    for _ in 0..3 {
        let new = stack.service().await;
        let old = services.remove(0);
        {
            let mut instances = instances.lock().unwrap();
            instances.retain(|at| *at != old.address());
            instances.push(new.address());
        }
        services.push(new);
        old.drain(Duration::from_millis(300)).await;
    }
    assert!(saying.await.unwrap().into_iter().eq(1..=300), "numbers are dense, whoever gave them");
    for receiver in receivers {
        let lives = within("all messages", receiver).await.unwrap();
        assert!(lives > 0);
    }
    // Nobody holds anything when all have gone.
    let total = |name| services.iter().map(|service| metric(&service.metrics(), name)).sum::<u64>();
    within("the end of all connections", async {
        while total("chat_sockets_open") > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_room_made_at_one_instance_is_there_at_all_for_who_logged_in_anywhere() {
    let stack = Stack::start();
    let [one, other] = [stack.service().await, stack.service().await];
    let [here, there]: [SocketAddr; 2] = [one.address(), other.address()];
    let (mine, friend) = (&one.credentials()[0], &other.credentials()[1]);
    let wanted = json!({ "friendId": friend.id }).to_string();
    let made = async |body: &str| {
        post(here, "/rooms/find-or-create", &mine.token, body).await.json()["roomId"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let room = made(&wanted).await;
    // At once, whether or not it has been told of it.
    let mut ws = Ws::open(there, &format!("/ws?token={}", friend.token), "").await.ok().unwrap();
    ws.text(&json!({"type": "join", "room": room}).to_string()).await;
    assert_eq!(ws.json_of("joined").await["seq"], 0);
    let room = made(r#"{"name": "den"}"#).await;
    let mut sio = Sio::in_room(there, &room, &friend.token).await;
    let room = made(r#"{"name": "attic"}"#).await;
    let mut stomp = Stomp::connect_to(there, "/location", "1.2", &format!("login:{}\n", friend.token)).await;
    let receipt = stomp.subscribe("s", &format!("/sub/room/{room}"), "").await;
    assert_eq!(receipt.header("seq"), Some("0"));
    let room = made(r#"{"name": "hall"}"#).await;
    let page = get(there, &format!("/rooms/{room}/messages"), &friend.token).await;
    assert_eq!(page.json(), json!({"roomId": "hall", "messages": [], "next": 0, "last": 0}));
    // What is said here is heard there, and the other way.
    let mut speaker = Ws::in_room(here, "den", &mine.token).await;
    speaker.say("hello", "1").await;
    assert_eq!(sio.message().await["content"], "hello");
    let answered = sio.emit("sendMessage", &json!({"roomId": "den", "content": "yes"})).await;
    assert_eq!(answered, json!({"ok": true, "seq": 2}));
    assert_eq!(speaker.json_of("message").await["seq"], 1);
    assert_eq!(speaker.json_of("message").await["content"], "yes");
    // Made at both at once, it is one.
    let both = tokio::join!(
        post(here, "/rooms/find-or-create", &mine.token, r#"{"name": "twin"}"#),
        post(there, "/rooms/find-or-create", &friend.token, r#"{"name": "twin"}"#)
    );
    assert_eq!((both.0.json(), both.1.json()), (json!({"roomId": "twin"}), json!({"roomId": "twin"})));
    let mut hears = Ws::in_room(there, "twin", &friend.token).await;
    let mut says = Ws::in_room(here, "twin", &mine.token).await;
    says.say("x", "1").await;
    assert_eq!(hears.json_of("message").await["seq"], 1);
    assert_eq!(get(there, "/rooms/nowhere/messages", &friend.token).await.error_code(), "no_such_room");
    let unknown = Ws::open(there, &format!("/ws?room=nowhere&token={}", friend.token), "").await;
    assert_eq!(unknown.err().unwrap().error_code(), "no_such_room");
}

#[tokio::test]
async fn while_redis_is_gone_messages_of_other_instances_come_from_the_store_and_again_over_it_when_it_is_back()
 {
    let mut stack = Stack::start();
    let [one, other] = [stack.service().await, stack.service().await];
    let token = one.credentials()[0].token.clone();
    let here: Instances = Arc::new(Mutex::new(vec![one.address()]));
    let there: Instances = Arc::new(Mutex::new(vec![other.address()]));
    let receivers: Vec<_> =
        WIRES.iter().map(|wire| tokio::spawn(receive(*wire, "7".into(), 60, there.clone()))).collect();
    for n in 1..=60 {
        assert_eq!(share("7", &token, &n.to_string(), &here).await, n);
        match n {
            20 => stack.redis.kill(),
            40 => {
                assert_eq!(metric(&other.metrics(), "chat_bus_up"), 0);
                let health = get(other.address(), "/healthz", "").await;
                assert!(health.status == 200 && health.body.starts_with("ok\nbus: down"), "{}", health.body);
                stack.redis.again();
            }
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    for receiver in receivers {
        within("all messages", receiver).await.unwrap();
    }
    assert!(metric(&other.metrics(), "chat_bus_filled_total") > 0);
    within("the bus", async {
        while metric(&other.metrics(), "chat_bus_up") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_bus_is_refused_with_what_it_cannot_go_with() {
    let refused = async |config: Config| {
        let bus = Some("redis://:s3cret@127.0.0.1:1".parse().unwrap());
        sonagi_chat::start(Config { bus, ..config }).await.err().unwrap().to_string()
    };
    let why = refused(Config::default()).await;
    let expected = "a bus needs a store that several services may use, and this one is one service's own\n\
                    hint: give all of them the same --store postgres://…";
    assert_eq!(why, expected);
    let faults = "drop=1%".parse().unwrap();
    let why = refused(Config { faults, ..Config::default() }).await;
    assert!(why.starts_with("a bus cannot carry planted faults: ") && why.contains("\nhint: "), "{why}");
    let why = refused(Config { null: true, ..Config::default() }).await;
    assert!(why.contains("null mode") && why.contains("\nhint: "), "{why}");
}
