//! Little's law as a check of a run's own books: N = X · R. Where N users are active, X sessions end a second and each
//! takes R, these three agree, whatever the target does. Where they do not, events were lost or are counted wrong, and
//! no figure of the run is to be trusted before that is known.
//!
//! | the run | what is held against each other | on condition that |
//! |---|---|---|
//! | closed | users, and sessions a second times their length | all are there for forty sessions |
//! | any other | the time of all users, and the sum of all sessions | all have ended, and take 4 s and more |
//!
//! A run is closed where its population is a fact of the plan, or where all of k6's virtual users iterate all the time.
//!
//! The one decision a reader would question: users are counted once a second, so that what comes and goes in step with
//! these looks is taken for more or less than it is, by as much as a second of each session. That second is allowed
//! beyond the 5 % wherever the population may change between two looks; of shorter sessions nothing is said then.

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
/// Between two looks at how many users are active (s).
const LOOK_S: f64 = 1.0;
/// Sessions that are shorter than this come and go between looks (s).
const SHORTEST_S: f64 = 4.0;

/// What does not agree; None: all does, or nobody can say.
pub(crate) fn mismatch(timeline: &Timeline, summary: &Summary) -> Option<Evidence> {
    let active = timeline.level("users.active");
    let population = match summary.users.wanted {
        Some(_) => Some(active.clone()),
        // A virtual user of k6 that always iterates is a user of a closed run.
        None => timeline.has("vus").then(|| timeline.level("vus")),
    };
    match population.and_then(|population| steady(&active, &population)) {
        Some(steady) => of_population(timeline, &active, steady),
        None if summary.users.wanted.is_some() => None,
        None => of_whole(timeline, summary, &active),
    }
}

/// While all of a population is there.
fn of_population(timeline: &Timeline, active: &[Option<f64>], steady: Range<usize>) -> Option<Evidence> {
    let users = mean(active, steady.clone())?;
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

/// Over a whole run, at whose begin and end nobody is active.
fn of_whole(timeline: &Timeline, summary: &Summary, active: &[Option<f64>]) -> Option<Evidence> {
    let users = &summary.users;
    let (completed, without_length) = (users.completed as f64, (users.failed + users.stopped) as f64);
    let lengths = timeline.whole("session.length", |_| true);
    let length_s = lengths.mean() / 1e3;
    let is_told = users.active == 0 && completed >= SESSIONS && without_length <= FAILED * completed;
    if !is_told || length_s < SHORTEST_S {
        return None;
    }
    let spent: f64 =
        active.iter().zip(timeline.spans()).map(|(level, span)| level.unwrap_or(0.0) * span).sum();
    let expected = completed * length_s;
    ((expected - spent).abs() > (MISMATCH + LOOK_S / length_s) * spent).then(|| Evidence {
        series: "users.active".to_owned(),
        text: format!(
            "users were active for {} s in all, but {} sessions of {} ms each are {} s: events were lost, or are \
             counted wrong",
            figure(spent),
            figure(completed),
            figure(1e3 * length_s),
            figure(expected)
        ),
    })
}

/// The seconds in which the whole population was there and active, without the first and the last of them.
fn steady(active: &[Option<f64>], population: &[Option<f64>]) -> Option<Range<usize>> {
    let most = population.iter().flatten().copied().reduce(f64::max).filter(|most| *most > 0.0)?;
    let is_there = |second: &usize| {
        let is_all = |levels: &[Option<f64>]| levels.get(*second).copied().flatten() == Some(most);
        is_all(active) && is_all(population)
    };
    let first = (0..active.len()).find(is_there)?;
    let length = (first..active.len()).take_while(is_there).count();
    (length > 2).then(|| first + 1..first + length - 1)
}
