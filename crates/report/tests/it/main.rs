//! What runs look like once rendered.
#![allow(clippy::unwrap_used, missing_docs)]

mod console;
mod fixture;
mod schema;
