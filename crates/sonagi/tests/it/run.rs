use crate::support::{Place, Service};
use crate::targets::Target;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Ten users in a second that ask whether the service is well.
pub(crate) const HEALTH: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalRate: 10 }]
scenarios:
  - name: health
    flow:
      - get: { url: /healthz }
"#;

pub(crate) fn complaints(document: &Value) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn a_passing_run_prints_its_verdict_and_leaves_a_folder_that_says_the_same() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "-t", &service.url]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.starts_with("PASS        health · http://127.0.0.1:"), "{}", answer.out);
    assert!(answer.out.contains("10 started of 10 planned"), "{}", answer.out);
    assert!(answer.out.contains("200: 10"), "{}", answer.out);
    let folders = place.folders();
    assert_eq!(folders.len(), 1);
    let again = place.sonagi(&["report", folders[0].to_str().unwrap()]);
    let without_folder =
        |text: &str| text.trim_end().lines().rev().skip(2).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(without_folder(&again.out), without_folder(&answer.out));
}

#[test]
fn with_json_standard_output_is_one_document_of_the_published_schema() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    let answer =
        place.sonagi(&["run", "health.yml", "-t", &service.url, "--json", "-o", "out.json", "--name", "x"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let document = answer.json();
    assert_eq!(complaints(&document), Vec::<String>::new());
    assert_eq!(document["name"], "x");
    assert_eq!(document["users"]["completed"], 10);
    let report = std::fs::read_to_string(place.path().join("out.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["sonagi"], document);
    assert_eq!(complaints(&place.reported()), Vec::<String>::new());
}

#[test]
fn several_scripts_are_several_runs_with_a_verdict_each() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("one.yml", HEALTH);
    place.write("two.yml", HEALTH);
    let answer = place.sonagi(&["run", "one.yml", "two.yml", "-t", &service.url]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.ends_with("PASS        one\nPASS        two\n"), "{}", answer.out);
    let answer = place.sonagi(&["run", "one.yml", "two.yml", "-t", &service.url, "--json", "--no-folder"]);
    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    assert_eq!(place.folders().len(), 2);
}

#[test]
fn the_artillery_summary_has_artillerys_names() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "-t", &service.url, "--summary", "artillery"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for line in
        ["http.codes.200: ", "http.requests: ", "vusers.completed: ", "vusers.created_by_name.health: "]
    {
        let found = answer.out.lines().find(|printed| printed.starts_with(line));
        assert!(found.is_some_and(|printed| printed.ends_with(". 10")), "{line}{found:?}");
    }
    assert!(answer.err.ends_with("PASS  health: 10 users completed\n"), "{}", answer.err);
    assert!(!answer.out.contains("PASS"), "{}", answer.out);
}

#[test]
fn a_quiet_run_prints_nothing_and_its_exit_code_tells() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "-t", &service.url, "-q"]);
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (Some(0), "", ""));
}

#[test]
fn a_failed_threshold_is_exit_code_1_and_named_with_what_was_seen() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let script = HEALTH.replace("config:\n", "config:\n  ensure: { thresholds: [{ http.requests: 3 }] }\n");
    place.write("strict.yml", &script);
    let answer = place.sonagi(&["run", "strict.yml", "-t", &service.url]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.out.starts_with("FAIL "), "{}", answer.out);
    assert!(answer.out.contains("http.requests = 10"), "{}", answer.out);
}

#[test]
fn a_target_that_refuses_fails_the_run_and_is_classified() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    let answer = place.sonagi(&["run", "health.yml", "-t", &Target::Down.start(), "--json"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let document = answer.json();
    assert_eq!(complaints(&document), Vec::<String>::new());
    assert_eq!(document["users"]["failed"], 10);
    assert_eq!(document["errors"][0]["code"], "connect_refused");
    assert_eq!(document["errors"][0]["called"], "", "its code says all");
}

#[test]
fn a_failing_before_flow_is_named_first_and_nobody_is_started() {
    let place = Place::new();
    place.write(
        "before.yml",
        &HEALTH.replace("scenarios:", "before: { flow: [{ get: { url: /healthz } }] }\nscenarios:"),
    );
    let answer = place.sonagi(&["run", "before.yml", "-t", &Target::Down.start(), "--json"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let reason = "no user was started: `before` failed at GET /healthz: connect_refused";
    assert_eq!(answer.json()["verdict"]["reasons"][0], reason);
}

#[test]
fn what_cannot_be_written_is_said_before_the_run() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    place.write("file", "");
    for flags in [["--runs", "file/runs"], ["-o", "nowhere/out.json"]] {
        let answer = place.sonagi(&["run", "health.yml", flags[0], flags[1]]);
        assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{flags:?}");
        assert!(answer.err.contains("cannot write"), "{flags:?}: {}", answer.err);
        assert!(!answer.err.contains("against"), "{flags:?}: it did not run: {}", answer.err);
    }
}

#[test]
fn a_warm_pool_is_open_before_the_first_user_arrives_and_a_target_that_is_down_is_told_of_by_requests() {
    const POOL: usize = 100;
    let script = format!(
        "config:\n  target: set by the test\n  phases: [{{ duration: 1, arrivalCount: 3 }}]\n  \
         http: {{ pool: {POOL}, warm: true }}\nscenarios: [{{ flow: [{{ get: {{ url: / }} }}] }}]\n"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, accepted) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let (noted, opened) = (Arc::clone(&seen), Arc::clone(&accepted));
    std::thread::spawn(move || {
        for stream in listener.incoming().take(2 * POOL) {
            opened.fetch_add(1, Relaxed);
            let (noted, opened) = (Arc::clone(&noted), Arc::clone(&opened));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                while stream.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {
                    noted.lock().unwrap().push(opened.load(Relaxed));
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                }
            });
        }
    });
    let place = Place::new();
    place.write("warm.yml", &script);
    let answer = place.sonagi(&["run", "warm.yml", "-t", &url, "--shards", "1", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(*seen.lock().unwrap(), [POOL; 3]);
    assert_eq!(answer.json()["traffic"]["connections_opened"], POOL);

    let down = place.sonagi(&["run", "warm.yml", "-t", "http://127.0.0.1:9", "--json"]);
    assert_eq!((down.code, &down.json()["errors"][0]["count"]), (Some(1), &Value::from(3)), "{down:?}");
}
