//! A room while the service runs: its members, its last messages, who waits for the next, and the fan-out.
//!
//! One thread publishes (`log`), so the order of sequence numbers and the order of queueing agree. A broadcast is
//! encoded at most once per form. What faults make of a copy is in `spoil`; without a plan none of it runs.
//!
//! The room's lock is not held while copies are written, which takes milliseconds for a large room: whoever joins or
//! leaves meanwhile is answered at once. Under the lock a fan-out only says what number is published now, keeps the
//! messages (`recent`) and takes the list of members as it is. Who joins before that is on the list; who joins after it is
//! told that number, and gets what is above; who comes back with a cursor gets what it missed under the same lock, so that
//! between the two there is neither a gap nor a message twice. Who leaves is marked before it is told `left`, and the
//! mark is looked at under the lock of its queue, where the copy and the word `left` are both put: either the copy is
//! there first, or the mark is seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;

use crate::cursor::{Entered, Excerpt, Found, Gap, Joined, PRESENT, Start};
use crate::delivered::{Ack, Delivered, acks_of};
use crate::form::{Form, Run};
use crate::lock;
use crate::member::Member;
use crate::metrics::Metrics;
use crate::peer::Peer;
use crate::recent::{Kept, Recent};
use crate::spoil::Spoilt;
use crate::store::RoomRow;
use crate::waiters::{Ticket, Waiters, Woken};

/// Who may enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// These two users.
    Direct(u64, u64),
    /// Every user.
    Group,
    /// Everybody, with or without an account.
    Open,
}

/// What all rooms of a service keep to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    /// The settle time of the fault plan, when there is one: the room can then be spoilt.
    pub(crate) settle: Option<Duration>,
    pub(crate) recent_messages: usize,
    pub(crate) recent_bytes: usize,
}

pub(crate) struct Room {
    /// Its key in the store.
    pub(crate) key: i64,
    /// Its public name.
    pub(crate) id: Box<str>,
    pub(crate) access: Access,
    /// The number given to the last message stored; only the log's thread writes it.
    pub(crate) stored: AtomicU64,
    /// The lowest number that the store still has, or the next when it has none.
    pub(crate) oldest: AtomicU64,
    /// The store knows of it; one that is made by its first use is stored with its first message.
    pub(crate) is_stored: AtomicBool,
    memberships: AtomicU64,
    pub(crate) state: Mutex<State>,
}

pub(crate) struct State {
    /// Copied when it changes while a fan-out reads it.
    pub(crate) members: Arc<Vec<Arc<Member>>>,
    /// The number of the last message fanned out.
    published: u64,
    recent: Recent,
    waiters: Waiters,
    /// The last excerpt asked for: polls that wait together ask for the same.
    excerpt: Option<Excerpt>,
    /// How often `tidy` found nobody here since somebody was.
    idle: u8,
    /// Copies waiting because of a fault; present only when faults are planned.
    pub(crate) spoilt: Option<Box<Spoilt>>,
}

impl State {
    /// Says what is published now, and takes who waits for it.
    pub(crate) fn publish(&mut self, messages: &[Kept]) -> Woken {
        if let Some(last) = messages.last() {
            self.published = last.seq;
        }
        for message in messages {
            self.recent.push(message.clone());
        }
        (self.excerpt, self.idle) = (None, 0);
        self.waiters.take()
    }

    /// What was published above that number and later than that serial; `None` when not all of it is kept.
    pub(crate) fn missed(&self, from: u64, serial: u64) -> Option<impl Iterator<Item = &Kept>> {
        let is_kept = self.recent.reaches(from, self.published) || self.recent.reaches_serial(serial);
        is_kept.then(|| self.recent.after(from).filter(move |message| message.serial > serial))
    }

    /// From now on it gets what is published.
    pub(crate) fn admit(&mut self, member: &Arc<Member>, from: u64) {
        self.idle = 0;
        if member.enters(from) {
            Arc::make_mut(&mut self.members).push(member.clone());
        }
    }

    /// The number behind which a start begins, with the gap that was found; `None` where that is not kept.
    fn resolve(&self, start: Start, oldest: u64) -> Option<(u64, Option<Gap>)> {
        let published = self.published;
        let last = |count: u64| published.saturating_sub(count).max(oldest.saturating_sub(1)).min(published);
        Some(match start {
            Start::Now => (published, None),
            Start::Last(count) => (last(count), None),
            // From another life of the service: what there is now is all news.
            Start::After(after) if after > published => {
                let present = last(PRESENT);
                (present, Some(Gap { after, from: present + 1 }))
            }
            Start::After(after) if after + 1 < oldest => {
                (last(u64::MAX), Some(Gap { after, from: last(u64::MAX) + 1 }))
            }
            Start::Exactly(after) if after > published || after + 1 < oldest => return None,
            Start::After(after) | Start::Exactly(after) => (after, None),
        })
    }
}

impl Room {
    pub(crate) fn new(row: RoomRow, keeping: Keeping) -> Room {
        let RoomRow { key, id, access, last, oldest } = row;
        let state = State {
            members: Arc::default(),
            published: last,
            recent: Recent::new(keeping.recent_messages, keeping.recent_bytes),
            waiters: Waiters::default(),
            excerpt: None,
            idle: 0,
            spoilt: keeping.settle.map(|settle| Box::new(Spoilt::new(settle))),
        };
        Room {
            key,
            id: id.into(),
            access,
            stored: AtomicU64::new(last),
            oldest: AtomicU64::new(oldest),
            is_stored: AtomicBool::new(true),
            memberships: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// Without an account only where everybody may.
    pub(crate) fn admits(&self, user: Option<u64>) -> bool {
        match self.access {
            Access::Direct(a, b) => user == Some(a) || user == Some(b),
            Access::Group => user.is_some(),
            Access::Open => true,
        }
    }

    /// One who is to become a member.
    pub(crate) fn candidate(&self, peer: &Arc<Peer>, form: Form) -> Arc<Member> {
        Member::new(peer, form, self.memberships.fetch_add(1, Relaxed))
    }

    /// Queues the greeting, then what was missed, and from then on every message, all in one. When that has to be read
    /// from the store or may not all be sent now, only the greeting; enter again behind what was given meanwhile.
    pub(crate) fn enter(
        &self,
        member: &Arc<Member>,
        start: Start,
        greet: impl FnOnce(&Joined<'_>) -> Option<Bytes>,
        metrics: &Metrics,
    ) -> Entered {
        let mut state = lock(&self.state);
        if !member.stays() {
            return Entered::Left;
        }
        let Some((after, gap)) = state.resolve(start, self.oldest.load(Relaxed)) else {
            return Entered::NotKept;
        };
        let published = state.published;
        if let Some(frame) = greet(&Joined { room: self, seq: published, gap }) {
            member.peer.outbox.push(frame);
        }
        state.idle = 0;
        let behind = Entered::Behind { after, upto: published };
        if !state.recent.reaches(after, published) {
            return behind;
        }
        if after < published {
            let missed = member.written(self, state.recent.after(after));
            if missed.cost() > member.peer.outbox.spare() || missed.count() > member.form.free(false) {
                return behind;
            }
            let given = member.give(&missed, after);
            given.record(metrics);
            metrics.replayed.add(given.copies);
        }
        state.admit(member, published);
        Entered::Member
    }

    /// Nothing is queued to the peer after this for its membership. Copies that a fault still holds for it are queued
    /// first: leaving must not lose them.
    pub(crate) fn leave(&self, member: &Arc<Member>, metrics: &Metrics) {
        let mut state = lock(&self.state);
        if let Some(at) = state.members.iter().position(|there| Arc::ptr_eq(there, member)) {
            Arc::make_mut(&mut state.members).swap_remove(at);
        }
        member.leaves();
        if let Some(spoilt) = &mut state.spoilt {
            spoilt.left(member, metrics);
        }
    }

    /// Sends messages, in the order of their numbers, to every member, as one piece to each, and to a member that sent
    /// some of them the acknowledgements behind it. Not from two threads at a time. Returns the receivers.
    pub(crate) fn publish(&self, messages: &[Kept], acks: &mut [Ack], metrics: &Metrics) -> u64 {
        if messages.is_empty() {
            return 0;
        }
        let (members, waiting) = {
            let mut state = lock(&self.state);
            let waiting = state.publish(messages);
            (state.members.clone(), waiting)
        };
        let woken = waiting.wake();
        let mut run = Run::new(&self.id, messages);
        let mut delivered = Delivered::default();
        // Stable: a sender hears of its messages in their order.
        acks.sort_by_key(|ack| ack.peer.id);
        for member in members.iter() {
            let piece = run.piece(&member.form);
            if !delivered.hand(member, piece, messages, acks_of(member.peer.id, acks)) {
                member.form.not_sent(&member.peer, metrics);
            }
        }
        delivered.record(metrics);
        delivered.receivers + woken
    }

    /// What there is for a cursor, up to so many bytes. Whoever finds nothing may `wait`.
    pub(crate) fn look(&self, start: Start, most_bytes: usize) -> Option<Found> {
        let mut state = lock(&self.state);
        let (after, gap) = state.resolve(start, self.oldest.load(Relaxed))?;
        let published = state.published;
        state.idle = 0;
        Some(if after == published && gap.is_none() {
            Found::Nothing(after)
        } else if !state.recent.reaches(after, published) {
            Found::Behind { after, upto: published, gap }
        } else {
            let known = state.excerpt.as_ref().filter(|excerpt| excerpt.after == after).cloned();
            let excerpt = known.unwrap_or_else(|| Excerpt::new(after, state.recent.after(after), most_bytes));
            state.excerpt = Some(excerpt.clone());
            Found::Excerpt(excerpt, gap)
        })
    }

    /// Gives back what memory is kept for who comes back soon, when nobody has for long; to be called every now and
    /// then. True when nobody is here and nothing was ever said.
    pub(crate) fn tidy(&self) -> bool {
        /// Calls without anybody here until memory is given back.
        const PATIENCE: u8 = 60;
        let mut state = lock(&self.state);
        if !state.members.is_empty() || state.waiters.count() > 0 {
            state.idle = 0;
            return false;
        }
        state.idle = state.idle.saturating_add(1);
        if state.idle >= PATIENCE {
            (state.excerpt, state.idle) = (None, 0);
            state.recent.clear();
            state.waiters.shrink();
        }
        self.stored.load(Relaxed) == 0
    }

    /// True when there is something above this number; else the waker is woken once there is, or by `wake`.
    pub(crate) fn wait(&self, after: u64, ticket: &mut Option<Ticket>, waker: &Waker) -> bool {
        let mut state = lock(&self.state);
        if state.published > after {
            return true;
        }
        state.waiters.wait(ticket, waker);
        false
    }

    pub(crate) fn give_up(&self, ticket: &Ticket) {
        lock(&self.state).waiters.give_up(ticket);
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state).waiters.count()
    }

    /// Has everybody who waits look again.
    pub(crate) fn wake(&self) {
        let waiting = lock(&self.state).waiters.take();
        waiting.wake();
    }

    /// Asks under the room's lock, with the number of the last message fanned out.
    pub(crate) fn with_published<T>(&self, ask: impl FnOnce(u64) -> T) -> T {
        ask(lock(&self.state).published)
    }

    /// The number of the last message fanned out.
    pub(crate) fn last_published(&self) -> u64 {
        lock(&self.state).published
    }

    /// The last number given; it is taken back when its commit fails, so only the log may rely on it.
    pub(crate) fn last_stored(&self) -> u64 {
        self.stored.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::peer::{Heart, Newcomer, Peers};

    fn newcomer() -> Newcomer {
        Newcomer { heart: Heart::WebSocket, sid: None, polled: false, queue_bytes: 10_000 }
    }

    fn room(published: u64, recent_messages: usize) -> Arc<Room> {
        let keeping = Keeping { settle: None, recent_messages, recent_bytes: 100_000 };
        let row = RoomRow {
            key: 1,
            id: "lobby".into(),
            access: Access::Group,
            last: published,
            oldest: published + 1,
        };
        Arc::new(Room::new(row, keeping))
    }

    fn message(seq: u64) -> Kept {
        Kept::new(seq, seq, 3, &seq.to_string(), 9)
    }

    /// The numbers and words that were queued, in order.
    fn got(peer: &Peer) -> Vec<String> {
        let mut frames = std::collections::VecDeque::new();
        peer.outbox.take(&mut frames);
        let text = frames.iter().map(|frame| String::from_utf8_lossy(frame)).collect::<String>();
        let numbers = (1..=30).map(|seq| format!("\"seq\":{seq},"));
        let words: Vec<String> = numbers.chain(["left", "ack", "hello"].map(str::to_owned)).collect();
        let mut found: Vec<_> = words.iter().flat_map(|word| text.match_indices(word.as_str())).collect();
        found.sort_unstable();
        let bare = |word: &str| word.trim_start_matches("\"seq\":").trim_end_matches(',').to_owned();
        found.into_iter().map(|(_, word)| bare(word)).collect()
    }

    #[test]
    fn who_joins_or_leaves_while_copies_are_written_does_not_wait_and_gets_what_it_was_told() {
        let (peers, metrics) = (Peers::default(), Metrics::default());
        let peer = || peers.add(newcomer(), 1, &Limits::default());
        let (stays, leaves, returns, joins) = (peer(), peer(), peer(), peer());
        let room = room(6, 0);
        let join = |peer: &Arc<Peer>| {
            let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
            let mut seq = 0;
            let greet = |joined: &Joined<'_>| {
                seq = joined.seq;
                None
            };
            assert_eq!(room.enter(&member, Start::Now, greet, &metrics), Entered::Member);
            seq
        };
        for member in [&stays, &leaves, &returns] {
            assert_eq!(join(member), 6);
        }
        let publish = |seq| {
            let left = Bytes::from_static(b"ack");
            let ack = |peer: &Arc<Peer>| Ack { peer: peer.clone(), frame: left.clone(), given: false };
            // One sender is a member that leaves: it is not told by its copy.
            let mut acks = [ack(&leaves), ack(&stays)];
            let receivers = room.publish(&[message(seq)], &mut acks, &metrics);
            (receivers, acks.map(|ack| (ack.peer.id, ack.given)))
        };
        std::thread::scope(|scope| {
            let held = stays.outbox.held();
            let published = scope.spawn(|| publish(7));
            // The lock itself is tried: to wait for it would wait for the fan-out.
            let begun = (0..20_000_000).any(|_| {
                std::thread::yield_now();
                room.state.try_lock().is_ok_and(|state| state.published == 7)
            });
            assert!(begun, "the room can be asked while copies are written");
            for leaver in [&leaves, &returns] {
                leaver.leave(&room, &metrics);
                leaver.outbox.push(Bytes::from_static(b"left"));
            }
            assert_eq!((join(&joins), join(&returns)), (7, 7));
            drop(held);
            assert_eq!(published.join().unwrap(), (1, [(stays.id, true), (leaves.id, false)]));
        });
        assert_eq!(publish(8), (3, [(stays.id, true), (leaves.id, false)]));
        assert_eq!(got(&stays), ["7", "ack", "8", "ack"]);
        assert_eq!(got(&leaves), ["left"]);
        assert_eq!(got(&returns), ["left", "8"]);
        assert_eq!(got(&joins), ["8"]);
    }

    #[test]
    fn whoever_comes_back_is_greeted_then_told_what_it_missed_and_is_a_member_in_one() {
        let (peers, metrics) = (Peers::default(), Metrics::default());
        let room = room(6, 4);
        for seq in 7..=12 {
            room.publish(&[message(seq)], &mut [], &metrics);
        }
        let check = |start: Start, entered: Entered, gap: Option<Gap>, expected: &[&str]| {
            let peer = peers.add(newcomer(), 1, &Limits::default());
            let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
            let greet = |joined: &Joined<'_>| {
                assert_eq!((joined.seq, joined.gap), (12, gap), "{start:?}");
                Some(Bytes::from_static(b"hello"))
            };
            assert_eq!(room.enter(&member, start, greet, &metrics), entered, "{start:?}");
            assert_eq!(got(&peer), expected, "{start:?}");
            let is_member = lock(&room.state).members.iter().any(|there| Arc::ptr_eq(there, &member));
            assert_eq!(is_member, entered == Entered::Member, "{start:?}");
            peer.leave_all(&metrics);
        };
        check(Start::Now, Entered::Member, None, &["hello"]);
        check(Start::After(12), Entered::Member, None, &["hello"]);
        check(Start::After(10), Entered::Member, None, &["hello", "11", "12"]);
        check(Start::After(8), Entered::Member, None, &["hello", "9", "10", "11", "12"]);
        check(Start::After(7), Entered::Behind { after: 7, upto: 12 }, None, &["hello"]);
        // What came before this store was opened with 7 as its oldest.
        let gap = Gap { after: 3, from: 7 };
        check(Start::After(3), Entered::Behind { after: 6, upto: 12 }, Some(gap), &["hello"]);
        check(Start::Exactly(3), Entered::NotKept, None, &[]);
        let gap = Gap { after: 13, from: 7 };
        check(Start::After(13), Entered::Behind { after: 6, upto: 12 }, Some(gap), &["hello"]);
        check(Start::Last(2), Entered::Member, None, &["hello", "11", "12"]);
        check(Start::Last(99), Entered::Behind { after: 6, upto: 12 }, None, &["hello"]);
        assert_eq!(metrics.replayed.get(), 2 + 4 + 2);
    }

    #[test]
    fn whoever_leaves_while_it_catches_up_never_becomes_a_member() {
        let (peers, metrics) = (Peers::default(), Metrics::default());
        let room = room(6, 4);
        let peer = peers.add(newcomer(), 1, &Limits::default());
        let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
        let entered = room.enter(&member, Start::After(0), |_| None, &metrics);
        assert_eq!(entered, Entered::Member, "nothing lies behind 6 that is kept");
        peer.leave_all(&metrics);
        let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
        assert!(peer.leave(&room, &metrics));
        assert_eq!(room.enter(&member, Start::Now, |_| None, &metrics), Entered::Left);
        room.publish(&[message(7)], &mut [], &metrics);
        assert_eq!(got(&peer), [""; 0]);
    }

    #[test]
    fn a_room_gives_back_its_memory_when_nobody_was_there_for_long() {
        let metrics = Metrics::default();
        let room = room(6, 4);
        room.publish(&[message(7)], &mut [], &metrics);
        let kept = || matches!(room.state.try_lock().map(|state| state.recent.is_empty()), Ok(false));
        for _ in 0..59 {
            assert!(!room.tidy());
        }
        assert!(kept());
        // Somebody asks: it begins anew.
        assert!(matches!(room.look(Start::After(6), 1000), Some(Found::Excerpt(..))));
        for _ in 0..59 {
            room.tidy();
        }
        assert!(kept());
        room.tidy();
        assert!(!kept());
        assert!(matches!(room.look(Start::After(6), 1000), Some(Found::Behind { after: 6, upto: 7, .. })));
    }
}
