//! Little's law as a check of a run's own books: N = X · R. In a closed run N users are active, X sessions end a second
//! and each took R: whatever the target does, these three agree while the population stays the same. Where they do not,
//! events were lost or are counted wrong, and no figure of the run is to be trusted before that is known.
//!
//! Only closed runs are judged: their population is a fact of the plan. Of an open run the law holds as well, but its
//! population changes all the time, and so short of its edges nothing would be left to compare.

use crate::diagnosis::Evidence;
use crate::series::{mean, measured, sum};
use crate::timeline::Timeline;
use sonagi_measure::figures::figure;
use sonagi_measure::summary::Summary;
use std::ops::Range;

/// A larger difference than this is none of rounding.
const MISMATCH: f64 = 0.05;
/// Sessions that are under way when the steady part begins or ends count in full or not at all: so many times a
/// session's length is long enough for that to be small.
const LENGTHS: f64 = 40.0;
/// Sessions that ended in it, at least.
const SESSIONS: f64 = 100.0;
/// Users that fail have no length: with a larger share of them there is nothing to compare.
const FAILED: f64 = 0.01;

/// What does not agree; None: all does, or nobody can say.
pub(crate) fn mismatch(timeline: &Timeline, summary: &Summary) -> Option<Evidence> {
    summary.users.wanted?;
    let active = timeline.level("users.active");
    let steady = steady(&active)?;
    let users = mean(&active, steady.clone())?;
    let ended = |metric| sum(&timeline.rate(metric), steady.clone());
    let (completed, failed) = (ended("users.completed"), ended("users.failed"));
    let lengths = timeline.buckets("session.length", steady.clone());
    let (length_s, seconds) =
        (lengths.mean() / 1e3, timeline.spans().get(steady.clone())?.iter().sum::<f64>());
    let is_enough = completed >= SESSIONS && seconds >= LENGTHS * length_s && failed <= FAILED * completed;
    if !is_enough || length_s <= 0.0 {
        return None;
    }
    let rate = mean(&measured(&timeline.rate("users.completed")), steady)?;
    let expected = rate * length_s;
    ((expected - users).abs() > MISMATCH * users).then(|| Evidence {
        series: "users.active".to_owned(),
        text: format!(
            "{} users were active, but {} sessions a second of {} ms each are those of {}: events were lost, or are \
             counted wrong",
            figure(users),
            figure(rate),
            figure(1e3 * length_s),
            figure(expected)
        ),
    })
}

/// The seconds in which the whole population was there, without the first and the last of them.
fn steady(active: &[Option<f64>]) -> Option<Range<usize>> {
    let most = active.iter().flatten().copied().reduce(f64::max).filter(|most| *most > 0.0)?;
    let is_there = |level: &Option<f64>| *level == Some(most);
    let first = active.iter().position(is_there)?;
    let length = active[first..].iter().take_while(|level| is_there(level)).count();
    (length > 2).then(|| first + 1..first + length - 1)
}
