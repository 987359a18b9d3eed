//! Merging is exact: the order of shards and the length of intervals change nothing that is summed.

use crate::fixture::{header, record_second};
use proptest::prelude::*;
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Failure, OperationId};
use sonagi_measure::recorder::{FailureCount, Record, Recorder, merge_failure};
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{ProcessGauges, Totals};

fn records() -> Vec<Record> {
    let header = header();
    let shard = |i: u32| {
        let mut recorder = Recorder::new(header.operations.len(), header.scenarios.len());
        record_second(&mut recorder, i, i64::from(i % 3))
    };
    (0..5).map(shard).collect()
}

fn sum(order: &[usize], at_once: usize) -> Summary {
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::default());
    let mut records: Vec<Option<Record>> = records().into_iter().map(Some).collect();
    let mut at = At(0);
    for group in order.chunks(at_once) {
        at = at.plus(1_000_000_000);
        let group = group.iter().map(|&i| records[i].take().unwrap()).collect();
        totals.absorb(group, at, ProcessGauges::default());
    }
    let mut summary = totals.summary();
    // Figures that depend on time as such.
    (summary.duration_s, summary.users.peak, summary.users.active) = (0.0, 0, 0);
    summary.users.connected_peak = 0;
    summary.operations.iter_mut().chain(&mut summary.kinds).for_each(|o| o.rate_per_s = 0.0);
    (summary.generator.busiest_core, summary.generator.findings) = (0.0, Vec::new());
    summary
}

proptest! {
    #[test]
    fn the_order_of_merging_does_not_matter(
        order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(), at_once in 1usize..6) {
        prop_assert_eq!(sum(&order, at_once), sum(&[0, 1, 2, 3, 4], 5));
    }

    #[test]
    fn the_first_example_stays_whatever_the_order(
        seen in proptest::collection::vec((0i64..5, proptest::option::of((0i64..5, "[a-c]"))), 1..6), seed: u64) {
        let failure = |(first, example): &(i64, Option<(i64, String)>)| {
            let mut f = FailureCount::none(Some(OperationId(1)), Failure::Reset);
            (f.count, f.first_at) = (1, At(*first));
            if let Some((at, text)) = example {
                (f.example_at, f.example) = (At(*at), text.clone());
            }
            f
        };
        let merged = |list: &[FailureCount]| {
            let mut all = Vec::new();
            list.iter().for_each(|f| merge_failure(&mut all, f));
            all
        };
        let mut list: Vec<FailureCount> = seen.iter().map(failure).collect();
        let expected = merged(&list);
        fastrand::Rng::with_seed(seed).shuffle(&mut list);
        prop_assert_eq!(merged(&list), expected);
    }
}

#[test]
fn histograms_of_any_size_merge_to_the_same_quantiles() {
    use sonagi_measure::Histogram;
    let mut whole = Histogram::new();
    let mut parts = [Histogram::new(), Histogram::sized(10), Histogram::sized(u64::MAX)];
    for i in 0..3000i64 {
        let ns = i * i * 40_000;
        whole.record_ns(ns);
        parts[(i % 3) as usize].record_ns(ns);
    }
    let mut merged = Histogram::new();
    parts.iter().for_each(|part| merged.merge(part));
    assert_eq!(merged.quantiles(), whole.quantiles());
    // Two hours count as one, to the three digits kept.
    whole.record_ns(2 * 3_600_000_000_000);
    whole.record_ns(-5);
    assert_eq!((whole.quantiles().max, whole.count()), (3_600_809.983, 3002));
    assert_eq!(whole.quantiles().min, 0.001);
}
