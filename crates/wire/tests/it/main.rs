//! The codecs against vectors from the specifications, against laws, and against the fuzzers' corpus.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, unreachable_pub)]

#[path = "../../../../fuzz/src/lib.rs"]
mod checks;

mod corpus;
mod engineio;
mod http1;
mod laws;
mod socketio;
mod sockjs;
mod sse;
mod stomp;
mod vectors;
mod websocket;
