//! The highest load that a target holds: a search after MLRsearch (RFC 9971), as a pure state machine.
//!
//! A load is a whole number of whatever is varied: arrivals per second, users, a variable of the script. Who carries
//! out the trials asks [`Search::next`] for one after the other and enters what each came to. A load is a *lower
//! bound* or an *upper bound* as the specification classifies it, from all its trials of full length ([`bounds`]); the
//! relevant upper bound is the smallest, the relevant lower bound the greatest below it.
//!
//! Two decisions a reader would question. A trial is good or bad by an expression, which is no loss ratio: a bad trial
//! counts as one whose loss is too high, whatever it lost, as p99 < 300 ms has no share that could be compared. The
//! rate that it achieved is used where the specification's own is: as a hint where to look next, and for the
//! conditional throughput. And the search climbs from the lowest load instead of beginning at the highest: a service
//! that is driven five times beyond its limit may not come back for minutes, which costs more than the trials that this
//! saves.
//!
//! | stage | next trial | ends |
//! |---|---|---|
//! | climb | short, at four times the load before | at a miss, or at the top of the range |
//! | narrow | short, longer from four widths on: at the rate achieved, or halfway | the middle is known |
//! | confirm | of full length: the lower end until decided, then the upper | both ends are decided |

pub mod bounds;
mod events;
#[cfg(test)]
mod tests;
mod trial;

pub use bounds::{Bound, Class};
pub use events::{Need, needs};
use trial::LastOutcome;
pub use trial::{Outcome, Trial};

/// What is searched, and how sure it must be.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Goal {
    /// The lowest load.
    pub from: u64,
    /// The highest load.
    pub to: u64,
    /// The widest bracket, as a share of its upper end.
    pub width: f64,
    /// Seconds of the first trials.
    pub initial_s: f64,
    /// Seconds of a trial of full length.
    pub final_s: f64,
    /// Seconds of trials of full length that decide a load, if they do not agree sooner.
    pub duration_sum_s: f64,
    /// The share of them that may be bad at a load that holds.
    pub exceed_ratio: f64,
}

impl Goal {
    /// The goal with trials of this length: three good ones of full length make a lower bound, two bad ones an upper.
    pub fn of(from: u64, to: u64, width: f64, final_s: f64) -> Goal {
        let (initial_s, duration_sum_s) = (final_s / 3.0, final_s * 4.0);
        Goal { from, to, width, initial_s, final_s, duration_sum_s, exceed_ratio: 0.3 }
    }

    /// Seconds of a trial between the first ones and those of full length.
    fn middle_s(&self) -> f64 {
        (self.initial_s * self.final_s).sqrt()
    }

    /// Whether nothing is left to be searched between two loads.
    fn is_narrow(&self, low: u64, high: u64) -> bool {
        high <= low + 1 || gap(low, high) <= self.width + 1e-9
    }
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A trial.
    Run {
        /// Its load.
        load: u64,
        /// Its length.
        seconds: f64,
    },
    /// Nothing.
    Over(End),
}

/// Why a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The bracket is as narrow as was asked for.
    Bracket,
    /// The highest load of the range holds.
    AtLeast,
    /// The lowest load of the range does not hold.
    Below,
    /// The generator cannot do more.
    Generator,
    /// The time was used up.
    Budget,
    /// Trials were too short to assert the expression, and cannot be longer.
    TooFewEvents,
    /// The target did not come back to its lowest load after a trial.
    NotRecovered,
    /// Somebody stopped it.
    Interrupted,
    /// A trial could not be carried out.
    CouldNotRun,
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct Search {
    goal: Goal,
    /// The least load times seconds of a trial of full length: it must have so many events that it can assert the
    /// expression.
    offered: f64,
    /// The least length of such a trial, whatever its load.
    least_s: f64,
    trials: Vec<Trial>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Climb {
        /// The highest load that held.
        held: Option<u64>,
        at: u64,
    },
    Narrow {
        low: u64,
        high: u64,
        /// The rate that the target achieved at the high load.
        hint: Option<f64>,
        /// It was the generator that fell behind at the high load.
        is_generators: bool,
    },
    Confirm {
        low: u64,
        /// None: nothing above it is to be confirmed.
        high: Option<u64>,
        /// How many widths the next end lies away, should one of these two turn out to be the other one's.
        widths: f64,
        is_generators: bool,
    },
    Over(End),
}

/// The search below a load that the generator cannot do ends when it is as near as this: more would not be the target's
/// number.
const NEAR_THE_GENERATOR: f64 = 0.2;
/// The share of the width that a bracket's middle may lie beside what the target achieved.
const MIDDLE: f64 = 0.2;
/// The share of the width within which the limit must be known before a bracket is laid around it: with half of it, its
/// ends were taken for each other in seven of a hundred simulated searches, with a quarter in two.
const FOUND: f64 = 0.25;
/// How many times the load that held the next one is, as long as none has failed.
const CLIMB: u64 = 4;
/// A trial that was a little shorter than meant is of full length all the same.
const FULL: f64 = 0.98;
/// So many trials at a load must have had an unreliable generator before it counts as its limit.
const UNRELIABLE: usize = 2;

/// The distance of two loads, as a share of the higher one.
fn gap(low: u64, high: u64) -> f64 {
    1.0 - low as f64 / high as f64
}

/// The geometric mean.
fn halfway(low: u64, high: u64) -> f64 {
    (low as f64 * high as f64).sqrt()
}

impl Search {
    /// Nothing has been tried yet.
    pub fn new(goal: Goal) -> Search {
        let stage = Stage::Climb { held: None, at: goal.from };
        Search { goal, offered: 0.0, least_s: 0.0, trials: Vec::new(), stage }
    }

    /// The goal.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// All trials, in their order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// A trial of full length has at least so much load times seconds; a smaller demand than before has no effect.
    pub fn require(&mut self, offered: f64) {
        self.offered = self.offered.max(offered);
        self.settle();
    }

    /// A trial of full length has at least so many seconds, where events do not come in proportion to the load.
    pub fn require_s(&mut self, seconds: f64) {
        self.least_s = self.least_s.max(seconds);
        self.settle();
    }

    /// Seconds of a trial of full length at a load: longer where few events come in a second.
    pub fn full_s(&self, load: u64) -> f64 {
        self.goal.final_s.max(self.least_s).max(self.offered / load.max(1) as f64)
    }

    /// Whether a trial is of full length.
    pub fn is_full(&self, trial: &Trial) -> bool {
        trial.seconds >= FULL * self.full_s(trial.load)
    }

    /// Whether the next trial is to confirm a load: one of full length, also where all trials are.
    pub fn is_confirming(&self) -> bool {
        matches!(self.stage, Stage::Confirm { .. })
    }

    /// What is to be done next.
    pub fn next(&self) -> Step {
        match self.stage {
            Stage::Over(end) => Step::Over(end),
            Stage::Climb { at, .. } => Step::Run { load: at, seconds: self.goal.initial_s },
            Stage::Narrow { low, high, hint, .. } => {
                let is_near = gap(low, high) <= 4.0 * self.goal.width && hint.is_none();
                let seconds = if is_near { self.goal.middle_s() } else { self.goal.initial_s };
                Step::Run { load: self.between(low, high, hint), seconds }
            }
            Stage::Confirm { low, high, .. } => {
                let load = match high {
                    Some(high) if self.class(low) == Class::Lower => high,
                    _ => low,
                };
                Step::Run { load, seconds: self.full_s(load) }
            }
        }
    }

    /// A trial is over.
    pub fn enter(&mut self, trial: Trial) {
        self.trials.push(trial);
        if trial.outcome == Outcome::Stolen {
            return;
        }
        let at_load = |other: &&Trial| other.load == trial.load && other.outcome == Outcome::Unreliable;
        let is_generators = trial.outcome == Outcome::Unreliable;
        // Once may have been chance: it is tried again.
        if is_generators && self.trials.iter().filter(at_load).count() < UNRELIABLE {
            return;
        }
        match self.stage {
            Stage::Climb { held, at } if at == trial.load => self.climbed(held, trial),
            Stage::Narrow { low, high, hint, is_generators } => {
                self.narrowed((low, high), hint, is_generators, trial);
            }
            Stage::Confirm { low, .. } if is_generators && trial.load == low => {
                let held = self.trials.iter().filter(|it| it.outcome == Outcome::Held && it.load < low);
                self.stage = match held.map(|it| it.load).max() {
                    Some(below) => Stage::Narrow { low: below, high: low, hint: None, is_generators },
                    None => Stage::Over(End::Generator),
                };
            }
            Stage::Confirm { .. } if is_generators => self.stage = Stage::Over(End::Generator),
            _ => {}
        }
        self.settle();
    }

    fn climbed(&mut self, held: Option<u64>, trial: Trial) {
        let Trial { load: at, outcome, achieved, .. } = trial;
        let confirm = Stage::Confirm { low: at, high: None, widths: 1.0, is_generators: false };
        self.stage = match (outcome, held) {
            (Outcome::Held, _) if at >= self.goal.to => confirm,
            (Outcome::Held, _) => self.climb_from(at),
            // The lowest load of all: that must be sure.
            (Outcome::Missed, None) => confirm,
            (_, None) => Stage::Over(End::Generator),
            (_, Some(low)) => {
                let is_generators = outcome == Outcome::Unreliable;
                let hint = achieved.filter(|rate| !is_generators && *rate > 0.0);
                Stage::Narrow { low, high: at, hint, is_generators }
            }
        };
    }

    fn climb_from(&self, held: u64) -> Stage {
        Stage::Climb { held: Some(held), at: held.saturating_mul(CLIMB).min(self.goal.to) }
    }

    /// The bracket around a load, as wide as it may be: the load is its middle, where both ends are least likely to be
    /// taken for each other.
    fn around(&self, middle: f64) -> (u64, u64) {
        let low = (middle * (1.0 - self.goal.width / 2.0)).round().max(1.0);
        let high = (low / (1.0 - self.goal.width)).floor();
        (low as u64, (high as u64).max(low as u64 + 1))
    }

    /// The load of the next trial between two.
    fn between(&self, low: u64, high: u64, hint: Option<f64>) -> u64 {
        let middle = match hint.map(|rate| self.around(rate)) {
            Some((below, _)) if low < below => below,
            Some((_, above)) => above,
            None => halfway(low, high).round() as u64,
        };
        middle.clamp(low + 1, (high - 1).max(low + 1))
    }

    fn narrowed(&mut self, (low, high): (u64, u64), hint: Option<f64>, is_generators: bool, trial: Trial) {
        let held = trial.outcome == Outcome::Held;
        let around = hint.map(|rate| self.around(rate));
        // A hint that is refuted is none: the expression fails for another reason than the rate.
        let is_refuted =
            around.is_some_and(|(below, above)| held && trial.load >= above || !held && trial.load <= below);
        let (low, high) = if held { (low.max(trial.load), high) } else { (low, high.min(trial.load)) };
        let is_generators = if held { is_generators } else { trial.outcome == Outcome::Unreliable };
        let hint = hint.filter(|_| !is_refuted && !is_generators);
        self.stage = Stage::Narrow { low, high, hint, is_generators };
    }

    /// Moves on as far as the trials so far allow.
    fn settle(&mut self) {
        // Each round decides an end or widens the bracket; loads are bounded, so it ends.
        for _ in 0..200 {
            let before = self.stage;
            self.stage = match before {
                Stage::Narrow { low, high, hint, is_generators } => {
                    self.narrow((low, high), hint, is_generators)
                }
                Stage::Confirm { low, high, widths, is_generators } => {
                    self.confirm(low, high, widths, is_generators)
                }
                other => other,
            };
            if self.stage == before {
                return;
            }
        }
    }

    fn narrow(&self, (low, high): (u64, u64), hint: Option<f64>, is_generators: bool) -> Stage {
        let stay = Stage::Narrow { low, high, hint, is_generators };
        let confirm = |low, high| Stage::Confirm { low, high, widths: 1.0, is_generators };
        if is_generators {
            let is_near = high <= low + 1 || gap(low, high) <= NEAR_THE_GENERATOR;
            return if is_near { confirm(low, None) } else { stay };
        }
        if let Some((below, above)) = hint.map(|rate| self.around(rate)) {
            return match (below > low, above < high) {
                // The hint lies outside.
                _ if below >= high || above <= low => Stage::Narrow { low, high, hint: None, is_generators },
                (false, false) if self.goal.is_narrow(low, high) => {
                    let (below, above) = self.around(self.achieved(above.min(high)).unwrap_or(high as f64));
                    // Trials were made at these two, which count: a better middle must be worth others.
                    let is_near = below.abs_diff(low) as f64 <= MIDDLE * self.goal.width * low as f64;
                    match is_near {
                        true => confirm(low, Some(high)),
                        false => confirm(below.max(self.goal.from), Some(above.min(self.goal.to))),
                    }
                }
                (false, false) => Stage::Narrow { low, high, hint: None, is_generators },
                _ => stay,
            };
        }
        if high > low + 1 && gap(low, high) > FOUND * self.goal.width {
            return stay;
        }
        let (below, above) = self.around(halfway(low, high));
        confirm(below.clamp(self.goal.from, low), Some(above.clamp(high, self.goal.to.max(high))))
    }

    /// What the target achieved on average in the trials that failed from this load on, if it achieved anything; None:
    /// no such trial tells where its limit is.
    fn achieved(&self, from: u64) -> Option<f64> {
        let failed = self.trials.iter().filter(|it| it.outcome == Outcome::Missed && it.load >= from);
        let achieved: Vec<f64> =
            failed.filter_map(|trial| trial.achieved).filter(|rate| *rate > 0.0).collect();
        (!achieved.is_empty()).then(|| achieved.iter().sum::<f64>() / achieved.len() as f64)
    }

    fn confirm(&self, low: u64, high: Option<u64>, widths: f64, is_generators: bool) -> Stage {
        let goal = &self.goal;
        let confirm =
            |low, high| Stage::Confirm { low, high: Some(high), widths: widths * 2.0, is_generators };
        let bounds = self.bounds();
        let step = (goal.width * widths).min(0.5);
        match (self.class(low), high) {
            (Class::Undecided, _) => Stage::Confirm { low, high, widths, is_generators },
            (Class::Upper, _) if low <= goal.from => Stage::Over(End::Below),
            (Class::Upper, _) => {
                let next = ((low as f64 * (1.0 - step)).ceil() as u64).min(low - 1).max(goal.from);
                let known = bounds.lower.map_or(0, |bound| bound.load).min(low - 1);
                confirm(next.max(known), low)
            }
            (Class::Lower, None) if is_generators => Stage::Over(End::Generator),
            (Class::Lower, None) if low >= goal.to => Stage::Over(End::AtLeast),
            (Class::Lower, None) => self.climb_from(low),
            (Class::Lower, Some(high)) => match self.class(high) {
                Class::Undecided => Stage::Confirm { low, high: Some(high), widths, is_generators },
                Class::Lower if high >= goal.to => Stage::Over(End::AtLeast),
                Class::Lower => {
                    let next = ((high as f64 / (1.0 - step)).floor() as u64).max(high + 1).min(goal.to);
                    let known = bounds.upper.map_or(u64::MAX, |bound| bound.load).max(high + 1);
                    confirm(high, next.min(known))
                }
                Class::Upper if goal.is_narrow(low, high) => Stage::Over(End::Bracket),
                Class::Upper => {
                    let nearest = (high as f64 * (1.0 - goal.width)).ceil() as u64;
                    let middle =
                        if gap(low, high) <= 2.0 * goal.width { nearest } else { halfway(low, high) as u64 };
                    confirm(middle.clamp(low + 1, high - 1), high)
                }
            },
        }
    }

    fn class(&self, load: u64) -> Class {
        bounds::class(&self.goal, self.full_s(load), self.at(load), |trial| self.is_full(trial))
    }

    fn at(&self, load: u64) -> impl Iterator<Item = &Trial> + Clone {
        self.trials.iter().filter(move |trial| trial.load == load)
    }

    /// What is known so far.
    pub fn bounds(&self) -> Found {
        let mut loads: Vec<u64> = self.trials.iter().map(|trial| trial.load).collect();
        loads.sort_unstable();
        loads.dedup();
        let of = |load: u64, class| {
            // A short trial counts only where it was bad.
            let counts = |trial: &&Trial| self.is_full(trial) || trial.outcome == Outcome::Missed;
            Bound::of(&self.goal, load, class, self.at(load).filter(counts))
        };
        let upper = loads.iter().copied().find(|load| self.class(*load) == Class::Upper);
        let below = |load: &u64| upper.is_none_or(|upper| *load < upper);
        let lower = loads.iter().copied().filter(below).rfind(|load| self.class(*load) == Class::Lower);
        let last = |load: u64| self.at(load).rfind_outcome();
        let missed = loads
            .iter()
            .copied()
            .find(|load| lower.is_none_or(|lower| *load > lower) && last(*load) == Some(Outcome::Missed));
        let is_held =
            |load: &u64| missed.is_none_or(|missed| *load < missed) && last(*load) == Some(Outcome::Held);
        Found {
            lower: lower.map(|load| of(load, Class::Lower)),
            upper: upper.map(|load| of(load, Class::Upper)),
            held: loads.iter().copied().rfind(is_held),
            missed,
        }
    }
}

/// What is known of a capacity.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Found {
    /// The relevant lower bound.
    pub lower: Option<Bound>,
    /// The relevant upper bound.
    pub upper: Option<Bound>,
    /// The highest load whose last trial held, below the lowest whose did not: no bound, unless it is the lower one.
    pub held: Option<u64>,
    /// The lowest load above the lower bound whose last trial did not hold.
    pub missed: Option<u64>,
}

impl Found {
    /// The width of the bracket, as a share of its upper end.
    pub fn width(&self) -> Option<f64> {
        Some(gap(self.lower.as_ref()?.load, self.upper.as_ref()?.load))
    }
}
