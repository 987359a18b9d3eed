//! What the page is told of a k6 test: its requests by name, and its thresholds while it goes on and after it was
//! killed.

use crate::page::in_file;
use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;

/// A test of two kinds of requests: three that are answered with 200, two with 404.
const REQUESTS: &str = "
import http from 'k6/http';
import secrets from 'k6/secrets';
import { group } from 'k6';
export const options = { vus: 1, iterations: 1 };
export default async () => {
  for (let i = 0; i < 3; i++) http.get(`${__ENV.URL}/healthz?n=${i}`, { tags: { name: 'look', kind: 'fast' } });
  const told = await secrets.get('planted');
  group('lost', () => {
    for (let i = 0; i < 2; i++) http.post(`${__ENV.URL}/nowhere?token=planted-query&x=${told}`);
  });
};
";

/// The counts of a trend's or rate's series over all frames, by what the tags of each say under these names; of a rate,
/// how many values are not zero beside it.
pub(crate) fn series_counts(lines: &[Value], metric: &str, tags: &[&str]) -> Vec<(Vec<String>, u64, u64)> {
    let all = |member: &'static str| {
        lines.iter().flat_map(move |line| line["frame"][member].as_array().into_iter().flatten())
    };
    let of_series = |name: &Value| {
        let tag = |tag: &&str| name[1]["tags"][*tag].as_str().unwrap_or("-").to_owned();
        let values = || all("v").filter(|pair| pair[0] == name[0]).map(|pair| &pair[1]);
        let sum = |of: fn(&Value) -> Option<u64>| values().filter_map(of).sum();
        let count = sum(|value| value["n"].as_u64().or(value[1].as_u64()));
        (tags.iter().map(tag).collect(), count, sum(|value| value[0].as_u64()))
    };
    let mut told: Vec<_> = all("names").filter(|name| name[1]["metric"] == metric).map(of_series).collect();
    told.sort();
    told
}

#[test]
fn requests_of_a_k6_test_are_told_by_name_method_status_and_tags() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("t.js", REQUESTS);
    let (url, secret) = (format!("URL={}", service.url), "--secret-source=mock=planted=planted-value");
    let answer = place.sonagi(&["run", "t.js", "-q", "-e", &url, secret, "--runs=runs", "--report=t.html"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let lines = in_file(&place.path().join("t.html"));
    let nowhere = format!("{}/nowhere?token=***&x=***", service.url);
    let tags = ["name", "method", "status", "group", "kind"];
    let row = |tags: [&str; 5], count, failed| (tags.map(str::to_owned).to_vec(), count, failed);
    let rows = |failed| {
        let lost = [&nowhere, "POST", "404", "::lost", "-"];
        [row(lost, 2, failed), row(["look", "GET", "200", "-", "fast"], 3, 0)]
    };
    assert_eq!(series_counts(&lines, "http_req_duration", &tags), rows(0));
    assert_eq!(series_counts(&lines, "http_req_failed", &tags), rows(2));
    // The names of requests are kept, and what is secret in them nowhere.
    for file in ["series.jsonl", "run.json", "events.jsonl", "latency.hlog"] {
        let text = fs::read_to_string(place.folders()[0].join(file)).unwrap();
        assert!(!text.contains("planted-query") && !text.contains("planted-value"), "{file}: {text}");
    }
    // A summary tells requests apart by what its thresholds name, as k6's does.
    assert_eq!(place.reported()["metrics"]["http_req_duration"]["count"], 5);
}

/// Goes on until it is ended. Of its thresholds one holds, one does not, and of one nothing is ever seen.
const LONG: &str = "
import { check, sleep } from 'k6';
import { Trend } from 'k6/metrics';
const unseen = new Trend('unseen', true);
export const options = {
  vus: 1, duration: '600s',
  thresholds: { checks: ['rate>0.5'], iterations: ['count>0'], unseen: ['min>5'] },
};
export default () => { check(1, { fails: () => false }); sleep(0.1); };
";

/// What became of each threshold in the last summary of a page, and its verdict.
fn judged(lines: &[Value]) -> (Vec<(String, bool)>, Value) {
    let summary = lines.iter().rev().find(|line| !line["summary"].is_null()).unwrap()["summary"].clone();
    let of = |one: &Value| (one["expression"].as_str().unwrap().to_owned(), one["held"].as_bool().unwrap());
    let thresholds = summary["thresholds"].as_array().unwrap();
    assert_eq!(thresholds[0]["evidence"], "rate = 0");
    (thresholds.iter().map(of).collect(), summary["verdict"]["result"].clone())
}

#[test]
fn thresholds_of_a_k6_test_are_judged_while_it_goes_on_and_after_it_was_killed() {
    let place = Place::new();
    place.write("long.js", LONG);
    let running = Running::start(place.command(&["run", "long.js", "-q", "--runs", "runs"]));
    let whole_seconds = || {
        let folder = place.folders().into_iter().next()?;
        let series = fs::read_to_string(folder.join("series.jsonl")).ok()?;
        Some(series.lines().filter(|line| line.contains("\"second\"")).count())
    };
    while whole_seconds() < Some(2) {
        std::thread::yield_now();
    }
    let folder = place.folders()[0].clone();
    let page = |name: &str| {
        let answer = place.sonagi(&["report", folder.to_str().unwrap(), "--json", "-o", name]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        (in_file(&place.path().join(name)), answer.json())
    };
    let expected = |held_unseen| {
        let all =
            [("checks: rate>0.5", false), ("iterations: count>0", true), ("unseen: min>5", held_unseen)];
        (all.map(|(expression, held)| (expression.to_owned(), held)).to_vec(), json!("fail"))
    };
    let (live, document) = page("live.html");
    assert_eq!(judged(&live), expected(true));
    assert_eq!(judged(&[json!({ "summary": document })]), expected(true));
    assert_eq!(live.last().unwrap()["end"]["state"], "running");
    let text = place.sonagi(&["report", folder.to_str().unwrap()]).out;
    assert!(text.contains("Under way:") && !text.contains("Cut off:"), "{text}");
    running.signal(Signal::KILL);
    running.end();
    let (killed, document) = page("killed.html");
    assert_eq!(judged(&killed), expected(false), "of what was never seen");
    assert_eq!(judged(&[json!({ "summary": document })]), expected(false));
    assert_eq!(killed.last().unwrap()["end"]["state"], "cut_off");
    // Killed in the middle of a line: the second that it would have told did not happen.
    let series = folder.join("series.jsonl");
    let text = fs::read_to_string(&series).unwrap();
    let last = text.lines().last().unwrap();
    let mut file = fs::File::options().append(true).open(&series).unwrap();
    file.write_all(&last.as_bytes()[..last.len() / 2]).unwrap();
    assert_eq!(page("torn.html").0[1..], killed[1..]);
}
