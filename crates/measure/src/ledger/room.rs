//! A room's messages, and how many members each was owed to.
//!
//! How many were in at an instant is a difference of two ranks: stays that had begun by then less stays that had ended
//! before. So a message's owed copies cost two binary searches however many members there are.

use std::collections::VecDeque;

use super::Sent;
use super::fates::RoomCounts;
use super::lost::Silences;
use crate::at::At;

/// No message.
const NONE: u32 = u32::MAX;

/// Ended stays that are not worth a look.
const FEW_STAYS: usize = 8;

/// A stamped message. 32 bytes, kept until it is forgotten ([`Room::forget`]) or the run ends: its acknowledgement may
/// come late.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) planned: At,
    pub(super) started: At,
    pub(super) sender: u32,
    /// First copies that have arrived.
    arrived: u32,
    /// The same sender's next message in this room.
    next: u32,
    state: State,
    /// Its owed copies have been counted.
    is_judged: bool,
    own: Own,
}

/// The fate of the copy of a message for its own sender.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// The copy is not owed, or its fate is unknown yet, or it was given up.
    None,
    Missing,
    Come,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The number has not been sent (yet).
    Vacant,
    Open,
    Acked,
    Refused,
}

const VACANT: Message = Message {
    planned: At(0),
    started: At(0),
    sender: NONE,
    arrived: 0,
    next: NONE,
    state: State::Vacant,
    is_judged: false,
    own: Own::None,
};

/// Messages by number, and the stays of all members as two sorted lists.
#[derive(Default)]
pub(super) struct Room {
    pub(super) counts: RoomCounts,
    messages: VecDeque<Message>,
    /// The number of the first of them: those before it are forgotten.
    first: u32,
    /// Members that are away and may come back for what was sent since: nothing is forgotten meanwhile.
    pub(super) awaited: u32,
    /// The first owed instant of every stay, and the last one of every ended stay.
    stays: Ranks,
    /// What members that are gone for good did not hear.
    pub(super) silences: Silences,
    /// How many ended stays there are when it is worth looking which of them have become of no account.
    sift_at: usize,
    /// The judged messages in the order of their sending. None until a member resumes here: most rooms never need it.
    by_sending: Option<Vec<u32>>,
}

impl Room {
    /// A stay began to be owed at this instant.
    pub(super) fn joined(&mut self, from: At) {
        insert(&mut self.stays.begins, from);
    }

    /// A stay is owed nothing sent after this instant.
    pub(super) fn left(&mut self, until: At) {
        insert(&mut self.stays.ends, until);
    }

    /// How many members a message sent then is owed to, the sender included.
    pub(super) fn owed_at(&self, started: At) -> u64 {
        self.stays.covering(started)
    }

    /// Enters a message. `last` is the number of the sender's last one here and is brought up to date. False when the
    /// number is taken.
    pub(super) fn send(&mut self, sent: &Sent, last: &mut Option<u32>) -> bool {
        let Some(at) = self.place(sent.number) else { return false };
        if self.messages.len() <= at {
            self.messages.resize(at + 1, VACANT);
        }
        if self.messages[at].state != State::Vacant {
            return false;
        }
        let mut next = NONE;
        match *last {
            Some(last) if last > sent.number => {
                // Out of order: concurrent requests of one user. Look back for the message before it.
                let sender = |m: &Message| m.sender == sent.sender;
                next = last;
                if let Some(before) = self.messages.range_mut(..at).rfind(|m| sender(m)) {
                    next = std::mem::replace(&mut before.next, sent.number);
                } else if let Some(after) = self.messages.range(at + 1..).position(sender) {
                    next = sent.number + 1 + after as u32;
                }
            }
            Some(before) => {
                if let Some(before) = self.place(before) {
                    self.messages[before].next = sent.number;
                }
                *last = Some(sent.number);
            }
            None => *last = Some(sent.number),
        }
        let state = match sent.acked {
            None => State::Open,
            Some(true) => State::Acked,
            Some(false) => State::Refused,
        };
        let Sent { planned, started, sender, .. } = *sent;
        self.messages[at] = Message { planned, started, sender, next, state, ..VACANT };
        true
    }

    /// Notes a message's outcome. False when there is no such message (yet).
    pub(super) fn settle(&mut self, number: u32, acked: bool) -> bool {
        let Some(at) = self.place(number) else { return true };
        if let Some(message) = self.messages.get_mut(at).filter(|m| m.state != State::Vacant) {
            message.state = if acked { State::Acked } else { State::Refused };
            return true;
        }
        false
    }

    /// The message of this number.
    pub(super) fn message(&self, number: u32) -> Option<&Message> {
        self.messages.get(self.place(number)?).filter(|m| m.state != State::Vacant)
    }

    /// The message of this number, if all memberships at its sending are known.
    pub(super) fn ripe(&self, number: u32, ripe: At) -> Option<Message> {
        self.message(number).filter(|m| m.started <= ripe).copied()
    }

    /// A message's owed copies have been counted, one of them its sender's `own`: a stay that is owed it and becomes
    /// known later counts its own.
    pub(super) fn judged(&mut self, number: u32, own: bool) {
        let Some(at) = self.place(number) else { return };
        self.messages[at].is_judged = true;
        self.messages[at].miss_own(own);
        if let Some(order) = &mut self.by_sending {
            let (messages, first) = (&self.messages, self.first);
            insert_by(order, number, |number| messages[(number - first) as usize].started);
        }
    }

    /// How many of the messages judged so far, sent at this instant or later, `member` is owed that has come back for
    /// them.
    pub(super) fn owe_again(&mut self, from: At, member: u32, echo: bool) -> u64 {
        let messages = &mut self.messages;
        let first = self.first;
        let order = self.by_sending.get_or_insert_with(|| {
            let judged = (first..).zip(&*messages).filter(|(_, message)| message.is_judged);
            let mut order: Vec<u32> = judged.map(|(number, _)| number).collect();
            order.sort_by_key(|number| messages[(number - first) as usize].started);
            order
        });
        let since = order.partition_point(|number| messages[(number - first) as usize].started < from);
        let mut owed = 0;
        for number in &order[since..] {
            let message = &mut messages[(number - first) as usize];
            let is_own = message.sender == member;
            message.miss_own(is_own && echo);
            owed += u64::from(echo || !is_own);
        }
        owed
    }

    /// How many copies have not come that their own senders are owed.
    pub(super) fn own_missing(&self) -> u64 {
        self.messages.iter().filter(|message| message.own == Own::Missing).count() as u64
    }

    /// A first copy arrived at this member.
    pub(super) fn arrived(&mut self, number: u32, member: u32) {
        if let Some(at) = self.place(number) {
            let message = &mut self.messages[at];
            message.arrived += 1;
            if message.sender == member {
                message.own = Own::Come;
            }
        }
    }

    /// The numbers of the same sender's later messages, ascending.
    pub(super) fn later_by_sender(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |number: u32| self.message(number).map(|m| m.next).filter(|&n| n != NONE);
        std::iter::successors(next(number), move |&n| next(n))
    }

    /// Whether the message of this number was sent, has come to all it was owed to, and is forgotten.
    pub(super) fn has_forgotten(&self, number: u32) -> bool {
        number < self.first
    }

    /// Forgets the oldest messages sent up to then, until one has an outcome or a copy outstanding. What is needed to
    /// judge a further copy of a forgotten one stands in its receiver's bitmap: who has it was owed it, and nobody else
    /// was.
    pub(super) fn forget(&mut self, until: At) {
        let first = self.first;
        let is_over = |room: &Room, oldest: &Message| {
            matches!(oldest.state, State::Acked | State::Refused)
                && oldest.started <= until
                && u64::from(oldest.arrived) >= room.owed_at(oldest.started)
        };
        while self.awaited == 0 && self.messages.front().is_some_and(|oldest| is_over(self, oldest)) {
            self.messages.pop_front();
            self.first += 1;
        }
        if let Some(order) = self.by_sending.as_mut().filter(|_| self.first > first) {
            order.retain(|number| *number >= self.first);
        }
    }

    /// Forgets stays that ended before the oldest message was sent that is remembered or may yet be told of: each
    /// counts on both sides of every rank. Looks only when ended stays have doubled in number, since it goes over all
    /// messages.
    pub(super) fn forget_stays(&mut self, until: At) {
        if self.stays.ends.len() < self.sift_at.max(FEW_STAYS) {
            return;
        }
        let sent = self.messages.iter().filter(|m| m.state != State::Vacant).map(|m| m.started);
        let until = sent.min().map_or(until, |oldest| oldest.min(until));
        let Ranks { begins, ends } = &mut self.stays;
        let over = ends.partition_point(|&end| end < until);
        ends.drain(..over);
        // At least as many began by then; which of them are taken away makes no difference to any later rank.
        begins.drain(..over);
        self.sift_at = 2 * ends.len();
        self.silences.forget(until);
    }

    /// How many begins and ends are known.
    #[cfg(test)]
    pub(super) fn stays_kept(&self) -> usize {
        self.stays.begins.len() + self.stays.ends.len()
    }

    /// Where the message of this number is, or will be; None when it is forgotten.
    fn place(&self, number: u32) -> Option<usize> {
        number.checked_sub(self.first).map(|at| at as usize)
    }

    /// The messages that were acknowledged and are owed copies that have not come, with how many came. `own` says how
    /// many of a message's copies its sender would be owed.
    pub(super) fn missed(&self, own: impl Fn(&Message) -> u64) -> impl Iterator<Item = (&Message, u64, u64)> {
        let judged = self.messages.iter().filter(|m| m.state == State::Acked && m.is_judged);
        judged.filter_map(move |message| {
            let come = u64::from(message.arrived);
            let missing = self.owed_at(message.started).saturating_sub(own(message) + come);
            (missing > 0).then_some((message, missing, come))
        })
    }

    /// Owed copies of unacknowledged messages that have not come. `own` says how many of a message's copies its sender
    /// would be owed.
    pub(super) fn give_up(&mut self, own: impl Fn(&Message) -> u64) -> u64 {
        let open = |m: &&mut Message| matches!(m.state, State::Open | State::Refused);
        let mut unknown = 0;
        for message in self.messages.iter_mut().filter(open) {
            // Like in [`super::Ledger::counts`]: a copy that was merged late may have come without being owed.
            let come = own(message) + u64::from(message.arrived);
            unknown += self.stays.covering(message.started).saturating_sub(come);
            // Given up once: closing again must not count it twice.
            message.state = State::Acked;
            message.own = Own::None;
        }
        unknown
    }
}

impl Message {
    /// Its sender is owed a copy, if so, and it has not come yet.
    fn miss_own(&mut self, is_owed: bool) {
        if is_owed && self.own == Own::None {
            self.own = Own::Missing;
        }
    }
}

/// Spans of instants in the order of their begins, and of their ends; one that lasts has no end yet.
#[derive(Default)]
pub(super) struct Ranks {
    pub(super) begins: Vec<At>,
    pub(super) ends: Vec<At>,
}

impl Ranks {
    /// How many spans an instant is in.
    pub(super) fn covering(&self, at: At) -> u64 {
        let begun = self.begins.partition_point(|&begin| begin <= at);
        let ended = self.ends.partition_point(|&end| end < at);
        begun.saturating_sub(ended) as u64
    }
}

/// Inserts into a sorted list; instants come nearly in order.
fn insert(sorted: &mut Vec<At>, at: At) {
    insert_by(sorted, at, |at| at);
}

fn insert_by<T: Copy>(sorted: &mut Vec<T>, new: T, at: impl Fn(T) -> At) {
    let place = if sorted.last().is_none_or(|&last| at(last) <= at(new)) {
        sorted.len()
    } else {
        sorted.partition_point(|&other| at(other) <= at(new))
    };
    sorted.insert(place, new);
}
