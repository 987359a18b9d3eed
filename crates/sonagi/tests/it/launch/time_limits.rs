//! Time limits of commands around the restart of a service. The usual ones are of ten minutes, so the keeper itself is
//! asked here, with shorter ones.

use super::*;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// A command that does not end; its number is in a file.
const HANGS: &str = "echo $$ > hung; exec sleep 1000";

/// What a keeper tells whose commands have four seconds each. It is asked to end once it has restarted the service.
fn told(place: &Place, apply: &str, restore: &str) -> Vec<Value> {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = service.local_addr().unwrap().port();
    let words = |line: &str| json!(["sh", "-c", line]);
    let command = |line: &str| json!({ "words": words(line), "shown": line });
    let limit = json!({ "secs": 4, "nanos": 0 });
    let restart = json!({
        "commands": { "apply": command(apply), "restore": command(restore) },
        "ready": { "address": { "host": "127.0.0.1", "port": port } },
        "patience": limit,
        "service": format!("a test's at {port}"),
        "limits": { "change": limit, "ask": limit },
    });
    let job = json!({
        "command": words("echo restarted >> said"),
        "restart": restart,
        "folder": place.path(),
        "env": [],
        "stop": "Eof",
        "grace": limit,
        "limits": {},
        "tells_lines": false,
    });
    let mut keeper = Command::new(SONAGI);
    keeper.arg("--keep-service").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut keeper = keeper.spawn().unwrap();
    let mut input = keeper.stdin.take();
    writeln!(input.as_mut().unwrap(), "{job}").unwrap();
    let mut told = Vec::new();
    for line in BufReader::new(keeper.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event.get("Restarted").is_some() {
            drop(input.take());
        }
        told.push(event);
    }
    assert!(keeper.wait().unwrap().success());
    assert!(!is_alive(written(place, "hung").unwrap()), "it is ended");
    told
}

fn said(place: &Place) -> String {
    fs::read_to_string(place.path().join("said")).unwrap()
}

#[test]
fn an_apply_that_takes_too_long_is_ended_and_told_and_the_service_is_restored() {
    let place = Place::new();
    let why = "`apply` did not end within 4 s";
    let expected =
        [json!("Changing"), json!({ "Failed": { "why": why, "hint": null, "said": "" } }), json!("Over")];
    assert_eq!(told(&place, HANGS, "echo restored >> said"), expected);
    assert_eq!(said(&place), "restored\nrestarted\n");
}

#[test]
fn a_restore_that_takes_too_long_is_ended_and_told_and_the_service_is_restarted() {
    let place = Place::new();
    let trouble = json!({ "Trouble": "`restore` did not end within 4 s" });
    let expected = [json!("Changing"), json!({ "Restarted": { "said": "" } }), trouble, json!("Over")];
    assert_eq!(told(&place, "true", HANGS), expected);
    assert_eq!(said(&place), "restarted\nrestarted\n");
}
