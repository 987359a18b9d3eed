//! `sonagi report` of k6 scripts' runs, and their tables: what the folder says is what the run said.

use crate::support::{Answer, Place, Running, Service};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Scenarios, groups, checks, metrics of all kinds, tags, and thresholds that hold and that do not.
const EVERYTHING: &str = "
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const sold = new Counter('sold'), level = new Gauge('level'), share = new Rate('share');
const took = new Trend('took', true), size = new Trend('size'), unused = new Trend('unused', true);
export const options = {
  scenarios: {
    buyers: { executor: 'per-vu-iterations', vus: 2, iterations: 3, tags: { who: 'buyer' }, env: { STEP: '0.1' } },
    lookers: { executor: 'shared-iterations', vus: 2, iterations: 5, exec: 'look', startTime: '200ms' },
  },
  thresholds: {
    http_req_duration: ['p(95)<10000'],
    'http_req_duration{who:buyer}': ['avg<10000', 'max<0'],
    sold: ['count>3', 'count>1000'], level: ['value>=0'], share: ['rate>0.9'], 'took{kind:slow}': ['p(99)<1'],
    unused: ['max<1'], checks: ['rate>0.99'], session_token: [],
  },
};
const tokens = new Counter('session_token');
export function setup() { check(1, { 'is set up': (one) => one === 1 }); return { what: 'is set up' }; }
export default () => {
  group('shop', () => {
    const answer = http.get(`${__ENV.URL}/healthz`);
    check(answer, { 'is 200': (r) => r.status === 200, 'is 201': (r) => r.status === 201 });
    group('till', () => { sold.add(0.1 + 0.2); check(answer, { 'is paid': () => __ITER > 0 }); });
  });
  level.add(__ITER - 1.05);
  share.add(__ITER !== 1);
  took.add(12.345 / 3, { kind: 'slow' });
  sleep(Number(__ENV.STEP));
};
export function look() { size.add(-7 / 3); size.add(1e15 / 7); check(null, { 'looks': () => true }); }
export function teardown() { sold.add(1); }
";

fn run(place: &Place, service: &Service, more: &[&str]) -> Answer {
    let address = format!("URL={}", service.url);
    place.sonagi(&[&["run", "script.js", "--runs=runs", "-e", &address], more].concat())
}

fn report(place: &Place, more: &[&str]) -> Answer {
    let folders = place.folders();
    place.sonagi(&[&["report", folders.last().unwrap().to_str().unwrap()], more].concat())
}

#[test]
fn the_summary_of_a_folder_is_the_text_that_the_run_printed() {
    let service = Service::start(&Place::new(), &[]);
    for flags in [
        &["--quiet"][..],
        &["--quiet", "--summary-mode=full"],
        &[
            "--quiet",
            "--summary-mode=full",
            "--summary-time-unit=us",
            "--summary-trend-stats=avg,p(99.9),count",
        ],
        &["--quiet", "--no-thresholds", "--summary-time-unit=s"],
    ] {
        let place = Place::new();
        place.write("script.js", EVERYTHING);
        let ran = run(&place, &service, flags);
        let is_limited = !flags.contains(&"--no-thresholds");
        assert_eq!(ran.code, Some(if is_limited { 99 } else { 0 }), "{ran:?}");
        assert!(ran.out.contains("sold") && ran.out.contains("is 201"), "{ran:?}");
        assert_eq!(ran.out.contains("✗ 'max<0'"), is_limited, "{ran:?}");
        let reported = report(&place, &[]);
        assert_eq!((reported.code, &*reported.err), (Some(0), ""), "{flags:?}");
        assert_eq!(reported.out, ran.out, "{flags:?}");
        // Whoever wants it in Sonagi's words says so.
        assert!(report(&place, &["--summary=sonagi"]).out.contains("run folder"), "{flags:?}");
        assert_eq!(place.reported()["metrics"]["sold"]["count"], 7);
    }
}

#[test]
fn what_the_script_made_of_its_summary_is_not_made_again() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let plain = "export default () => {}; export const teardown = () => {};";
    place.write("script.js", &format!("{plain} export const handleSummary = () => ({{ stdout: 'mine' }});"));
    let ran = run(&place, &service, &["--quiet"]);
    assert_eq!((ran.code, &*ran.out), (Some(0), "mine"), "{ran:?}");
    let reported = report(&place, &[]);
    assert!(reported.out.contains("iterations..."), "{reported:?}");
    assert!(reported.err.contains("handleSummary() is not called again"), "{reported:?}");
}

#[test]
fn a_killed_test_is_told_up_to_its_last_second() {
    let place = Place::new();
    place.write(
        "long.js",
        "import { check, sleep } from 'k6';
         export const options = { vus: 1, duration: '600s', thresholds: { checks: ['rate>0.5'] } };
         export default () => { check(1, { fails: () => false }); sleep(0.1); };",
    );
    let running = Running::start(place.command(&["run", "long.js", "--runs", "runs"]));
    let whole_seconds = || {
        let folder = place.folders().into_iter().next()?;
        let series = std::fs::read_to_string(folder.join("series.jsonl")).ok()?;
        Some(series.lines().filter(|line| line.contains("\"second\"")).count())
    };
    while whole_seconds() < Some(3) {
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None);
    let reported = report(&place, &[]);
    assert_eq!(reported.code, Some(0), "{reported:?}");
    assert!(reported.out.starts_with("\nCut off: "), "{}", reported.out);
    assert!(reported.out.contains("✗ 'rate>0.5' rate=0.00%"), "{}", reported.out);
    assert!(reported.out.contains("✗ fails") && reported.out.contains("iterations"), "{}", reported.out);
}

/// A table's rows, each by the names of its columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// The sum of a column.
fn sum(rows: &[BTreeMap<String, String>], column: &str) -> f64 {
    let cell = |row: &BTreeMap<String, String>| row[column].parse::<f64>().unwrap_or(0.0);
    rows.iter().map(cell).sum()
}

#[test]
fn the_table_of_a_test_adds_up_to_its_summary() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("script.js", EVERYTHING);
    run(&place, &service, &["--quiet"]);
    let table = report(&place, &["--csv"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    let rows = rows(&table.out);
    let summary = place.reported();
    assert!((sum(&rows, "sold.sum") - summary["metrics"]["sold"]["sum"].as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(sum(&rows, "http_reqs.sum"), 6.0);
    assert_eq!(sum(&rows, "http.count"), summary["operations"][0]["count"].as_f64().unwrap());
    assert_eq!(sum(&rows, "http.codes.200"), 6.0);
    assert_eq!(sum(&rows, "arrivals.started"), summary["users"]["started"].as_f64().unwrap());
    let last = rows.iter().filter_map(|row| row["level.last"].parse::<f64>().ok()).next_back();
    assert_eq!(last, summary["metrics"]["level"]["level"]["value"].as_f64());
    for column in [
        "took.p95_ms",
        "size.max",
        "share.ratio",
        "data_sent.sum_bytes",
        "took{kind:slow}.p50_ms",
        "generator.cpu_s",
    ] {
        assert!(rows.iter().any(|row| !row[column].is_empty()), "{column}");
    }
    assert!(
        !rows[0].keys().any(|column| column.starts_with("unused") || column.starts_with("websocket_connect"))
    );
    // What was not measured in a second is empty there, not 0.
    let sold_nothing = rows.iter().find(|row| row["http.count"] == "0").unwrap();
    assert_eq!(sold_nothing["http.response_p95_ms"], "", "{sold_nothing:?}");

    let file = place.path().join("seconds.csv");
    let written = report(&place, &["--csv", "-o", file.to_str().unwrap()]);
    assert_eq!((written.code, &*written.out), (Some(0), ""), "{written:?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), table.out);
}

#[test]
fn a_folder_of_the_first_version_has_a_table_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/tests/it/version1");
    let table = Place::new().sonagi(&["report", "--csv", folder.to_str().unwrap()]);
    assert_eq!(table.code, Some(0), "{table:?}");
    let (lines, names) = (table.out.lines().count(), table.out.lines().next().unwrap());
    assert_eq!(lines, 5, "{}", table.out);
    for name in
        ["time_s", "time_utc", "basket.p50", "carts.sum", "GET /nowhere.response_p99_ms", "errors.timeout"]
    {
        assert!(names.contains(name), "{name}: {names}");
    }
}

#[test]
fn a_table_is_of_one_run_and_needs_its_folder() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("script.js", "export default () => {};");
    run(&place, &service, &["--quiet"]);
    let of_several = place.sonagi(&["report", "--csv", "runs"]);
    assert_eq!(of_several.code, Some(4), "{of_several:?}");
    let file = place.path().join("report.json");
    assert_eq!(report(&place, &["-o", file.to_str().unwrap()]).code, Some(0));
    let of_file = place.sonagi(&["report", "--csv", file.to_str().unwrap()]);
    assert_eq!(of_file.code, Some(4));
    assert!(of_file.err.contains("hint: name the run folder"), "{of_file:?}");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert!(document["sonagi"].is_object());
}
