//! The queue of one connection: frames that wait for its writer, bounded in bytes.
//!
//! Frames are whole, unmasked WebSocket frames whatever the transport; a long-polling answer strips their headers
//! (`packet_of`). So a broadcast is encoded once and an upgrade from polling to WebSocket carries the queue over.
//! Over the limit the queue closes itself as a slow consumer: nothing is ever skipped silently.
//!
//! Whoever publishes to many writes to their sockets itself, as long as nothing waits before it (`deliver`): waking the
//! task of each receiver, only for it to make the same system call, would cost half as much again.

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::net::tcp::OwnedWriteHalf;

use crate::sync::lock;

/// Why a connection is closed, as its close frame says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// The peer closed first, with this code.
    Answer(Option<u16>),
    Normal,
    /// The service is draining.
    Restart,
    /// Broke the WebSocket protocol; 1002, 1007 or 1009.
    Violation(u16),
    /// Broke the Engine.IO or Socket.IO protocol.
    BadPacket,
    /// Did not do the first thing in time.
    Silent,
    /// Did not answer a ping.
    Dead,
    /// Its queue went over the limit.
    Slow,
}

impl Close {
    /// The close frame's code and reason; `None` for an empty close frame.
    pub(crate) fn frame(self) -> Option<(u16, &'static str)> {
        Some(match self {
            Close::Answer(None) => return None,
            Close::Answer(Some(code)) => (code, ""),
            Close::Normal => (1000, ""),
            Close::Restart => (1012, "service restart"),
            Close::Violation(code) => (code, ""),
            Close::BadPacket => (1002, "bad packet"),
            Close::Silent => (4003, "nothing sent in time"),
            Close::Dead => (4004, "ping unanswered"),
            Close::Slow => (4008, "slow consumer"),
        })
    }
}

/// The last frames of a connection, and its way of closing after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Farewell {
    pub(crate) frame: Bytes,
    pub(crate) close: Close,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Queued,
    /// The limit was passed by this frame: the connection is closing and its queue is discarded.
    Overflow,
    /// The connection was closing already.
    Gone,
}

/// The writer's view of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Open,
    Closing(Close),
    /// Drop the socket now.
    HungUp,
}

/// The queue's state for polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polls {
    /// They wait for frames.
    Wait,
    /// An upgrade is under way: they are answered at once, though nothing waits.
    Hurry,
    /// A WebSocket carries the queue: nothing is theirs any more.
    Over,
}

/// The answer to a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    Frames(Vec<Bytes>),
    /// Nothing: the poll is released.
    Released,
    /// The connection is at its end.
    Ended,
}

/// The bytes counted for a queued frame beside its own: empty frames would wait for free otherwise.
const OVERHEAD: usize = 64;

pub(crate) fn cost(bytes: usize) -> usize {
    bytes + OVERHEAD
}

pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// The cost of what is queued or taken by the writer but not yet written.
    waiting: AtomicUsize,
    limit: usize,
}

struct Queue {
    frames: VecDeque<Bytes>,
    waker: Option<Waker>,
    /// A poll's: while a transport changes, a poll and the new writer wait side by side.
    poll: Option<Waker>,
    /// False while the writer waits for its socket: new frames then need not wake it.
    wants_frames: bool,
    polls: Polls,
    standing: Standing,
    /// The WebSocket that carries this queue, once it does.
    socket: Option<OwnedWriteHalf>,
    /// The first of `frames` is the rest of a piece the socket took a part of.
    begun: bool,
}

impl Outbox {
    pub(crate) fn new(limit: usize) -> Outbox {
        let queue = Queue {
            frames: VecDeque::new(),
            waker: None,
            poll: None,
            wants_frames: false,
            polls: Polls::Wait,
            standing: Standing::Open,
            socket: None,
            begun: false,
        };
        Outbox { queue: Mutex::new(queue), waiting: AtomicUsize::new(0), limit }
    }

    pub(crate) fn push(&self, frame: Bytes) -> Pushed {
        self.push_if(frame, || true)
    }

    /// Queues the frame unless, asked under the queue's lock, it is not wanted: then as if the connection were gone.
    pub(crate) fn push_if(&self, frame: Bytes, wanted: impl FnOnce() -> bool) -> Pushed {
        let queue = lock(&self.queue);
        if !wanted() {
            return Pushed::Gone;
        }
        self.enqueue(queue, frame)
    }

    /// Writes the piece (one or more whole frames) to the socket if nothing waits before it, and queues what the socket
    /// does not take. Also returns the bytes written. Not for a session that may be polled and a piece of several
    /// frames: a poll takes frames apart by their headers. The queue's lock is held for that one system call.
    pub(crate) fn deliver(&self, piece: &Bytes) -> (Pushed, usize) {
        self.deliver_if(piece, || true)
    }

    /// The same, unless, asked under the queue's lock, it is not wanted.
    pub(crate) fn deliver_if(&self, piece: &Bytes, wanted: impl FnOnce() -> bool) -> (Pushed, usize) {
        let mut queue = lock(&self.queue);
        if queue.standing != Standing::Open || !wanted() {
            return (Pushed::Gone, 0);
        }
        // Nothing queued, and nothing taken by the writer that it has not written: it says so after the system call.
        let written = match &queue.socket {
            // Full, or broken, which its reader will find.
            Some(socket) if self.waiting.load(Acquire) == 0 => socket.try_write(piece).unwrap_or(0),
            _ => 0,
        };
        if written == piece.len() {
            return (Pushed::Queued, written);
        }
        queue.begun |= written > 0;
        (self.enqueue(queue, piece.slice(written..)), written)
    }

    fn enqueue(&self, mut queue: MutexGuard<'_, Queue>, frame: Bytes) -> Pushed {
        let (wakers, pushed) = {
            if queue.standing != Standing::Open {
                return Pushed::Gone;
            }
            let waiting = self.waiting.fetch_add(cost(frame.len()), Relaxed) + cost(frame.len());
            if waiting > self.limit {
                queue.standing = Standing::Closing(Close::Slow);
                // A frame of which a part is out must be finished, or what follows it could not be read.
                let rest = queue.begun.then(|| queue.frames.pop_front().unwrap_or(frame));
                queue.frames = rest.into_iter().collect();
                (queue.all_wakers(), Pushed::Overflow)
            } else {
                queue.frames.push_back(frame);
                let waker = if queue.wants_frames { queue.waker.take() } else { None };
                ([waker, queue.poll.take()], Pushed::Queued)
            }
        };
        drop(queue);
        wake(wakers);
        pushed
    }

    /// Puts frames that another queue did not get out before those of this one.
    pub(crate) fn put_first(&self, frames: VecDeque<Bytes>) {
        self.brings(frames.iter());
        let mut queue = lock(&self.queue);
        frames.into_iter().rev().for_each(|frame| queue.frames.push_front(frame));
    }

    /// The writer of this queue brings with it what it took from another and has not written.
    pub(crate) fn brings<'a>(&self, frames: impl Iterator<Item = &'a Bytes>) {
        self.waiting.fetch_add(frames.map(|frame| cost(frame.len())).sum(), Relaxed);
    }

    /// Blocks all others, for a test.
    #[cfg(test)]
    pub(crate) fn held(&self) -> impl Drop + '_ {
        lock(&self.queue)
    }

    /// From now on the writer of this socket is the only one who takes from the queue.
    pub(crate) fn attach(&self, socket: OwnedWriteHalf) {
        lock(&self.queue).socket = Some(socket);
    }

    /// The connection is over; the socket must not be held open by who still knows the peer.
    pub(crate) fn detach(&self) {
        let socket = lock(&self.queue).socket.take();
        drop(socket);
    }

    /// Frames queued so far still go out, nothing further. The first reason stands; true when this was it.
    pub(crate) fn close(&self, why: Close) -> bool {
        self.change(|standing| match standing {
            Standing::Open => Some(Standing::Closing(why)),
            Standing::Closing(_) | Standing::HungUp => None,
        })
    }

    pub(crate) fn hang_up(&self) {
        self.change(|_| Some(Standing::HungUp));
    }

    fn change(&self, next: impl FnOnce(Standing) -> Option<Standing>) -> bool {
        let wakers = {
            let mut queue = lock(&self.queue);
            let Some(standing) = next(queue.standing) else { return false };
            queue.standing = standing;
            queue.all_wakers()
        };
        wake(wakers);
        true
    }

    pub(crate) fn standing(&self) -> Standing {
        lock(&self.queue).standing
    }

    pub(crate) fn is_open(&self) -> bool {
        self.standing() == Standing::Open
    }

    /// Moves all queued frames into the empty `into`.
    pub(crate) fn take(&self, into: &mut VecDeque<Bytes>) -> Standing {
        debug_assert!(into.is_empty());
        let mut queue = lock(&self.queue);
        std::mem::swap(&mut queue.frames, into);
        queue.begun = false;
        queue.standing
    }

    /// Changes what polls find; the one that waits finds it at once.
    pub(crate) fn polls(&self, polls: Polls) {
        let poll = {
            let mut queue = lock(&self.queue);
            queue.polls = polls;
            queue.poll.take()
        };
        wake([poll, None]);
    }

    /// The frames of one polling answer: as many as fit `budget` bytes, at least one if there is one. Otherwise the
    /// poll's task is woken when there is one.
    pub(crate) fn poll(&self, cx: &mut Context<'_>, budget: usize) -> Poll<Polled> {
        self.poll_some(cx, budget, usize::MAX)
    }

    /// The same, and at most so many.
    pub(crate) fn poll_some(&self, cx: &mut Context<'_>, budget: usize, most: usize) -> Poll<Polled> {
        let mut queue = lock(&self.queue);
        // Asked under the queue's lock: after an upgrade no frame may leave by a poll.
        if queue.polls == Polls::Over {
            return Poll::Ready(Polled::Released);
        }
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some(frame) = queue.frames.front() {
            bytes += frame.len();
            if !taken.is_empty() && (bytes > budget || taken.len() >= most) {
                break;
            }
            taken.extend(queue.frames.pop_front());
        }
        Poll::Ready(match queue.standing {
            _ if !taken.is_empty() => Polled::Frames(taken),
            Standing::Open if queue.polls == Polls::Wait => {
                queue.poll = Some(cx.waker().clone());
                return Poll::Pending;
            }
            // An upgrade under way, or the client's own close, release the poll.
            Standing::Open | Standing::Closing(Close::Answer(_)) => Polled::Released,
            Standing::Closing(_) | Standing::HungUp => Polled::Ended,
        })
    }

    /// Asks for a wake of the writer by a change of the standing from `known` and, if `wants_frames`, by a frame. False
    /// when there is one already.
    pub(crate) fn sleep(&self, cx: &mut Context<'_>, known: Standing, wants_frames: bool) -> bool {
        let mut queue = lock(&self.queue);
        if queue.standing != known || (wants_frames && !queue.frames.is_empty()) {
            return false;
        }
        queue.wants_frames = wants_frames;
        match &mut queue.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        true
    }

    /// `bytes` of the frames taken have reached the socket, and with them the end of so many `frames`.
    pub(crate) fn wrote(&self, bytes: usize, frames: usize) {
        let cost = bytes + frames * OVERHEAD;
        // Saturating: a close frame is written without having been queued.
        let _ = self.waiting.fetch_update(Release, Relaxed, |waiting| Some(waiting.saturating_sub(cost)));
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// The limit for queued missed messages: the other half is for those that come meanwhile.
    pub(crate) fn spare(&self) -> usize {
        (self.limit / 2).saturating_sub(self.waiting())
    }
}

impl Queue {
    fn all_wakers(&mut self) -> [Option<Waker>; 2] {
        [self.waker.take(), self.poll.take()]
    }
}

/// Outside the lock: the woken may run at once on another thread.
fn wake(wakers: [Option<Waker>; 2]) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

/// Where a server frame's payload starts.
fn payload_at(frame: &[u8]) -> usize {
    match frame.get(1) {
        Some(126) => 4,
        Some(127) => 10,
        _ => 2,
    }
}

/// The Engine.IO packet inside a data frame: text, or the bytes of a binary one. `None` for control frames.
pub(crate) fn packet_of(frame: &Bytes) -> Option<(bool, Bytes)> {
    let binary = match frame.first()? & 0x0f {
        1 => false,
        2 => true,
        _ => return None,
    };
    Some((binary, frame.slice(payload_at(frame).min(frame.len())..)))
}

#[cfg(test)]
mod tests;
