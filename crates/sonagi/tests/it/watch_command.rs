//! `sonagi watch`: on a terminal's behalf, as JSON, and for another Sonagi.

use crate::support::{Place, Running, Service};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Nobody may see it.
const TOKEN: &str = "planted-1";

/// A user a second, for long enough that probes look a few times.
const SCRIPT: &str = "
config:
  target: http://127.0.0.1:9
  phases: [{ duration: 6, arrivalRate: 1 }]
scenarios:
  - flow:
      - get: { url: /healthz }
";

fn port(service: &Service) -> &str {
    service.url.rsplit(':').next().unwrap()
}

/// Its lines until there are enough; then Ctrl-C ends it.
fn lines_until(mut command: Command, is_enough: impl Fn(&str) -> bool) -> Vec<String> {
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| is_enough(line)) {
        assert!(said.len() < 60, "{said:?}");
        said.push(lines.next().expect("another line"));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
    said
}

/// Its seconds until one is enough.
fn seconds_until(command: Command, is_enough: impl Fn(&Value) -> bool) -> Vec<Value> {
    let second = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    lines_until(command, |line| is_enough(&second(line))).iter().map(|line| second(line)).collect()
}

fn metrics(second: &Value) -> Vec<&str> {
    second["metrics"].as_array().unwrap().iter().map(|one| one["metric"].as_str().unwrap()).collect()
}

/// A watch that serves; its address.
fn serving(place: &Place, service: &Service, listen: &str) -> (Running, String) {
    let mut command = place.command(&["watch", "--port", port(service), "--json", "--serve", listen]);
    command.env("SONAGI_WATCH_TOKEN", TOKEN).stdout(std::process::Stdio::null());
    let mut running = Running::start(command);
    running.wait_for("serving     http://");
    let address = running.said().trim().rsplit(' ').next().unwrap().to_owned();
    (running, address)
}

fn ended(running: Running) {
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_service_is_watched_without_a_load() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let watch = ["watch", "--port", port(&service)];
    let whole = |line: &str| {
        let begins = line.split_once("  ").is_some_and(|(_, rest)| rest.starts_with("target.processes 1 · "));
        begins && line.contains(" · target.cpu ") && line.contains(" · host.cpu ")
    };
    lines_until(place.command(&watch), whole);
    let memory = |second: &Value| metrics(second).contains(&"target.memory");
    let seconds = seconds_until(place.command(&[&watch[..], &["--json"]].concat()), memory);
    let numbers: Vec<_> = seconds.iter().map(|second| second["second"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let answer = place.sonagi(&[&watch[..], &["--for", "1s"]].concat());
    assert_eq!((answer.code, answer.out.starts_with("0:01  ")), (Some(0), true), "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
}

#[test]
fn a_signal_ends_it_and_nothing_to_watch_is_a_problem() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let (running, _) = serving(&place, &service, "127.0.0.1:0");
    ended(running);
    let refused = |arguments: &[&str], why: &str| {
        let answer = place.sonagi(&[&["watch"], arguments].concat());
        assert_eq!((answer.code, answer.err.contains(why)), (Some(2), true), "{answer:?}");
    };
    refused(&[], "there is nothing to watch\nhint: --port 3000");
    refused(&["--watch", "sun"], "what to watch is one of port:NUMBER");
    refused(&["--port", "1", "--serve", "0.0.0.0:0"], "what others can reach needs a token; got 0.0.0.0:0");
}

#[test]
fn a_run_elsewhere_has_what_a_watch_sees_under_the_same_names() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let (running, address) = serving(&place, &service, "127.0.0.1:0");
    place.write("watch.yml", SCRIPT);
    let watched = format!("sonagi:{address}#token={TOKEN}");
    let run = ["run", "watch.yml", "-t", &service.url, "--no-watch", "--json", "--watch", &watched];
    let answer = place.sonagi(&run);
    ended(running);
    let watched = answer.json()["watched"].clone();
    let of = |metric: &str| {
        let named = watched.as_object().unwrap().iter().find(|(name, _)| name.starts_with(metric));
        named.unwrap_or_else(|| panic!("{metric} in {watched}")).1.clone()
    };
    assert_eq!(of("target.processes")["level"]["max"], 1.0, "{watched}");
    assert!(of("target.memory")["level"]["max"].as_f64().unwrap() > 1e6, "{watched}");
    let folder = place.folders().pop().unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(TOKEN));
    }
    assert!(!format!("{answer:?}").contains(TOKEN), "{answer:?}");
}

#[test]
fn a_wrong_token_is_told_once() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let (running, address) = serving(&place, &service, "127.0.0.1:0");
    for token in ["#token=planted-2", "#token=planted-11", ""] {
        let watched = format!("sonagi:{address}{token}");
        let command = place.command(&["watch", "--watch", &watched, "--json"]);
        // Two looks after the first that told of it.
        let told = Cell::new(0);
        let seconds = seconds_until(command, |second| {
            let is_told = told.get() > 0 || second["notes"].as_array().is_some_and(|notes| !notes.is_empty());
            told.set(told.get() + i32::from(is_told));
            told.get() == 3
        });
        let notes: Vec<&Value> = seconds.iter().flat_map(|it| it["notes"].as_array().unwrap()).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(notes[0]["text"], "it is not measured: it refuses the token, or wants one");
        assert!(!format!("{seconds:?}").contains("planted"), "{seconds:?}");
    }
    ended(running);
}

#[test]
fn a_watch_that_is_restarted_is_read_on() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let (first, address) = serving(&place, &service, "127.0.0.1:0");
    let watched = format!("sonagi:{address}");
    let mut reader = place.command(&["watch", "--watch", &watched, "--json", "--for", "60s"]);
    let mut reader = reader.env("SONAGI_WATCH_TOKEN", TOKEN).spawn().unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines();
    // Its second, from this one on, in which it has figures.
    let mut figures_from = |least: u64| loop {
        let second: Value = serde_json::from_str(&lines.next().expect("a second").unwrap()).unwrap();
        let number = second["second"].as_u64().unwrap();
        if number >= least && metrics(&second).contains(&"host.memory") {
            break number;
        }
    };
    let before = figures_from(1);
    ended(first);
    let (second, _) = serving(&place, &service, address.strip_prefix("http://").unwrap());
    figures_from(before + 4);
    ended(second);
    kill_process(Pid::from_child(&reader), Signal::INT).unwrap();
    assert!(reader.wait().unwrap().success());
}

#[test]
fn another_machine_is_watched_by_its_shell() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    // What ssh does, on this machine: it runs its last argument.
    let ssh = place.write("ssh.sh", "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let watched = format!("ssh:u@there.invalid/port:{}", port(&service));
    let mut command = place.command(&["watch", "--watch", &watched, "--json"]);
    command.env("SONAGI_SSH", &ssh);
    let seconds = seconds_until(command, |second| metrics(second).contains(&"target.memory"));
    let last = seconds.last().unwrap()["metrics"].as_array().unwrap();
    let memory = last.iter().find(|one| one["metric"] == "target.memory").expect("the service's memory");
    assert_eq!(memory["tags"]["on"], "u@there.invalid");
}

#[test]
fn a_kept_watch_is_reported_as_watched_and_not_as_passed() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let answer = place.sonagi(&["watch", "--port", port(&service), "--runs", "runs", "--for", "2s"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let [folder] = &place.folders()[..] else { panic!("one folder") };
    let report = place.sonagi(&["report", folder.to_str().unwrap()]);
    assert!(report.out.starts_with("WATCHED ") && !report.out.contains("PASS"), "{}", report.out);
    assert!(report.out.contains("watched without a load: nothing was asked of the target"), "{}", report.out);
    let list = place.sonagi(&["report", "runs"]);
    assert!(list.out.starts_with("WATCHED "), "{}", list.out);
}
