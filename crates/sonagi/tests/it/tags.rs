//! Tags of Artillery's scripts from the step to every output, and thresholds that end a run.

use crate::k6_page::series_counts;
use crate::page::in_file;
use crate::support::{Place, Service};
use serde_json::{Value, json};
use std::fs;

/// Five users with three requests each, two of which have a tag of their own; `ensure` and the phase as given.
fn script(phase: &str, ensure: &str) -> String {
    format!(
        r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{phase}]
  plugins: {{ ensure: {{}} }}
  ensure: {ensure}
scenarios:
  - tags: {{ team: search }}
    flow:
      - get: {{ url: /healthz, tags: {{ page: list }} }}
      - get: {{ url: /nowhere, tags: {{ page: none }} }}
      - get: {{ url: /healthz }}
"#
    )
}

const SHORT: &str = "{ duration: 1, arrivalCount: 5 }";

#[test]
fn what_steps_with_a_tag_came_to_is_in_every_output_and_thresholds_judge_it() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let ensure = r#"{ thresholds: [{ "http.response_time{page:list}.p95": 9000, "http.codes.404{page:list}": 1 }],
        conditions: ["http.codes.404{page:none} < 5", "'operations.GET /healthz.count{team:search,page:list}' == 5"] }"#;
    place.write("tags.yml", &script(SHORT, ensure));
    let outputs = ["--json", "-o", "report.json", "--report", "page.html"];
    let answer = place.sonagi(&[&["run", "tags.yml", "-q", "-t", &service.url], &outputs[..]].concat());
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let document = answer.json();
    let counts = |document: &Value| {
        let metrics = document["metrics"].as_object().unwrap();
        metrics
            .iter()
            .map(|(name, metric)| (name.clone(), metric["count"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("http.codes.404{page:none}", 5),
        ("http.response_time{page:list}", 5),
        ("http.response_time{page:none}", 5),
        ("http.response_time{team:search}", 15),
        ("kinds.http.failed{page:list}", 5),
        ("kinds.http.failed{page:none}", 5),
        ("kinds.http.failed{team:search}", 15),
        ("operations.GET /healthz.count{page:list,team:search}", 5),
    ];
    assert_eq!(counts(&document), expected.map(|(name, count)| (name.to_owned(), count)));
    assert_eq!(document["metrics_left_out"], 0);
    let held: Vec<&Value> =
        document["thresholds"].as_array().unwrap().iter().map(|judged| &judged["held"]).collect();
    assert_eq!(held, [&json!(true), &json!(true), &json!(false), &json!(true)]);
    let reason = "the threshold `'http.codes.404{page:none}' < 5` failed: http.codes.404{page:none} = 5";
    assert_eq!(document["verdict"]["reasons"], json!([reason]));
    assert_eq!(place.reported()["metrics"], document["metrics"]);
    let series = fs::read_to_string(place.folders()[0].join("series.jsonl")).unwrap();
    assert!(
        series.contains(r#""parts":["http.response_time{page:list}","http.response_time{team:search}"]"#),
        "{series}"
    );
    let report: Value = serde_json::from_slice(&fs::read(place.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["aggregate"]["summaries"]["http.response_time{team:search}"]["count"], 15);
    assert_eq!(report["aggregate"]["summaries"]["http.response_time"]["count"], 15, "the whole is its own");
    let periods = report["intermediate"].as_array().unwrap();
    let of_tags = |name: &str| {
        periods.iter().filter_map(|period| period["summaries"][name]["count"].as_u64()).sum::<u64>()
    };
    assert_eq!(
        (of_tags("http.response_time{team:search}"), of_tags("http.response_time{page:list}")),
        (15, 5)
    );
    // On a page, the times of requests by the tags they have.
    let page = in_file(&place.path().join("page.html"));
    let told = |page: &str| (vec![page.to_owned(), "search".to_owned()], 5, 0);
    assert_eq!(
        series_counts(&page, "http.response_time", &["page", "team"]),
        [told("-"), told("list"), told("none")]
    );
    let shown = place.sonagi(&["report", place.folders()[0].to_str().unwrap()]).out;
    assert!(shown.contains("http.response_time{page:list}: 5 values, "), "{shown}");
}

#[test]
fn a_threshold_on_a_tag_that_no_step_has_stops_the_run_before_it_begins() {
    let place = Place::new();
    place.write("tags.yml", &script(SHORT, r#"{ thresholds: [{ "http.response_time{page:lst}.p95": 1 }] }"#));
    let answer = place.sonagi(&["run", "tags.yml", "-q"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{answer:?}");
    let said = "no step has the tag `page:lst`\n  hint: did you mean `http.response_time{page:list}.p95`?";
    assert!(answer.err.contains(said), "{}", answer.err);
}

#[test]
fn a_threshold_with_abort_on_fail_ends_the_run_gracefully_once_its_delay_is_over() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let long = "{ duration: 600, arrivalRate: 5 }";
    let ensure = r#"{ conditions: [{ expression: "http.response_time{page:list}.count < 1", abortOnFail: true, delayAbortEval: 3 }] }"#;
    place.write("long.yml", &script(long, ensure));
    let answer = place.sonagi(&["run", "long.yml", "--json", "-t", &service.url]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let document = answer.json();
    let judged = &document["thresholds"][0];
    let after = judged["ended_run_s"].as_f64().unwrap();
    assert!(after >= 3.0, "{judged}");
    let expression = "'http.response_time{page:list}.count' < 1";
    let evidence = judged["evidence"].as_str().unwrap();
    let reason =
        format!("the threshold `{expression}` failed and ended the run after {after:.1} s: {evidence}");
    assert_eq!(document["verdict"]["reasons"][0], reason);
    assert_eq!((&document["verdict"]["result"], &document["interrupted"]), (&json!("fail"), &json!(false)));
    assert_eq!(document["users"]["planned"], 3000);
    assert_eq!(document["users"]["missed"], 0);
    let said = format!("the threshold `{expression}` ends the run: {evidence}");
    assert!(answer.err.contains(&said), "{}", answer.err);
    assert_eq!(place.reported()["verdict"], document["verdict"]);
}

#[test]
fn a_run_that_a_threshold_ended_is_followed_by_the_next_script() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let ends =
        r#"{ conditions: [{ expression: "http.response_time{page:list}.count < 1", abortOnFail: true }] }"#;
    place.write("long.yml", &script("{ duration: 600, arrivalRate: 5 }", ends));
    place.write("short.yml", &script(SHORT, "{ thresholds: [] }"));
    let arguments = ["run", "long.yml", "short.yml", "-q", "--json", "--no-folder", "-t", &service.url];
    let answer = place.sonagi(&arguments);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let runs = answer.json();
    let results: Vec<&Value> = runs.as_array().unwrap().iter().map(|run| &run["verdict"]["result"]).collect();
    assert_eq!(results, [&json!("fail"), &json!("pass")]);
    assert_eq!(runs[1]["users"]["completed"], 5);
}
