//! A run to measure: what its header says, and what a shard records in a second of it.

use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, Operation, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::plugins::Plugins;
use sonagi_measure::recorder::{Counter, Gauges, Record, Recorder};
use sonagi_measure::totals::Header;

pub(crate) fn header() -> Header {
    let operation = |name: &str, kind| Operation { name: name.to_owned(), kind };
    Header {
        name: "chat".to_owned(),
        started: "2026-08-30T10:15:00Z".to_owned(),
        target: "http://127.0.0.1:8080".to_owned(),
        version: "0.1.0".to_owned(),
        seed: 7,
        shards: 2,
        scenarios: vec!["talk".to_owned(), "listen".to_owned()],
        operations: vec![
            operation("GET /users, all", OperationKind::Http),
            operation("send", OperationKind::WebsocketSend),
            operation("never", OperationKind::Expect),
        ],
        deadline_ms: 1000.0,
        tracked: true,
        plugins: Plugins {
            apdex_ms: Some(20.0),
            extended: true,
            endpoints: vec![Some("/users".to_owned())],
            ..Plugins::default()
        },
        ..Header::default()
    }
}

/// An operation planned 1 ms before it starts at `started` ns, taking `ns`.
pub(crate) fn timing(started: i64, ns: i64) -> Timing {
    let started = At(started);
    Timing {
        planned: started.plus(-1_000_000),
        started,
        first_byte: Some(started.plus(ns / 2)),
        ended: started.plus(ns),
    }
}

/// A second of one shard's work, different for every shard and second.
pub(crate) fn record_second(recorder: &mut Recorder, shard: u32, second: i64) -> Record {
    let now = second * 1_000_000_000;
    for i in 0..10 {
        let ns = 1_000_000 * (1 + i * i + second * 7 + i64::from(shard) * 3);
        recorder.operation(
            OperationId(0),
            timing(now + i * 1_000_000, ns),
            Outcome::Status(200 + (i / 9) as u16 * 300),
        );
    }
    // Redirected once: 4 ms to the hop, 6 ms to the answer.
    recorder.hop(OperationId(0), 302, 4_000_000, At(0));
    recorder.redirected(OperationId(0), timing(now + 500, 9_000_000), Outcome::Status(200), 6_000_000);
    let sent = Timing { first_byte: None, ..timing(now, 70_000) };
    recorder.operation(
        OperationId(1),
        sent,
        if second == 1 { Outcome::Failed(Failure::Reset) } else { Outcome::Ok },
    );
    let closed = || format!("shard {shard}, second {second}");
    recorder.failure_called(None, Failure::Closed(4008), Some(At(now + 5)), "", closed);
    for called in ["50 % off.", "a=b\nc"] {
        let thrown = || format!("shard {shard}, second {second}: {called}");
        recorder.failure_called(Some(OperationId(1)), Failure::Function, Some(At(now + 6)), called, thrown);
    }
    recorder.add(Counter::ArrivalsPlanned, 3);
    recorder.add(Counter::ArrivalsStarted, 3);
    recorder.add(Counter::MessagesSent, 1);
    recorder.add(Counter::UsersStopped, 2);
    recorder.add(Counter::OperationsCut, 1);
    recorder.user_created((second % 2) as u16);
    recorder.user_ended(0, true, 2_000_000_000 + now);
    recorder.user_ended(0, true, 900_000_000);
    recorder.user_ended(1, false, 1);
    recorder.send_lag(200_000 + now / 10_000);
    recorder.hiccup(90_000);
    let expectations = recorder.expectations();
    expectations.held("statusCode");
    expectations.failed("equals", At(now + 7), || format!("shard {shard}, second {second}"));
    let mut record = recorder.take();
    let cpu_ns = 100_000_000 * (1 + u64::from(shard));
    let (users, wait_ns, functions_ns) = (5 + second as u64, cpu_ns / 4, cpu_ns / 2);
    record.gauges = Gauges { users, connections: 4, cpu_ns, wait_ns, functions_ns };
    record
}
