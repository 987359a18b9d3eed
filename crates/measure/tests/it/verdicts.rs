//! Verdicts and generator health: each rule, from what a run recorded.

use crate::fixture::{header, timing};
use sonagi_measure::At;
use sonagi_measure::ledger::{Move, Moved, Received, Rules, Sent};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::recorder::{Counter, Gauges, Record, Recorder};
use sonagi_measure::summary::{Cause, Conclusion, Health, Service, Summary};
use sonagi_measure::thresholds::Threshold;
use sonagi_measure::totals::{Header, Language, ProcessGauges, Totals};

pub(crate) const SECOND: i64 = 1_000_000_000;

/// A run of `seconds`, one shard, in which `act` adds to a good second.
pub(crate) fn run_with(header: Header, seconds: i64, act: impl Fn(&mut Recorder, i64) -> Gauges) -> Summary {
    run_on(1, header, seconds, act)
}

/// The same, with so many shards: the others have the levels of the first, and nothing else.
pub(crate) fn run_on(
    shards: usize,
    header: Header,
    seconds: i64,
    act: impl Fn(&mut Recorder, i64) -> Gauges,
) -> Summary {
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut shard = Recorder::new(header.operations.len(), header.scenarios.len());
    let process = ProcessGauges { open_files: 10, open_files_limit: 1000, ..ProcessGauges::default() };
    for second in 0..seconds {
        shard.add(Counter::ArrivalsPlanned, 50);
        shard.add(Counter::ArrivalsStarted, 50);
        shard.user_ended(0, true, SECOND);
        shard.send_lag(50_000);
        let gauges = act(&mut shard, second);
        let mut record = shard.take();
        record.gauges = gauges;
        let others = (1..shards).map(|_| Record { gauges, ..Record::default() });
        let records = std::iter::once(record).chain(others).collect();
        totals.absorb(records, At((second + 1) * SECOND), process);
    }
    totals.close(At(seconds * SECOND + SECOND / 5));
    totals.summary()
}

pub(crate) fn run(act: impl Fn(&mut Recorder, i64)) -> Summary {
    run_with(header(), 3, |recorder, second| {
        act(recorder, second);
        Gauges::default()
    })
}

pub(crate) fn with(expression: &str, strict: bool) -> Header {
    Header { thresholds: vec![Threshold::new(expression, strict)], ..header() }
}

/// Member 1 is in from the start and receives what `copies` says of one message a second.
fn deliver(recorder: &mut Recorder, second: i64, copies: u32) {
    let (at, room, number) = (At(second * SECOND + SECOND / 2), 0, second as u32);
    let batch = recorder.ledger();
    if second == 0 {
        batch.moves.push(Moved { member: 1, room, at: At(0), what: Move::Join });
    }
    batch.sent.push(Sent { room, number, sender: 2, planned: at, started: at, acked: Some(true) });
    for _ in 0..copies {
        batch.received.push(Received { at: at.plus(5_000_000), member: 1, room, number });
    }
}

#[test]
fn nearly_all_local_ports_in_use_is_a_warning_that_names_the_remedy() {
    for (ports_used, state) in [(900, Health::Ok), (901, Health::Warn)] {
        let mut totals = Totals::new(&header(), Rules::default(), MetricStore::default());
        let process = ProcessGauges { ports_used, ports_available: 1000, ..ProcessGauges::default() };
        totals.absorb(Vec::new(), At(SECOND), process);
        let generator = totals.summary().generator;
        assert_eq!(generator.state, state, "{:?}", generator.findings);
        if state == Health::Warn {
            let finding = "901 of 1,000 local ports were in use (limit: 90 %; more source addresses help)";
            assert_eq!(generator.findings, [finding]);
        }
    }
}

#[track_caller]
pub(crate) fn check(summary: &Summary, result: Conclusion, reasons: &[&str]) {
    assert_eq!((summary.verdict.result, &summary.verdict.reasons[..]), (result, &reasons.map_strings()[..]));
}

trait Strings {
    fn map_strings(&self) -> Vec<String>;
}
impl Strings for &[&str] {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|s| (*s).to_owned()).collect()
    }
}

#[test]
fn a_run_in_which_everything_arrived_passes() {
    let summary = run(|recorder, second| deliver(recorder, second, 1));
    check(&summary, Conclusion::Pass, &["all 3 expected deliveries received"]);
    let delivery = summary.delivery.unwrap();
    assert_eq!((delivery.ratio, delivery.latency_ms.p99, delivery.latency_ms.count), (1.0, 5.003, 3));
    assert_eq!((summary.generator.state, summary.generator.findings.len()), (Health::Ok, 0));
}

#[test]
fn lost_and_doubled_copies_fail_a_run() {
    let summary = run(|recorder, second| deliver(recorder, second, [0, 1, 2][second as usize]));
    let reasons = ["1 of 3 expected deliveries was lost (33.3 %)", "1 duplicate"];
    check(&summary, Conclusion::Fail, &reasons);
}

#[test]
fn when_nothing_was_owed_the_hint_says_why() {
    let hinted = |joined| {
        let summary = run(|recorder, second| {
            deliver(recorder, second, 1);
            recorder.ledger().moves.iter_mut().for_each(|join| join.at = At(joined));
            if second > 0 {
                *recorder.ledger() = Default::default();
            }
        });
        let counts = summary.delivery.unwrap().counts;
        assert_eq!((counts.messages, counts.owed), (1, 0));
        summary.verdict.hints.join("; ")
    };
    let sent = SECOND / 2;
    let close = "all copies fell within `settle` (default 100 ms) of a join or leave: let users think before they send";
    assert!(hinted(sent - 50_000_000).contains(close), "{}", hinted(sent - 50_000_000));
    assert!(hinted(2 * SECOND).contains("did the receivers join the room"), "{}", hinted(2 * SECOND));
}

/// Two members; each second the first says something, and these of the two receive it.
fn exchange(to: &[u32]) -> Summary {
    run(|recorder, second| {
        let (at, room, number) = (At(second * SECOND + SECOND / 2), 0, second as u32);
        let batch = recorder.ledger();
        if second == 0 {
            batch.moves.extend([1, 2].map(|member| Moved { member, room, at: At(0), what: Move::Join }));
        }
        batch.sent.push(Sent { room, number, sender: 1, planned: at, started: at, acked: Some(true) });
        for &member in to {
            batch.received.push(Received { at: at.plus(5_000_000), member, room, number });
        }
    })
}

#[test]
fn when_only_the_senders_own_copies_are_lost_the_hint_is_echo() {
    let hint = "every lost copy was the sender's own: if the target sends to everybody but the sender (`socket.to(room).emit`), set `delivery: { echo: false }`";
    let summary = exchange(&[2]);
    check(&summary, Conclusion::Fail, &["3 of 6 expected deliveries were lost (50.0 %)"]);
    assert_eq!(summary.verdict.hints, [hint]);
    let tail = "3 of 3 lost copies were the last ones their receivers were owed, and nothing came after them: a backlog or a dead target; a longer `drain` (`delivery`) tells whether they were only late";
    assert_eq!(exchange(&[1]).verdict.hints, [tail], "the other's copies are lost");
    assert_eq!(exchange(&[1, 2]).verdict.hints, [""; 0]);
}

#[test]
fn when_everything_is_lost_the_hint_names_event_and_room() {
    let summary = exchange(&[]);
    check(&summary, Conclusion::Fail, &["6 of 6 expected deliveries were lost (100.0 %)"]);
    assert_eq!(summary.verdict.hints.len(), 1);
    let hint = &summary.verdict.hints[0];
    assert!(hint.starts_with("nobody received a message with a stamp"), "{hint}");
    assert!(hint.ends_with("is the script's `room` the room users really join?"), "{hint}");
    let strangers = exchange(&[7]);
    let elsewhere =
        "messages came only to users outside the room: is the script's `room` the room users really join?";
    assert_eq!(strangers.verdict.hints, [elsewhere]);
}

#[test]
fn a_threshold_on_a_delivery_count_replaces_its_default_rule() {
    let lossy = |header| {
        run_with(header, 3, |recorder, second| {
            deliver(recorder, second, u32::from(second > 0));
            Gauges::default()
        })
    };
    check(&lossy(with("delivery.ratio > 0.5", true)), Conclusion::Pass, &["3 users completed"]);
    let strict = "the threshold `delivery.ratio > 0.9` failed: delivery.ratio = 0.6667";
    check(&lossy(with("delivery.ratio > 0.9", true)), Conclusion::Fail, &[strict]);
    let lenient = lossy(with("delivery.ratio > 0.9", false));
    check(&lenient, Conclusion::Pass, &["3 users completed"]);
    let nobody = "1 of 1 lost copies was of messages that reached nobody: the target had not read them when the `drain` (`delivery`) was over, or dropped them before it sent a copy";
    assert_eq!(lenient.verdict.hints, [format!("not strict, but {strict}"), nobody.to_owned()]);
}

#[test]
fn a_failed_user_fails_a_run_unless_a_threshold_allows_it() {
    let failing = |header| {
        run_with(header, 3, |recorder, second| {
            let now = At(second * SECOND);
            recorder.operation(OperationId(0), timing(now.0, 1000), Outcome::Failed(Failure::ConnectRefused));
            recorder.user_ended(0, false, 0);
            Gauges::default()
        })
    };
    let summary = failing(header());
    let reason = "3 of 150 users failed (2.0 %); most frequent error: connect_refused in GET /users, all (3)";
    check(&summary, Conclusion::Fail, &[reason]);
    let hint = "connect_refused: is the target running and listening on this address and port?";
    assert_eq!(summary.verdict.hints, [hint]);
    check(&failing(with("users.failed < 10", true)), Conclusion::Pass, &["3 users completed"]);
    check(&failing(with("errors.connect_refused < 10", true)), Conclusion::Pass, &["3 users completed"]);
}

#[test]
fn a_target_that_refuses_everybody_has_no_response_time_to_praise() {
    let summary = run_with(with("kinds.http.response_ms.p95 < 200", true), 3, |recorder, second| {
        let refused = Outcome::Failed(Failure::ConnectRefused);
        recorder.operation(OperationId(0), timing(second * SECOND, 1000), refused);
        Gauges::default()
    });
    assert!(!summary.thresholds[0].held, "{:?}", summary.thresholds);
    let kind = &summary.kinds[0];
    assert_eq!((kind.count, kind.failed, kind.response_ms.count), (3, 3, 0));
    assert_eq!((summary.operations.len(), summary.names()["kinds.http.response_ms.count"]), (1, 0.0));
}

#[test]
fn iterations_are_counted_as_such() {
    let completed = |header| run_with(header, 3, |_, _| Gauges::default());
    check(&completed(header()), Conclusion::Pass, &["3 users completed"]);
    let closed = Header { population: Some(3), ..header() };
    check(&completed(closed), Conclusion::Pass, &["3 iterations completed"]);
    let planned = Language { iterates: true, ..Language::default() };
    let scripted = Header { language: Some(planned), ..header() };
    check(&completed(scripted), Conclusion::Pass, &["3 iterations completed"]);
}

#[test]
fn a_run_without_a_completed_user_fails() {
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::default());
    totals.close(At(SECOND));
    check(&totals.summary(), Conclusion::Fail, &["no user was started"]);
    let mut shard = Recorder::new(3, 2);
    shard.add(Counter::ArrivalsPlanned, 2);
    shard.add(Counter::ArrivalsStarted, 2);
    let mut totals = Totals::new(&header(), Rules::default(), MetricStore::default());
    totals.absorb(vec![shard.take()], At(SECOND), ProcessGauges::default());
    check(&totals.summary(), Conclusion::Fail, &["none of 2 users completed"]);
}

#[test]
fn a_before_flow_that_failed_is_the_first_reason_of_a_run_without_users() {
    let mut shard = Recorder::new(3, 2);
    let refused = Outcome::Failed(Failure::ConnectRefused);
    shard.operation(OperationId(0), timing(0, 1000), refused);
    let mut totals = Totals::new(
        &with("kinds.http.response_ms.p95 < 200", true),
        Rules::default(),
        MetricStore::default(),
    );
    totals.absorb(vec![shard.take()], At(SECOND / 100), ProcessGauges::default());
    totals.close(At(SECOND / 100));
    let verdict = totals.summary().verdict;
    let reason =
        "no user was started: what is done before the load failed at GET /users, all: connect_refused";
    assert_eq!((verdict.result, verdict.reasons[0].as_str()), (Conclusion::Fail, reason));
    assert_eq!(verdict.reasons.len(), 2, "{:?}", verdict.reasons);
}

#[test]
fn one_is_no_plural() {
    let one = |completed| {
        let mut shard = Recorder::new(3, 2);
        shard.add(Counter::ArrivalsStarted, 1);
        shard.add(Counter::ArrivalsPlanned, 1);
        shard.user_ended(0, completed, SECOND);
        shard.failure(None, Failure::GeneratorExhausted, String::new);
        let mut totals = Totals::new(&header(), Rules::default(), MetricStore::default());
        totals.absorb(vec![shard.take()], At(SECOND), ProcessGauges::default());
        totals.summary().verdict.reasons
    };
    let ports = "the generator ran out of local ports or file descriptors 1 time (none is allowed)";
    assert_eq!(one(true), [ports]);
    let failed = "1 of 1 user failed (100.0 %); most frequent error: generator_exhausted (1)";
    assert_eq!(one(false), [ports, "the only user failed", failed]);
    let summary = run_with(header(), 1, |_, _| Gauges::default());
    check(&summary, Conclusion::Pass, &["1 user completed"]);
}

#[test]
fn starting_less_than_was_planned_invalidates_a_run() {
    let missing = |planned, missed| {
        run(move |recorder, second| {
            if second == 0 {
                recorder.add(Counter::ArrivalsPlanned, planned);
                recorder.add(Counter::ArrivalsMissed, missed);
            }
        })
    };
    assert_eq!(missing(1, 1).generator.state, Health::Ok);
    let finding = "150 of 152 planned arrivals were started (at least 99 % must start)";
    check(&missing(2, 2), Conclusion::Invalid, &[finding]);
    let one = run_with(header(), 1, |recorder, _| {
        recorder.add(Counter::ArrivalsPlanned, 1);
        recorder.add(Counter::ArrivalsMissed, 1);
        Gauges::default()
    });
    let finding = "50 of 51 planned arrivals were started (with fewer than 100, none may be missed)";
    check(&one, Conclusion::Invalid, &[finding]);
    let skipped = run(|recorder, _| {
        recorder.add(Counter::ArrivalsPlanned, 50);
        recorder.add(Counter::UsersSkipped, 50);
    });
    assert_eq!((skipped.generator.state, skipped.generator.achieved_ratio), (Health::Ok, 1.0));
}

#[test]
fn a_full_core_for_five_seconds_on_end_invalidates_a_run() {
    let busy = |busy: fn(i64) -> bool| {
        run_with(header(), 8, |_, second| {
            let cpu_ns = if busy(second) { 950_000_000 } else { 200_000_000 };
            Gauges { cpu_ns, ..Gauges::default() }
        })
    };
    let finding = "shard 0 used more than 90 % of its core for 5 s on end, until second 6 (limit: 5 s)";
    check(&busy(|second| (2..7).contains(&second)), Conclusion::Invalid, &[finding]);
    assert_eq!(busy(|second| second != 4).generator.state, Health::Ok);
}

#[test]
fn functions_that_want_a_core_for_five_seconds_on_end_invalidate_a_run_and_are_not_called_starved() {
    let wanted = |full: fn(i64) -> bool| {
        run_with(header(), 8, |_, second| {
            let functions_ns = if full(second) { 950_000_000 } else { 200_000_000 };
            Gauges { cpu_ns: 10_000_000, wait_ns: 900_000_000, functions_ns, ..Gauges::default() }
        })
    };
    let finding = "the script's functions (shard 0) wanted more than 90 % of a core for 5 s on end, until second 6 \
                   (limit: 5 s): users waited for them, not for the target";
    let slow = wanted(|second| (2..7).contains(&second));
    check(&slow, Conclusion::Invalid, &[finding]);
    assert_eq!(slow.generator.cause, Some(Cause::Overloaded));
    assert_eq!(wanted(|second| second != 4).generator.state, Health::Ok);
}

#[test]
fn running_out_of_ports_invalidates_a_run() {
    let summary = run(|recorder, _| recorder.failure(None, Failure::GeneratorExhausted, String::new));
    let finding = "the generator ran out of local ports or file descriptors 3 times (none is allowed)";
    check(&summary, Conclusion::Invalid, &[finding]);
}

#[test]
fn every_number_has_a_name() {
    let summary = run(|recorder, second| {
        deliver(recorder, second, 1);
        recorder.operation(OperationId(0), timing(0, 2_000_000), Outcome::Status(200));
        recorder.failure(None, Failure::Reset, String::new);
        recorder.failure(None, Failure::ClosedEarly, String::new);
        recorder.user_created(1);
    });
    let names = summary.names();
    let expected = [
        ("delivery.owed", 3.0),
        ("delivery.latency_ms.p99", 5.003),
        ("operations.GET /users, all.service_ms.p50", 2.0),
        ("kinds.http.count", 3.0),
        ("http_answers_ms.p95", 3.001),
        ("http_codes.200", 3.0),
        ("errors.closed_early", 3.0),
        ("errors.reset", 3.0),
        ("users.started", 150.0),
        ("users.completed", 3.0),
        ("scenarios.listen", 3.0),
        ("users.session_ms.max", 1000.447),
        ("generator.send_lag_ms.count", 3.0),
        ("delivery.replay_latency_ms.count", 0.0),
    ];
    for (name, value) in expected {
        assert_eq!(names.get(name), Some(&value), "{name}");
    }
    assert!(!names.contains_key("delivery.replay_latency_ms.p99"), "nothing replayed has no p99");
    assert!(!names.contains_key("kinds.socketio_request.response_ms.p99"));
}

#[test]
fn users_connected_are_counted_at_their_most_beside_the_population_asked_for() {
    let header = Header { population: Some(12), ..header() };
    let summary = run_with(header, 4, |_, second| Gauges {
        users: 12,
        connections: [3, 11, 7, 0][second as usize],
        ..Gauges::default()
    });
    assert_eq!((summary.users.connected_peak, summary.users.peak, summary.users.wanted), (11, 12, Some(12)));
}

#[test]
fn a_service_that_ends_of_itself_fails_its_run() {
    let passed = run(|recorder, second| deliver(recorder, second, 1));
    assert_eq!(passed.verdict.result, Conclusion::Pass);
    let unharmed = passed.clone().beside(Service::default());
    assert_eq!((unharmed.verdict, unharmed.service), (passed.verdict.clone(), Some(Service::default())));
    let gone = Service { ended: Some("signal: 9 (SIGKILL)".to_owned()), ..Service::default() };
    let verdict = passed.clone().beside(gone.clone()).verdict;
    assert_eq!(verdict.result, Conclusion::Fail);
    assert_eq!(verdict.reasons, ["the service ended during the run: signal: 9 (SIGKILL)"]);
    let verdict = passed.clone().beside(Service { memory_kills: 2, ..Service::default() }).verdict;
    assert_eq!(verdict.result, Conclusion::Fail);
    assert_eq!(verdict.reasons, ["the memory limit killed 2 processes of the service"]);
    let unreached = passed.clone().beside(Service { exhausted: 2, ..Service::default() });
    let shortage = "the network before the service ran out of files or ports 2 times (none is allowed)";
    check(&unreached, Conclusion::Invalid, &[shortage]);
    assert_eq!(
        (unreached.generator.state, unreached.generator.cause, unreached.generator.findings),
        (Health::Invalid, Some(Cause::Exhausted), vec![shortage.to_owned()]),
        "the fault is the generator's"
    );
    let mut invalid = run(|_, _| {});
    invalid.verdict.result = Conclusion::Invalid;
    let verdict = invalid.beside(gone).verdict;
    assert_eq!(verdict.result, Conclusion::Invalid);
    assert!(verdict.reasons.len() > 1, "{:?}", verdict.reasons);
}

#[test]
fn a_network_of_ours_that_was_late_for_seconds_on_end_is_worth_a_warning() {
    let passed = run(|recorder, second| deliver(recorder, second, 1));
    let late = |seconds| passed.clone().beside(Service { network_late_s: seconds, ..Service::default() });
    assert_eq!((late(2).generator, late(2).verdict), (passed.generator.clone(), passed.verdict.clone()));
    let warned = late(3);
    let lateness = "the network before the service was late for 3 seconds on end (p99 above 1 ms): what it was late \
                    by looks like slowness of the service";
    assert_eq!(
        (warned.generator.state, warned.generator.cause, warned.generator.findings),
        (Health::Warn, None, vec![lateness.to_owned()])
    );
    assert_eq!(warned.verdict.result, Conclusion::Pass);
    assert_eq!(warned.verdict.hints.last().map(String::as_str), Some(lateness));
}

#[test]
fn a_burst_of_two_seconds_saturates_nothing() {
    let full = |seconds| Service { full_s: seconds, machine_full_s: seconds, ..Service::default() };
    for (seconds, is_saturated) in [(2, false), (3, true)] {
        let service = full(seconds);
        assert_eq!((service.is_saturated(), service.is_machine_saturated()), (is_saturated, is_saturated));
    }
}

#[test]
fn responses_that_are_not_as_expected_decide_the_exit_code_unless_the_whole_run_missed_a_demand() {
    let met = run(|recorder, _| recorder.expectations().held("statusCode"));
    assert_eq!((met.verdict.result, met.expectations.decisive), (Conclusion::Pass, false));
    assert_eq!(met.names()["expectations.kinds.statusCode.ok"], 3.0);

    let missed = |recorder: &mut Recorder, second: i64| {
        recorder.expectations().held("statusCode");
        recorder.expectations().failed("equals", At(second), String::new);
    };
    let alone = run(missed);
    assert_eq!((alone.verdict.result, alone.expectations.decisive), (Conclusion::Fail, true));
    assert_eq!(alone.verdict.reasons, ["3 of 6 expectations were not met (equals)"]);
    assert_eq!((alone.names()["expectations.ok"], alone.names()["expectations.failed"]), (3.0, 3.0));

    let also = run(|recorder, second| {
        missed(recorder, second);
        recorder.user_ended(0, false, SECOND);
    });
    assert_eq!((also.verdict.reasons.len(), also.expectations.decisive), (2, true));

    for (strict, decisive) in [(true, false), (false, true)] {
        let demanded = run_with(with("users.started > 1000", strict), 3, |recorder, second| {
            missed(recorder, second);
            Gauges::default()
        });
        assert_eq!(demanded.expectations.decisive, decisive);
    }
    let lost = run(|recorder, second| {
        missed(recorder, second);
        deliver(recorder, second, 0);
    });
    assert!(!lost.expectations.decisive, "{:?}", lost.verdict.reasons);

    let invalid = run(|recorder, second| {
        missed(recorder, second);
        recorder.send_lag(900 * 1_000_000);
        recorder.add(Counter::ArrivalsPlanned, 500);
        recorder.add(Counter::ArrivalsMissed, 500);
    });
    assert_eq!((invalid.verdict.result, invalid.expectations.decisive), (Conclusion::Invalid, false));
}
