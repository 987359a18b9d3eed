//! A user's memberships of rooms: asked for, begun, ended, and what the ledger is told of them.
//!
//! A membership has two ends: from `left` on nothing more is owed, until `gone` copies of earlier messages still count.
//! A finished user drains in between; a connection that is cut ends both at once.

use sonagi_measure::At;
use sonagi_measure::ledger::{Asked, Joined, Left, RoomId};
use std::rc::Rc;
use std::sync::Arc;

use super::User;
use crate::plan::{Step, Subscribe};
use sonagi_engine::delivery::Room;

/// The rooms of one user. Users without any pay a pointer.
#[derive(Default)]
pub(super) struct Memberships {
    joined: Vec<Arc<Room>>,
    /// The room it asked to be let into, until it is.
    asked: Option<Arc<Room>>,
    /// Rooms it has left whose last copies may still come.
    leaving: Vec<Arc<Room>>,
}

impl Memberships {
    /// Whether it was a member.
    fn leave(&mut self, room: RoomId) -> bool {
        let index = self.joined.iter().position(|joined| joined.id == room);
        index.map(|index| self.joined.remove(index)).is_some()
    }
}

impl User {
    fn memberships(&mut self) -> &mut Memberships {
        self.memberships.get_or_insert_default()
    }

    fn is_member_of(&self, room: RoomId) -> bool {
        let memberships = self.memberships.as_ref();
        memberships.is_some_and(|memberships| memberships.joined.iter().any(|joined| joined.id == room))
    }

    /// Whether copies of rooms it has left may still come.
    pub(super) fn may_still_receive(&self) -> bool {
        self.memberships.as_ref().is_some_and(|memberships| !memberships.leaving.is_empty())
    }

    /// A subscription is asked for: copies may come before its confirmation, and when that comes too late.
    pub(super) fn ask(&mut self, subscribe: &Subscribe) {
        let room = subscribe.steps.iter().find_map(|step| match step {
            Step::Join(room) => Some(room),
            _ => None,
        });
        // A name that the subscription itself has to learn first is known at its end.
        let Some(Ok(name)) = room.map(|room| self.values.text(room)) else { return };
        let room = self.shard.shared.delivery.rooms.named(&name);
        if self.is_member_of(room.id) {
            return;
        }
        let asked = Asked { member: self.values.member, room: room.id, at: self.now() };
        self.shard.recorder.borrow_mut().ledger().asked.push(asked);
        self.memberships().asked = Some(room);
    }

    /// The user is a member from now on; again is no change.
    pub(super) fn join(&mut self, name: &str) {
        let room = self.shard.shared.delivery.rooms.named(name);
        let is_resumable =
            self.reconnect_plan.as_mut().is_some_and(|reconnect_plan| reconnect_plan.joined(room.id));
        let resumes = is_resumable && self.is_resuming() && self.has_place();
        self.join_room(room, resumes);
    }

    /// Whether there is something to take up from: a link that has a cursor of its own goes by nothing else. Other
    /// cursors may be set by what comes before the confirmation, which the target was not told of.
    fn has_place(&self) -> bool {
        match self.connection.as_deref() {
            Some(link) if link.has_cursor() => {
                self.values.cursor.as_ref().is_some_and(|cursor| cursor.for_link().is_some())
            }
            _ => {
                let outage =
                    self.reconnect_plan.as_ref().and_then(|reconnect_plan| reconnect_plan.outage.as_ref());
                outage.is_some_and(|outage| outage.has_place)
            }
        }
    }

    /// Joins; `resumes` when the stay before was interrupted and is taken up again.
    pub(super) fn join_room(&mut self, room: Arc<Room>, resumes: bool) {
        self.values.room = Some(Arc::clone(&room));
        if self.is_member_of(room.id) {
            return;
        }
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.interrupted.retain(|interrupted| interrupted.id != room.id);
        }
        let joined = Joined { member: self.values.member, room: room.id, at: self.now(), resumes };
        self.shard.recorder.borrow_mut().ledger().joined.push(joined);
        let memberships = self.memberships();
        memberships.asked.take_if(|asked| asked.id == room.id);
        memberships.joined.push(room);
    }

    pub(super) fn leave_room(&mut self, name: &str) {
        let room = self.shard.shared.delivery.rooms.named(name);
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.left(room.id);
        }
        if self.memberships.as_mut().is_some_and(|memberships| memberships.leave(room.id)) {
            let left = Left { member: self.values.member, room: room.id, at: self.now(), interrupted: false };
            let mut recorder = self.shard.recorder.borrow_mut();
            recorder.ledger().left.push(left);
            recorder.ledger().gone.push(left);
        }
        self.values.room =
            self.memberships.as_ref().and_then(|memberships| memberships.joined.last().cloned());
    }

    /// Nothing sent from `now` on is owed to the user, unless it comes back and resumes.
    pub(super) fn end_memberships(&mut self, now: At, comes_back: bool) {
        let Some(memberships) = &mut self.memberships else { return };
        let shard = Rc::clone(&self.shard);
        let may_resume = comes_back && shard.plan().reconnect.is_some_and(|plan| plan.resume);
        for room in memberships.joined.drain(..) {
            let reconnect_plan = self
                .reconnect_plan
                .as_mut()
                .filter(|reconnect_plan| may_resume && reconnect_plan.resumes(room.id));
            let interrupted = reconnect_plan.is_some();
            if let Some(reconnect_plan) = reconnect_plan {
                reconnect_plan.interrupted.push(Arc::clone(&room));
            }
            let left = Left { member: self.values.member, room: room.id, at: now, interrupted };
            shard.recorder.borrow_mut().ledger().left.push(left);
            memberships.leaving.push(room);
        }
    }

    /// Nothing can reach the user any more.
    pub(super) fn forget_memberships(&mut self, now: At) {
        let Some(memberships) = self.memberships.take() else { return };
        for room in memberships.leaving.into_iter().chain(memberships.asked) {
            let gone = Left { member: self.values.member, room: room.id, at: now, interrupted: false };
            self.shard.recorder.borrow_mut().ledger().gone.push(gone);
        }
    }
}
