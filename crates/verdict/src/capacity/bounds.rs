//! What the trials at a load make of it: a lower bound, an upper bound, or neither yet (RFC 9971, load classification).
//!
//! A load is decided when no trial still to come could change it. Trials that are shorter than they should be count
//! only where they were bad, and only as far as good ones of the same kind do not make up for them.

use super::{Goal, Outcome, Trial};

/// What a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It holds.
    Lower,
    /// It does not hold.
    Upper,
    /// More trials of full length will say.
    Undecided,
}

/// A load that is decided.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// The load.
    pub load: u64,
    /// How many of the trials that count say so.
    pub agreeing: usize,
    /// How many trials count: those of full length, and shorter ones that were bad.
    pub trials: usize,
    /// The conditional throughput: what the target kept up with in the worst trial that still counts.
    pub throughput: Option<f64>,
}

/// Seconds of trials at a load.
#[derive(Clone, Copy, Debug, Default)]
struct Durations {
    full_good: f64,
    full_bad: f64,
    short_good: f64,
    short_bad: f64,
}

/// Classifies a load by its trials. `full_s` is the length of a full one there: where that is more than the goal's, so
/// is the sum that decides.
pub fn class<'t>(
    goal: &Goal,
    full_s: f64,
    trials: impl Iterator<Item = &'t Trial>,
    is_full: impl Fn(&Trial) -> bool,
) -> Class {
    let mut sum = Durations::default();
    for trial in trials {
        let of = match (trial.outcome, is_full(trial)) {
            (Outcome::Held, true) => &mut sum.full_good,
            (Outcome::Missed, true) => &mut sum.full_bad,
            (Outcome::Held, false) => &mut sum.short_good,
            (Outcome::Missed, false) => &mut sum.short_bad,
            (Outcome::Unreliable | Outcome::Stolen, _) => continue,
        };
        *of += trial.seconds;
    }
    let wanted = goal.duration_sum_s * (full_s / goal.final_s);
    let balanced = sum.short_good * goal.exceed_ratio / (1.0 - goal.exceed_ratio);
    let bad = sum.full_bad + (sum.short_bad - balanced).max(0.0);
    let whole = (sum.full_good + bad).max(wanted);
    let allowed = whole * goal.exceed_ratio + 1e-9;
    if whole - sum.full_good <= allowed {
        Class::Lower
    } else if bad > allowed {
        Class::Upper
    } else {
        Class::Undecided
    }
}

impl Bound {
    /// The bound that the trials that count make of a load.
    pub(super) fn of<'t>(
        goal: &Goal,
        load: u64,
        class: Class,
        counting: impl Iterator<Item = &'t Trial> + Clone,
    ) -> Bound {
        let of = |outcome| counting.clone().filter(|trial| trial.outcome == outcome).count();
        let (held, missed) = (of(Outcome::Held), of(Outcome::Missed));
        let agreeing = if class == Class::Lower { held } else { missed };
        Bound { load, agreeing, trials: held + missed, throughput: throughput(goal, load, counting) }
    }
}

/// What the target kept up with at a load, but for the share of time that may be worse.
fn throughput<'t>(goal: &Goal, load: u64, counting: impl Iterator<Item = &'t Trial>) -> Option<f64> {
    let mut achieved: Vec<(f64, f64)> = counting
        .filter(|trial| trial.outcome.is_of_target())
        .filter_map(|trial| Some((trial.achieved?.min(load as f64), trial.seconds)))
        .collect();
    achieved.sort_by(|one, other| other.0.total_cmp(&one.0));
    let whole: f64 = achieved.iter().map(|(_, seconds)| seconds).sum();
    let mut left = whole * (1.0 - goal.exceed_ratio);
    let mut worst = None;
    for (rate, seconds) in achieved {
        if worst.is_some() && left <= 0.0 {
            break;
        }
        worst = Some(rate);
        left -= seconds;
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_achieved_nothing_counts_for_the_throughput() {
        let goal = Goal::of(10, 1000, 0.05, 20.0);
        let trial = |achieved| Trial { load: 100, seconds: 20.0, outcome: Outcome::Missed, achieved };
        let of = |trials: &[Trial]| throughput(&goal, 100, trials.iter());
        assert_eq!(of(&[trial(Some(90.0)), trial(Some(0.0))]), Some(0.0));
        assert_eq!(
            of(&[trial(Some(90.0)), trial(Some(95.0)), trial(Some(0.0)), trial(Some(97.0))]),
            Some(90.0)
        );
        // What cannot be told in the load's unit says nothing.
        assert_eq!(of(&[trial(Some(90.0)), trial(None)]), Some(90.0));
    }
}
