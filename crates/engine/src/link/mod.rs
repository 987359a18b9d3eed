//! Long-lived connections of virtual users: frames out, messages in.
//!
//! A link keeps no read buffer: all links of a shard read into one [`Env::scratch`], and what arrives whole is handed over
//! from there without a copy. So an idle link costs its socket and a few hundred bytes.
//!
//! The decision to question is the callback of [`Connection::poll_drive`] in place of a stream of messages: a stream would
//! have to own every message, and at hundreds of thousands a second that allocation is the cost that shows.

mod channel;
mod handshake;
mod socketio;
mod websocket;

pub use handshake::ConnectRequest;
pub use socketio::{SocketioLink, SocketioRequest};
pub use websocket::WebsocketLink;

use std::cell::Cell;
use std::task::{Context, Poll};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;

use crate::net::Failed;

pub use crate::net::SCRATCH;

/// The present, as a drive sees it: the clock is read when somebody asks, and again after each read of a socket. Messages
/// of one read have one instant: they had all arrived by then, and reading the clock for each would be a good part of what
/// a message costs.
pub struct Present<'a> {
    clock: &'a dyn Fn() -> At,
    at: Cell<Option<At>>,
}

impl<'a> Present<'a> {
    /// Of this clock.
    pub fn new(clock: &'a dyn Fn() -> At) -> Present<'a> {
        Present { clock, at: Cell::new(None) }
    }

    /// The same instant until something is read: the first one asked for since the last read of this drive.
    #[inline]
    pub fn now(&self) -> At {
        self.at.get().unwrap_or_else(|| {
            let now = (self.clock)();
            self.at.set(Some(now));
            now
        })
    }

    /// Something was read: it is later now.
    #[inline]
    pub(crate) fn pass(&self) {
        self.at.set(None);
    }
}

/// What a link borrows from its shard while it works.
pub struct Env<'a> {
    /// The present.
    pub present: &'a Present<'a>,
    /// Read into by every link of the shard; [`SCRATCH`] bytes, never empty.
    pub scratch: &'a mut [u8],
}

/// One message, borrowed for the duration of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A WebSocket text message.
    Text(&'a str),
    /// A WebSocket binary message.
    Binary(&'a [u8]),
    /// A Socket.IO event.
    Event {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The JSON array of name and arguments.
        data: &'a str,
        /// What the placeholders in `data` stand for.
        attachments: &'a [Vec<u8>],
        /// To be acknowledged under this id.
        ack: Option<u64>,
    },
    /// The acknowledgement of one of our events.
    Ack {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The id we gave.
        id: u64,
        /// The JSON array of arguments.
        data: &'a str,
        /// What the placeholders in `data` stand for.
        attachments: &'a [Vec<u8>],
    },
    /// The server let us into a namespace.
    Connected {
        /// The namespace, `/` the default.
        namespace: &'a str,
    },
    /// The server kept us out of a namespace.
    Refused {
        /// The namespace, `/` the default.
        namespace: &'a str,
        /// The JSON that says why.
        data: &'a str,
    },
    /// The server put us out of a namespace.
    Disconnected {
        /// The namespace, `/` the default.
        namespace: &'a str,
    },
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// None: it was closed by us, in order.
    pub failure: Option<Failure>,
    /// What happened, for the first example of its class.
    pub detail: String,
}

impl Ended {
    pub(crate) fn by_us() -> Ended {
        Ended { failure: None, detail: String::new() }
    }

    pub(crate) fn failed(failure: Failure, detail: impl Into<String>) -> Ended {
        Failed::new(failure, detail).into()
    }
}

impl From<Failed> for Ended {
    fn from(failed: Failed) -> Ended {
        Ended { failure: Some(failed.failure), detail: failed.detail }
    }
}

/// A user's real-time connection: a closed set, other protocols join it.
pub enum Connection {
    /// A raw WebSocket.
    Websocket(WebsocketLink),
    /// A Socket.IO session.
    Socketio(SocketioLink),
}

macro_rules! each {
    ($connection:expr, $link:ident => $call:expr) => {
        match $connection {
            Connection::Websocket($link) => $call,
            Connection::Socketio($link) => $call,
        }
    };
}

impl Connection {
    /// Moves bytes both ways until the socket would block and calls `on` for each message, in order. A bounded amount of
    /// work: what is left over wakes the task again. `Ready`: the connection has ended; later calls say the same.
    pub fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        each!(self, link => link.poll_drive(cx, env, on))
    }

    /// Whether something was sent that the kernel has not taken yet.
    pub fn has_unsent(&self) -> bool {
        each!(self, link => link.has_unsent())
    }

    /// When the peer counts as dead unless heard from: driven at that instant or later, the connection ends with
    /// `Timeout`. None: never.
    pub fn expires(&self) -> Option<At> {
        match self {
            Connection::Websocket(_) => None,
            Connection::Socketio(link) => link.expires(),
        }
    }

    /// Bytes sent and received since the last call, the opening handshake included. Inside TLS.
    pub fn take_bytes(&mut self) -> (u64, u64) {
        each!(self, link => link.take_bytes())
    }

    /// Starts the closing handshake: drive on until the connection has ended, for as long as patience lasts.
    pub fn begin_close(&mut self) {
        each!(self, link => link.begin_close());
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
