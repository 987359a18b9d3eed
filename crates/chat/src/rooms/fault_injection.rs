//! Fault injection: the fan-out of a message when a plan says to spoil some copies.
//!
//! A copy is one message to one receiving connection. At most one copy of a (sender, receiver) pair is in trouble in
//! a room at a time, and the copies behind it draw nothing: the one that overtakes a held copy must really be queued,
//! and none may overtake a late one. A fault is counted when it has taken effect on a live queue, never when drawn.
//! The waiting copies live in the room's state, so leaving can flush them; the due times live with the one
//! publishing thread, which wakes for the earliest.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::encoding::form::{EncodedRun, Form};
use crate::faults::{Copy, Draw, Faults, mix};
use crate::metrics::Metrics;
use crate::model::message::Message;
use crate::rooms::delivery::Delivered;
use crate::rooms::member::Member;
use crate::rooms::peer::{Peer, Peers};
use crate::rooms::room::Room;
use crate::sync::lock;

/// The sender's connection and the receiver's membership: one connection may be in a room twice.
type Pair = (u64, u64);

/// A room's copies that wait.
pub(crate) struct HeldCopies {
    waiting: HashMap<Pair, HeldCopy>,
    /// Connections that left within the settle time.
    left: VecDeque<(u64, Instant)>,
    settle: Duration,
}

struct HeldCopy {
    receiver: Arc<Member>,
    ticket: u64,
    kind: HeldKind,
}

enum HeldKind {
    /// Waits for a later copy to overtake it.
    Held(Spare),
    /// Wait for their time, in order.
    Late { copies: VecDeque<Spare>, bytes: usize },
}

/// A copy that has not gone out: its message's number and its frame.
type Spare = (u64, Bytes);

impl HeldCopy {
    /// Queues what waits, in order: a held copy was then not reordered, a late one was delayed.
    fn release(self, delivered: &mut Delivered, metrics: &Metrics) {
        match self.kind {
            HeldKind::Held((seq, copy)) => {
                self.receiver.push(seq, &copy, delivered);
            }
            HeldKind::Late { copies, .. } => {
                for (at, (seq, copy)) in copies.iter().enumerate() {
                    if self.receiver.push(*seq, copy, delivered) && at == 0 {
                        metrics.planted.delay.add(1);
                    }
                }
            }
        }
    }
}

impl HeldCopies {
    pub(crate) fn new(settle: Duration) -> HeldCopies {
        HeldCopies { waiting: HashMap::new(), left: VecDeque::new(), settle }
    }

    fn forget_leavers(&mut self, now: Instant) {
        while self.left.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) > self.settle) {
            self.left.pop_front();
        }
    }

    /// Flushes what waits for a receiver that leaves.
    pub(crate) fn left(&mut self, member: &Member, metrics: &Metrics) {
        let now = Instant::now();
        self.forget_leavers(now);
        self.left.push_back((member.peer.id, now));
        let pairs: Vec<Pair> = self.waiting.keys().filter(|pair| pair.1 == member.number).copied().collect();
        let mut delivered = Delivered::default();
        for pair in pairs {
            if let Some(held_copy) = self.waiting.remove(&pair) {
                held_copy.release(&mut delivered, metrics);
            }
        }
        delivered.record(metrics);
    }
}

/// The publishing thread's part: the plan and the due times.
pub(crate) struct FaultInjector {
    plan: Faults,
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Where the copy of a ticket waits.
    tickets: HashMap<u64, (Arc<Room>, Pair)>,
    last_ticket: u64,
    /// Bytes one pair's late copies may hold before they are queued early.
    line_bytes: usize,
}

impl FaultInjector {
    /// `None` when the plan is empty.
    pub(crate) fn new(plan: &Faults, line_bytes: usize) -> Option<FaultInjector> {
        (!plan.is_none()).then(|| FaultInjector {
            plan: plan.clone(),
            due: BinaryHeap::new(),
            tickets: HashMap::new(),
            last_ticket: 0,
            line_bytes,
        })
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Queues every copy whose time has come by `now`.
    pub(crate) fn release_due(&mut self, now: Instant, metrics: &Metrics) {
        let mut delivered = Delivered::default();
        while let Some(Reverse((at, ticket))) = self.due.peek().copied() {
            if at > now {
                break;
            }
            self.due.pop();
            let Some((room, pair)) = self.tickets.remove(&ticket) else { continue };
            let mut state = lock(&room.state);
            let Some(held_copies) = &mut state.held_copies else { continue };
            // The pair may have a newer one by now: only its own ticket releases it.
            if held_copies.waiting.get(&pair).is_some_and(|held_copy| held_copy.ticket == ticket)
                && let Some(held_copy) = held_copies.waiting.remove(&pair)
            {
                let receiver = held_copy.receiver.clone();
                held_copy.release(&mut delivered, metrics);
                drop(state);
                receiver.not_sent(metrics);
            }
        }
        delivered.record(metrics);
    }

    /// Queues everything that waits, due or not: the service stops.
    pub(crate) fn release_all(&mut self, metrics: &Metrics) {
        let last = self.due.iter().map(|Reverse((at, _))| *at).max();
        if let Some(last) = last {
            self.release_due(last, metrics);
        }
    }

    /// Queues the message to every member, spoiling copies by the plan.
    pub(crate) fn publish(&mut self, room: &Arc<Room>, said: &Said<'_>, peers: &Peers, metrics: &Metrics) {
        let message = std::slice::from_ref(said.message);
        let mut run = EncodedRun::new(&room.id, message);
        let mut state = lock(&room.state);
        let woken = state.publish(message);
        let state_now = &mut *state;
        let Some(held_copies) = &mut state_now.held_copies else { return };
        let now = Instant::now();
        held_copies.forget_leavers(now);
        let mut pass = Pass { injector: self, room, metrics, now, delivered: Delivered::default() };
        let mut leaks = Vec::new();
        let room_hash = name_hash(&room.id);
        for member in state_now.members.iter() {
            let frame = (said.message.seq, &run.piece(&member.form).bytes);
            let copy = Copy {
                room: room_hash,
                sender: identity(said.sender),
                number: said.number,
                receiver: identity(&member.peer),
            };
            if pass.copy(held_copies, said.sender.id, member, frame, copy) {
                leaks.push((member.form.clone(), copy));
            }
        }
        if !leaks.is_empty() {
            let inside = state_now.members.iter().map(|member| member.peer.id).collect();
            pass.leak(leaks, &inside, held_copies, &mut run, peers);
        }
        pass.delivered.record(metrics);
        let members = state.members.clone();
        drop(state);
        woken.wake();
        for member in members.iter() {
            member.not_sent(metrics);
        }
    }
}

/// A message, who said it, and the how manyeth of that connection it is.
pub(crate) struct Said<'a> {
    pub(crate) message: &'a Message,
    pub(crate) sender: &'a Peer,
    pub(crate) number: u64,
}

/// A peer's identity in a draw: the account, so that a run draws the same again, or the connection if there is none.
fn identity(peer: &Peer) -> u64 {
    peer.user().unwrap_or(peer.id)
}

/// A message's way through the members.
struct Pass<'a> {
    injector: &'a mut FaultInjector,
    room: &'a Arc<Room>,
    metrics: &'a Metrics,
    now: Instant,
    delivered: Delivered,
}

impl Pass<'_> {
    /// Deals with one copy; true when the message is to be leaked as well.
    fn copy(
        &mut self,
        held_copies: &mut HeldCopies,
        sender: u64,
        member: &Arc<Member>,
        (seq, frame): (u64, &Bytes),
        copy: Copy,
    ) -> bool {
        let pair = (sender, member.number);
        if held_copies.waiting.contains_key(&pair) {
            self.behind(held_copies, pair, member, (seq, frame));
            return false;
        }
        let delivered = &mut self.delivered;
        let planted = &self.metrics.planted;
        let settled = self.now.saturating_duration_since(member.since) >= self.injector.plan.settle;
        match if settled { self.injector.plan.draw(copy) } else { Draw::Clean } {
            Draw::Clean => {
                member.push(seq, frame, delivered);
            }
            Draw::Drop => {
                if member.peer.outbox.is_open() {
                    planted.drop.add(1);
                }
            }
            Draw::Duplicate => {
                if member.push(seq, frame, delivered) && member.push(seq, frame, delivered) {
                    planted.duplicate.add(1);
                }
            }
            Draw::Delay => {
                let copies = VecDeque::from([(seq, frame.clone())]);
                let due = self.now + self.injector.plan.delay_by;
                self.wait(held_copies, pair, member, HeldKind::Late { copies, bytes: frame.len() }, due);
            }
            Draw::Reorder => {
                let due = self.now + self.injector.plan.hold;
                self.wait(held_copies, pair, member, HeldKind::Held((seq, frame.clone())), due);
            }
            Draw::Leak => return member.push(seq, frame, delivered),
        }
        false
    }

    /// Hands the message to strangers, each on the same wire as the member whose copy drew it.
    fn leak(
        &mut self,
        leaks: Vec<(Form, Copy)>,
        inside: &HashSet<u64>,
        held_copies: &HeldCopies,
        run: &mut EncodedRun<'_>,
        peers: &Peers,
    ) {
        // A message leaks to one stranger once: twice would be a duplicate as well.
        let mut told = Vec::new();
        for (form, copy) in leaks {
            let settle = self.injector.plan.settle;
            let random = mix(copy.number ^ mix(copy.sender ^ mix(copy.receiver)));
            let stranger = peers.pick(random, |peer| {
                peer.form().is_some_and(|own| own.is_like(&form))
                    && peer.listens()
                    && self.now.saturating_duration_since(peer.born) >= settle
                    && !told.contains(&peer.id)
                    && !inside.contains(&peer.id)
                    && !held_copies.left.iter().any(|(id, _)| *id == peer.id)
            });
            if let Some(stranger) = stranger
                && let Some(form) = stranger.form()
                && self.delivered.push(&stranger, &run.piece(form).bytes)
            {
                told.push(stranger.id);
                self.metrics.planted.leak.add(1);
            }
        }
    }

    /// A copy that finds an earlier one of its pair waiting: it draws nothing.
    fn behind(
        &mut self,
        held_copies: &mut HeldCopies,
        pair: Pair,
        receiver: &Member,
        (seq, frame): (u64, &Bytes),
    ) {
        let Some(held_copy) = held_copies.waiting.get_mut(&pair) else { return };
        match &mut held_copy.kind {
            HeldKind::Late { copies, bytes } => {
                copies.push_back((seq, frame.clone()));
                *bytes += frame.len();
                if *bytes <= self.injector.line_bytes {
                    return;
                }
                if let Some(held_copy) = held_copies.waiting.remove(&pair) {
                    held_copy.release(&mut self.delivered, self.metrics);
                }
            }
            HeldKind::Held(held) => {
                let (late, held) = held.clone();
                held_copies.waiting.remove(&pair);
                let delivered = &mut self.delivered;
                if receiver.push(seq, frame, delivered) && receiver.push(late, &held, delivered) {
                    self.metrics.planted.reorder.add(1);
                }
            }
        }
    }

    fn wait(
        &mut self,
        held_copies: &mut HeldCopies,
        pair: Pair,
        receiver: &Arc<Member>,
        kind: HeldKind,
        due: Instant,
    ) {
        let injector = &mut *self.injector;
        injector.last_ticket += 1;
        let ticket = injector.last_ticket;
        injector.due.push(Reverse((due, ticket)));
        injector.tickets.insert(ticket, (self.room.clone(), pair));
        held_copies.waiting.insert(pair, HeldCopy { receiver: receiver.clone(), ticket, kind });
    }
}

fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// How long the publishing thread may sleep.
pub(crate) fn until(due: Option<Instant>) -> Option<Duration> {
    due.map(|at| at.saturating_duration_since(Instant::now()))
}
