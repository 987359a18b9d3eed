//! Sessions that take much longer than at first: what a user of a slow target does takes as long as all its answers.

use super::{LASTING, Symptom, SymptomKind};
use crate::series::{first_above, median};
use crate::timeline::Timeline;

/// The length of a session, in each script language.
const LENGTHS: [&str; 2] = ["session.length", "iteration_duration"];
/// So many times the first ones are much longer.
const LONGER: f64 = 3.0;
/// And by at least this (ms).
const LEAST_MS: f64 = 1_000.0;

pub(super) fn symptom(timeline: &Timeline) -> Option<Symptom> {
    LENGTHS.into_iter().find_map(|metric| symptom_of(timeline, metric))
}

fn symptom_of(timeline: &Timeline, metric: &str) -> Option<Symptom> {
    let lengths = timeline.quantile(metric, 0.5);
    let seconds: Vec<usize> = (0..lengths.len()).filter(|second| lengths[*second].is_some()).collect();
    let quarter = *seconds.get(seconds.len() / 4)?;
    let at_first = median(&lengths, 0..quarter + 1)?;
    let limit = (LONGER * at_first).max(at_first + LEAST_MS);
    let onset_s = first_above(&lengths, quarter..timeline.len(), limit, LASTING)?;
    let now = median(&lengths, onset_s..timeline.len()).filter(|now| *now >= limit)?;
    let text = format!("sessions took {} instead of {}", seconds_of(now), seconds_of(at_first));
    Some(Symptom::new(SymptomKind::LongSessions, onset_s, text))
}

fn seconds_of(ms: f64) -> String {
    format!("{:.1} s", ms / 1e3)
}
