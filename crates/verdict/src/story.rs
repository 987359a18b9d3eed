//! Whether a service followed what was asked of it, and from which second on it did not.
//!
//! Symptoms are looked for in what users saw: latency over twice that of the calm part of the run, answers that failed
//! or were refused, users or copies that pile up, sessions that take much longer than at first, connections that took
//! whole seconds to open or all closed at once, messages that were lost. Without one, nothing is diagnosed.

mod backlog;
mod died;
mod lost;
mod polling;
mod sessions;
mod statuses;

use crate::series::{first_above, measured, median, sum};
use crate::timeline::Timeline;
use serde::Serialize;
use sonagi_measure::figures::count;
use sonagi_measure::summary::Summary;
use std::ops::Range;

/// What users feel, before all else how long deliveries take.
const FELT: [&str; 3] = ["delivery.latency", "response_time", "http_req_duration"];
/// Latencies below this are nobody's trouble (ms).
const FELT_MS: f64 = 50.0;
/// A median above this is slow, whatever it was before (ms).
const SLOW_MS: f64 = 100.0;
/// The same of the 95th percentile of deliveries (ms).
const TAIL_MS: f64 = 200.0;
/// So many times the calm part's latency is more than its noise.
const GROWTH: f64 = 2.0;
/// Failures that count: this share of all answers, and this many.
const FAILING: (f64, u64) = (0.005, 3);
/// How long a symptom lasts at least (s).
const LASTING: usize = 3;
/// Connections that took this long to open (ms): the kernel sends a lost SYN again after one second (RFC 6298), so such
/// times come in steps of seconds.
const SYN_AGAIN_MS: f64 = 900.0;

/// Something users noticed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Symptom {
    /// Which.
    pub kind: SymptomKind,
    /// The second in which it began.
    pub onset_s: usize,
    /// In a sentence.
    pub text: String,
    /// What to change about the test, where that would show more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Symptom {
    fn new(kind: SymptomKind, onset_s: usize, text: String) -> Symptom {
        Symptom { kind, onset_s, text, hint: None }
    }
}

/// The kinds of symptoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SymptomKind {
    /// Answers or deliveries became slower.
    Slower,
    /// They were slow all along.
    Slow,
    /// Answers failed.
    Failing,
    /// Users or copies pile up.
    Backlog,
    /// Connections took whole seconds to open.
    SlowConnect,
    /// Copies were lost.
    Lost,
    /// Answers had an error status.
    Refused,
    /// Sessions took much longer than at first.
    LongSessions,
    /// The target was gone from one second to the next.
    Died,
}

/// What became of the demand.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Story {
    /// Symptoms, the earliest first; none: the service followed.
    pub symptoms: Vec<Symptom>,
    /// Seconds of the load.
    pub length: usize,
}

impl Story {
    /// The story of a run.
    pub fn of(timeline: &Timeline, summary: &Summary) -> Story {
        let length = timeline.len();
        let mut symptoms = Vec::new();
        symptoms.extend(failing(timeline, summary));
        symptoms.extend(died::symptom(timeline, summary));
        symptoms.extend(latency(timeline, summary));
        symptoms.extend(backlog::symptom(timeline, summary));
        // Users who take their time have long sessions, too: only where the target was slow is that its doing.
        if !symptoms.is_empty() {
            symptoms.extend(sessions::symptom(timeline));
        }
        symptoms.extend(statuses::symptom(timeline, summary));
        symptoms.extend(connecting(timeline, summary));
        symptoms.extend(lost::symptom(timeline, summary));
        symptoms.sort_by_key(|symptom| symptom.onset_s);
        Story { symptoms, length }
    }

    /// Whether the service followed all along.
    pub fn is_calm(&self) -> bool {
        self.symptoms.is_empty()
    }

    /// The second in which it stopped following.
    pub fn onset(&self) -> usize {
        self.symptoms.first().map_or(0, |symptom| symptom.onset_s)
    }

    /// The seconds since then.
    pub fn trouble(&self) -> Range<usize> {
        self.onset().min(self.length.saturating_sub(1))..self.length
    }

    /// The seconds before; empty where the trouble was there from the start.
    pub fn calm(&self) -> Range<usize> {
        0..self.onset()
    }

    /// Whether users noticed this.
    pub fn has(&self, kind: SymptomKind) -> bool {
        self.symptoms.iter().any(|symptom| symptom.kind == kind)
    }
}

fn latency(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let mut felt = FELT.into_iter().filter(|metric| timeline.has(metric));
    felt.find_map(|metric| latency_of(timeline, summary, metric))
}

fn latency_of(timeline: &Timeline, summary: &Summary, metric: &str) -> Option<Symptom> {
    let all = 0..timeline.len();
    let is_delivery = metric == "delivery.latency";
    let what = if is_delivery { "delivery" } else { "answers" };
    let wait_ms = if is_delivery { polling::wait_ms(timeline, summary) } else { 0.0 };
    let (tail_ms, slow_ms) = (TAIL_MS.max(wait_ms), SLOW_MS.max(wait_ms));
    let high = timeline.quantile(metric, 0.95);
    // The calm part is the quietest quarter of the seconds, wherever it lies.
    let mut sorted: Vec<f64> = high.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let calm = *sorted.get(sorted.len() / 8)?;
    let limit = (GROWTH * calm).max(calm + FELT_MS);
    if let Some(onset_s) = first_above(&high, all.clone(), limit, LASTING) {
        let now = median(&high, onset_s..timeline.len())?;
        let text = format!("p95 of {what} rose from {} to {} ms", whole(calm), whole(now));
        return Some(Symptom::new(SymptomKind::Slower, onset_s, text));
    }
    // Answers are of many kinds, deliveries of one: a tail of theirs is nobody's slow page, however steady it is.
    let tail = median(&high, all.clone()).filter(|tail| is_delivery && *tail >= tail_ms);
    if let (Some(tail), Some(onset_s)) = (tail, first_above(&high, all.clone(), tail_ms, LASTING)) {
        let text = format!("one of twenty deliveries took longer than {} ms all along", whole(tail));
        return Some(Symptom::new(SymptomKind::Slow, onset_s, text));
    }
    let middle = timeline.quantile(metric, 0.5);
    let usual = median(&middle, all.clone())?;
    let onset_s = first_above(&middle, all, slow_ms, LASTING).filter(|_| usual >= slow_ms)?;
    let text = format!("half of {what} took longer than {} ms all along", whole(usual));
    Some(Symptom::new(SymptomKind::Slow, onset_s, text))
}

fn failing(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let failed = timeline.rate("operations.failed");
    let all = (0..timeline.len()).map(|_| 0.0).collect::<Vec<_>>();
    let failed = if failed.is_empty() { all } else { failed };
    let (failures, asked) = (sum(&failed, 0..failed.len()), answers(timeline, summary));
    if failures < FAILING.1 as f64 || failures < FAILING.0 * (asked + failures) {
        return None;
    }
    let onset_s = first_above(&measured(&failed), 0..failed.len(), f64::MIN_POSITIVE, 1)?;
    let share = 100.0 * failures / (asked + failures);
    let text = format!("{} operations failed, {share:.1} % of all", whole(failures));
    Some(Symptom::new(SymptomKind::Failing, onset_s, text))
}

fn answers(timeline: &Timeline, summary: &Summary) -> f64 {
    let responses = sum(&timeline.rate("http.responses"), 0..timeline.len());
    responses.max(summary.operations.iter().map(|operation| operation.count as f64).sum())
}

fn connecting(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let connects = summary.kinds.iter().filter(|kind| kind.name.contains("connect"));
    let slow = connects.filter(|kind| kind.response_ms.p99 >= SYN_AGAIN_MS);
    let slowest = slow.max_by(|a, b| a.response_ms.p99.total_cmp(&b.response_ms.p99))?;
    let text = format!("p99 of {} was {} ms", slowest.name, whole(slowest.response_ms.p99));
    let onset_s = first_above(&timeline.quantile("response_time", 0.99), 0..timeline.len(), SYN_AGAIN_MS, 1);
    Some(Symptom::new(SymptomKind::SlowConnect, onset_s.unwrap_or(0), text))
}

/// A figure without its fraction, with thousands separated.
pub(crate) fn whole(figure: f64) -> String {
    count(figure.max(0.0).round() as u64)
}

/// A figure of two digits, for what is known about so well: `40,000`.
fn about(figure: f64) -> String {
    if figure < 1.0 {
        return format!("{:.1}", figure.max(0.0));
    }
    let unit = 10f64.powf(figure.log10().floor() - 1.0).max(1.0);
    whole((figure / unit).round() * unit)
}
