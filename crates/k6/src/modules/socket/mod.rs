//! What all real-time modules have in common: how a WebSocket is opened for a script, messages on their way to it, and the
//! words for how a connection ended.

mod ending;
mod handlers;
mod handshake;
mod mail;
mod pings;

pub(super) use ending::{Ending, not_opened};
pub(super) use handlers::Handlers;
pub(super) use handshake::{Apart, Opened, Opening, Refused, Wanted, shown_headers};
pub(crate) use mail::Mails;
pub(super) use mail::{Item, Mail};
pub(super) use pings::Pings;
