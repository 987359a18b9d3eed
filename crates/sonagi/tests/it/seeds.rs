//! The scripts of three field reports, as they were published: only the addresses are filled in.
//!
//! They are what people have who come from Artillery: a processor in TypeScript that imports a type from a package that is
//! not there, keys that mean nothing, headers that only a user can fill in. `make test` runs them with fewer users; their
//! full length is in `docs/from-artillery.md`.

use crate::support::{Answer, Place, Service};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

const CONFIG: &str = include_str!("seeds/socketio/artillery-http-config.yml");
const PROCESSOR: &str = include_str!("seeds/socketio/processor.ts");
const PHASES: &str = include_str!("seeds/peak/phases.yml");
const REST: &str = include_str!("seeds/rest/loadtest.yaml");

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
