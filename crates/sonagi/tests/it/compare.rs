//! `sonagi compare` over runs of the real service, healthy and with every copy delayed.

use crate::support::{Answer, Place, Service};
use serde_json::Value;
use std::path::PathBuf;

/// Four people in a room, who each say something five times.
const SCRIPT: &str = r#"
config:
  target: "http://127.0.0.1:8080"
  phases: [{ duration: 0.1, arrivalCount: 4 }]
  payload: { path: credentials.csv, fields: [email, password], order: sequence, skipHeader: true }
  delivery: { deadline: 1, drain: 0.3 }
scenarios:
  - name: a room
    engine: ws
    room: "{{ roomId }}"
    flow:
      - post:
          url: /auth/login
          json: { email: "{{ email }}", password: "{{ password }}" }
          capture: { json: $.access_token, as: token }
      - post:
          url: /rooms/find-or-create
          headers: { authorization: "Bearer {{ token }}" }
          json: { name: the room }
          capture: { json: $.roomId, as: roomId }
      - connect: "/ws?room={{ roomId }}&token={{ token }}"
      - think: 0.3
      - loop: [{ send: { type: send, content: "hello {{ $stamp }}" } }]
        count: 5
        pace: 0.05
      - think: 0.2
"#;

struct Lab {
    place: Place,
}

impl Lab {
    fn new() -> Lab {
        let place = Place::new();
        place.write("room.yml", SCRIPT);
        Lab { place }
    }

    /// So many runs into a folder of their own.
    fn runs(&self, folder: &str, runs: usize, faults: &[&str]) -> PathBuf {
        let seeded = ["--seed-users=4", "--credentials=credentials.csv"];
        let service = Service::start(&self.place, &[&seeded[..], faults].concat());
        for _ in 0..runs {
            // Its verdict is nothing to us: on a busy machine it may well be INVALID.
            let answer =
                self.place.sonagi(&["run", "room.yml", "-q", "--target", &service.url, "--runs", folder]);
            assert!(matches!(answer.code, Some(0 | 1 | 3)), "{answer:?}");
        }
        self.place.path().join(folder)
    }

    fn compare(&self, arguments: &[&str]) -> Answer {
        self.place.sonagi(&[&["compare"], arguments].concat())
    }
}

/// Runs until so many are sound: a machine that is busy with other things makes some INVALID.
fn sound(lab: &Lab, folder: &str, wanted: usize, faults: &[&str]) {
    for _ in 0..4 {
        lab.runs(folder, wanted, faults);
        let runs = std::fs::read_dir(lab.place.path().join(folder)).unwrap();
        let verdict = |run: std::io::Result<std::fs::DirEntry>| {
            let text = std::fs::read_to_string(run.unwrap().path().join("run.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["summary"]["verdict"]["result"] != "invalid"
        };
        if runs.map(verdict).filter(|is_sound| *is_sound).count() >= wanted {
            return;
        }
    }
    panic!("this machine is too busy to make {wanted} sound runs");
}

#[test]
fn a_service_that_delays_every_copy_is_worse_and_a_pipeline_learns_it_by_the_exit_code() {
    let lab = Lab::new();
    sound(&lab, "fast", 5, &[]);
    sound(&lab, "slow", 5, &["--fault", "delay=80ms@100%,settle=0s,seed=1"]);

    let answer = lab.compare(&["fast", "--", "slow"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.starts_with("WORSE\nprimary     delivery.latency_ms.p99: B is "), "{}", answer.out);
    assert!(answer.out.lines().all(|line| line.chars().count() <= 80), "{}", answer.out);

    let json = lab.compare(&["fast", "--json", "--", "slow"]).json();
    assert_eq!(json["verdict"], "worse");
    let low = json["primary"]["effect"]["interval"][0].as_f64().unwrap();
    assert!(low > 2.0, "80 ms are many times what a room of four takes: {low}");
    assert_eq!(
        json["primary"]["runs"][0].as_array().unwrap().len() as u64,
        json["sides"][0][1].as_u64().unwrap()
    );

    let better = lab.compare(&["slow", "--fail-on", "worse", "--", "fast"]);
    assert_eq!(better.code, Some(0), "{better:?}");
    assert!(better.out.starts_with("BETTER"), "{}", better.out);
    let worse = lab.compare(&["fast", "--fail-on", "worse", "--report", "change.html", "--", "slow"]);
    assert!(worse.code == Some(1) && worse.err.contains("report      change.html"), "{worse:?}");
    let page = std::fs::read_to_string(lab.place.path().join("change.html")).unwrap();
    for told in [r#""mode":"sides""#, r#""word":"WORSE""#, r#""name":"delivery.latency_ms.p99""#] {
        assert!(page.contains(told), "{told}");
    }

    // The same by a baseline in a file, as a pipeline keeps it.
    assert_eq!(lab.compare(&["--save-baseline", "main", "fast"]).code, Some(0));
    assert!(lab.place.path().join(".sonagi/baselines/main.json").is_file());
    let markdown = lab.compare(&["--baseline", "main", "--fail-on", "worse", "--markdown", "slow"]);
    assert_eq!(markdown.code, Some(1), "{markdown:?}");
    assert!(markdown.out.starts_with("**WORSE**: delivery.latency_ms.p99: now is "), "{}", markdown.out);
    // What ran since, in `runs`.
    std::fs::rename(lab.place.path().join("slow"), lab.place.path().join("runs")).unwrap();
    assert_eq!(lab.compare(&["--baseline", "main", "--fail-on", "worse"]).code, Some(1));
}

#[test]
fn what_ran_since_a_baseline_is_named_and_is_of_its_script_alone() {
    let lab = Lab::new();
    sound(&lab, "before", 5, &[]);
    assert_eq!(lab.compare(&["--save-baseline", "main", "before"]).code, Some(0));
    let none = lab.compare(&["--baseline", "main"]);
    assert_eq!(none.code, Some(4), "{none:?}");
    assert!(none.err.contains("no run of the baseline's script was begun in runs since 2"), "{none:?}");
    std::fs::create_dir(lab.place.path().join("runs")).unwrap();
    let copied = std::fs::read_dir(lab.place.path().join("before")).unwrap().next().unwrap().unwrap();
    std::fs::rename(copied.path(), lab.place.path().join("runs/older")).unwrap();
    lab.runs("runs", 2, &[]);
    lab.place.write("room.yml", &SCRIPT.replace("count: 5", "count: 4"));
    lab.runs("runs", 1, &[]);
    let since = lab.compare(&["--baseline", "main"]);
    assert!(
        since.err.starts_with("notice: side B is 2 runs of this script begun in runs since 2"),
        "{since:?}"
    );
}

#[test]
fn one_pair_is_inconclusive_and_another_script_is_not_comparable() {
    let lab = Lab::new();
    sound(&lab, "a", 1, &[]);
    sound(&lab, "b", 1, &[]);
    let pair = lab.compare(&["a", "--fail-on", "worse", "--", "b"]);
    assert_eq!(pair.code, Some(0), "{pair:?}");
    assert!(pair.out.starts_with("INCONCLUSIVE"), "{}", pair.out);
    assert!(
        pair.out.contains("one run says nothing of how runs differ: make at least 5 a side"),
        "{}",
        pair.out
    );
    assert_eq!(lab.compare(&["a", "--fail-on", "inconclusive", "--", "b"]).code, Some(1));

    lab.place.write("room.yml", &SCRIPT.replace("count: 5", "count: 4"));
    sound(&lab, "c", 1, &[]);
    let other = lab.compare(&["a", "--", "c"]);
    assert_eq!(other.code, Some(3), "{other:?}");
    assert!(other.out.starts_with("NOT COMPARABLE"), "{}", other.out);
    assert!(other.out.contains("--across script"), "{}", other.out);
    let declared = lab.compare(&["a", "--across", "script,load", "--", "c"]);
    assert_eq!(declared.code, Some(0), "{declared:?}");
    assert!(declared.out.starts_with("INCONCLUSIVE"), "{}", declared.out);
    let behind = lab.compare(&["a", "--", "c", "--across", "script,load"]);
    assert_eq!(behind.code, Some(4), "{behind:?}");
    let hint = "there is no run --across\nhint: flags stand before the `--` that divides the sides";
    assert!(behind.err.contains(hint), "{}", behind.err);
    let few = lab.compare(&["--save-baseline", "main", "a"]);
    assert_eq!(few.code, Some(4), "{few:?}");
}

#[test]
fn reports_of_other_tools_are_single_runs_and_are_compared_with_their_like() {
    let lab = Lab::new();
    let k6 = |p95: f64| {
        format!(
            r#"{{"root_group":{{}},"metrics":{{"http_req_duration":{{"avg":1,"med":1,"p(95)":{p95}}},"http_reqs":{{"count":10,"rate":5}}}}}}"#
        )
    };
    lab.place.write("old.json", &k6(10.0));
    lab.place.write("new.json", &k6(20.0));
    lab.place.write(
        "artillery.json",
        r#"{"aggregate":{"counters":{"vusers.created":5},"summaries":{"http.response_time":{"p95":4}}}}"#,
    );
    let pair = lab.compare(&["old.json", "--", "new.json"]);
    assert_eq!(pair.code, Some(0), "{pair:?}");
    assert!(pair.out.starts_with("INCONCLUSIVE"), "{}", pair.out);
    assert!(pair.out.contains("http_req_duration.p95: B is 2.000 × A"), "{}", pair.out);
    assert_eq!(lab.compare(&["old.json", "--", "artillery.json"]).code, Some(3));
}

#[test]
fn what_cannot_be_compared_is_said_with_what_would_help() {
    let lab = Lab::new();
    let check = |arguments: &[&str], code: i32, what: &str| {
        let answer = lab.compare(arguments);
        assert_eq!(answer.code, Some(code), "{answer:?}");
        assert!(answer.err.contains(what), "{answer:?}");
    };
    check(&["nowhere", "--", "nowhere"], 4, "there is no run nowhere");
    check(&[".", "--", "."], 4, "is no run folder, and has none in it");
    check(&["nowhere"], 2, "hint: sonagi compare runs/old-* -- runs/new-*");
    check(&["--baseline", "main"], 4, "cannot read the baseline .sonagi/baselines/main.json");
    check(&["a", "--margin", "0%", "--", "b"], 2, "a margin is more than 0 %");
}
