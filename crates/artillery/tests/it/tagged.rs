//! Operations with tags in the folder, and thresholds that end a run.

use crate::recorded::{header, timing};
use sonagi_artillery::names;
use sonagi_measure::At;
use sonagi_measure::folder::{self, Writer};
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{AbortRule, Conflict, Kind, MetricStore, Registry, Scope, Unit};
use sonagi_measure::outcome::{CountedAs, Failure, OperationId, Outcome, TaggedId};
use sonagi_measure::recorder::{Counter, Figure, Recorder, TaggedSeries};
use sonagi_measure::summary::{Conclusion, Summary};
use sonagi_measure::thresholds::{Judged, Threshold};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SECOND: i64 = 1_000_000_000;
const TIMES: &str = "operations.GET /rooms/{{ id }}.response_ms";
const SUBMETRIC: &str = "operations.GET /rooms/{{ id }}.response_ms{page:list}";

/// Three seconds in which an operation takes 10, 20 and 30 ms, with a tag that is told apart, and what ended the run:
/// judged after each second.
fn run(path: &Path, threshold: Threshold) -> (Summary, Vec<Judged>) {
    let registry = Arc::new(Registry::default());
    let times = registry.add_of(Scope::Partial, TIMES, Kind::Trend, Unit::Milliseconds).unwrap();
    let failed = registry.add_of(Scope::Partial, "kinds.http.failed", Kind::Counter, Unit::Number).unwrap();
    registry.submetric(SUBMETRIC).unwrap();
    registry.submetric("kinds.http.failed{page:list}").unwrap();
    let submetrics = registry.submetrics().iter().map(|one| one.name.to_string()).collect();
    let header = Header { submetrics, thresholds: vec![threshold], ..header() };
    let mut ended_by = Vec::new();
    let mut totals =
        Totals::new(&header, Rules::default(), MetricStore::new(Arc::clone(&registry))).naming(names::NAMING);
    let mut writer = Writer::create(path, &header).unwrap();
    let mut shard = Recorder::sharing(header.operations.len(), header.scenarios.len(), registry);
    let tags = vec![("page".to_owned(), "list".to_owned()), ("team".to_owned(), "a".to_owned())];
    shard.tell_apart(&[TaggedSeries {
        tags,
        metrics: vec![(Figure::Response, times), (Figure::Failed, failed)],
    }]);
    let tagged = CountedAs { id: OperationId(0), tagged: Some(TaggedId(0)) };
    for second in 0..3 {
        shard.add(Counter::ArrivalsPlanned, 1);
        shard.add(Counter::ArrivalsStarted, 1);
        shard.user_ended(0, true, SECOND);
        let at = second * SECOND;
        shard.operation(tagged, timing(at, (second + 1) * 10_000_000 - 1_000_000), Outcome::Status(200));
        // Refused in no time: it has failed, and says nothing of how long an answer takes.
        shard.operation(tagged, timing(at, 1000), Outcome::Failed(Failure::ConnectRefused));
        shard.operation(OperationId(0), timing(at, 900_000_000), Outcome::Status(200));
        let snapshot = totals.absorb(vec![shard.take()], At(at + SECOND), ProcessGauges::default());
        writer.snapshot(&snapshot).unwrap();
        if ended_by.is_empty() {
            let elapsed = Duration::from_secs(second as u64 + 1);
            totals.judge(elapsed);
            ended_by = totals.ended_by().to_vec();
        }
    }
    writer.snapshot(&totals.close(At(3 * SECOND + 1))).unwrap();
    let summary = totals.summary();
    writer.finish(&summary).unwrap();
    (summary, ended_by)
}

/// The run in a folder.
fn read(path: &Path) -> Summary {
    folder::read(path, names::NAMING).unwrap()
}

#[test]
fn of_operations_with_tags_the_folder_has_their_samples_and_nothing_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let threshold =
        Threshold::new(format!("'{SUBMETRIC}.max' == 30 and 'kinds.http.failed{{page:list}}' == 3"), true);
    let (written, _) = run(folder.path(), threshold);
    let read = read(folder.path());
    assert_eq!(read.metrics, written.metrics);
    assert_eq!(read.thresholds, written.thresholds);
    let told: Vec<(&str, u64)> =
        read.metrics.iter().map(|(name, metric)| (name.as_str(), metric.count)).collect();
    assert_eq!(told, [("kinds.http.failed{page:list}", 6), (SUBMETRIC, 3)]);
    assert!(read.thresholds[0].held, "{:?}", read.thresholds);
    let values = read.metrics[SUBMETRIC].values.as_ref().unwrap();
    assert_eq!((values.min, values.p50, values.max), (10.0, 20.0, 30.0));
    assert_eq!(read.operations[0].response_ms.count, 6, "the whole is where it was");
}

#[test]
fn a_metric_of_which_only_parts_are_told_is_no_other_metric() {
    let registry = Registry::default();
    let id = registry.add_of(Scope::Partial, "a", Kind::Counter, Unit::Number).unwrap();
    assert_eq!(registry.add_of(Scope::Partial, "a", Kind::Counter, Unit::Number), Ok(id));
    assert_eq!(registry.add("a", Kind::Counter, Unit::Number), Err(Conflict::Scope("a".to_owned())));
}

fn ending(expression: &str, delay_s: u64) -> Threshold {
    Threshold::new(expression, true)
        .aborting(AbortRule { on_fail: true, delay: Duration::from_secs(delay_s) })
}

/// The second after which a threshold ended the run, and the run's summary as it was and as it is read.
fn ended(threshold: Threshold) -> (Option<f64>, Summary, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let (summary, ended_by) = run(folder.path(), threshold);
    (ended_by.first().and_then(|judged| judged.ended_run_s), summary, read(folder.path()))
}

#[test]
fn a_threshold_that_ends_the_run_has_failed_whatever_comes_after() {
    let max = format!("'{SUBMETRIC}.max' < 20 or 'http.response_time.count' > 5");
    let (after, summary, read) = ended(ending(&max, 0));
    assert_eq!(after, Some(2.0), "at the end it holds again");
    let evidence = format!("{SUBMETRIC}.max = 20, http.response_time.count = 4");
    let judged = &summary.thresholds[0];
    assert_eq!((judged.held, judged.ended_run_s, &judged.evidence), (false, Some(2.0), &evidence));
    let reason = format!("the threshold `{max}` failed and ended the run after 2.0 s: {evidence}");
    assert_eq!(summary.verdict.result, Conclusion::Fail);
    assert_eq!(summary.verdict.reasons[0], reason);
    assert_eq!((read.thresholds, read.verdict), (summary.thresholds, summary.verdict));
}

#[test]
fn a_threshold_ends_no_run_before_its_delay_is_over_or_of_what_is_not_measured_yet() {
    let slow = format!("'{SUBMETRIC}.p99' < 1");
    assert_eq!(ended(ending(&slow, 3)).0, Some(3.0));
    assert_eq!(ended(ending(&slow, 4)).0, None);
    assert_eq!(ended(ending("socketio.response_time.p99 < 1", 0)).0, None);
    assert_eq!(ended(Threshold::new(slow.as_str(), true)).0, None, "it does not say so");
    let after = ended(ending("http.response_time.count < 1", 0));
    assert_eq!(after.0, Some(1.0));
}

#[test]
fn a_header_says_which_thresholds_end_the_run() {
    let threshold = ending("a < 3", 10);
    let written = serde_json::to_value(&threshold).unwrap();
    assert_eq!(written, serde_json::json!({ "expression": "a < 3", "strict": true, "abort_after_s": 10.0 }));
    let read: Threshold = serde_json::from_value(written).unwrap();
    assert_eq!(read.abort(), AbortRule { on_fail: true, delay: Duration::from_secs(10) });
}
