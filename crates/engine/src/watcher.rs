//! Whoever looks at the target while the load goes on: the kernel begins and ends it, and takes what it saw with each
//! second.

use serde_json::Value;
use sonagi_measure::At;
use sonagi_measure::metrics::{Interval, Registry};
use std::fmt;
use std::sync::Arc;
use tokio::time::Instant;

/// Looks at the target of a run, on threads of its own.
pub trait Watcher: Send + Sync + fmt::Debug {
    /// The load begins: metrics go into this registry, instants count from this epoch.
    fn begin(&self, metrics: &Arc<Registry>, epoch: Instant);

    /// What was seen since the last time. Never waits.
    fn take(&self) -> Sightings;

    /// The load is over, and all that was seen is taken.
    fn end(&self);
}

/// What a watcher saw.
#[derive(Debug, Default)]
pub struct Sightings {
    /// Metrics of the target.
    pub interval: Interval,
    /// What is to be kept in the run's record.
    pub notes: Vec<Note>,
}

/// A note for a run's record.
#[derive(Clone, Debug)]
pub struct Note {
    /// When.
    pub at: At,
    /// What it is.
    pub kind: &'static str,
    /// What belongs to it.
    pub detail: Value,
}
