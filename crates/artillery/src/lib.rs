//! Artillery's scripts: read to a plan, or to all their problems, and carried out by virtual users.
//!
//! `script` reads, and knows no run; `plan` is what it hands on; `user` walks a plan's flows over `sonagi_transport`.
//! `names` and `report` tell a run in Artillery's words.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arrivals;
mod cursor;
mod fake;
pub mod names;
pub mod plan;
mod processor;
pub mod report;
mod run;
pub mod schedule;
mod script;
mod shard;
pub mod simulation;
mod tagged;
mod user;
mod values;

pub use processor::{LoadedProcessor, Unloaded, exports};
pub use run::{Error, Options, run};
pub use script::*;
