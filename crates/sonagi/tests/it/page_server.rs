//! The server of pages: who may ask, what stops a run, and what a viewer is told when something changes or goes wrong.

use crate::page::in_file;
use crate::site::{Site, kind, script, start};
use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A k6 test of as many seconds.
const SLEEPS: &str = "
import { sleep } from 'k6';
export const options = { vus: 1, duration: 'SECONDSs' };
export default () => sleep(0.1);
";

/// A k6 test that misses its threshold.
const CROSSED: &str = "
import { Counter } from 'k6/metrics';
new Counter('sips');
export const options = { iterations: 1, thresholds: { sips: ['count>0'] } };
export default () => {};
";

/// A run in a library, made without a run.
fn run_json(place: &Place, id: &str, text: &str) {
    let folder = place.path().join("runs").join(id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run.json"), text).unwrap();
}

/// An empty folder for temporary files.
fn temporary(place: &Place) -> PathBuf {
    let folder = place.path().join("tmp");
    std::fs::create_dir(&folder).unwrap();
    folder
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn start_with(place: &Place, temporary: &Path, arguments: &[&str]) -> (Running, Site) {
    let mut command = place.command(arguments);
    let mut running = Running::start({
        command.env("TMPDIR", temporary);
        command
    });
    let site = Site::of(&mut running);
    (running, site)
}

#[test]
fn only_pages_of_its_own_address_are_answered_and_only_the_token_stops_the_run() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 60));
    run_json(&place, "other", "{}");
    let (mut running, site) = start(&place, &["run", "a.yml", "--page-listen=127.0.0.1:0"]);
    let id = site.run();
    let port = site.address.rsplit_once(':').unwrap().1;
    assert_eq!(site.status("GET /", &[("host", &format!("localhost:{port}"))]), 200);
    assert_eq!(site.status("GET /", &[("host", &format!("evil.example:{port}"))]), 403);
    assert_eq!(site.status("GET /api/runs", &[("origin", "http://evil.example")]), 403);
    assert_eq!(site.status("GET /runs/..%2F..%2Fetc", &[]), 404);
    assert_eq!(site.status("GET /api/runs/nowhere/lines", &[]), 404);
    assert_eq!(site.status("GET /api/runs/other/lines", &[]), 404, "a run of another command");
    // The list is made anew once a second, and the run's folder may just have been begun.
    let runs = std::iter::repeat_with(|| site.runs()).find(|runs| !runs.is_empty());
    assert_eq!(runs.map(|runs| runs.len()), Some(1));
    // Whoever opens the page without its token may look.
    assert_eq!(site.token.len(), 16);
    assert!(!site.text("/").contains(&site.token) && site.boot("/").get("token").is_none());
    let stop = format!("POST /api/runs/{id}/stop");
    let token = ("x-sonagi-token", site.token.as_str());
    assert_eq!(site.status(&stop, &[]), 403);
    assert_eq!(site.status(&stop, &[("x-sonagi-token", "0123")]), 403);
    assert_eq!(site.status(&stop, &[token, ("origin", "http://evil.example")]), 403);
    assert_eq!(site.status(&stop, &[token, ("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(site.stop("other"), 409);
    let mut lines = site.lines(&id, "");
    while kind(&lines.next().unwrap().1) != "frame" {}
    // Twice, as by an impatient hand: it still ends gracefully.
    assert_eq!((site.stop(&id), site.stop(&id)), (202, 202));
    running.wait_for("stopping this run, as its page asks");
    let last = lines.all();
    assert_eq!(last.last().unwrap().1["end"]["state"], "interrupted");
    let answer = running.end();
    assert!(!answer.err.contains("\nstopping at once"), "{}", answer.err);
    assert_eq!(answer.code, Some(130), "{answer:?}");
}

#[test]
fn the_stop_button_after_a_ctrl_c_is_no_second_ctrl_c() {
    const TEST: &str = "
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 1, duration: '60s' };
export default () => sleep(0.1);
export const teardown = () => { http.get('TARGET') };
";
    let place = Place::new();
    let target = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    place.write("t.js", &TEST.replace("TARGET", &format!("http://{}", target.local_addr().unwrap())));
    let (running, site) = start(&place, &["run", "t.js", "--page-listen=127.0.0.1:0"]);
    let id = site.run();
    let mut lines = site.lines(&id, "");
    while kind(&lines.next().unwrap().1) != "frame" {}
    running.signal(Signal::INT);
    // The test ends when this answers, or hangs up.
    let teardown = target.accept().unwrap();
    assert_eq!(site.stop(&id), 202);
    drop((teardown, target));
    assert_eq!(lines.all().last().unwrap().1["end"]["state"], "interrupted");
    let answer = running.end();
    assert!(!answer.err.contains("stopping at once"), "{}", answer.err);
    assert_eq!(answer.code, Some(105), "{answer:?}");
}

#[test]
fn a_stop_ends_the_run_of_its_id_and_the_page_goes_on_to_the_next() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("m.yml", &format!("matrix: {{n: [1, 2]}}\n{}", script(&service.url, 60)));
    let (running, site) = start(&place, &["run", "m.yml", "--page-listen=127.0.0.1:0"]);
    let first = site.run();
    let mut lines = site.lines(&first, "");
    while kind(&lines.next().unwrap().1) != "frame" {}
    assert_eq!(site.stop(&first), 202);
    let next = std::iter::repeat_with(|| lines.event()).find(|(name, _)| name != "line").unwrap();
    assert_eq!(next.0, "next");
    let second = serde_json::from_str::<Value>(&next.1).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(lines.event().0, "closed", "whoever stays has all of it");
    assert_eq!((site.run(), second.ends_with("/2")), (second.clone(), true));
    // Also who comes later.
    let mut again = site.lines(&first, &lines.last);
    assert_eq!(again.event(), ("next".to_owned(), next.1));
    let mut lines = site.lines(&second, "");
    while kind(&lines.next().unwrap().1) != "frame" {}
    assert_eq!(site.stop(&first), 409, "it is over");
    assert_eq!(site.stop(&second), 202);
    assert_eq!(lines.all().last().unwrap().1["end"]["state"], "interrupted");
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(!answer.err.contains("not run"), "{}", answer.err);
}

#[test]
fn ctrl_c_ends_a_page_that_is_kept_whatever_was_asked_before_and_leaves_nothing() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("m.yml", &format!("matrix: {{n: [1, 2]}}\n{}", script(&service.url, 60)));
    place.write("t.js", &SLEEPS.replace("SECONDS", "60"));
    place.write("x.js", CROSSED);
    let tmp = temporary(&place);
    // Each signal during the run, then the one that ends the serving.
    for (name, signals, code) in [("m.yml", 1, 130), ("m.yml", 2, 130), ("t.js", 1, 105), ("x.js", 0, 99)] {
        let runs: &[&str] = if name == "m.yml" { &["--no-folder"] } else { &[] };
        let arguments = ["run", name, "-q", "--page=keep", "--page-listen=127.0.0.1:0"];
        let (mut running, site) = start_with(&place, &tmp, &[&arguments[..], runs].concat());
        if signals > 0 {
            let mut lines = site.lines(&site.run(), "");
            while kind(&lines.next().unwrap().1) != "frame" {}
        }
        for signal in 0..signals {
            running.signal(Signal::INT);
            if name == "m.yml" {
                running.wait_for(["stopping; finishing", "stopping at once"][signal]);
            }
        }
        running.wait_for("until Ctrl-C");
        let told = running.said().matches("stopping").count();
        running.signal(Signal::INT);
        let answer = running.end();
        assert_eq!(answer.code, Some(code), "{name}: {answer:?}");
        assert_eq!(answer.err.matches("stopping").count(), told, "{name}: {}", answer.err);
        assert!(is_empty(&tmp), "{name}");
    }
}

#[test]
fn who_comes_back_with_an_id_of_another_feed_begins_anew() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 1));
    assert_eq!(place.sonagi(&["run", "a.yml", "-q"]).code, Some(0));
    let serve = || start(&place, &["page", "runs", "--listen=127.0.0.1:0"]);
    let ((one, site), (other, anew)) = (serve(), serve());
    assert_eq!((site.token.as_str(), anew.token.as_str()), ("", ""), "nothing acts in a library");
    let id = site.runs()[0]["id"].as_str().unwrap().to_owned();
    let mut lines = site.lines(&id, "");
    let first = lines.next().unwrap();
    assert_eq!((first.0, kind(&first.1)), (1, "head"));
    let (last, second) = (lines.last.clone(), lines.next().unwrap());
    assert_eq!(site.lines(&id, &last).next(), Some(second), "it goes on behind it");
    let nonce = last.strip_suffix("-1").unwrap();
    assert!(nonce.len() == 8 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()), "{last}");
    for (site, last) in
        [(&anew, last.as_str()), (&site, "1"), (&site, "nonsense"), (&site, &format!("{nonce}-99999"))]
    {
        let mut lines = site.lines(&id, last);
        assert_eq!(lines.event(), ("restart".to_owned(), String::new()), "{last}");
        assert_eq!(lines.next(), Some(first.clone()), "{last}");
    }
    for running in [one, other] {
        running.signal(Signal::INT);
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn a_stream_that_cannot_go_on_says_why_and_ends() {
    let place = Place::new();
    run_json(&place, "garbage", "{\"version\":");
    run_json(&place, "later", "{\"version\": 99, \"header\": {}}");
    let version1 = concat!(env!("CARGO_MANIFEST_DIR"), "/../measure/tests/it/version1/run.json");
    run_json(&place, "unkept", &std::fs::read_to_string(version1).unwrap());
    let failure = |site: &Site, id: &str| {
        let mut lines = site.lines(id, "");
        let (name, data) = std::iter::repeat_with(|| lines.event()).find(|(name, _)| name != "line").unwrap();
        assert_eq!(name, "failed", "{id}: {data}");
        serde_json::from_str::<Value>(&data).unwrap()["why"].as_str().unwrap().to_owned()
    };
    let (running, site) = start(&place, &["page", "runs", "--listen=127.0.0.1:0"]);
    for (id, part) in [("garbage", "is not JSON"), ("later", "a newer sonagi wrote it")] {
        let why = failure(&site, id);
        assert!(why.starts_with("this run cannot be read: ") && why.contains(part), "{why}");
        assert!(!why.contains('\n'), "{why}");
        assert_eq!(failure(&site, id), why, "and again to who comes later");
    }
    run_json(&place, "garbage", &std::fs::read_to_string(version1).unwrap());
    assert_eq!(kind(&site.lines("garbage", "").next().unwrap().1), "head", "it is mended");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(0));
    // No place for the lines.
    let nowhere = place.path().join("nowhere");
    let (running, site) = start_with(&place, &nowhere, &["page", "runs", "--listen=127.0.0.1:0"]);
    let why = failure(&site, "unkept");
    assert!(why.starts_with("the lines of this run cannot be kept") && why.contains("/nowhere"), "{why}");
    std::fs::create_dir(&nowhere).unwrap();
    assert_eq!(kind(&site.lines("unkept", "").next().unwrap().1), "head", "there is a place now");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn an_address_by_name_answers_under_that_name_and_other_sites_get_nothing() {
    let place = Place::new();
    run_json(&place, "a", "{}");
    // A number only to the system: for browsers and for us it is a name.
    let (running, site) = start(&place, &["page", "runs", "--listen=127.1:0"]);
    let port = site.address.strip_prefix("127.1:").unwrap_or_else(|| panic!("{}", site.address));
    assert_eq!(site.status("GET /", &[]), 200);
    assert_eq!(site.status("GET /", &[("host", &format!("127.0.0.1:{port}"))]), 200);
    assert_eq!(site.status("GET /", &[("host", &format!("evil.example:{port}"))]), 403);
    for path in ["/api/runs", "/api/runs/a/lines", "/%61pi/runs"] {
        for (from, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
            assert_eq!(
                site.status(&format!("GET {path}"), &[("sec-fetch-site", from)]),
                status,
                "{path}: {from}"
            );
        }
    }
    // A link from elsewhere may open the page.
    assert_eq!(site.status("GET /", &[("sec-fetch-site", "cross-site")]), 200);
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(0));
    place.write("t.js", "export default () => {};\n");
    let mut command = place.command(&["run", "t.js"]);
    let output =
        command.env("K6_WEB_DASHBOARD", "true").env("K6_WEB_DASHBOARD_PORT", "70000").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("from 0 to 65535; got `70000`") && told.contains("hint: -1"), "{told}");
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn the_page_of_one_run_shows_no_other() {
    let place = Place::new();
    let version1 = concat!(env!("CARGO_MANIFEST_DIR"), "/../measure/tests/it/version1/run.json");
    let text = std::fs::read_to_string(version1).unwrap();
    ["one", "other"].iter().for_each(|id| run_json(&place, id, &text));
    let (running, site) = start(&place, &["page", "runs/one", "--listen=127.0.0.1:0"]);
    assert_eq!(site.boot("/")["id"], "one");
    let ids: Vec<Value> = site.runs().into_iter().map(|run| run["id"].clone()).collect();
    assert_eq!(ids, [json!("one")]);
    assert_eq!(kind(&site.lines("one", "").next().unwrap().1), "head");
    assert_eq!(site.status("GET /runs/one", &[]), 200);
    assert_eq!(site.status("GET /runs/other", &[]), 404);
    assert_eq!(site.status("GET /api/runs/other/lines", &[]), 404);
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_page_does_not_name_a_temporary_folder() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("a.yml", &script(&service.url, 2));
    place.write("t.js", &SLEEPS.replace("SECONDS", "2"));
    let tmp = temporary(&place);
    for (name, runs) in [("a.yml", Some("--no-folder")), ("t.js", None)] {
        let arguments = ["run", name, "--page-listen=127.0.0.1:0", "--report=page.html"];
        let (running, site) =
            start_with(&place, &tmp, &arguments.into_iter().chain(runs).collect::<Vec<_>>());
        let id = site.run();
        let live: Vec<Value> = site.lines(&id, "").all().into_iter().map(|(_, line)| line).collect();
        let answer = running.end();
        assert_eq!(answer.code, Some(0), "{name}: {answer:?}");
        let of_file = in_file(&place.path().join("page.html"));
        for lines in [&live, &of_file] {
            assert!(lines.iter().any(|line| kind(line) == "summary"), "{name}");
            for line in lines {
                let text = line.to_string();
                assert!(
                    !text.contains("sonagi-runs-") && !text.contains(tmp.to_str().unwrap()),
                    "{name}: {text}"
                );
            }
            // When it began, and the script's name: 20261123-101500-t.
            let (stem, id) = (name.split_once('.').unwrap().0, lines[0]["head"]["id"].as_str().unwrap());
            let shape: String = id.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
            assert_eq!(shape, format!("00000000-000000-{stem}"), "{id}");
        }
        assert!(is_empty(&tmp), "{name}");
    }
}
