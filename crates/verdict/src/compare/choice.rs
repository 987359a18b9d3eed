//! Which value of an axis is best, which are as good, and which to take.
//!
//! Every value is compared with the best by the primary figure. The best was found by looking at the same runs, so
//! that it is best partly by luck: the comparisons with it are corrected (Holm) as if every pair of values had been
//! compared, which is what choosing it comes to. Of numbers the smallest is taken that is the best or the SAME as it: a
//! pool of 10 that is as fast as one of 50 leaves 40 connections to others. What is INCONCLUSIVE is not tied, and is
//! named with the runs that would decide it.

use super::{
    Compared, Direction, Drift, Figure, Judgement, LeftOut, Observation, Question, RUNS_AT_LEAST, Scale,
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
}

/// A value of the axis, by its sound runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tried {
    /// The value.
    pub value: Value,
    /// The primary figure of each of its runs.
    pub runs: Vec<f64>,
    /// How many of its sound runs failed.
    pub failed: usize,
    /// Its mean: the geometric one of ratios; None: no run of it can be used.
    pub mean: Option<f64>,
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
    /// Figures that were asked for and that not every run has.
    pub missing: Vec<String>,
}

impl Tried {
    /// Whether most of its runs failed: a service that refuses at once is the fastest of all, and not the best.
    pub fn has_failed(&self) -> bool {
        mostly(self.failed, self.runs.len())
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
    let groups: Vec<(Value, Vec<&Observation>)> =
        groups.iter().map(|group| (group.value.clone(), sound(&group.runs, &mut left_out))).collect();
    let all: Vec<&Observation> = groups.iter().flat_map(|(_, runs)| runs.iter().copied()).collect();
    let sound = all.len();
    let (figures, missing) = chosen(&[all, Vec::new()], question);
    let mut choice = Choice {
        axis: axis.to_owned(),
        margin: question.margin,
        sound,
        left_out,
        missing,
        ..Choice::default()
    };
    let Some(figure) = figures.into_iter().next() else { return choice };
    choice.tried = groups.iter().map(|(value, runs)| tried(value, runs, &figure)).collect();
    choice.best = best(&choice.tried, figure.direction);
    if let Some(best) = choice.best {
        choice.compare_with(best, &groups, &figure);
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

fn tried(value: &Value, runs: &[&Observation], figure: &Figure) -> Tried {
    let failed = runs.iter().filter(|run| run.failed).count();
    let runs: Vec<f64> = runs.iter().filter_map(|run| figure.of(run)).collect();
    let is_placed = !runs.is_empty() && runs.iter().all(|run| figure.scale.even(*run).is_finite());
    Tried {
        value: value.clone(),
        mean: is_placed.then(|| figure.scale.mean(&runs)),
        interval: interval_of_mean(figure.scale, &runs),
        runs,
        failed,
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
    let is_hopeless = tried.iter().all(Tried::has_failed);
    let placed = tried.iter().enumerate().filter(|(_, tried)| is_hopeless || !tried.has_failed());
    let placed = placed.filter_map(|(at, tried)| Some((at, sign * tried.mean?)));
    placed.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}

impl Choice {
    /// Compares every value with the best, as one of all pairs.
    fn compare_with(&mut self, best: usize, groups: &[(Value, Vec<&Observation>)], figure: &Figure) {
        let placed: Vec<usize> = (0..self.tried.len()).filter(|at| self.tried[*at].mean.is_some()).collect();
        let pairs: Vec<(usize, usize)> = (placed.iter().enumerate())
            .flat_map(|(behind, one)| placed[behind + 1..].iter().map(|other| (*one, *other)))
            .collect();
        let p = |(one, other): &(usize, usize)| {
            effect(figure.scale, &self.tried[*one].runs, &self.tried[*other].runs)?.p
        };
        let p: Vec<f64> = pairs.iter().map(|pair| p(pair).unwrap_or(1.0)).collect();
        let adjusted = holm(&p);
        for (pair, adjusted) in pairs.into_iter().zip(adjusted) {
            let other = match pair {
                (one, other) if one == best => other,
                (one, other) if other == best => one,
                _ => continue,
            };
            let sides = [best, other].map(|at| groups[at].1.clone());
            self.tried[other].against_best =
                compared(figure.clone(), &sides, self.margin).map(|mut compared| {
                    compared.adjusted_p = compared.effect.p.map(|_| adjusted);
                    compared.judge(self.margin);
                    compared
                });
        }
    }

    /// Takes the smallest that is as good as the best, and looks whether the range was wide enough.
    fn take(&mut self, best: usize) {
        let smallest = (0..self.tried.len()).find(|at| *at == best || self.tried[*at].is_as_good());
        self.take = smallest;
        let last = self.tried.len() - 1;
        // One value is no range, and nobody wants less than one of anything.
        if last > 0 && smallest == Some(0) && number(&self.tried[0].value) > 1.0 {
            self.edge = Some(Edge::Smallest);
        } else if last > 0 && best == last && self.tried[last - 1].is_worse() {
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
    let (figures, _) = chosen(&[before.clone(), vec![last]], question);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{normal, question};
    use serde_json::json;
    use std::collections::BTreeMap;

    const P99: &str = "delivery.latency_ms.p99";

    /// So many runs with this value, whose p99 varies around `centre`.
    fn group(value: Value, runs: usize, centre: f64, spread: f64, random: &mut fastrand::Rng) -> Group {
        let run = |at: usize, random: &mut fastrand::Rng| Observation {
            name: format!("{value}-{at}"),
            started: String::new(),
            figures: BTreeMap::from([(P99.to_owned(), centre * (spread * normal(random)).exp())]),
            conditions: BTreeMap::new(),
            unsound: None,
            failed: false,
            warm_up: None,
        };
        Group { runs: (0..runs).map(|at| run(at, random)).collect(), value }
    }

    fn sweep(values: &[(u64, f64)], runs: usize, spread: f64, seed: u64) -> Choice {
        let mut random = fastrand::Rng::with_seed(seed);
        let group = |(value, centre): &(u64, f64)| group(json!(value), runs, *centre, spread, &mut random);
        choose("pool", values.iter().map(group).collect(), &question())
    }

    fn word(choice: &Choice, at: usize) -> Judgement {
        choice.tried[at].against_best.as_ref().unwrap().judgement
    }

    #[test]
    fn the_smallest_value_that_is_the_same_as_the_best_is_taken() {
        let choice = sweep(&[(50, 54.0), (2, 468.0), (10, 54.5)], 5, 0.01, 1);
        let values: Vec<&Value> = choice.tried.iter().map(|tried| &tried.value).collect();
        assert_eq!(values, [&json!(2), &json!(10), &json!(50)], "numbers in their order");
        assert_eq!((choice.best, choice.take, choice.edge), (Some(2), Some(1), None));
        assert_eq!((word(&choice, 0), word(&choice, 1)), (Judgement::Worse, Judgement::Same));
        let ratio = choice.tried[0].against_best.as_ref().unwrap().effect.estimate;
        assert!((8.3..9.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn what_cannot_be_told_from_the_best_is_no_tie_and_has_a_number_of_runs() {
        let open = |seed| {
            let choice = sweep(&[(5, 54.0), (10, 54.0)], 5, 0.05, seed);
            let other = 1 - choice.best?;
            let compared = choice.tried[other].against_best.clone()?;
            let is_open = compared.judgement == Judgement::Inconclusive;
            is_open.then_some((choice.take, choice.best, compared.runs_needed))
        };
        let all: Vec<_> = (0..50).filter_map(open).collect();
        assert!(all.len() > 10, "{all:?}");
        assert!(all.iter().all(|(take, best, _)| take == best), "{all:?}");
        let needed = all.iter().filter_map(|(.., needed)| *needed);
        assert!(needed.clone().count() > 5 && needed.min() > Some(5), "{all:?}");
    }

    #[test]
    fn a_best_at_the_edge_asks_for_a_wider_range_unless_the_curve_is_flat_there() {
        let edge = |values: &[(u64, f64)]| sweep(values, 5, 0.01, 2).edge;
        assert_eq!(edge(&[(2, 400.0), (10, 200.0), (50, 50.0)]), Some(Edge::Largest));
        assert_eq!(edge(&[(2, 400.0), (10, 50.2), (50, 50.0)]), None);
        assert_eq!(edge(&[(2, 50.0), (10, 200.0), (50, 400.0)]), Some(Edge::Smallest));
        assert_eq!(edge(&[(1, 50.0), (10, 200.0), (50, 400.0)]), None);
        assert_eq!(edge(&[(2, 50.0)]), None);
    }

    #[test]
    fn of_two_hundred_sweeps_of_equal_values_at_most_one_in_twenty_calls_any_worse() {
        for spread in [0.05, 0.2] {
            let called = |seed: &u64| {
                let choice =
                    sweep(&[(1, 20.0), (2, 20.0), (3, 20.0), (4, 20.0), (5, 20.0)], 10, spread, *seed);
                choice
                    .tried
                    .iter()
                    .flat_map(|tried| &tried.against_best)
                    .any(|it| it.judgement == Judgement::Worse)
            };
            let called = (0..200).filter(called).count();
            assert!(called <= 10, "{called} of 200 whose runs vary by {spread}");
        }
    }

    #[test]
    fn values_that_are_no_numbers_have_a_best_and_nothing_is_taken() {
        let mut random = fastrand::Rng::with_seed(1);
        let groups = [("ws", 20.0), ("sse", 40.0)]
            .map(|(value, centre)| group(json!(value), 5, centre, 0.01, &mut random));
        let choice = choose("transport", groups.into(), &question());
        assert_eq!((choice.best, choice.take, word(&choice, 1)), (Some(0), None, Judgement::Worse));
    }

    #[test]
    fn few_runs_have_a_best_and_decide_nothing() {
        let choice = sweep(&[(2, 468.0), (10, 54.0)], 4, 0.01, 1);
        assert_eq!((choice.best, choice.take), (Some(1), None));
        assert_eq!(word(&choice, 0), Judgement::Inconclusive);
        let single = sweep(&[(2, 468.0), (10, 54.0)], 1, 0.01, 1);
        assert_eq!((single.tried[0].interval, word(&single, 0)), (None, Judgement::Inconclusive));
    }

    #[test]
    fn unsound_runs_are_left_out_and_a_value_without_any_other_is_not_the_best() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut groups =
            [(2, 10.0), (10, 54.0)].map(|(value, centre)| group(json!(value), 5, centre, 0.01, &mut random));
        groups[0].runs.iter_mut().for_each(|run| run.unsound = Some(crate::compare::Unsound::Invalid));
        let choice = choose("pool", groups.into(), &question());
        assert_eq!((choice.best, choice.tried[0].mean, choice.left_out.len()), (Some(1), None, 5));
        assert_eq!(choice.tried[0].against_best, None);
    }

    #[test]
    fn a_figure_without_a_direction_has_no_best() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut groups: Vec<Group> =
            [2, 10].map(|value| group(json!(value), 5, 20.0, 0.01, &mut random)).into();
        for run in groups.iter_mut().flat_map(|group| &mut group.runs) {
            run.figures.insert("target.memory_bytes.max".to_owned(), 1e6);
        }
        let asked = Question { primary: Some("target.memory_bytes.max".to_owned()), ..question() };
        let choice = choose("pool", groups, &asked);
        assert!(choice.figure.is_some() && choice.best.is_none());
    }

    #[test]
    fn a_machine_that_got_slower_is_told_by_the_first_combination_run_again() {
        let mut random = fastrand::Rng::with_seed(1);
        let Group { runs, .. } = group(json!(2), 6, 20.0, 0.01, &mut random);
        let (last, before) = runs.split_last().unwrap();
        let even = drifted(before, last, &question()).unwrap();
        assert!(!even.drift.is_seen(), "{even:?}");
        let mut slow = last.clone();
        slow.figures.insert(P99.to_owned(), 26.0);
        let slower = drifted(before, &slow, &question()).unwrap();
        assert!(slower.drift.is_seen() && slower.is_worse() == Some(true), "{slower:?}");
        slow.unsound = Some(crate::compare::Unsound::Invalid);
        assert_eq!(drifted(before, &slow, &question()), None);
    }

    #[test]
    fn a_value_whose_runs_fail_is_not_the_best_however_fast_it_refuses() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut refuses = group(json!(2), 5, 1.0, 0.02, &mut random);
        refuses.runs.iter_mut().for_each(|run| run.failed = true);
        let works = group(json!(10), 5, 20.0, 0.02, &mut random);
        let choice = choose("pool", vec![refuses.clone(), works], &question());
        assert_eq!((choice.best, choice.take), (Some(1), Some(1)));
        let hopeless = choose("pool", vec![refuses], &question());
        assert_eq!((hopeless.best, hopeless.take), (Some(0), None));
    }
}
