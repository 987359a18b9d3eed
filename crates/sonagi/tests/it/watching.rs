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

/// A diagnosis without its Korean.
fn in_english(said: &Value) -> Value {
    match said {
        Value::Array(items) => items.iter().map(in_english).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "ko");
            fields.map(|(name, value)| (name.clone(), in_english(value))).collect()
        }
        other => other.clone(),
    }
}

/// Runs a command against a service that ends in the middle of it.
fn run_against_one_that_ends(place: &Place, service: Service, arguments: &[&str]) -> Answer {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| place.sonagi(arguments));
        std::thread::sleep(std::time::Duration::from_millis(3500));
        drop(service);
        run.join().unwrap()
    })
}

#[test]
fn a_run_that_did_not_keep_up_ends_with_what_broke_first_and_so_do_its_folder_and_its_page() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let script = SCRIPT.replace("duration: 4, arrivalRate: 1", "duration: 7, arrivalRate: 4");
    place.write(
        "end.yml",
        &script.replace(":9\n", &format!(":9\n  watch: \"port:{}\"\n", port(&service.url))),
    );
    let url = service.url.clone();
    let arguments = ["run", "end.yml", "-t", &url, "--no-watch", "--report", "page.html"];
    let answer = run_against_one_that_ends(&place, service, &arguments);
    assert!(answer.out.contains("cause       The target died "), "{answer:?}");
    let folder = place.folders().pop().unwrap();
    let folder = folder.to_str().unwrap();
    assert!(answer.out.contains("more        sonagi explain "), "{answer:?}");

    let lines = in_file(&place.path().join("page.html"));
    let shown = lines.iter().find_map(|line| line.get("diagnosis")).expect("a line with the diagnosis");
    let explained: Value = serde_json::from_str(&place.sonagi(&["explain", "--json", folder]).out).unwrap();
    assert!(shown["findings"][0]["ko"].as_str().unwrap().contains("대상이 죽었고"), "{shown}");
    assert_eq!(in_english(shown), explained);
    assert_eq!((&shown["findings"][0]["id"], &shown["is_watched"]), (&"death".into(), &true.into()));
    // A probe told of it while the run went on.
    let evidence = shown["findings"][0]["evidence"].as_array().unwrap();
    let told = evidence.iter().find(|one| one["series"] == "events").expect("evidence of the events");
    assert!(told["text"].as_str().unwrap().contains("ended"), "{told}");
}

#[test]
fn a_k6_test_says_what_broke_first_on_the_error_stream_also_without_a_folder() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("test.js", &TEST.replace("'4s'", "'7s'"));
    let url = format!("URL={}", service.url);
    let answer = run_against_one_that_ends(&place, service, &["run", "test.js", "-e", &url]);
    assert!(answer.err.contains("cause       The target died "), "{answer:?}");
    assert!(!answer.out.contains("The target died"), "{answer:?}");
    assert_eq!(place.folders().len(), 0);
}

fn port(url: &str) -> &str {
    url.rsplit_once(':').unwrap().1.trim_end_matches('/')
}

#[test]
fn scripts_say_what_to_watch_in_both_languages_and_their_passwords_are_shown_nowhere() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let asked = "postgres://u:planted@127.0.0.1:1/chat";
    let wrong = "\n  watch: [\"mysql://u:planted@h\", 5, \"{{ name }}\", \"port:1\"]\n";
    place.write("watch.yml", &SCRIPT.replace(":9\n", &format!(":9{wrong}")));
    let answer = place.sonagi(&["check", "watch.yml"]);
    for (column, what) in
        [(11, "what to watch is one of"), (34, "watch"), (37, "must be known before the run")]
    {
        let found =
            answer.out.lines().any(|line| line.contains(&format!(":4:{column}: ")) && line.contains(what));
        assert!(found, "{what} in {answer:?}");
    }
    assert!(!answer.out.contains("planted"), "{answer:?}");

    let right = format!(":9\n  watch: [\"{asked}\"]\n");
    place.write("watch.yml", &SCRIPT.replace(":9\n", &right));
    let answer = place.sonagi(&["run", "watch.yml", "-t", &service.url, "--report", "page.html"]);
    place.write("test.js", &TEST.replace("vus: 1", &format!("sonagi: {{ watch: '{asked}' }}, vus: 1")));
    let url = format!("URL={}", service.url);
    let tested =
        place.sonagi(&["run", "test.js", "-e", &url, "--runs", "runs", "--out", "json=samples.json"]);
    let folders = place.folders();
    assert_eq!(folders.len(), 2, "{answer:?} {tested:?}");
    for folder in folders {
        let events = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
        assert!(events.contains("postgres://127.0.0.1:1/chat"), "{events}");
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("planted"), "{}", path.display());
        }
    }
    let page = format!("{:?}", in_file(&place.path().join("page.html")));
    for text in [page, format!("{answer:?} {tested:?}")] {
        assert!(!text.contains("planted"), "{text}");
    }
}
