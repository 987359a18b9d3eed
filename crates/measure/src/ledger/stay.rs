//! A member's place in a room: when it was in, and what it has received there.
//!
//! A member can be in a room several times (it reconnects); each time is a [`Stay`]. The instants of a stay:
//!
//! ```text
//!        joined   joined+settle                left        gone   gone+settle
//! ─────────┼───────────┼────────────────────────┼───────────┼──────────┼───────▶ time
//!  leaked  │ settling  │  owed (by sending time) │  settling: sent after left │ leaked
//! ```
//!
//! The first settle window also reaches `settle` back from `joined`; where the request to join is known, from there:
//! the confirmation may be long in coming, and the copies before it are no leak. When the connection was cut
//! (`gone == left`) nothing sent in the last `settle` of the stay is owed: the target may have noticed before we did.
//!
//! A stay that resumes an interrupted one has no first settle window and is owed everything from there on where the
//! stay before it was owed nothing more, as if there had been no interruption:
//!
//! ```text
//!        joined   joined+settle     left−settle  left = gone            joined
//! ─────────┼───────────┼────────────────┼───────────┼─────────────────────┼───────▶ time
//!          │ settling  │ owed to the first          │ owed to the second: copies that come
//!                                       │ …          │ after `gone` are replayed
//! ```

use super::bitmap::Bitmap;
use super::lost::{SOON_NS, Silence};
use super::room::Room;
use crate::at::At;
use std::collections::HashMap;
use std::ops::RangeInclusive;

const OPEN: At = At(i64::MAX);
const NEVER: At = At(i64::MIN);

/// A membership of one member in one room.
struct Stay {
    /// `joined` where the request is not known.
    asked: At,
    /// OPEN until it is confirmed.
    joined: At,
    /// `joined` + settle, but after the stay before, so that no message is owed twice; right after it when this one
    /// resumes.
    owed_from: At,
    /// OPEN while the member is in.
    left: At,
    /// OPEN until the connection is closed.
    gone: At,
    /// When the first message was sent that reached it, of those owed to it: OPEN before, and [`NEVER`] of a stay that
    /// resumes another, which was no join.
    first_heard: At,
}

impl Stay {
    /// Whether the target's word came; one without is a request that may yet be granted until its connection is gone.
    fn is_confirmed(&self) -> bool {
        self.joined != OPEN
    }

    fn is_asked_for(&self) -> bool {
        !self.is_confirmed() && self.gone == OPEN
    }

    /// The sending instants that are owed. Empty ones end just before they begin, so that counting begins minus ends
    /// comes to nothing.
    fn owed(&self, settle: i64) -> RangeInclusive<At> {
        let first = self.owed_from;
        let last =
            if self.gone == self.left && self.left != OPEN { self.left.plus(-settle) } else { self.left };
        first..=last.max(first.plus(-1))
    }
}

/// Everything the ledger knows of one member in one room.
#[derive(Default)]
pub(super) struct Seat {
    pub(super) room: u32,
    stays: Vec<Stay>,
    /// Owed messages of which a copy has arrived.
    pub(super) seen: Bitmap,
    /// The highest number in `seen`, plus one.
    high: u32,
    /// The member's own last message in the room.
    pub(super) last_sent: Option<u32>,
    /// When the last message was sent that reached it, of those owed to it.
    last_heard: At,
    /// The pass over the receipts in which this seat has to wait.
    pub(super) blocked: u32,
    /// The last stay was interrupted, and its member may yet come back to resume it.
    pub(super) is_awaited: bool,
    /// By sender, a received number known to be high: spares long walks when a backlog is replayed. Made on first need.
    ahead: Option<HashMap<u32, u32>>,
}

/// A stay that began.
pub(super) struct Begun {
    /// The first sending instant it is owed.
    pub(super) owed_from: At,
    /// Whether it took up where the one before broke off.
    pub(super) resumed: bool,
}

impl Seat {
    pub(super) fn new(room: u32) -> Seat {
        Seat { room, last_heard: NEVER, ..Seat::default() }
    }

    /// Whether the member is in now.
    pub(super) fn is_open(&self) -> bool {
        self.stays.last().is_some_and(|stay| stay.left == OPEN)
    }

    /// The member asked to be let in.
    pub(super) fn ask(&mut self, at: At) {
        if !self.is_open() && !self.stays.last().is_some_and(Stay::is_asked_for) {
            let (joined, owed_from, gone, first_heard) = (OPEN, OPEN, OPEN, OPEN);
            self.push(Stay { asked: at, joined, owed_from, left: at, gone, first_heard });
        }
    }

    /// The member joined, and `resumes` if the stay before was interrupted. None when it was in already.
    pub(super) fn join(&mut self, at: At, settle: i64, resumes: bool) -> Option<Begun> {
        if self.is_open() {
            return None;
        }
        let asked = self.stays.pop_if(|stay| stay.is_asked_for());
        let resumed = std::mem::take(&mut self.is_awaited) && resumes;
        let owed_from = match self.last_confirmed() {
            Some(before) if resumed => before.owed(settle).end().plus(1),
            Some(before) => at.plus(settle).max(before.left.plus(1)),
            None => at.plus(settle),
        };
        let asked = asked.map_or(at, |stay| stay.asked);
        let first_heard = if resumed { NEVER } else { OPEN };
        self.push(Stay { asked, joined: at, owed_from, left: OPEN, gone: OPEN, first_heard });
        Some(Begun { owed_from, resumed })
    }

    /// How many stays there is room for.
    #[cfg(test)]
    pub(super) fn stays_kept(&self) -> usize {
        self.stays.capacity()
    }

    /// Most members come once: their stay takes the room of one.
    fn push(&mut self, stay: Stay) {
        if self.stays.is_empty() {
            self.stays.reserve_exact(1);
        }
        self.stays.push(stay);
    }

    /// The member left, perhaps to come back: the stay that ended, if it was in. One that was out gives up.
    pub(super) fn leave(&mut self, at: At, interrupted: bool) -> Option<usize> {
        if !self.is_open() {
            self.give_up();
            return None;
        }
        self.is_awaited = interrupted;
        let last = self.stays.len() - 1;
        self.stays[last].left = at;
        Some(last)
    }

    /// The member will not come back to resume.
    pub(super) fn give_up(&mut self) {
        self.is_awaited = false;
    }

    /// Whether a message sent then, owed to no stay so far, will be owed once the member resumes.
    pub(super) fn may_resume(&self, started: At, settle: i64) -> bool {
        self.is_awaited && self.last_confirmed().is_some_and(|stay| started > *stay.owed(settle).end())
    }

    fn last_confirmed(&self) -> Option<&Stay> {
        self.stays.iter().rfind(|stay| stay.is_confirmed())
    }

    /// The connection behind all ended stays is closed.
    pub(super) fn go(&mut self, at: At) {
        for stay in self.stays.iter_mut().rev().filter(|stay| stay.left <= at) {
            if stay.gone != OPEN {
                break;
            }
            stay.gone = at;
        }
    }

    /// The sending instants owed to one stay.
    pub(super) fn owed_between(&self, stay: usize, settle: i64) -> RangeInclusive<At> {
        self.stays[stay].owed(settle)
    }

    /// The stay to which a message sent then is owed.
    pub(super) fn owed(&self, started: At, settle: i64) -> Option<usize> {
        self.stays.iter().rposition(|stay| stay.owed(settle).contains(&started))
    }

    /// Whether the member was in the room then, or within `settle` of it.
    pub(super) fn near(&self, at: At, settle: i64) -> bool {
        self.stays.iter().rev().any(|stay| stay.asked.plus(-settle) <= at && at <= stay.gone.plus(settle))
    }

    /// Whether a copy of a message sent at `started`, owed to that stay and received `at`, came over a later connection
    /// than the one the message was sent to: what a stay is owed of the time before it was meant for the stay then.
    pub(super) fn replayed(&self, stay: usize, started: At, at: At) -> bool {
        let stay = self.stays[..=stay].iter().rposition(|stay| stay.joined <= started).unwrap_or(stay);
        at > self.stays[stay].gone || self.stays[stay + 1..].iter().any(|later| at >= later.joined)
    }

    /// Notes when a message was sent that reached it and was owed to this stay.
    pub(super) fn heard(&mut self, stay: usize, started: At) {
        self.last_heard = self.last_heard.max(started);
        let first = &mut self.stays[stay].first_heard;
        *first = (*first).min(started);
    }

    /// Of each stay the sending instants it was owed and heard nothing of: those after all that reached the member, and
    /// those soon after the join and before all that reached the stay. Nothing of either was received.
    pub(super) fn silences(&self, settle: i64) -> impl Iterator<Item = Silence> + '_ {
        self.stays.iter().filter(|stay| stay.is_confirmed()).map(move |stay| {
            let (from, to) = stay.owed(settle).into_inner();
            let after_join = match stay.first_heard {
                // Where nothing came at all, no join was too early.
                OPEN | NEVER => None,
                first => Some((from, first.plus(-1).min(stay.joined.plus(SOON_NS)).min(to))),
            };
            Silence { tail: (from.max(self.last_heard.plus(1)), to), after_join }
        })
    }

    /// Notes the first copy of a message, already in `seen`. True when a later message of the same sender was there
    /// before it.
    pub(super) fn overtaken(&mut self, number: u32, sender: u32, room: &Room) -> bool {
        if number >= self.high {
            self.high = number + 1;
            return false;
        }
        if self.ahead.as_ref().and_then(|ahead| ahead.get(&sender)).is_some_and(|&known| known > number) {
            return true;
        }
        let later = room.later_by_sender(number).take_while(|&n| n < self.high).find(|&n| self.seen.has(n));
        if let Some(later) = later {
            self.ahead.get_or_insert_default().insert(sender, later);
        }
        later.is_some()
    }
}
