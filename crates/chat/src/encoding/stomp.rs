//! STOMP's frames: the messages of a subscription, and what a client is told beside them.

pub(crate) mod envelope;
pub(crate) mod replies;
pub(crate) mod style;
pub(crate) mod subscription;
pub(crate) mod unacked;
