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

/// The first second from which on all that was measured for `lasting` seconds was at or above a level, the last of them
/// included: what was not measured says nothing either way.
pub(crate) fn first_above(
    levels: &Levels,
    seconds: Range<usize>,
    least: f64,
    lasting: usize,
) -> Option<usize> {
    let mut began = None;
    for (second, level) in levels.iter().enumerate().take(seconds.end).skip(seconds.start) {
        match level {
            Some(level) if *level >= least => {
                let began = *began.get_or_insert(second);
                if second + 1 - began >= lasting {
                    return Some(began);
                }
            }
            Some(_) => began = None,
            None => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_lasts_from_its_first_second_however_rarely_it_is_measured() {
        let every_second: Vec<_> = [0.0, 9.0, 0.0, 9.0, 9.0, 9.0].map(Some).to_vec();
        assert_eq!(first_above(&every_second, 0..6, 9.0, 3), Some(3));
        assert_eq!(first_above(&every_second, 0..5, 9.0, 3), None, "two seconds of three");
        assert_eq!(first_above(&every_second, 0..6, 9.0, 1), Some(1));
        let every_fifth: Vec<_> =
            (0..16).map(|second| (second % 5 == 0).then_some(f64::from(second))).collect();
        assert_eq!(first_above(&every_fifth, 0..16, 5.0, 3), Some(5));
        assert_eq!(first_above(&every_fifth, 0..16, 15.0, 3), None, "one value");
        assert_eq!(
            first_above(&[Some(9.0), None, None], 0..3, 9.0, 3),
            None,
            "nor what was not measured after it"
        );
    }
}
