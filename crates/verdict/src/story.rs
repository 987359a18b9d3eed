//! Whether a service followed what was asked of it, and from which second on it did not.
//!
//! Symptoms are looked for in what users saw: latency over twice that of the calm part of the run, answers that failed,
//! users or copies that pile up, connections that took whole seconds to open, messages that were lost. Without one,
//! nothing is diagnosed.

use crate::series::{first_above, mean, measured, median, sum};
use crate::timeline::Timeline;
use serde::Serialize;
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
/// What piles up is told from so many on.
const PILE: f64 = 5.0;
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
        symptoms.extend(refused(timeline));
        symptoms.extend(latency(timeline));
        symptoms.extend(backlog(timeline));
        symptoms.extend(connecting(timeline, summary));
        symptoms.extend(lost(timeline, summary));
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

fn latency(timeline: &Timeline) -> Option<Symptom> {
    FELT.into_iter().filter(|metric| timeline.has(metric)).find_map(|metric| latency_of(timeline, metric))
}

fn latency_of(timeline: &Timeline, metric: &str) -> Option<Symptom> {
    let all = 0..timeline.len();
    let what = if metric == "delivery.latency" { "delivery" } else { "answers" };
    let high = timeline.quantile(metric, 0.95);
    // The calm part is the quietest quarter of the seconds, wherever it lies.
    let mut sorted: Vec<f64> = high.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let calm = *sorted.get(sorted.len() / 8)?;
    let limit = (GROWTH * calm).max(calm + FELT_MS);
    if let Some(onset_s) = first_above(&high, all.clone(), limit, LASTING) {
        let now = median(&high, onset_s..timeline.len())?;
        let text = format!("p95 of {what} rose from {calm:.0} to {now:.0} ms");
        return Some(Symptom { kind: SymptomKind::Slower, onset_s, text });
    }
    // Answers are of many kinds, deliveries of one: a tail of theirs is nobody's slow page, however steady it is.
    let tail = median(&high, all.clone()).filter(|tail| metric == "delivery.latency" && *tail >= TAIL_MS);
    if let (Some(tail), Some(onset_s)) = (tail, first_above(&high, all.clone(), TAIL_MS, LASTING)) {
        let text = format!("one of twenty deliveries took longer than {tail:.0} ms all along");
        return Some(Symptom { kind: SymptomKind::Slow, onset_s, text });
    }
    let middle = timeline.quantile(metric, 0.5);
    let usual = median(&middle, all.clone())?;
    let onset_s = first_above(&middle, all, SLOW_MS, LASTING).filter(|_| usual >= SLOW_MS)?;
    let text = format!("half of {what} took longer than {usual:.0} ms all along");
    Some(Symptom { kind: SymptomKind::Slow, onset_s, text })
}

fn failing(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let failed = timeline.rate("operations.failed");
    let all = (0..timeline.len()).map(|_| 0.0).collect::<Vec<_>>();
    let failed = if failed.is_empty() { all } else { failed };
    let (count, asked) = (sum(&failed, 0..failed.len()), answers(timeline, summary));
    if count < FAILING.1 as f64 || count < FAILING.0 * (asked + count) {
        return None;
    }
    let onset_s = first_above(&measured(&failed), 0..failed.len(), f64::MIN_POSITIVE, 1)?;
    let share = 100.0 * count / (asked + count);
    let text = format!("{count:.0} operations failed, {share:.1} % of all");
    Some(Symptom { kind: SymptomKind::Failing, onset_s, text })
}

/// Answers that say the service could not or would not: 5xx and 429. Others (404, 401) are what scripts ask for.
fn refused(timeline: &Timeline) -> Option<Symptom> {
    let is_refusal = |status: &str| status == "429" || (status.len() == 3 && status.starts_with('5'));
    let is_status = |name: &str| ["code", "status"].contains(&name);
    let codes = timeline.rate_where("http.codes", |tags| {
        tags.iter().any(|(name, value)| is_status(name) && is_refusal(value))
    });
    let all = sum(&timeline.rate("http.codes"), 0..timeline.len());
    let count = sum(&codes, 0..codes.len());
    if count < FAILING.1 as f64 || count < FAILING.0 * all {
        return None;
    }
    let onset_s = first_above(&measured(&codes), 0..codes.len(), f64::MIN_POSITIVE, 1)?;
    let text = format!("{count:.0} answers were 429 or 5xx, {:.1} % of all", 100.0 * count / all);
    Some(Symptom { kind: SymptomKind::Failing, onset_s, text })
}

fn answers(timeline: &Timeline, summary: &Summary) -> f64 {
    let responses = sum(&timeline.rate("http.responses"), 0..timeline.len());
    responses.max(summary.operations.iter().map(|operation| operation.count as f64).sum())
}

fn backlog(timeline: &Timeline) -> Option<Symptom> {
    for (metric, what) in [("delivery.outstanding", "copies"), ("users.active", "users")] {
        let level = timeline.level(metric);
        // Users of a closed or constant load stay, and do not pile up: only what grows beyond its arrivals counts.
        if metric == "users.active" && !piles_up(timeline, &level) {
            continue;
        }
        if let Some((onset_s, from, to)) = growth(&level) {
            let text = format!("{what} in flight grew from {from:.0} to {to:.0}");
            return Some(Symptom { kind: SymptomKind::Backlog, onset_s, text });
        }
    }
    None
}

/// Whether users pile up although no more of them come than before.
fn piles_up(timeline: &Timeline, active: &[Option<f64>]) -> bool {
    let arrivals = timeline.rate("arrivals.planned");
    let (third, length) = (timeline.len() / 3, timeline.len());
    if third < LASTING || arrivals.is_empty() {
        return false;
    }
    let arrived = |seconds: Range<usize>| sum(&arrivals, seconds) / third as f64;
    let (Some(before), Some(after)) = (mean(active, third..2 * third), mean(active, 2 * third..length))
    else {
        return false;
    };
    arrived(2 * third..length) <= arrived(third..2 * third) * 1.05 && after > before * 1.3 + PILE
}

/// A level that grows for at least five seconds in a row, and to twice what it was. It may stand still in two of them:
/// what is in flight when a second ends may be one burst, which is gone in the next.
fn growth(level: &[Option<f64>]) -> Option<(usize, f64, f64)> {
    const ROWS: usize = 5;
    for start in 0..level.len().saturating_sub(ROWS) {
        let row: Vec<f64> = level[start..=start + ROWS].iter().flatten().copied().collect();
        let steps = |is: fn(f64, f64) -> bool| row.windows(2).filter(|pair| is(pair[0], pair[1])).count();
        let rises = row.len() > ROWS && steps(|a, b| b >= a) == ROWS && steps(|a, b| b > a) >= ROWS - 2;
        if let (true, Some(first), Some(last)) = (rises, row.first(), row.last())
            && *last > GROWTH * first + PILE
        {
            let most = level[start..].iter().flatten().copied().fold(*last, f64::max);
            return Some((start, *first, most));
        }
    }
    None
}

fn connecting(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let connects = summary.kinds.iter().filter(|kind| kind.name.contains("connect"));
    let slow = connects.filter(|kind| kind.response_ms.p99 >= SYN_AGAIN_MS);
    let slowest = slow.max_by(|a, b| a.response_ms.p99.total_cmp(&b.response_ms.p99))?;
    let text = format!("p99 of {} was {:.0} ms", slowest.name, slowest.response_ms.p99);
    let onset_s = first_above(&timeline.quantile("response_time", 0.99), 0..timeline.len(), SYN_AGAIN_MS, 1);
    Some(Symptom { kind: SymptomKind::SlowConnect, onset_s: onset_s.unwrap_or(0), text })
}

fn lost(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let lost = summary.delivery.as_ref().map(|delivery| delivery.counts.lost).filter(|lost| *lost > 0)?;
    let rate = timeline.rate("delivery.lost");
    let onset_s = first_above(&measured(&rate), 0..rate.len(), f64::MIN_POSITIVE, 1).unwrap_or(0);
    let text = format!("{lost} copies never arrived");
    Some(Symptom { kind: SymptomKind::Lost, onset_s, text })
}
