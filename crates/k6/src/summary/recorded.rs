//! The summary of a test, from its run folder: what the folder must hold for it beside the series, and the way back.
//!
//! The text is that of the end of the test, to the letter. What `handleSummary` made of it is not: the script is not
//! run again.

use serde_json::{Value, json};
use sonagi_measure::folder::{Reader, RunState};
use sonagi_measure::summary::Summary as RunSummary;
use sonagi_measure::totals::{Header, Language};
use std::sync::Arc;
use std::time::Duration;

use super::{Facts, Summary, TimeUnit};
use crate::metrics::{self, AbortRule, Kind, MetricStore, Registry, Unit};
use crate::options::{MetricThresholds, Options};

/// The event at the test's begin, before `setup`.
pub(crate) const BEGAN: &str = "test_began";
/// The event at its end, behind `teardown`.
pub(crate) const ENDED: &str = "test_ended";

const NAME: &str = "k6";

/// The facts that the summary needs beside the series, known at the start.
#[derive(serde::Serialize, serde::Deserialize)]
struct Asked {
    trend_stats: Vec<String>,
    time_unit: Option<String>,
    is_full: bool,
    thresholds: Vec<Limited>,
    is_handled: bool,
}

/// A metric that thresholds name, with what it is: there may never be a sample of it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Limited {
    metric: String,
    kind: Kind,
    unit: Unit,
    thresholds: Vec<String>,
}

/// The language entry of a run's header. `thresholds` are those that are judged.
pub(crate) fn language(
    options: &Options,
    thresholds: &[MetricThresholds],
    registry: &Registry,
    (is_full, is_handled): (bool, bool),
) -> Language {
    let limited = |of: &MetricThresholds| {
        let id = registry.get(of.metric.split('{').next().unwrap_or_default())?;
        let metrics::Metric { kind, unit, .. } = registry.metric(id);
        let thresholds = of.thresholds.iter().map(|limit| limit.source.clone()).collect();
        Some(Limited { metric: of.metric.clone(), kind, unit, thresholds })
    };
    let asked = Asked {
        trend_stats: options.summary_trend_stats.clone(),
        time_unit: options.summary_time_unit.clone(),
        is_full,
        thresholds: thresholds.iter().filter_map(limited).collect(),
        is_handled,
    };
    // Texts and flags: nothing JSON could refuse.
    Language { name: NAME.to_owned(), iterates: true, facts: serde_json::to_value(asked).unwrap_or_default() }
}

/// The detail of [`ENDED`].
pub(crate) fn ended(drawn: u64) -> Value {
    json!({ "drawn": drawn })
}

/// A test's summary, from its run folder.
pub struct Recorded {
    /// The state when the test ended, or at the last whole second of one that was cut off.
    pub summary: Summary,
    /// The run's summary in Sonagi's words, judged as the test was; of one that was cut off, by its thresholds.
    pub record: RunSummary,
    /// Whether the test has no end in the folder.
    pub is_cut_off: bool,
    /// Whether the script makes a summary of its own (`handleSummary`).
    pub is_handled: bool,
}

/// Reads the summary of a k6 script's test. None: the folder is of another language, or of a version that does not keep
/// what a summary needs. Thresholds on what was not seen yet hold while the test goes on.
pub fn recorded(folder: &Reader, state: RunState) -> Option<Recorded> {
    let asked = asked(folder.header())?;
    let (record, mut store) = folder.summed_up(store(&asked)?);
    let (mut began, mut ended) = (None, None);
    for event in folder.events() {
        match event["kind"].as_str() {
            Some(BEGAN) => began = event["at_ns"].as_i64(),
            Some(ENDED) => ended = event["at_ns"].as_i64().zip(event["detail"]["drawn"].as_u64()),
            _ => {}
        }
    }
    let (end_ns, drawn) = ended.unwrap_or((last_ns(&record), 0));
    let is_handled = asked.is_handled;
    let summary = summary(asked, &mut store, &record, (began, end_ns, drawn), state);
    let record = if folder.has_end() { record } else { judged_by(&summary, record) };
    Some(Recorded { summary, record, is_cut_off: ended.is_none(), is_handled })
}

/// A run whose folder has no end, judged by its test's thresholds up to its last second; as it is when it is of another
/// language. Thresholds on what was not seen yet hold while the test goes on.
pub fn judged(folder: &Reader, store: &mut MetricStore, record: RunSummary, state: RunState) -> RunSummary {
    let Some(asked) = asked(folder.header()) else { return record };
    // It is one of the first events.
    let began =
        folder.events().find(|event| event["kind"] == BEGAN).and_then(|event| event["at_ns"].as_i64());
    let summary = summary(asked, store, &record, (began, last_ns(&record), 0), state);
    judged_by(&summary, record)
}

fn judged_by(summary: &Summary, record: RunSummary) -> RunSummary {
    record.judged_by_rules(summary.judged(), Vec::new(), summary.unlimited_faults())
}

fn last_ns(record: &RunSummary) -> i64 {
    (record.duration_s * 1e9) as i64
}

/// The summary of a test between these instants, in which so many stamps were drawn.
fn summary(
    asked: Asked,
    store: &mut MetricStore,
    record: &RunSummary,
    (began, end_ns, drawn): (Option<i64>, i64, u64),
    state: RunState,
) -> Summary {
    let elapsed = Duration::from_nanos(u64::try_from(end_ns - began.unwrap_or(end_ns)).unwrap_or(0));
    store.judge(elapsed, state != RunState::Running);
    let facts = Facts {
        elapsed,
        trend_stats: asked.trend_stats,
        time_unit: asked.time_unit.as_deref().and_then(TimeUnit::named),
        full: asked.is_full,
        drawn,
        ..Facts::of_record(record)
    };
    Summary::of(store, facts)
}

/// The store that sums up the test with this header; None as [`recorded`].
pub fn store_of(header: &Header) -> Option<MetricStore> {
    store(&asked(header)?)
}

fn asked(header: &Header) -> Option<Asked> {
    let language = header.language.as_ref().filter(|language| language.name == NAME)?;
    serde_json::from_value(language.facts.clone()).ok()
}

/// A store that knows the test's thresholds, as the test's own did.
fn store(asked: &Asked) -> Option<MetricStore> {
    let registry = Arc::new(metrics::registry());
    let mut store = MetricStore::new(Arc::clone(&registry));
    for Limited { metric, kind, unit, thresholds } in &asked.thresholds {
        registry.add(metric.split('{').next().unwrap_or_default(), *kind, *unit).ok()?;
        store.watch(metric).ok()?;
        for source in thresholds {
            store.limit(metric, source, AbortRule::default()).ok()?;
        }
    }
    Some(store)
}
