//! Several instances as processes over one PostgreSQL and one Redis, each of which is killed under load: what was
//! acknowledged is received once and in order on every transport, by whoever stays or comes back.

use crate::postgres_cluster::Cluster;
use crate::receivers::{Instances, WIRES, receive, share};
use crate::redis_server::Redis;
use crate::support::Place;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const SENDERS: u64 = 10;
const EACH: u64 = 48;

struct Instance {
    child: Child,
    at: SocketAddr,
}

impl Instance {
    fn start(place: &Place, store: &str, bus: &str) -> Instance {
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--grace", "500ms"]);
        command.args(["--store", store, "--bus", bus, "--seed-users", "4", "--credentials", "users.json"]);
        let log = std::fs::File::options().create(true).append(true).open(place.path().join("log")).unwrap();
        let mut child = command.stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}"));
        Instance { child, at: at.parse().unwrap() }
    }

    fn end(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Stack {
    place: Place,
    cluster: Cluster,
    database: String,
    redis: Redis,
    running: Vec<Instance>,
    instances: Instances,
}

impl Stack {
    fn start() -> Stack {
        let cluster = Cluster::start();
        let database = cluster.database();
        let (place, redis) = (Place::new(), Redis::start());
        let mut stack =
            Stack { place, cluster, database, redis, running: Vec::new(), instances: Instances::default() };
        (0..3).for_each(|_| stack.add());
        stack
    }

    fn add(&mut self) {
        let instance = Instance::start(&self.place, &self.database, &self.redis.address());
        self.instances.lock().unwrap().push(instance.at);
        self.running.push(instance);
    }

    /// Ends the oldest instance; clients are told of a new one once it is there.
    fn replace(&mut self, signal: Signal) {
        let mut old = self.running.remove(0);
        if signal == Signal::TERM {
            // A rolling restart: the balancer knows the new one, and sends nobody to the old one any more.
            self.add();
            self.forget(old.at);
            old.end(signal);
        } else {
            old.end(signal);
            self.forget(old.at);
            self.add();
        }
    }

    fn forget(&self, at: SocketAddr) {
        self.instances.lock().unwrap().retain(|known| *known != at);
    }

    /// Does each of these things when so many more messages are acknowledged.
    fn suffer(&mut self, acknowledged: &AtomicU64) {
        type Event = fn(&mut Stack);
        let events: [Event; 7] = [
            |stack| stack.replace(Signal::KILL),
            |stack| stack.redis.kill(),
            |stack| stack.replace(Signal::KILL),
            |stack| stack.redis.again(),
            |stack| {
                stack.cluster.crash();
                stack.cluster.again();
            },
            |stack| stack.replace(Signal::TERM),
            |stack| {
                stack.redis.kill();
                stack.redis.again();
            },
        ];
        let each = SENDERS * EACH / (events.len() as u64 + 1);
        let end = Instant::now() + PATIENCE;
        for (n, event) in (1..).zip(events) {
            while acknowledged.load(Relaxed) < n * each {
                assert!(Instant::now() < end, "event {n}: {} acknowledged", acknowledged.load(Relaxed));
                std::thread::sleep(Duration::from_millis(2));
            }
            event(self);
        }
    }
}

fn tokens(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path().join("users.json")).unwrap();
    let users: serde_json::Value = serde_json::from_str(&text).unwrap();
    users.as_array().unwrap().iter().map(|user| user["token"].as_str().unwrap().to_owned()).collect()
}

/// As one sender: its messages one after the other.
async fn saying(sender: u64, token: String, instances: Instances, acknowledged: Arc<AtomicU64>) -> Vec<u64> {
    let mut seqs = Vec::new();
    for n in 0..EACH {
        seqs.push(share("7", &token, &format!("{sender}-{n}"), &instances).await);
        acknowledged.fetch_add(1, Relaxed);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    seqs
}

#[test]
fn what_is_acknowledged_is_received_once_and_in_order_whatever_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut stack = Stack::start();
    let (tokens, acknowledged) = (tokens(&stack.place), Arc::<AtomicU64>::default());
    let receivers: Vec<_> = WIRES
        .map(|wire| runtime.spawn(receive(wire, "7".into(), SENDERS * EACH, stack.instances.clone())))
        .into();
    let senders: Vec<_> = (0..SENDERS)
        .map(|n| {
            let token = tokens[n as usize % tokens.len()].clone();
            runtime.spawn(saying(n, token, stack.instances.clone(), acknowledged.clone()))
        })
        .collect();
    stack.suffer(&acknowledged);
    runtime.block_on(async {
        let mut seqs = Vec::new();
        for sender in senders {
            seqs.extend(tokio::time::timeout(PATIENCE, sender).await.unwrap().unwrap());
        }
        seqs.sort_unstable();
        assert!(
            seqs.into_iter().eq(1..=SENDERS * EACH),
            "each is stored once, and acknowledged with its number"
        );
        for (wire, receiver) in WIRES.iter().zip(receivers) {
            let lives = tokio::time::timeout(PATIENCE, receiver).await;
            let lives = lives.unwrap_or_else(|_| panic!("{wire:?} has not got all")).unwrap();
            assert!(lives > 0, "{wire:?}");
        }
    });
}

#[test]
fn a_bus_needs_a_shared_store_and_its_password_is_shown_nowhere() {
    let place = Place::new();
    let refused = place.sonagi(&["serve", "--listen", "127.0.0.1:0", "--bus", "redis://:s3cret@127.0.0.1:1"]);
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(refused.err.contains("hint: give all of them the same --store postgres://"), "{}", refused.err);
    let wrong = place.sonagi(&["serve", "--bus", "nats://:s3cret@127.0.0.1:1"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("--bus") && wrong.err.contains("redis://HOST:PORT"), "{}", wrong.err);
    for answer in [refused, wrong] {
        assert!(!format!("{}{}", answer.out, answer.err).contains("s3cret"), "{}", answer.err);
    }
}
