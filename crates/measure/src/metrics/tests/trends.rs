use super::*;
use proptest::prelude::*;

fn trend(values: impl IntoIterator<Item = f64>) -> Trend {
    let mut trend = Trend::with_room(0);
    values.into_iter().for_each(|value| trend.add(value));
    trend
}

/// The definition: sorted, read at p·(n−1), interpolated.
fn by_definition(mut values: Vec<f64>, percent: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = percent / 100.0 * (values.len() as f64 - 1.0);
    let (low, high) = (values[rank.floor() as usize], values[rank.ceil() as usize]);
    low + (high - low) * (rank - rank.floor())
}

#[test]
fn percentiles_of_few_values_are_exact() {
    // As <https://github.com/grafana/k6/releases/tag/v2.2.0> says of these six and these ten.
    let mut six = trend([0.0, 0.123456789, 1e-7, 1234567.891, 1e21, -5.5]);
    assert_eq!(six.med(), 0.0617284445);
    assert_eq!(six.percentile(90.0), 5.0000000000000066e20);
    assert_eq!((six.min(), six.max()), (-5.5, 1e21));
    let mut ten =
        trend([0.0001, 0.5, 999.999, 12345.678, 59999.4, 60000.0, 61234.5, 3599999.0, 3600000.0, 90061001.5]);
    assert_eq!((ten.percentile(90.0), ten.percentile(95.0)), (12246100.149999969, 51153550.824999906));
    assert_eq!((ten.percentile(99.9), ten.avg()), (89282852.48650013, 9745558.05771));
    assert_eq!((ten.percentile(0.0), ten.percentile(100.0)), (0.0001, 90061001.5));
}

#[test]
fn a_trend_without_values_says_zero() {
    let mut none = trend([]);
    assert_eq!(
        (none.avg(), none.min(), none.med(), none.max(), none.percentile(99.0)),
        (0.0, 0.0, 0.0, 0.0, 0.0)
    );
}

#[test]
fn percentiles_become_buckets_after_the_last_value_that_fits() {
    let mut exact = trend((0..Trend::EXACT).map(|n| n as f64 * 1.0001));
    assert!(exact.is_exact());
    assert_eq!(
        exact.percentile(50.0),
        by_definition((0..Trend::EXACT).map(|n| n as f64 * 1.0001).collect(), 50.0)
    );
    exact.add(1.0);
    assert!(!exact.is_exact());
    assert_eq!(exact.count(), Trend::EXACT as u64 + 1);
}

proptest! {
    #[test]
    fn percentiles_of_many_values_are_within_their_bound(
        seed: u64, scale in -9.0..9.0f64, negative: bool, percent in 0.0..=100.0f64
    ) {
        let mut random = numbers_of(seed);
        let values: Vec<f64> = (0..20_000)
            .map(|_| {
                let value = 10f64.powf(scale + 3.0 * random());
                if negative && random() < 0.3 { -value } else { value }
            })
            .collect();
        let mut many = trend(values.iter().copied());
        let exact = by_definition(values.clone(), percent);
        let read = many.percentile(percent);
        // It lies between two values, and one of them may be negative: the bound is that of the farther one.
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let rank = percent / 100.0 * (sorted.len() as f64 - 1.0);
        let [low, high] = [rank.floor(), rank.ceil()].map(|rank| sorted[rank as usize].abs());
        let neighbours = low.max(high);
        prop_assert!((read - exact).abs() <= neighbours / 1024.0 + f64::EPSILON, "{read} for {exact}");
        prop_assert_eq!(many.percentile(0.0), many.min());
        prop_assert_eq!(many.percentile(100.0), many.max());
    }

    #[test]
    fn trends_merge_to_what_one_would_have_been(
        parts in prop::collection::vec(prop::collection::vec(-1e9..1e9f64, 0..40), 0..8)
    ) {
        let mut merged = Trend::with_room(0);
        parts.iter().for_each(|part| merged.merge(&trend(part.iter().copied())));
        let all: Vec<f64> = parts.concat();
        let mut one = trend(all.iter().copied());
        prop_assert_eq!((merged.count(), merged.min(), merged.max()), (one.count(), one.min(), one.max()));
        for percent in [0.0, 10.0, 50.0, 99.9, 100.0] {
            prop_assert_eq!(merged.percentile(percent), one.percentile(percent));
            if !all.is_empty() {
                prop_assert_eq!(one.percentile(percent), by_definition(all.clone(), percent));
            }
        }
    }
}

#[test]
fn merging_buckets_with_values_loses_none() {
    let many: Vec<f64> = (0..40_000).map(|n| 1.0 + n as f64).collect();
    let mut merged = trend(many[..20_000].iter().copied());
    merged.merge(&trend(many[20_000..20_010].iter().copied()));
    merged.merge(&trend(many[20_010..].iter().copied()));
    assert_eq!((merged.count(), merged.min(), merged.max()), (40_000, 1.0, 40_000.0));
    for percent in [1.0, 50.0, 90.0, 99.0] {
        let exact = by_definition(many.clone(), percent);
        assert!((merged.percentile(percent) - exact).abs() <= exact / 1024.0, "p({percent})");
    }
}

/// Numbers from 0 to 1 that a seed gives (xorshift): the crate has no random numbers of its own.
fn numbers_of(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}
