//! A real-time connection as rooms and timers see it, and the list of all of them.
//!
//! A peer outlives a change of transport: the same one is reached by long-polling first and by WebSocket after an
//! upgrade. Who reads and writes its socket is up to the transports, not this file. There is no timer per peer: one
//! sweep looks at all of them (`Deadlines`).

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use bytes::Bytes;

use crate::config::Limits;
use crate::connection::heartbeat::{Due, Heartbeat};
use crate::connection::outbox::{Close, Farewell, Outbox, Standing};
use crate::connection::source::Source;
use crate::encoding::form::Form;
use crate::metrics::Metrics;
use crate::rooms::member::Member;
use crate::rooms::room::Room;
use crate::sync::lock;

/// The sweep's ping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ping {
    /// A WebSocket ping.
    WebSocket,
    /// An Engine.IO ping.
    EngineIo,
    /// Nothing, and it need not do anything first: whoever made the peer ends it.
    #[default]
    Silent,
}

pub(crate) struct Peer {
    pub(crate) id: u64,
    /// How it is told what it is no member for: a fault may leak it. Set at the latest when it greets.
    form: OnceLock<Form>,
    pub(crate) outbox: Outbox,
    pub(crate) deadlines: Deadlines,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) born: Instant,
    ping: Ping,
    /// The share that its location groups count in.
    pub(crate) source: Source,
    /// The Engine.IO session id, when there is one.
    pub(crate) sid: Option<Box<str>>,
    /// True while polling carries it: its queue must be taken apart into frames.
    pub(crate) polled: AtomicBool,
    /// True while a Socket.IO namespace is connected.
    connected: AtomicBool,
    /// An application is at the other end, on a transport where that is not said by a namespace.
    greeted: AtomicBool,
    /// Messages published by this connection.
    pub(crate) sent: AtomicU64,
    /// The connection's user; 0 is nobody.
    user: AtomicU64,
    seats: Mutex<Vec<Seat>>,
    /// Held by who gives it a page of what it missed.
    pub(crate) catching_up: tokio::sync::Mutex<()>,
    slot: AtomicUsize,
}

/// A membership, from the peer's side.
struct Seat {
    room: Arc<Room>,
    member: Arc<Member>,
}

/// A room that a peer was in when its memberships ended.
pub(crate) struct Membership {
    pub(crate) room: Arc<Room>,
    /// The messages numbered above this one are owed.
    pub(crate) from: u64,
    /// It came with a cursor, and what it was given carried no offset: only one above this tells that it has got that.
    pub(crate) settled: u64,
}

/// Why a peer may not join.
pub(crate) enum NotJoined {
    /// The peer is in the room, or on its way into it.
    Already(Arc<Member>),
    TooManyRooms,
    /// The connection is closing; it must not become a member after its memberships were ended.
    Closing,
}

impl Peer {
    pub(crate) fn user(&self) -> Option<u64> {
        Some(self.user.load(Relaxed)).filter(|user| *user != 0)
    }

    /// Says whose connection this is; the first time stands until it is nobody's again.
    pub(crate) fn belongs_to(&self, user: u64) -> bool {
        match self.user.compare_exchange(0, user, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(known) => known == user,
        }
    }

    /// Its user has signed off.
    pub(crate) fn belongs_to_nobody(&self) {
        self.user.store(0, Relaxed);
    }

    /// Takes a place in the room, for `Room::enter`; leaving gives it back, entered or not. The error is the place it
    /// has already in that form.
    pub(crate) fn seat(
        self: &Arc<Peer>,
        room: &Arc<Room>,
        form: Form,
        limits: &Limits,
    ) -> Result<Arc<Member>, NotJoined> {
        let mut seats = lock(&self.seats);
        if !self.outbox.is_open() {
            return Err(NotJoined::Closing);
        }
        let known = seats.iter().find(|seat| Arc::ptr_eq(&seat.room, room) && seat.member.form == form);
        if let Some(seat) = known {
            return Err(NotJoined::Already(seat.member.clone()));
        }
        if seats.len() >= limits.rooms_per_connection {
            return Err(NotJoined::TooManyRooms);
        }
        let member = room.candidate(self, form);
        seats.push(Seat { room: room.clone(), member: member.clone() });
        self.deadlines.settled();
        Ok(member)
    }

    /// Ends all memberships in the room; true when there was one.
    pub(crate) fn leave(&self, room: &Arc<Room>, metrics: &Metrics) -> bool {
        self.leave_if(metrics, |seat| Arc::ptr_eq(&seat.room, room))
    }

    /// Ends this membership, if it is one still.
    pub(crate) fn unseat(&self, member: &Arc<Member>, metrics: &Metrics) -> bool {
        self.leave_if(metrics, |seat| Arc::ptr_eq(&seat.member, member))
    }

    /// Ends all memberships and says what they were.
    pub(crate) fn vacate(&self, metrics: &Metrics) -> Vec<Membership> {
        let mut seats = lock(&self.seats);
        let memberships = seats.drain(..).map(|Seat { room, member }| {
            room.leave(&member, metrics);
            let (from, settled) = member.place();
            Membership { room, from, settled }
        });
        memberships.collect()
    }

    pub(crate) fn leave_all(&self, metrics: &Metrics) {
        self.leave_if(metrics, |_| true);
    }

    /// Ends its memberships and says a last thing. What a planted fault holds for it goes out before.
    pub(crate) fn end_with(&self, Farewell { frame, close }: Farewell, metrics: &Metrics) {
        self.leave_all(metrics);
        self.outbox.push(frame);
        self.outbox.close(close);
    }

    fn leave_if(&self, metrics: &Metrics, ends: impl Fn(&Seat) -> bool) -> bool {
        let mut seats = lock(&self.seats);
        let before = seats.len();
        seats.retain(|seat| {
            let ends = ends(seat);
            if ends {
                seat.room.leave(&seat.member, metrics);
            }
            !ends
        });
        seats.len() < before
    }

    /// The room, when it is exactly one.
    pub(crate) fn only_room(&self) -> Option<Arc<Room>> {
        match lock(&self.seats).as_slice() {
            [seat] => Some(seat.room.clone()),
            _ => None,
        }
    }

    /// How it is told what it is no member for.
    pub(crate) fn form(&self) -> Option<&Form> {
        self.form.get()
    }

    /// An application is at the other end; the first form stands.
    pub(crate) fn greeted(&self, form: Form) {
        let _ = self.form.set(form);
        self.greeted.store(true, Relaxed);
    }

    /// True when a broadcast would reach an application: open, and past its greeting.
    pub(crate) fn listens(&self) -> bool {
        (self.greeted.load(Relaxed) || self.connected.load(Relaxed)) && self.outbox.is_open()
    }

    /// A Socket.IO namespace is connected.
    pub(crate) fn entered(&self, form: Form, metrics: &Metrics) {
        let _ = self.form.set(form);
        if !self.connected.swap(true, Relaxed) {
            metrics.socketio.add(1);
        }
        // The connection may have ended meanwhile, and its end looked before there was anything to end.
        if !self.outbox.is_open() {
            self.left(metrics);
        }
    }

    /// None is connected any more.
    pub(crate) fn left(&self, metrics: &Metrics) {
        if self.connected.swap(false, Relaxed) {
            metrics.socketio.sub(1);
        }
    }

    fn ping_frame(&self) -> Option<Bytes> {
        Some(match self.ping {
            Ping::EngineIo => Bytes::from_static(b"\x81\x012"),
            Ping::WebSocket => Bytes::from_static(b"\x89\x00"),
            Ping::Silent => return None,
        })
    }
}

/// The connection's deadlines, in milliseconds of the service's clock; 0 means none.
pub(crate) struct Deadlines {
    ping_at: AtomicU64,
    dead_at: AtomicU64,
    /// When the first thing must have been done.
    first_by: AtomicU64,
    /// When a closing connection is dropped.
    drop_at: AtomicU64,
}

impl Deadlines {
    pub(crate) fn new(now: u64, limits: &Limits) -> Deadlines {
        Deadlines {
            ping_at: AtomicU64::new(now + limits.ping_interval.as_millis() as u64),
            dead_at: AtomicU64::new(0),
            first_by: AtomicU64::new(now + limits.connect_timeout.as_millis() as u64),
            drop_at: AtomicU64::new(0),
        }
    }

    /// The first thing has been done.
    pub(crate) fn settled(&self) {
        self.first_by.store(0, Relaxed);
    }

    /// The first thing must be done by `at`.
    pub(crate) fn settle_by(&self, at: u64) {
        self.first_by.store(at, Relaxed);
    }

    /// Notes that a client that pings was heard of; it is dead after its longest allowed silence.
    pub(crate) fn heard(&self, now: u64, limits: &Limits) {
        let silence = (limits.ping_interval + limits.ping_timeout).as_millis() as u64;
        self.ping_at.store(0, Relaxed);
        self.dead_at.store(now + silence, Relaxed);
    }

    /// The ping has been answered.
    pub(crate) fn answered(&self, now: u64, limits: &Limits) {
        self.dead_at.store(0, Relaxed);
        self.ping_at.store(now + limits.ping_interval.as_millis() as u64, Relaxed);
    }
}

/// The sweep's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// Close it for this reason.
    Over(Close),
    /// The connection had its time to close.
    Drop,
}

impl Peer {
    /// Looks at the deadlines; deadlines within `tick` count as reached, so that none is passed by a tick.
    pub(crate) fn check(&self, now: u64, tick: u64, limits: &Limits) -> Verdict {
        let soon = now + tick;
        let reached = |at: &AtomicU64| {
            let at = at.load(Relaxed);
            at != 0 && soon >= at
        };
        if self.outbox.standing() != Standing::Open {
            let by = now + limits.close_grace.as_millis() as u64;
            return match self.deadlines.drop_at.compare_exchange(0, by, Relaxed, Relaxed) {
                Err(at) if now >= at => Verdict::Drop,
                _ => Verdict::Fine,
            };
        }
        if reached(&self.deadlines.dead_at) {
            return Verdict::Over(Close::Dead);
        }
        if reached(&self.deadlines.first_by) {
            return Verdict::Over(Close::Silent);
        }
        match self.heartbeat.check(now, tick) {
            Due::Nothing => {}
            Due::Say(frame) => {
                self.outbox.push(frame);
            }
            Due::Dead => return Verdict::Over(Close::Dead),
            Due::Over => return Verdict::Over(Close::Normal),
        }
        if self.deadlines.dead_at.load(Relaxed) == 0
            && reached(&self.deadlines.ping_at)
            && let Some(ping) = self.ping_frame()
        {
            let at = self.deadlines.ping_at.load(Relaxed);
            self.deadlines.dead_at.store(at + limits.ping_timeout.as_millis() as u64, Relaxed);
            self.outbox.push(ping);
        }
        Verdict::Fine
    }
}

/// Every peer alive, in a list that can be swept and drawn from.
#[derive(Default)]
pub(crate) struct Peers {
    list: Mutex<Vec<Arc<Peer>>>,
    last_id: AtomicU64,
}

/// The properties of a new peer.
#[derive(Default)]
pub(crate) struct Newcomer {
    pub(crate) ping: Ping,
    pub(crate) source: Source,
    pub(crate) sid: Option<Box<str>>,
    pub(crate) polled: bool,
    pub(crate) queue_bytes: usize,
}

impl Peers {
    pub(crate) fn add(&self, newcomer: Newcomer, now: u64, limits: &Limits) -> Arc<Peer> {
        let mut list = lock(&self.list);
        let peer = Arc::new(self.make(newcomer, list.len(), now, limits));
        list.push(peer.clone());
        peer
    }

    /// A peer that only sends: it is on no list, has no connection and ends with its owner.
    pub(crate) fn sender(&self, user: Option<u64>, limits: &Limits) -> Arc<Peer> {
        let peer = self.make(Newcomer::default(), usize::MAX, 1, limits);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        Arc::new(peer)
    }

    fn make(&self, newcomer: Newcomer, slot: usize, now: u64, limits: &Limits) -> Peer {
        let deadlines = Deadlines::new(now, limits);
        if newcomer.ping == Ping::Silent {
            deadlines.settled();
        }
        Peer {
            id: self.last_id.fetch_add(1, Relaxed) + 1,
            form: OnceLock::new(),
            outbox: Outbox::new(newcomer.queue_bytes),
            deadlines,
            heartbeat: Heartbeat::default(),
            born: Instant::now(),
            ping: newcomer.ping,
            source: newcomer.source,
            sid: newcomer.sid,
            polled: AtomicBool::new(newcomer.polled),
            connected: AtomicBool::new(false),
            greeted: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            user: AtomicU64::new(0),
            seats: Mutex::new(Vec::new()),
            catching_up: tokio::sync::Mutex::default(),
            slot: AtomicUsize::new(slot),
        }
    }

    /// True the first time.
    pub(crate) fn remove(&self, peer: &Arc<Peer>) -> bool {
        let mut list = lock(&self.list);
        let slot = peer.slot.load(Relaxed);
        if !list.get(slot).is_some_and(|there| Arc::ptr_eq(there, peer)) {
            return false;
        }
        list.swap_remove(slot);
        if let Some(moved) = list.get(slot) {
            moved.slot.store(slot, Relaxed);
        }
        true
    }

    pub(crate) fn all(&self) -> Vec<Arc<Peer>> {
        lock(&self.list).clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.list).is_empty()
    }

    /// Looks at every peer under the list's lock, so `look` must not add or remove any.
    pub(crate) fn each(&self, mut look: impl FnMut(&Arc<Peer>)) {
        for peer in lock(&self.list).iter() {
            look(peer);
        }
    }

    /// The first suitable peer from a starting point drawn by `random`, around the whole list.
    pub(crate) fn pick(&self, random: u64, suits: impl Fn(&Arc<Peer>) -> bool) -> Option<Arc<Peer>> {
        let list = lock(&self.list);
        if list.is_empty() {
            return None;
        }
        let start = (random % list.len() as u64) as usize;
        list[start..].iter().chain(&list[..start]).find(|peer| suits(peer)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_connects_a_namespace_while_its_session_ends_is_not_counted() {
        let (peers, metrics) = (Peers::default(), Metrics::default());
        let newcomer = Newcomer { ping: Ping::EngineIo, queue_bytes: 1000, ..Newcomer::default() };
        let peer = peers.add(newcomer, 1, &Limits::default());
        peer.entered(Form::SocketIo(None), &metrics);
        peer.entered(Form::SocketIo(None), &metrics);
        assert_eq!(metrics.socketio.get(), 1);
        peer.outbox.close(Close::Normal);
        peer.left(&metrics);
        peer.entered(Form::SocketIo(None), &metrics);
        assert_eq!(metrics.socketio.get(), 0);
    }
}
