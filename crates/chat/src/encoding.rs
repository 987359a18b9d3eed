//! How messages and answers are written for each wire.

pub(crate) mod form;
pub(crate) mod sse;
pub(crate) mod stomp;
