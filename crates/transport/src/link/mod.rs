//! Long-lived connections of virtual users: frames out, messages in.
//!
//! A link keeps no read buffer: all links of a shard read into one [`Env::scratch`], and a message that arrives whole
//! is handed over from there without a copy. So an idle link costs its socket and a few hundred bytes.
//!
//! The decision to question is the callback of [`Connection::poll_drive`] in place of a stream of messages: a stream
//! would have to own every message, and at hundreds of thousands a second that allocation is the cost that shows.

mod channel;
mod drive;
mod handshake;
mod opened;
mod poll;
mod socketio;
mod sse;
mod stomp;
mod stream;
mod websocket;

pub use drive::{Ended, Env, Incoming, Present};
pub use handshake::ConnectRequest;
pub use opened::{HandshakeAnswer, NotOpened};
pub use poll::{PollCursor, PollField, PollLink, PollRequest, Rhythm, is_truthy};
pub use socketio::{Recovery, SocketioLink, SocketioRequest, SocketioRevision, SocketioTransport};
pub use sonagi_wire::sse::Item as SseItem;
pub use sonagi_wire::websocket::Event as WebsocketEvent;
pub use sse::{SseLink, SseRequest};
pub use stomp::{StompAck, StompBody, StompLink, StompRequest, StompVersion};
pub use stream::StreamLink;
pub use websocket::WebsocketLink;

use std::borrow::Cow;
use std::task::{Context, Poll};
use std::time::Duration;

use sonagi_measure::At;
use sonagi_measure::recorder::Counter;

pub use crate::net::SCRATCH;

/// A user's real-time connection: a closed set of protocols.
pub enum Connection {
    /// A raw WebSocket.
    Websocket(WebsocketLink),
    /// A Socket.IO session.
    Socketio(SocketioLink),
    /// An event stream.
    Sse(SseLink),
    /// Polls.
    Poll(PollLink),
    /// A STOMP session.
    Stomp(StompLink),
}

macro_rules! each {
    ($connection:expr, $link:ident => $call:expr) => {
        match $connection {
            Connection::Websocket($link) => $call,
            Connection::Socketio($link) => $call,
            Connection::Sse($link) => $call,
            Connection::Poll($link) => $call,
            Connection::Stomp($link) => $call,
        }
    };
}

impl Connection {
    /// Moves bytes both ways until the socket would block and calls `on` for each message, in order. A bounded amount
    /// of work: what is left over wakes the task again. `Ready`: the connection has ended; later calls say the same.
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

    /// The instant at which it must be driven even if nothing arrives. Unless heard from, the peer counts as dead then,
    /// and the connection ends with `Timeout`; or the link has something to send. None: never.
    pub fn expires(&self) -> Option<At> {
        match self {
            Connection::Websocket(_) | Connection::Sse(_) => None,
            Connection::Socketio(link) => link.expires(),
            Connection::Stomp(link) => link.expires(),
            Connection::Poll(link) => Some(link.expires()),
        }
    }

    /// The position for a connection that replaces this one, in its protocol's terms. None: nothing has come yet, or
    /// the protocol has no position and the script sends its own (`$cursor`).
    pub fn cursor(&self) -> Option<Cow<'_, str>> {
        match self {
            Connection::Websocket(_) | Connection::Socketio(_) | Connection::Stomp(_) => None,
            Connection::Sse(link) => link.cursor().map(Cow::Borrowed),
            Connection::Poll(link) => link.cursor().map(Cow::Borrowed),
        }
    }

    /// The Socket.IO sessions that a connection after this one may recover; empty when there are none.
    pub fn recoveries(&self) -> &[Recovery] {
        match self {
            Connection::Socketio(link) => link.recoveries(),
            _ => &[],
        }
    }

    /// The server's wish for the wait before the client connects again.
    pub fn retry(&self) -> Option<Duration> {
        match self {
            Connection::Sse(link) => link.retry(),
            Connection::Websocket(_)
            | Connection::Socketio(_)
            | Connection::Poll(_)
            | Connection::Stomp(_) => None,
        }
    }

    /// The counter of its [`Incoming::Message`]s, beside `messages.received`.
    pub fn vocabulary(&self) -> Counter {
        match self {
            Connection::Websocket(_) => Counter::WebsocketReceived,
            Connection::Socketio(_) => Counter::SocketioReceived,
            Connection::Sse(_) => Counter::SseReceived,
            Connection::Poll(_) => Counter::PollsReceived,
            Connection::Stomp(_) => Counter::StompReceived,
        }
    }

    /// Bytes sent and received since the last call, the opening handshake included. Inside TLS.
    pub fn take_bytes(&mut self) -> (u64, u64) {
        each!(self, link => link.take_bytes())
    }

    /// Starts the closing handshake: drive on until the connection has ended, or the caller's limit has passed.
    pub fn begin_close(&mut self) {
        each!(self, link => link.begin_close());
    }
}
