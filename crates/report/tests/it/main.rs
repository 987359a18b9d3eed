//! The rendering of runs, and the events sinks receive.
#![allow(clippy::unwrap_used, missing_docs)]

mod compared;
mod console;
mod fixture;
mod long_run;
mod matrix;
mod repeated;
mod schema;
mod sinks;
mod table;
