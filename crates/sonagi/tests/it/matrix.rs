//! Runs over a matrix, and the service beside them.

use crate::support::{Answer, Place, Running, Service};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A conversation over two transports and in two sizes, in pairs: four runs of five seconds.
const TRANSPORTS: &str = r#"
config:
  phases: [{ duration: 1, users: 0, rampTo: "{{ users }}" }, { duration: 2, rampTo: "{{ users }}" }, { duration: 1, rampTo: 0 }]
  delivery: { drain: 1 }
  longpoll:
    url: "/location/long/{{ $room }}"
    cursor: { json: $.next, as: after }
    publish: { post: { url: "/location/long/{{ $room }}/notify", json: "{{ $message }}" } }
  ws:
    url: /ws
    subscribe:
      - send: { type: join, room: "location:{{ $room }}" }
      - wait: { match: { json: $.type, value: joined } }
    publish: { send: { type: send, room: "location:{{ $room }}", content: "{{ $message }}" } }
matrix: { transport: [longpoll, ws], users: [4, 8] }
serve: { workers: 1 }
scenarios:
  - engine: "{{ transport }}"
    room: "pair-{{ $quotient($user, 2) }}"
    flow:
      - subscribe: "pair-{{ $quotient($user, 2) }}"
      - think: 0.3
      - loop:
          - send: { mark: "{{ $stamp }}" }
            to: "pair-{{ $quotient($user, 2) }}"
        pace: 0.5
"#;

/// Runs that need no transport: the sizes of a crowd that looks whether the service is well.
const HEALTH: &str = r#"
config:
  phases: [{ duration: 1, arrivalCount: "{{ users }}" }]
matrix: { users: [2, 3] }
serve: { workers: 1 }
scenarios:
  - flow:
      - get: { url: /healthz }
"#;

/// The first run goes on until somebody ends it.
const LONG: &str = r#"
config:
  phases: [{ duration: 600, arrivalRate: 5 }]
matrix: { users: [2, 3] }
serve: { workers: 1 }
scenarios:
  - flow:
      - get: { url: /healthz }
      - think: 600
"#;

fn document(place: &Place) -> Value {
    let (folder, _) = place.matrix();
    serde_json::from_str(&fs::read_to_string(folder.join("matrix.json")).unwrap()).unwrap()
}

/// The address after `against http://`, of the run whose line was said last.
fn address(said: &str) -> String {
    said.rsplit_once("against http://").unwrap().1.lines().next().unwrap().trim().to_owned()
}

/// Whether nobody listens there any more, now or within a moment.
fn is_gone(address: &str) -> bool {
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(10) {
        match TcpStream::connect(address) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return true,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    false
}

/// The process that `parent` started: it has one child.
fn child_of(parent: u32) -> Pid {
    let stat = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = stat(*pid).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        fields.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    let children: Vec<u32> = all.filter(is_child).collect();
    assert_eq!(children.len(), 1, "of {parent}: {children:?}");
    Pid::from_raw(children[0] as i32).unwrap()
}

/// The service of a run: the child of the one process that keeps it.
fn service_of(run: u32) -> Pid {
    child_of(child_of(run).as_raw_nonzero().get() as u32)
}

#[test]
fn one_conversation_over_several_transports_is_compared_in_one_table() {
    let place = Place::new();
    place.write("pairs.yml", TRANSPORTS);
    let answer = place.sonagi(&["run", "pairs.yml", "-o", "out.json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let headline = "matrix      4 of 4 runs sustained all users with every message delivered · pairs\n";
    assert!(answer.out.starts_with(headline), "{}", answer.out);
    assert!(answer.out.lines().all(|line| line.chars().count() <= 80), "{}", answer.out);
    for (label, held) in [("longpoll 4", "4/4"), ("longpoll 8", "8/8"), ("ws 4", "4/4"), ("ws 8", "8/8")] {
        let row = answer.out.lines().find(|line| line.starts_with(label)).unwrap_or_default();
        assert!(row.contains(held) && row.contains("100 %"), "{label}: {}", answer.out);
    }
    for (number, label) in ["longpoll 4", "longpoll 8", "ws 4", "ws 8"].iter().enumerate() {
        assert!(
            answer.err.contains(&format!("{}/4 {label} against http://127.0.0.1:", number + 1)),
            "{}",
            answer.err
        );
        assert!(answer.err.contains(&format!("{}/4 {label}  0:01", number + 1)), "{}", answer.err);
    }
    assert!(is_gone(&address(&answer.err)), "the service ended with its run");
    let reports: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("out.json")).unwrap()).unwrap();
    let summaries: Value =
        reports.as_array().unwrap().iter().map(|report| report["sonagi"].clone()).collect();
    check_runs(&summaries);
    let (folder, inner) = place.matrix();
    assert_eq!(inner, ["longpoll-4", "longpoll-8", "ws-4", "ws-8"]);
    check_document(&document(&place), &summaries);
    let page = fs::read_to_string(folder.join("matrix.md")).unwrap();
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| longpoll ") || line.starts_with("| ws ")).count(),
        4
    );
    let again = place.sonagi(&["report", folder.to_str().unwrap()]);
    assert!(answer.out.starts_with(&again.out) && again.code == Some(0), "{again:?}");
    let one = place.sonagi(&["report", folder.join("ws-8").to_str().unwrap(), "--json"]).json();
    assert_eq!(
        (&one["combination"], &one["service"]),
        (&summaries[3]["combination"], &summaries[3]["service"])
    );
}

fn check_runs(summaries: &Value) {
    let combinations: Vec<_> =
        summaries.as_array().unwrap().iter().map(|run| run["combination"].clone()).collect();
    let combination = |transport: &str, users: u64| json!({ "transport": transport, "users": users });
    assert_eq!(
        combinations,
        [combination("longpoll", 4), combination("longpoll", 8), combination("ws", 4), combination("ws", 8)]
    );
    for run in summaries.as_array().unwrap() {
        let users = run["combination"]["users"].as_u64().unwrap();
        assert_eq!(
            (&run["users"]["wanted"], &run["users"]["connected_peak"]),
            (&json!(users), &json!(users))
        );
        let messages = run["delivery"]["messages"].as_u64().unwrap();
        // Everybody has a partner and hears itself.
        assert!(
            messages >= users && run["delivery"]["owed"].as_u64().unwrap() > messages,
            "{}",
            run["delivery"]
        );
        let service = &run["service"];
        assert_eq!((&service["workers"], &service["arguments"]), (&json!(1), &json!(["--workers=1"])));
        assert!(service["resident_peak_mb"].as_f64().unwrap() > 1.0, "{service}");
        assert_eq!(service["ended"], Value::Null);
    }
}

fn check_document(document: &Value, summaries: &Value) {
    assert_eq!((&document["name"], &document["planned"]), (&json!("pairs"), &json!(4)));
    assert_eq!(document["axes"], json!(["transport", "users"]));
    assert_eq!(document["command"][1], json!("run"), "{}", document["command"]);
    for (run, summary) in document["runs"].as_array().unwrap().iter().zip(summaries.as_array().unwrap()) {
        assert_eq!((&run["held"], &run["summary"]), (&json!(true), summary));
        assert_eq!(run["figures"]["users_held"], summary["users"]["connected_peak"]);
        assert!(run["figures"]["connect_mean_ms"].as_f64().unwrap() > 0.0, "{}", run["figures"]);
    }
}

#[test]
fn a_matrix_can_be_narrowed_to_some_values_of_an_axis() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "--matrix", "users=3", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let runs = answer.json();
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]["users"]["completed"]), (1, &json!(3)));
    for (narrowed, rule) in
        [("user=3", "the matrix has no axis"), ("users=4", "has no value"), ("users", "name=value")]
    {
        let answer = place.sonagi(&["run", "health.yml", "--matrix", narrowed]);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{narrowed}");
        assert!(answer.err.contains(rule), "{narrowed}: {}", answer.err);
    }
    assert_eq!(place.folders().len(), 1, "what has problems leaves no folder");
}

#[test]
fn a_target_of_the_command_line_takes_the_services_place() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "-t", &service.url, "--json", "--no-folder"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for run in answer.json().as_array().unwrap() {
        assert_eq!((&run["target"], &run["service"]), (&json!(service.url), &Value::Null));
    }
}

#[test]
fn a_script_without_a_matrix_has_its_service_and_its_figures_too() {
    let place = Place::new();
    place.write(
        "health.yml",
        &HEALTH.replace("matrix: { users: [2, 3] }", "").replace("\"{{ users }}\"", "3"),
    );
    let answer = place.sonagi(&["run", "health.yml"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.starts_with("PASS        health · http://127.0.0.1:"), "{}", answer.out);
    assert!(
        answer.out.contains("\nservice     ") && answer.out.contains("of 1 worker busy"),
        "{}",
        answer.out
    );
    assert_eq!(place.reported()["service"]["workers"], 1);
}

#[test]
fn a_run_that_cannot_be_run_keeps_no_other_from_its_turn() {
    let place = Place::new();
    let stores = HEALTH.replace("users: [2, 3]", "store: [memory, nowhere/chat.db, chat.db]");
    let script = stores.replace("\"{{ users }}\"", "2").replace("workers: 1", "store: \"{{ store }}\"");
    place.write("health.yml", &script);
    let answer = place.sonagi(&["run", "health.yml"]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.out.starts_with("matrix      2 of 3 runs passed"), "{}", answer.out);
    assert!(
        answer.out.contains("nowhere/chat.db: could not run: serve: the service `sonagi serve`"),
        "{}",
        answer.out
    );
    let document = document(&place);
    let why = document["runs"][1]["why_not"].as_str().unwrap();
    assert!(why.contains("with exit status: 4: cannot open the message store: nowhere/chat.db: "), "{why}");
    let held: Vec<_> = document["runs"].as_array().unwrap().iter().map(|run| run["held"].clone()).collect();
    assert_eq!(held, [json!(true), json!(false), json!(true)]);
}

/// Starts the long script and waits until its first second is over.
fn long_run(place: &Place) -> Running {
    place.write("long.yml", LONG);
    let mut running = Running::start(place.command(&["run", "long.yml"]));
    running.wait_for("0:01/");
    running
}

#[test]
fn a_service_that_dies_fails_its_run_and_the_next_has_a_new_one() {
    let place = Place::new();
    place.write("dying.yml", &LONG.replace("think: 600", "think: 1").replace("duration: 600", "duration: 3"));
    let mut running = Running::start(place.command(&["run", "dying.yml"]));
    running.wait_for("0:01/");
    kill_process(service_of(running.id()), Signal::KILL).unwrap();
    let Answer { code, out, err } = running.end();
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.starts_with("matrix      1 of 2 runs passed"), "{out}");
    assert!(out.contains("2: FAIL; the service ended during the run: signal: 9 (SIGKILL)"), "{out}");
    let runs = &document(&place)["runs"];
    assert_eq!(runs[0]["summary"]["service"]["ended"], "signal: 9 (SIGKILL)");
    assert_eq!((&runs[1]["held"], &runs[1]["summary"]["service"]["ended"]), (&json!(true), &Value::Null));
}

#[test]
fn a_signal_ends_the_whole_matrix_and_the_service_with_it() {
    let place = Place::new();
    let mut running = long_run(&place);
    running.signal(Signal::INT);
    running.wait_for("stopping");
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.out.starts_with("matrix      0 of 2 runs passed; 1 not run"), "{}", answer.out);
    assert!(answer.out.contains("2: INTERRUPTED; "), "{}", answer.out);
    assert!(answer.err.ends_with("not run: long-3\n"), "{}", answer.err);
    assert!(is_gone(&address(&answer.err)));
    assert_eq!(place.matrix().1, ["2"]);
}

#[test]
fn a_killed_command_takes_its_service_along_and_leaves_what_it_had() {
    let place = Place::new();
    let running = long_run(&place);
    let address = address(running.said());
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None);
    assert!(is_gone(&address));
    assert_eq!(place.matrix().1, ["2"]);
}

#[test]
fn a_script_that_changes_between_its_runs_is_not_run_on() {
    let place = Place::new();
    let path = place.write("health.yml", HEALTH);
    let mut running = Running::start(place.command(&["run", "health.yml"]));
    running.wait_for("1/2 2 against");
    fs::write(path, HEALTH.replace("/healthz", "/metrics")).unwrap();
    let answer = running.end();
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(
        answer.out.contains("3: could not run: health.yml has changed since it was checked"),
        "{}",
        answer.out
    );
}

#[test]
fn a_service_that_cannot_start_says_why_and_the_run_with_it() {
    let place = Place::new();
    place.write("health.yml", &HEALTH.replace("workers: 1", "store: nowhere/chat.db"));
    let answer = place.sonagi(&["run", "health.yml", "--matrix", "users=2"]);
    let why = "error: serve: the service `sonagi serve` ended before it was ready, with exit status: 4: cannot open \
               the message store: nowhere/chat.db: No such file or directory";
    assert!(answer.err.contains(why), "{}", answer.err);
    assert_eq!(answer.code, Some(4), "{}", answer.err);
}
