#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod burst;
mod busy;
mod client;
mod endings;
mod engineio;
mod engineio3;
mod faults;
mod groups;
mod http_api;
mod instances;
mod killed;
mod location;
mod log;
mod null;
mod people;
mod postgres;
#[allow(dead_code)]
mod postgres_cluster;
mod pull_faults;
mod push_faults;
mod receivers;
mod recovery;
mod redis_server;
mod resume;
mod rooms;
mod signing_off;
mod socketio;
mod socketio_client;
mod sockjs;
mod sse;
mod sse_client;
mod stomp;
mod stomp_client;
mod tls;
mod tls_tunnel;
mod tokens;
