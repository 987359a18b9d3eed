//! Bytes to packets and back for the real-time protocols; no sockets, no clock.
//!
//! Everything here is a pure function or a small state machine over byte slices: the tester and the
//! reference service share it, so a misreading could cancel out. That is why the tests use vectors from
//! the specifications and foreign implementations, never a round trip alone.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod engineio;
pub mod http1;
pub mod socketio;
pub mod sockjs;
pub mod sse;
pub mod stomp;
pub mod websocket;
