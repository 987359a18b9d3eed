//! The target is watched while the load goes on, without being asked, and what was seen is in every output.

use crate::page::in_file;
use crate::support::{Answer, Place, Service};
use serde_json::Value;

/// A user a second, for long enough that probes look three times.
const SCRIPT: &str = "
config:
  target: http://127.0.0.1:9
  phases: [{ duration: 4, arrivalRate: 1 }]
  plugins: { ensure: {} }
  ensure: { thresholds: [{ target.memory.max: 1000000000000, host.tcp.listen_overflows: 1000000 }], conditions: [target.processes.value == 1] }
scenarios:
  - flow:
      - get: { url: /healthz }
";

/// [`SCRIPT`] as a test of k6, with a threshold that does not hold.
const TEST: &str = "
import http from 'k6/http';
import { sleep } from 'k6';
export const options = {
  vus: 1, duration: '4s',
  thresholds: { 'target.memory': ['value > 1000000'], 'target.processes': ['value > 1'] },
};
export default () => { http.get(`${__ENV.URL}/healthz`); sleep(0.5); };
";

fn run(place: &Place, service: &Service, more: &[&str]) -> Answer {
    place.write("watch.yml", SCRIPT);
    place.sonagi(&[&["run", "watch.yml", "-t", &service.url], more].concat())
}

#[test]
fn a_target_on_this_machine_is_watched_and_thresholds_judge_it() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let answer = run(&place, &service, &["--json", "--report", "page.html"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let watched = &answer.json()["watched"];
    assert_eq!(watched["target.processes"]["level"]["max"], 1.0, "{watched}");
    assert!(watched["target.memory"]["level"]["max"].as_f64().unwrap() > 1e6, "{watched}");
    assert!(watched["host.cores"]["level"]["value"].as_f64().unwrap() >= 1.0, "{watched}");

    let lines = in_file(&place.path().join("page.html"));
    let names: Vec<&Value> =
        lines.iter().flat_map(|line| line["frame"]["names"].as_array().into_iter().flatten()).collect();
    let cpu = names.iter().find(|name| name[1]["metric"] == "host.cpu").expect("a lane of the machine's CPU");
    assert_eq!((&cpu[1]["kind"], &cpu[1]["unit"]), (&"gauge".into(), &"share".into()));
    assert!(cpu[1]["about"]["ko"].as_str().unwrap().contains("CPU"));

    let folder = place.folders().pop().unwrap();
    let folder = folder.to_str().unwrap();
    let shown = place.sonagi(&["report", folder]).out;
    assert!(shown.contains("target      1 process · at most "), "{shown}");
    let explained = place.sonagi(&["explain", folder]);
    assert_eq!(
        (explained.code, explained.out.contains("the target kept up")),
        (Some(0), true),
        "{explained:?}"
    );
}

#[test]
fn without_a_wish_nothing_is_watched() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let answer = run(&place, &service, &["--json", "--no-watch"]);
    assert_eq!(answer.json()["watched"], serde_json::json!({}));
    // What nobody measured holds no threshold.
    assert_eq!(answer.code, Some(1), "{answer:?}");
}

#[test]
fn a_probe_that_there_is_not_is_a_problem_before_the_run() {
    let place = Place::new();
    place.write("watch.yml", &SCRIPT.replace("target.memory.max", "target.memroy.max"));
    let answer = place.sonagi(&["check", "watch.yml"]);
    assert!(answer.out.contains("did you mean `target.memory.max`?"), "{answer:?}");
    place.write("watch.yml", SCRIPT);
    let answer = place.sonagi(&["run", "watch.yml", "--watch", "sun"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("what to watch is one of port:NUMBER"), "{answer:?}");
    for text in ["postgres://u:planted@h/db?sslmode=require", "rediss://:planted@h", "mysql://u:planted@h"] {
        let answer = place.sonagi(&["run", "watch.yml", "--watch", text]);
        assert_eq!((answer.code, format!("{answer:?}").contains("planted")), (Some(2), false), "{answer:?}");
    }
}

#[test]
fn thresholds_of_k6_tests_name_probes_and_its_summary_has_no_other_of_their_metrics() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("test.js", TEST);
    let url = format!("URL={}", service.url);
    let answer = place.sonagi(&["run", "test.js", "-e", &url, "--runs", "runs"]);
    assert_eq!(answer.code, Some(99), "{answer:?}");
    for line in ["✓ 'value > 1000000'", "✗ 'value > 1'"] {
        assert!(answer.out.contains(line), "{line} in {}", answer.out);
    }
    assert!(!answer.out.contains("host."), "{}", answer.out);
    let csv = place.sonagi(&["report", "--csv", place.folders()[0].to_str().unwrap()]).out;
    assert!(csv.lines().next().unwrap().contains("host.cpu"), "{csv}");
}
