//! The transports from outside: real sockets and scripted peers.
#![allow(clippy::unwrap_used, missing_docs)]

mod http;
mod http_goaway;
mod http_kept;
mod http_shared;
mod link;
mod link_events;
mod link_handshake;
mod link_poll;
mod link_polling;
mod link_socketio;
mod link_socketio_2;
mod link_sockjs;
mod link_sse;
mod link_stomp;
mod link_stream;
mod net;
mod net_certificates;
mod net_servers;
