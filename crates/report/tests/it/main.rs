//! What runs look like once rendered, and what sinks are told.
#![allow(clippy::unwrap_used, missing_docs)]

mod console;
mod fixture;
mod matrix;
mod schema;
mod sinks;
mod table;
