//! The reference real-time service: accounts, friends, rooms and messages over HTTP, WebSocket,
//! Socket.IO, STOMP, SockJS and event streams.
//!
//! Sonagi is tested against it, so it is a real service with its limits written down, and it can misbehave on purpose
//! by a plan whose every effect it counts. It depends on nothing of the tester but the wire codecs, and it does not
//! print, read arguments or end the process. Endpoints, events, limits and close codes: `docs/service.md`; planted
//! faults: `docs/faults.md`.
//!
//! The decision a reader would question: it does not use a web or Socket.IO framework. The point of this service is
//! that ten thousand connections and a quarter of a million deliveries a second fit on one core, which needs shared
//! encoded frames, no buffers per idle connection and one queue under our own accounting.
//!
//! Folders import each other in one direction, which a test of the repository holds: each knows those above it in this
//! table, and none below.
//!
//! | folder | what lives there |
//! |---|---|
//! | `sync` | locks; blocking work beside the runtime |
//! | `faults`, `config`, `metrics`, `problem` | the plan of faults, limits and errors, counters, refusals |
//! | `model` | messages, names of rooms |
//! | `store` | where users, rooms and messages are kept |
//! | `bus` | what services that share a store tell each other |
//! | `accounts` | users, passwords, tokens |
//! | `connection` | one connection below rooms: its queue, its heartbeat, its address |
//! | `encoding` | how messages are written for each wire |
//! | `rooms` | peers, members, rooms, the fan-out and the faults injected into it |
//! | `hub` | what all transports share: join, leave, publish; the log's thread |
//! | `http` | requests and answers |
//! | `api` | login, users, rooms and history over HTTP |
//! | `transports` | WebSocket, Engine.IO, event streams, polling, STOMP, SockJS: a folder each |
//! | `server` | accepting connections, routing |
//! | `null` | the target for measuring load generators |
//! | `service` | start, sweep, drain |

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod accounts;
mod api;
mod bus;
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
pub use config::postgres::{PostgresAddressProblem, PostgresLocation};
pub use config::{Account, BusAddress, Config, Error, Limits, PasswordCost, Rate, StoreLocation, TlsFiles};
pub use faults::{FaultProblems, Faults};
pub use service::{Service, start};
