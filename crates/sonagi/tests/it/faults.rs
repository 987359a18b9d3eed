//! The proof of the ledger: the service plants a known share of each misbehaviour, and the ledger reports exactly that,
//! copy by copy, over each transport (`docs/faults.md` and `docs/ledger.md` define the classes alike).
//!
//! 100 users in two rooms or groups (a leak needs somebody outside), each sending once a second for 20 s: 100,000
//! copies.

use crate::support::{Place, Service};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

const FAULTS: [&str; 6] = [
    "drop=3%,seed=1",
    "duplicate=1%,seed=2",
    "delay=50ms@5%,seed=3",
    "reorder=1%,seed=4",
    "leak=0.1%,seed=5",
    "drop=3%,duplicate=1%,delay=50ms@5%,reorder=1%,leak=0.1%,seed=7",
];

/// The faults for the transports of location groups: losing and doubling alone, and everything together.
const FAULTS_OF_GROUPS: [&str; 2] = ["drop=3%,duplicate=1%,seed=6", FAULTS[5]];

const CONFIG: &str = r#"
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: 100 }]
  payload: { path: credentials.csv, fields: [email, password], order: sequence, skipHeader: true }
  socketio: { transports: [websocket] }
scenarios:
"#;

/// Everyone is in before the first word and stays until after the last one, also on a busy machine; and after its own
/// last word longer than a reordered copy is held (2 s).
const SCENARIO: &str = r#"
  - name: NAME
    engine: ENGINE
    room: "{{ roomId }}"
    flow:
      - post:
          url: /auth/login
          json: { email: "{{ email }}", password: "{{ password }}" }
          capture: { json: $.access_token, as: token }
      - post:
          url: /rooms/find-or-create
          headers: { authorization: "Bearer {{ token }}" }
          json: { name: NAME }
          capture: { json: $.roomId, as: roomId }
JOIN
      - think: 9
      - loop:
SEND
        count: 20
        pace: 1
      - think: 9
"#;

const WEBSOCKET: [&str; 3] = [
    "ws",
    r#"      - connect: "/ws?room={{ roomId }}&token={{ token }}""#,
    r#"          - send: { type: send, content: "rain {{ $stamp }}" }"#,
];

const SOCKETIO: [&str; 3] = [
    "socketio-v3",
    r#"      - connect: { auth: { token: "{{ token }}" } }
      - emit: [joinRoom, { roomId: "{{ roomId }}" }]
        acknowledge: true"#,
    r#"          - emit: [sendMessage, { roomId: "{{ roomId }}", content: "rain {{ $stamp }}" }]
            acknowledge: true"#,
];

/// A transport: its name, and the script of the same conversation over it.
struct Transport {
    name: String,
    script: String,
}

/// A transport of chat rooms.
fn of_rooms([engine, join, send]: [&str; 3]) -> Transport {
    let scenario = |name: &str| {
        SCENARIO.replace("NAME", name).replace("ENGINE", engine).replace("JOIN", join).replace("SEND", send)
    };
    let script = format!("{CONFIG}{}{}", scenario("the first room"), scenario("the second room"));
    Transport { name: engine.to_owned(), script }
}

/// Everybody is known by a token, so that polls and requests of one user are one receiver and one sender.
const CONFIG_OF_GROUPS: &str = r#"
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: 100 }]
  payload: { path: credentials.csv, fields: [email, password], order: sequence, skipHeader: true }
  poll:
    url: "/cur/{{ $room }}"
    every: 0.5
    cursor: &cursor { json: $.next, as: after }
    headers: &token { authorization: "Bearer {{ token }}" }
    publish: &notify
      post: { url: "/location/long/{{ $room }}/notify", headers: *token, json: "{{ $message }}" }
  longpoll: { url: "/location/long/{{ $room }}", hold: 30, cursor: *cursor, headers: *token, publish: *notify }
  sse:
    url: "/location/sse/connect?group={{ $room }}"
    headers: *token
    publish:
      post: { url: "/location/sse/share?group={{ $room }}", headers: *token, json: "{{ $message }}" }
  stomp:
    url: /location
    sockjs: false
    connectHeaders: *token
    receipts: [subscribe, send]
    subscribe: { destination: "/sub/location/{{ $room }}" }
    publish: { destination: "/pub/share/{{ $room }}" }
  socketio:
    protocol: 4
    transports: [websocket]
    query: { token: "{{ token }}" }
    subscribe: { emit: [joinRoom, { roomId: "location:{{ $room }}" }], acknowledge: true }
    publish: { emit: [sendMessage, { roomId: "location:{{ $room }}", content: "{{ $message }}" }], acknowledge: true }
scenarios:
"#;

/// [`SCENARIO`] for location groups.
const SCENARIO_OF_GROUPS: &str = r#"
  - name: the NAME group
    engine: ENGINE
    room: NAME
    flow:
      - post:
          url: /auth/login
          json: { email: "{{ email }}", password: "{{ password }}" }
          capture: { json: $.access_token, as: token }
      - subscribe: NAME
      - think: 9
      - loop:
          - send: { mark: "rain {{ $stamp }}" }
            to: NAME
        count: 20
        pace: 1
      - think: 9
"#;

/// A transport of location groups; `changes` are made to its configuration.
fn of_groups(name: &str, engine: &str, changes: &[(&str, &str)]) -> Transport {
    let config = changes.iter().fold(CONFIG_OF_GROUPS.to_owned(), |config, (from, to)| {
        assert!(config.contains(from), "there is no {from}");
        config.replace(from, to)
    });
    let scenario = |name: &str| SCENARIO_OF_GROUPS.replace("NAME", name).replace("ENGINE", engine);
    Transport {
        name: name.to_owned(),
        script: format!("{config}{}{}", scenario("first"), scenario("second")),
    }
}

/// Polls so rare, of a talk so fast, that an answer has no room for what is there: the rest is asked for at once.
fn polled_in_pages() -> Transport {
    let rare = ("every: 0.5", "every: 9\n    more: $.more");
    let transport = of_groups("poll in pages", "poll", &[rare]);
    // They leave late enough for one more poll after the last word of whoever began last.
    let script = transport.script.replace("pace: 1\n      - think: 9", "pace: 0.2\n      - think: 12");
    assert_ne!(script, transport.script);
    Transport { script, ..transport }
}

/// The service's own counts of its faults, by kind.
pub(crate) fn planted(service: &Service) -> BTreeMap<String, u64> {
    let address = service.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let lines = page.lines().filter_map(|line| line.strip_prefix("chat_faults_planted_total{kind=\""));
    lines
        .map(|line| {
            let (kind, count) = line.split_once("\"} ").unwrap();
            (kind.to_owned(), count.parse().unwrap())
        })
        .collect()
}

/// Runs once against a misbehaving service. Returns the figures that disagree.
fn disagreement(faults: &str, transport: &Transport) -> Option<String> {
    let place = Place::new();
    let script_path = place.write("rooms.yml", &transport.script);
    let service = Service::start(
        &place,
        &[
            "--seed-users=100",
            "--credentials=credentials.csv",
            // 800 logins at once are many seconds of hashing: nobody is to come in after the first word for that.
            "--password-cost=8",
            "--workers=1",
            &format!("--fault={faults}"),
        ],
    );
    let target = format!("--target={}", service.url);
    let answer = place.sonagi(&["run", script_path.to_str().unwrap(), &target, "--json", "--shards=1"]);
    let summary: Value = answer.json();
    let planted = planted(&service);
    let seen = |name: &str| summary["delivery"][name].as_u64().unwrap();
    let classes =
        [("lost", "drop"), ("duplicate", "duplicate"), ("reordered", "reorder"), ("leaked", "leak")];
    let mut wrong: Vec<String> = classes
        .iter()
        .filter(|(class, kind)| seen(class) != planted[*kind])
        .map(|(class, kind)| format!("{class} {} but {kind} planted {}", seen(class), planted[*kind]))
        .collect();
    // A check that cannot fail proves nothing: what was asked for must have been planted, and the load carried out.
    for asked in
        faults.split(',').filter_map(|fault| fault.split_once('=')).filter(|(kind, _)| *kind != "seed")
    {
        if planted[asked.0] == 0 {
            wrong.push(format!("{} was asked for and never planted", asked.0));
        }
    }
    // Somebody who joined after the first word or left before the last would make the comparison unfair.
    let sizes = summary["scenarios"].as_object().unwrap().values().map(|users| users.as_u64().unwrap());
    let expected: u64 = sizes.map(|users| users * users * 20).sum();
    if seen("messages") != 2000 || seen("owed") != expected || seen("unknown") + seen("settling") != 0 {
        wrong.push(format!("{expected} copies should be owed, got {}", summary["delivery"]));
    }
    // Four polls are planned for each of 100 users, the first of them subscribes: what is more follows up.
    let polls =
        summary["operations"].as_array().unwrap().iter().find(|operation| operation["name"] == "poll");
    let polls = polls.map_or(0, |polls| polls["count"].as_u64().unwrap());
    if transport.name == "poll in pages" && polls < 350 {
        wrong.push(format!("{polls} polls: no answer can have been cut short"));
    }
    let arrived = seen("delivered") + seen("late") + seen("replayed");
    if arrived + seen("lost") != seen("owed") || seen("outstanding") != 0 {
        wrong.push(format!("the classes do not add up: {}", summary["delivery"]));
    }
    (!wrong.is_empty()).then(|| format!("{} with {faults}: {}", transport.name, wrong.join("; ")))
}

/// Eight runs at a time: each is half a minute of mostly waiting.
fn disagreements(runs: &[(&str, &Transport)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for batch in runs.chunks(8) {
        std::thread::scope(|scope| {
            let running: Vec<_> = batch
                .iter()
                .map(|(faults, transport)| scope.spawn(move || disagreement(faults, transport)))
                .collect();
            wrong.extend(running.into_iter().filter_map(|run| run.join().unwrap()));
        });
    }
    wrong
}

#[test]
fn the_ledger_counts_exactly_what_the_service_planted() {
    let (websocket, socketio) = (of_rooms(WEBSOCKET), of_rooms(SOCKETIO));
    let runs: Vec<_> =
        FAULTS.iter().flat_map(|faults| [(*faults, &websocket), (*faults, &socketio)]).collect();
    assert_eq!(disagreements(&runs), Vec::<String>::new());
}

#[test]
fn it_does_so_over_every_transport_that_shares_locations() {
    let transports = [
        of_groups("poll", "poll", &[]),
        polled_in_pages(),
        of_groups("longpoll", "longpoll", &[]),
        of_groups("sse", "sse", &[]),
        of_groups("stomp", "stomp", &[]),
        of_groups("stomp over SockJS", "stomp", &[("sockjs: false", "sockjs: true")]),
        of_groups("Engine.IO 3", "socketio", &[]),
        of_groups("Engine.IO 3 polled", "socketio", &[("transports: [websocket]", "transports: [polling]")]),
    ];
    let runs: Vec<_> = FAULTS_OF_GROUPS
        .iter()
        .flat_map(|faults| transports.iter().map(move |each| (*faults, each)))
        .collect();
    assert_eq!(disagreements(&runs), Vec::<String>::new());
}
