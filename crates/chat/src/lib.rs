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
mod beat;
mod bucket;
mod config;
mod content;
mod credentials;
mod cursor;
mod delivered;
mod doors;
mod engineio;
mod faults;
mod forgetting;
mod form;
mod gather;
mod http;
mod hub;
mod join;
mod jsonp;
mod link;
mod log;
mod member;
mod metrics;
mod null;
mod outbox;
mod outflow;
mod passwords;
mod patient;
mod peer;
mod people;
mod polling;
mod problem;
mod process;
mod pull;
mod pullers;
mod raw;
mod receipt;
mod recent;
mod recovery;
mod room;
mod rooms;
mod senders;
mod service;
mod socketio;
mod sockjs;
mod source;
mod spoil;
mod sse;
mod stomp;
mod store;
mod store_lock;
mod stream;
mod sweep;
mod tokens;
mod troubles;
mod turns;
mod waiters;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use config::{Account, Config, Error, Limits, PasswordCost, Rate, Store};
pub use credentials::{Credential, write_credentials};
pub use faults::{FaultProblems, Faults};
pub use service::{Service, start};

/// Locks, whether or not another holder panicked: nothing here is left half changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
