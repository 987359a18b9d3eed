//! Two sides of runs compared: which is better, by how much, and how sure that is.
//!
//! A figure is BETTER or WORSE when its difference is beyond the margin *and* cannot be told from chance only one time
//! in twenty; SAME when the whole interval lies inside the margin; otherwise the comparison is INCONCLUSIVE, and says
//! how many runs would decide. One figure, the primary one, is named before the runs are looked at and decides alone;
//! the others are corrected for their number by Holm's method. Runs made under different conditions are NOT COMPARABLE,
//! whatever their figures.

mod choice;
mod effect;
mod figure;
mod observation;
#[cfg(test)]
mod tests;
mod warm_up;

pub use choice::{Choice, Drifted, Edge, Group, Tried, Unjudged, choose, drifted};
pub use effect::{
    Corrected, Decision, Drift, Effect, RUNS_AT_MOST, Scale, drift, effect, holm, interval_of_mean,
    runs_needed,
};
pub use figure::{Direction, Figure, Had, chosen};
pub use observation::{Observation, Unsound};
pub use warm_up::{WarmUp, warm_up};

use observation::TOOL;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer runs a side than these decide nothing: with four, one odd run is the interval.
pub const RUNS_AT_LEAST: usize = 5;
/// A difference at least so unlikely between equal systems is told as one.
const SIGNIFICANT: f64 = 0.05;
/// The margin of shares: a tenth of a percentage point. Theirs is not a part of their size, for a service that loses
/// one message of a thousand is not "the same within 5 %" as one that loses none.
const SHARE_MARGIN: f64 = 0.001;

/// What is asked of the two sides.
#[derive(Clone, Debug)]
pub struct Question {
    /// The figure that decides; None: the one that [`chosen`] puts first.
    pub primary: Option<String>,
    /// Figures that are told besides.
    pub metrics: Vec<String>,
    /// A change of a time or a rate that matters in practice: 0.05 is 5 %.
    pub margin: f64,
    /// Conditions that may differ: what was changed on purpose.
    pub across: Vec<String>,
}

/// The runs of one side.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called: `A`, or the name of a baseline.
    pub label: String,
    /// Its runs, in the order in which they were named.
    pub runs: Vec<Observation>,
}

/// The word for a figure, and for the whole by its primary figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// B is better by more than the margin.
    Better,
    /// B is worse by more than the margin.
    Worse,
    /// B is higher by more than the margin, of a figure that is neither better high nor low.
    Higher,
    /// Likewise lower.
    Lower,
    /// Whatever the difference, it is inside the margin.
    Same,
    /// So many runs cannot tell.
    Inconclusive,
    /// The sides were not run under the same conditions, or too few of their runs can be used.
    NotComparable,
}

/// A figure, compared.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Compared {
    /// Its name and what it is.
    #[serde(flatten)]
    pub figure: Figure,
    /// Its value in each run of each side.
    pub runs: [Vec<f64>; 2],
    /// Its mean over the runs of each side: the geometric one for ratios.
    pub means: [f64; 2],
    /// How much the sides differ.
    pub effect: Effect,
    /// What that is worth among the others that were compared (Holm); None without an interval.
    pub adjusted_p: Option<f64>,
    /// The word.
    pub judgement: Judgement,
    /// How many runs a side would decide it four times in five, if it is undecided; None: decided, unknown, or more
    /// than anybody makes.
    pub runs_needed: Option<usize>,
}

/// A condition under which the sides were not run alike.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Mismatch {
    /// `script`, `machine`, `sonagi`, …
    pub what: String,
    /// Its values on each side.
    pub sides: [BTreeSet<String>; 2],
    /// Whether it was said that it may differ.
    pub is_declared: bool,
}

/// A run that is not compared.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LeftOut {
    /// The run.
    pub run: String,
    /// Why its figures say nothing.
    pub why: String,
}

/// What came of it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Comparison {
    /// The whole in a word: that of the primary figure, or that nothing can be compared.
    pub verdict: Judgement,
    /// The sides' labels and how many of their runs were compared.
    pub sides: [(String, usize); 2],
    /// How many of these failed.
    pub failed: [usize; 2],
    /// A change of a time or a rate inside it does not matter.
    pub margin: f64,
    /// The figure that decides; None where the sides have none in common.
    pub primary: Option<Compared>,
    /// The others.
    pub others: Vec<Compared>,
    /// Conditions that differ.
    pub mismatches: Vec<Mismatch>,
    /// Runs that were left out.
    pub left_out: Vec<LeftOut>,
    /// Figures that were asked for and that most runs of a side lack.
    pub missing: Vec<String>,
    /// Figures that are 0 in a run and have no ratio, the primary one first if it is one of them.
    pub without_ratio: Vec<String>,
    /// What was left out of the begins of each side's runs; empty where nobody looked.
    pub warm_ups: [Vec<WarmUp>; 2],
    /// The tools of those runs that are reports: their figures alone are known, and neither distribution nor
    /// conditions.
    pub reports: Vec<String>,
}

/// Compares B with A.
pub fn compare(sides: &[Side; 2], question: &Question) -> Comparison {
    let mut left_out = Vec::new();
    let sound = sides.each_ref().map(|side| sound(&side.runs, &mut left_out));
    let mismatches = mismatches(sides, &question.across);
    let (figures, missing) = chosen(&sound, Had::ByEverySide, question);
    let mut figures = figures.into_iter();
    let mut without_ratio = Vec::new();
    let is_empty = sound.iter().any(Vec::is_empty);
    let mut compared = |figure: Figure| {
        let name = figure.name.clone();
        let compared = compared(figure, &sound, question.margin);
        without_ratio.extend((compared.is_none() && !is_empty).then_some(name));
        compared
    };
    // One that has no place on its scale decides nothing, and nothing else decides in its place.
    let primary = figures.next().and_then(&mut compared);
    let mut others: Vec<Compared> = figures.filter_map(compared).collect();
    correct(&mut others, question.margin);
    let is_comparable = mismatches.iter().all(|mismatch| mismatch.is_declared);
    let failed = sound.each_ref().map(|runs| runs.iter().filter(|run| run.failed).count());
    let has_failed = [0, 1].map(|side| mostly(failed[side], sound[side].len()));
    let verdict = match &primary {
        // A side that refuses at once is fast, and no better.
        Some(_) if is_comparable && has_failed == [false, true] => Judgement::Worse,
        Some(primary) if is_comparable => primary.judgement,
        _ => Judgement::NotComparable,
    };
    let count = |at: usize| (sides[at].label.clone(), sound[at].len());
    Comparison {
        verdict,
        sides: [count(0), count(1)],
        failed,
        margin: question.margin,
        primary,
        others,
        mismatches,
        left_out,
        missing,
        without_ratio,
        reports: sound.iter().flatten().filter_map(|run| run.conditions.get(TOOL).cloned()).collect(),
        warm_ups: sound.each_ref().map(|side| side.iter().filter_map(|run| run.warm_up).collect()),
    }
}

/// Whether more than half of so many runs are these.
fn mostly(these: usize, of: usize) -> bool {
    2 * these > of
}

/// The runs whose figures say something of the target.
fn sound<'a>(runs: &'a [Observation], left_out: &mut Vec<LeftOut>) -> Vec<&'a Observation> {
    let (sound, not): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.unsound.is_none());
    left_out.extend(
        not.into_iter()
            .filter_map(|run| Some(LeftOut { run: run.name.clone(), why: run.unsound?.why().to_owned() })),
    );
    sound
}

/// The conditions that not all runs of both sides have in common.
fn mismatches(sides: &[Side; 2], across: &[String]) -> Vec<Mismatch> {
    let of = |side: &Side| {
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (what, value) in side.runs.iter().flat_map(|run| &run.conditions) {
            values.entry(what.clone()).or_default().insert(value.clone());
        }
        values
    };
    let [a, b] = sides.each_ref().map(of);
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mismatch = |what: &String| {
        let values = |side: &BTreeMap<String, BTreeSet<String>>| side.get(what).cloned().unwrap_or_default();
        let sides = [values(&a), values(&b)];
        let is_declared = across.iter().any(|name| name == what);
        // What was changed on purpose must be one thing on each side all the same.
        let is_one = sides[0].len() <= 1 && sides[1].len() <= 1;
        let differs = sides[0] != sides[1] || !is_one;
        differs.then(|| Mismatch { what: what.clone(), is_declared: is_declared && is_one, sides })
    };
    names.into_iter().filter_map(mismatch).collect()
}

fn compared(figure: Figure, sides: &[Vec<&Observation>; 2], margin: f64) -> Option<Compared> {
    let runs =
        sides.each_ref().map(|side| side.iter().filter_map(|run| figure.of(run)).collect::<Vec<f64>>());
    let effect = effect(figure.scale, &runs[0], &runs[1])?;
    let means = runs.each_ref().map(|runs| figure.scale.mean(runs));
    let mut compared = Compared {
        figure,
        runs,
        means,
        effect,
        adjusted_p: effect.p,
        judgement: Judgement::Same,
        runs_needed: None,
    };
    compared.judge(margin, 1);
    Some(compared)
}

/// Judges the figures beside the primary one again, each as one of so many.
fn correct(others: &mut [Compared], margin: f64) {
    let p: Vec<f64> = others.iter().map(|other| other.effect.p.unwrap_or(1.0)).collect();
    for (other, corrected) in others.iter_mut().zip(holm(&p)) {
        other.correct(corrected, margin);
    }
}

impl Compared {
    /// The margin on the figure's even scale.
    fn margin(&self, margin: f64) -> f64 {
        match self.figure.scale {
            Scale::Ratio => margin.ln_1p(),
            Scale::Difference => SHARE_MARGIN,
        }
    }

    /// Judges it as one of several that are compared.
    fn correct(&mut self, corrected: Corrected, margin: f64) {
        self.adjusted_p = self.effect.p.map(|_| corrected.p);
        self.judge(margin, corrected.of);
    }

    /// Judges it, `of` being how many comparisons it counts as one of.
    fn judge(&mut self, margin: f64, of: usize) {
        let margin = self.margin(margin);
        let even = |value| self.figure.scale.even(value);
        let change = even(self.effect.estimate);
        let fewest = self.runs[0].len().min(self.runs[1].len());
        self.judgement = match (self.effect.interval, self.adjusted_p) {
            (Some((low, high)), Some(p)) if fewest >= RUNS_AT_LEAST => {
                if p <= SIGNIFICANT && change.abs() > margin {
                    self.figure.direction.word(change > 0.0)
                } else if even(low) > -margin && even(high) < margin {
                    Judgement::Same
                } else {
                    Judgement::Inconclusive
                }
            }
            _ => Judgement::Inconclusive,
        };
        let is_open = self.judgement == Judgement::Inconclusive;
        self.runs_needed = self.effect.spread.filter(|_| is_open).and_then(|spread| {
            // A change beyond the margin is to be told from none, one inside it from one that matters.
            let beyond = change.abs() - margin;
            let decision = match beyond > 0.0 {
                true => Decision::Different { change: change.abs(), beyond, level: SIGNIFICANT / of as f64 },
                false => Decision::Same { inside: -beyond },
            };
            runs_needed(spread, decision).map(|runs| runs.max(RUNS_AT_LEAST))
        });
    }
}

impl Judgement {
    /// As a report says it.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Better => "BETTER",
            Judgement::Worse => "WORSE",
            Judgement::Higher => "HIGHER",
            Judgement::Lower => "LOWER",
            Judgement::Same => "SAME",
            Judgement::Inconclusive => "INCONCLUSIVE",
            Judgement::NotComparable => "NOT COMPARABLE",
        }
    }
}
