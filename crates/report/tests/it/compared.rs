//! What is told of two sides of runs, on a terminal.

use sonagi_report::comparison::text;
use sonagi_verdict::compare::{Observation, Question, Side, compare};
use std::collections::BTreeMap;

const P99: &str = "delivery.latency_ms.p99";

fn side(label: &str, p99: &[f64]) -> Side {
    let run = |(at, p99): (usize, &f64)| Observation {
        name: format!("{label}-{at}"),
        started: String::new(),
        figures: BTreeMap::from([(P99.to_owned(), *p99), ("failed_share".to_owned(), 0.0)]),
        conditions: BTreeMap::from([("script".to_owned(), "5f2c".to_owned())]),
        unsound: None,
        failed: false,
        warm_up: None,
    };
    Side { label: label.to_owned(), runs: p99.iter().enumerate().map(run).collect() }
}

fn told(sides: &[Side; 2]) -> String {
    let question =
        Question { primary: Some(P99.to_owned()), metrics: Vec::new(), margin: 0.05, across: Vec::new() };
    text(&compare(sides, &question), 100, false)
}

#[test]
fn a_primary_figure_that_is_zero_in_a_run_is_said_to_have_no_ratio() {
    let told = told(&[side("A", &[20.0; 5]), side("B", &[20.0, 20.0, 0.0, 20.0, 20.0])]);
    let expected = format!(
        "NOT COMPARABLE\n            {P99} cannot be compared: it is 0 in a run, and 0 has no ratio\n"
    );
    assert!(told.starts_with(&expected) && told.contains("\nnext        decide by a figure"), "{told}");
}

#[test]
fn a_figure_asked_for_that_is_zero_in_a_run_is_named_beside_the_primary_one() {
    const P50: &str = "delivery.latency_ms.p50";
    let mut sides = [side("A", &[20.0; 5]), side("B", &[20.0; 5])];
    for run in sides.iter_mut().flat_map(|side| &mut side.runs) {
        run.figures.insert(P50.to_owned(), 2.0);
    }
    sides[1].runs[2].figures.insert(P50.to_owned(), 0.0);
    let question = Question {
        primary: Some(P99.to_owned()),
        metrics: vec![P50.to_owned()],
        margin: 0.05,
        across: Vec::new(),
    };
    let told = text(&compare(&sides, &question), 100, false);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("{P50} is 0 in a run, and has no ratio: it is not compared")), "{told}");
    assert!(!told.contains("cannot be compared"), "{told}");
}

#[test]
fn runs_that_are_reports_are_said_to_be_single_figures() {
    let report = |tool: &str| Observation::of_report("x", tool, BTreeMap::from([(P99.to_owned(), 20.0)]));
    let mut sides = [side("A", &[20.0; 5]), side("B", &[20.0; 5])];
    assert!(!told(&sides).contains("reports"), "runs are none");
    sides[1].runs = vec![report("another")];
    let words = told(&sides).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("reports 1 of 6 runs is a report of another: single figures, without their"),
        "{words}"
    );
    sides[0].runs = vec![report("another")];
    let words = told(&sides).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("reports 2 of 2 runs are reports of another: single figures"), "{words}");
}

#[test]
fn a_hint_that_cannot_help_is_not_given() {
    let mut sides = [side("A", &[20.0; 5]), side("B", &[20.0; 5])];
    let other = |run: &mut Observation| drop(run.conditions.insert("script".to_owned(), "9b1e".to_owned()));
    sides[1].runs.iter_mut().for_each(other);
    assert!(told(&sides).contains("if that is what was changed: --across script"), "{}", told(&sides));
    other(&mut sides[0].runs[0]);
    let told = told(&sides);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the runs of a side must have one script: name only those"), "{told}");
    assert!(!told.contains("--across"), "{told}");
}

#[test]
fn no_fewer_runs_than_were_made_are_advised() {
    // The few runs of one side vary widely, the many of the other hardly: together they vary little.
    let a = [0.9, 1.1, 0.9, 1.1, 1.0].map(|part| 20.0 * part);
    let shown = told(&[side("A", &a), side("B", &[21.6; 40])]);
    assert!(shown.starts_with("INCONCLUSIVE"), "{shown}");
    assert!(shown.contains("\nnext        a few more runs a side would decide it\n"), "{shown}");
}

#[test]
fn runs_without_a_figure_are_counted() {
    let mut sides = [side("A", &[20.0; 6]), side("B", &[20.0; 6])];
    sides[0].runs[2].figures.remove(P99);
    let told = told(&sides);
    assert!(
        told.contains(&format!("missing     {P99} is judged without 1 of 6 runs of A, which lack it\n")),
        "{told}"
    );
}
