//! How much two sides differ in one figure, and how sure that is.
//!
//! The unit is the run: the million requests of a run share its machine, its caches and its luck, so that they are one
//! observation of "how fast is it". Figures that are times or rates are compared by the ratio of their geometric means,
//! with Welch's interval on the logarithms; shares (of deliveries, of failures) by the difference of their means, as a
//! share that is 0 or 1 has no logarithm. Kalibera and Jones, "Rigorous benchmarking in reasonable time" (2013), is
//! where ratios with intervals over runs come from; `examples/intervals.rs` is the simulation by which Student's
//! interval was chosen over BCa's bootstrap (docs/compare.md has its table).

use distrs::StudentsT;

/// The quantile of Student's distribution at which a two-sided interval of 95 % ends.
const TWO_SIDED: f64 = 0.975;
/// How sure a change of the size that "could have been seen" is to be seen.
const POWER: f64 = 0.9;
/// How sure so many runs as are advised are to decide.
const CHANCE: f64 = 0.8;
/// No more runs a side than these are advised.
pub const RUNS_AT_MOST: usize = 200;

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// B over A; 1 is no change.
    Ratio,
    /// B minus A; 0 is no change. For shares from 0 to 1.
    Difference,
}

/// How much B differs from A.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Effect {
    /// The scale of all the others.
    pub scale: Scale,
    /// B against A.
    pub estimate: f64,
    /// The 95 % interval; None with fewer than two runs a side.
    pub interval: Option<(f64, f64)>,
    /// How likely a difference at least so large is between equal systems; None without an interval.
    pub p: Option<f64>,
    /// The smallest change that so many runs, varying so much, show nine times in ten; None without an interval.
    pub detectable: Option<f64>,
    /// Standard deviation of a run, of both sides together, as a part of its value (ratios) or as it is (shares).
    pub spread: Option<f64>,
}

impl Scale {
    /// The figure where equal changes are equally far apart; not finite where it has no place on the scale.
    pub(super) fn even(self, figure: f64) -> f64 {
        match self {
            Scale::Ratio => figure.ln(),
            Scale::Difference => figure,
        }
    }

    fn back(self, even: f64) -> f64 {
        match self {
            Scale::Ratio => even.exp(),
            Scale::Difference => even,
        }
    }

    /// The mean of runs: the geometric one of ratios.
    pub(super) fn mean(self, figures: &[f64]) -> f64 {
        self.back(figures.iter().map(|figure| self.even(*figure)).sum::<f64>() / figures.len() as f64)
    }
}

/// A side's runs where the scale is even.
struct Sample {
    mean: f64,
    /// Of a run, unbiased; 0 with one run.
    variance: f64,
    runs: f64,
}

impl Sample {
    fn of(scale: Scale, figures: &[f64]) -> Option<Sample> {
        let even: Vec<f64> = figures.iter().map(|figure| scale.even(*figure)).collect();
        if even.is_empty() || even.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let runs = even.len() as f64;
        let mean = even.iter().sum::<f64>() / runs;
        let squares: f64 = even.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = if even.len() > 1 { squares / (runs - 1.0) } else { 0.0 };
        Some(Sample { mean, variance, runs })
    }
}

/// Compares the runs of two sides in one figure; None where a run's figure has no place on the scale.
pub fn effect(scale: Scale, a: &[f64], b: &[f64]) -> Option<Effect> {
    let (a, b) = (Sample::of(scale, a)?, Sample::of(scale, b)?);
    let change = b.mean - a.mean;
    let estimate = scale.back(change);
    if a.runs < 2.0 || b.runs < 2.0 {
        return Some(Effect { scale, estimate, interval: None, p: None, detectable: None, spread: None });
    }
    let (of_a, of_b) = (a.variance / a.runs, b.variance / b.runs);
    let error = (of_a + of_b).sqrt();
    let pooled = (a.variance * (a.runs - 1.0) + b.variance * (b.runs - 1.0)) / (a.runs + b.runs - 2.0);
    // Welch–Satterthwaite. Runs that are all equal leave no doubt, and nothing to divide by.
    let freedom = match error > 0.0 {
        true => (of_a + of_b).powi(2) / (of_a.powi(2) / (a.runs - 1.0) + of_b.powi(2) / (b.runs - 1.0)),
        false => a.runs + b.runs - 2.0,
    };
    let half = StudentsT::ppf(TWO_SIDED, freedom) * error;
    let p = match error > 0.0 {
        true => 2.0 * StudentsT::cdf(-(change / error).abs(), freedom),
        false if change == 0.0 => 1.0,
        false => 0.0,
    };
    Some(Effect {
        scale,
        estimate,
        interval: Some((scale.back(change - half), scale.back(change + half))),
        p: Some(p),
        detectable: Some(scale.back(half + StudentsT::ppf(POWER, freedom) * error)),
        spread: Some(pooled.sqrt()),
    })
}

/// The 95 % interval of the mean of these runs (Student); None with fewer than two, or where one has no place on the
/// scale.
pub fn interval_of_mean(scale: Scale, figures: &[f64]) -> Option<(f64, f64)> {
    let runs = Sample::of(scale, figures).filter(|sample| sample.runs >= 2.0)?;
    let half = StudentsT::ppf(TWO_SIDED, runs.runs - 1.0) * (runs.variance / runs.runs).sqrt();
    Some((scale.back(runs.mean - half), scale.back(runs.mean + half)))
}

/// How far a later run of one system is from its runs before: what the machine did meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Drift {
    /// The scale of the others.
    pub scale: Scale,
    /// The later run against the mean of those before.
    pub estimate: f64,
    /// Where one more run of the same system lies nineteen times in twenty; None with fewer than two before.
    pub expected: Option<(f64, f64)>,
}

impl Drift {
    /// Whether the later run lies where one of twenty would by chance.
    pub fn is_seen(&self) -> bool {
        self.expected.is_some_and(|(low, high)| self.estimate < low || self.estimate > high)
    }
}

/// The drift between runs of one system and one that was made after all others; None where a figure has no place on the
/// scale.
pub fn drift(scale: Scale, before: &[f64], later: f64) -> Option<Drift> {
    let (before, later) = (Sample::of(scale, before)?, Sample::of(scale, &[later])?);
    let expected = (before.runs >= 2.0).then(|| {
        let error = (before.variance * (1.0 + 1.0 / before.runs)).sqrt();
        let half = StudentsT::ppf(TWO_SIDED, before.runs - 1.0) * error;
        (scale.back(-half), scale.back(half))
    });
    Some(Drift { scale, estimate: scale.back(later.mean - before.mean), expected })
}

/// What more runs are to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// That there is a change.
    Different {
        /// Its size where the scale is even.
        change: f64,
        /// How much of it lies beyond the margin.
        beyond: f64,
        /// How unlikely so large a difference between equal systems must be to be told.
        level: f64,
    },
    /// That there is none that matters: the change lies so far inside the margin.
    Same {
        /// From the change to the nearer end of the margin.
        inside: f64,
    },
}

/// How many runs a side decide with a chance of 80 %, where runs vary by `spread`; None: more than [`RUNS_AT_MOST`].
///
/// The quantile of the level and that of the chance are added, as is usual for t-tests: of few runs it is a run or two
/// too optimistic. A change just beyond the margin needs many: each comparison must show it there, and not only that
/// there is one.
pub fn runs_needed(spread: f64, decision: Decision) -> Option<usize> {
    (2..=RUNS_AT_MOST).find(|runs| {
        let freedom = 2.0 * (*runs as f64 - 1.0);
        let error = spread * (2.0 / *runs as f64).sqrt();
        let at = |quantile: f64| StudentsT::ppf(quantile, freedom) * error;
        match decision {
            Decision::Different { change, beyond, level } => {
                at(1.0 - level / 2.0) + at(CHANCE) <= change && at(CHANCE) <= beyond
            }
            // Both ends of the interval must lie inside, and each may miss.
            Decision::Same { inside } => at(TWO_SIDED) + at(f64::midpoint(1.0, CHANCE)) <= inside,
        }
    })
}

/// What one of several comparisons is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrected {
    /// Its `p` as one of them.
    pub p: f64,
    /// Of how many it counts as one: it is held against a level so many times as strict.
    pub of: usize,
}

/// Holm's step-down: what each of several `p` is worth when one of them had to come first by chance (Holm 1979).
pub fn holm(p: &[f64]) -> Vec<Corrected> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut corrected = vec![Corrected { p: 1.0, of: 1 }; p.len()];
    let mut at_least: f64 = 0.0;
    for (before, at) in order.into_iter().enumerate() {
        let of = p.len() - before;
        at_least = at_least.max(p[at] * of as f64).min(1.0);
        corrected[at] = Corrected { p: at_least, of };
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-3, "{got} instead of {expected}");
    }

    #[test]
    fn a_ratio_has_the_interval_that_welchs_test_on_logarithms_gives() {
        // SciPy: ttest_ind(log(b), log(a), equal_var=False), its p-value and exp of its confidence interval.
        let a = [10.0, 11.0, 9.5, 10.5, 10.2];
        let b = [12.0, 12.5, 11.0, 13.0, 12.2];
        let effect = effect(Scale::Ratio, &a, &b).unwrap();
        near(effect.estimate, 1.185_158);
        let (low, high) = effect.interval.unwrap();
        near(low, 1.088_005);
        near(high, 1.290_987);
        near(effect.p.unwrap(), 0.001_846_6);
    }

    #[test]
    fn a_share_is_compared_by_its_difference_and_equal_runs_leave_no_doubt() {
        let same = effect(Scale::Difference, &[1.0; 5], &[1.0; 5]).unwrap();
        assert_eq!((same.estimate, same.interval, same.p), (0.0, Some((0.0, 0.0)), Some(1.0)));
        let lost = effect(Scale::Difference, &[1.0; 5], &[0.5; 5]).unwrap();
        assert_eq!((lost.estimate, lost.p), (-0.5, Some(0.0)));
    }

    #[test]
    fn a_mean_has_students_interval_on_logarithms() {
        // exp(mean ± t · s / √5) of the logarithms, t = 2.776 at four degrees of freedom.
        let (low, high) = interval_of_mean(Scale::Ratio, &[10.0, 11.0, 9.5, 10.5, 10.2]).unwrap();
        near(low, 9.556_6);
        near(high, 10.946);
        assert_eq!(interval_of_mean(Scale::Ratio, &[10.0]), None);
    }

    #[test]
    fn drift_is_seen_where_one_more_run_would_hardly_ever_lie() {
        let before = [10.0, 11.0, 9.5, 10.5, 10.2];
        let inside = drift(Scale::Ratio, &before, 11.0).unwrap();
        assert!(!inside.is_seen(), "{inside:?}");
        let beyond = drift(Scale::Ratio, &before, 13.0).unwrap();
        near(beyond.estimate, 1.271_05);
        near(beyond.expected.unwrap().1, 1.180_87);
        assert!(beyond.is_seen(), "{beyond:?}");
        let single = drift(Scale::Ratio, &[10.0], 20.0).unwrap();
        near(single.estimate, 2.0);
        assert!(!single.is_seen(), "{single:?}");
        assert_eq!(drift(Scale::Ratio, &before, 0.0), None);
    }

    #[test]
    fn one_run_a_side_has_a_ratio_and_no_interval() {
        let pair = effect(Scale::Ratio, &[10.0], &[12.0]).unwrap();
        near(pair.estimate, 1.2);
        assert_eq!((pair.interval, pair.p, pair.detectable), (None, None, None));
    }

    #[test]
    fn what_is_not_positive_has_no_ratio() {
        assert_eq!(effect(Scale::Ratio, &[0.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(effect(Scale::Ratio, &[], &[1.0]), None);
    }

    #[test]
    fn so_many_runs_as_are_advised_decide_four_times_in_five() {
        assert_eq!(runs_needed(0.05, Decision::Same { inside: 0.0488 }), Some(24));
        let change = |level| Decision::Different { change: 0.0953, beyond: 0.0465, level };
        // A t-test's power tables: six a side for twice a standard deviation at 5 % and 80 %.
        assert_eq!(runs_needed(0.05, change(0.05)), Some(6));
        assert_eq!(runs_needed(0.05, change(0.05 / 10.0)), Some(10));
        assert_eq!(runs_needed(1.0, Decision::Same { inside: 0.01 }), None);
    }

    #[test]
    fn a_change_just_beyond_the_margin_needs_more_runs_than_to_tell_it_from_none() {
        let needed = |beyond| runs_needed(0.05, Decision::Different { change: 0.06, beyond, level: 0.05 });
        assert!(needed(0.01) > needed(0.06), "{:?} and {:?}", needed(0.01), needed(0.06));
    }

    #[test]
    fn the_first_of_several_counts_as_often_as_there_are_and_none_less_than_the_one_before() {
        let of = |p: &[f64]| holm(p).iter().map(|one| (one.p, one.of)).collect::<Vec<_>>();
        assert_eq!(of(&[0.01, 0.04, 0.03]), [(0.03, 3), (0.06, 1), (0.06, 2)]);
        assert_eq!(of(&[0.5, 0.9]), [(1.0, 2), (1.0, 1)]);
    }
}
