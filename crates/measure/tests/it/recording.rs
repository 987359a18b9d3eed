//! The recorder: what goes in comes out once.

use crate::fixture::{header, record_second, timing};
use sonagi_measure::At;
use sonagi_measure::ledger::{Move, Moved, Rules, Sent};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::recorder::{CALLED_MAX, Counter, EXAMPLE_BYTES, FailureCount, Recorder, merge_failure};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};

#[test]
fn response_time_runs_from_the_plan_and_service_time_from_the_start() {
    let mut recorder = Recorder::new(1, 1);
    recorder.operation(OperationId(0), timing(5_000_000, 2_000_000), Outcome::Ok);
    let record = recorder.take();
    let at = |h: &Option<Box<sonagi_measure::Histogram>>| h.as_ref().unwrap().quantiles().max;
    let timings = &record.operations[0];
    // Three digits: 3 ms is kept as up to 3.001.
    assert_eq!((at(&timings.response), at(&timings.service), at(&timings.first_byte)), (3.001, 2.0, 1.0));
}

#[test]
fn only_what_was_answered_or_waited_for_to_its_limit_has_a_response_time() {
    let mut recorder = Recorder::new(1, 1);
    let timed = [
        Outcome::Ok,
        Outcome::Status(503),
        Outcome::Failed(Failure::Timeout),
        Outcome::Failed(Failure::ConnectTimeout),
        Outcome::Failed(Failure::HandshakeRefused(401)),
    ];
    let untimed = [Failure::ConnectRefused, Failure::Reset, Failure::TlsFailed].map(Outcome::Failed);
    for outcome in timed.into_iter().chain(untimed) {
        recorder.operation(OperationId(0), timing(0, 1000), outcome);
    }
    let record = recorder.take();
    let timings = &record.operations[0];
    let count = |h: &Option<Box<sonagi_measure::Histogram>>| h.as_ref().unwrap().count();
    assert_eq!((count(&timings.response), count(&timings.service)), (5, 5));
    assert_eq!((timings.failed, timings.unanswered), (6, 3));
}

#[test]
fn a_refused_poll_counts_under_its_status_where_it_is_seen_and_not_where_it_fails_something() {
    let mut recorder = Recorder::new(1, 1);
    let failure = Failure::PollRefused(429);
    recorder.status(429);
    recorder.operation(OperationId(0), timing(0, 1000), Outcome::Failed(failure));
    recorder.failure(Some(OperationId(0)), failure, || "slow down".to_owned());
    recorder.failure(None, failure, || "slow down".to_owned());
    let record = recorder.take();
    assert_eq!(record.codes[429], 1);
    assert_eq!(record.failures.iter().map(|failed| failed.count).sum::<u64>(), 2);
}

#[test]
fn a_redirects_hop_is_an_answer_and_no_operation() {
    let mut recorder = Recorder::new(1, 1);
    recorder.hop(OperationId(0), 302, 4_000_000, At(0));
    let record = recorder.take();
    assert_eq!((record.codes[302], &record.operations[0].response), (1, &None));
    assert!(record.operations[0].answers.codes().is_empty());
}

#[test]
fn what_a_function_says_of_its_failure_counts_apart_up_to_a_number_of_names() {
    let mut recorder = Recorder::new(1, 1);
    let id = Some(OperationId(0));
    let mut fail = |called: &str| {
        recorder.operation(OperationId(0), timing(0, 1000), Outcome::Failed(Failure::Function));
        recorder.failure_called(id, Failure::Function, None, called, || format!("threw {called}"));
    };
    ["", "no stock", "no stock"].into_iter().for_each(&mut fail);
    (1..CALLED_MAX + 3).for_each(|n| fail(&format!("no stock of {n}")));
    let record = recorder.take();
    let told: Vec<_> =
        record.failures.iter().map(|f| (f.called.as_str(), f.count, f.example.as_str())).collect();
    assert_eq!(told.len(), CALLED_MAX + 1);
    assert_eq!(told[..2], [("", 1 + 3, "threw "), ("no stock", 2, "threw no stock")]);
    assert_eq!(record.operations[0].failed, 3 + CALLED_MAX as u64 + 2);
    assert_eq!(record.failures[1].first_at, At(1000));
    let mut all = record.failures.clone();
    let late = FailureCount { called: "late".into(), count: 1, ..FailureCount::none(id, Failure::Function) };
    merge_failure(&mut all, &late);
    assert_eq!((all.len(), all[0].count), (CALLED_MAX + 1, 5));
}

#[test]
fn a_failure_reported_with_its_operation_counts_once() {
    let mut recorder = Recorder::new(2, 1);
    let failed = |recorder: &mut Recorder, id| {
        recorder.operation(OperationId(id), timing(0, 1000), Outcome::Failed(Failure::Timeout));
    };
    failed(&mut recorder, 0);
    recorder.failure(Some(OperationId(0)), Failure::Timeout, || "first".to_owned());
    failed(&mut recorder, 0);
    recorder.failure(Some(OperationId(0)), Failure::Timeout, || unreachable!("an example is there already"));
    failed(&mut recorder, 1);
    // Another operation's failure is counted apart.
    recorder.failure(Some(OperationId(0)), Failure::Timeout, String::new);
    let record = recorder.take();
    let counted: Vec<_> =
        record.failures.iter().map(|f| (f.operation.unwrap().0, f.count, f.example.as_str())).collect();
    assert_eq!(counted, [(0, 3, "first"), (1, 1, "")]);
    assert_eq!((record.operations[0].failed, record.operations[1].failed), (2, 1));
}

#[test]
fn a_long_example_is_cut_at_a_character() {
    let mut recorder = Recorder::new(0, 0);
    recorder.failure(None, Failure::Protocol, || "é".repeat(EXAMPLE_BYTES));
    let example = recorder.take().failures[0].example.clone();
    assert!(example.len() <= EXAMPLE_BYTES && example.ends_with("é…"), "{example}");
}

#[test]
fn taking_starts_afresh() {
    let mut recorder = Recorder::new(3, 2);
    let first = record_second(&mut recorder, 0, 0);
    assert_eq!(first.counters[Counter::UsersCompleted], 2);
    assert_eq!((first.codes[200], first.codes[302], first.codes[500]), (10, 1, 1));
    let second = recorder.take();
    assert_eq!(second.counters[Counter::UsersCompleted], 0);
    assert!(second.failures.is_empty() && second.operations.iter().all(|o| o.response.is_none()));
    assert!(second.codes.iter().all(|&count| count == 0) && second.scenarios == [0, 0]);
}

#[test]
fn who_is_owed_what_is_not_reckoned_in_a_run_that_stamps_nothing() {
    let told = |tracked| {
        let mut totals =
            Totals::new(&Header { tracked, ..header() }, Rules::default(), MetricStore::default());
        let mut record = Recorder::new(1, 1).take();
        let (planned, started) = (At(0), At(5));
        record.ledger.moves.push(Moved { member: 0, room: 0, at: At(1), what: Move::Join });
        record.ledger.sent.push(Sent { sender: 0, room: 0, number: 0, planned, started, acked: None });
        totals.absorb(vec![record], At(1_000_000_000), ProcessGauges::default()).ledger.messages
    };
    assert_eq!((told(true), told(false)), (1, 0));
}
