//! A user's memberships of rooms, as its flow and its connections begin and end them.

use sonagi_measure::At;
use sonagi_measure::ledger::Batch;
use std::sync::Arc;

use super::User;
use crate::plan::{Step, Subscribe};
use sonagi_engine::delivery::{Manner, Memberships, Room};

impl User {
    /// Does something with its memberships. Users without any pay a pointer.
    fn with_memberships(&mut self, what: impl FnOnce(&mut Memberships, &mut Batch)) {
        let member = self.values.member;
        let memberships = self.memberships.get_or_insert_with(|| Box::new(Memberships::new(member)));
        what(memberships, self.shard.recorder.borrow_mut().ledger());
    }

    /// Whether copies of rooms it has left may still come.
    pub(super) fn may_still_receive(&self) -> bool {
        self.memberships.as_ref().is_some_and(|memberships| memberships.may_still_receive())
    }

    /// A subscription is asked for.
    pub(super) fn ask(&mut self, subscribe: &Subscribe) {
        let room = subscribe.steps.iter().find_map(|step| match step {
            Step::Join(room) => Some(room),
            _ => None,
        });
        // A name that the subscription itself has to learn first is known at its end.
        let Some(Ok(name)) = room.map(|room| self.values.text(room)) else { return };
        let (room, now) = (self.shard.shared.delivery.rooms.named(&name), self.now());
        self.with_memberships(|memberships, batch| memberships.ask(room, now, batch));
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
        let (manner, now) = (Manner { resumes, polls: false }, self.now());
        self.with_memberships(|memberships, batch| memberships.join(room, manner, now, batch));
    }

    pub(super) fn leave_room(&mut self, name: &str) {
        let (room, now) = (self.shard.shared.delivery.rooms.named(name), self.now());
        if let Some(reconnect_plan) = &mut self.reconnect_plan {
            reconnect_plan.left(room.id);
        }
        if let Some(memberships) = &mut self.memberships {
            let mut recorder = self.shard.recorder.borrow_mut();
            memberships.leave(now, recorder.ledger(), |joined| joined.room.id == room.id, |_| false);
            memberships.go(now, recorder.ledger(), |left| left.id == room.id);
        }
        self.values.room = self.memberships.as_ref().and_then(|memberships| memberships.last().cloned());
    }

    /// Nothing sent from `now` on is owed to the user, unless it comes back and resumes.
    pub(super) fn end_memberships(&mut self, now: At, comes_back: bool) {
        let Some(memberships) = &mut self.memberships else { return };
        let may_resume = comes_back && self.shard.plan().reconnect.is_some_and(|plan| plan.resume);
        let reconnect_plan = self.reconnect_plan.as_ref().filter(|_| may_resume);
        let interrupts = |room: &Room| reconnect_plan.is_some_and(|plan| plan.resumes(room.id));
        memberships.leave(now, self.shard.recorder.borrow_mut().ledger(), |_| true, interrupts);
    }

    /// Nothing can reach the user any more.
    pub(super) fn forget_memberships(&mut self, now: At) {
        if let Some(memberships) = &mut self.memberships {
            memberships.go_all(now, self.shard.recorder.borrow_mut().ledger());
        }
    }
}
