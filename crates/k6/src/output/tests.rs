//! `tests/samples.jsonl` and `tests/samples.csv` are what k6 2.2.0 wrote of `tests/script.js`: its samples must come
//! out of our outputs as k6 wrote them, to the byte.

use super::*;
use crate::metrics::{AbortRule, Detail, Kind, Metadata, Unit, registry, sampler};
use serde_json::Value;
use sonagi_measure::At;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WANTED: [&str; 6] = ["scenario", "group", "check", "url", "vu", "iter"];

fn told_by_k6(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/output/tests");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// The script's metrics and thresholds, and the samples that k6 wrote.
fn measured() -> (MetricStore, Vec<Sample>) {
    let registry = registry();
    registry.add("counted", Kind::Counter, Unit::Number).unwrap();
    registry.add("values", Kind::Trend, Unit::Milliseconds).unwrap();
    let registry = Arc::new(registry);
    let mut store = MetricStore::new(registry.clone());
    for (metric, source) in [
        ("counted", "count>1"),
        ("counted", "rate<0.1"),
        ("values{place:x}", "avg<1"),
        ("values{place:y, url:z}", "avg<1"),
    ] {
        store.limit(metric, source, AbortRule::default()).unwrap();
    }
    let mut sampler = sampler(&registry, Detail::Total, wanted_tags(), true);
    for line in told_by_k6("samples.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Value::Object(tags) = &line["data"]["tags"] else { continue };
        let pairs: Vec<(&str, &str)> =
            tags.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
        let beside = line["data"].get("metadata").map(|beside| {
            let pairs = beside.as_object().unwrap().iter();
            Arc::new(Metadata(
                pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect(),
            ))
        });
        let tags = sampler.tags().with_all(&pairs).with_metadata(beside);
        let at: jiff::Timestamp = line["data"]["time"].as_str().unwrap().parse().unwrap();
        let metric = registry.get(line["metric"].as_str().unwrap()).unwrap();
        let at = At(i64::try_from(at.as_nanosecond()).unwrap() - STARTED.as_nanos() as i64);
        sampler.observe(metric, line["data"]["value"].as_f64().unwrap(), &tags, at);
    }
    (store, sampler.take().samples)
}

fn given(samples: &[Sample]) -> Samples {
    Arc::new(samples.to_vec())
}

const STARTED: Duration = Duration::new(1_795_000_000, 123);

fn wanted_tags() -> SystemTags {
    SystemTags::named(WANTED).unwrap()
}

/// Where the standard output goes in a test.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written(wanted: &str) -> String {
    let (store, samples) = measured();
    let shown = Shown::default();
    let wanted = Wanted::parse(wanted, |_| None).unwrap();
    let started = SystemTime::UNIX_EPOCH + STARTED;
    let mut output = wanted.open(&store, wanted_tags(), started, Box::new(shown.clone())).unwrap();
    let (first, rest) = samples.split_at(5);
    output.give(given(first), 1);
    output.give(given(rest), 1);
    output.finish().unwrap();
    let bytes = shown.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn assert_lines(ours: &str, k6s: &str) {
    for (ours, k6s) in ours.lines().zip(k6s.lines()) {
        assert_eq!(ours, k6s);
    }
    assert_eq!(ours, k6s);
}

#[test]
fn json_lines_are_k6s_to_the_byte() {
    assert_lines(&written("json"), &told_by_k6("samples.jsonl"));
}

#[test]
fn the_part_of_a_metric_that_no_threshold_names_is_told_last_and_only_when_it_can_have_samples() {
    let registry = Arc::new(registry());
    let mut store = MetricStore::new(registry.clone());
    store.limit("http_req_duration{scenario:one}", "avg<1", AbortRule::default()).unwrap();
    let suffixes = |tags: SystemTags| {
        let mut sampler = sampler(&registry, Detail::Total, tags, true);
        sampler.observe(crate::metrics::builtin::HTTP_REQ_DURATION, 1.0, &sampler.tags(), At(0));
        let shown = Shown::default();
        let wanted = Wanted::parse("json", |_| None).unwrap();
        let shows = Box::new(shown.clone());
        let mut output = wanted.open(&store, tags, SystemTime::UNIX_EPOCH, shows).unwrap();
        output.give(Arc::new(sampler.take().samples), 1);
        output.finish().unwrap();
        let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
        let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let parts = line["data"]["submetrics"].as_array().unwrap().clone();
        parts.iter().map(|part| part["suffix"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(suffixes(SystemTags::default()), ["scenario:one", "expected_response:true"]);
    assert_eq!(suffixes(wanted_tags()), ["scenario:one"]);
}

#[test]
fn csv_rows_are_k6s_to_the_byte() {
    // Beside a sample k6 tells several things in an order of chance; ours is that in which they were given.
    let turned = |row: String, (vu, iter)| {
        row.replace(&format!("vu={vu}&iter={iter}"), &format!("iter={iter}&vu={vu}"))
    };
    let ordered = [(1, 0), (1, 1), (2, 0), (2, 1)].into_iter().fold(told_by_k6("samples.csv"), turned);
    assert_lines(&written("csv=-"), &ordered);
}

#[test]
fn times_in_csv_are_told_as_the_user_wants_them() {
    let first = |format: &str| {
        let text = written(&format!("csv=fileName=-,timeFormat={format}"));
        text.lines().nth(1).unwrap().split(',').nth(1).unwrap().to_owned()
    };
    let exact = told_by_k6("samples.jsonl").lines().nth(1).unwrap().split("\"time\":\"").nth(1).unwrap()
        [..30]
        .to_owned();
    assert_eq!(first("rfc3339_nano"), exact);
    assert_eq!(first("rfc3339"), format!("{}Z", &exact[..19]));
    let nano = first("unix_nano");
    assert_eq!(nano.len(), 19);
    assert_eq!(
        [first("unix"), first("unix_milli"), first("unix_micro")],
        [&nano[..10], &nano[..13], &nano[..16]]
    );
}

#[test]
fn a_file_is_readable_while_the_test_runs_and_one_named_gz_is_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (store, samples) = measured();
    let open = |name: &str| {
        let wanted = Wanted::parse(&format!("json={}", file(name).display()), |_| None).unwrap();
        let started = SystemTime::UNIX_EPOCH + STARTED;
        wanted.open(&store, wanted_tags(), started, Box::new(Shown::default())).unwrap()
    };
    let (mut plain, mut compressed) = (open("a.json"), open("a.json.gz"));
    plain.give(given(&samples), 1);
    compressed.give(given(&samples), 1);
    plain.settle(Duration::from_secs(30));
    assert_eq!(std::fs::read_to_string(file("a.json")).unwrap(), written("json=-"));
    compressed.finish().unwrap();
    let mut text = String::new();
    let bytes = std::fs::File::open(file("a.json.gz")).unwrap();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    assert_eq!(text, written("json=-"));
}

#[test]
fn an_output_is_a_type_and_where_it_goes() {
    let parse = |text: &str| Wanted::parse(text, |_| None).map_err(|refused| refused.to_string());
    let of = |text: &str| parse(text).unwrap().path;
    assert_eq!(of("json"), None);
    assert_eq!(of("json=-"), None);
    assert_eq!(of("json=a=b.json"), Some("a=b.json".to_owned()));
    assert_eq!(of("csv"), Some("file.csv".to_owned()));
    assert_eq!(of("csv=x.csv.gz"), Some("x.csv.gz".to_owned()));
    let environment = |name: &str| match name {
        "K6_CSV_FILENAME" => Some("env.csv".to_owned()),
        "K6_CSV_TIME_FORMAT" => Some("unix_nano".to_owned()),
        _ => None,
    };
    let wanted = |text| Wanted::parse(text, environment).unwrap();
    let csv = |time: &str, path: &str| {
        let format = TIME_FORMATS.iter().position(|(known, _)| *known == time).unwrap();
        Wanted { form: Form::Csv(format), path: Some(path.to_owned()), most_waiting: MOST_WAITING }
    };
    assert_eq!(wanted("csv"), csv("unix_nano", "env.csv"));
    assert_eq!(wanted("csv=x.csv"), csv("unix_nano", "x.csv"));
    assert_eq!(wanted("csv=timeFormat=rfc3339,saveInterval=1s"), csv("rfc3339", "env.csv"));
    assert!(
        parse("influxdb=http://x").unwrap_err().starts_with("there is no output of type 'influxdb'\nhint: ")
    );
    assert!(parse("csv=bogus=1").unwrap_err().starts_with("the csv output has no setting 'bogus'\nhint: "));
    assert!(parse("csv=timeFormat=rfc").unwrap_err().starts_with("'rfc' is no format for times\nhint: "));
}
