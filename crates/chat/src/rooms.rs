//! Rooms and their members: who is in, what was said last, the fan-out and the faults planted in it.

pub(crate) mod cursor;
pub(crate) mod delivery;
pub(crate) mod fault_injection;
pub(crate) mod member;
pub(crate) mod peer;
pub(crate) mod recent;
pub(crate) mod registry;
pub(crate) mod room;
pub(crate) mod waiters;
