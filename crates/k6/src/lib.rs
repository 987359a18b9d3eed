//! Runs k6 scripts: what they may ask for (`options`), when iterations happen (`executor`), what is measured
//! (`metrics`) and how it is told (`summary`, `output`).
//!
//! Behaviour is k6's, as far as its documentation and its binary tell it; `docs/from-k6.md` lists where it is not and
//! why.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bundle;
mod execution_context;
pub mod executor;
mod interpreter;
mod jslib;
mod json;
pub mod metrics;
mod modules;
pub mod options;
pub mod output;
mod receive_buffer;
pub mod run;
mod runtime;
mod secrets;
mod shard;
pub mod summary;
mod vu;

pub use secrets::Secrets;
