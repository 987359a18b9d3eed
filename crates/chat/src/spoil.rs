//! Planting faults: the fan-out of a message when a plan says to spoil some copies.
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

use crate::faults::{Copy, Draw, Faults, mix};
use crate::lock;
use crate::metrics::Metrics;
use crate::peer::{Peer, Peers};
use crate::room::{Delivered, Encoded, Message, Room};

/// Sender's and receiver's connection.
type Pair = (u64, u64);

/// A room's copies in trouble.
pub(crate) struct Spoilt {
    waiting: HashMap<Pair, Trouble>,
    /// Connections that left within the settle time.
    left: VecDeque<(u64, Instant)>,
    settle: Duration,
}

struct Trouble {
    receiver: Arc<Peer>,
    ticket: u64,
    kind: Kind,
}

enum Kind {
    /// Waits for a later copy to overtake it.
    Held(Bytes),
    /// Wait for their time, in order.
    Late { copies: VecDeque<Bytes>, bytes: usize },
}

impl Trouble {
    /// Queues what waits, in order: a held copy was then not reordered, a late one was delayed.
    fn release(self, delivered: &mut Delivered, metrics: &Metrics) {
        match self.kind {
            Kind::Held(copy) => {
                delivered.push(&self.receiver, &copy);
            }
            Kind::Late { copies, .. } => {
                for (at, copy) in copies.iter().enumerate() {
                    if delivered.push(&self.receiver, copy) && at == 0 {
                        metrics.planted.delay.add(1);
                    }
                }
            }
        }
    }
}

impl Spoilt {
    pub(crate) fn new(settle: Duration) -> Spoilt {
        Spoilt { waiting: HashMap::new(), left: VecDeque::new(), settle }
    }

    fn forget_leavers(&mut self, now: Instant) {
        while self.left.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) > self.settle) {
            self.left.pop_front();
        }
    }

    /// Flushes what waits for a receiver that leaves.
    pub(crate) fn left(&mut self, peer: &Peer, metrics: &Metrics) {
        let now = Instant::now();
        self.forget_leavers(now);
        self.left.push_back((peer.id, now));
        let pairs: Vec<Pair> = self.waiting.keys().filter(|pair| pair.1 == peer.id).copied().collect();
        let mut delivered = Delivered::default();
        for pair in pairs {
            if let Some(trouble) = self.waiting.remove(&pair) {
                trouble.release(&mut delivered, metrics);
            }
        }
        delivered.record(metrics);
    }
}

/// The publishing thread's part: the plan and the due times.
pub(crate) struct Spoiler {
    plan: Faults,
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Where the copy of a ticket waits.
    tickets: HashMap<u64, (Arc<Room>, Pair)>,
    last_ticket: u64,
    /// Bytes one pair's late copies may hold before they are queued early.
    line_bytes: usize,
}

impl Spoiler {
    /// `None` when the plan is empty.
    pub(crate) fn new(plan: &Faults, line_bytes: usize) -> Option<Spoiler> {
        (!plan.is_none()).then(|| Spoiler {
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
            let Some(spoilt) = &mut state.spoilt else { continue };
            // The pair may have a newer trouble by now: only its own ticket releases it.
            if spoilt.waiting.get(&pair).is_some_and(|trouble| trouble.ticket == ticket)
                && let Some(trouble) = spoilt.waiting.remove(&pair)
            {
                trouble.release(&mut delivered, metrics);
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
    pub(crate) fn publish(
        &mut self,
        room: &Arc<Room>,
        message: &Message,
        number: u64,
        peers: &Peers,
        metrics: &Metrics,
    ) {
        let mut encoded = Encoded::new(&room.id, message);
        let mut state = lock(&room.state);
        let state = &mut *state;
        Room::set_published(state, message.seq);
        let Some(spoilt) = &mut state.spoilt else { return };
        let now = Instant::now();
        spoilt.forget_leavers(now);
        let mut pass = Pass { spoiler: self, room, metrics, now, delivered: Delivered::default() };
        let mut leaks = Vec::new();
        let room_hash = name_hash(&room.id);
        for member in state.members.iter() {
            let frame = encoded.frame(member.peer.form);
            let settled = now.saturating_duration_since(member.since) >= pass.spoiler.plan.settle;
            let copy = Copy {
                room: room_hash,
                sender: message.user,
                number,
                receiver: member.peer.user().unwrap_or(member.peer.id),
            };
            if pass.copy(spoilt, (message.sender.id, member.peer.id), &member.peer, frame, settled, copy) {
                leaks.push((member.peer.form, copy));
            }
        }
        if leaks.is_empty() {
            return pass.delivered.record(metrics);
        }
        let inside: HashSet<u64> = state.members.iter().map(|member| member.peer.id).collect();
        // A message leaks to one stranger once: twice would be a duplicate as well.
        let mut told = Vec::new();
        for (form, copy) in leaks {
            let settle = pass.spoiler.plan.settle;
            let random = mix(copy.number ^ mix(copy.sender ^ mix(copy.receiver)));
            let stranger = peers.pick(random, |peer| {
                peer.form == form
                    && peer.listens()
                    && now.saturating_duration_since(peer.born) >= settle
                    && !told.contains(&peer.id)
                    && !inside.contains(&peer.id)
                    && !spoilt.left.iter().any(|(id, _)| *id == peer.id)
            });
            if let Some(stranger) = stranger
                && pass.delivered.push(&stranger, encoded.frame(form))
            {
                told.push(stranger.id);
                metrics.planted.leak.add(1);
            }
        }
        pass.delivered.record(metrics);
    }
}

/// One message's way through the members.
struct Pass<'a> {
    spoiler: &'a mut Spoiler,
    room: &'a Arc<Room>,
    metrics: &'a Metrics,
    now: Instant,
    delivered: Delivered,
}

impl Pass<'_> {
    /// Deals with one copy; true when the message is to be leaked as well.
    fn copy(
        &mut self,
        spoilt: &mut Spoilt,
        pair: Pair,
        receiver: &Arc<Peer>,
        frame: &Bytes,
        settled: bool,
        copy: Copy,
    ) -> bool {
        if spoilt.waiting.contains_key(&pair) {
            self.behind(spoilt, pair, receiver, frame);
            return false;
        }
        let planted = &self.metrics.planted;
        match if settled { self.spoiler.plan.draw(copy) } else { Draw::Clean } {
            Draw::Clean => {
                self.delivered.push(receiver, frame);
            }
            Draw::Drop => {
                if receiver.outbox.is_open() {
                    planted.drop.add(1);
                }
            }
            Draw::Duplicate => {
                if self.delivered.push(receiver, frame) && self.delivered.push(receiver, frame) {
                    planted.duplicate.add(1);
                }
            }
            Draw::Delay => {
                let copies = VecDeque::from([frame.clone()]);
                let due = self.now + self.spoiler.plan.delay_by;
                self.wait(spoilt, pair, receiver, Kind::Late { copies, bytes: frame.len() }, due);
            }
            Draw::Reorder => {
                let due = self.now + self.spoiler.plan.hold;
                self.wait(spoilt, pair, receiver, Kind::Held(frame.clone()), due);
            }
            Draw::Leak => return self.delivered.push(receiver, frame),
        }
        false
    }

    /// A copy that finds an earlier one of its pair waiting: it draws nothing.
    fn behind(&mut self, spoilt: &mut Spoilt, pair: Pair, receiver: &Arc<Peer>, frame: &Bytes) {
        let Some(trouble) = spoilt.waiting.get_mut(&pair) else { return };
        match &mut trouble.kind {
            Kind::Late { copies, bytes } => {
                copies.push_back(frame.clone());
                *bytes += frame.len();
                if *bytes <= self.spoiler.line_bytes {
                    return;
                }
                if let Some(trouble) = spoilt.waiting.remove(&pair) {
                    trouble.release(&mut self.delivered, self.metrics);
                }
            }
            Kind::Held(held) => {
                let held = held.clone();
                spoilt.waiting.remove(&pair);
                if self.delivered.push(receiver, frame) && self.delivered.push(receiver, &held) {
                    self.metrics.planted.reorder.add(1);
                }
            }
        }
    }

    fn wait(&mut self, spoilt: &mut Spoilt, pair: Pair, receiver: &Arc<Peer>, kind: Kind, due: Instant) {
        let spoiler = &mut *self.spoiler;
        spoiler.last_ticket += 1;
        let ticket = spoiler.last_ticket;
        spoiler.due.push(Reverse((due, ticket)));
        spoiler.tickets.insert(ticket, (self.room.clone(), pair));
        spoilt.waiting.insert(pair, Trouble { receiver: receiver.clone(), ticket, kind });
    }
}

fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// How long the publishing thread may sleep.
pub(crate) fn until(due: Option<Instant>) -> Option<Duration> {
    due.map(|at| at.saturating_duration_since(Instant::now()))
}
