//! The rows of the table: a run each, or, where runs are repeated, a combination each.

use super::{Figures, Matrix, Run};
use serde_json::{Map, Value};
use sonagi_measure::summary::Conclusion;

/// A row.
pub(super) struct Row<'m> {
    pub(super) combination: &'m Map<String, Value>,
    /// Whether all its runs held their users.
    pub(super) is_held: bool,
    /// How many of its runs did, of how many; None where nothing is repeated.
    pub(super) held: Option<(usize, usize)>,
    /// Of repeated runs the medians over those whose figures are the target's.
    pub(super) figures: Option<Figures>,
}

impl Matrix {
    /// The rows, combinations in the order of the matrix.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        if !self.is_repeated() {
            return self.runs.iter().map(alone).collect();
        }
        self.by_combination().into_iter().map(|(combination, runs)| together(combination, &runs)).collect()
    }

    /// The combinations that were run, each with its runs but for the one that shows drift; in the order of the matrix,
    /// which the first of each have in no round but a sorted one.
    pub(super) fn by_combination(&self) -> Vec<(&Map<String, Value>, Vec<&Run>)> {
        let mut all: Vec<(&Map<String, Value>, Vec<&Run>)> = Vec::new();
        for run in self.compared() {
            match all.iter_mut().find(|(known, _)| **known == run.combination) {
                Some((_, runs)) => runs.push(run),
                None => all.push((&run.combination, vec![run])),
            }
        }
        let place = |combination: &Map<String, Value>| {
            self.combinations.iter().position(|known| known == combination).unwrap_or(usize::MAX)
        };
        all.sort_by_key(|(combination, _)| place(combination));
        all
    }
}

fn alone(run: &Run) -> Row<'_> {
    Row { combination: &run.combination, is_held: run.held(), held: None, figures: figures(run) }
}

fn together<'m>(combination: &'m Map<String, Value>, runs: &[&Run]) -> Row<'m> {
    let held = runs.iter().filter(|run| run.held()).count();
    let sound: Vec<Figures> =
        runs.iter().filter(|run| is_sound(run)).filter_map(|run| figures(run)).collect();
    Row {
        combination,
        is_held: held == runs.len(),
        held: Some((held, runs.len())),
        figures: Figures::median(&sound),
    }
}

fn figures(run: &Run) -> Option<Figures> {
    run.summary.as_ref().map(Figures::of)
}

/// Whether a run's figures say something of the target.
fn is_sound(run: &Run) -> bool {
    run.summary.as_ref().is_some_and(|summary| {
        summary.complete && !matches!(summary.verdict.result, Conclusion::Invalid | Conclusion::Interrupted)
    })
}
