//! A user's part in the delivery ledger: the rooms it is in, the stamps it drew, the connections it hears by.
//!
//! A member of the ledger is a user for the length of one iteration, as it is one flow elsewhere: all it was owed ends
//! with the iteration, and a test that runs for days remembers nobody. Where connections outlive iterations, so does
//! the member.
//!
//! Nothing here costs anything unless a script imports `k6/x/sonagi`: [`arrived`] and [`sent`] look at one flag of the
//! shard.

use sonagi_engine::delivery::{Room, Unanswered, track};
use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Departed, Joined, Left, Member, Sent, Settled};
use sonagi_measure::recorder::Counter;
use sonagi_measure::stamp::{self, Stamp};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use crate::vu::Vu;

/// Stamps that were drawn and have not left, of one user; the oldest are given up beyond it.
const DRAWN_MAX: usize = 1024;

/// The ledger's state of a user: empty until the user joins a room.
#[derive(Default)]
pub(crate) struct DeliveryState {
    member: RefCell<Option<Box<MemberState>>>,
    /// Its real-time connections that are open.
    connections: Cell<u32>,
}

/// A user as a member of rooms.
#[derive(Default)]
struct MemberState {
    number: Member,
    joined: Vec<Membership>,
    /// Rooms it was in when its last connection broke off: it may come back for what it missed.
    interrupted: Vec<Arc<Room>>,
    /// Rooms it has left while copies may still come.
    leaving: Vec<Arc<Room>>,
    /// Drawn and not seen to leave, with when they were drawn.
    drawn: VecDeque<(Stamp, At)>,
    unanswered: Unanswered,
}

struct Membership {
    room: Arc<Room>,
    /// Its messages come in answers to requests, whatever connections there are.
    polls: bool,
}

/// How a room is joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// Messages that were sent since the connection broke off are owed, too.
    pub(super) resumes: bool,
    /// Messages come in the bodies of GET requests' answers.
    pub(super) polls: bool,
}

/// The side that ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Us,
    Them,
}

impl MemberState {
    fn new(vu: &Vu) -> MemberState {
        let number = vu.shard.common.delivery.next_member();
        MemberState { number, ..MemberState::default() }
    }

    /// Leaves the rooms that `ends` says.
    fn leave(&mut self, at: At, interrupted: bool, batch: &mut Batch, ends: impl Fn(&Membership) -> bool) {
        for over in self.joined.extract_if(.., |membership| ends(membership)) {
            let left = Left { member: self.number, room: over.room.id, at, interrupted };
            batch.left.push(left);
            batch.gone.push(Left { interrupted: false, ..left });
            if interrupted {
                self.interrupted.push(over.room);
            }
        }
    }

    /// Leaves the rooms that `ends` says, and listens on.
    fn drain(&mut self, at: At, batch: &mut Batch, ends: impl Fn(&Membership) -> bool) {
        for over in self.joined.extract_if(.., |membership| ends(membership)) {
            batch.left.push(Left { member: self.number, room: over.room.id, at, interrupted: false });
            self.leaving.push(over.room);
        }
    }

    /// Nothing more comes of the rooms it was listening to.
    fn go(&mut self, at: At, batch: &mut Batch) {
        for room in self.leaving.drain(..) {
            batch.gone.push(Left { member: self.number, room: room.id, at, interrupted: false });
        }
    }

    /// It will not come back to the rooms it was torn from that `ends` says.
    fn give_up(&mut self, at: At, batch: &mut Batch, ends: impl Fn(&Room) -> bool) {
        for room in self.interrupted.extract_if(.., |room| ends(room)) {
            batch.left.push(Left { member: self.number, room: room.id, at, interrupted: false });
        }
    }
}

/// Does something with the user as a member, which it becomes by this.
fn with_member<T>(vu: &Vu, what: impl FnOnce(&mut MemberState, &mut Batch) -> T) -> T {
    let state = vu.module_state::<DeliveryState>();
    let mut member = state.member.borrow_mut();
    let member = member.get_or_insert_with(|| Box::new(MemberState::new(vu)));
    what(member, vu.shard.recorder.borrow_mut().ledger())
}

/// From now on the user is owed what is sent to the room; again is no change.
pub(super) fn join(vu: &Vu, name: &str, manner: Manner) {
    let room = vu.shard.common.delivery.rooms.named(name);
    let at = vu.now();
    with_member(vu, |member, batch| {
        if member.joined.iter().any(|joined| joined.room.id == room.id) {
            return;
        }
        member.interrupted.retain(|interrupted| interrupted.id != room.id);
        batch.joined.push(Joined { member: member.number, room: room.id, at, resumes: manner.resumes });
        member.joined.push(Membership { room, polls: manner.polls });
    });
}

/// From now on the user is owed nothing more of the room. A user that `drains` goes on listening: it is owed all that
/// was sent until now, and copies of later messages are ignored while its connection lasts.
pub(super) fn leave(vu: &Vu, name: &str, drains: bool) {
    let room = vu.shard.common.delivery.rooms.named(name);
    let at = vu.now();
    with_member(vu, |member, batch| {
        if drains {
            return member.drain(at, batch, |membership| membership.room.id == room.id);
        }
        member.leave(at, false, batch, |membership| membership.room.id == room.id);
        member.give_up(at, batch, |interrupted| interrupted.id == room.id);
    });
}

/// A stamp for the room's next message.
pub(super) fn draw(vu: &Vu, name: &str) -> Stamp {
    let delivery = &vu.shard.common.delivery;
    let room = delivery.rooms.named(name);
    let now = vu.now();
    with_member(vu, |member, _| {
        let number = room.draw_number();
        let stamp = Stamp { run: delivery.tag, room: room.id, sender: member.number, number };
        if member.drawn.len() == DRAWN_MAX {
            member.drawn.pop_front();
        }
        member.drawn.push_back((stamp, now));
        stamp
    })
}

/// The user received this: every module that receives messages says so as soon as their bytes are here.
#[inline]
pub(super) fn arrived(vu: &Vu, payload: &[u8]) {
    if vu.shard.tracks.get() {
        search(vu, payload);
    }
}

fn search(vu: &Vu, payload: &[u8]) {
    // A user that receives no stamp need not become a member.
    if stamp::find(payload).next().is_some() {
        let at = vu.now();
        with_member(vu, |member, batch| {
            track(payload, at, member.number, vu.shard.common.delivery.tag, batch);
        });
    }
}

/// The user has sent this, and nothing will be an answer to it: every module that sends messages says so.
#[inline]
pub(super) fn sent(vu: &Vu, payload: &[u8]) {
    if vu.shard.tracks.get() {
        let (now, settle_ns) = (vu.now(), vu.shard.common.options.sonagi.delivery.settle_ns);
        for stamp in leaving(vu, payload, now, Some(true)) {
            with_member(vu, |member, _| member.unanswered.note(stamp, now, settle_ns));
        }
    }
}

/// The user is about to send this, and [`answered`] will tell what came of it: the stamps in it.
pub(super) fn asked(vu: &Vu, payload: &[u8]) -> Vec<Stamp> {
    if vu.shard.tracks.get() { leaving(vu, payload, vu.now(), None) } else { Vec::new() }
}

/// The target took the message of [`asked`], or did not.
pub(super) fn answered(vu: &Vu, stamps: &[Stamp], acked: bool) {
    let mut recorder = vu.shard.recorder.borrow_mut();
    let settled = stamps.iter().map(|stamp| Settled { room: stamp.room, number: stamp.number, acked });
    recorder.ledger().settled.extend(settled);
}

/// The answer to a GET request: users that poll find their messages in it.
pub(super) fn polled(vu: &Vu, body: &[u8]) {
    let polls = |member: &MemberState| member.joined.iter().any(|membership| membership.polls);
    if vu.shard.tracks.get()
        && vu.module_state::<DeliveryState>().member.borrow().as_deref().is_some_and(polls)
    {
        search(vu, body);
    }
}

/// Writes down the user's own stamps that leave for the first time.
fn leaving(vu: &Vu, payload: &[u8], now: At, acked: Option<bool>) -> Vec<Stamp> {
    let mut found = Vec::new();
    let Some(state) = vu.known_module_state::<DeliveryState>() else { return found };
    let mut member = state.member.borrow_mut();
    let Some(member) = member.as_deref_mut().filter(|member| !member.drawn.is_empty()) else { return found };
    for stamp in stamp::find(payload) {
        let is_it = |(drawn, _): &(Stamp, At)| {
            (drawn.run, drawn.room, drawn.number) == (stamp.run, stamp.room, stamp.number)
        };
        let Some((stamp, planned)) =
            member.drawn.iter().position(is_it).and_then(|at| member.drawn.remove(at))
        else {
            continue;
        };
        let Stamp { room, number, .. } = stamp;
        let sent = Sent { room, number, sender: member.number, planned, started: now, acked };
        vu.shard.recorder.borrow_mut().ledger().sent.push(sent);
        found.push(stamp);
    }
    found
}

/// The iteration is over. The member departs with it, unless a connection goes on.
pub(super) fn end_iteration(vu: &Vu) {
    if vu.known_module_state::<DeliveryState>().is_some_and(|state| state.connections.get() == 0) {
        end(vu);
    }
}

/// From now on the user is owed nothing more; what is under way may still come.
pub(crate) fn part(vu: &Vu) {
    let Some(state) = vu.known_module_state::<DeliveryState>() else { return };
    if let Some(member) = state.member.borrow_mut().as_deref_mut() {
        member.drain(vu.now(), vu.shard.recorder.borrow_mut().ledger(), |_| true);
    }
}

/// Nothing will be heard of this member any more.
pub(crate) fn end(vu: &Vu) {
    let Some(state) = vu.known_module_state::<DeliveryState>() else { return };
    if let Some(mut member) = state.member.take() {
        let (at, mut recorder) = (vu.now(), vu.shard.recorder.borrow_mut());
        let batch = recorder.ledger();
        member.leave(at, false, batch, |_| true);
        member.give_up(at, batch, |_| true);
        member.go(at, batch);
        batch.departed.push(Departed { member: member.number, at });
    }
}

/// A real-time connection of a user. Its holder says when it is open and when it is not. The user's memberships end
/// with its last one.
#[derive(Debug, Default)]
pub(super) struct Connection(Cell<bool>);

impl Connection {
    /// Whether it is open.
    pub(super) fn is_open(&self) -> bool {
        self.0.get()
    }

    /// It is open.
    pub(super) fn opened(&self, vu: &Vu) {
        if !self.0.replace(true) {
            let state = vu.module_state::<DeliveryState>();
            state.connections.set(state.connections.get() + 1);
            vu.shard.connected.set(vu.shard.connected.get() + 1);
            vu.shard.recorder.borrow_mut().add(Counter::ConnectionsOpened, 1);
        }
    }

    /// It is over, or about to be: what is sent from now on does not come by it. Again is no change.
    pub(super) fn closed(&self, vu: &Vu, by: By) {
        if !self.0.replace(false) {
            return;
        }
        let state = vu.module_state::<DeliveryState>();
        state.connections.set(state.connections.get() - 1);
        vu.shard.connected.set(vu.shard.connected.get() - 1);
        let mut recorder = vu.shard.recorder.borrow_mut();
        recorder.add(Counter::ConnectionsClosed, 1);
        if by == By::Them {
            recorder.add(Counter::ConnectionsLost, 1);
        }
        if let Some(member) =
            state.member.borrow_mut().as_deref_mut().filter(|_| state.connections.get() == 0)
        {
            let at = vu.now();
            member.leave(at, by == By::Them, recorder.ledger(), |membership| !membership.polls);
            member.go(at, recorder.ledger());
        }
    }
}

/// The user cut a connection off without waiting for the peer's goodbye: what it said last may never have been read.
pub(super) fn doubt(vu: &Vu) {
    let Some(state) = vu.known_module_state::<DeliveryState>() else { return };
    if let Some(member) = state.member.borrow_mut().as_deref_mut() {
        let settle_ns = vu.shard.common.options.sonagi.delivery.settle_ns;
        member.unanswered.doubt(vu.now(), settle_ns, vu.shard.recorder.borrow_mut().ledger());
    }
}
