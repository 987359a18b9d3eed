//! A user's memberships of rooms, and what the ledger is told of them.
//!
//! A membership has two ends: from `left` on nothing more is owed, until `gone` copies of earlier messages still count.
//! A finished user drains in between; a connection that is cut ends both at once.

use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Member, Move, Moved, RoomId};
use std::sync::Arc;

use crate::rooms::Room;

/// The rooms of one user.
#[derive(Debug, Default)]
pub struct Memberships {
    /// The user's number in the ledger.
    pub member: Member,
    joined: Vec<Membership>,
    /// The room it asked to be let into, until it is.
    asked: Option<Arc<Room>>,
    /// Rooms it has left whose last copies may still come.
    leaving: Vec<Arc<Room>>,
    /// Rooms it was torn from, until they are joined again or given up.
    interrupted: Vec<Arc<Room>>,
}

/// One of a user's rooms.
#[derive(Debug)]
pub struct Membership {
    /// The room.
    pub room: Arc<Room>,
    /// Its messages come in answers to requests, whatever connections there are.
    pub polls: bool,
}

/// How a room is joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Messages that were sent since the connection broke off are owed, too.
    pub resumes: bool,
    /// Messages come in answers to requests.
    pub polls: bool,
}

impl Memberships {
    /// The memberships of the member with this number: none yet.
    pub fn new(member: Member) -> Memberships {
        Memberships { member, ..Memberships::default() }
    }

    /// Whether one of its rooms' messages come in answers to requests.
    pub fn polls(&self) -> bool {
        self.joined.iter().any(|membership| membership.polls)
    }

    /// The room it joined last, of those it is in.
    pub fn last(&self) -> Option<&Arc<Room>> {
        self.joined.last().map(|membership| &membership.room)
    }

    /// Whether copies of rooms it has left may still come.
    pub fn may_still_receive(&self) -> bool {
        !self.leaving.is_empty()
    }

    fn has_joined(&self, room: RoomId) -> bool {
        self.joined.iter().any(|membership| membership.room.id == room)
    }

    /// A subscription is asked for: copies may come before its confirmation, and when that comes too late.
    pub fn ask(&mut self, room: Arc<Room>, at: At, batch: &mut Batch) {
        if !self.has_joined(room.id) {
            batch.moves.push(Moved { member: self.member, room: room.id, at, what: Move::Ask });
            self.asked = Some(room);
        }
    }

    /// From now on the user is owed what is sent to the room; again is no change.
    pub fn join(&mut self, room: Arc<Room>, manner: Manner, at: At, batch: &mut Batch) {
        if self.has_joined(room.id) {
            return;
        }
        self.interrupted.retain(|interrupted| interrupted.id != room.id);
        self.asked.take_if(|asked| asked.id == room.id);
        let what = if manner.resumes { Move::Resume } else { Move::Join };
        batch.moves.push(Moved { member: self.member, room: room.id, at, what });
        self.joined.push(Membership { room, polls: manner.polls });
    }

    /// Nothing sent from now on is owed of the rooms that `ends` says, unless the user comes back to one that
    /// `interrupts` says, and resumes. Whether there were any.
    pub fn leave(
        &mut self,
        at: At,
        batch: &mut Batch,
        ends: impl Fn(&Membership) -> bool,
        interrupts: impl Fn(&Room) -> bool,
    ) -> bool {
        let were = self.leaving.len();
        for Membership { room, .. } in self.joined.extract_if(.., |membership| ends(membership)) {
            let mut what = Move::Leave;
            if interrupts(&room) {
                what = Move::Interrupt;
                self.interrupted.push(Arc::clone(&room));
            }
            batch.moves.push(Moved { member: self.member, room: room.id, at, what });
            self.leaving.push(room);
        }
        self.leaving.len() > were
    }

    /// Nothing more can come of the rooms it has left that `are_gone` says.
    pub fn go(&mut self, at: At, batch: &mut Batch, are_gone: impl Fn(&Room) -> bool) {
        for room in self.leaving.extract_if(.., |room| are_gone(room)) {
            batch.moves.push(Moved { member: self.member, room: room.id, at, what: Move::Go });
        }
    }

    /// Nothing can reach the user any more, of the room it asked for neither.
    pub fn go_all(&mut self, at: At, batch: &mut Batch) {
        self.leaving.extend(self.asked.take());
        self.go(at, batch, |_| true);
    }

    /// The user will not come back to the rooms it was torn from that `are_over` says: the ledger need not wait for
    /// them.
    pub fn give_up(&mut self, at: At, batch: &mut Batch, are_over: impl Fn(&Room) -> bool) {
        for room in self.interrupted.extract_if(.., |room| are_over(room)) {
            batch.moves.push(Moved { member: self.member, room: room.id, at, what: Move::Leave });
        }
    }

    /// The rooms it was torn from, for whoever joins them again.
    pub fn take_interrupted(&mut self) -> Vec<Arc<Room>> {
        std::mem::take(&mut self.interrupted)
    }
}
