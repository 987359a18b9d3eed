//! What a series did: levels that lasted, means, and when it first was above something.

use std::ops::Range;

/// Levels or rates of a metric by second; None where it was not measured.
pub(crate) type Levels = [Option<f64>];

/// The mean of what was measured in these seconds.
pub(crate) fn mean(levels: &Levels, seconds: Range<usize>) -> Option<f64> {
    let measured: Vec<f64> = within(levels, seconds).flatten().collect();
    (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64)
}

/// The highest level in these seconds.
pub(crate) fn most(levels: &Levels, seconds: Range<usize>) -> Option<f64> {
    within(levels, seconds).flatten().reduce(f64::max)
}

/// The median of what was measured in these seconds.
pub(crate) fn median(levels: &Levels, seconds: Range<usize>) -> Option<f64> {
    let mut measured: Vec<f64> = within(levels, seconds).flatten().collect();
    measured.sort_by(f64::total_cmp);
    measured.get(measured.len() / 2).copied()
}

/// The first of `lasting` seconds in a row at or above a level.
pub(crate) fn first_above(
    levels: &Levels,
    seconds: Range<usize>,
    least: f64,
    lasting: usize,
) -> Option<usize> {
    let mut run = 0;
    for (second, level) in levels.iter().enumerate().take(seconds.end).skip(seconds.start) {
        run = match level {
            Some(level) if *level >= least => run + 1,
            // What was not measured says nothing either way.
            None => run,
            Some(_) => 0,
        };
        if run >= lasting {
            return Some(second + 1 - lasting);
        }
    }
    None
}

/// The share of the seconds measured that are at or above a level.
pub(crate) fn share_above(levels: &Levels, seconds: Range<usize>, least: f64) -> Option<f64> {
    let measured: Vec<f64> = within(levels, seconds).flatten().collect();
    let above = measured.iter().filter(|level| **level >= least).count();
    (!measured.is_empty()).then(|| above as f64 / measured.len() as f64)
}

/// The sum of a rate over these seconds.
pub(crate) fn sum(rates: &[f64], seconds: Range<usize>) -> f64 {
    rates.iter().take(seconds.end).skip(seconds.start).sum()
}

/// Rates as levels: all of them were measured.
pub(crate) fn measured(rates: &[f64]) -> Vec<Option<f64>> {
    rates.iter().copied().map(Some).collect()
}

fn within(levels: &Levels, seconds: Range<usize>) -> impl Iterator<Item = Option<f64>> {
    levels.iter().take(seconds.end).skip(seconds.start).copied()
}
