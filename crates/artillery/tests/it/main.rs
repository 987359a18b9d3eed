//! The front end as its callers see it: scripts in, plans or problems out.
#![allow(clippy::unwrap_used, missing_docs)]

mod bytes;
mod compat;
mod documents;
mod editor;
mod environments;
mod inputs;
mod keys;
mod leniency;
mod matrix;
mod mistakes;
mod names;
mod notices;
mod pace;
mod plugins;
#[path = "../../../measure/tests/it/fixture.rs"]
mod recorded;
mod report;
mod responses;
mod sketch;
#[allow(dead_code)] // what only the console shows
#[path = "../../../report/tests/it/fixture.rs"]
mod summaries;
mod support;
mod tagged;
mod tags;
