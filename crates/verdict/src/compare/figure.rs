//! Which figures of runs are compared, and which way is better.

use super::observation::Observation;
use super::{Judgement, Question, Scale};
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
/// The quantiles of a distribution that are compared.
const QUANTILES: [&str; 3] = ["p50", "p95", "p99"];

impl Figure {
    /// What a name tells of the figure that it names.
    pub fn named(name: &str) -> Figure {
        let last = name.rsplit('.').next().unwrap_or(name);
        // k6's own rates: the shares of requests that failed, and of checks that held.
        let is_rate_of = |metric: &str| name.strip_suffix(".rate").is_some_and(|of| of.starts_with(metric));
        let direction =
            if name.starts_with("errors.") || FAULTS.contains(&last) || is_rate_of("http_req_failed") {
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

    /// Its value in a run.
    pub fn of(&self, run: &Observation) -> Option<f64> {
        run.figures.get(&self.name).copied()
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

/// The figures that are compared, the primary one first, and the names asked for that not every run has. A primary
/// figure that is missing leaves none: nothing else may decide in its place.
pub fn chosen(sides: &[Vec<&Observation>; 2], question: &Question) -> (Vec<Figure>, Vec<String>) {
    let common = common(sides);
    let is_missing = |name: &&String| !common.contains(name.as_str());
    let missing = question.primary.iter().chain(&question.metrics).filter(is_missing).cloned().collect();
    let usual = usual(&common);
    let primary = match &question.primary {
        Some(name) => common.get(name.as_str()).copied(),
        None => usual.first().copied(),
    };
    let Some(primary) = primary else { return (Vec::new(), missing) };
    let asked = question.metrics.iter().filter_map(|name| common.get(name.as_str()).copied());
    let names = std::iter::once(primary).chain(asked).chain(usual.into_iter().take(FIGURES_AT_MOST));
    let mut seen = BTreeSet::new();
    let names = names.filter(|name| seen.insert(*name));
    (names.map(Figure::named).collect(), missing)
}

/// The names that every run has.
fn common<'a>(sides: &[Vec<&'a Observation>; 2]) -> BTreeSet<&'a str> {
    let mut runs = sides.iter().flatten();
    let Some(first) = runs.next() else { return BTreeSet::new() };
    let names = first.figures.keys().map(String::as_str);
    let rest: Vec<_> = runs.collect();
    names.filter(|name| rest.iter().all(|run| run.figures.contains_key(*name))).collect()
}

/// What one looks at when nothing is asked for, the most telling first: deliveries, then operations by name, then what
/// is left of the whole.
fn usual<'a>(common: &BTreeSet<&'a str>) -> Vec<&'a str> {
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
        names.extend(of("kinds.", &|name| name.ends_with("response_ms.p99")));
    }
    names.extend(of("delivery.latency_ms.", &|name| quantile("latency_ms", name)));
    names.extend(of("delivery.ratio", &|_| true));
    names.extend(of("failed_share", &|_| true));
    names.extend(of("operations_per_s", &|_| true));
    names.extend(of("operations.", &|name| quantile("response_ms", name)));
    if names.is_empty() {
        // What another tool told of a run of its own.
        names.extend(of("", &|name| {
            is_time(name) && name.rsplit('.').next().is_some_and(|last| QUANTILES.contains(&last))
        }));
        names.sort_by_key(|name| !name.ends_with("p99") && !name.ends_with("p95"));
    }
    names
}
