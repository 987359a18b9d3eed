//! How long the ledger takes to judge a copy: one room of N members, each sending once a second, everything received.
//!
//! `cargo run --release -p sonagi-measure --example ledger_speed -- 500 20`

#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use sonagi_measure::At;
use sonagi_measure::ledger::{Arrival, Batch, Ledger, Move, Moved, Received, Rules, Sent};
use std::time::{Duration, Instant};

const SECOND: i64 = 1_000_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let members: u32 = arguments.next().unwrap_or(500);
    let seconds: i64 = i64::from(arguments.next().unwrap_or(20));
    let mut ledger = Ledger::new(Rules::default());
    let mut first = Batch::default();
    first.moves.extend((0..members).map(|member| Moved {
        member,
        room: 0,
        at: At(-SECOND),
        what: Move::Join,
    }));
    ledger.apply(&mut [first], At(0), |_| {});
    let (mut spent, mut latencies) = (Duration::ZERO, 0i64);
    let mut note = |arrival: Arrival| latencies += arrival.latency_ns;
    for second in 0..seconds {
        let mut batch = self::second(members, second);
        let began = Instant::now();
        ledger.apply(std::slice::from_mut(&mut batch), At((second + 1) * SECOND), &mut note);
        spent += began.elapsed();
    }
    let began = Instant::now();
    let counts = ledger.close(At(seconds * SECOND), &mut note);
    spent += began.elapsed();
    let per_copy = spent.as_nanos() as f64 / counts.owed as f64;
    println!("{} copies of {} messages, {} lost", counts.owed, counts.messages, counts.lost);
    println!("{per_copy:.1} ns per copy, mean latency {} ns", latencies / counts.delivered as i64);
}

/// A second's events: members send one after the other; copies of neighbouring messages come interleaved.
fn second(members: u32, second: i64) -> Batch {
    let mut batch = Batch::default();
    let start = |i: u32| At(second * SECOND + i64::from(i) * SECOND / i64::from(members));
    for sender in 0..members {
        let (number, at) = (second as u32 * members + sender, start(sender));
        batch.sent.push(Sent { room: 0, number, sender, planned: at, started: at, acked: Some(true) });
    }
    for i in 0..members {
        // Pairs arrive swapped, as they do when two senders race.
        let sent = (i ^ 1).min(members - 1);
        for member in 0..members {
            let number = second as u32 * members + sent;
            batch.received.push(Received { at: start(i.max(sent)).plus(1_000_000), member, room: 0, number });
        }
    }
    batch
}
