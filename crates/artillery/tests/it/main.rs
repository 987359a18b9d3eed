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
mod notices;
mod plugins;
mod responses;
mod sketch;
mod support;
mod tags;
