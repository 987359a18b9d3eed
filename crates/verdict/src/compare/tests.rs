use super::*;
use std::f64::consts::TAU;

/// Ten runs and more a side whose p99 is lognormal around `centre`, with a spread of a run of `spread`.
fn side(label: &str, runs: usize, centre: f64, spread: f64, random: &mut fastrand::Rng) -> Side {
    let run = |at: usize, random: &mut fastrand::Rng| {
        let p99 = centre * (spread * normal(random)).exp();
        let figures = [
            ("delivery.latency_ms.p99", p99),
            ("delivery.latency_ms.p50", 1.0 + 0.001 * random.f64()),
            ("delivery.ratio", 1.0),
            ("operations_per_s", 100.0 + random.f64()),
        ];
        Observation {
            name: format!("{label}-{at}"),
            started: String::new(),
            figures: figures.map(|(name, value)| (name.to_owned(), value)).into(),
            conditions: BTreeMap::from([("script".to_owned(), "5f2c".to_owned())]),
            unsound: None,
            failed: false,
            warm_up: None,
        }
    };
    Side { label: label.to_owned(), runs: (0..runs).map(|at| run(at, random)).collect() }
}

/// Box and Muller.
pub(super) fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

pub(super) fn question() -> Question {
    Question { primary: None, metrics: Vec::new(), margin: 0.05, across: Vec::new() }
}

/// What is said of sides of so many runs, the second's p99 `change` times the first's.
fn verdict(runs: usize, change: f64, spread: f64, seed: u64) -> Comparison {
    let mut random = fastrand::Rng::with_seed(seed);
    let sides =
        [side("A", runs, 20.0, spread, &mut random), side("B", runs, 20.0 * change, spread, &mut random)];
    compare(&sides, &question())
}

#[test]
fn a_change_beyond_the_margin_is_named_by_what_it_means() {
    assert_eq!(verdict(10, 1.3, 0.03, 1).verdict, Judgement::Worse);
    assert_eq!(verdict(10, 0.7, 0.03, 2).verdict, Judgement::Better);
    assert_eq!(verdict(10, 1.0, 0.01, 3).verdict, Judgement::Same);
}

#[test]
fn a_side_whose_runs_fail_is_worse_however_fast_it_fails() {
    let mut random = fastrand::Rng::with_seed(4);
    let mut sides = [side("A", 10, 20.0, 0.03, &mut random), side("B", 10, 1.0, 0.03, &mut random)];
    sides[1].runs.iter_mut().for_each(|run| run.failed = true);
    let comparison = compare(&sides, &question());
    assert_eq!((comparison.verdict, comparison.failed), (Judgement::Worse, [0, 10]));
}

#[test]
fn rates_of_k6_have_a_better_side() {
    let direction = |name| Figure::named(name).direction;
    assert_eq!(direction("http_req_failed.rate"), Direction::LowerIsBetter);
    assert_eq!(direction("checks.rate"), Direction::HigherIsBetter);
    assert_eq!(direction("http_req_blocked.p95"), Direction::LowerIsBetter);
}

#[test]
fn of_two_hundred_pairs_of_equal_systems_at_most_one_in_twenty_is_called_different() {
    for spread in [0.02, 0.06, 0.2] {
        let different = |seed: &u64| {
            matches!(verdict(10, 1.0, spread, *seed).verdict, Judgement::Better | Judgement::Worse)
        };
        let called = (0..200).filter(different).count();
        assert!(called <= 10, "{called} of 200 with runs that vary by {spread}");
    }
}

#[test]
fn a_change_of_ten_percent_is_called_nine_times_in_ten_at_ten_runs_a_side() {
    let called = (0..200).filter(|seed| verdict(10, 1.1, 0.05, *seed).verdict == Judgement::Worse).count();
    assert!(called >= 180, "{called} of 200");
}

#[test]
fn one_pair_of_runs_decides_nothing_however_far_apart() {
    let pair = verdict(1, 3.0, 0.01, 1);
    assert_eq!(pair.verdict, Judgement::Inconclusive);
    assert_eq!(pair.primary.unwrap().effect.interval, None);
    assert_eq!(verdict(4, 3.0, 0.01, 1).verdict, Judgement::Inconclusive);
    assert_eq!(verdict(5, 3.0, 0.01, 1).verdict, Judgement::Worse);
}

#[test]
fn an_open_comparison_says_how_many_runs_would_decide_and_what_it_could_have_seen() {
    // Nearer to the margin than this, so few runs find changes that no affordable number would tell.
    let is_open = |open: &Comparison| {
        let needed = open.primary.as_ref().and_then(|primary| primary.runs_needed);
        open.verdict == Judgement::Inconclusive && needed.is_some()
    };
    let open = (0..20).map(|seed| verdict(6, 1.2, 0.15, seed)).find(is_open).unwrap();
    let primary = open.primary.unwrap();
    let needed = primary.runs_needed.unwrap();
    assert!((7..=RUNS_AT_MOST).contains(&needed), "{needed}");
    let (detectable, (_, high)) = (primary.effect.detectable.unwrap(), primary.effect.interval.unwrap());
    assert!(detectable > high / primary.effect.estimate, "{detectable}");
}

#[test]
fn one_figure_of_many_that_stands_out_by_chance_is_corrected_for_their_number() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut sides = [side("A", 10, 20.0, 0.01, &mut random), side("B", 10, 20.0, 0.01, &mut random)];
    // Twenty operations whose p99 varies by chance alone, and widely.
    for run in sides.iter_mut().flat_map(|side| &mut side.runs) {
        for operation in 0..20 {
            let name = format!("operations.page {operation}.response_ms.p99");
            run.figures.insert(name, 10.0 * (0.5 * normal(&mut random)).exp());
        }
    }
    let comparison = compare(&sides, &question());
    let alone = |other: &&Compared| other.effect.p.is_some_and(|p| p <= SIGNIFICANT);
    assert!(comparison.others.iter().any(|other| alone(&other)), "none stood out: choose another seed");
    assert!(
        comparison
            .others
            .iter()
            .all(|other| !matches!(other.judgement, Judgement::Better | Judgement::Worse))
    );
}

#[test]
fn lost_deliveries_are_no_part_of_five_percent() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    sides[1].runs.iter_mut().for_each(|run| {
        run.figures.insert("delivery.ratio".to_owned(), 0.99);
    });
    let comparison = compare(&sides, &question());
    assert_eq!(comparison.verdict, Judgement::Same);
    let ratio = comparison.others.iter().find(|other| other.figure.name == "delivery.ratio").unwrap();
    assert_eq!(ratio.judgement, Judgement::Worse);
}

#[test]
fn runs_of_different_scripts_are_not_comparable_unless_that_is_what_was_changed() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    let other = |run: &mut Observation| drop(run.conditions.insert("script".to_owned(), "9b1e".to_owned()));
    sides[1].runs.iter_mut().for_each(other);
    let comparison = compare(&sides, &question());
    assert_eq!(comparison.verdict, Judgement::NotComparable);
    assert_eq!(comparison.mismatches[0].what, "script");
    let declared = Question { across: vec!["script".to_owned()], ..question() };
    assert_eq!(compare(&sides, &declared).verdict, Judgement::Same);
    // A side that is no one thing cannot be what was changed.
    sides[0].runs[0].conditions.insert("script".to_owned(), "9b1e".to_owned());
    assert_eq!(compare(&sides, &declared).verdict, Judgement::NotComparable);
}

#[test]
fn a_run_whose_generator_fell_behind_is_left_out_and_told() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 6, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    sides[0].runs[5].unsound = Some(Unsound::Invalid);
    sides[0].runs[5].figures.insert("delivery.latency_ms.p99".to_owned(), 9000.0);
    let comparison = compare(&sides, &question());
    assert_eq!(comparison.verdict, Judgement::Same);
    assert_eq!(comparison.sides[0], ("A".to_owned(), 5));
    assert_eq!(comparison.left_out[0].run, "A-5");
}

#[test]
fn a_primary_figure_that_a_run_lacks_is_replaced_by_no_other() {
    let mut random = fastrand::Rng::with_seed(1);
    let sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    let asked = Question { primary: Some("operations.list.response_ms.p99".to_owned()), ..question() };
    let comparison = compare(&sides, &asked);
    assert_eq!(comparison.verdict, Judgement::NotComparable);
    assert_eq!(comparison.missing, vec!["operations.list.response_ms.p99"]);
}

#[test]
fn a_primary_figure_that_is_zero_in_a_run_is_replaced_by_no_other_either() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    sides[0].runs[0].figures.insert("delivery.latency_ms.p99".to_owned(), 0.0);
    let comparison = compare(&sides, &question());
    assert_eq!(comparison.verdict, Judgement::NotComparable);
    assert!(comparison.primary.is_none() && !comparison.others.is_empty());
    assert_eq!(comparison.without_ratio, vec!["delivery.latency_ms.p99"]);
}

#[test]
fn names_say_which_way_is_better() {
    let check = |name: &str, direction, scale| {
        let figure = Figure::named(name);
        assert_eq!((figure.direction, figure.scale), (direction, scale), "{name}");
    };
    check("delivery.latency_ms.p99", Direction::LowerIsBetter, Scale::Ratio);
    check("operations.list.response_ms.mean", Direction::LowerIsBetter, Scale::Ratio);
    check("http_req_duration.p95", Direction::LowerIsBetter, Scale::Ratio);
    check("delivery.ratio", Direction::HigherIsBetter, Scale::Difference);
    check("delivery.lost", Direction::LowerIsBetter, Scale::Difference);
    check("operations.list.rate_per_s", Direction::HigherIsBetter, Scale::Ratio);
    check("errors.connect_refused", Direction::LowerIsBetter, Scale::Difference);
    check("target.memory_bytes.max", Direction::Neither, Scale::Ratio);
}

#[test]
fn as_many_runs_as_are_advised_decide_four_times_in_five() {
    // Runs that vary by 5 % and differ by 8 %, as they are said to.
    let advised = |of| {
        let decision =
            Decision::Different { change: 1.08_f64.ln(), beyond: (1.08_f64 / 1.05).ln(), level: 0.05 / of };
        runs_needed(0.05, decision).unwrap()
    };
    let runs = advised(1.0);
    let called = (0..300).filter(|seed| verdict(runs, 1.08, 0.05, *seed).verdict == Judgement::Worse).count();
    assert!((225..=285).contains(&called), "{called} of 300 with {runs} runs a side");
    assert!(advised(20.0) >= runs);
    let same = runs_needed(0.02, Decision::Same { inside: 1.05_f64.ln() }).unwrap();
    let called = (0..300).filter(|seed| verdict(same, 1.0, 0.02, *seed).verdict == Judgement::Same).count();
    assert!(called >= 225, "{called} of 300 with {same} runs a side");
}

#[test]
fn one_of_many_figures_needs_more_runs_than_if_it_were_alone() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut sides = [side("A", 6, 20.0, 0.01, &mut random), side("B", 6, 20.0, 0.01, &mut random)];
    for (at, run) in
        sides.iter_mut().enumerate().flat_map(|(at, side)| side.runs.iter_mut().map(move |run| (at, run)))
    {
        for operation in 0..20 {
            let centre = if at == 0 { 10.0 } else { 12.0 };
            let name = format!("operations.page {operation}.response_ms.p99");
            run.figures.insert(name, centre * (0.2 * normal(&mut random)).exp());
        }
    }
    let comparison = compare(&sides, &question());
    let alone = |other: &Compared| {
        let change = other.effect.estimate.ln().abs();
        let beyond = change - 1.05_f64.ln();
        runs_needed(other.effect.spread?, Decision::Different { change, beyond, level: SIGNIFICANT })
    };
    let open = comparison.others.iter().filter(|other| other.effect.estimate > 1.1);
    let pairs: Vec<_> = open.filter_map(|other| Some((other.runs_needed?, alone(other)?))).collect();
    assert!(pairs.len() > 5 && pairs.iter().all(|(corrected, alone)| corrected >= alone), "{pairs:?}");
    assert!(pairs.iter().any(|(corrected, alone)| corrected > alone), "{pairs:?}");
}

#[test]
fn one_run_without_the_primary_figure_is_told_and_the_others_decide() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 6, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    sides[0].runs[2].figures.remove("delivery.latency_ms.p99");
    let comparison = compare(&sides, &question());
    assert_eq!(comparison.verdict, Judgement::Same);
    let primary = comparison.primary.unwrap();
    assert_eq!((primary.figure.name.as_str(), primary.runs[0].len()), ("delivery.latency_ms.p99", 5));
    assert_eq!(comparison.sides[0].1, 6);
}

#[test]
fn by_default_the_kind_with_most_operations_decides() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    for run in sides.iter_mut().flat_map(|side| &mut side.runs) {
        run.figures.retain(|name, _| !name.starts_with("delivery."));
        for (kind, count) in [("connect", 5.0), ("http", 900.0), ("send", 20.0)] {
            run.figures.insert(format!("kinds.{kind}.response_ms.p99"), 10.0 + random.f64());
            run.figures.insert(format!("kinds.{kind}.count"), count);
        }
    }
    assert_eq!(compare(&sides, &question()).primary.unwrap().figure.name, "kinds.http.response_ms.p99");
}

#[test]
fn of_another_tools_report_the_time_of_answers_decides() {
    let names =
        ["http_req_blocked.p95", "http_req_duration.p95", "http_req_duration.p50", "iteration_duration.p95"];
    let report = |name: &str| {
        let figures = names.map(|name| (name.to_owned(), 1.0)).into();
        Side { label: name.to_owned(), runs: vec![Observation::of_report(name, "k6", figures)] }
    };
    let comparison = compare(&[report("A"), report("B")], &question());
    assert_eq!(comparison.primary.unwrap().figure.name, "http_req_duration.p95");
}

#[test]
fn a_failure_that_a_run_did_not_see_happened_no_times() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut sides = [side("A", 5, 20.0, 0.01, &mut random), side("B", 5, 20.0, 0.01, &mut random)];
    sides[1].runs.iter_mut().for_each(|run| {
        run.figures.insert("errors.connect_refused".to_owned(), 7.0);
    });
    let asked = |name: &str| Question { primary: Some(name.to_owned()), ..question() };
    let refused = compare(&sides, &asked("errors.connect_refused"));
    assert_eq!((refused.verdict, &refused.missing), (Judgement::Worse, &Vec::new()));
    assert_eq!(refused.primary.unwrap().means, [0.0, 7.0]);
    assert_eq!(compare(&sides, &asked("errors.connect_timeout")).verdict, Judgement::Same);
    // What is no failure is a slip of the pen, and not 0.
    assert_eq!(compare(&sides, &asked("errors.conect_refused")).missing, vec!["errors.conect_refused"]);
    // A run without operations counted none.
    sides[0].runs.iter_mut().for_each(|run| {
        run.figures.remove("operations_per_s");
    });
    assert_eq!(compare(&sides, &asked("errors.connect_refused")).verdict, Judgement::NotComparable);
}
