use super::*;
use proptest::prelude::*;

fn rate(seconds: f64, from: f64, to: f64) -> Phase {
    Phase {
        name: None,
        duration: Duration::from_secs_f64(seconds),
        shape: Shape::Rate { from, to },
        max_users: None,
    }
}

fn load(phases: Vec<Phase>) -> Load {
    Load::Open { phases, spacing: Spacing::Even }
}

fn times_ms(load: &Load) -> Vec<f64> {
    load.arrivals(1).map(|arrival| arrival.at.0 as f64 / 1e6).collect()
}

#[test]
fn a_phase_has_the_total_artillery_users_know() {
    let table = [
        (15.0, 1.0, 20.0, 158),
        (10.0, 0.0, 10.0, 50),
        (2.0, 6.0, 1.0, 7),
        (30.0, 1.0, 2.0, 45),
        (30.0, 0.1, 0.1, 3),
        (60.0, 2.5, 2.5, 150),
        (1.0, 0.0, 10.0, 5),
        (1.5, 4.0, 4.0, 6),
        (10.0, 0.0, 0.0, 0),
        (4.0, 0.1, 0.1, 0),
    ];
    for (seconds, from, to, total) in table {
        let planned = load(vec![rate(seconds, from, to)]).arrivals(1).count();
        assert_eq!(planned, total, "{from}→{to}/s in {seconds} s");
    }
}

#[test]
fn a_constant_rate_is_evenly_spaced_and_starts_one_tick_in() {
    assert_eq!(
        times_ms(&load(vec![rate(2.0, 4.0, 4.0)])),
        [250.0, 500.0, 750.0, 1000.0, 1250.0, 1500.0, 1750.0, 2000.0]
    );
}

#[test]
fn arrivals_of_one_millisecond_are_not_bunched() {
    let times = times_ms(&load(vec![rate(1.0, 4000.0, 4000.0)]));
    assert_eq!(times.len(), 4000);
    for pair in times.windows(2) {
        assert!((pair[1] - pair[0] - 0.25).abs() < 1e-5, "{pair:?}");
    }
}

#[test]
fn a_ramp_puts_each_seconds_share_into_that_second() {
    let mut per_second = [0; 10];
    for at in times_ms(&load(vec![rate(10.0, 0.0, 9.0)])) {
        per_second[((at / 1e3).ceil() as usize).saturating_sub(1)] += 1;
    }
    assert_eq!(per_second, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_count_is_spread_over_its_phase_and_a_pause_only_passes_time() {
    let phase =
        |seconds, shape| Phase { name: None, duration: Duration::from_secs(seconds), shape, max_users: None };
    let phases = vec![phase(2, Shape::Count(4)), phase(3, Shape::Pause), phase(1, Shape::Count(1))];
    assert_eq!(times_ms(&load(phases.clone())), [500.0, 1000.0, 1500.0, 2000.0, 6000.0]);
    assert_eq!(load(phases).end(), At(6_000_000_000));
}

#[test]
fn poisson_arrivals_repeat_with_their_seed_and_keep_the_rate() {
    let load = Load::Open { phases: vec![rate(200.0, 50.0, 50.0)], spacing: Spacing::Poisson };
    let times: Vec<At> = load.arrivals(7).map(|arrival| arrival.at).collect();
    assert_eq!(times, load.arrivals(7).map(|arrival| arrival.at).collect::<Vec<_>>());
    assert_ne!(times, load.arrivals(8).map(|arrival| arrival.at).collect::<Vec<_>>());
    // 10,000 expected; five standard deviations are 500.
    assert!((9_500..=10_500).contains(&times.len()), "{}", times.len());
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // An exponential's standard deviation equals its mean; evenly spaced gaps would have none.
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.1, "{}", variance.sqrt() / mean);
}

#[test]
fn a_closed_population_rises_holds_and_falls() {
    let stage =
        |seconds, users| Stage { name: None, duration: Duration::from_secs(seconds), from: None, users };
    let load = Load::Closed { stages: vec![stage(4, 4), stage(10, 4), stage(2, 0)] };
    let spans: Vec<(i64, i64)> = load
        .arrivals(1)
        .map(|arrival| (arrival.at.0 / 1_000_000, arrival.until.expect("closed").0 / 1_000_000))
        .collect();
    assert_eq!(spans, [(0, 16_000), (1_000, 15_500), (2_000, 15_000), (3_000, 14_500)]);
}

#[test]
fn a_constant_population_starts_at_once_and_may_rise_again() {
    let stage = |from, users| Stage { name: None, duration: Duration::from_secs(10), from, users };
    let load = Load::Closed { stages: vec![stage(Some(2), 2), stage(Some(1), 1), stage(Some(2), 2)] };
    let spans: Vec<(i64, i64)> = load
        .arrivals(1)
        .map(|arrival| (arrival.at.second(), arrival.until.expect("closed").second()))
        .collect();
    assert_eq!(spans, [(0, 30), (0, 10), (20, 30)]);
    assert_eq!(load.population(), Some(2));
}

proptest! {
    #[test]
    fn arrivals_stay_in_order_and_within_their_phase(
        phases in prop::collection::vec((0.0..20.0f64, 0.0..200.0f64, 0.0..200.0f64), 1..4),
        poisson: bool,
    ) {
        let phases: Vec<Phase> = phases.into_iter().map(|(seconds, from, to)| rate(seconds, from, to)).collect();
        let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
        let load = Load::Open { phases, spacing };
        let ends = load.boundaries();
        let mut last = At(0);
        for arrival in load.arrivals(3) {
            let begin = if arrival.phase == 0 { At(0) } else { ends[arrival.phase - 1].0 };
            prop_assert!(arrival.at >= last && arrival.at >= begin && arrival.at <= ends[arrival.phase].0.plus(1));
            last = arrival.at;
        }
    }
}

#[test]
fn poisson_arrivals_are_counted_before_the_run_unless_they_are_too_many_to_draw() {
    let planned = |per_second, seconds| {
        let phases = vec![rate(seconds, per_second, per_second)];
        Load::Open { phases, spacing: Spacing::Poisson }.planned(1)
    };
    assert!(planned(100.0, 10.0).is_some_and(|count| (900..1100).contains(&count)));
    assert_eq!(planned(50_000.0, 3600.0), None);
}
