//! Users whose connections are cut at any byte, over and over, come back and resume: each of them gets every message
//! once, over each transport. The service is the real one, and so are the sockets; what cuts them is a proxy in
//! between.

use crate::support::{Place, Service};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Speakers say so in their path, and are spared: a message that went down with its sender is nobody's loss.
const SCRIPT: &str = r#"
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: 12 }]
  delivery: { deadline: 20 }
  reconnect: { first: 100ms, most: 400ms, attempts: 100, cursor: seq }
  poll: { url: "/cur/{{ $room }}", every: 0.2, cursor: { json: $.next, as: after } }
  longpoll: { url: "/location/long/{{ $room }}", hold: 30, cursor: { json: $.next, as: after } }
  sse: { url: "/location/sse/connect?group={{ $room }}" }
  ws:
    url: /ws
    subscribe:
      send:
        payload: { type: join, room: "location:{{ $room }}", after: "{{ $cursor }}" }
        match: { json: $.type, value: joined }
    publish: { send: { type: send, room: "location:{{ $room }}", content: "{{ $message }}" } }
  stomp:
    url: /location
    sockjs: false
    receipts: [subscribe]
    subscribe: { destination: "/sub/location/{{ $room }}", headers: { after: "{{ $cursor }}" } }
  socketio:
    protocol: 5
    transports: [websocket]
    subscribe: { emit: [joinRoom, { roomId: "location:{{ $room }}", after: "{{ $cursor }}" }], acknowledge: true }
scenarios:
  - name: speaker
    engine: ws
    flow:
      - connect: "/ws?spared=1"
      - subscribe: lobby
      - think: 3
      - loop:
          - send: { mark: "{{ $stamp }}" }
            to: lobby
        count: 100
        pace: 0.06
      - think: 6
  - name: listener
    weight: 3
    engine: ENGINE
    flow:
      - subscribe: lobby
      - think: 14
"#;

/// When connections are cut, from the first one on: after everybody has come, and no longer than speakers speak.
const CUTTING: std::ops::Range<Duration> = Duration::from_secs(2)..Duration::from_secs(9);

/// Passes bytes on, and cuts connections in the middle of what they receive. Returns its address; counts the cuts.
fn proxy(service: &str, cuts: Arc<AtomicU64>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let service = service.strip_prefix("http://").unwrap().to_owned();
    std::thread::spawn(move || {
        let mut began = None;
        for (number, client) in (0u64..).zip(listener.incoming()) {
            let (Ok(client), Ok(server)) = (client, TcpStream::connect(&service)) else { return };
            let began = *began.get_or_insert_with(Instant::now);
            let cuts = Arc::clone(&cuts);
            std::thread::spawn(move || pass(client, server, began, number, &cuts));
        }
    });
    address
}

fn pass(mut client: TcpStream, mut server: TcpStream, began: Instant, number: u64, cuts: &AtomicU64) {
    let mut first = [0; 4096];
    let Ok(read @ 1..) = client.read(&mut first) else { return };
    let is_spared = first[..read].windows(8).any(|text| text == b"spared=1");
    let _ = server.write_all(&first[..read]);
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    // Spread over what a connection gets in about a second, and different for each.
    let mut left = 300 + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 6000;
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = server.read(&mut buffer) {
        let is_cut = !is_spared && left < read as u64 && CUTTING.contains(&began.elapsed());
        let passed = if is_cut { left as usize } else { read };
        left = left.saturating_sub(read as u64);
        if client.write_all(&buffer[..passed]).is_err() || is_cut {
            cuts.fetch_add(u64::from(is_cut), Ordering::Relaxed);
            break;
        }
        if left == 0 {
            left = 1;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// The failure of an engine whose configuration is changed in one place.
fn run(engine: &str, (from, to): (&str, &str), serve: &[&str]) -> Option<String> {
    let place = Place::new();
    let service = Service::start(&place, serve);
    let cuts = Arc::new(AtomicU64::new(0));
    let target = format!("--target={}", proxy(&service.url, Arc::clone(&cuts)));
    assert!(SCRIPT.contains(from), "there is no {from}");
    let script = SCRIPT.replace("ENGINE", engine).replace(from, to);
    let path = place.write("cuts.yml", &script);
    let arguments = ["run", path.to_str().unwrap(), &target, "--json", "--shards=2", "--seed=1"];
    let summary: Value = place.sonagi(&arguments).json();
    let seen = |name: &str| summary["delivery"][name].as_u64().unwrap();
    let mut wrong = Vec::new();
    for class in ["lost", "duplicate", "reordered", "leaked", "unknown", "foreign"] {
        if seen(class) > 0 {
            wrong.push(format!("{} copies are {class}", seen(class)));
        }
    }
    let speakers = summary["scenarios"]["speaker"].as_u64().unwrap_or_default();
    // A copy sent around somebody's first joining is neither owed nor leaked.
    let (all, owed) = (speakers * 100 * 12, seen("owed"));
    if speakers == 0 || seen("messages") != speakers * 100 || owed > all || owed < all - all / 50 {
        wrong.push(format!("{speakers} speakers' messages are owed to all 12, got {}", summary["delivery"]));
    }
    // Polls go on by themselves: cutting one takes no membership away.
    let (cut, polls) = (cuts.load(Ordering::Relaxed), matches!(engine, "poll" | "longpoll"));
    if cut < 20 || (!polls && (seen("replayed") == 0 || summary["traffic"]["reconnects"].as_u64() < Some(20)))
    {
        wrong.push(format!("{cut} cuts are no test: {}", summary["traffic"]));
    }
    if summary["users"]["failed"] != 0 {
        wrong.push(format!("users failed: {}", summary["errors"]));
    }
    (!wrong.is_empty()).then(|| format!("{engine} {to}: {}", wrong.join("; ")))
}

#[test]
fn who_is_cut_off_again_and_again_and_resumes_misses_nothing_and_gets_nothing_twice() {
    let (as_it_is, none): (_, &[&str]) = (("", ""), &[]);
    let polling = ("transports: [websocket]", "transports: [polling]");
    let each = [
        ("ws", as_it_is, none),
        ("sse", as_it_is, none),
        ("stomp", as_it_is, none),
        ("stomp", ("sockjs: false", "sockjs: true"), none),
        ("poll", as_it_is, none),
        ("longpoll", as_it_is, none),
        ("socketio", as_it_is, none),
        ("socketio", polling, none),
        ("socketio", ("protocol: 5", "protocol: 4"), none),
        ("socketio", as_it_is, &["--recovery=60s"]),
    ];
    let mut wrong = Vec::new();
    // Five at a time: each run is a quarter of a minute of mostly waiting.
    for batch in each.chunks(5) {
        std::thread::scope(|scope| {
            let runs: Vec<_> = batch
                .iter()
                .map(|(engine, change, serve)| scope.spawn(move || run(engine, *change, serve)))
                .collect();
            wrong.extend(runs.into_iter().filter_map(|run| run.join().unwrap()));
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
