//! The ledger alone: what it costs to judge a copy.

use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Ledger, Move, Moved, Received, Rules, Sent};

const SECOND: i64 = 1_000_000_000;
const MEMBERS: u32 = 100;
const COPIES_A_SECOND: u64 = (MEMBERS * MEMBERS) as u64;

/// Writing the events down is in it: three instructions a copy of what a shard does anyway.
pub(super) fn copy(operations: u64) {
    let mut ledger = Ledger::new(Rules::default());
    let mut first = Batch::default();
    first.moves.extend((0..MEMBERS).map(|member| Moved {
        member,
        room: 0,
        at: At(-SECOND),
        what: Move::Join,
    }));
    ledger.apply(&mut [first], At(0), |_| {});
    let seconds = (operations / COPIES_A_SECOND) as i64;
    let mut batch = Batch::default();
    for second in 0..seconds {
        fill(&mut batch, second);
        ledger.apply(std::slice::from_mut(&mut batch), At((second + 1) * SECOND), |_| {});
        batch = batch.successor();
    }
    let counts = ledger.close(At(seconds * SECOND), |_| {});
    assert_eq!((counts.owed, counts.delivered), (operations, operations));
}

/// A second's events: members send one after the other, and the copies of neighbours arrive swapped, as they do when two
/// senders race.
fn fill(batch: &mut Batch, second: i64) {
    let start = |i: u32| At(second * SECOND + i64::from(i) * SECOND / i64::from(MEMBERS));
    let number = |sender: u32| second as u32 * MEMBERS + sender;
    for sender in 0..MEMBERS {
        let at = start(sender);
        let number = number(sender);
        batch.sent.push(Sent { room: 0, number, sender, planned: at, started: at, acked: Some(true) });
    }
    for i in 0..MEMBERS {
        let sender = i ^ 1;
        let at = start(i.max(sender)).plus(1_000_000);
        let number = number(sender);
        batch.received.extend((0..MEMBERS).map(|member| Received { at, member, room: 0, number }));
    }
}
