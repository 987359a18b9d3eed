//! Starts virtual users when the schedule says, moves frames, records.
//!
//! The engine sees neither a script language nor a sink nor stdout: it is handed a [`plan::Plan`] and speaks through
//! typed [`Happening`]s. Thread per core: each shard is one OS thread with its own runtime, users are local tasks, and
//! nothing on the hot path is shared, locked, or boxed per message.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod collect;
mod control;
pub mod delivery;
mod fake;
pub mod health;
pub mod plan;
mod processor;
mod rooms;
mod run;
pub mod schedule;
pub mod seconds;
mod shard;
pub mod simulation;
mod start;
mod thread;
mod user;

pub use control::Control;
pub use processor::{Kept, Unloaded, exports};
pub use run::{Error, Happening, Options, Speaker, run};
