//! Which value of an axis is best, which are as good, and which to take.
//!
//! Every value is compared with the best by the primary figure. The best was found by looking at the same runs, so
//! that it is best partly by luck: the comparisons with it are corrected (Holm) as if every pair of values had been
//! compared, which is what choosing it comes to. Of numbers the smallest is taken that is the best or the SAME as it: a
//! pool of 10 that is as fast as one of 50 leaves 40 connections to others. What is INCONCLUSIVE is not tied, and is
//! named with the runs that would decide it.

#[cfg(test)]
mod tests;

use super::{
    Compared, Direction, Drift, Figure, Had, Judgement, LeftOut, Observation, Question, RUNS_AT_LEAST, Scale,
    chosen, compared, drift, effect, holm, interval_of_mean, mostly, sound,
};
use serde_json::{Map, Value};

/// The runs with one value of the axis.
#[derive(Clone, Debug)]
pub struct Group {
    /// The value.
    pub value: Value,
    /// Its runs, in their order.
    pub runs: Vec<Observation>,
    /// Why those that could not be run were not.
    pub not_run: Vec<String>,
}

/// Why a value is not judged.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unjudged {
    /// No run of it was made; why the first one could not be, if any was tried.
    NotRun(Option<String>),
    /// None of its runs says anything of the target.
    Unsound,
    /// Most of its runs lack the figure.
    Lacking,
    /// The figure is 0 in a run, and has no ratio.
    WithoutRatio,
}

/// A value of the axis, by its sound runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tried {
    /// The value.
    pub value: Value,
    /// The primary figure of each of its runs that has it.
    pub runs: Vec<f64>,
    /// How many of its sound runs lack the figure.
    pub lacking: usize,
    /// How many of its sound runs failed.
    pub failed: usize,
    /// Its mean: the geometric one of ratios; None: it is not judged.
    pub mean: Option<f64>,
    /// Why it is not judged, if so.
    pub unjudged: Option<Unjudged>,
    /// The mean's 95 % interval; None with fewer than two runs.
    pub interval: Option<(f64, f64)>,
    /// It compared with the best (side A); None of the best itself.
    pub against_best: Option<Compared>,
}

/// Where the range of values that were tried ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// The best is the largest, and the one below it is not as good: larger ones may be better still.
    Largest,
    /// The smallest is the best, or as good: smaller ones may be, too.
    Smallest,
}

/// What came of an axis.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Choice {
    /// The axis.
    pub axis: String,
    /// The values of the other axes.
    pub within: Map<String, Value>,
    /// A change of a time or a rate inside it does not matter.
    pub margin: f64,
    /// How many runs can be used.
    pub sound: usize,
    /// The figure that decides; None where the runs have none in common.
    pub figure: Option<Figure>,
    /// The values, numbers in ascending order, others as they were given.
    pub tried: Vec<Tried>,
    /// The best by its mean, by its place among them.
    pub best: Option<usize>,
    /// The smallest that is the best or as good; None where values are no numbers, or too few runs were made.
    pub take: Option<usize>,
    /// Whether the range should be wider.
    pub edge: Option<Edge>,
    /// Runs that were left out.
    pub left_out: Vec<LeftOut>,
    /// Figures that were asked for and that most runs of every value lack.
    pub missing: Vec<String>,
}

impl Tried {
    /// Whether most of its runs failed: a service that refuses at once is the fastest of all, and not the best.
    pub fn has_failed(&self) -> bool {
        mostly(self.failed, self.runs.len() + self.lacking)
    }

    fn is_worse(&self) -> bool {
        let word = self.against_best.as_ref().map(|compared| compared.judgement);
        self.has_failed() || word == Some(Judgement::Worse)
    }

    fn is_as_good(&self) -> bool {
        !self.has_failed()
            && self.against_best.as_ref().is_some_and(|compared| compared.judgement == Judgement::Same)
    }
}

/// Compares the values of an axis.
pub fn choose(axis: &str, mut groups: Vec<Group>, question: &Question) -> Choice {
    let is_numeric = groups.iter().all(|group| group.value.is_number());
    if is_numeric {
        groups.sort_by(|one, other| number(&one.value).total_cmp(&number(&other.value)));
    }
    let mut left_out = Vec::new();
    let sound: Vec<Vec<&Observation>> =
        groups.iter().map(|group| sound(&group.runs, &mut left_out)).collect();
    let (figures, missing) = chosen(&sound, Had::ByAnySide, question);
    let figure = figures.into_iter().next();
    let tried = |(group, runs): (&Group, &Vec<&Observation>)| tried(group, runs, figure.as_ref());
    let mut choice = Choice {
        axis: axis.to_owned(),
        margin: question.margin,
        sound: sound.iter().map(Vec::len).sum(),
        tried: groups.iter().zip(&sound).map(tried).collect(),
        left_out,
        missing,
        ..Choice::default()
    };
    let Some(figure) = figure else { return choice };
    choice.best = best(&choice.tried, figure.direction);
    if let Some(best) = choice.best {
        choice.compare_with(best, &sound, &figure);
        let is_sound = !choice.tried[best].has_failed() && choice.tried[best].runs.len() >= RUNS_AT_LEAST;
        if is_numeric && is_sound {
            choice.take(best);
        }
    }
    choice.figure = Some(figure);
    choice
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn tried(group: &Group, sound: &[&Observation], figure: Option<&Figure>) -> Tried {
    let of = |run: &&Observation| figure.and_then(|figure| figure.of(run));
    let runs: Vec<f64> = sound.iter().filter_map(of).collect();
    let is_placed = |figure: &Figure| runs.iter().all(|run| figure.scale.even(*run).is_finite());
    let unjudged = match figure {
        _ if group.runs.is_empty() => Some(Unjudged::NotRun(group.not_run.first().cloned())),
        _ if sound.is_empty() => Some(Unjudged::Unsound),
        Some(figure) if !is_placed(figure) => Some(Unjudged::WithoutRatio),
        // Of a few that have it nobody knows why the others do not.
        _ if !mostly(runs.len(), sound.len()) => Some(Unjudged::Lacking),
        _ => None,
    };
    let judged = figure.filter(|_| unjudged.is_none());
    Tried {
        value: group.value.clone(),
        mean: judged.map(|figure| figure.scale.mean(&runs)),
        interval: judged.and_then(|figure| interval_of_mean(figure.scale, &runs)),
        lacking: sound.len() - runs.len(),
        failed: sound.iter().filter(|run| run.failed).count(),
        unjudged,
        runs,
        against_best: None,
    }
}

/// The best by its mean, the first of equals, among those whose runs did not fail if there are any; None of a figure
/// that is neither better high nor low.
fn best(tried: &[Tried], direction: Direction) -> Option<usize> {
    let sign = match direction {
        Direction::LowerIsBetter => 1.0,
        Direction::HigherIsBetter => -1.0,
        Direction::Neither => return None,
    };
    let judged = || tried.iter().enumerate().filter(|(_, tried)| tried.mean.is_some());
    let is_hopeless = judged().all(|(_, tried)| tried.has_failed());
    let placed = judged().filter(|(_, tried)| is_hopeless || !tried.has_failed());
    let placed = placed.filter_map(|(at, tried)| Some((at, sign * tried.mean?)));
    placed.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}

impl Choice {
    /// Compares every value with the best, as one of all pairs.
    fn compare_with(&mut self, best: usize, sound: &[Vec<&Observation>], figure: &Figure) {
        let placed: Vec<usize> = (0..self.tried.len()).filter(|at| self.tried[*at].mean.is_some()).collect();
        let pairs: Vec<(usize, usize)> = (placed.iter().enumerate())
            .flat_map(|(behind, one)| placed[behind + 1..].iter().map(|other| (*one, *other)))
            .collect();
        let p = |(one, other): &(usize, usize)| {
            effect(figure.scale, &self.tried[*one].runs, &self.tried[*other].runs)?.p
        };
        let p: Vec<f64> = pairs.iter().map(|pair| p(pair).unwrap_or(1.0)).collect();
        for (pair, corrected) in pairs.into_iter().zip(holm(&p)) {
            let other = match pair {
                (one, other) if one == best => other,
                (one, other) if other == best => one,
                _ => continue,
            };
            let sides = [best, other].map(|at| sound[at].clone());
            self.tried[other].against_best =
                compared(figure.clone(), &sides, self.margin).map(|mut compared| {
                    compared.correct(corrected, self.margin);
                    compared
                });
        }
    }

    /// Takes the smallest that is as good as the best, and looks whether the range was wide enough.
    fn take(&mut self, best: usize) {
        // A value that is not judged says nothing of the curve: the range ends at the last one that is.
        let judged: Vec<usize> = (0..self.tried.len()).filter(|at| self.tried[*at].mean.is_some()).collect();
        self.take = judged.iter().copied().find(|at| *at == best || self.tried[*at].is_as_good());
        // One value is no range, and nobody wants less than one of anything.
        let (Some(first), [.., below, last]) = (judged.first().copied(), judged.as_slice()) else { return };
        if self.take == Some(first) && number(&self.tried[first].value) > 1.0 {
            self.edge = Some(Edge::Smallest);
        } else if best == *last && self.tried[*below].is_worse() {
            self.edge = Some(Edge::Largest);
        }
    }
}

/// What a machine did while a matrix was run, by the combination that was run first and once more at the end.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Drifted {
    /// The figure by which it is told.
    pub figure: Figure,
    /// The last run against those before.
    pub drift: Drift,
}

/// The drift of a combination's last run from its runs before, by the primary figure; None where a run cannot be used,
/// or the runs have no such figure in common.
pub fn drifted(before: &[Observation], last: &Observation, question: &Question) -> Option<Drifted> {
    if last.unsound.is_some() {
        return None;
    }
    let before = sound(before, &mut Vec::new());
    let (figures, _) = chosen(&[before.clone(), vec![last]], Had::ByEverySide, question);
    let figure = figures.into_iter().next()?;
    let values: Vec<f64> = before.iter().filter_map(|run| figure.of(run)).collect();
    let drift = drift(figure.scale, &values, figure.of(last)?)?;
    Some(Drifted { figure, drift })
}

impl Drifted {
    /// Whether the machine got slower; None: the figure does not tell, or the two are equal.
    pub fn is_worse(&self) -> Option<bool> {
        let change = match self.drift.scale {
            Scale::Ratio => self.drift.estimate - 1.0,
            Scale::Difference => self.drift.estimate,
        };
        match self.figure.direction {
            _ if change == 0.0 => None,
            Direction::LowerIsBetter => Some(change > 0.0),
            Direction::HigherIsBetter => Some(change < 0.0),
            Direction::Neither => None,
        }
    }
}
