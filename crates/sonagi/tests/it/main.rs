//! The real binary, as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

mod artillery;
mod capacity;
mod check;
mod command_line;
mod compare;
mod deploy;
mod documents;
mod faults;
mod filtrex;
mod functions;
mod hooks;
mod instances;
mod joins;
mod k6_delivery;
mod k6_examples;
mod k6_hostile;
mod k6_log;
mod k6_page;
mod k6_report;
mod k6_several;
mod launch;
mod matrix;
mod node;
mod outcomes;
mod page;
mod page_server;
mod reconnect;
mod repeat;
mod run;
mod seeds;
mod serve;
mod serve_strained;
mod serve_tls;
mod signals;
mod site;
mod support;
mod tags;
mod targets;
mod verdicts;
mod watch_command;
mod watch_page;
mod watching;
mod words;

// The service's clients and servers, as its own tests have them.
#[allow(dead_code, unreachable_pub)]
#[path = "../../../chat/tests/it/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../chat/tests/it/postgres_cluster.rs"]
mod postgres_cluster;
#[allow(unreachable_pub)]
#[path = "../../../chat/tests/it/receivers.rs"]
mod receivers;
#[allow(unreachable_pub)]
#[path = "../../../chat/tests/it/redis_server.rs"]
mod redis_server;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../chat/tests/it/socketio_client.rs"]
mod socketio_client;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../chat/tests/it/sse_client.rs"]
mod sse_client;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../chat/tests/it/stomp_client.rs"]
mod stomp_client;
