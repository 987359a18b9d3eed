//! Reports of a run that was stopped before its plan was done.

use crate::fixture::{header, timing};
use crate::verdicts::{SECOND, check, with};
use sonagi_measure::At;
use sonagi_measure::ledger::{Move, Moved, Received, Rules, Sent};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::recorder::{Counter, Gauges, Recorder};
use sonagi_measure::summary::{Cause, Conclusion, Health, Summary};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};

/// The first reason of an interrupted run of two seconds.
const STOPPED: &str = "stopped after 2.0 s: the figures cover what ran until then";

/// Three users whose endless flow was stopped; each had done `outcome` once, if anything.
fn stopped(header: Header, outcome: Option<Outcome>) -> Summary {
    stopped_after(header, outcome, |_| {})
}

/// The same after `act`.
fn stopped_after(header: Header, outcome: Option<Outcome>, act: impl Fn(&mut Recorder)) -> Summary {
    let mut shard = Recorder::new(3, 2);
    for counter in [Counter::ArrivalsPlanned, Counter::ArrivalsStarted, Counter::UsersStopped] {
        shard.add(counter, 3);
    }
    shard.add(Counter::OperationsCut, 2);
    for outcome in outcome.into_iter().cycle().take(3) {
        shard.operation(OperationId(0), timing(0, 1000), outcome);
    }
    act(&mut shard);
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    totals.absorb(vec![shard.take()], At(SECOND), ProcessGauges::default());
    totals.interrupt();
    totals.close(At(2 * SECOND));
    totals.summary()
}

#[test]
fn users_stopped_in_mid_flow_have_neither_completed_nor_failed() {
    let summary = stopped(header(), Some(Outcome::Status(200)));
    let users = &summary.users;
    assert_eq!((users.started, users.completed, users.failed, users.active), (3, 0, 0, 0));
    assert_eq!((users.stopped, users.operations_cut), (3, 2));
    let names = summary.names();
    assert_eq!((names["users.stopped"], names["operations.cut"]), (3.0, 2.0));
    let neutral = "until then: 3 users were stopped in mid-flow, 0 failed";
    check(&summary, Conclusion::Interrupted, &[STOPPED, neutral]);
}

#[test]
fn an_interrupted_run_is_neither_passed_nor_failed_and_says_what_held_until_then() {
    let slow = "until then: the threshold `http_answers_ms.p95 < 1` failed: http_answers_ms.p95 = 1.001";
    let summary = stopped(with("http_answers_ms.p95 < 1", true), Some(Outcome::Status(200)));
    check(&summary, Conclusion::Interrupted, &[STOPPED, slow]);
    let fast = stopped(with("http_answers_ms.p95 < 9", true), Some(Outcome::Status(200)));
    let users = "until then: 3 users were stopped in mid-flow, 0 failed";
    check(&fast, Conclusion::Interrupted, &[STOPPED, users, "until then: 1 of 1 threshold passed"]);
    check(&stopped(header(), None), Conclusion::Interrupted, &[STOPPED, users]);
    let errors = stopped(header(), Some(Outcome::Status(404)));
    let every = "until then: every one of 3 HTTP answers was an error status (404: 3)";
    check(&errors, Conclusion::Interrupted, &[STOPPED, every]);
}

#[test]
fn what_was_delivered_until_then_is_said_beside_what_failed() {
    let deliver = |copies| {
        move |shard: &mut Recorder| {
            let (at, room) = (At(SECOND / 2), 0);
            let batch = shard.ledger();
            batch.moves.push(Moved { member: 1, room, at: At(0), what: Move::Join });
            batch.sent.push(Sent { room, number: 0, sender: 2, planned: at, started: at, acked: Some(true) });
            for _ in 0..copies {
                batch.received.push(Received { at: at.plus(5_000_000), member: 1, room, number: 0 });
            }
        }
    };
    let ok = Some(Outcome::Status(200));
    let arrived = "until then: the only expected delivery received";
    check(&stopped_after(header(), ok, deliver(1)), Conclusion::Interrupted, &[STOPPED, arrived]);
    let lost = stopped_after(header(), ok, deliver(0));
    let gone = "until then: 1 of 1 expected deliveries was lost (100.0 %)";
    check(&lost, Conclusion::Interrupted, &[STOPPED, gone]);
    let failed = stopped_after(header(), ok, |shard| {
        deliver(1)(shard);
        shard.user_ended(0, false, 0);
    });
    let one = "until then: 1 of 3 users failed (33.3 %)";
    check(&failed, Conclusion::Interrupted, &[STOPPED, one, arrived]);
}

#[test]
fn expectations_that_were_not_met_until_then_do_not_decide_the_exit_code() {
    let missed = |shard: &mut Recorder| shard.expectations().failed("equals", At(0), String::new);
    let summary = stopped_after(header(), Some(Outcome::Status(200)), missed);
    let (equals, users) = (
        "until then: 1 of 1 expectations was not met (equals)",
        "until then: 3 users were stopped in mid-flow, 0 failed",
    );
    check(&summary, Conclusion::Interrupted, &[STOPPED, equals, users]);
    assert!(!summary.expectations.decisive);
}

#[test]
fn a_generator_that_fell_behind_until_then_is_still_told_of() {
    let summary = stopped_after(header(), Some(Outcome::Failed(Failure::Timeout)), |shard| {
        shard.failure(None, Failure::GeneratorExhausted, String::new);
    });
    let ports =
        "until then: the generator ran out of local ports or file descriptors 1 time (none is allowed)";
    check(&summary, Conclusion::Interrupted, &[STOPPED, ports]);
    assert_eq!((summary.generator.state, summary.generator.cause), (Health::Invalid, Some(Cause::Exhausted)));
}

#[test]
fn planned_means_the_whole_plan_however_much_of_it_ran() {
    let mut shard = Recorder::new(3, 2);
    shard.add(Counter::ArrivalsPlanned, 24);
    shard.add(Counter::ArrivalsStarted, 24);
    let mut record = shard.take();
    record.gauges = Gauges { users: 24, ..Gauges::default() };
    let open = Header { arrivals: Some(150), ..header() };
    let mut totals = Totals::new(&open, Rules::default(), MetricStore::default());
    let progress = totals.absorb(vec![record], At(SECOND), ProcessGauges::default()).progress;
    totals.interrupt();
    let summary = totals.summary();
    assert_eq!((summary.users.planned, summary.users.started, progress.arrivals), (150, 24, Some(150)));
    assert_eq!(summary.generator.achieved_ratio, 1.0, "of those whose time had come");
}
