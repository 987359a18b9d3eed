//! Which figures of runs are compared, and which way is better.

use super::observation::Observation;
use super::{Judgement, Question, Scale, mostly};
use sonagi_measure::outcome::Failure;
use std::collections::BTreeSet;

/// No more figures are compared than these, unless they are asked for: each more makes Holm's correction stricter.
const FIGURES_AT_MOST: usize = 40;

/// Which way of a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Times, failures, losses.
    LowerIsBetter,
    /// Rates, shares of what arrived.
    HigherIsBetter,
    /// Whatever else: a difference is told, and not judged.
    Neither,
}

/// A figure of runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Figure {
    /// Its name in the summary: `delivery.latency_ms.p99`.
    pub name: String,
    /// Which way is better.
    pub direction: Direction,
    /// How it is compared.
    pub scale: Scale,
}

/// Last parts of names that tell shares.
const SHARES: [&str; 3] = ["ratio", "rate", "failed_share"];
/// Last parts of names of things that should not happen.
const FAULTS: [&str; 9] =
    ["failed", "failed_share", "lost", "late", "leaked", "duplicate", "reordered", "missed", "skipped"];
/// Last parts of names of quantities in a time.
const RATES: [&str; 2] = ["rate_per_s", "per_s"];
/// What names of times end with, in the summary and in scripts' own words.
const TIMES: [&str; 10] = [
    "_ms",
    "_duration",
    "_waiting",
    "_connecting",
    "_blocked",
    "_sending",
    "_receiving",
    "_tls_handshaking",
    "response_time",
    "session_length",
];
/// The end of the name of a kind's responses.
const RESPONSES: &str = "response_ms.p99";
/// What names of failures by their codes begin with.
const ERRORS: &str = "errors.";
/// A figure that every run with operations has.
const OPERATIONS: &str = "operations_per_s";
/// Distributions of other tools' reports that tell how long an answer took, the most usual first.
const ANSWERS: [&str; 3] = ["http_req_duration", "http.response_time", "socketio.response_time"];
/// The quantiles of a distribution that are compared.
const QUANTILES: [&str; 3] = ["p50", "p95", "p99"];

impl Figure {
    /// What a name tells of the figure that it names.
    pub fn named(name: &str) -> Figure {
        let last = name.rsplit('.').next().unwrap_or(name);
        // k6's own rates: the shares of requests that failed, and of checks that held.
        let is_rate_of = |metric: &str| name.strip_suffix(".rate").is_some_and(|of| of.starts_with(metric));
        let direction = if name.starts_with(ERRORS) || FAULTS.contains(&last) || is_rate_of("http_req_failed")
        {
            Direction::LowerIsBetter
        } else if last == "ratio" || RATES.contains(&last) || is_rate_of("checks") {
            Direction::HigherIsBetter
        } else if is_time(name) {
            Direction::LowerIsBetter
        } else {
            Direction::Neither
        };
        let is_count = direction == Direction::LowerIsBetter && !is_time(name);
        let scale = if is_share(name) || is_count { Scale::Difference } else { Scale::Ratio };
        Figure { name: name.to_owned(), direction, scale }
    }

    /// Its value in a run. A failure that a run with operations did not see has no name there, and happened 0 times.
    pub fn of(&self, run: &Observation) -> Option<f64> {
        let is_counted = || self.name.starts_with(ERRORS) && run.figures.contains_key(OPERATIONS);
        run.figures.get(&self.name).copied().or_else(|| is_counted().then_some(0.0))
    }

    /// Whether it is a share from 0 to 1.
    pub fn is_share(&self) -> bool {
        is_share(&self.name)
    }
}

fn is_share(name: &str) -> bool {
    SHARES.contains(&name.rsplit('.').next().unwrap_or(name))
}

/// Whether a figure is a time: its own name or that of the distribution it is of says so.
fn is_time(name: &str) -> bool {
    let is_told = |part: &str| TIMES.iter().any(|ending| part.ends_with(ending));
    is_told(name)
        || name
            .rsplit_once('.')
            .is_some_and(|(distribution, figure)| is_told(distribution) && figure != "count")
}

impl Direction {
    /// The word for a change upwards or downwards.
    pub(super) fn word(self, is_up: bool) -> Judgement {
        match (self, is_up) {
            (Direction::LowerIsBetter, true) | (Direction::HigherIsBetter, false) => Judgement::Worse,
            (Direction::LowerIsBetter, false) | (Direction::HigherIsBetter, true) => Judgement::Better,
            (Direction::Neither, true) => Judgement::Higher,
            (Direction::Neither, false) => Judgement::Lower,
        }
    }
}

/// Which of several sets of runs must have a figure so that it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Had {
    /// Each that has any runs.
    ByEverySide,
    /// One is enough: the others are told as not judged. Where no figure is asked for, one that all have goes first.
    ByAnySide,
}

/// The figures that are compared, the primary one first, and the names asked for that the runs do not have: a side has
/// a figure when most of its runs do. A primary figure that is missing leaves none: nothing else may decide in its
/// place.
pub fn chosen(sides: &[Vec<&Observation>], had: Had, question: &Question) -> (Vec<Figure>, Vec<String>) {
    let names: BTreeSet<&str> =
        sides.iter().flatten().flat_map(|run| run.figures.keys().map(String::as_str)).collect();
    let has = |side: &Vec<&Observation>, figure: &Figure| {
        mostly(side.iter().filter(|run| figure.of(run).is_some()).count(), side.len())
    };
    let is_had_by = |had: Had, name: &str| {
        let figure = Figure::named(name);
        let mut sides = sides.iter().filter(|side| !side.is_empty());
        match had {
            // The name of a failure that no run saw may be a slip of the pen.
            _ if !names.contains(name) && !is_failure(name) => false,
            Had::ByEverySide => sides.clone().next().is_some() && sides.all(|side| has(side, &figure)),
            Had::ByAnySide => sides.any(|side| has(side, &figure)),
        }
    };
    let is_had = |name: &str| is_had_by(had, name);
    let asked = || question.primary.iter().chain(&question.metrics);
    let missing = asked().filter(|name| !is_had(name)).cloned().collect();
    let usual_by = |had: Had| {
        let common = names.iter().copied().filter(|name| is_had_by(had, name));
        usual(&common.collect(), sides)
    };
    // By what only one side has the others cannot be judged; nobody has asked for it by name.
    let mut usual = usual_by(Had::ByEverySide);
    if usual.is_empty() {
        usual = usual_by(had);
    }
    let primary = match &question.primary {
        Some(name) => Some(name.as_str()).filter(|name| is_had(name)),
        None => usual.first().copied(),
    };
    let Some(primary) = primary else { return (Vec::new(), missing) };
    let asked = question.metrics.iter().map(String::as_str).filter(|name| is_had(name));
    let names = std::iter::once(primary).chain(asked).chain(usual.into_iter().take(FIGURES_AT_MOST));
    let mut seen = BTreeSet::new();
    let names = names.filter(|name| seen.insert(*name));
    (names.map(Figure::named).collect(), missing)
}

/// Whether a name is that of failures of a kind that is known.
fn is_failure(name: &str) -> bool {
    name.strip_prefix(ERRORS).is_some_and(|code| Failure::from_code(code).is_some())
}

/// What one looks at when nothing is asked for, the most telling first: deliveries, or else the responses of the kind
/// of operations that there are most of; then operations by name, and what is left of the whole.
fn usual<'a>(common: &BTreeSet<&'a str>, sides: &[Vec<&Observation>]) -> Vec<&'a str> {
    let of = |prefix: &str, keep: &dyn Fn(&str) -> bool| {
        let names = common.iter().filter(|name| name.starts_with(prefix) && keep(name));
        names.copied().collect::<Vec<&'a str>>()
    };
    let quantile = |of: &str, name: &str| {
        name.rsplit_once('.').is_some_and(|(path, last)| path.ends_with(of) && QUANTILES.contains(&last))
    };
    let mut names = of("delivery.latency_ms.", &|name| name.ends_with(".p99"));
    if names.is_empty() {
        // Of all requests together: one operation is only a part of what a user waits for.
        names.extend(of("kinds.", &|name| name.ends_with(RESPONSES)));
        // Most first; of equals by name, as they are.
        let count = |name: &str| operations(name, sides);
        names.sort_by(|one, other| count(other).total_cmp(&count(one)));
    }
    names.extend(of("delivery.latency_ms.", &|name| quantile("latency_ms", name)));
    names.extend(of("delivery.ratio", &|_| true));
    names.extend(of("failed_share", &|_| true));
    names.extend(of(OPERATIONS, &|_| true));
    names.extend(of("operations.", &|name| quantile("response_ms", name)));
    if names.is_empty() {
        // What another tool told of a run of its own.
        names.extend(of("", &|name| {
            is_time(name) && name.rsplit('.').next().is_some_and(|last| QUANTILES.contains(&last))
        }));
        names.sort_by_key(|name| {
            let (distribution, quantile) = name.rsplit_once('.').unwrap_or((name, ""));
            let answers = ANSWERS.iter().position(|answers| *answers == distribution);
            let highest = QUANTILES.iter().rev().position(|known| *known == quantile);
            (answers.unwrap_or(ANSWERS.len()), highest)
        });
    }
    names
}

/// Operations of the kind that `kinds.NAME.response_ms.p99` is of, in all runs together.
fn operations(name: &str, sides: &[Vec<&Observation>]) -> f64 {
    let count = name.replace(RESPONSES, "count");
    sides.iter().flatten().filter_map(|run| run.figures.get(&count)).sum()
}
