//! Artillery's vocabulary: what a run came to in its names, whole and in parts.

use crate::recording::{header, record_second};
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::recorder::Recorder;
use sonagi_measure::summary::{Metrics, Summary};
use sonagi_measure::totals::{Period, ProcessGauges, Totals};
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;

/// Seven seconds of one shard, in parts of three, three and one, and as a whole.
fn parts() -> (Vec<Summary>, Summary) {
    let header = header();
    let mut totals = Totals::new(&header, Rules::default());
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
    assert_eq!(count("plugins.metrics-by-endpoint./users.codes.200"), Some(63.0));
    assert_eq!(count("plugins.metrics-by-endpoint./users.codes.500"), Some(7.0));
    let times = |name: &str| metrics.summaries.get(name).map(|values| values.count);
    assert_eq!(times("plugins.metrics-by-endpoint.response_time./users"), Some(70));
    assert_eq!(
        [times("http.response_time"), times("http.response_time.2xx"), times("http.response_time.5xx")],
        [Some(70), Some(63), Some(7)]
    );
    assert_eq!(times("http.response_time.4xx"), None);
    // Second s answers its ten requests after 2 + i² + 7s ms; 20 and 80 ms are the limits.
    let within = |limit: i64| {
        (0..7).flat_map(|s| (0..10).map(move |i| 2 + i * i + 7 * s)).filter(|ms| *ms <= limit).count() as f64
    };
    let apdex = ["satisfied", "tolerated", "frustrated"].map(|name| count(&format!("apdex.{name}")));
    assert_eq!(apdex, [within(20), within(80) - within(20), 70.0 - within(80)].map(Some));
}

#[test]
fn thresholds_read_the_same_names() {
    let (_, whole) = parts();
    let names = whole.names();
    assert_eq!(names["http.response_time.5xx.count"], 7.0);
    assert_eq!(names["plugins.metrics-by-endpoint.response_time./users.count"], 70.0);
    let score = whole.plugins.apdex.unwrap().score.unwrap();
    assert_eq!(names["apdex"], score);
    assert_eq!(names["plugins.apdex.score"], score);
}
