//! The files of a test as its scripts see them: compiled, run as CommonJS, opened, and which one is being run.

pub(crate) mod callers;
mod commonjs;
mod import_meta;
mod open;
mod units;

pub(crate) use commonjs::{CommonFiles, common};
pub(crate) use import_meta::give_meta;
pub(crate) use open::{open, opened};
pub(crate) use units::{not_loaded, unit};
