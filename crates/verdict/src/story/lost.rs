//! Copies that never arrived, by where they were.

use super::{Symptom, SymptomKind};
use crate::series::{first_above, measured};
use crate::timeline::Timeline;
use sonagi_measure::figures::{count, counted};
use sonagi_measure::ledger::Counts;
use sonagi_measure::summary::Summary;

pub(super) fn symptom(timeline: &Timeline, summary: &Summary) -> Option<Symptom> {
    let counts =
        summary.delivery.as_ref().map(|delivery| delivery.counts).filter(|counts| counts.lost > 0)?;
    let rate = timeline.rate("delivery.lost");
    let onset_s = first_above(&measured(&rate), 0..rate.len(), f64::MIN_POSITIVE, 1).unwrap_or(0);
    let mut text = format!("{} never arrived", counted(counts.lost, "copy"));
    let parts: Vec<String> = parts(&counts).into_iter().filter(|(n, _)| *n > 0).map(told).collect();
    if !parts.is_empty() {
        text += &format!(": {}", parts.join(", "));
    }
    // Half of them are no accident.
    let follows_joins = 2 * counts.lost_after_join >= counts.lost;
    let hint = follows_joins.then(|| {
        format!(
            "{} of them were sent within a second of the receiver's join, before anything reached it: with `settle: \
             1` (`delivery`) nothing is owed so early",
            count(counts.lost_after_join)
        )
    });
    Some(Symptom { hint, ..Symptom::new(SymptomKind::Lost, onset_s, text) })
}

fn parts(counts: &Counts) -> [(u64, &'static str); 3] {
    [
        (counts.lost_tail, "with nothing after them"),
        (counts.lost_gap, "before others that arrived"),
        (counts.never_accepted, "of messages that reached nobody"),
    ]
}

fn told((copies, place): (u64, &str)) -> String {
    format!("{} {place}", count(copies))
}
