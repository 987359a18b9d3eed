#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod client;
mod http_api;
mod rooms;
