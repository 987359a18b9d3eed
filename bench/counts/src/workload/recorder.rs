//! What a shard writes down, and what is made of it once a second.

use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Operation, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::Recorder;
use sonagi_measure::stamp::{self, Stamp};
use sonagi_measure::summary::FailOnStatus;
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use std::hint::black_box;

use super::packets::CHAT;

const SECOND: i64 = 1_000_000_000;

pub(super) fn find_stamp(operations: u64) {
    assert_eq!(search(CHAT, operations), operations);
}

pub(super) fn find_none(operations: u64) {
    let chat = CHAT.replace("~sng", "~sn_");
    assert_eq!(search(&chat, operations), 0);
}

fn search(text: &str, operations: u64) -> u64 {
    (0..operations).map(|_| stamp::find(black_box(text.as_bytes())).count() as u64).sum()
}

pub(super) fn write_stamp(operations: u64) {
    let mut text = String::with_capacity(Stamp::LEN);
    for number in 0..operations as u32 {
        text.clear();
        black_box(Stamp { run: 1, room: 2, sender: 3, number }).write(&mut text);
        black_box(&text);
    }
}

pub(super) fn operation(operations: u64) {
    let mut recorder = Recorder::new(1, 1);
    record(&mut recorder, 1, operations);
    assert_eq!(recorder.take().operations[0].count(), operations);
}

/// `count` operations of each of the first `kinds`, answered within 0.1 to 20 ms.
fn record(recorder: &mut Recorder, kinds: u16, count: u64) {
    for n in 0..count as i64 {
        for kind in 0..kinds {
            let started = At(n * 1_000);
            // A spread that no seed changes: steps of a prime number of microseconds.
            let took = 100_000 + n * 7_919_000 % 20_000_000;
            let timing = Timing {
                planned: At(started.0 - 50_000),
                started,
                first_byte: Some(started.plus(took - 20_000)),
                ended: started.plus(took),
            };
            recorder.operation(OperationId(kind), timing, Outcome::Status(200));
        }
    }
}

pub(super) fn second(operations: u64) {
    const KINDS: u16 = 3;
    let mut totals = Totals::new(&header(KINDS), Rules::default(), MetricStore::default());
    let mut recorder = Recorder::new(usize::from(KINDS), 1);
    for second in 0..operations as i64 {
        record(&mut recorder, KINDS, 100);
        let at = At((second + 1) * SECOND);
        black_box(totals.absorb(vec![recorder.take()], at, ProcessGauges::default()));
    }
    assert_eq!(totals.summary().operations[0].count, operations * 100);
}

fn header(kinds: u16) -> Header {
    let operation = |kind| Operation { name: format!("GET /{kind}"), kind: OperationKind::Http };
    Header {
        name: "counts".to_owned(),
        started: String::new(),
        target: String::new(),
        version: String::new(),
        seed: 1,
        shards: 1,
        population: None,
        scenarios: vec!["only".to_owned()],
        operations: (0..kinds).map(operation).collect(),
        plan: serde_json::Value::Null,
        environment: serde_json::Value::Null,
        deadline_ms: 1000.0,
        tracked: false,
        arrivals: None,
        load_s: None,
        cores: 1,
        fail_on_status: FailOnStatus::default(),
        thresholds: Vec::new(),
        plugins: sonagi_measure::plugins::Plugins::default(),
        ..Header::default()
    }
}
