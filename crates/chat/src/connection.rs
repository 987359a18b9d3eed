//! A connection below rooms: its queue, its unwritten frames, its signs of life, its address.

pub(crate) mod heartbeat;
pub(crate) mod outbox;
pub(crate) mod read_buffer;
pub(crate) mod socket;
pub(crate) mod source;
pub(crate) mod write_buffer;
