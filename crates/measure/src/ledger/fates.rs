//! What became of the copies of each room: for a reader who asks where the lost ones were.

use super::room::Room;
use super::{Ledger, RoomId};

/// Copies of a room's messages by what became of them. `owed = delivered + late + replayed + lost`, once the ledger is
/// closed; until then some are outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct RoomCounts {
    /// Stamped messages sent.
    pub messages: u64,
    /// Copies that had to arrive.
    pub owed: u64,
    /// Owed, arrived within the deadline.
    pub delivered: u64,
    /// Owed, arrived after the deadline.
    pub late: u64,
    /// Owed, arrived over a later connection.
    pub replayed: u64,
    /// Owed, never arrived.
    pub lost: u64,
    /// Further copies.
    pub duplicate: u64,
    /// First copies that came after a later message of the same sender.
    pub reordered: u64,
    /// Copies received by somebody who was not in the room.
    pub leaked: u64,
}

/// The most rooms that are told apart.
pub const ROOMS_MAX: usize = 10;

/// A room, and what became of the copies of its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RoomFate {
    /// The room's name; its number where nobody knows a name.
    pub room: String,
    /// Its copies.
    #[serde(flatten)]
    pub counts: RoomCounts,
}

impl RoomCounts {
    /// How many copies were not as they should be.
    fn bad(&self) -> u64 {
        self.lost + self.late + self.duplicate + self.reordered + self.leaked
    }

    /// All owed copies that have not come are lost.
    pub(super) fn close(&mut self, unknown: u64) {
        self.owed = self.owed.saturating_sub(unknown);
        self.lost = self.owed.saturating_sub(self.delivered + self.late + self.replayed);
    }
}

impl Ledger {
    /// The rooms with the most copies that were not as they should be, at most so many, the worst first. Rooms without
    /// any are left out. Lost ones are known when the ledger is closed.
    pub fn worst_rooms(&self, most: usize) -> Vec<(RoomId, RoomCounts)> {
        let counts = (0..).zip(&self.rooms).map(|(id, room): (RoomId, &Room)| (id, room.counts));
        let mut bad: Vec<(RoomId, RoomCounts)> = counts.filter(|(_, counts)| counts.bad() > 0).collect();
        let key = |(id, counts): &(RoomId, RoomCounts)| (u64::MAX - counts.bad(), *id);
        if bad.len() > most {
            bad.select_nth_unstable_by_key(most, key);
            bad.truncate(most);
        }
        bad.sort_by_key(key);
        bad
    }
}
