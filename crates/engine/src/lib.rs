//! The kernel of a run, whatever language its script is written in: threads, seconds, back-pressure, stops and events.
//!
//! A script language is a [`Dialect`]: it prepares a thread, generates the thread's share of the load, and does what is
//! done once. The kernel starts the threads together, swaps their records once a second and merges them, and speaks to
//! its caller through [`RunEvent`]s. It sees neither a script nor a sink nor stdout. Thread per core: each shard is one
//! OS thread with its own runtime, users are local tasks, and nothing on the hot path is shared, locked, or boxed per
//! message.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod collector;
mod control;
pub mod delivery;
mod dialect;
mod event;
pub mod health;
mod log;
mod memberships;
mod options;
mod rooms;
mod run;
mod seconds;
mod shard;
mod sink;
#[cfg(test)]
mod tests;
mod thread;
mod watcher;

pub use control::Control;
pub use dialect::{Collect, Dialect, Phase, TICK};
pub use event::{Level, LogLine, Progress, RunEvent, Speaker};
pub use options::{Error, Options};
pub use run::{once, run};
pub use shard::{Place, SECOND_NS, Shard};
pub use sink::{Sink, SinkThread};
pub use watcher::{Note, Sightings, Watcher};
