//! The shards' inputs to the ledger, as plain records.

use crate::at::At;

/// A virtual user, unique in the run; dense from 0.
pub type Member = u32;
/// A room, unique in the run; dense from 0.
pub type RoomId = u32;

/// A shard's observations since the last call. The order within each list is the order of events.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What became of members in rooms.
    pub moves: Vec<Moved>,
    /// Members that are gone for good.
    pub departed: Vec<Departed>,
    /// Messages handed to the kernel.
    pub sent: Vec<Sent>,
    /// Outcomes of sends that were open, and doubts about others.
    pub settled: Vec<Settled>,
    /// Copies that arrived.
    pub received: Vec<Received>,
    /// Stamps of other runs.
    pub foreign: u64,
}

impl Batch {
    /// An empty batch with as much room as this one needed.
    pub fn successor(&self) -> Batch {
        Batch {
            sent: Vec::with_capacity(self.sent.len()),
            settled: Vec::with_capacity(self.settled.len()),
            received: Vec::with_capacity(self.received.len()),
            ..Batch::default()
        }
    }
}

/// A member asked for a room, came or left.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The member.
    pub member: Member,
    /// Where.
    pub room: RoomId,
    /// When; of a join, when its confirmation came.
    pub at: At,
    /// What happened.
    pub what: Move,
}

/// What happens to a membership. When its connection is cut, it ends ([`Move::Leave`] or [`Move::Interrupt`]) and
/// [`Move::Go`] follows in the same instant; a finished user drains in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A subscription was asked for. From then on a copy is no leak: the target may have let the member in and its word
    /// not be here yet. Nothing is owed before that word; when it never comes, [`Move::Go`] is the end of this, too.
    Ask,
    /// A subscription was confirmed.
    Join,
    /// The same, and it takes up where an interrupted stay broke off: what was sent since is owed, too. After any other
    /// stay it is an ordinary join.
    Resume,
    /// A membership ended: nothing sent from then on is owed. Copies of messages sent before count whenever they
    /// arrive; copies of later ones are `settling` until [`Move::Go`] + settle.
    Leave,
    /// The same, and the member is trying to come back and to be told of all it missed: until it has
    /// ([`Move::Resume`]), or a [`Move::Leave`] says that it gave up, nobody can say what copies of messages sent since
    /// are.
    Interrupt,
    /// The connection behind an ended membership is closed now.
    Go,
}

/// A user is gone for good: it has left everywhere and given up, its connections are closed, and all it sent or
/// received has been written down. The ledger need not know it any longer.
#[derive(Clone, Copy, Debug)]
pub struct Departed {
    /// The member.
    pub member: Member,
    /// When.
    pub at: At,
}

/// A stamped message was handed to the kernel. `acked`: None when its outcome follows as [`Settled`].
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Where.
    pub room: RoomId,
    /// Number in the room, from 0, unique.
    pub number: u32,
    /// The sender.
    pub sender: Member,
    /// When the schedule wanted it sent; latency runs from here.
    pub planned: At,
    /// When it was handed to the kernel; membership is judged here.
    pub started: At,
    /// Whether the target acknowledged it; None when [`Settled`] will say. `Some(true)` for sends without
    /// acknowledgement.
    pub acked: Option<bool>,
}

/// The acknowledgement of a message came (`acked`) or will never come; or the sender cut its own connection so soon
/// after an unacknowledged send that the target may not have read it (not `acked`).
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    /// Where.
    pub room: RoomId,
    /// The message's number.
    pub number: u32,
    /// Whether the target took it.
    pub acked: bool,
}

/// A copy arrived. 24 bytes: the hot path writes these.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// When.
    pub at: At,
    /// The receiver.
    pub member: Member,
    /// The room it was sent to.
    pub room: RoomId,
    /// The message's number.
    pub number: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_received_copy_has_as_many_bytes_as_the_map_says() {
        let map = include_str!("../../../../ARCHITECTURE.md");
        assert!(map.contains(&format!("a {}-byte `Received`", size_of::<Received>())));
    }
}
