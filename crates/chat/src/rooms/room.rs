//! A room while the service runs: its members, its last messages, who waits for the next, and the fan-out.
//!
//! One thread publishes (`hub::log`), so the order of sequence numbers and the order of queueing agree. A broadcast is
//! encoded at most once per form. What faults make of a copy is in `fault_injection`; without a plan none of it runs.
//!
//! The room's lock is not held while copies are written, which takes milliseconds for a large room: whoever joins or
//! leaves meanwhile is answered at once. Under the lock a fan-out only says what number is published now, keeps the
//! messages (`recent`) and takes the list of members as it is. Who joins before that is on the list; who joins after it
//! is told that number, and gets what is above; who comes back with a cursor gets what it missed under the same lock,
//! so that between the two there is neither a gap nor a message twice. Who leaves is marked before it is told `left`,
//! and the mark is looked at under the lock of its queue, where the copy and the word `left` are both put: either the
//! copy is there first, or the mark is seen.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::connection::source::Source;
use crate::encoding::form::{EncodedRun, Form};
use crate::metrics::Metrics;
use crate::model::message::Message;
use crate::model::room_id::Access;
use crate::rooms::cursor::{Entered, Excerpt, Found, Gap, Joined, PRESENT, Start};
use crate::rooms::delivery::{Ack, Delivered, acks_of};
use crate::rooms::fault_injection::HeldCopies;
use crate::rooms::member::Member;
use crate::rooms::peer::Peer;
use crate::rooms::recent::Recent;
use crate::rooms::waiters::{Ticket, Waiters, Woken};
use crate::store::RoomRow;
use crate::sync::lock;

/// The common settings of a service's rooms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    /// The settle time of the fault plan, when there is one: the room can then be spoilt.
    pub(crate) settle: Option<Duration>,
    pub(crate) recent_messages: usize,
    pub(crate) recent_bytes: usize,
    /// Other services may publish in the rooms as well.
    pub(crate) is_shared: bool,
}

pub(crate) struct Room {
    /// Its own among the rooms of this process, as long as that lasts.
    pub(crate) number: u64,
    /// Its key in the store; 0 while the store does not know it, as one that is made by its first use until its first
    /// message.
    key: AtomicI64,
    /// The room's creator, if rooms are counted.
    pub(crate) maker: Option<Source>,
    /// Its public name.
    pub(crate) id: Box<str>,
    pub(crate) access: Access,
    /// The number given to the last message stored; only the log's thread writes it.
    pub(crate) stored: AtomicU64,
    /// The lowest number that the store still has, or the next when it has none.
    pub(crate) oldest: AtomicU64,
    /// A user has said something in it.
    is_used: AtomicBool,
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
    /// When `tidy` first found nobody here since somebody was.
    idle_since: Option<Instant>,
    /// Other services may publish here as well.
    is_shared: bool,
    /// What they publish is heard, and nothing was missed when that began.
    is_current: bool,
    /// Somebody has asked for messages since this was last looked at.
    is_asked: bool,
    /// Copies waiting because of a fault; present only when faults are planned.
    pub(crate) held_copies: Option<Box<HeldCopies>>,
}

impl State {
    /// Says what is published now, and takes who waits for it.
    pub(crate) fn publish(&mut self, messages: &[Message]) -> Woken {
        if let Some(last) = messages.last() {
            self.published = last.seq;
        }
        for message in messages {
            self.recent.push(message.clone());
        }
        (self.excerpt, self.idle_since) = (None, None);
        self.waiters.take()
    }

    /// The messages published above that number and later than that serial; `None` when not all of them are kept.
    pub(crate) fn missed(&self, from: u64, serial: u64) -> Option<impl Iterator<Item = &Message>> {
        let is_kept = self.recent.reaches(from, self.published) || self.recent.reaches_serial(serial);
        is_kept.then(|| self.recent.after(from).filter(move |message| message.serial > serial))
    }

    /// From now on it gets what is published.
    pub(crate) fn admit(&mut self, member: &Arc<Member>, from: u64) {
        self.idle_since = None;
        if member.enters(from) {
            Arc::make_mut(&mut self.members).push(member.clone());
        }
    }

    /// Whether the store has to be asked before this start means anything here: a number that is not published here may
    /// have been, elsewhere.
    pub(crate) fn is_stale_for(&mut self, start: Start) -> bool {
        self.is_asked = true;
        let is_above = matches!(start, Start::After(after) | Start::Exactly(after) if after > self.published);
        self.is_shared && (!self.is_current || is_above)
    }

    fn pass_over(&mut self, upto: u64, serial: u64) {
        if upto > self.published {
            self.published = upto;
            self.recent.pass_over(serial);
            self.excerpt = None;
        }
    }

    fn has_audience(&self) -> bool {
        !self.members.is_empty() || self.waiters.count() > 0
    }

    fn give_memory_back(&mut self) {
        self.excerpt = None;
        self.recent.clear();
        self.waiters.shrink();
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
    pub(crate) fn new(row: RoomRow, number: u64, maker: Option<Source>, keeping: Keeping) -> Room {
        let RoomRow { key, id, access, last, oldest, is_used } = row;
        let state = State {
            members: Arc::default(),
            published: last,
            recent: Recent::new(keeping.recent_messages, keeping.recent_bytes),
            waiters: Waiters::default(),
            excerpt: None,
            idle_since: None,
            is_shared: keeping.is_shared,
            is_current: false,
            is_asked: false,
            held_copies: keeping.settle.map(|settle| Box::new(HeldCopies::new(settle))),
        };
        Room {
            number,
            key: AtomicI64::new(key),
            maker,
            id: id.into(),
            access,
            stored: AtomicU64::new(last),
            oldest: AtomicU64::new(oldest),
            is_used: AtomicBool::new(is_used),
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

    /// A prospective member.
    pub(crate) fn candidate(&self, peer: &Arc<Peer>, form: Form) -> Arc<Member> {
        Member::new(peer, form, self.memberships.fetch_add(1, Relaxed))
    }

    /// Queues the greeting, then what was missed, and from then on every message, all in one. When that has to be read
    /// from the store or may not all be sent now, only the greeting; enter again behind what was given meanwhile.
    /// `greet` is asked once. `is_fresh` says that the store has just been asked.
    pub(crate) fn enter(
        &self,
        member: &Arc<Member>,
        start: Start,
        is_fresh: bool,
        greet: &mut dyn FnMut(&Joined<'_>) -> Option<Bytes>,
        metrics: &Metrics,
    ) -> Entered {
        let mut state = lock(&self.state);
        if !member.stays() {
            return Entered::Left;
        }
        if state.is_stale_for(start) && !is_fresh {
            return Entered::Stale;
        }
        let Some((after, gap)) = state.resolve(start, self.oldest.load(Relaxed)) else {
            return Entered::NotKept;
        };
        let published = state.published;
        if let Some(frame) = greet(&Joined { room: &self.id, seq: published, gap }) {
            member.peer.outbox.push(frame);
        }
        state.idle_since = None;
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
        if let Some(held_copies) = &mut state.held_copies {
            held_copies.left(member, metrics);
        }
    }

    /// Sends messages, in the order of their numbers, to every member, as one piece to each, and to a member that sent
    /// some of them the acknowledgements behind it. Not from two threads at a time. Returns the receivers.
    pub(crate) fn publish(&self, messages: &[Message], acks: &mut [Ack], metrics: &Metrics) -> u64 {
        if messages.is_empty() {
            return 0;
        }
        let (members, waiting) = {
            let mut state = lock(&self.state);
            let waiting = state.publish(messages);
            (state.members.clone(), waiting)
        };
        let woken = waiting.wake();
        let mut run = EncodedRun::new(&self.id, messages);
        let mut delivered = Delivered::default();
        // Stable: a sender hears of its messages in their order.
        acks.sort_by_key(|ack| ack.peer.id);
        for member in members.iter() {
            let piece = run.piece(&member.form);
            if !delivered.hand(member, piece, messages, acks_of(member.peer.id, acks)) {
                member.not_sent(metrics);
            }
        }
        delivered.record(metrics);
        delivered.receivers + woken
    }

    /// The messages for a cursor, up to this many bytes. A caller that finds none may `wait`. `is_fresh` as in `enter`.
    pub(crate) fn look(&self, start: Start, is_fresh: bool, most_bytes: usize) -> Option<Found> {
        let mut state = lock(&self.state);
        if state.is_stale_for(start) && !is_fresh {
            return Some(Found::Stale);
        }
        let (after, gap) = state.resolve(start, self.oldest.load(Relaxed))?;
        let published = state.published;
        state.idle_since = None;
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
    /// then. Says for how long, to its knowledge, nobody has been here; `None` when somebody is.
    pub(crate) fn tidy(&self, now: Instant) -> Option<Duration> {
        /// How long memory is kept.
        const PATIENCE: Duration = Duration::from_secs(600);
        let mut state = lock(&self.state);
        if state.has_audience() {
            state.idle_since = None;
            return None;
        }
        let idle = now.saturating_duration_since(*state.idle_since.get_or_insert(now));
        if idle >= PATIENCE {
            state.give_memory_back();
        }
        Some(idle)
    }

    /// Its key in the store; 0 when that does not know it.
    pub(crate) fn key(&self) -> i64 {
        self.key.load(Relaxed)
    }

    /// The store has it, under this key.
    pub(crate) fn is_stored_as(&self, key: i64) {
        self.key.store(key, Relaxed);
    }

    /// A user has said something in it: it is not forgotten.
    pub(crate) fn is_used_from_now(&self) {
        self.is_used.store(true, Relaxed);
    }

    /// Messages that are kept of it.
    pub(crate) fn messages(&self) -> u64 {
        (self.last_stored() + 1).saturating_sub(self.oldest.load(Relaxed))
    }

    /// Whether it may be forgotten while nobody needs it: anybody could make it, and no user has spoken in it.
    pub(crate) fn is_anybodys(&self) -> bool {
        self.access == Access::Open && !self.is_used.load(Relaxed)
    }

    /// The store has forgotten it: its numbers go on, as if all messages were too old.
    pub(crate) fn lose_its_past(&self) {
        self.key.store(0, Relaxed);
        self.oldest.store(self.last_stored() + 1, Relaxed);
        lock(&self.state).give_memory_back();
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

/// What other services publish here; all but `is_stale_for` on the log's thread.
impl Room {
    /// Whether the store has to be asked before anything is said about the room.
    pub(crate) fn is_stale_for(&self, start: Start) -> bool {
        lock(&self.state).is_stale_for(start)
    }

    /// Whether what is published is heard, with nothing missed before.
    pub(crate) fn is_current(&self, is_current: bool) {
        lock(&self.state).is_current = is_current;
    }

    /// Whether somebody is here or waits, or has asked for something since this was last asked.
    pub(crate) fn is_listened_to(&self) -> bool {
        let mut state = lock(&self.state);
        std::mem::take(&mut state.is_asked) || state.has_audience()
    }

    /// What others publish is not heard from now on; false, and nothing changed, when somebody needs it.
    pub(crate) fn goes_quiet(&self) -> bool {
        let mut state = lock(&self.state);
        let is_needed = state.is_asked || state.has_audience();
        if !is_needed {
            state.is_current = false;
        }
        !is_needed
    }

    /// Has messages up to this number taken for published, which nobody here gets; `serial` is above all others.
    pub(crate) fn pass_over(&self, upto: u64, serial: u64) {
        lock(&self.state).pass_over(upto, serial);
        self.stored.fetch_max(upto, Relaxed);
    }

    /// The same if nobody is here or waits; false, and nothing changed, when somebody does. Whoever comes later begins
    /// behind that number.
    pub(crate) fn pass_over_unheard(&self, upto: u64, serial: u64) -> bool {
        let mut state = lock(&self.state);
        if state.has_audience() {
            return false;
        }
        state.pass_over(upto, serial);
        self.stored.fetch_max(upto, Relaxed);
        true
    }

    /// The members there are.
    pub(crate) fn members(&self) -> Arc<Vec<Arc<Member>>> {
        lock(&self.state).members.clone()
    }
}

#[cfg(test)]
mod tests;
