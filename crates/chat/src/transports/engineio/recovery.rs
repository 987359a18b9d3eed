//! Connection state recovery of Socket.IO: who comes back soon is who it was, in the rooms it was in, and first gets
//! what it missed, each message once.
//!
//! A client is told a private id (`pid`) when it connects, and with every broadcast an offset, which it names when it
//! connects again. The offset is the broadcast's serial: one thread publishes, so of two broadcasts to one connection
//! the one with the higher serial was queued later, whatever rooms they are of, and whoever has got the last one has
//! got all before it. What was missed comes from the rooms' recent messages or not at all: when they do not reach back,
//! the client gets a fresh session, and sees it by its new `pid`.
//!
//! Two decisions to question. The answer to CONNECT comes before what was missed, where the reference server has it
//! behind: the official client sets events aside that come before the answer, does not drop them when the connection
//! breaks in between, and would hear them twice. And a connection need not have ended for its session to be recovered.
//! A client notices a dead connection long before we do, and the `pid` is its secret: it takes its session over.
//!
//! | a session | becomes |
//! |---|---|
//! | live | kept when its connection ends, for any reason but its own DISCONNECT or a breach of the protocol |
//! | kept | live when it is recovered; forgotten after `recovery`, or as the oldest of `limits.recoverable` |

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{EngineIo, Session};
use crate::connection::outbox::Close;
use crate::encoding::form::{Form, Life};
use crate::hub::Hub;
use crate::rooms::cursor::Start;
use crate::rooms::delivery::Delivered;
use crate::rooms::member::Member;
use crate::rooms::peer::{Membership, Peer};
use crate::sync::lock;

/// A session's identity for its client.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) pid: Arc<str>,
    pub(crate) sid: Arc<str>,
}

impl Identity {
    /// The JSON for an answer to CONNECT.
    pub(crate) fn to_json(&self) -> String {
        let Identity { pid, sid } = self;
        format!(r#"{{"sid":"{sid}","pid":"{pid}"}}"#)
    }
}

/// A session whose connection has ended.
pub(crate) struct KeptSession {
    pub(crate) identity: Identity,
    pub(crate) user: Option<u64>,
    pub(crate) memberships: Vec<Membership>,
}

/// The claim of a client that comes back.
pub(crate) struct Claim<'a> {
    pub(crate) pid: &'a str,
    /// The offset of the last broadcast it got, if it got one.
    pub(crate) offset: Option<&'a str>,
    /// The user of its valid token, if it has one.
    pub(crate) user: Option<u64>,
}

pub(crate) struct Recovery {
    keep: Duration,
    most: usize,
    pub(crate) life: Life,
    known: Mutex<Known>,
    /// Held by who recovers: a client that has given one connection up asks on the next while the first still does.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Known {
    by_pid: HashMap<Arc<str>, State>,
    /// The kept sessions, by the number they were kept under: the order they end in.
    in_order: BTreeMap<u64, Arc<str>>,
    last: u64,
}

enum State {
    /// The Engine.IO session that carries it.
    Live(Box<str>),
    Kept {
        number: u64,
        until: Instant,
        kept: KeptSession,
    },
}

impl Recovery {
    /// The recovery of the hub's configuration. Not in the null mode, which keeps no messages.
    pub(crate) fn of(hub: &Hub) -> Option<Recovery> {
        let keep = hub.config.recovery.filter(|_| !hub.config.null)?;
        let mut life = Life::default();
        life.iter_mut().zip(hub.accounts.session_id().bytes()).for_each(|(to, from)| *to = from);
        Some(Recovery::new(keep, hub.config.limits.recoverable, life))
    }

    /// Keeps at most so many sessions, each for so long. `life` names this run of the service in offsets.
    pub(crate) fn new(keep: Duration, most: usize, life: Life) -> Recovery {
        Recovery { keep, most, life, known: Mutex::default(), turn: Mutex::default() }
    }

    pub(crate) fn live(&self, pid: Arc<str>, engine_sid: &str) {
        lock(&self.known).put(pid, State::Live(engine_sid.into()));
    }

    /// The session's connection has ended.
    pub(crate) fn keep(&self, kept: KeptSession, now: Instant) {
        let known = &mut *lock(&self.known);
        known.last += 1;
        let (number, pid) = (known.last, kept.identity.pid.clone());
        known.put(pid.clone(), State::Kept { number, until: now + self.keep, kept });
        known.in_order.insert(number, pid);
        while known.in_order.len() > self.most {
            known.end_oldest();
        }
    }

    /// The session has ended for good.
    pub(crate) fn forget(&self, pid: &str) {
        lock(&self.known).take(pid);
    }

    /// The Engine.IO session that carries the session of this private id, as far as we know.
    fn carrier(&self, pid: &str) -> Option<Box<str>> {
        match lock(&self.known).by_pid.get(pid)? {
            State::Live(engine_sid) => Some(engine_sid.clone()),
            State::Kept { .. } => None,
        }
    }

    /// The session that was kept under this private id, which is it no longer.
    fn take(&self, pid: &str, now: Instant) -> Option<KeptSession> {
        match lock(&self.known).take(pid)? {
            State::Kept { until, kept, .. } if now < until => Some(kept),
            _ => None,
        }
    }

    /// Forgets what has been kept long enough.
    pub(crate) fn sweep(&self, now: Instant) {
        let known = &mut *lock(&self.known);
        while let Some((_, pid)) = known.in_order.first_key_value() {
            match known.by_pid.get(pid) {
                Some(State::Kept { until, .. }) if now < *until => break,
                _ => known.end_oldest(),
            }
        }
    }

    /// The serial in an offset; 0 for one of another life: whoever names that has got nothing of this one.
    fn serial(&self, offset: &str) -> u64 {
        let serial = offset.split_once('.').filter(|(life, _)| life.as_bytes() == self.life);
        serial.and_then(|(_, serial)| serial.parse().ok()).unwrap_or(0)
    }
}

impl Known {
    fn put(&mut self, pid: Arc<str>, state: State) {
        if let Some(State::Kept { number, .. }) = self.by_pid.insert(pid, state) {
            self.in_order.remove(&number);
        }
    }

    fn take(&mut self, pid: &str) -> Option<State> {
        let state = self.by_pid.remove(pid)?;
        if let State::Kept { number, .. } = &state {
            self.in_order.remove(number);
        }
        Some(state)
    }

    fn end_oldest(&mut self) {
        if let Some((_, pid)) = self.in_order.pop_first() {
            self.by_pid.remove(&pid);
        }
    }
}

/// Makes the session the one that its client says it was, with the frame that says so and what was missed on its queue.
/// False when there is no such session any more, or not all that it missed.
pub(crate) fn recover(
    claim: &Claim<'_>,
    session: &Session,
    greet: impl FnOnce(&Identity) -> Bytes,
    io: &Arc<EngineIo>,
) -> bool {
    let Some(recovery) = &io.recovery else { return false };
    let _turn = lock(&recovery.turn);
    if let Some(carrier) = recovery.carrier(claim.pid).and_then(|sid| io.find(&sid)) {
        carrier.end(Close::Normal, io);
    }
    let Some(kept) = recovery.take(claim.pid, Instant::now()) else { return false };
    let is_its = |user: Option<u64>| user.is_none() || user == kept.user;
    let serial = claim.offset.map_or(0, |offset| recovery.serial(offset));
    let is_settled =
        kept.memberships.iter().all(|membership| membership.settled == 0 || membership.settled < serial);
    if !is_its(claim.user) || !is_its(session.peer.user()) || !is_settled {
        return false;
    }
    // The end of this connection waits for the lock: it finds either nothing of all this, or all.
    let mut identity = lock(&session.identity);
    let form = Form::SocketIo(Some(recovery.life));
    if rejoin(&kept, serial, &form, greet(&kept.identity), &session.peer, io).is_some() {
        recovery.live(kept.identity.pid.clone(), &session.sid);
        *identity = Some(kept.identity);
        return true;
    }
    session.peer.leave_all(&io.hub.metrics);
    if !session.peer.outbox.is_open() {
        // Only this connection failed, and there will be another.
        recovery.keep(kept, Instant::now());
    }
    false
}

/// Makes the peer a member of all these rooms at one instant, behind what it missed of all of them in the order it was
/// published: room after room, a live message of one could come before a missed one of another, and its offset would
/// say that both were got. `None` when not everything is kept, it is more than should wait, or the connection has
/// ended: nothing is queued then.
fn rejoin(
    kept: &KeptSession,
    serial: u64,
    form: &Form,
    greeting: Bytes,
    peer: &Arc<Peer>,
    io: &EngineIo,
) -> Option<()> {
    let limits = &io.hub.config.limits;
    let mut seats: Vec<(&Membership, Arc<Member>)> = Vec::with_capacity(kept.memberships.len());
    for membership in &kept.memberships {
        seats.push((membership, peer.seat(&membership.room, form.clone(), limits).ok()?));
    }
    // Whoever holds several of these locks takes them in the order of the rooms' numbers.
    seats.sort_unstable_by_key(|(membership, _)| membership.room.number);
    let mut states: Vec<_> = seats.iter().map(|(membership, _)| lock(&membership.room.state)).collect();
    // Others may have said something that was not heard here.
    if states.iter_mut().any(|state| state.is_stale_for(Start::Now)) {
        return None;
    }
    let mut missed = Vec::new();
    for ((membership, _), state) in seats.iter().zip(&states) {
        missed.extend(state.missed(membership.from, serial)?.map(|message| (message, &membership.room.id)));
    }
    missed.sort_unstable_by_key(|(message, _)| message.serial);
    let frames: Vec<_> = missed.iter().map(|(message, room)| form.one(room, message)).collect();
    if frames.iter().map(|frame| frame.len() + 64).sum::<usize>() > limits.queue_bytes / 2 {
        return None;
    }
    if let Some(user) = kept.user {
        peer.belongs_to(user);
    }
    peer.outbox.push(greeting);
    let mut delivered = Delivered::default();
    for frame in &frames {
        delivered.push(peer, frame);
    }
    for ((membership, member), state) in seats.iter().zip(&mut states) {
        member.settle(membership.settled);
        state.admit(member, membership.from);
    }
    drop(states);
    delivered.record(&io.hub.metrics);
    io.hub.metrics.replayed.add(delivered.copies);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pid: &str) -> KeptSession {
        KeptSession {
            identity: Identity { pid: pid.into(), sid: "sid".into() },
            user: None,
            memberships: Vec::new(),
        }
    }

    fn recovery() -> Recovery {
        Recovery::new(Duration::from_secs(2), 3, *b"abcdef")
    }

    #[test]
    fn a_session_is_kept_once_and_not_for_ever_and_the_oldest_goes_when_there_are_too_many() {
        let (recovery, start) = (recovery(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        let finds = |pid: &str, ms| recovery.take(pid, at(ms)).is_some_and(|kept| *kept.identity.pid == *pid);
        for (n, pid) in ["a", "b", "c", "d"].into_iter().enumerate() {
            recovery.keep(kept(pid), at(n as u64));
        }
        assert!(!finds("a", 10) && finds("b", 10) && !finds("b", 10));
        assert!(!finds("c", 2002) && finds("d", 2002));
        // Who is kept again is among the newest.
        for pid in ["e", "f", "e", "g", "h"] {
            recovery.keep(kept(pid), at(3000));
        }
        assert!(!finds("f", 3001) && finds("e", 3001) && finds("g", 3001));
        recovery.sweep(at(4999));
        assert!(finds("h", 4999));
        recovery.keep(kept("i"), at(5000));
        recovery.keep(kept("j"), at(6000));
        recovery.keep(kept("k"), at(6000));
        recovery.forget("j");
        // Live again, it does not end with what it was kept for.
        recovery.live("k".into(), "engine");
        recovery.sweep(at(8000));
        let known = lock(&recovery.known);
        assert!(known.in_order.is_empty() && known.by_pid.keys().all(|pid| **pid == *"k"));
        drop(known);
        assert_eq!((recovery.carrier("k").as_deref(), recovery.carrier("i")), (Some("engine"), None));
    }

    #[test]
    fn an_offset_is_read_back_and_who_names_one_of_another_life_has_nothing_of_this_one() {
        let recovery = recovery();
        assert_eq!(recovery.serial("abcdef.17"), 17);
        for offset in ["abcdeg.17", "abcdef17", "abcdef.", "abcdef.x", "", "17"] {
            assert_eq!(recovery.serial(offset), 0, "{offset}");
        }
    }
}
