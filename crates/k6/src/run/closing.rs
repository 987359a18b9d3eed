//! How a test is closed: thresholds for the last time, the summary, and what the script makes of it.

use serde_json::Value;
use sonagi_engine::{Note, RunEvent};
use sonagi_measure::summary::{Conclusion, Summary as RunSummary};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::collector::Collector;
use super::ending::Files;
use super::one_shot::outcome;
use super::{End, Exit};
use crate::executor::Reason;
use crate::metrics::MetricStore;
use crate::runtime::{Given, Thrown};
use crate::shard::Level;
use crate::summary::{Facts, Summary, TimeUnit, recorded};
use crate::vu::Phase;

impl Collector<'_, '_> {
    /// Thresholds for the last time, and the summary; what the run's record says once it is judged.
    pub(super) fn close(&mut self, record: RunSummary, metrics: &mut MetricStore) -> RunSummary {
        let elapsed = self.timetable.elapsed(self.test.now());
        let judgement = metrics.judge(elapsed, true);
        if !judgement.metrics.is_empty() && self.ended.exit == Exit::Passed {
            self.say(
                Level::Error,
                format!("thresholds on metrics '{}' have been crossed", judgement.metrics.join(", ")),
            );
            self.end_with(Exit::ThresholdsCrossed, None);
        }
        if self.test.common.tally.has_failed.load(Ordering::Relaxed) {
            self.say(Level::Error, "test run was marked as failed".to_owned());
            self.end_with(Exit::Failed, None);
        }
        // Before the outputs are waited for: who gives up one that hangs still has a record of the test's end.
        let detail = recorded::ended(self.test.common.delivery.rooms.drawn());
        let at = self.timetable.ended.unwrap_or_default();
        (self.on)(RunEvent::Noted(&Note { at, kind: recorded::ENDED, detail }));
        self.end_outputs();
        let record = RunSummary { samples_left_out: self.samples_left_out, ..record };
        let summary = Box::new(self.summarised(&record, elapsed, metrics));
        if let Some(text) = summary.nothing_but_errors(&record.http_codes) {
            self.say(Level::Warn, text);
        }
        let judged = summary.judged();
        let failures = self.failures(judged.iter().all(|threshold| threshold.held));
        let hints = summary.unlimited_faults().into_iter().chain(summary.missing_in_outputs());
        let record = record.judged_by_rules(judged, failures, hints.collect());
        self.ended.end = End::Summary(summary);
        record
    }

    /// Why the test failed, beside the thresholds that say so themselves: the verdict of its record is what its exit
    /// code says.
    fn failures(&self, have_thresholds_held: bool) -> Vec<String> {
        let is_told = self.ended.exit == Exit::ThresholdsCrossed && !have_thresholds_held;
        if self.ended.exit.conclusion() != Some(Conclusion::Fail) || is_told {
            return Vec::new();
        }
        let is_it = |why: &&Reason| Exit::of_abort(why) == self.ended.exit;
        let abort = self.abort.why().filter(is_it).map(Reason::to_string);
        vec![abort.or_else(|| self.ended.why.clone()).unwrap_or_else(|| self.ended.exit.reason().to_owned())]
    }

    fn summarised(&self, record: &RunSummary, elapsed: Duration, metrics: &mut MetricStore) -> Summary {
        let options = self.test.options();
        let facts = Facts {
            elapsed,
            drawn: self.test.common.delivery.rooms.drawn(),
            trend_stats: options.summary_trend_stats.clone(),
            time_unit: options.summary_time_unit.as_deref().and_then(TimeUnit::named),
            full: self.test.asked.full_summary,
            setup_data: self.data.as_ref().and_then(|data| serde_json::from_str(data).ok()),
            no_color: self.test.asked.terminal[0],
            stdout_is_terminal: self.test.asked.terminal[1],
            stderr_is_terminal: self.test.asked.terminal[2],
            ..Facts::of_record(record)
        };
        Summary::of(metrics, facts)
    }

    /// Waits until outputs have written what waits for them, and says what they have not.
    pub(super) fn end_outputs(&mut self) {
        for output in std::mem::take(&mut self.outputs) {
            let left_out = output.left_out();
            self.samples_left_out += left_out;
            if let Err(why) = output.finish() {
                self.say(Level::Error, format!("an output could not be finished: {why}"));
            }
            if left_out > 0 {
                let text = format!(
                    "an output was written more slowly than samples came: {left_out} samples are not in it"
                );
                self.say(Level::Error, text);
            }
        }
    }

    /// The files that `handleSummary` returns; None: it returns nothing, and the summary is shown as it is without it.
    pub(super) fn handled(&mut self, summary: &Summary, run: &sonagi_engine::Options) -> Option<Files> {
        let task = self.one_shot(Phase::Summary, || Given::Json(summary.data().to_string()))?;
        let (dialect, abort) = (Arc::clone(&self.dialect), self.abort);
        let done = sonagi_engine::once(&dialect, run, abort.control(), self, task);
        let returned = match done.map_err(|error| Thrown::Error(error.to_string())).and_then(outcome) {
            Ok(returned) => returned?,
            Err(Thrown::Interrupted) => {
                self.say_with(Level::Error, UNHANDLED, &[("error", &self.test.timed_out(Phase::Summary))]);
                return None;
            }
            Err(thrown) => {
                self.complain(&thrown);
                return None;
            }
        };
        let files = files(&serde_json::from_str(&returned).unwrap_or_default());
        files.unwrap_or_else(|why| {
            self.say_with(Level::Error, UNHANDLED, &[("error", &why)]);
            Some(Vec::new())
        })
    }
}

/// The log line for a script's own summary that cannot be made.
pub(super) const UNHANDLED: &str = "failed to handle the end-of-test summary";

/// Names of files and what is to be in them; one that cannot be written spoils all of them.
fn files(returned: &Value) -> Result<Option<Files>, String> {
    let Value::Object(members) = returned else {
        let why = "handleSummary() should return a map with string keys".to_owned();
        return if returned.is_null() { Ok(None) } else { Err(why) };
    };
    let content = |name: &String, content: &Value| match content {
        Value::String(text) => Ok(text.clone().into_bytes()),
        Value::Array(bytes) => Ok(bytes.iter().filter_map(|byte| byte.as_u64()?.try_into().ok()).collect()),
        other => {
            let kind = other["wrong"].as_str().unwrap_or_default();
            Err(format!(
                "error handling summary object {name}: invalid type {kind}, it needs to be a string or ArrayBuffer"
            ))
        }
    };
    let file = |(name, value)| content(name, value).map(|content| (String::clone(name), content));
    members.iter().map(file).collect::<Result<Files, String>>().map(Some)
}
