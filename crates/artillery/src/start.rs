//! The start that all shards have in common: second 0 begins when the last of them is ready.
//!
//! Otherwise the first arrivals would be late by what it takes to start a thread, and, where connections are opened ahead
//! of them, by that too.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Where shards wait for each other.
#[derive(Default)]
pub(crate) struct Start {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Shards that are not ready.
    awaited: usize,
    /// When second 0 began.
    epoch: Option<Instant>,
}

impl Start {
    /// A place for one more shard. All are to be taken before anybody waits.
    pub(crate) fn place(self: &Arc<Start>) -> Place {
        self.state().awaited += 1;
        Place { start: Arc::clone(self), is_awaited: true }
    }

    /// Waits until every shard is ready or gone; the instant at which second 0 began.
    pub(crate) fn epoch(&self) -> Instant {
        let waiting = self.changed.wait_while(self.state(), |state| state.awaited > 0);
        waiting.unwrap_or_else(PoisonError::into_inner).begin()
    }

    /// The same, for so long at most; None: they are not ready.
    pub(crate) fn epoch_within(&self, limit: Duration) -> Option<Instant> {
        let waiting = self.changed.wait_timeout_while(self.state(), limit, |state| state.awaited > 0);
        let (mut state, waited) = waiting.unwrap_or_else(PoisonError::into_inner);
        (!waited.timed_out()).then(|| state.begin())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self) -> Instant {
        *self.epoch.get_or_insert_with(Instant::now)
    }
}

/// A shard's place at the start; given up when dropped, so that nobody waits for a shard that could not be set up.
pub(crate) struct Place {
    start: Arc<Start>,
    is_awaited: bool,
}

impl Place {
    /// Ready: waits for the others; the instant at which second 0 began.
    pub(crate) fn ready(mut self) -> Instant {
        self.leave();
        self.start.epoch()
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_awaited) {
            self.start.state().awaited -= 1;
            self.start.changed.notify_all();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_0_begins_for_all_when_the_last_is_ready_and_who_is_gone_is_not_waited_for() {
        let start = Arc::new(Start::default());
        let places = [start.place(), start.place(), start.place()];
        let gone = start.place();
        let before = Instant::now();
        let threads = places.map(|place| std::thread::spawn(move || place.ready()));
        let failing = std::thread::spawn(move || drop(gone));
        let epoch = start.epoch();
        assert!(epoch >= before);
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [epoch; 3]);
        failing.join().unwrap();
    }
}
