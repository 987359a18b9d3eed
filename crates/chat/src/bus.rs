//! The bus: how services that share a store tell each other what is said in rooms.
//!
//! It carries copies of what is committed, never the only one: what it loses, doubles or brings in another order is
//! found by its number and read from the store (`hub::log::others`). So it asks for no acknowledgement and keeps
//! nothing. A room is heard once by a service, however many connections it has in it.
//!
//! A bus of another kind implements `Bus` in a file of its own and gets an arm in `open`.

pub(crate) mod format;
mod redis;

use std::sync::Arc;

use crate::config::{BusAddress, Error};
use crate::model::message::Message;

/// The way to the other services. Nothing here waits for them.
pub(crate) trait Bus: Send {
    /// From now on what is published in the room is heard; `Heard::Subscribed` says once it is so.
    fn subscribe(&self, room: &str);
    fn unsubscribe(&self, room: &str);
    /// Tells whoever has subscribed to the room. False when it was not even tried.
    fn publish(&self, room: &str, payload: Vec<u8>) -> bool;
    /// Tells everybody, this service included.
    fn announce(&self, payload: Vec<u8>) -> bool;
}

/// What a bus brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Said(Said),
    /// Another service has made this room.
    Made(Box<str>),
    /// What was announced to everybody by this service itself: the way there and back works.
    Beat,
    /// From now on what is published in this room is heard.
    Subscribed(Box<str>),
    /// None of the subscriptions holds any more, for this reason; they are asked for again by the bus itself.
    Lost(String),
    /// Something that no service of this version says.
    Unreadable,
}

/// Messages of a room, published by another service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) room: Box<str>,
    /// The room's key in the store.
    pub(crate) key: i64,
    /// In the order of their numbers, which have no gaps; at least one.
    pub(crate) messages: Vec<Message>,
}

/// Takes what is heard; false once nobody wants any more.
pub(crate) type Ear = Arc<dyn Fn(Heard) -> bool + Send + Sync>;

/// Who speaks, and for which store.
#[derive(Clone, Debug)]
pub(crate) struct Speaker {
    /// Tells its own words from those of others.
    pub(crate) instance: u64,
    /// The store's: services of another one may use the same bus.
    pub(crate) epoch: Box<str>,
}

/// Opens the bus: it connects by itself, and again whenever it is lost.
pub(crate) fn open(address: &BusAddress, speaker: Speaker, ear: Ear) -> Result<Box<dyn Bus>, Error> {
    Ok(Box::new(redis::RedisBus::open(address.clone(), speaker, ear)?))
}
