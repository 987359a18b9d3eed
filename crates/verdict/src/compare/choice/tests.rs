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
    Group { runs: (0..runs).map(|at| run(at, random)).collect(), value, not_run: Vec::new() }
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
            let choice = sweep(&[(1, 20.0), (2, 20.0), (3, 20.0), (4, 20.0), (5, 20.0)], 10, spread, *seed);
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
    let mut groups: Vec<Group> = [2, 10].map(|value| group(json!(value), 5, 20.0, 0.01, &mut random)).into();
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

#[test]
fn a_value_whose_runs_never_start_is_named_with_why() {
    let mut random = fastrand::Rng::with_seed(1);
    let works = group(json!(10), 5, 54.0, 0.01, &mut random);
    let never = Group {
        not_run: vec!["port 3000 is in use".to_owned()],
        ..group(json!(2), 0, 1.0, 0.0, &mut random)
    };
    let choice = choose("pool", vec![never, works], &question());
    assert_eq!((choice.tried.len(), choice.best, choice.take), (2, Some(1), Some(1)));
    let why = Some(Unjudged::NotRun(Some("port 3000 is in use".to_owned())));
    assert_eq!((&choice.tried[0].unjudged, &choice.tried[0].against_best), (&why, &None));
    assert_eq!(choice.tried[1].unjudged, None);
}

#[test]
fn one_run_without_the_figure_takes_it_from_nobody_else() {
    let mut random = fastrand::Rng::with_seed(1);
    let [mut slow, fast] =
        [(2, 468.0), (10, 54.0)].map(|(value, centre)| group(json!(value), 6, centre, 0.01, &mut random));
    slow.runs[3].figures.clear();
    let choice = choose("pool", vec![slow.clone(), fast.clone()], &question());
    assert_eq!((choice.best, word(&choice, 0)), (Some(1), Judgement::Worse));
    assert_eq!((choice.tried[0].runs.len(), choice.tried[0].lacking, choice.tried[1].lacking), (5, 1, 0));
    // Two that have it of six say nothing of why the others do not.
    slow.runs[..4].iter_mut().for_each(|run| run.figures.clear());
    let choice = choose("pool", vec![slow, fast], &question());
    assert_eq!((choice.best, &choice.tried[0].unjudged), (Some(1), &Some(Unjudged::Lacking)));
}

#[test]
fn a_value_whose_figure_is_zero_in_a_run_is_not_judged_and_not_called_without_runs() {
    let mut random = fastrand::Rng::with_seed(1);
    let [mut zero, other] =
        [(2, 468.0), (10, 54.0)].map(|(value, centre)| group(json!(value), 5, centre, 0.01, &mut random));
    zero.runs[0].figures.insert(P99.to_owned(), 0.0);
    let choice = choose("pool", vec![zero, other], &question());
    assert_eq!((choice.best, &choice.tried[0].unjudged), (Some(1), &Some(Unjudged::WithoutRatio)));
}

#[test]
fn without_any_figure_every_value_is_named_all_the_same() {
    let mut random = fastrand::Rng::with_seed(1);
    let groups: Vec<Group> = [2, 10].map(|value| group(json!(value), 0, 1.0, 0.0, &mut random)).into();
    let choice = choose("pool", groups, &question());
    let why: Vec<_> = choice.tried.iter().map(|tried| tried.unjudged.clone()).collect();
    assert_eq!(why, [Some(Unjudged::NotRun(None)), Some(Unjudged::NotRun(None))]);
}

#[test]
fn unless_it_is_asked_for_a_figure_that_one_value_alone_has_does_not_decide() {
    const HTTP: &str = "kinds.http.response_ms.p99";
    let mut random = fastrand::Rng::with_seed(1);
    let of = |transport: &str, rate: f64, random: &mut fastrand::Rng| {
        let mut group = group(json!(transport), 5, 20.0, 0.01, random);
        for run in &mut group.runs {
            let time = run.figures.remove(P99).unwrap();
            run.figures.insert(format!("kinds.{transport}.response_ms.p99"), time);
            run.figures.insert(format!("kinds.{transport}.count"), rate * 60.0);
            run.figures.insert("operations_per_s".to_owned(), rate * time / 20.0);
        }
        group
    };
    let groups =
        [("http", 900.0), ("ws", 400.0), ("sse", 500.0)].map(|(name, rate)| of(name, rate, &mut random));
    let choice = choose("transport", groups.to_vec(), &question());
    assert_eq!(choice.figure.map(|figure| figure.name).as_deref(), Some("operations_per_s"));
    assert!(choice.tried.iter().all(|tried| tried.unjudged.is_none()), "{:?}", choice.tried);
    let asked = Question { primary: Some(HTTP.to_owned()), ..question() };
    let choice = choose("transport", groups.to_vec(), &asked);
    assert_eq!((choice.best, &choice.tried[1].unjudged), (Some(0), &Some(Unjudged::Lacking)));
    // Where they have nothing in common, one value's own figure is better than no word.
    let mut apart = groups;
    for run in apart.iter_mut().flat_map(|group| &mut group.runs) {
        run.figures.remove("operations_per_s");
    }
    let choice = choose("transport", apart.to_vec(), &question());
    assert_eq!(choice.figure.map(|figure| figure.name).as_deref(), Some(HTTP));
}

#[test]
fn values_that_are_not_judged_end_no_range_and_hide_no_slope() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut edge = |values: &[(u64, f64)], never: &[u64]| {
        let group = |(value, centre): &(u64, f64)| {
            let runs = if never.contains(value) { 0 } else { 5 };
            group(json!(value), runs, *centre, 0.01, &mut random)
        };
        let choice = choose("pool", values.iter().map(group).collect(), &question());
        choice.edge
    };
    let falling = [(2, 400.0), (10, 200.0), (50, 50.0), (100, 20.0)];
    assert_eq!(edge(&falling, &[]), Some(Edge::Largest));
    assert_eq!(edge(&falling, &[100]), Some(Edge::Largest), "the largest never ran");
    assert_eq!(edge(&falling, &[50]), Some(Edge::Largest), "the one below the best never ran");
    assert_eq!(edge(&falling, &[2, 10, 50]), None, "one value is no range");
    let rising = [(2, 20.0), (10, 20.0), (50, 200.0)];
    assert_eq!(edge(&rising, &[2]), Some(Edge::Smallest), "the smallest never ran");
}
