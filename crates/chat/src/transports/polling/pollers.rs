//! Pollers as members, while faults are planted: each user's polls of a group empty one queue.
//!
//! A fault happens to a copy on its way to a receiver, so a receiver needs to be there when the message is published. A
//! poller with an account is one from its first poll until it has not polled for a while: copies are put on its queue
//! like on anybody's, spoilt by the same plan and counted by the same counters, and its polls take them off. The cursor
//! only says which answer arrived: an answer is kept until the next poll comes with its cursor, and given again to a
//! poll that comes with the one before. With any other cursor the poller begins anew from there.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::poll::{Counted, PollAnswer, PollRequest};
use crate::connection::outbox::{Close, Outbox, Polled, Polls};
use crate::encoding::form::Form;
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::cursor::{Excerpt, Start};
use crate::rooms::peer::{Newcomer, Peer};
use crate::rooms::room::Room;
use crate::sync::lock;

/// User and room.
type Key = (u64, u64);

/// The pollers of a hub.
pub(crate) struct Pollers {
    pub(crate) hub: Arc<Hub>,
    known: Mutex<HashMap<Key, Arc<Poller>>>,
}

struct Poller {
    peer: Arc<Peer>,
    /// Milliseconds of the service's clock.
    polled: AtomicU64,
    /// The last poll's: an earlier one that still waits has lost the queue to it.
    turn: AtomicU64,
    given: Mutex<Given>,
}

/// The last answer, until it is known to have arrived.
#[derive(Default)]
struct Given {
    /// The cursor it was given for.
    before: Option<u64>,
    /// The cursor it gave.
    next: Option<u64>,
    frames: Vec<Bytes>,
    has_gap: bool,
}

impl Given {
    fn answer(&self) -> PollAnswer {
        let (next, count) = (self.next.unwrap_or(0), self.frames.len() as u64);
        let objects = self.frames.join(&b","[..]).into();
        let excerpt = Excerpt { after: next, last: next, count, objects };
        PollAnswer { excerpt, has_gap: self.has_gap, is_counted: true }
    }
}

impl Poller {
    /// True when this cursor is the last answer's, which has arrived then, or the one that was asked with before it.
    fn goes_on(&self, after: u64) -> bool {
        if !self.peer.outbox.is_open() {
            return false;
        }
        let mut given = lock(&self.given);
        if given.next == Some(after) {
            *given = Given { next: given.next, ..Given::default() };
            return true;
        }
        given.before == Some(after)
    }

    fn end(&self, why: Close, hub: &Hub) {
        self.peer.outbox.close(why);
        self.peer.leave_all(&hub.metrics);
        hub.peers.remove(&self.peer);
    }
}

impl Pollers {
    pub(crate) fn new(hub: Arc<Hub>) -> Pollers {
        Pollers { hub, known: Mutex::default() }
    }

    /// Ends those that have not polled since that time.
    pub(crate) fn sweep(&self, since: u64) {
        self.end_if(Close::Silent, |poller| poller.polled.load(Relaxed) < since);
    }

    /// Ends all; those that wait are answered.
    pub(crate) fn end(&self) {
        self.end_if(Close::Restart, |_| true);
    }

    fn end_if(&self, why: Close, ends: impl Fn(&Poller) -> bool) {
        let ended: Vec<_> = lock(&self.known).extract_if(|_, poller| ends(poller)).collect();
        ended.iter().for_each(|(_, poller)| poller.end(why, &self.hub));
    }

    fn going_on(&self, key: Key, after: u64) -> Option<Arc<Poller>> {
        lock(&self.known).get(&key).filter(|poller| poller.goes_on(after)).cloned()
    }

    /// A member of the room from there on, in place of the one that was.
    fn begin(&self, user: u64, room: &Room, start: Start) -> Result<Arc<Poller>, Problem> {
        let hub = &self.hub;
        let limits = &hub.config.limits;
        let newcomer = Newcomer { polled: true, queue_bytes: limits.queue_bytes, ..Newcomer::default() };
        let poller = {
            let mut pollers = lock(&self.known);
            let key = (user, room.number);
            if pollers.len() >= limits.connections && !pollers.contains_key(&key) {
                return Err(Problem::new(
                    503,
                    "too_many_connections",
                    "too many poll while faults are planted",
                ));
            }
            let poller = Arc::new(Poller {
                peer: hub.peers.add(newcomer, hub.now(), limits),
                polled: AtomicU64::new(hub.now()),
                turn: AtomicU64::new(0),
                given: Mutex::default(),
            });
            if let Some(before) = pollers.insert(key, poller.clone()) {
                before.end(Close::Normal, hub);
            }
            poller
        };
        poller.peer.belongs_to(user);
        poller.peer.greeted(Form::Object);
        let has_gap = Arc::<AtomicBool>::default();
        let gap = has_gap.clone();
        let joined = hub.join(&poller.peer, &room.id, Form::Object, start, move |joined| {
            gap.store(joined.gap.is_some(), Relaxed);
            None
        });
        if let Err(problem) = joined {
            poller.end(Close::Normal, hub);
            return Err(problem);
        }
        lock(&poller.given).has_gap = has_gap.load(Relaxed);
        Ok(poller)
    }
}

/// The messages on the poller's queue, now or within its hold; `None` when that has passed.
pub(crate) async fn pull(
    user: u64,
    room: &Room,
    asked: PollRequest,
    pollers: &Pollers,
) -> Result<Option<PollAnswer>, Problem> {
    let hub = &pollers.hub;
    let known = match asked.start {
        Start::After(after) => pollers.going_on((user, room.number), after),
        _ => None,
    };
    let poller = match known {
        Some(poller) => poller,
        None => pollers.begin(user, room, asked.start)?,
    };
    poller.polled.store(hub.now(), Relaxed);
    let turn = poller.turn.fetch_add(1, Relaxed) + 1;
    let outbox = &poller.peer.outbox;
    // Whoever waits there finds that it is no longer its turn.
    outbox.polls(Polls::Wait);
    let look = |cx: &mut Context<'_>| {
        if poller.turn.load(Relaxed) != turn {
            return Poll::Ready((0, Polled::Released));
        }
        // In one: every copy up to the number published has been queued, or spoilt.
        let limits = &hub.config.limits;
        room.with_published(|published| {
            let polled = outbox.poll_some(cx, limits.history_bytes, limits.history_page);
            polled.map(|polled| (reached(&polled, outbox, published), polled))
        })
    };
    let must_answer = {
        let given = lock(&poller.given);
        if !given.frames.is_empty() {
            // It did not arrive. What has come since waits for its turn on the queue, which has a bound.
            return Ok(Some(given.answer()));
        }
        asked.hold.is_none() || given.has_gap
    };
    let polled = match asked.hold {
        Some(hold) if !must_answer => {
            let _waiting = Counted::new(&hub.metrics.longpoll);
            tokio::time::timeout(hold, poll_fn(look)).await.ok()
        }
        _ => match look(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(polled) => Some(polled),
            Poll::Pending => Some((room.last_published(), Polled::Frames(Vec::new()))),
        },
    };
    Ok(match polled {
        Some((reached, Polled::Frames(frames))) => Some(give(&poller, asked.start, reached, frames)),
        Some((_, Polled::Ended)) if !hub.is_serving() => return Err(Problem::draining()),
        Some((_, Polled::Ended | Polled::Released)) | None => None,
    })
}

/// The cursor behind what was taken: all that is published, or when more waits, the last that was taken.
fn reached(polled: &Polled, outbox: &Outbox, published: u64) -> u64 {
    let Polled::Frames(frames) = polled else { return published };
    outbox.wrote(frames.iter().map(Bytes::len).sum(), frames.len());
    if outbox.waiting() == 0 {
        return published;
    }
    frames.iter().filter_map(|frame| seq_of(frame)).max().unwrap_or(published)
}

/// The number of a message, of its object.
fn seq_of(object: &[u8]) -> Option<u64> {
    let digits = object.strip_prefix(br#"{"seq":"#)?.split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The answer, kept until it is known to have arrived.
fn give(poller: &Poller, start: Start, reached: u64, frames: Vec<Bytes>) -> PollAnswer {
    let mut given = lock(&poller.given);
    if let Start::After(after) = start {
        given.before = Some(after);
    }
    // Never back: what is queued behind an answer may have been published before it.
    given.next = Some(reached.max(given.next.unwrap_or(0)));
    given.frames = frames;
    given.answer()
}
