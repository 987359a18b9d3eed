//! How a load thread reaches its targets: its clock and timers, sockets and TLS, HTTP/1.1 and 2, and one link per
//! real-time transport.
//!
//! Everything here lives on one thread and is handed what it needs: nothing knows of users, schedules or script
//! languages, and nothing is shared between threads. Time limits, retries and reconnects are the caller's.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod calendar;
pub mod clock;
pub mod http;
pub mod link;
pub mod net;
