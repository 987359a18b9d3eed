//! Repeated runs over a matrix: a row a combination, which value is best, and what the machine did meanwhile.

use crate::fixture;
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use sonagi_measure::summary::{Conclusion, Users};
use sonagi_report::Matrix;
use sonagi_report::matrix::{Asked, Figures, Fingerprint, Run, markdown};
use sonagi_verdict::compare::{Observation, WarmUp};

const P99: &str = "delivery.latency_ms.p99";

fn combination(pool: u64) -> Map<String, Value> {
    Map::from_iter([("pool".to_owned(), json!(pool))])
}

/// A run whose deliveries have this p99.
fn run(pool: u64, round: usize, p99: f64) -> Run {
    let mut summary = fixture::fan_out();
    summary.users = Users { connected_peak: 100, wanted: Some(100), ..summary.users };
    summary.delivery.as_mut().unwrap().latency_ms.p99 = p99;
    summary.combination = combination(pool);
    let combination = combination(pool);
    Run { combination, round: Some(round), seed: Some(7), summary: Some(summary), ..Run::default() }
}

/// Three sizes of a pool, five rounds: 2 is far too small, 10 and 50 are alike; one run of 50 began on a busy machine,
/// one was INVALID. The machine got slower by a fifth.
fn pools() -> Matrix {
    let mut runs = Vec::new();
    for round in 1..=5 {
        let noise = 1.0 + 0.004 * (round % 3) as f64;
        runs.extend([
            run(50, round, 54.0 * noise),
            run(2, round, 468.0 * noise),
            run(10, round, 55.0 / noise),
        ]);
    }
    runs[3].before = Some(Fingerprint { busy: Some(0.45), ..Fingerprint::default() });
    runs.push(run(50, 6, 9000.0));
    runs[15].summary.as_mut().unwrap().verdict.result = Conclusion::Invalid;
    runs.push(Run { is_anchor: true, ..run(2, 6, 468.0 * 1.2) });
    let mut matrix = Matrix {
        name: "pool".into(),
        started: "2026-11-21T19:42:13Z".into(),
        version: "0.1.0".into(),
        axes: vec!["pool".into()],
        planned: 16,
        repeat: 5,
        seed: Some(7),
        combinations: [2, 10, 50].map(combination).into(),
        compare: Some(Asked { across: "pool".into(), primary: Some(P99.into()), margin: 0.05 }),
        runs,
        ..Matrix::default()
    };
    let observed: Vec<Option<Observation>> = matrix.runs.iter().map(observed).collect();
    matrix.judge(&observed);
    matrix
}

fn observed(run: &Run) -> Option<Observation> {
    let seen = Observation::of_summary(&run.label(), run.summary.as_ref()?);
    Some(seen.warmed_up("auto", WarmUp::Cut(if run.round == Some(1) { 5 } else { 0 })))
}

#[test]
fn the_best_value_comes_first_and_the_chart_shows_what_that_stands_on() {
    let shown = pools().console(80, false);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_snapshot!(shown, @"
    matrix      15 of 16 runs sustained all users with every message delivered ·
                pool
                50, round 6: INVALID; the generator saturated: it fell behind
    take        pool 10 (delivery.latency_ms.p99 54.7 ms, as good as the best, pool
                50; pool 2 is 8.67 × as much, sure)

    pool         held   held/wanted conn avg conn p95  ops/s msgs/s  delivered
    2          5 of 5       100/100     3.30     7.50   87.0  7,905      100 %
    10         5 of 5       100/100     3.30     7.50   87.0  7,905      100 %
    50         5 of 6       100/100     3.30     7.50   87.0  7,905      100 %

    pool         held  fails e2e p50 e2e p95 e2e p99  replayed  B/copy
    2          5 of 5      0    1.20    3.00     470         0     192
    10         5 of 5      0    1.20    3.00    54.8         0     192
    50         5 of 6      0    1.20    3.00    54.2         0     192

                Times in ms. held/wanted: most users connected at one time. conn:
                until a user is connected. msgs/s: copies that arrived. fails:
                failures of all kinds. e2e: planned send to receipt. B/copy: all
                bytes received over the copies that arrived. held: runs that
                sustained all their users, of those made. Figures are medians over
                the runs that say something of the target.

    pool                                 p99    95 % interval   change
    2                           ●     470 ms          468–472  8.667 ×  worse
    10       ●                       54.7 ms        54.5–55.0  1.009 ×  same
    50       ●                       54.3 ms        54.0–54.5           best

    take        pool 10: the smallest value that is as good as the best
    left out    50, round 6: INVALID: its figures are the load generator's, not the
                target's

    drift       the machine got slower meanwhile: the first combination, run once
                more at the end, has delivery.latency_ms.p99 + 19.4 % against its
                other runs, more than these differ
    warm-up     5 s cut from 3 of 17 runs
    machine     1 of 17 runs began while it was busy: 50, round 2: others use 45 %
                of this machine
    seed        7 draws the order of each round and its runs' seeds
    ");
}

#[test]
fn an_axis_is_compared_within_each_combination_of_the_others() {
    let mut matrix = pools();
    matrix.axes.push("users".into());
    for (at, run) in matrix.runs.iter_mut().enumerate() {
        let users = if at % 2 == 0 { 100 } else { 1000 };
        run.combination.insert("users".into(), json!(users));
    }
    let of_users = |users: u64| {
        [2, 10, 50]
            .map(|pool| combination(pool).into_iter().chain([("users".to_owned(), json!(users))]).collect())
    };
    matrix.combinations = [100, 1000].into_iter().flat_map(of_users).collect();
    let observed: Vec<Option<Observation>> = matrix.runs.iter().map(observed).collect();
    matrix.judge(&observed);
    let within: Vec<&Value> = matrix.answer.choices.iter().map(|choice| &choice.within["users"]).collect();
    assert_eq!(within, [&json!(100), &json!(1000)]);
    assert!(matrix.answer.choices.iter().all(|choice| choice.tried.len() == 3));
    let shown = matrix.console(80, false);
    assert!(
        shown.contains("\nbest        users 100: pool ")
            && shown.contains("\nbest        users 1,000: pool "),
        "{shown}"
    );
    let chart_of = |users: &str| shown.contains(&format!("\n\n{users}\npool  "));
    assert!(chart_of("users 100") && chart_of("users 1,000"), "{shown}");
}

#[test]
fn runs_of_which_no_number_of_users_was_asked_pass_and_the_usual_cause_is_told() {
    let mut matrix = pools();
    for run in &mut matrix.runs {
        run.summary.as_mut().unwrap().users.wanted = None;
        run.cause = (run.combination["pool"] == json!(2)).then(|| "The target waited.".to_owned());
    }
    // What happened once is not told.
    matrix.runs[2].cause = Some("The pool of 10 was at fault.".to_owned());
    let shown = matrix.console(80, false);
    assert!(
        shown.starts_with("matrix      15 of 16 runs passed with every message delivered · pool\n"),
        "{shown}"
    );
    assert!(shown.contains("\npool       passed  most users "), "{shown}");
    assert!(shown.contains("\ncause       pool 2: The target waited.\n"), "{shown}");
    assert!(!shown.contains("at fault"), "{shown}");
}

#[test]
fn a_drift_that_rounds_to_nothing_has_no_direction() {
    let mut matrix = pools();
    // The mean of the other runs of this value, and a hair less.
    matrix.runs[16] = Run { is_anchor: true, ..run(2, 6, 470.2) };
    let observed: Vec<Option<Observation>> = matrix.runs.iter().map(observed).collect();
    matrix.judge(&observed);
    let shown = matrix.console(200, false);
    assert!(shown.contains("drift       none to be seen: ") && shown.contains(" ± 0 % against "), "{shown}");
}

#[test]
fn markdown_has_the_same_table_and_choice() {
    let text = markdown(&pools());
    assert!(text.contains("| pool | held | held/wanted |"), "{text}");
    assert!(text.contains("\n| 50 | 5 of 6 |"), "{text}");
    assert!(
        text.contains("\n**Take: pool 10 (delivery.latency\\_ms.p99")
            || text.contains("\n**Take: pool 10 (delivery.latency_ms.p99"),
        "{text}"
    );
    assert!(text.contains("\n- take: pool 10"), "{text}");
    assert!(text.contains("\n- drift: the machine got slower meanwhile"), "{text}");
}

#[test]
fn the_document_keeps_every_run_and_reads_back_without_the_answer() {
    let matrix = pools();
    let text = matrix.document();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 17);
    assert_eq!(
        (&document["runs"][16]["is_anchor"], &document["runs"][1]["round"]),
        (&json!(true), &json!(1))
    );
    let choice = &document["comparison"]["choices"][0];
    assert_eq!((&choice["axis"], &choice["best"], &choice["take"]), (&json!("pool"), &json!(2), &json!(1)));
    assert_eq!(choice["tried"][0]["against_best"]["judgement"], "worse");
    let mut read = Matrix::read(&text).unwrap();
    let again: Vec<Option<Observation>> = read.runs.iter().map(observed).collect();
    read.judge(&again);
    assert_eq!(read, matrix);
}

#[test]
fn documents_of_before_runs_were_repeated_are_still_read() {
    let old = r#"{"name":"old","started":"2026-11-21T19:42:13Z","version":"0.1.0","axes":["users"],"planned":1,
        "runs":[{"combination":{"users":3},"held":false,"summary":null,"error":"error: x"}]}"#;
    let matrix = Matrix::read(old).unwrap();
    assert!(!matrix.is_repeated());
    let shown = matrix.console(80, false);
    assert!(shown.contains("3: could not run: x") && shown.contains("\n3 "), "{shown}");
}

#[test]
fn medians_are_of_the_runs_that_have_a_figure() {
    let figures = |p99: Option<f64>, failures: u64| {
        let mut figures = Figures::of(&fixture::minimal());
        (figures.end_to_end_p99_ms, figures.failures) = (p99, failures);
        figures
    };
    let three = [figures(Some(9.0), 0), figures(Some(1.0), 3), figures(Some(2.0), 1)];
    let median = Figures::median(&three).unwrap();
    assert_eq!((median.end_to_end_p99_ms, median.failures), (Some(2.0), 1));
    let two = [figures(Some(9.0), 0), figures(None, 4), figures(Some(1.0), 3), figures(None, 1)];
    let median = Figures::median(&two).unwrap();
    assert_eq!((median.end_to_end_p99_ms, median.failures), (Some(5.0), 2));
    assert_eq!(Figures::median(&[]), None);
}

#[test]
fn a_machine_is_busy_when_others_use_a_fifth_of_it() {
    let print = |busy: f64, stolen: f64| Fingerprint {
        busy: Some(busy),
        stolen: Some(stolen),
        ..Fingerprint::default()
    };
    assert_eq!(print(0.19, 0.04).trouble(), None);
    assert_eq!(print(0.45, 0.0).trouble().as_deref(), Some("others use 45 % of this machine"));
    assert!(print(0.0, 0.05).trouble().unwrap().contains("5 % of its time to other guests"));
    assert_eq!(Fingerprint::default().trouble(), None);
}

/// What is shown of the pools when these runs are others.
fn shown_with(change: impl Fn(&mut Run)) -> String {
    let mut matrix = pools();
    matrix.runs.iter_mut().for_each(change);
    let observed: Vec<Option<Observation>> = matrix.runs.iter().map(observed).collect();
    matrix.judge(&observed);
    matrix.console(100, false)
}

#[test]
fn a_value_whose_runs_never_start_is_told_as_not_judged_with_why() {
    let shown = shown_with(|run| {
        if run.combination == combination(2) {
            (run.summary, run.error) = (None, Some("error: port 3000 is in use\nhint: …".into()));
        }
    });
    assert!(shown.contains(", as good as the best, pool 50; pool 2 is not"), "{shown}");
    assert!(
        shown.contains("\nedge        pool 10, the smallest value tried, is as good as any: "),
        "{shown}"
    );
    assert!(shown.contains("\nnot judged  pool 2: could not run: port 3000 is in use\n"), "{shown}");
    let row = shown.lines().filter(|line| line.starts_with("2 ")).find(|line| line.ends_with("  not run"));
    assert!(row.is_some(), "{shown}");
}

#[test]
fn a_figure_that_is_zero_or_missing_in_a_run_is_told_as_that() {
    let in_round_one = |p99: Option<f64>| {
        shown_with(|run| {
            let delivery = run.summary.as_mut().and_then(|summary| summary.delivery.as_mut());
            if let (true, Some(delivery)) =
                (run.combination == combination(2) && run.round == Some(1), delivery)
            {
                match p99 {
                    Some(p99) => delivery.latency_ms.p99 = p99,
                    None => run.summary.as_mut().unwrap().delivery = None,
                }
            }
        })
    };
    let zero = in_round_one(Some(0.0));
    assert!(
        zero.contains("\nnot judged  pool 2: delivery.latency_ms.p99 is 0 in a run, and 0 has no ratio\n"),
        "{zero}"
    );
    assert!(zero.contains("  0: no ratio\n") && !zero.contains("no run"), "{zero}");
    let lacking = in_round_one(None);
    assert!(lacking.contains("pool 2 is 8.6"), "{lacking}");
    assert!(
        lacking.contains("\nmissing     pool 2: 1 of 5 runs lack the figure; the others are judged\n"),
        "{lacking}"
    );
}
