//! Where lost copies were: at the end of what their receivers heard, in the middle, or nowhere at all.
//!
//! A receiver whose copies end too soon is one the target had not come to yet: a backlog, or its death. One that heard
//! later messages was left out. And a message that reached nobody was most likely never taken from its sender. None of
//! it is noted copy by copy: of each stay two spans of sending instants are kept in which nothing was received, and how
//! many of them cover the instant of a message is a difference of two ranks, as in [`super::room`].

use super::room::{Message, Ranks, Room};
use super::{Counts, Ledger, RoomId, has_own};
use crate::at::At;

/// What is lost so soon after a join was probably sent before the target had it in the room (ns).
pub(super) const SOON_NS: i64 = 1_000_000_000;

/// The first and the last sending instant; none where the last is before the first.
type Span = (At, At);

/// What a stay was owed and did not hear.
pub(super) struct Silence {
    /// After all that reached its member.
    pub(super) tail: Span,
    /// Soon after it joined, before all that reached it.
    pub(super) after_join: Option<Span>,
}

/// What the members of a room did not hear.
#[derive(Clone, Default)]
pub(super) struct Silences {
    tails: Vec<Span>,
    after_joins: Vec<Span>,
}

impl Silences {
    pub(super) fn add(&mut self, of: impl Iterator<Item = Silence>) {
        for Silence { tail, after_join } in of {
            self.tails.extend(Some(tail).filter(|(from, to)| from <= to));
            self.after_joins.extend(after_join.filter(|(from, to)| from <= to));
        }
    }

    /// Forgets those that ended before the oldest message that is known or may yet be told of.
    pub(super) fn forget(&mut self, until: At) {
        for spans in [&mut self.tails, &mut self.after_joins] {
            spans.retain(|&(_, to)| to >= until);
            spans.shrink_to(2 * spans.len());
        }
    }
}

impl Ranks {
    fn of(spans: &[Span]) -> Ranks {
        let (mut begins, mut ends): (Vec<At>, Vec<At>) = spans.iter().copied().unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        Ranks { begins, ends }
    }
}

/// Lost copies by where they were.
#[derive(Default)]
pub(super) struct Lost {
    tail: u64,
    never_accepted: u64,
    after_join: u64,
}

impl Lost {
    /// Parts what is lost. A stay that was told of too late moves a copy or two between the parts, never beyond what is
    /// lost.
    pub(super) fn part(&self, lost: u64, counts: &mut Counts) {
        let never_accepted = self.never_accepted.min(lost);
        let tail = self.tail.min(lost - never_accepted);
        let gap = lost - never_accepted - tail;
        counts.never_accepted += never_accepted;
        counts.lost_tail += tail;
        counts.lost_gap += gap;
        counts.lost_after_join += self.after_join.min(gap);
    }
}

impl Ledger {
    /// Where the copies were that have not come by the end of the run.
    pub(super) fn lost(&mut self) -> Lost {
        let mut lost = Lost::default();
        if self.counts().outstanding == 0 {
            return lost;
        }
        let settle = self.rules.settle_ns;
        let mut silences: Vec<Silences> = self.rooms.iter().map(|room| room.silences.clone()).collect();
        for seat in self.seats.each() {
            if let Some(of_room) = silences.get_mut(seat.room as usize) {
                of_room.add(seat.silences(settle));
            }
        }
        for ((id, room), of_room) in (0..).zip(&self.rooms).zip(&silences) {
            self.lost_in(id, room, of_room, &mut lost);
        }
        lost
    }

    fn lost_in(&self, id: RoomId, room: &Room, silences: &Silences, lost: &mut Lost) {
        let [tails, after_joins] = [&silences.tails, &silences.after_joins].map(|spans| Ranks::of(spans));
        let own =
            |message: &Message| u64::from(!self.rules.echo && has_own(self.rules, &self.seats, id, message));
        for (message, missing, come) in room.missed(own) {
            if come == 0 {
                lost.never_accepted += missing;
                continue;
            }
            let (own_tail, own_after_join) = self.own_silence(id, message);
            lost.tail += tails.covering(message.started) - own_tail;
            lost.after_join += after_joins.covering(message.started) - own_after_join;
        }
    }

    /// In how many silences of its own sender a message was sent, which is not owed it.
    fn own_silence(&self, id: RoomId, message: &Message) -> (u64, u64) {
        let seat = self.seats.get(message.sender, id).filter(|_| !self.rules.echo);
        let is_in = |span: Span| u64::from(span.0 <= message.started && message.started <= span.1);
        let each = seat.into_iter().flat_map(|seat| seat.silences(self.rules.settle_ns));
        each.fold((0, 0), |(tail, after_join), silence| {
            (tail + is_in(silence.tail), after_join + silence.after_join.map_or(0, is_in))
        })
    }
}
