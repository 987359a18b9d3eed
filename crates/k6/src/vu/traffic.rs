//! How much went over a user's connections.

use std::cell::Cell;

/// Bytes sent and received since they were last taken.
#[derive(Default)]
pub(crate) struct Traffic(Cell<(u64, u64)>);

impl Traffic {
    /// Adds bytes sent and received.
    pub(crate) fn add(&self, sent: u64, received: u64) {
        let (before, until) = self.0.get();
        self.0.set((before + sent, until + received));
    }

    /// All bytes since this was asked last.
    pub(crate) fn take(&self) -> (u64, u64) {
        self.0.take()
    }
}
