//! Single measurements, their merging, the ledger of owed messages, and the summary of a finished run.
//!
//! No tokio, no socket, no clock: instants come in as [`At`] values, files as `Write`. Each shard fills its own
//! [`recorder::Recorder`]; once a second the collector takes them all and [`totals::Totals`] merges them.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod answers;
pub mod at;
pub mod expectations;
pub mod expression;
mod failures;
pub mod figures;
pub mod folder;
pub mod frame;
pub mod health;
pub mod histogram;
pub mod ledger;
pub mod metrics;
pub mod outcome;
mod overrun;
pub mod plugins;
pub mod recorder;
pub mod secrets;
mod snapshot;
pub mod stamp;
pub mod summary;
pub mod thresholds;
pub mod totals;
pub mod verdict;
pub mod watched;

pub use at::At;
pub use histogram::Histogram;
