//! The scripts of four field reports, as they were published: only the addresses are filled in.
//!
//! The first three are what people have who come from Artillery: a processor in TypeScript that imports a type from a
//! package that is not there, keys that mean nothing, headers that only a user can fill in. `make test` runs them with
//! fewer users; their full length is in `docs/from-artillery.md`. The fourth is k6's: five transports in turn, and
//! sockets that nobody ever closes.

use crate::support::{Answer, Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const CONFIG: &str = include_str!("seeds/socketio/artillery-http-config.yml");
const PROCESSOR: &str = include_str!("seeds/socketio/processor.ts");
const PHASES: &str = include_str!("seeds/peak/phases.yml");
const REST: &str = include_str!("seeds/rest/loadtest.yaml");
const REALTIME: &str = include_str!("seeds/realtime/script.js");

/// A clean folder with what `npm install axios` leaves, and nothing else of npm's.
fn folder() -> Place {
    let packages = packages();
    let place = Place::new();
    std::os::unix::fs::symlink(&packages, place.path().join("node_modules")).unwrap();
    assert!(packages.join("axios").exists() && !packages.join("passport").exists());
    place
}

fn packages() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join(".cache/seeds/node_modules");
    packages
        .canonicalize()
        .unwrap_or_else(|_| panic!("{} is not there\nhint: make setup", packages.display()))
}

/// The script and its processor with the service's address, and the users it reads.
fn talk(place: &Place, config: &str) -> Service {
    std::fs::create_dir(place.path().join("data")).unwrap();
    let users = ["--seed-users", "20", "--credentials", "data/chat-users.json"];
    let service = Service::start(place, &users);
    let target = format!("target: \"{}\" #", service.url);
    place.write("artillery-http-config.yml", &filled(config, "target: #", &target));
    let api = format!("const API_URL = '{}'; //", service.url);
    place.write("processor.ts", &filled(PROCESSOR, "const API_URL = //", &api));
    service
}

fn filled(text: &str, hole: &str, with: &str) -> String {
    assert_eq!(text.matches(hole).count(), 1, "{hole}");
    text.replace(hole, with)
}

fn users(document: &Value) -> (u64, u64, u64) {
    let number = |name: &str| document["users"][name].as_u64().unwrap();
    (number("started"), number("completed"), number("failed"))
}

fn operation<'d>(document: &'d Value, name: &str) -> &'d Value {
    let operations = document["operations"].as_array().unwrap();
    operations.iter().find(|operation| operation["name"] == name).unwrap_or_else(|| panic!("{operations:?}"))
}

/// A number of the service's metrics.
fn metric(service: &Service, name: &str) -> u64 {
    let mut stream = TcpStream::connect(service.url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: chat\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

fn run(place: &Place, script: &str, overrides: &Value) -> Answer {
    place.sonagi(&["run", script, "--json", "--overrides", &overrides.to_string()])
}

#[test]
fn a_published_socketio_script_and_its_processor_run_as_they_stand() {
    let place = folder();
    let service = talk(&place, CONFIG);
    let shorter = json!({ "config": { "phases": [{ "duration": 1, "arrivalCount": 12 }] } });
    let answer = run(&place, "artillery-http-config.yml", &shorter);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let document = answer.json();
    assert_eq!(users(&document), (12, 12, 0), "{answer:?}");
    for step in ["loadUserData", "emit sendMessage"] {
        assert_eq!(operation(&document, step)["count"], 12, "{step}");
    }
    assert_eq!(metric(&service, "chat_logins_total"), 12, "the processor logged everybody in");
    assert!(answer.err.contains("url: no effect"), "the report's own host is not called: {}", answer.err);
}

#[test]
fn the_published_four_phases_lose_nobody() {
    let place = folder();
    let (before, rest) = CONFIG.split_once("  phases:\n").unwrap();
    let (_, after) = rest.split_once("  processor:").unwrap();
    let phases: String = PHASES.lines().map(|line| format!("  {line}\n")).collect();
    let service = talk(&place, &format!("{before}{phases}  processor:{after}"));
    let shorter = json!({ "config": { "phases": [
        { "duration": 1, "arrivalRate": 1, "rampTo": 2 },
        { "duration": 1, "arrivalRate": 2, "rampTo": 5 },
        { "duration": 2, "arrivalRate": 10, "rampTo": 15 },
        { "duration": 1, "arrivalRate": 5 },
    ] } });
    let answer = run(&place, "artillery-http-config.yml", &shorter);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(users(&answer.json()), (36, 36, 0), "{answer:?}");
    assert_eq!(metric(&service, "chat_logins_total"), 36);
}

#[test]
fn a_published_login_and_five_lists_are_answered_as_in_the_report() {
    let place = folder();
    let service =
        Service::start(&place, &["--seed-users=50", "--account=test@test.com:1234", "--login-rate=100"]);
    place.write("loadtest.yaml", &filled(REST, "target: {서버주소}", &format!("target: {}", service.url)));
    let shorter = json!({ "config": { "phases": [{ "duration": 1, "arrivalRate": 50 }] } });
    let answer = run(&place, "loadtest.yaml", &shorter);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let document = answer.json();
    assert_eq!(users(&document), (50, 50, 0), "{answer:?}");
    assert_eq!(document["http_codes"], json!({ "200": 250, "201": 50 }));
    assert!(answer.err.contains("publish-metrics: no effect"), "{}", answer.err);
    assert_eq!(metric(&service, "chat_logins_total"), 50);
}

/// Its STOMP sockets are open until the test is: it is interrupted once all users have one.
#[test]
fn a_published_k6_script_comes_through_all_its_transports_without_a_failure() {
    const USERS: usize = 20;
    let place = Place::new();
    // A stream, and a socket that has joined nothing, are over when the service says so: the script waits for that.
    let service = Service::start(&place, &["--sse-lifetime=300ms", "--connect-timeout=300ms"]);
    let address = service.url.strip_prefix("http://").unwrap();
    assert_eq!(REALTIME.matches("localhost:8080").count(), 4);
    place.write("script.js", &REALTIME.replace("localhost:8080", address));
    let stages = ["--stage", &format!("1s:{USERS}"), "--stage", &format!("60s:{USERS}")];
    let arguments = [&["run", "script.js", "--summary-export=summary.json"], &stages[..]].concat();
    let mut running = Running::start(place.command(&arguments));
    for _ in 0..USERS {
        running.wait_for("WebSocket connection opened");
    }
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(105), "{answer:?}");
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path().join("summary.json")).unwrap()).unwrap();
    let of = |metric: &str, value: &str| summary["metrics"][metric][value].as_u64();
    assert_eq!(
        (of("checks", "passes"), of("checks", "fails")),
        (Some(5 * USERS as u64), Some(0)),
        "{summary}"
    );
    assert_eq!(
        (of("http_reqs", "count"), of("http_req_failed", "passes")),
        (Some(6 * USERS as u64), Some(0))
    );
    // Two sockets that said hello, and one that connected, subscribed and shared.
    assert_eq!(
        (of("ws_sessions", "count"), of("ws_msgs_sent", "count")),
        (Some(3 * USERS as u64), Some(5 * USERS as u64))
    );
    // Notified, shared by stream, shared by STOMP; what was said last may be under way still.
    let all = 3 * USERS as u64;
    let begun = Instant::now();
    while metric(&service, "chat_messages_total") < all && begun.elapsed() < Duration::from_secs(5) {
        std::thread::yield_now();
    }
    assert_eq!(metric(&service, "chat_messages_total"), all);
}
