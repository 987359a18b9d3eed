//! A user's records for the ledger, in any script language: rooms by name and memberships of them, stamps found in
//! received texts, and messages whose fate the user's own goodbye makes uncertain.

pub use crate::memberships::{Manner, Membership, Memberships};
pub use crate::rooms::{Room, Rooms};

use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Member, Received, Settled};
use sonagi_measure::stamp::{self, Stamp};
use std::sync::atomic::{AtomicU32, Ordering};

/// The part of the ledger that all threads of a run share: its rooms, and the numbers that are given out.
#[derive(Debug)]
pub struct Delivery {
    /// Every room so far.
    pub rooms: Rooms,
    /// The run's tag in stamps: 24 bits that tell its messages from those of other runs.
    pub tag: u32,
    /// Members so far: the next one's number.
    members: AtomicU32,
}

impl Default for Delivery {
    fn default() -> Delivery {
        // Not from the seed: two runs with one seed must not mistake each other's messages for their own.
        let tag = fastrand::u32(..1 << 24);
        Delivery { rooms: Rooms::default(), tag, members: AtomicU32::new(0) }
    }
}

impl Delivery {
    /// The next member's number.
    pub fn next_member(&self) -> Member {
        self.members.fetch_add(1, Ordering::Relaxed)
    }
}

/// Writes down every stamp in what a member received. On the hot path.
#[inline]
pub fn track(bytes: &[u8], at: At, member: Member, run: u32, batch: &mut Batch) {
    for found in stamp::find(bytes) {
        if found.run == run {
            batch.received.push(Received { at, member, room: found.room, number: found.number });
        } else {
            batch.foreign += 1;
        }
    }
}

/// The stamped messages a user sent last to which nothing will be an answer.
#[derive(Debug, Default)]
pub struct Unanswered(Vec<(Stamp, At)>);

impl Unanswered {
    /// Notes a message that was sent. Those sent longer ago than the settle window are forgotten.
    pub fn note(&mut self, stamp: Stamp, now: At, settle_ns: i64) {
        self.0.retain(|&(_, left)| left.plus(settle_ns) >= now);
        self.0.push((stamp, now));
    }

    /// The user cut its own connection, or did so since: of what left shortly before, nobody can say how much the
    /// target has read.
    pub fn doubt(&mut self, cut: At, settle_ns: i64, batch: &mut Batch) {
        for (stamp, left) in std::mem::take(&mut self.0) {
            if left.plus(settle_ns) >= cut {
                batch.settled.push(Settled { room: stamp.room, number: stamp.number, acked: false });
            }
        }
    }
}
