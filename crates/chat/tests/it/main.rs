#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod client;
mod faults;
mod http_api;
mod rooms;
mod socketio_client;
