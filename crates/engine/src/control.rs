//! Stopping a run from outside: once to end it gracefully, twice to end it now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const ABORTED: u8 = 2;

/// A handle on a run; clones steer the same run. Safe to use from a signal thread.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<AtomicU8>);

impl Control {
    /// A handle for one run.
    pub fn new() -> Control {
        Control::default()
    }

    /// Nobody arrives any more, users leave their flows at the next wait, copies under way still get a moment to arrive.
    pub fn stop(&self) {
        self.0.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// Ends at once; what was recorded so far is still handed over.
    pub fn abort(&self) {
        self.0.fetch_max(ABORTED, Ordering::Relaxed);
    }

    /// Whether the run was asked to end, either way.
    pub fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed) != RUNNING
    }

    /// Whether the run was asked to end at once.
    pub fn is_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ABORTED
    }
}
