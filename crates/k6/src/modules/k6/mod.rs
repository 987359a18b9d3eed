//! The modules of k6 that touch no network, a file for each.

pub(crate) mod basics;
pub(crate) mod data;
pub(crate) mod encoding;
pub(crate) mod execution;
pub(crate) mod metrics;
pub(crate) mod secrets;
pub(crate) mod timers;
