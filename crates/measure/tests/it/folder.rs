//! The run folder: written, cut off, torn, read back.

use crate::fixture::{header, record_second, timing};
use serde_json::{Value, json};
use sonagi_measure::At;
use sonagi_measure::folder::{self, Reader, Writer};
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{
    AbortRule, Aggregate, Aggregation, AutomaticTags, Kind, MetricStore, Registry, Sampler, Tagged, Target,
    Unit,
};
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::recorder::{FailureCount, Record, Recorder};
use sonagi_measure::summary::{Conclusion, Naming, Service, Summary};
use sonagi_measure::thresholds::Threshold;
use sonagi_measure::totals::{Header, Language, ProcessGauges, Progress, Snapshot, Totals};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SECOND: i64 = 1_000_000_000;

/// Records `seconds` of two shards into `path`; with the closing record when `close`.
fn record(path: &Path, header: &Header, seconds: i64, close: bool) -> Summary {
    let mut totals = Totals::new(header, Rules::default(), MetricStore::default());
    let mut writer = Writer::create(path, header).unwrap();
    let shard = || Recorder::new(header.operations.len(), header.scenarios.len());
    let mut shards = [shard(), shard()];
    for second in 0..seconds {
        let records =
            shards.iter_mut().enumerate().map(|(i, r)| record_second(r, i as u32, second)).collect();
        let process = ProcessGauges {
            resident_bytes: 40_000_000,
            open_files: 30,
            open_files_limit: 1024,
            ..Default::default()
        };
        // Snapshots come a little late, and later every time.
        let at = At((second + 1) * SECOND + second * 1_700_000);
        writer.snapshot(&totals.absorb(records, at, process)).unwrap();
    }
    if close {
        totals.interrupt();
        writer.snapshot(&totals.close(At(seconds * SECOND + 300_000_000))).unwrap();
        let mut summary = totals.summary();
        summary.run_folder = Some(path.display().to_string());
        writer.finish(&summary).unwrap();
    }
    let mut summary = totals.summary();
    summary.run_folder = Some(path.display().to_string());
    summary
}

/// The run in a folder.
fn read(path: &Path) -> Result<Summary, folder::ReadError> {
    folder::read(path, Naming::PATHS)
}

fn document(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap()
}

#[test]
fn a_finished_run_reads_as_it_was_printed() {
    let folder = tempfile::tempdir().unwrap();
    let mut header = header();
    header.thresholds = vec![Threshold::new("http_answers_ms.p99 < 1", true)];
    let written = record(folder.path(), &header, 7, true);
    let read = read(folder.path()).unwrap();
    assert_eq!(document(&read), document(&written));
    assert!(read.complete && read.interrupted && !read.errors.is_empty() && !read.operations.is_empty());
    let run: Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(run["summary"], document(&written));
}

#[test]
fn the_times_behind_a_second_are_those_of_the_rest_and_counts_stay_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let whole = record(folder.path(), &header(), 9, true);
    let reader = Reader::open(folder.path()).unwrap();
    let part = reader.summed_up_from(5, MetricStore::default());
    let all = reader.summed_up_from(0, MetricStore::default());
    assert_eq!(document(&all)["operations"], document(&whole)["operations"]);
    let warm = whole.clone().with_times_of(&part);
    // Each second of this run takes 7 ms longer than the one before.
    let (cold, warm_ms) = (&whole.operations[0].response_ms, &warm.operations[0].response_ms);
    assert!(warm_ms.min > cold.min + 5.0 && warm_ms.p50 > cold.p50 + 10.0, "{warm_ms:?} against {cold:?}");
    assert_eq!((warm_ms.count, warm_ms.max), (cold.count, cold.max));
    let kind = warm.kinds.iter().find(|kind| kind.kind == warm.operations[0].kind).unwrap();
    assert_eq!(kind.response_ms, *warm_ms);
    assert_eq!((&warm.users.started, &warm.traffic), (&whole.users.started, &whole.traffic));
    assert_eq!(warm.operations[0].rate_per_s, whole.operations[0].rate_per_s);
    // What has no time behind the second keeps the one it has.
    let nothing = reader.summed_up_from(90, MetricStore::default());
    assert_eq!(document(&whole.clone().with_times_of(&nothing)), document(&whole));
}

#[test]
fn every_second_reads_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let header = header();
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut writer = Writer::create(folder.path(), &header).unwrap();
    let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
    let mut written = Vec::new();
    for second in 0..3 {
        recorder.observe((Kind::Trend, Unit::Milliseconds), "took", 0.1 * second as f64, At(second * SECOND));
        let record = record_second(&mut recorder, 0, second);
        let process = ProcessGauges { resident_bytes: 40_000_000, open_files: 30, ..Default::default() };
        let snapshot = totals.absorb(vec![record], At((second + 1) * SECOND), process);
        writer.snapshot(&snapshot).unwrap();
        written.push(snapshot);
    }
    let registry = Arc::default();
    let read: Vec<Snapshot> = Reader::open(folder.path()).unwrap().seconds(&registry).collect();
    // Not recorded: the run so far. Told once: when a failure came first, and an example of it.
    let kept = |snapshot: Snapshot| {
        let count = |f: FailureCount| FailureCount {
            count: f.count,
            called: f.called,
            ..FailureCount::none(f.operation, f.failure)
        };
        let mut failures: Vec<FailureCount> = snapshot.failures.into_iter().map(count).collect();
        failures.sort_by_key(|failure| format!("{failure:?}"));
        Snapshot { failures, progress: Progress::default(), ..snapshot }
    };
    for (written, read) in written.into_iter().zip(read) {
        assert_eq!(kept(read), kept(written));
    }
}

#[test]
fn a_run_that_was_cut_off_reads_up_to_its_last_second() {
    let folder = tempfile::tempdir().unwrap();
    let written = record(folder.path(), &header(), 4, false);
    let read = read(folder.path()).unwrap();
    assert!(!read.complete);
    assert_eq!(document(&read), document(&written));
}

#[test]
fn a_folder_torn_at_any_byte_reads_as_a_shorter_run() {
    let whole = tempfile::tempdir().unwrap();
    record(whole.path(), &header(), 3, false);
    let shorter: Vec<Value> = (0..=3)
        .map(|seconds| {
            let folder = tempfile::tempdir().unwrap();
            let mut summary = record(folder.path(), &header(), seconds, false);
            summary.run_folder = None;
            document(&summary)
        })
        .collect();
    let series = fs::read(whole.path().join("series.jsonl")).unwrap();
    let (mut seconds, mut seen) = (0, 0);
    for cut in (0..=series.len()).step_by(7).chain([series.len()]) {
        fs::write(whole.path().join("series.jsonl"), &series[..cut]).unwrap();
        let mut read = read(whole.path()).unwrap();
        read.run_folder = None;
        let now = shorter.iter().position(|s| *s == document(&read)).expect("one of the shorter runs");
        assert!(now >= seconds, "a longer file is no shorter run");
        (seconds, seen) = (now, seen.max(now));
    }
    assert_eq!(seen, 3);
}

#[test]
fn torn_latencies_and_events_leave_the_counts_readable() {
    let folder = tempfile::tempdir().unwrap();
    let written = record(folder.path(), &header(), 3, false);
    for name in ["latency.hlog", "events.jsonl"] {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name), &bytes[..bytes.len() - 10]).unwrap();
    }
    let read = read(folder.path()).unwrap();
    assert_eq!(read.users, written.users);
    assert_eq!(read.http_codes, written.http_codes);
}

#[test]
fn the_phases_ended_when_the_folder_says_that_users_only_leave() {
    let folder = tempfile::tempdir().unwrap();
    let ended = || Reader::open(folder.path()).unwrap().phases_ended();
    let mut writer = Writer::create(folder.path(), &header()).unwrap();
    writer.event(At(SECOND), "phase", json!({})).unwrap();
    assert_eq!(ended(), None);
    writer.event(At(2 * SECOND), folder::DRAINING, json!({})).unwrap();
    assert_eq!(ended(), Some(At(2 * SECOND)));
}

/// Two samplers' seconds of metrics of every kind, with tags and a part of a metric that a threshold names.
fn metered(path: &Path) -> Totals {
    let registry = Arc::new(Registry::default());
    let id = |name, kind| registry.add(name, kind, Unit::Number).unwrap();
    let (count, level) = (id("count", Kind::Counter), id("level", Kind::Gauge));
    let (share, times) = (id("share", Kind::Rate), id("times", Kind::Trend));
    registry.submetric("times{to:b}").unwrap();
    let mut store = MetricStore::new(Arc::clone(&registry));
    store.limit("times{to:b}", "p(95)<1", AbortRule::default()).unwrap();
    let header = Header { submetrics: vec!["times{to:b}".to_owned()], ..header() };
    let mut totals = Totals::new(&header, Rules::default(), store);
    let mut writer = Writer::create(path, &header).unwrap();
    let sampler = || Sampler::new(Arc::clone(&registry), |_| &["to"], AutomaticTags::default(), false);
    let mut samplers = [sampler(), sampler()];
    for second in 0..6i64 {
        let records = samplers.iter_mut().zip(0..).map(|(sampler, shard)| {
            let tags = ["a", "b"].map(|to| sampler.tags().with_all(&[("to", to), ("else", "x")]));
            // The fourth second brings more than a trend keeps one by one.
            for n in 0..if second == 3 { 20_000 } else { 1_500 } {
                let value = f64::from(n % 977) * 1.0001 - 40.0 + shard as f64 * 0.1;
                sampler.observe(times, value, &tags[n as usize % 2], At(second));
                sampler.observe(share, f64::from(n % 3), &tags[0], At(second));
            }
            sampler.observe(count, 0.1 * second as f64, &tags[1], At(second));
            sampler.observe(level, -1.5 * second as f64, &tags[1], At(second * 10 + shard));
            Record { metrics: sampler.take(), shard: Some(shard as u16), ..Record::default() }
        });
        let records: Vec<Record> = records.collect();
        let snapshot = totals.absorb(records, At((second + 1) * SECOND), ProcessGauges::default());
        writer.snapshot(&snapshot).unwrap();
    }
    totals
}

#[test]
fn metrics_read_as_they_were_measured_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let mut totals = metered(folder.path());
    let read = read(folder.path()).unwrap();
    assert_eq!(read.metrics, totals.summary().metrics);
    assert_eq!(read.metrics["times"].count, 2 * (5 * 1_500 + 20_000));
    assert!(read.metrics["times"].values.as_ref().unwrap().min < -39.0);
    assert_eq!(read.metrics["level"].level.unwrap().value, -7.5);
    let (_, mut read) = Reader::open(folder.path()).unwrap().summed_up(MetricStore::default());
    let ours = totals.metrics();
    let part = Target::Submetric(0);
    let percentile = Aggregation::Percentile(99.0);
    let of = |store: &mut MetricStore| percentile.of(store.aggregate(part).unwrap(), Duration::ZERO);
    assert_eq!(of(&mut read), of(ours));
    assert!(of(ours).is_some());
    let told = |store: &mut MetricStore| {
        let registry = Arc::clone(store.registry());
        let name = |one: &Tagged| registry.metric(one.metric).name;
        let told = |one: &Tagged| (name(one), one.tags.clone(), one.first, one.aggregate.samples());
        let mut all: Vec<_> = store.tagged().iter().map(told).collect();
        all.sort();
        all
    };
    assert_eq!(told(&mut read), told(ours));
    assert_eq!(told(ours).len(), 5, "times to a and b, share, count, level");
}

#[test]
fn numbers_that_json_has_not_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Arc::new(Registry::default());
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::new(Arc::clone(&registry)));
    let mut writer = Writer::create(folder.path(), &header()).unwrap();
    let mut recorder = Recorder::sharing(3, 2, registry);
    for value in [f64::INFINITY, f64::NEG_INFINITY, 1.0] {
        recorder.observe((Kind::Trend, Unit::Number), "odd", value, At(0));
        recorder.observe((Kind::Gauge, Unit::Number), "level", value, At(0));
    }
    writer.snapshot(&totals.absorb(vec![recorder.take()], At(SECOND), ProcessGauges::default())).unwrap();
    let read = read(folder.path()).unwrap();
    let (values, level) =
        (read.metrics["odd"].values.as_ref().unwrap(), read.metrics["level"].level.unwrap());
    assert_eq!((values.min, values.p50, values.max), (f64::NEG_INFINITY, 1.0, f64::INFINITY));
    assert_eq!((level.min, level.value, level.max), (f64::NEG_INFINITY, 1.0, f64::INFINITY));
}

/// One second of a counter that came to each of these, and what a folder says of it.
fn read_back(values: &[f64]) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let registry = Arc::new(Registry::default());
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::new(Arc::clone(&registry)));
    let mut writer = Writer::create(folder.path(), &header()).unwrap();
    let mut recorder = Recorder::sharing(3, 2, registry);
    for (second, value) in (1..).zip(values) {
        recorder.observe((Kind::Gauge, Unit::Number), "level", *value, At(0));
        let records = vec![recorder.take()];
        writer.snapshot(&totals.absorb(records, At(second * SECOND), ProcessGauges::default())).unwrap();
    }
    let reader = Reader::open(folder.path()).unwrap();
    let level = |snapshot: sonagi_measure::totals::Snapshot| match snapshot.metrics.series[0].aggregate {
        Aggregate::Gauge(gauged) => gauged.value,
        _ => panic!("it is a gauge"),
    };
    reader.seconds(&Arc::default()).map(level).collect()
}

#[test]
fn a_number_of_any_size_is_read_to_its_last_digit() {
    let mut random = fastrand::Rng::with_seed(7);
    let values: Vec<f64> = (0..500).map(|power| (random.f64() - 0.5) * 10f64.powi(power % 40 - 20)).collect();
    assert_eq!(read_back(&values), values);
}

#[test]
fn a_series_first_sample_is_the_earliest_even_if_its_thread_hands_over_later() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Arc::new(Registry::default());
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::new(Arc::clone(&registry)));
    let mut writer = Writer::create(folder.path(), &header()).unwrap();
    let metric = registry.add("count", Kind::Counter, Unit::Number).unwrap();
    for (second, first) in [(1, 70), (2, 30), (3, 90)] {
        let mut sampler = Sampler::new(Arc::clone(&registry), |_| &["to"], AutomaticTags::default(), false);
        let tags = sampler.tags().with("to", "a");
        sampler.observe(metric, 1.0, &tags, At(first));
        let records = vec![Record { metrics: sampler.take(), ..Record::default() }];
        writer.snapshot(&totals.absorb(records, At(second * SECOND), ProcessGauges::default())).unwrap();
    }
    let (_, mut read) = Reader::open(folder.path()).unwrap().summed_up(MetricStore::default());
    assert_eq!(read.tagged()[0].first, At(30));
    assert_eq!(totals.metrics().tagged()[0].first, At(30));
}

#[test]
fn a_run_that_its_language_judges_reads_with_that_judgement() {
    let folder = tempfile::tempdir().unwrap();
    let language = Language {
        name: "own".to_owned(),
        facts: json!({ "password": "of a metric's name" }),
        ..Language::default()
    };
    let header = Header { language: Some(language), ..header() };
    let cut_off = record(folder.path(), &header, 3, false);
    assert_eq!(cut_off.verdict.result, Conclusion::Pass, "users that fail, fail a run by its rules alone");
    assert_eq!(document(&folder::read(folder.path(), Naming::PATHS).unwrap()), document(&cut_off));
    let judged =
        cut_off.judged_by_rules(Vec::new(), vec!["it says so".to_owned()], vec!["see there".to_owned()]);
    assert_eq!(
        (judged.verdict.result, &judged.verdict.reasons[..]),
        (Conclusion::Fail, &["it says so".to_owned()][..])
    );
    folder::amend(folder.path(), &Summary { complete: true, ..judged.clone() }).unwrap();
    assert_eq!(folder::read(folder.path(), Naming::PATHS).unwrap().verdict, judged.verdict);
    assert_eq!(folder::header(folder.path()).unwrap().language, header.language);
}

#[test]
fn a_folder_of_a_later_version_is_refused_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.json"), r#"{"version": 3, "header": {}}"#).unwrap();
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("run folders up to version 2 are read, got version 3 in "), "{error}");
    assert!(error.ends_with("\nhint: a newer sonagi wrote it; read it with that"), "{error}");
}

#[test]
fn a_folder_without_a_run_is_named_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("a run folder holds a readable run.json, got "), "{error}");
    assert!(error.ends_with("\nhint: name the folder of one run"), "{error}");
}

#[test]
fn any_reader_of_histogram_logs_reads_the_latencies() {
    use base64::Engine as _;
    use hdrhistogram::serialization::{Deserializer, interval_log};
    let folder = tempfile::tempdir().unwrap();
    let header = header();
    record(folder.path(), &header, 2, false);
    let log = fs::read(folder.path().join("latency.hlog")).unwrap();
    let (mut base, mut tags) = (None, Vec::new());
    for entry in interval_log::IntervalLogIterator::new(&log) {
        match entry.unwrap() {
            interval_log::LogEntry::BaseTime(time) => base = Some(time.as_secs()),
            interval_log::LogEntry::StartTime(_) => {}
            interval_log::LogEntry::Interval(interval) => {
                let bytes =
                    base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
                let histogram: hdrhistogram::Histogram<u64> =
                    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
                let tag = interval.tag().unwrap().as_str().to_owned();
                tags.push((interval.start_timestamp().as_secs(), tag, histogram.len()));
            }
        }
    }
    assert_eq!(base, Some(1_788_084_900), "2026-08-30T10:15:00Z");
    let first: Vec<(&str, u64)> = tags.iter().filter(|t| t.0 == 0).map(|t| (t.1.as_str(), t.2)).collect();
    assert_eq!(
        first,
        [
            ("session", 4),
            ("lag", 2),
            ("hiccup", 2),
            ("response.GET%20/users%2C%20all", 22),
            ("service.GET%20/users%2C%20all", 22),
            ("first_byte.GET%20/users%2C%20all", 22),
            ("3xx.GET%20/users%2C%20all", 2),
            ("5xx.GET%20/users%2C%20all", 2),
            ("redirected.GET%20/users%2C%20all", 2),
            ("answer.GET%20/users%2C%20all", 4),
            ("response.send", 2),
            ("service.send", 2),
        ]
    );
}

#[test]
fn secrets_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut header = header();
    header.plan = json!({
        "config": {
            "target": "https://me:hunter2@example.org/?token=hunter2&page=1",
            "http": { "defaults": { "headers": { "Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "Accept": "*/*" } } },
            "variables": { "password": ["hunter2"], "accessToken": "hunter2", "session": "hunter2", "jwt": "hunter2" },
            "limits": { "thresholds": [{ "users.session_length.p95": 1000 }] },
            "headers": [["Cookie", "sid=hunter2"], { "name": "set-cookie", "value": "hunter2" }],
        },
        "login": { "json": { "email": "{{ email }}", "password": "{{ password }}" }, "headers": { "Authorization": "Bearer {{ token }}" } },
    });
    record(folder.path(), &header, 1, true);
    let mut writer = Writer::create(&folder.path().join("second"), &header).unwrap();
    writer.event(At(0), "note", json!({ "session_token": "hunter2" })).unwrap();
    drop(writer);
    for path in [folder.path().to_owned(), folder.path().join("second")] {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap).filter(|e| e.path().is_file()) {
            let text = fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains("hunter2"), "{:?}: {text}", entry.path());
        }
    }
    let kept = folder::header(folder.path()).unwrap().plan;
    assert_eq!(kept["config"]["target"], "https://***@example.org/?token=***&page=1");
    assert_eq!(kept["config"]["http"]["defaults"]["headers"]["Accept"], "*/*");
    assert_eq!(kept["config"]["limits"]["thresholds"][0]["users.session_length.p95"], 1000);
    assert_eq!(kept["login"]["headers"]["Authorization"], "Bearer {{ token }}");
    assert_eq!(kept["login"]["json"]["password"], "{{ password }}");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_an_error() {
    // /dev/full refuses every write.
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("series.jsonl")).unwrap();
    let error = Writer::create(folder.path(), &header()).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_folder_is_named_by_time_and_run() {
    assert_eq!(folder::name("2026-08-30T10:15:00Z", "Chat: 100 users"), "20260830-101500-chat-100-users");
    assert_eq!(folder::name("2026-08-30T10:15:00.250Z", "../../etc/passwd"), "20260830-101500-etc-passwd");
    assert_eq!(folder::name("2026-08-30T10:15:00Z", "…"), "20260830-101500");
}

#[test]
fn failures_keep_their_first_example_over_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let header = header();
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut writer = Writer::create(folder.path(), &header).unwrap();
    let mut shard = Recorder::new(header.operations.len(), header.scenarios.len());
    for second in 0..3 {
        let at = At(second * SECOND + 500_000_000);
        let timed_out = Outcome::Failed(Failure::Timeout);
        shard.operation(OperationId(0), timing(at.0, 10_000_000), timed_out);
        shard.failure(Some(OperationId(0)), Failure::Timeout, || format!("the one of second {second}"));
        let closed = || format!("closed in second {second}");
        shard.failure_called(None, Failure::Closed(1006), Some(at), "", closed);
        let record = shard.take();
        writer
            .snapshot(&totals.absorb(vec![record], At((second + 1) * SECOND), ProcessGauges::default()))
            .unwrap();
    }
    let read = read(folder.path()).unwrap();
    assert_eq!(read.errors, totals.summary().errors);
    let seen: Vec<_> = read
        .errors
        .iter()
        .map(|e| (e.code.as_str(), e.operation.as_deref(), e.count, e.example.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("closed_1006", None, 3, "closed in second 0"),
            ("timeout", Some("GET /users, all"), 3, "the one of second 0"),
        ]
    );
    assert_eq!(read.errors[1].first_at_s, 0.51);
}

#[test]
fn what_only_the_caller_knew_is_entered_into_a_finished_runs_folder_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = record(folder.path(), &header(), 3, true);
    written.combination.insert("transport".to_owned(), json!("sse"));
    written.samples_left_out = 7;
    let service = Service { ended: Some("exit status: 1".to_owned()), cpu_s: 2.5, ..Service::default() };
    let written = written.beside(service);
    folder::amend(folder.path(), &written).unwrap();
    let read = read(folder.path()).unwrap();
    assert_eq!(document(&read), document(&written));
    assert_eq!(folder::header(folder.path()).unwrap().name, "chat");
    assert!(folder::amend(&folder.path().join("nowhere"), &written).is_err());
}
