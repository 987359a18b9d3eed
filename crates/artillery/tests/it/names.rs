//! Artillery's vocabulary: what a run came to in its names, whole and in parts.

use crate::recorded::{header, record_second, timing};
use crate::support::repository;
use sonagi_artillery::names::{Measured, Metrics, NAMING, failure, stem};
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{FAILURES, Failure, OperationId, Outcome};
use sonagi_measure::recorder::{Counter, Recorder};
use sonagi_measure::summary::{Conclusion, Service, Summary};
use sonagi_measure::thresholds::Threshold;
use sonagi_measure::totals::{Header, Period, ProcessGauges, Totals};
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;

/// Seven seconds of one shard, in parts of three, three and one, and as a whole.
fn parts() -> (Vec<Summary>, Summary) {
    let header = header();
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
    let mut parts = Vec::new();
    for seconds in [0..3, 3..6, 6..7] {
        let mut period = Period::new(&header);
        for second in seconds {
            let record = record_second(&mut recorder, 0, second);
            let at = At((second + 1) * SECOND);
            period.absorb(&totals.absorb(vec![record], at, ProcessGauges::default()));
        }
        parts.push(period.summary());
    }
    (parts, totals.summary())
}

#[test]
fn the_whole_is_the_sum_of_its_parts() {
    let (parts, whole) = parts();
    let mut sum: BTreeMap<String, f64> = BTreeMap::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for part in &parts {
        let metrics = Metrics::of(part);
        metrics.counters.into_iter().for_each(|(name, count)| *sum.entry(name).or_default() += count);
        let of = metrics.summaries.into_iter();
        of.for_each(|(name, values)| *counts.entry(name).or_default() += values.count);
    }
    let metrics = Metrics::of(&whole);
    assert_eq!(sum, metrics.counters);
    assert_eq!(counts, metrics.summaries.into_iter().map(|(name, values)| (name, values.count)).collect());
    assert_eq!(sum["vusers.completed"], 14.0);
    assert_eq!(parts.iter().map(|part| part.duration_s).collect::<Vec<_>>(), [3.0, 3.0, 1.0]);
}

#[test]
fn answers_count_by_status_endpoint_and_satisfaction() {
    let metrics = Metrics::of(&parts().1);
    let count = |name: &str| metrics.counters.get(name).copied();
    assert_eq!(count("plugins.metrics-by-endpoint./users.codes.200"), Some(70.0));
    assert_eq!(count("plugins.metrics-by-endpoint./users.codes.302"), None, "the last answer counts");
    assert_eq!(count("plugins.metrics-by-endpoint./users.codes.500"), Some(7.0));
    let times = |name: &str| metrics.summaries.get(name).map(|values| values.count);
    assert_eq!(times("plugins.metrics-by-endpoint.response_time./users"), Some(77));
    assert_eq!(
        ["", ".2xx", ".3xx", ".4xx", ".5xx"].map(|class| times(&format!("http.response_time{class}"))),
        [Some(84), Some(70), Some(7), None, Some(7)]
    );
    // Second s answers its ten requests after 2 + i² + 7s ms; 20 and 80 ms are the limits.
    let within = |limit: i64| {
        (0..7).flat_map(|s| (0..10).map(move |i| 2 + i * i + 7 * s)).filter(|ms| *ms <= limit).count() as f64
    };
    // The redirected ones are answered 10 ms after their plan.
    let apdex = ["satisfied", "tolerated", "frustrated"].map(|name| count(&format!("apdex.{name}")));
    assert_eq!(apdex, [within(20) + 7.0, within(80) - within(20), 70.0 - within(80)].map(Some));
}

#[test]
fn each_answer_on_the_way_of_a_redirect_has_its_own_time() {
    let metrics = Metrics::of(&parts().1);
    let times = |name: &str| {
        let times = &metrics.summaries[name];
        (times.count, times.min, times.max.round())
    };
    assert_eq!(times("http.response_time.3xx"), (7, 4.0, 4.0));
    let slowest = 1 + 1 + 81 + 6 * 7;
    let slowest_ok = 1 + 1 + 64 + 6 * 7;
    assert_eq!(times("http.response_time"), (84, 2.0, f64::from(slowest)));
    assert_eq!(times("http.response_time.2xx"), (70, 2.0, f64::from(slowest_ok)));
    assert_eq!(metrics.summaries["http.total"], metrics.summaries["http.response_time"]);
    let operation = &parts().1.operations[0];
    assert_eq!(
        (operation.count, operation.response_ms.count),
        (77, 77),
        "the operation has one time for all"
    );
}

#[test]
fn functions_that_fail_count_by_their_message_and_not_for_their_endpoint() {
    let whole = parts().1;
    let metrics = Metrics::of(&whole);
    assert_eq!(metrics.counters["errors.50 % off."], 7.0);
    assert_eq!(metrics.counters["errors.a=b\nc"], 7.0);
    assert!(!metrics.counters.contains_key("errors.function failed"));
    assert_eq!(
        (NAMING.figures)(&whole).measured["errors.function_failed"],
        14.0,
        "our own name counts all of them"
    );
}

#[test]
fn only_requests_that_failed_are_errors_of_their_endpoint() {
    let header = header();
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
    for failure in [Failure::Timeout, Failure::CaptureOrMatch, Failure::Function, Failure::Template] {
        recorder.operation(OperationId(0), timing(0, 1000), Outcome::Failed(failure));
    }
    totals.absorb(vec![recorder.take()], At(SECOND), ProcessGauges::default());
    let counters = Metrics::of(&totals.summary()).counters;
    let of_endpoints: Vec<_> = counters.iter().filter(|(name, _)| name.starts_with("plugins.")).collect();
    assert_eq!(of_endpoints, [(&"plugins.metrics-by-endpoint./users.errors.ETIMEDOUT".to_owned(), &1.0)]);
}

#[test]
fn who_completed_and_failed_is_told_as_it_is_counted_there() {
    let counters = |completed: u64, failed: u64| {
        let header = header();
        let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
        let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
        (0..completed).for_each(|_| recorder.user_ended(0, true, 1));
        (0..failed).for_each(|_| recorder.user_ended(0, false, 1));
        totals.absorb(vec![recorder.take()], At(SECOND), ProcessGauges::default());
        let counters = Metrics::of(&totals.summary()).counters;
        ["completed", "failed"].map(|name| counters.get(&format!("vusers.{name}")).copied())
    };
    assert_eq!(counters(0, 0), [None, None]);
    assert_eq!(counters(0, 2), [None, Some(2.0)]);
    assert_eq!(counters(3, 0), [Some(3.0), Some(0.0)]);
}

#[test]
fn thresholds_read_the_same_names() {
    let (_, whole) = parts();
    let names = (NAMING.figures)(&whole).measured;
    assert_eq!(names["http.response_time.5xx.count"], 7.0);
    assert_eq!(names["plugins.metrics-by-endpoint.response_time./users.count"], 77.0);
    let score = whole.plugins.apdex.unwrap().score.unwrap();
    assert_eq!(names["apdex"], score);
    assert_eq!(names["plugins.apdex.score"], score);
}

#[test]
fn a_threshold_may_ask_for_every_number_of_a_summary() {
    let header = Header { population: Some(9), ..header() };
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut shard = Recorder::new(header.operations.len(), header.scenarios.len());
    for second in 0..3 {
        let record = record_second(&mut shard, 0, second);
        let process =
            ProcessGauges { cpu_pressure_us: 1000 * (1 + second as u64), ..ProcessGauges::default() };
        totals.absorb(vec![record], At((second + 1) * 1_000_000_000), process);
    }
    totals.close(At(3_200_000_000));
    let names = (NAMING.figures)(&totals.summary().beside(Service::default())).measured;
    for name in ["generator.cpu_wait_s", "generator.cpu_pressure", "statuses.codes.500", "users.wanted"] {
        assert!(names.contains_key(name), "{name} of {names:?}");
    }
    let scenarios = header.scenarios.iter().map(String::as_str).collect();
    let measured = Measured { operations: &header.operations, scenarios, tracks_delivery: header.tracked };
    for name in names.keys() {
        let threshold = Threshold::new(format!("'{name}' >= 0"), true);
        let metrics = threshold.metrics();
        assert_eq!(metrics.len(), 1, "{name}");
        assert_eq!(measured.check(&metrics[0].name), Ok(()), "{name}");
    }
}

#[test]
fn a_threshold_on_failed_users_takes_the_place_of_the_rule_that_none_may_fail() {
    let verdict = |expression: &str| {
        let header =
            Header { thresholds: vec![Threshold::new(expression, true)], tracked: false, ..header() };
        let mut totals = named(&header);
        let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
        recorder.add(Counter::ArrivalsPlanned, 9);
        recorder.add(Counter::ArrivalsStarted, 9);
        (0..9).for_each(|n| recorder.user_ended(0, n > 0, 1));
        recorder.operation(OperationId(0), timing(0, 1000), Outcome::Failed(Failure::ConnectRefused));
        totals.absorb(vec![recorder.take()], At(SECOND), ProcessGauges::default());
        let run = totals.summary();
        (run.verdict.result, run.thresholds[0].evidence.clone())
    };
    let seen = |evidence: &str| evidence.to_owned();
    assert_eq!(verdict("vusers.failed < 2"), (Conclusion::Pass, seen("vusers.failed = 1")));
    assert_eq!(verdict("vusers.failed < 1"), (Conclusion::Fail, seen("vusers.failed = 1")));
    assert_eq!(verdict("errors.ECONNREFUSED == 1"), (Conclusion::Pass, seen("errors.ECONNREFUSED = 1")));
    assert_eq!(verdict("errors.EPROTO == 0"), (Conclusion::Pass, seen("errors.EPROTO = 0")));
    assert_eq!(verdict("http.codes.500 == 0"), (Conclusion::Fail, seen("http.codes.500 = 0")));
    let unmeasured = "vusers.session_length.p99 was not measured";
    assert_eq!(judged_alone("vusers.session_length.p99 < 5"), (false, seen(unmeasured)));
}

/// A run whose thresholds have Artillery's names.
fn named(header: &Header) -> Totals {
    Totals::new(header, Rules::default(), MetricStore::default()).naming(NAMING)
}

/// What a threshold comes to in a run in which nothing happened.
fn judged_alone(expression: &str) -> (bool, String) {
    let header = Header { thresholds: vec![Threshold::new(expression, true)], ..header() };
    let judged = named(&header).summary().thresholds.remove(0);
    (judged.held, judged.evidence)
}

#[test]
fn failures_have_the_names_that_artillery_has_for_them() {
    assert_eq!(failure(Failure::Closed(4008)), "WebSocket closed 4008");
    assert_eq!(failure(Failure::PollRefused(503)), "Unexpected server response: 503");
    assert_eq!(failure(Failure::Reset), failure(Failure::ClosedEarly), "both are ECONNRESET");
}

#[test]
fn every_failure_is_in_the_table_of_failures() {
    let mut table = "| code | Artillery's name | meaning | what to try |\n|---|---|---|---|\n".to_owned();
    for entry in FAILURES {
        let numbered = entry.failure.code() != entry.code;
        let code = entry.code.to_owned() + if numbered { "_<number>" } else { "" };
        let name = stem(entry.failure).to_owned() + if numbered { " <number>" } else { "" };
        let hint = entry.hint.unwrap_or("–");
        table += &format!("| `{code}` | `{name}` | {} | {hint} |\n", entry.meaning);
    }
    let page = std::fs::read_to_string(repository("docs/metrics.md")).unwrap();
    assert!(page.contains(&table), "docs/metrics.md should contain:\n{table}");
}
