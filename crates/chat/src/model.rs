//! Messages, and the names of rooms.

pub(crate) mod message;
pub(crate) mod room_id;
