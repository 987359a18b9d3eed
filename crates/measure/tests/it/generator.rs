//! When a generator is called late, and what is said to have made it so.

use crate::fixture::{header, timing};
use crate::verdicts::{check, run_on, run_with, with};
use sonagi_measure::outcome::{Failure, OperationId, Outcome};
use sonagi_measure::recorder::Gauges;
use sonagi_measure::summary::{Cause, Conclusion, Health, Summary};
use sonagi_measure::totals::Header;

const MS: u64 = 1_000_000;

/// Three seconds in which everything began so late, while a shard computed and waited for so long in each.
fn late(header: Header, lag_ms: i64, cpu_ms: u64, wait_ms: u64) -> Summary {
    run_with(header, 3, |recorder, _| {
        (0..200).for_each(|_| recorder.send_lag(lag_ms * MS as i64));
        recorder.operation(OperationId(0), timing(0, 1000), Outcome::Status(200));
        Gauges { cpu_ns: cpu_ms * MS, wait_ns: wait_ms * MS, ..Gauges::default() }
    })
}

fn objective(ms: u64) -> Header {
    Header { cores: 2, ..with(&format!("kinds.http.response_ms.p95 < {ms}"), true) }
}

#[test]
fn send_lag_that_quiet_machines_have_is_no_warning() {
    let healthy = late(header(), 9, 100, 0);
    assert_eq!((healthy.generator.state, healthy.generator.cause), (Health::Ok, None));
    let warned = late(header(), 11, 600, 0);
    let finding = "scheduling delay p99 11.0 ms, worst in second 0 (warning above 10 ms)";
    assert_eq!((warned.generator.state, &warned.generator.findings[0][..]), (Health::Warn, finding));
    check(&warned, Conclusion::Pass, &["3 users completed"]);
}

#[test]
fn send_lag_above_a_tenth_of_the_objective_invalidates_a_run() {
    let summary = late(objective(30), 4, 600, 0);
    let finding = "scheduling delay p99 4.00 ms, worst in second 0 (limit: 10 % of the 30 ms objective)";
    check(&summary, Conclusion::Invalid, &[finding]);
    assert_eq!(late(objective(70), 4, 600, 0).generator.state, Health::Warn);
    assert_eq!(late(objective(300), 4, 600, 0).generator.state, Health::Ok);
    assert_eq!(late(objective(1000), 20, 600, 0).generator.state, Health::Ok, "20 ms of 1,000 are few");
    let finding =
        "scheduling delay p99 60.0 ms, worst in second 0 (warning above 5 % of the 1000 ms objective)";
    assert_eq!(late(objective(1000), 60, 600, 0).generator.findings[0], finding);
}

#[test]
fn a_threshold_on_a_metric_is_an_objective_like_any_other() {
    let with = |ms| Header { cores: 2, objective_ms: Some(ms), ..header() };
    let finding = "scheduling delay p99 4.00 ms, worst in second 0 (limit: 10 % of the 30 ms objective)";
    check(&late(with(30.0), 4, 600, 0), Conclusion::Invalid, &[finding]);
    assert_eq!(late(with(300.0), 4, 600, 0).generator.state, Health::Ok);
    let both = Header { objective_ms: Some(300.0), ..objective(30) };
    assert_eq!(late(both, 4, 600, 0).generator.state, Health::Invalid, "the smaller one counts");
}

#[test]
fn a_generator_is_starved_when_it_waited_for_cores_or_was_later_than_it_computed() {
    let cause = |lag_ms, cpu_ms, wait_ms| late(objective(30), lag_ms, cpu_ms, wait_ms).generator.cause;
    assert_eq!(cause(20, 400, 300), Some(Cause::Starved));
    assert_eq!(cause(291, 10, 0), Some(Cause::Starved), "291 ms late, and busy for 10");
    assert_eq!(cause(20, 700, 5), Some(Cause::Overloaded));
    assert_eq!(cause(1_700, 950, 40), Some(Cause::Overloaded), "late by what seconds before left undone");
    assert_eq!(cause(1_200, 800, 150), Some(Cause::Overloaded), "it had most of what it wanted");
    assert_eq!(cause(4, 76, 2), Some(Cause::Bursts));
}

#[test]
fn a_generator_whose_shards_fill_the_machine_is_overloaded_though_they_wait_for_each_other() {
    let cause = |shards| {
        let summary = run_on(shards, objective(30), 3, |recorder, _| {
            (0..200).for_each(|_| recorder.send_lag(20 * MS as i64));
            Gauges { cpu_ns: 600 * MS, wait_ns: 300 * MS, ..Gauges::default() }
        });
        summary.generator.cause
    };
    assert_eq!((cause(1), cause(3)), (Some(Cause::Starved), Some(Cause::Overloaded)));
}

#[test]
fn a_full_core_whose_records_come_late_is_overloaded_in_each_second() {
    // Lateness and CPU time of each second's record (ms): the latest second's came when the third was nearly over.
    let records = [(300, 1_483), (900, 1_606), (1_800, 1), (1_500, 806)];
    let summary = run_with(objective(30), 4, |recorder, second| {
        let (lag_ms, cpu_ms) = records[second as usize];
        (0..200).for_each(|_| recorder.send_lag(lag_ms * MS as i64));
        Gauges { cpu_ns: cpu_ms * MS, ..Gauges::default() }
    });
    assert_eq!(summary.generator.cause, Some(Cause::Overloaded));
    assert_eq!((summary.generator.cpu_s, summary.generator.busiest_core), (3.896, 1.0));
}

#[test]
fn time_that_no_later_second_has_is_in_the_sum_all_the_same() {
    let summary = late(objective(30), 20, 1_700, 900);
    assert_eq!((summary.generator.cpu_s, summary.generator.cpu_wait_s), (5.1, 2.7));
}

#[test]
fn a_generator_that_ran_out_of_ports_is_exhausted_however_late_it_was() {
    let summary = run_with(header(), 3, |recorder, _| {
        (0..200).for_each(|_| recorder.send_lag(11 * MS as i64));
        recorder.failure(None, Failure::GeneratorExhausted, String::new);
        Gauges { cpu_ns: 600 * MS, ..Gauges::default() }
    });
    assert_eq!(summary.generator.cause, Some(Cause::Exhausted));
    let hint = "results unreliable: the load generator ran out of local ports or file descriptors; raise `ulimit -n`, or spread connections over several local addresses (`--source-address`)";
    assert_eq!(summary.verdict.hints[0], hint);
}

#[test]
fn what_helps_a_late_generator_depends_on_what_made_it_late() {
    let hint = |summary: &Summary| summary.verdict.hints[0].clone();
    let starved = late(objective(30), 20, 400, 300);
    assert!(hint(&starved).contains("starved, not overloaded: stop what else runs"), "{}", hint(&starved));
    let waited = "starved: its threads waited 0.90 s for a core and computed for 1.20 s";
    assert_eq!(starved.generator.findings[1], waited);
    assert_eq!((starved.generator.cpu_wait_s, starved.generator.cpu_pressure), (0.9, None));
    let overloaded = late(objective(30), 20, 700, 5);
    assert!(hint(&overloaded).contains("lower the load per shard"), "{}", hint(&overloaded));
    let tight = late(objective(4), 4, 76, 2);
    assert!(hint(&tight).contains("its cores had time left: spread"), "{}", hint(&tight));
}
