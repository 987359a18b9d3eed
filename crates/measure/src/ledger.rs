//! The delivery ledger: who was owed which message, and what became of every copy.
//!
//! Shards write down what they saw ([`Batch`]); the one ledger decides, a second later, off the hot path and in one
//! thread, so that its rules are a sequential, testable function. (An alternative, deciding inside each shard, needs
//! the sender's table in every receiver's shard.) It knows nothing of sockets, stamps or time: instants are given.
//!
//! Membership is judged at the instant a message was really handed to the kernel (`started`), latency runs from the
//! instant it was planned. The design speaks of the planned send for both; but a send planned long ago that left late,
//! because the target stalled, can only be owed to who was there when it left us, while the wait is still the target's
//! doing and belongs in the latency.
//!
//! Nothing is estimated: a copy is judged once, when all that bears on it is known (`settle` after its receipt),
//! against the receiver's stays ([`stay`]), the room's messages ([`room`]) and a bitmap of what has already come
//! ([`bitmap`]).

mod batch;
mod bitmap;
mod fates;
mod lost;
mod room;
mod seats;
mod stay;
#[cfg(test)]
mod tests;

pub use batch::{Batch, Departed, Member, Move, Moved, Received, RoomId, Sent, Settled};
pub use fates::{ROOMS_MAX, RoomCounts, RoomFate};

use crate::at::At;
use room::{Message, Room};
use seats::Seats;
use stay::Seat;
use std::collections::HashSet;

/// The script's rules for delivery (`delivery:` in YAML).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A copy received later than this after its planned send is late (ns). Default 1 s.
    pub deadline_ns: i64,
    /// Around a join or leave, a delivery is neither owed nor leaked (ns). Default 100 ms.
    pub settle_ns: i64,
    /// Whether a sender is owed its own message. Default true.
    pub echo: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { deadline_ns: 1_000_000_000, settle_ns: 100_000_000, echo: true }
    }
}

/// Copies by what became of them. `owed = delivered + late + replayed + lost + outstanding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Stamped messages sent.
    pub messages: u64,
    /// Copies that had to arrive.
    pub owed: u64,
    /// Owed, arrived within the deadline.
    pub delivered: u64,
    /// Owed, arrived after the deadline.
    pub late: u64,
    /// Owed, arrived after the receiver's connection had been lost, over a later one.
    pub replayed: u64,
    /// Owed, never arrived.
    pub lost: u64,
    /// The part of `lost` that was owed to the messages' own senders. 0 until the run is over.
    pub lost_own: u64,
    /// The part of `lost` after which nothing more that it was owed reached the receiver: the target had not come so
    /// far yet, or had given up. `lost = lost_tail + lost_gap + never_accepted`, all three 0 until the run is over.
    pub lost_tail: u64,
    /// The part of `lost` after which something later did reach the receiver: the copy was left out.
    pub lost_gap: u64,
    /// The part of `lost` of messages that reached none of those they were owed to.
    pub never_accepted: u64,
    /// The part of `lost_gap` that was sent within a second of its receiver's join, before anything had reached it.
    pub lost_after_join: u64,
    /// Owed, not yet received, and not yet given up (0 once the ledger is closed).
    pub outstanding: u64,
    /// Further copies of a message that had already arrived.
    pub duplicate: u64,
    /// First copies that came after a later message of the same sender. Also counted by when they came.
    pub reordered: u64,
    /// Copies received by somebody who was not in the room.
    pub leaked: u64,
    /// Copies owed of messages whose send was never acknowledged, and not received. Not in `owed`.
    pub unknown: u64,
    /// Received within a settle window: neither owed nor leaked.
    pub settling: u64,
    /// Stamps of other runs.
    pub foreign: u64,
    /// Latencies below zero (clock trouble): counted, never dropped.
    pub negative: u64,
}

/// The first copy of an owed message, when it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it came.
    pub at: At,
    /// Planned send to receipt (ns).
    pub latency_ns: i64,
    /// Whether it came over a later connection than the one it was owed to.
    pub replayed: bool,
}

/// A receipt whose message nobody has reported sending yet holds its receiver's later ones back this long past its own
/// maturity (ns), so that order is judged right. After that it waits alone, for [`Ledger::close`] to call it foreign.
const PATIENCE_NS: i64 = 2_000_000_000;
/// Receipts that may wait; beyond, those without a message are foreign at once.
const HELD_MAX: usize = 1 << 22;

/// A message that has come to all it was owed to is forgotten so long after it was sent (ns): memory does not grow with
/// a run in which nothing is lost. Late acknowledgements have come by then.
const REMEMBERED_NS: i64 = 30_000_000_000;

/// The ledger of a run.
#[derive(Default)]
pub struct Ledger {
    rules: Rules,
    remembered_ns: i64,
    rooms: Vec<Room>,
    seats: Seats,
    /// Moves that happen later than told so far.
    moves: Vec<Moved>,
    /// Members that are gone for good, as soon as all is judged that they received.
    departed: Vec<Departed>,
    /// Receipts not yet judged.
    held: Vec<Received>,
    /// Messages not yet judged.
    unjudged: Vec<(RoomId, u32)>,
    /// Outcomes that came before their message.
    unsettled: Vec<Settled>,
    counts: Counts,
    /// Counts the passes over receipts; a seat blocked in this pass keeps its later receipts back too.
    pass: u32,
}

/// Why a receipt cannot be judged yet.
struct NotYet;

impl Ledger {
    /// An empty ledger.
    pub fn new(rules: Rules) -> Ledger {
        Ledger::remembering(rules, REMEMBERED_NS)
    }

    /// An empty ledger that forgets what is over after so many ns instead of half a minute: its counts are the same.
    pub fn remembering(rules: Rules, remembered_ns: i64) -> Ledger {
        Ledger { rules, remembered_ns, ..Ledger::default() }
    }

    /// Takes what all shards saw up to `until`. Copies are judged once everything that bears on them is known, i.e. up
    /// to `settle` later, so counts lag by one call. Each judged first copy of an owed message goes to `arrived`.
    ///
    /// Batches may come in any order and hold later events too; those wait. What happened up to `until` must all have
    /// been given with this call, except sends still being written (see [`PATIENCE_NS`]). A member lives on one shard:
    /// its events are told apart by their instants, and by their place in a batch when those are equal.
    pub fn apply(&mut self, batches: &mut [Batch], until: At, mut arrived: impl FnMut(Arrival)) {
        for batch in batches.iter_mut() {
            self.counts.foreign += std::mem::take(&mut batch.foreign);
            self.moves.append(&mut batch.moves);
            self.departed.append(&mut batch.departed);
            self.unsettled.append(&mut batch.settled);
            self.held.append(&mut batch.received);
            for sent in batch.sent.drain(..) {
                self.send(sent);
            }
        }
        self.move_members(until);
        self.settle();
        let ripe = until.plus(self.rules.settle_ns.saturating_neg());
        self.owe(ripe);
        self.pass += 1;
        let mut held = std::mem::take(&mut self.held);
        // Nearly sorted runs, one a shard: this costs a merge.
        held.sort_by_key(|received| received.at);
        self.held = held.split_off(held.partition_point(|received| received.at <= ripe));
        let mut waiting = Vec::new();
        for received in held {
            if self.judge(received, ripe, waiting.len(), &mut arrived).is_err() {
                waiting.push(received);
            }
        }
        self.part(&waiting, ripe);
        if !waiting.is_empty() {
            waiting.append(&mut self.held);
            self.held = waiting;
        }
        // Without echo a copy is judged by its message's sender, too.
        if self.rules.echo {
            let until = ripe.plus(self.remembered_ns.saturating_neg());
            for room in &mut self.rooms {
                room.forget(until);
                room.forget_stays(until);
            }
        }
    }

    /// The counts so far. Until [`Ledger::close`], `owed` includes copies that may turn out `unknown`.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts;
        let come = counts.delivered + counts.late + counts.replayed;
        // A second merged late may tell of a stay after the messages owed to it were judged: its copies are still
        // seen, and there are then more of them than were owed.
        counts.outstanding = counts.owed.saturating_sub(come + counts.lost);
        counts
    }

    /// The run is over: judges what is held back; every owed copy that has not come is lost (or unknown). Idempotent.
    pub fn close(&mut self, _at: At, arrived: impl FnMut(Arrival)) -> Counts {
        // A member that has not come back by now never will.
        self.seats.each().for_each(Seat::give_up);
        self.apply(&mut [], At(i64::MAX), arrived);
        self.counts.foreign += std::mem::take(&mut self.held).len() as u64;
        self.unsettled.clear();
        let lost = self.lost();
        let mut unknown = 0;
        for (id, room) in self.rooms.iter_mut().enumerate() {
            let own = |message: &Message| {
                u64::from(!self.rules.echo && has_own(self.rules, &self.seats, id as RoomId, message))
            };
            let of_room = room.give_up(own);
            room.counts.close(of_room);
            unknown += of_room;
        }
        self.counts.unknown += unknown;
        self.counts.owed = self.counts.owed.saturating_sub(unknown);
        let missing = self.counts().outstanding;
        self.counts.lost += missing;
        lost.part(missing, &mut self.counts);
        self.counts.lost_own = self.rooms.iter().map(Room::own_missing).sum();
        self.counts()
    }

    /// Applies requests to join, joins, leaves and closed connections up to `until`, seat by seat in the order of time.
    fn move_members(&mut self, until: At) {
        let mut moves = std::mem::take(&mut self.moves);
        self.moves = moves.extract_if(.., |moved| moved.at > until).collect();
        let instant = |moved: &Moved| (moved.member, moved.room, moved.at);
        moves.sort_by_key(instant);
        for moves in moves.chunk_by(|a, b| instant(a) == instant(b)) {
            let Moved { member, room, at, .. } = moves[0];
            self.move_at(member, room, at, Moves::of(moves.iter().map(|moved| moved.what)));
        }
    }

    /// The order of a seat's moves in one instant. A member that was in leaves before joining again; one that was not
    /// joins before leaving; a connection closes last, unless it makes way for a rejoin. A request to join comes after
    /// the moves before it.
    fn move_at(&mut self, member: Member, room: RoomId, at: At, mut moves: Moves) {
        let (rules, settle) = (self.rules, self.rules.settle_ns);
        let Some(seat) = self.seats.made(member, room) else { return };
        let was_awaited = seat.is_awaited;
        let mut ended = Vec::new();
        while moves.joins + moves.leaves + moves.goes > 0 {
            if moves.leaves > 0 && (seat.is_open() || moves.joins == 0) {
                moves.leaves -= 1;
                ended.extend(seat.leave(at, std::mem::take(&mut moves.interrupted)));
                if moves.goes > 0 {
                    moves.goes -= 1;
                    seat.go(at);
                }
            } else if moves.joins > 0 {
                moves.joins -= 1;
                let Some(begun) = seat.join(at, settle, moves.resumes) else { continue };
                let room = room_of(&mut self.rooms, room);
                room.joined(begun.owed_from);
                if begun.resumed {
                    // Judged when nobody knew that this member would come back for them.
                    let owed = room.owe_again(begun.owed_from, member, rules.echo);
                    add(owed, &mut self.counts.owed, &mut room.counts.owed);
                }
            } else {
                moves.goes -= 1;
                seat.go(at);
            }
        }
        if moves.asks {
            seat.ask(at);
        }
        let room = room_of(&mut self.rooms, room);
        room.awaited = (room.awaited + u32::from(seat.is_awaited)).saturating_sub(u32::from(was_awaited));
        for stay in ended {
            room.left(*seat.owed_between(stay, settle).end());
        }
    }

    fn send(&mut self, sent: Sent) {
        let room = room_of(&mut self.rooms, sent.room);
        let seat = self.seats.made(sent.sender, sent.room);
        if room.send(&sent, seat.map_or(&mut None, |seat| &mut seat.last_sent)) {
            add(1, &mut self.counts.messages, &mut room.counts.messages);
            self.unjudged.push((sent.room, sent.number));
        }
    }

    fn settle(&mut self) {
        let rooms = &mut self.rooms;
        self.unsettled
            .retain(|s| !rooms.get_mut(s.room as usize).is_some_and(|room| room.settle(s.number, s.acked)));
    }

    /// Counts the copies owed of every message whose members are all known.
    fn owe(&mut self, ripe: At) {
        let (rules, rooms, seats, counts) = (self.rules, &mut self.rooms, &self.seats, &mut self.counts);
        self.unjudged.retain(|&(id, number)| {
            let room = &mut rooms[id as usize];
            let Some(message) = room.ripe(number, ripe) else { return true };
            let members = room.owed_at(message.started);
            let own = has_own(rules, seats, id, &message);
            let owed = members.saturating_sub(u64::from(own && !rules.echo));
            add(owed, &mut counts.owed, &mut room.counts.owed);
            room.judged(number, own && rules.echo);
            false
        });
    }

    /// Forgets members that are gone for good and of whose receipts none waits: nothing will ask for them again. Only
    /// where a message is not owed to its sender its stays must be known as long as the message is.
    fn part(&mut self, waiting: &[Received], ripe: At) {
        if self.departed.is_empty() {
            return;
        }
        let waiting: HashSet<Member> = waiting.iter().map(|received| received.member).collect();
        let Ledger { departed, seats, rooms, rules, .. } = self;
        departed.retain(|&Departed { member, at }| {
            if at > ripe || waiting.contains(&member) {
                return true;
            }
            let is_sender = seats.of(member).iter().any(|seat| seat.last_sent.is_some());
            let is_forgotten = rules.echo || !is_sender;
            for seat in seats.of(member) {
                if std::mem::take(&mut seat.is_awaited) {
                    let room = room_of(rooms, seat.room);
                    room.awaited = room.awaited.saturating_sub(1);
                }
                if is_forgotten {
                    room_of(rooms, seat.room).silences.add(seat.silences(rules.settle_ns));
                }
            }
            if is_forgotten {
                seats.remove(member);
            }
            false
        });
    }

    fn judge(
        &mut self,
        copy: Received,
        ripe: At,
        waiting: usize,
        arrived: &mut impl FnMut(Arrival),
    ) -> Result<(), NotYet> {
        let Ledger { rules, rooms, seats, counts, pass, .. } = self;
        let seat = seats.get_mut(copy.member, copy.room);
        if seat.as_ref().is_some_and(|seat| seat.blocked == *pass) {
            return Err(NotYet);
        }
        let mut room = rooms.get_mut(copy.room as usize);
        if let Some(room) = room.as_mut().filter(|room| room.has_forgotten(copy.number)) {
            match seat {
                Some(seat) if seat.seen.has(copy.number) => {
                    add(1, &mut counts.duplicate, &mut room.counts.duplicate);
                }
                Some(seat) if seat.near(copy.at, rules.settle_ns) => counts.settling += 1,
                _ => add(1, &mut counts.leaked, &mut room.counts.leaked),
            }
            return Ok(());
        }
        let Some((room, message)) =
            room.take().and_then(|room| room.ripe(copy.number, ripe).map(|m| (room, m)))
        else {
            if waiting >= HELD_MAX {
                counts.foreign += 1;
                return Ok(());
            }
            if let Some(seat) = seat.filter(|_| copy.at.plus(PATIENCE_NS) >= ripe) {
                seat.blocked = *pass;
            }
            return Err(NotYet);
        };
        if !rules.echo && message.sender == copy.member {
            counts.settling += 1;
            return Ok(());
        }
        let Some(seat) = seat else {
            add(1, &mut counts.leaked, &mut room.counts.leaked);
            return Ok(());
        };
        let Some(stay) = seat.owed(message.started, rules.settle_ns) else {
            if seat.may_resume(message.started, rules.settle_ns) && waiting < HELD_MAX {
                seat.blocked = *pass;
                return Err(NotYet);
            }
            match seat.near(copy.at, rules.settle_ns) {
                true => counts.settling += 1,
                false => add(1, &mut counts.leaked, &mut room.counts.leaked),
            }
            return Ok(());
        };
        if !seat.seen.set(copy.number) {
            add(1, &mut counts.duplicate, &mut room.counts.duplicate);
            return Ok(());
        }
        seat.heard(stay, message.started);
        room.arrived(copy.number, copy.member);
        let reordered = u64::from(seat.overtaken(copy.number, message.sender, room));
        add(reordered, &mut counts.reordered, &mut room.counts.reordered);
        let latency_ns = copy.at.since(message.planned);
        let replayed = seat.replayed(stay, message.started, copy.at);
        match replayed {
            true => add(1, &mut counts.replayed, &mut room.counts.replayed),
            false if latency_ns > rules.deadline_ns => add(1, &mut counts.late, &mut room.counts.late),
            false => add(1, &mut counts.delivered, &mut room.counts.delivered),
        }
        counts.negative += u64::from(latency_ns < 0);
        arrived(Arrival { at: copy.at, latency_ns, replayed });
        Ok(())
    }
}

/// The moves of one seat in one instant.
#[derive(Default)]
struct Moves {
    joins: usize,
    leaves: usize,
    goes: usize,
    asks: bool,
    /// Whether the join resumes.
    resumes: bool,
    /// Whether the first leave is an interruption; further ones say that the member gave up.
    interrupted: bool,
}

impl Moves {
    fn of(each: impl Iterator<Item = Move>) -> Moves {
        let mut moves = Moves::default();
        for each in each {
            match each {
                Move::Ask => moves.asks = true,
                Move::Join => moves.joins += 1,
                Move::Leave => moves.leaves += 1,
                Move::Go => moves.goes += 1,
                Move::Resume => (moves.joins, moves.resumes) = (moves.joins + 1, true),
                Move::Interrupt => (moves.leaves, moves.interrupted) = (moves.leaves + 1, true),
            }
        }
        moves
    }
}

/// Whether the sender was in the room when its message left: unless a rule forbids it, it is owed its own.
fn has_own(rules: Rules, seats: &Seats, room: RoomId, message: &Message) -> bool {
    let seat = seats.get(message.sender, room);
    seat.is_some_and(|seat| seat.owed(message.started, rules.settle_ns).is_some())
}

/// Adds to a count of the run and to the same count of a room.
fn add(n: u64, of_run: &mut u64, of_room: &mut u64) {
    *of_run += n;
    *of_room += n;
}

fn room_of(rooms: &mut Vec<Room>, room: RoomId) -> &mut Room {
    if rooms.len() <= room as usize {
        rooms.resize_with(room as usize + 1, Room::default);
    }
    &mut rooms[room as usize]
}
