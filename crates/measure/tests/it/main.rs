//! The promises of `measure`, checked against naive models and real files.
#![allow(clippy::unwrap_used, missing_docs)]

mod docs;
mod fixture;
mod folder;
mod following;
mod generator;
mod interrupted;
mod ledger;
mod ledger_model;
mod merging;
mod recording;
mod statuses;
mod verdicts;
mod version1;
