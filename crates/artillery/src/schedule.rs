//! When is arrival n planned? Pure functions; nothing here waits.
//!
//! A ramp is read as Artillery reads it: in second t (from 0) of a phase of d seconds the rate is
//! `from + (to − from)·t/(d − 1)`. Arrival n of N falls where the area under the rate reaches n/N of the whole, so
//! arrivals are spread to the nanosecond and the N-th falls on the phase's end. Both load models are one list of
//! [`Arrival`]s: a closed model's users merely carry the instant until which they iterate.

use fastrand::Rng;
use sonagi_measure::At;
use std::time::Duration;

mod window;

const SECOND_NS: f64 = 1e9;

/// Poisson arrivals are counted before the run, by drawing them all, up to so many: a third of a second's work.
const MOST_DRAWN: f64 = 1e7;

/// The load model of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Users arrive when planned, whatever the target does (Artillery's phases).
    Open {
        /// The phases, one after the other.
        phases: Vec<Phase>,
        /// How arrivals are spread within a phase.
        spacing: Spacing,
    },
    /// A population of users iterates its scenario again and again.
    Closed {
        /// The stages, one after the other.
        stages: Vec<Stage>,
    },
}

/// How arrivals are spread over a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal shares of the area under the rate between neighbours.
    Even,
    /// Exponential gaps with the phase's rate as intensity, from the run's seed.
    Poisson,
}

/// A stretch of an open run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The script's name for it.
    pub name: Option<String>,
    /// Its length.
    pub duration: Duration,
    /// How many arrivals, and how they are distributed.
    pub shape: Shape,
    /// At most this many users at once; arrivals over it are skipped.
    pub max_users: Option<u64>,
}

/// The number of arrivals of a phase and their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Arrivals per second, constant (`from == to`) or ramping second by second.
    Rate {
        /// In the first second.
        from: f64,
        /// In the last second.
        to: f64,
    },
    /// This many arrivals, evenly over the phase.
    Count(u64),
    /// Nobody arrives.
    Pause,
}

/// A stretch of a closed run: the population moves linearly from `from` (default: where the last stage ended, 0 at
/// first) to `users`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The script's name for it.
    pub name: Option<String>,
    /// Its length.
    pub duration: Duration,
    /// The population jumps here at the stage's start.
    pub from: Option<u64>,
    /// The population at the stage's end.
    pub users: u64,
}

/// A user's planned start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Position in the schedule, from 0.
    pub number: u64,
    /// When it is planned.
    pub at: At,
    /// Index of its phase or stage.
    pub phase: usize,
    /// Closed model: iterate until then. None: one pass through the flow.
    pub until: Option<At>,
}

impl Load {
    /// All arrivals in planned order. The same seed gives the same list.
    pub fn arrivals(&self, seed: u64) -> Box<dyn Iterator<Item = Arrival> + '_> {
        match self {
            Load::Open { phases, spacing } => Box::new(open(phases, *spacing, seed).enumerate().map(number)),
            Load::Closed { stages } => Box::new(closed(stages).into_iter().enumerate().map(number)),
        }
    }

    /// How many arrivals there are. None for a closed run, whose users iterate as often as they can, and for one of so
    /// many Poisson arrivals that only drawing them would tell (about ten million).
    pub fn planned(&self, seed: u64) -> Option<u64> {
        match self {
            Load::Open { phases, spacing: Spacing::Even } => {
                Some(phases.iter().map(|phase| RateCurve::of(phase).count()).sum())
            }
            Load::Open { phases, .. } => {
                let expected: f64 = phases.iter().map(|phase| RateCurve::of(phase).total()).sum();
                (expected <= MOST_DRAWN).then(|| self.arrivals(seed).count() as u64)
            }
            Load::Closed { .. } => None,
        }
    }

    /// When the last phase ends, from the run's start.
    pub fn end(&self) -> At {
        self.boundaries().last().map_or(At(0), |(end, _)| *end)
    }

    /// The end and the name of each phase or stage, in order.
    pub fn boundaries(&self) -> Vec<(At, Option<String>)> {
        let mut end = At(0);
        let mut advance = |duration: Duration, name: &Option<String>| {
            end = end.plus(nanos(duration));
            (end, name.clone())
        };
        match self {
            Load::Open { phases, .. } => phases.iter().map(|p| advance(p.duration, &p.name)).collect(),
            Load::Closed { stages } => stages.iter().map(|s| advance(s.duration, &s.name)).collect(),
        }
    }

    /// The largest population a closed run asks for; None for an open one, which asks for arrivals.
    pub fn population(&self) -> Option<u64> {
        match self {
            Load::Open { .. } => None,
            Load::Closed { stages } => stages.iter().map(|s| s.users.max(s.from.unwrap_or(0))).max(),
        }
    }

    /// How many users may be active at once in this phase; None: no limit.
    pub fn max_users(&self, phase: usize) -> Option<u64> {
        match self {
            Load::Open { phases, .. } => phases.get(phase).and_then(|p| p.max_users),
            Load::Closed { .. } => None,
        }
    }
}

fn number((number, arrival): (usize, Arrival)) -> Arrival {
    Arrival { number: number as u64, ..arrival }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

fn open(phases: &[Phase], spacing: Spacing, seed: u64) -> impl Iterator<Item = Arrival> + '_ {
    let mut start = At(0);
    phases.iter().enumerate().flat_map(move |(phase, what)| {
        let began = start;
        start = start.plus(nanos(what.duration));
        let offsets: Box<dyn Iterator<Item = f64>> = match spacing {
            Spacing::Even => Box::new(even(RateCurve::of(what))),
            Spacing::Poisson => Box::new(poisson(RateCurve::of(what), seed.wrapping_add(phase as u64))),
        };
        offsets.map(move |seconds| Arrival {
            number: 0,
            at: began.plus((seconds * SECOND_NS).round() as i64),
            phase,
            until: None,
        })
    })
}

/// Offsets in seconds: the n-th of N where the area reaches n/N of the whole.
fn even(mut curve: RateCurve) -> impl Iterator<Item = f64> {
    let count = curve.count();
    let share = curve.total() / (count as f64);
    (1..=count).map(move |n| curve.reach(n as f64 * share))
}

/// A Poisson process of the curve's intensity, by time change of a unit-rate one.
fn poisson(mut curve: RateCurve, seed: u64) -> impl Iterator<Item = f64> {
    let mut rng = Rng::with_seed(seed);
    let total = curve.total();
    let mut area = 0.0;
    std::iter::from_fn(move || {
        area += -(1.0 - rng.f64()).ln();
        (area < total).then(|| curve.reach(area))
    })
}

/// A rate that is constant within each second, and how far along it we are.
struct RateCurve {
    from: f64,
    to: f64,
    seconds: f64,
    /// The whole second we are in and the area before it.
    second: u64,
    area: f64,
}

impl RateCurve {
    fn of(phase: &Phase) -> RateCurve {
        let seconds = phase.duration.as_secs_f64();
        let (from, to) = match phase.shape {
            Shape::Rate { from, to } => (from, to),
            Shape::Count(count) if seconds > 0.0 => (count as f64 / seconds, count as f64 / seconds),
            Shape::Count(_) | Shape::Pause => (0.0, 0.0),
        };
        RateCurve { from, to, seconds, second: 0, area: 0.0 }
    }

    fn rate(&self, second: u64) -> f64 {
        let steps = self.seconds.ceil() - 1.0;
        if steps < 1.0 {
            return (self.from + self.to) / 2.0;
        }
        self.from + (self.to - self.from) * (second as f64) / steps
    }

    /// Length of a second: the last one of a phase may be cut short.
    fn width(&self, second: u64) -> f64 {
        (self.seconds - second as f64).clamp(0.0, 1.0)
    }

    fn total(&self) -> f64 {
        (0..self.seconds.ceil() as u64).map(|second| self.rate(second) * self.width(second)).sum()
    }

    /// Arrivals, evenly spaced.
    fn count(&self) -> u64 {
        self.total().round() as u64
    }

    /// The offset at which the area under the rate reaches `area`; areas must be asked in rising order.
    fn reach(&mut self, area: f64) -> f64 {
        let last = (self.seconds.ceil() as u64).saturating_sub(1);
        loop {
            let piece = self.rate(self.second) * self.width(self.second);
            if self.second >= last || area <= self.area + piece {
                let within = (area - self.area) / self.rate(self.second);
                let offset = self.second as f64 + if within.is_finite() { within } else { 0.0 };
                return offset.clamp(0.0, self.seconds);
            }
            self.area += piece;
            self.second += 1;
        }
    }
}

/// Users start when the rising population passes them and stop, last come first gone, when the falling one does.
fn closed(stages: &[Stage]) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut active: Vec<usize> = Vec::new();
    let mut start = At(0);
    let mut population = 0;
    for (phase, stage) in stages.iter().enumerate() {
        let length = nanos(stage.duration);
        let from = stage.from.unwrap_or(population);
        let jump = |_: u64| start;
        move_population(&mut arrivals, &mut active, phase, from, jump);
        let distance = from.abs_diff(stage.users) as f64;
        let ramp = |step: u64| start.plus((step as f64 / distance * length as f64) as i64);
        move_population(&mut arrivals, &mut active, phase, stage.users, ramp);
        population = stage.users;
        start = start.plus(length);
    }
    for user in active {
        arrivals[user].until = Some(start);
    }
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

/// Grows or shrinks the population to `target`; `at(step)` is when its step-th change falls.
fn move_population(
    arrivals: &mut Vec<Arrival>,
    active: &mut Vec<usize>,
    phase: usize,
    target: u64,
    at: impl Fn(u64) -> At,
) {
    let before = active.len() as u64;
    for step in 0..target.saturating_sub(before) {
        active.push(arrivals.len());
        arrivals.push(Arrival { number: 0, at: at(step), phase, until: None });
    }
    for step in 1..=before.saturating_sub(target) {
        if let Some(user) = active.pop() {
            arrivals[user].until = Some(at(step));
        }
    }
}

#[cfg(test)]
mod tests;
