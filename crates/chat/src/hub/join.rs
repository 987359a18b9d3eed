//! Joining a room, from a cursor or without one.
//!
//! What a room keeps in memory is given under its lock, in one with the membership (`Room::enter`). What lies further
//! back, or is more than the queue has space for, is read from the store by a task of its own, page by page and no
//! faster than the peer takes it, until the rest can be given so: neither the caller nor the room waits for that, and
//! the peer is no member meanwhile. Where other services publish in the same rooms, one that is not heard yet, or a
//! cursor that only they can have given, has the log's thread ask the store first: in the order of what the peer sends,
//! so that it gets its own next message. Of a peer that comes into several rooms at once one task gives at a time. The
//! answer to the join goes out first in either case.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;

use crate::connection::outbox::Close;
use crate::encoding::form::{Form, Piece};
use crate::hub::Hub;
use crate::hub::log::others::Others;
use crate::problem::Problem;
use crate::rooms::cursor::{Entered, Joined, Start};
use crate::rooms::member::Member;
use crate::rooms::peer::{NotJoined, Peer};
use crate::rooms::room::Room;
use crate::store::{PageRequest, Store};

/// How often it is looked whether the peer has taken what it was given. Long against a write, short against a page.
const LOOK: Duration = Duration::from_millis(5);

/// How often a page is asked for while too much waits to be stored, or an acknowledgement is waited for by itself: a
/// second in all.
const TRIES: usize = 200;

impl Hub {
    /// Makes the peer a member, or has it catch up to become one. `greet` makes the frame that says so, asked under the
    /// room's lock; whoever is in the room already is told so again and gets nothing twice.
    pub(crate) fn join(
        self: &Arc<Hub>,
        peer: &Arc<Peer>,
        id: &str,
        form: Form,
        start: Start,
        greet: impl FnOnce(&Joined<'_>) -> Option<Bytes> + Send + 'static,
    ) -> Result<Arc<Member>, Problem> {
        if !self.is_serving() {
            return Err(Problem::draining());
        }
        let room = self.room_for(peer.user(), id, peer.source)?;
        let member = match peer.seat(&room, form, &self.config.limits) {
            Ok(member) => member,
            Err(NotJoined::Already(member)) if member.has_entered() => {
                let joined = Joined { room: &room.id, seq: room.last_published(), gap: None };
                if let Some(frame) = greet(&joined) {
                    peer.outbox.push(frame);
                }
                return Ok(member);
            }
            Err(why) => return Err(self.not_joined(&why)),
        };
        let mut greet = once(greet);
        match room.enter(&member, start, false, &mut greet, &self.metrics) {
            Entered::Stale => {
                let (hub, entering) = (self.clone(), member.clone());
                let enter = move |store: &mut dyn Store, others: Option<&mut Others>| {
                    hub.enter_afresh(&room, &entering, start, &mut greet, store, others);
                };
                if !self.log.ask(Box::new(enter)) {
                    peer.unseat(&member, &self.metrics);
                    return Err(self.overloaded());
                }
            }
            entered => self.has_entered(&room, &member, start, entered)?,
        }
        Ok(member)
    }

    /// Enters once the store has been asked what there is. A peer for which that fails comes back, here or elsewhere.
    fn enter_afresh(
        self: &Arc<Hub>,
        room: &Arc<Room>,
        member: &Arc<Member>,
        start: Start,
        greet: &mut dyn FnMut(&Joined<'_>) -> Option<Bytes>,
        store: &mut dyn Store,
        others: Option<&mut Others>,
    ) {
        let refreshed = others.map_or(Ok(()), |others| others.refresh(room, store, self));
        if let Err(error) = &refreshed {
            self.failures.store("read", error);
        }
        // One that was begun anew elsewhere is found under its id by whoever comes back.
        let entered = (refreshed.is_ok() && self.rooms.has(room))
            .then(|| room.enter(member, start, true, greet, &self.metrics));
        let is_done = entered.is_some_and(|entered| self.has_entered(room, member, start, entered).is_ok());
        if !is_done {
            member.peer.outbox.close(Close::Restart);
        }
    }

    fn has_entered(
        self: &Arc<Hub>,
        room: &Arc<Room>,
        member: &Arc<Member>,
        start: Start,
        entered: Entered,
    ) -> Result<(), Problem> {
        match entered {
            Entered::Member if start != Start::Now => self.settle(member),
            Entered::Member => member.settle(0),
            Entered::Left | Entered::Stale => {}
            Entered::Behind { after, upto } => {
                let (hub, room, member) = (self.clone(), room.clone(), member.clone());
                self.runtime.spawn(async move { hub.catch_up(&room, &member, after, upto).await });
            }
            Entered::NotKept => {
                member.peer.unseat(member, &self.metrics);
                return Err(Problem::not_kept());
            }
        }
        Ok(())
    }

    /// All that it missed is on its queue by now, and whatever gets a higher serial comes behind it.
    fn settle(&self, member: &Member) {
        // Not 0, which would say that it missed nothing: what it was given may be older than this process.
        member.settle(self.serial.load(Relaxed).max(1));
    }

    fn not_joined(&self, why: &NotJoined) -> Problem {
        match why {
            NotJoined::Closing => Problem::draining(),
            NotJoined::Already(_) => {
                Problem::new(409, "joining", "an earlier join of this room is still reading what was missed")
            }
            NotJoined::TooManyRooms => Problem::new(
                409,
                "too_many_rooms",
                format!("a connection may be in {} rooms", self.config.limits.rooms_per_connection),
            ),
        }
    }

    /// Gives what lies behind `after` from the store until the room itself has the rest, and the queue space for it. A
    /// peer for which that fails is closed rather than left with a gap it was not told of: it comes back with its
    /// cursor.
    async fn catch_up(self: &Arc<Hub>, room: &Arc<Room>, member: &Arc<Member>, after: u64, upto: u64) {
        let (mut after, mut upto) = (after, upto);
        loop {
            // Held until the room is entered or has said no: else several rooms would find the same space.
            let Some((_turn, free)) = self.turn(member).await else { return };
            let Some(missed) = self.missed(room, member, after, upto, free).await else {
                // Others may have deleted it: who comes back is to be told.
                let _ = self.refresh(room).await;
                break;
            };
            let given = member.give(&missed, after);
            if given.copies == 0 {
                // It has left or is closing, unless this says why not.
                return member.not_sent(&self.metrics);
            }
            given.record(&self.metrics);
            self.metrics.replayed.add(given.copies);
            after += missed.count() as u64;
            let enter =
                |is_fresh| room.enter(member, Start::Exactly(after), is_fresh, &mut |_| None, &self.metrics);
            let mut entered = enter(false);
            if entered == Entered::Stale && self.refresh(room).await.is_ok() {
                entered = enter(true);
            }
            match entered {
                Entered::Member => return self.settle(member),
                Entered::Left => return,
                Entered::Behind { upto: published, .. } => upto = published,
                Entered::NotKept | Entered::Stale => break,
            }
        }
        member.peer.outbox.close(Close::Slow);
    }

    /// Waits until the peer has taken, and acknowledged, most of what it was given; `None` when it wants no more. Also
    /// says how many messages it may be given. Not in anybody's way meanwhile.
    async fn turn<'a>(&self, member: &'a Member) -> Option<(tokio::sync::MutexGuard<'a, ()>, usize)> {
        let mut looks = 0;
        loop {
            let turn = member.peer.catching_up.lock().await;
            if !member.stays() || !member.peer.outbox.is_open() {
                return None;
            }
            if member.peer.outbox.spare() >= self.page_cost() {
                let free = member.form.free(looks > TRIES);
                if free > 0 {
                    return Some((turn, free));
                }
                looks += 1;
            }
            drop(turn);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What a page may cost on a queue: half of what is for such pages, so that one can be sent while another is read.
    fn page_cost(&self) -> usize {
        self.config.limits.queue_bytes / 4
    }

    /// A page as it is written for the member; `None` when it does not begin right behind `after`.
    async fn missed(
        self: &Arc<Hub>,
        room: &Arc<Room>,
        member: &Member,
        after: u64,
        upto: u64,
        free: usize,
    ) -> Option<Piece> {
        let limits = &self.config.limits;
        let bytes = limits.history_bytes.min(self.page_cost());
        let wanted = PageRequest { after, upto, messages: limits.history_page.min(free), bytes };
        let mut tries = 0;
        let page = loop {
            match self.page(room, wanted).await {
                Ok(page) => break page,
                // A store that is away has been waited for already.
                Err(problem) if problem.code == Problem::OVERLOADED && tries < TRIES => {}
                Err(_) => return None,
            }
            tries += 1;
            tokio::time::sleep(LOOK).await;
        };
        if page.first()?.seq != after + 1 {
            return None;
        }
        let mut missed = member.written(room, &page);
        missed.cut(self.page_cost());
        Some(missed)
    }
}

/// Asked again, it has nothing more to say.
fn once<T>(
    greet: impl FnOnce(&Joined<'_>) -> Option<T> + Send,
) -> impl FnMut(&Joined<'_>) -> Option<T> + Send {
    let mut greet = Some(greet);
    move |joined| greet.take().and_then(|greet| greet(joined))
}
