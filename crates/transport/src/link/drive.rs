//! What a link is to the one who drives it, and one drive of it: what it borrows from its shard, what it hands over,
//! how it may end, and how much it does at most.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;
use sonagi_wire::websocket::Event;

use crate::net::{Failed, SCRATCH};

/// Reads in one drive before the shard looks after its timers and its other links.
pub(super) const MAX_READS: usize = 64;

/// Bytes after which a drive reads no more. A peer that never stops sending delays the others by a millisecond or two;
/// checking on them costs a hundredth of handling this many bytes.
pub(super) const MAX_BYTES: usize = 4 * SCRATCH;

/// Frames after which a drive reads no more: small frames cost more than their bytes, and empty ones bring no message
/// that could be counted.
pub(super) const MAX_FRAMES: usize = 4096;

/// Ends a drive that left work over: the task is polled again once the runtime has looked at its sockets and timers. A
/// task that just wakes itself would be polled dozens of times before that.
pub(super) fn give_way(cx: &mut Context<'_>) {
    let _ = std::pin::pin!(tokio::task::yield_now()).poll(cx);
}

/// One timestamp per socket read, cached until the next. All messages of one read had arrived by then, and reading the
/// clock for each would be a good part of a message's cost.
pub struct Present<'a> {
    clock: &'a dyn Fn() -> At,
    at: Cell<Option<At>>,
}

impl<'a> Present<'a> {
    /// The present by this clock, in ns from the run's start.
    pub fn new(clock: &'a dyn Fn() -> At) -> Present<'a> {
        Present { clock, at: Cell::new(None) }
    }

    /// The timestamp of the last read: taken at the first call after it.
    #[inline]
    pub fn now(&self) -> At {
        self.at.get().unwrap_or_else(|| {
            let now = (self.clock)();
            self.at.set(Some(now));
            now
        })
    }

    /// Forgets the timestamp, after a socket read.
    #[inline]
    pub(crate) fn pass(&self) {
        self.at.set(None);
    }
}

/// A user's real-time connection, whatever it speaks.
///
/// A transport is a file beside this one that implements it. Steps that need their own link find it by [`link_as`](dyn
/// Link::link_as).
pub trait Link: Any {
    /// Moves bytes both ways until the socket would block and calls `on` for each message, in order. A bounded amount
    /// of work: what is left over wakes the task again. `Ready`: the connection has ended; later calls say the same.
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended>;

    /// Whether something was sent that the kernel has not taken yet.
    fn has_unsent(&self) -> bool;

    /// What its messages are counted as, beside `messages.received`.
    fn received(&self) -> Counter;

    /// Bytes sent and received since the last call, the opening handshake included. Inside TLS.
    fn take_bytes(&mut self) -> (u64, u64);

    /// Starts the closing handshake: drive on until the connection has ended, or the caller's limit has passed.
    fn begin_close(&mut self);

    /// The instant at which it must be driven even if nothing arrives. Unless heard from, the peer counts as dead then,
    /// and the connection ends with `Timeout`; or the link has something to send. None: never.
    fn expires(&self) -> Option<At> {
        None
    }

    /// Whether its protocol says where it is: then a connection that takes up this one's place goes on by nothing else.
    fn has_cursor(&self) -> bool {
        false
    }

    /// The position for a connection that replaces this one, in its protocol's terms. None: nothing has come yet, or
    /// the protocol has no position and the script sends its own (`$cursor`).
    fn cursor(&self) -> Option<&str> {
        None
    }

    /// The server's wish for the wait before the client connects again.
    fn retry(&self) -> Option<Duration> {
        None
    }
}

impl dyn Link {
    /// The link itself, if it is of this transport.
    pub fn link_as<L: Link>(&mut self) -> Option<&mut L> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// The shard's parts that a link borrows while it works.
pub struct Env<'a> {
    /// The present.
    pub present: &'a Present<'a>,
    /// The read buffer of every link of the shard; [`SCRATCH`] bytes, never empty.
    pub scratch: &'a mut [u8],
}

/// A message, borrowed for the duration of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// What a raw WebSocket read: a message, a ping (it is answered), a pong, or the peer's close frame.
    Websocket(Event<'a>),
    /// A Socket.IO event.
    Event {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The JSON array of name and arguments.
        data: &'a str,
        /// The values for the placeholders in `data`.
        attachments: &'a [Vec<u8>],
        /// The id to acknowledge it under.
        ack: Option<u64>,
    },
    /// The acknowledgement of one of our events.
    Ack {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The id of our event.
        id: u64,
        /// The JSON array of arguments.
        data: &'a str,
        /// The values for the placeholders in `data`.
        attachments: &'a [Vec<u8>],
    },
    /// The server accepted us into a namespace.
    Connected {
        /// The namespace, `/` the default.
        namespace: &'a str,
    },
    /// The server refused us a namespace.
    Refused {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The JSON with the reason.
        data: &'a str,
    },
    /// The server removed us from a namespace.
    Disconnected {
        /// The namespace, `/` the default.
        namespace: &'a str,
    },
    /// A message that is text, of a transport that says what it is about or has nothing to say of that ("").
    Message {
        /// What `expect` steps know it by: an event stream's event type, a broker's destination.
        topic: &'a str,
        /// The message.
        text: &'a str,
    },
    /// A poll was answered; its messages follow.
    Polled {
        /// When it was planned.
        planned: At,
        /// When it was sent.
        started: At,
        /// When its answer was complete.
        ended: At,
        /// The answer's status.
        status: u16,
        /// Whether the answer reports that there is nothing new.
        is_empty: bool,
        /// Whether it is the poll that subscribed: its step records it.
        is_first: bool,
        /// Connections that had to be opened for it, beyond the link's first.
        opened: u64,
    },
    /// A poll failed; the link goes on unless it reports its end.
    PollFailed {
        /// When it was planned.
        planned: At,
        /// When it was sent.
        started: At,
        /// When it was given up: at its limit, when that passed.
        ended: At,
        /// The class.
        failure: Failure,
        /// What happened.
        detail: &'a str,
        /// Connections that had to be opened for it, beyond the link's first.
        opened: u64,
    },
    /// A poll or post of an Engine.IO session was refused: the session ends.
    PollRefused {
        /// The answer's status.
        status: u16,
    },
    /// The peer confirms what we asked it to confirm.
    Receipt {
        /// The id of our request for it.
        id: &'a str,
    },
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// None: we closed it, in order.
    pub failure: Option<Failure>,
    /// What happened, for the first example of its class.
    pub detail: String,
    /// The peer's ordinary goodbye: a close code of 1000 or none. Only an operation that
    /// needs the connection minds.
    pub is_goodbye: bool,
    /// Whether the link has reported this failure already, as that of its last poll.
    pub is_told: bool,
}

impl Ended {
    pub(crate) fn by_us() -> Ended {
        Ended { failure: None, detail: String::new(), is_goodbye: true, is_told: false }
    }

    pub(crate) fn goodbye(failure: Failure, detail: impl Into<String>) -> Ended {
        Ended { is_goodbye: true, ..Ended::failed(failure, detail) }
    }

    /// The end of a failed connection.
    pub fn failed(failure: Failure, detail: impl Into<String>) -> Ended {
        Failed::new(failure, detail).into()
    }
}

impl From<Failed> for Ended {
    fn from(failed: Failed) -> Ended {
        let is_goodbye = matches!(failed.failure, Failure::Closed(1000 | 1005));
        Ended { failure: Some(failed.failure), detail: failed.detail, is_goodbye, is_told: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_read_have_one_instant_and_the_next_read_has_its_own() {
        let readings = Cell::new(0);
        let clock = || {
            readings.set(readings.get() + 1);
            At(readings.get())
        };
        let present = Present::new(&clock);
        assert_eq!([present.now(), present.now()], [At(1), At(1)]);
        present.pass();
        assert_eq!([present.now(), present.now()], [At(2), At(2)]);
    }
}
