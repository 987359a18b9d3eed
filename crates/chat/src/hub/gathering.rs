//! Gathering: messages wait until the room they are for has rested, and are then published together.
//!
//! A copy costs its receiver's socket a write, whatever is in it. So a room that has just been published to n
//! connections rests, and what is said in it meanwhile is published together. Every room rests for itself: a message
//! for one that does not rest is ready at once, however busy the others are. This knows no clock; the log brings it.

use std::collections::HashMap;
use std::time::Instant;

/// Entries by the room they are for, each room's in the order they came.
pub(crate) struct Gathering<T> {
    ready: Vec<T>,
    /// By the room's number. A room is taken off when its rest is over, so there are only as many as were just
    /// published.
    resting: HashMap<u64, Rest<T>>,
    count: usize,
}

struct Rest<T> {
    until: Instant,
    waiting: Vec<T>,
}

impl<T> Default for Gathering<T> {
    fn default() -> Gathering<T> {
        Gathering { ready: Vec::new(), resting: HashMap::new(), count: 0 }
    }
}

impl<T> Gathering<T> {
    pub(crate) fn add(&mut self, room: u64, entry: T) {
        self.count += 1;
        match self.resting.get_mut(&room) {
            Some(rest) => rest.waiting.push(entry),
            None => self.ready.push(entry),
        }
    }

    /// Entries not taken yet.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Lets additions for the room wait until then. Only for a room without waiting ones.
    pub(crate) fn rest(&mut self, room: u64, until: Instant) {
        let before = self.resting.insert(room, Rest { until, waiting: Vec::new() });
        debug_assert!(
            before.is_none_or(|rest| rest.waiting.is_empty()),
            "a room rests after it was published"
        );
    }

    /// When `take` has something to give; at once when that is in the past.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.resting.values().filter(|rest| !rest.waiting.is_empty()).map(|rest| rest.until).min()
    }

    /// Moves what is ready by `now` into `batch`.
    pub(crate) fn take(&mut self, now: Instant, batch: &mut Vec<T>) {
        self.take_if(|until| until <= now, batch);
    }

    /// Moves everything into `batch`, ready or not.
    pub(crate) fn take_all(&mut self, batch: &mut Vec<T>) {
        self.take_if(|_| true, batch);
    }

    fn take_if(&mut self, over: impl Fn(Instant) -> bool, batch: &mut Vec<T>) {
        let before = batch.len();
        batch.append(&mut self.ready);
        self.resting.retain(|_, rest| {
            let over = over(rest.until);
            if over {
                batch.append(&mut rest.waiting);
            }
            !over
        });
        self.count -= batch.len() - before;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_said_in_a_room_that_rests_waits_in_order_and_nobody_else_waits_for_it() {
        let (mut gathering, start) = (Gathering::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        let taken = |gathering: &mut Gathering<&'static str>, ms| {
            let mut batch = Vec::new();
            gathering.take(at(ms), &mut batch);
            batch
        };
        gathering.add(1, "a");
        assert_eq!(taken(&mut gathering, 0), ["a"]);
        gathering.rest(1, at(5));
        assert_eq!(gathering.next_due(), None, "nothing waits");
        gathering.add(1, "b");
        gathering.add(2, "other");
        gathering.add(1, "c");
        assert_eq!((gathering.count(), gathering.next_due()), (3, Some(at(5))));
        assert_eq!(taken(&mut gathering, 4), ["other"]);
        // Come late, it still goes behind what waited.
        gathering.add(1, "d");
        assert_eq!(taken(&mut gathering, 5), ["b", "c", "d"]);
        assert_eq!((gathering.count(), gathering.next_due()), (0, None));
        gathering.add(1, "e");
        assert_eq!(taken(&mut gathering, 5), ["e"], "it has rested");
    }

    #[test]
    fn everything_can_be_taken_before_its_time() {
        let mut gathering = Gathering::default();
        gathering.rest(1, Instant::now() + Duration::from_secs(3600));
        gathering.add(1, "a");
        let mut batch = Vec::new();
        gathering.take_all(&mut batch);
        assert_eq!((batch, gathering.count(), gathering.next_due()), (vec!["a"], 0, None));
    }
}
