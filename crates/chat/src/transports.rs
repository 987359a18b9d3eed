//! The wires that rooms are reached by, a folder each.

pub(crate) mod doors;
pub(crate) mod engineio;
pub(crate) mod polling;
pub(crate) mod sockjs;
pub(crate) mod sse;
pub(crate) mod stomp;
pub(crate) mod websocket;
