//! Long-lived connections of virtual users: frames out, messages in.
//!
//! A link keeps no read buffer: all links of a shard read into one [`Env::scratch`], and a message that arrives whole
//! is handed over from there without a copy. So an idle link costs its socket and a few hundred bytes.
//!
//! The decision to question is the callback of [`Link::poll_drive`] in place of a stream of messages: a stream would
//! have to own every message, and at hundreds of thousands a second that allocation is the cost that shows.

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

pub use drive::{Ended, Env, Incoming, Link, Present};
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

pub use crate::net::SCRATCH;
