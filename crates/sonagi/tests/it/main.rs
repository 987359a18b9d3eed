//! The real binary, as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

mod artillery;
mod check;
mod command_line;
mod documents;
mod faults;
mod filtrex;
mod functions;
mod hooks;
mod joins;
mod k6_delivery;
mod k6_examples;
mod k6_hostile;
mod k6_log;
mod matrix;
mod node;
mod outcomes;
mod reconnect;
mod run;
mod seeds;
mod serve;
mod signals;
mod support;
mod targets;
mod verdicts;
mod words;
