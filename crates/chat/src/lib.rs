//! The reference real-time service: accounts, friends, rooms and messages over HTTP, WebSocket,
//! Socket.IO, STOMP, SockJS and event streams.
//!
//! It is what Sonagi is tried on, so it is a real service with its limits written down, and it can misbehave on
//! purpose by a plan whose every effect it counts. It depends on nothing of the tester but the wire codecs, and it does
//! not print, read arguments or end the process. Endpoints, events, limits and close codes: `docs/service.md`; planted
//! faults: `docs/faults.md`.
//!
//! The decision a reader would question: it does not use a web or Socket.IO framework. The point of this service is
//! that ten thousand connections and a quarter of a million deliveries a second fit on one core, which needs shared
//! encoded frames, no buffers per idle connection and one queue under our own accounting.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod accounts;
mod api;
mod config;
mod connection;
mod encoding;
mod faults;
mod http;
mod hub;
mod metrics;
mod model;
mod null;
mod problem;
mod rooms;
mod server;
mod service;
mod store;
mod sync;
mod transports;

pub use accounts::credentials::{Credential, write_credentials};
pub use config::{Account, Config, Error, Limits, PasswordCost, Rate, Store};
pub use faults::{FaultProblems, Faults};
pub use service::{Service, start};
