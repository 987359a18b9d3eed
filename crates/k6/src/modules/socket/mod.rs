//! Shared by all real-time modules: how a WebSocket is opened for a script, its event handlers, and the words for how a
//! connection ended.

mod ending;
mod handlers;
mod handshake;
mod pings;

pub(super) use ending::{Ending, not_opened};
pub(super) use handlers::Handlers;
pub(super) use handshake::{Apart, HandshakeFailed, Opened, Opening, Wanted, shown_headers};
pub(super) use pings::Pings;
