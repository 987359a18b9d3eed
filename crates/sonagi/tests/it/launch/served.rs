//! The reference service that a script brings along (`serve`): launched as any other.

use super::*;
use serde_json::json;

/// A script whose users ask the service that it brings along whether it is well; `serve` is what it says of it.
fn served(serve: &str) -> String {
    format!(
        "config: {{ phases: [{{ duration: 1, arrivalRate: 4 }}] }}\nserve: {serve}\n\
         scenarios: [{{ flow: [{{ get: {{ url: /healthz }} }}] }}]\n"
    )
}

/// The fastest answer of a run (ms).
fn fastest_ms(run: &Value) -> f64 {
    run["operations"][0]["response_ms"]["min"].as_f64().unwrap()
}

#[test]
fn what_the_service_prints_is_in_the_run_folder() {
    let place = Place::new();
    place.write("served.yml", &served("{ workers: 1 }"));
    let answer = place.sonagi(&["run", "served.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = answer.json();
    let log = fs::read_to_string(place.folders()[0].join("service.log")).unwrap();
    assert_eq!(log, format!("listening on {}\n", run["target"].as_str().unwrap()));
    assert!(!answer.err.contains("listening on "), "{answer:?}");
    let service = &run["service"];
    assert_eq!((&service["arguments"], &service["workers"]), (&json!(["--workers=1"]), &json!(1)));
    assert!(service["resident_peak_mb"].as_f64().unwrap() > 1.0, "{service}");
}

#[test]
fn the_network_between_delays_every_answer_and_leads_the_load() {
    let place = Place::new();
    place.write("far.yml", &served("{ limits: { network: { latency: 40ms } } }"));
    let answer = place.sonagi(&["run", "far.yml", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = answer.json();
    assert!(fastest_ms(&run) >= 40.0, "{} ms", fastest_ms(&run));
    let log = fs::read_to_string(place.folders()[0].join("service.log")).unwrap();
    let target = run["target"].as_str().unwrap();
    assert!(log.starts_with("listening on http://127.0.0.1:") && !log.contains(target), "{log} and {target}");
}

#[test]
fn a_search_leads_all_its_trials_through_the_network() {
    let place = Place::new();
    place.write("far.yml", &served("{ limits: { network: { latency: 40ms } } }"));
    let given = ["capacity", "far.yml", "--until", "http.response_time.min >= 40", "--trial", "300ms"];
    let range = ["--vary", "rate", "--from", "10", "--to", "20", "--shards", "1", "--json"];
    let answer = place.sonagi(&[&given[..], &range].concat());
    let found = answer.json();
    let trials = found["trials"].as_array().unwrap();
    // On a busy machine a generator may fall behind, but no answer is faster than the network.
    assert!(!trials.is_empty() && trials.iter().all(|trial| trial["outcome"] != "missed"), "{answer:?}");
    assert!(place.folders()[0].join("service.log").exists(), "{answer:?}");
}

#[test]
fn commands_run_before_and_after_it_in_the_scripts_folder() {
    let place = Place::new();
    fs::create_dir(place.path().join("inner")).unwrap();
    let serve = "{ store: chat.db, before: 'echo before >> said', after: 'ls >> said' }";
    place.write("inner/served.yml", &served(serve));
    let answer = place.sonagi(&["run", "inner/served.yml"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let said = fs::read_to_string(place.path().join("inner/said")).unwrap();
    assert!(said.starts_with("before\nchat.db\n"), "the store is there: {said}");
}

#[test]
fn a_daemon_that_was_started_before_it_ends_with_it_and_passwords_are_in_no_file() {
    let place = Place::new();
    let serve = "{ account: ['ann@example.test:planted-secret'], before: 'sleep 600 > /dev/null 2>&1 & echo $! > daemon' }";
    place.write("served.yml", &served(serve));
    let answer = place.sonagi(&["run", "served.yml", "--json"]);
    // A service that is killed when its grace is over, half a minute later, is an error.
    assert_eq!((answer.code, answer.err.contains("was killed")), (Some(0), false), "{answer:?}");
    assert!(!is_alive(written(&place, "daemon").unwrap()));
    for file in ["run.json", "service.log", "events.jsonl"] {
        let text = fs::read_to_string(place.folders()[0].join(file)).unwrap();
        assert!(!text.contains("planted-secret"), "{file}: {text}");
    }
    assert!(!answer.out.contains("planted-secret"), "{}", answer.out);
}

#[test]
fn its_open_files_are_limited_as_those_of_any_other() {
    let place = Place::new();
    let script = served("{ workers: 1, limits: { nofile: 77 } }").replace("duration: 1", "duration: 60");
    place.write("files.yml", &script);
    let mut running = Running::start(place.command(&["run", "files.yml"]));
    running.wait_for("0:01/");
    let service = children_of(children_of(running.id())[0])[0];
    let limits = fs::read_to_string(format!("/proc/{service}/limits")).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().skip(3).take(2).collect::<Vec<_>>(), ["77", "77"], "{files}");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    assert!(!is_alive(service), "it ended with its run");
}

#[test]
fn mistakes_in_what_is_said_beside_its_options_have_their_places() {
    let place = Place::new();
    let serve = "{ workers: 1, limits: { cpu: much, netwrok: {} }, host: t2.mikro, command: x }";
    place.write("bad.yml", &served(serve));
    let answer = place.sonagi(&["check", "bad.yml"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    for expected in [
        "bad.yml:2:37: cpu wants a number of cores, at least 0.01; got \"much\"\n",
        "bad.yml:2:43: unknown key \"netwrok\" in limits\n  hint: did you mean \"network\"?\n",
        "bad.yml:2:64: host wants the name of a known machine; got \"t2.mikro\"\n",
        "bad.yml:2:74: unknown key \"command\" in serve\n  hint: \"command\" belongs in launch (config.launch)\n",
    ] {
        assert!(answer.out.contains(expected), "{expected}\n{}", answer.out);
    }
}

#[test]
fn a_command_that_fails_before_it_is_told_with_what_it_printed() {
    let place = Place::new();
    place.write("bad.yml", &served("{ before: 'echo no database; exit 2' }"));
    let answer = place.sonagi(&["run", "bad.yml"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{answer:?}");
    let expected =
        "error: serve: `sonagi serve` was not started: `before` ended with exit status: 2\n  | no database\n";
    assert!(answer.err.starts_with(expected), "{answer:?}");
    assert!(place.folders().is_empty(), "nothing was run");
}
