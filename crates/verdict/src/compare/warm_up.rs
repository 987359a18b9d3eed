//! Where a run's warm-up ends, by MSER-5: connections are opened, caches filled and code compiled in the first seconds,
//! and their times are not those of the service that goes on for days.
//!
//! The rule (White 1997; Hoad, Robinson and Davies 2010): average every five seconds, and leave out so many batches at
//! the begin that the mean of the rest is known best, that is where the sum of squares over the square of the number of
//! batches left is least. The last five batches are never left out, as few batches may lie close by chance. A least
//! that lies behind the middle means that the run has no steady state, and nothing is cut then: its figures are those
//! of a run that changes to its end.

/// Seconds averaged into one batch.
const BATCH: usize = 5;
/// Batches that are always left.
const LEFT_AT_LEAST: usize = 5;

/// What was found of a run's warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// The times of so many seconds at the run's begin are left out; 0: none.
    Cut(u64),
    /// The run changes to its end: nothing is left out.
    NoSteadyState,
    /// It has too few seconds to tell: nothing is left out.
    TooShort,
}

impl WarmUp {
    /// The first second whose times count.
    pub fn first_second(self) -> u64 {
        match self {
            WarmUp::Cut(seconds) => seconds,
            WarmUp::NoSteadyState | WarmUp::TooShort => 0,
        }
    }
}

/// The warm-up of a run, from the median of each second that has one, in order.
pub fn warm_up(medians: &[(u64, f64)]) -> WarmUp {
    let batches: Vec<f64> = medians
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().map(|(_, median)| median).sum::<f64>() / BATCH as f64)
        .collect();
    if batches.len() <= LEFT_AT_LEAST {
        return WarmUp::TooShort;
    }
    let cut = steadiest(&batches);
    if 2 * cut > batches.len() {
        return WarmUp::NoSteadyState;
    }
    // Seconds without a median are none of a batch: the first that counts is told by its number.
    WarmUp::Cut(if cut == 0 { 0 } else { medians[cut * BATCH].0 })
}

/// How many batches are left out so that the mean of the rest is known best; of equals the fewest.
fn steadiest(batches: &[f64]) -> usize {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // From the end, so that each step adds one batch (Welford).
    for (cut, batch) in batches.iter().enumerate().rev() {
        count += 1.0;
        let off = batch - mean;
        mean += off / count;
        squares += off * (batch - mean);
        let doubt = squares / (count * count);
        if cut + LEFT_AT_LEAST <= batches.len() && doubt <= best.0 {
            best = (doubt, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::normal;

    /// A run of so many seconds around 20 ms, `slower` times as slow before `until`.
    fn run(seconds: u64, until: u64, slower: f64, seed: u64) -> Vec<(u64, f64)> {
        let mut random = fastrand::Rng::with_seed(seed);
        let median = |second| if second < until { 20.0 * slower } else { 20.0 };
        (0..seconds).map(|second| (second, median(second) * (0.05 * normal(&mut random)).exp())).collect()
    }

    #[test]
    fn a_warm_up_is_cut_where_it_ends_mostly_give_or_take_a_batch_and_never_too_little() {
        for until in [5, 10, 20] {
            let cut = |seed| warm_up(&run(120, until, 1.5, seed));
            let near = |seed: &u64| {
                let found = cut(*seed);
                assert!(found == WarmUp::NoSteadyState || found.first_second() >= until, "{found:?}");
                found.first_second().abs_diff(until) <= BATCH as u64 && found != WarmUp::NoSteadyState
            };
            let found = (0..200).filter(near).count();
            assert!(found >= 130, "{found} of 200 that warm up for {until} s");
        }
    }

    #[test]
    fn a_run_that_was_warm_is_hardly_ever_cut_by_more_than_a_few_batches() {
        let long = |seed: &u64| warm_up(&run(120, 0, 1.0, *seed)).first_second() > 5 * BATCH as u64;
        let cut = (0..200).filter(long).count();
        assert!(cut <= 26, "{cut} of 200");
    }

    #[test]
    fn a_run_that_changes_to_its_end_has_no_steady_state() {
        let late = run(120, 90, 1.5, 1);
        assert_eq!(warm_up(&late), WarmUp::NoSteadyState);
        assert_eq!(WarmUp::NoSteadyState.first_second(), 0);
        let rising: Vec<(u64, f64)> = (0..120).map(|second| (second, 10.0 + second as f64)).collect();
        assert_eq!(warm_up(&rising), WarmUp::NoSteadyState);
    }

    #[test]
    fn what_is_even_is_not_cut_and_what_is_short_cannot_be_told() {
        let even: Vec<(u64, f64)> = (0..60).map(|second| (second, 20.0)).collect();
        assert_eq!(warm_up(&even), WarmUp::Cut(0));
        assert_eq!(warm_up(&even[..29]), WarmUp::TooShort);
        assert_eq!(warm_up(&even[..30]), WarmUp::Cut(0));
        assert_eq!(warm_up(&[]), WarmUp::TooShort);
    }

    #[test]
    fn seconds_without_a_median_are_counted_by_their_numbers() {
        // Nothing ends in every other second.
        let sparse: Vec<(u64, f64)> = (0..60).map(|at| (2 * at, if at < 10 { 90.0 } else { 20.0 })).collect();
        assert_eq!(warm_up(&sparse), WarmUp::Cut(20));
    }
}
