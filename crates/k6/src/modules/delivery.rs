//! A user's part in the delivery ledger: the rooms it is in, the stamps it drew, the connections it hears by.
//!
//! A member of the ledger is a user for the length of one iteration, as it is one flow elsewhere: all it was owed ends
//! with the iteration, and a test that runs for days remembers nobody. Where connections outlive iterations, so does
//! the member.
//!
//! Nothing here costs anything unless a script imports `k6/x/sonagi`: [`arrived`] and [`sent`] look at one flag of the
//! shard.

use sonagi_engine::delivery::{Manner, Memberships, Unanswered, track};
use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Departed, Sent, Settled};
use sonagi_measure::recorder::Counter;
use sonagi_measure::stamp::{self, Stamp};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

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
    rooms: Memberships,
    /// Drawn and not seen to leave, with when they were drawn.
    drawn: VecDeque<(Stamp, At)>,
    unanswered: Unanswered,
}

/// The side that ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Us,
    Them,
}

impl MemberState {
    fn new(vu: &Vu) -> MemberState {
        let rooms = Memberships::new(vu.shard.common.delivery.next_member());
        MemberState { rooms, ..MemberState::default() }
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
    with_member(vu, |member, batch| member.rooms.join(room, manner, at, batch));
}

/// From now on the user is owed nothing more of the room. A user that `drains` goes on listening: it is owed all that
/// was sent until now, and copies of later messages are ignored while its connection lasts.
pub(super) fn leave(vu: &Vu, name: &str, drains: bool) {
    let room = vu.shard.common.delivery.rooms.named(name);
    let at = vu.now();
    with_member(vu, |MemberState { rooms, .. }, batch| {
        let has_left = rooms.leave(at, batch, |joined| joined.room.id == room.id, |_| false);
        if !drains {
            // Who drains already is not hurried by leaving again.
            if has_left {
                rooms.go(at, batch, |left| left.id == room.id);
            }
            rooms.give_up(at, batch, |interrupted| interrupted.id == room.id);
        }
    });
}

/// A stamp for the room's next message.
pub(super) fn draw(vu: &Vu, name: &str) -> Stamp {
    let delivery = &vu.shard.common.delivery;
    let room = delivery.rooms.named(name);
    let now = vu.now();
    with_member(vu, |member, _| {
        let number = room.draw_number();
        let stamp = Stamp { run: delivery.tag, room: room.id, sender: member.rooms.member, number };
        if member.drawn.len() == DRAWN_MAX {
            member.drawn.pop_front();
        }
        member.drawn.push_back((stamp, now));
        stamp
    })
}

/// The user received this: every module whose messages are followed says so as soon as their bytes are here.
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
            track(payload, at, member.rooms.member, vu.shard.common.delivery.tag, batch);
        });
    }
}

/// The user has sent this, and nothing will be an answer to it: every module whose messages are followed says so.
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
    let polls = |member: &MemberState| member.rooms.polls();
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
        let sent = Sent { room, number, sender: member.rooms.member, planned, started: now, acked };
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
        member.rooms.leave(vu.now(), vu.shard.recorder.borrow_mut().ledger(), |_| true, |_| false);
    }
}

/// Nothing will be heard of this member any more.
pub(crate) fn end(vu: &Vu) {
    let Some(state) = vu.known_module_state::<DeliveryState>() else { return };
    if let Some(member) = state.member.take() {
        let (at, mut recorder) = (vu.now(), vu.shard.recorder.borrow_mut());
        let (mut rooms, batch) = (member.rooms, recorder.ledger());
        rooms.leave(at, batch, |_| true, |_| false);
        rooms.give_up(at, batch, |_| true);
        rooms.go_all(at, batch);
        batch.departed.push(Departed { member: rooms.member, at });
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
            member.rooms.leave(at, recorder.ledger(), |joined| !joined.polls, |_| by == By::Them);
            member.rooms.go_all(at, recorder.ledger());
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
