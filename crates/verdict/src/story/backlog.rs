//! A backlog, named as one: copies that the target owes pile up because more are asked for than it can send, or users
//! because they come faster than they finish. How deep it is, how fast it was worked off, and since when it grew.

use super::{GROWTH, LASTING, Symptom, SymptomKind, about, polling, whole};
use crate::series::{mean, measured, median, most, sum};
use crate::timeline::Timeline;
use sonagi_measure::figures::figure;
use sonagi_measure::summary::Summary;
use std::ops::Range;

/// What piles up is told from so many on.
const PILE: f64 = 5.0;
/// A pile that is worked off sooner (s) is what is on its way, and nobody waits for it.
const SHALLOW_S: f64 = 0.1;
/// Copies have piled up since they were last fewer than this share of the most.
const LITTLE: f64 = 0.05;
/// The seconds at the end of a run whose rate is told.
const END: usize = 3;
/// A frame as long as this (s) has a rate.
const WHOLE_S: f64 = 0.5;
/// A rate below this share of the capacity is a trickle and no backlog that is worked off.
const TRICKLE: f64 = 0.05;

pub(super) fn symptom(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    copies(timeline, summary).or_else(|| users(timeline))
}

fn copies(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let level = timeline.level("delivery.outstanding");
    let piled = level.iter().enumerate().filter_map(|(second, level)| Some((second, (*level)?)));
    let (peak_s, peak) = piled.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let arrived = arrived(timeline);
    let onset_s = exceeded(&level, peak_s, peak);
    let capacity = median(&measured(&arrived), onset_s..peak_s + 1).unwrap_or(0.0);
    let end = rate_at_end(timeline, &arrived);
    let left = summary.delivery.as_ref().map_or(0, |d| d.counts.lost_tail + d.counts.never_accepted) as f64;
    let is_cut = left > PILE && end > TRICKLE * capacity && end > 0.0;
    if !is_cut && growth(&level).is_none() {
        return None;
    }
    if capacity < f64::MIN_POSITIVE {
        let text = format!("{} copies piled up, and none arrived, from second {onset_s} on", whole(peak));
        return Some(Symptom::new(SymptomKind::Backlog, onset_s, text));
    }
    let most = format!("capacity about {} copies/s, exceeded from second {onset_s}", about(capacity));
    if !is_cut {
        let depth = awaited(timeline, peak, peak_s) / capacity;
        if depth < SHALLOW_S.max(polling::wait_ms(timeline, summary) / 1e3) {
            return None;
        }
        let depth = about(depth);
        let text = format!("copies piled up to {}, about {depth} s of backlog; {most}", whole(peak));
        return Some(Symptom::new(SymptomKind::Backlog, onset_s, text));
    }
    let depth = awaited(timeline, left, timeline.len()) / worked_off(timeline, &arrived).max(end);
    let text = format!(
        "copies were still arriving at {}/s when the drain ended; about {} s of backlog; {most}",
        about(end),
        about(depth)
    );
    let hint = format!(
        "what had not arrived by then is counted as lost: with `drain: {}` or more (`delivery`) it is told whether it \
         was only late",
        whole((2.0 * depth).ceil().max(10.0))
    );
    Some(Symptom { hint: Some(hint), ..Symptom::new(SymptomKind::Backlog, onset_s, text) })
}

/// Owed copies that arrived in each second.
fn arrived(timeline: &Timeline) -> Vec<f64> {
    let mut arrived = vec![0.0; timeline.len()];
    for fate in ["delivery.delivered", "delivery.late", "delivery.replayed"] {
        arrived.iter_mut().zip(timeline.rate(fate)).for_each(|(sum, rate)| *sum += rate);
    }
    arrived
}

/// The highest rate of the last seconds: receivers whose drain is over take their share of it away. The last frame of a
/// run may be too short to have a rate.
fn rate_at_end(timeline: &Timeline, rates: &[f64]) -> f64 {
    let whole = rates.iter().zip(timeline.spans()).rev().filter(|(_, span)| **span >= WHOLE_S);
    whole.take(END).map(|(rate, _)| *rate).fold(0.0, f64::max)
}

/// The rate at which the backlog is worked off: the highest since the last copy was asked for. It falls as receivers
/// leave, whatever the target can do; 0: the drain has no whole second.
fn worked_off(timeline: &Timeline, rates: &[f64]) -> f64 {
    let owed = timeline.rate("delivery.owed");
    let drain = owed.iter().rposition(|owed| *owed > 0.0).map_or(0, |last| last + 1);
    let whole = rates.iter().zip(timeline.spans()).skip(drain).filter(|(_, span)| **span >= WHOLE_S);
    whole.map(|(rate, _)| *rate).fold(0.0, f64::max)
}

/// Of copies that have not arrived by a second, those that somebody still awaits. The ledger keeps what was owed to
/// receivers who have left since, to its end; but where copies arrive in order, nothing waits that was sent before
/// those which arrive now.
fn awaited(timeline: &Timeline, missing: f64, by: usize) -> f64 {
    let age = timeline.quantile("delivery.latency", 0.95);
    let recent = by.saturating_sub(END)..by;
    let Some(age_ms) = most(&age, recent) else { return missing };
    let since = by.saturating_sub((age_ms / 1e3).ceil() as usize);
    missing.min(sum(&timeline.rate("delivery.owed"), since..by))
}

/// The second in which the demand passed what the target can do: the pile grew from there to its peak.
fn exceeded(level: &[Option<f64>], peak_s: usize, peak: f64) -> usize {
    let is_little = |level: &Option<f64>| level.is_none_or(|level| level <= LITTLE * peak);
    level.iter().take(peak_s).rposition(is_little).map_or(0, |second| second + 1)
}

fn users(timeline: &Timeline) -> Option<Symptom> {
    let level = timeline.level("users.active");
    // Users of a closed or constant load stay, and do not pile up: only what grows beyond its arrivals counts.
    if !piles_up(timeline, &level) {
        return None;
    }
    let (onset_s, from, to) = growth(&level)?;
    let seconds = onset_s..timeline.len();
    let mean_of = |metric: &str| mean(&measured(&timeline.rate(metric)), seconds.clone()).unwrap_or(0.0);
    let (came, finished) =
        (mean_of("arrivals.started"), mean_of("users.completed") + mean_of("users.failed"));
    let mut text = format!("users in flight grew from {} to {}", whole(from), whole(to));
    if came > 0.0 {
        text += &format!(": {} a second came and {} finished", figure(came), figure(finished));
    }
    Some(Symptom::new(SymptomKind::Backlog, onset_s, text))
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
