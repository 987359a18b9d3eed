//! Waiters for the next message of a room: the long polls.
//!
//! Under the room's lock, together with the number of its last message: whoever finds nothing new registers in the same
//! breath, so a message published between the look and the registration cannot be missed. A message wakes all; whoever
//! gives up takes itself off.

use std::task::Waker;

#[derive(Default)]
pub(crate) struct Waiters {
    slots: Vec<Option<Waker>>,
    free: Vec<usize>,
    /// How often all have been woken.
    round: u64,
}

/// A place among the waiters, good until all are woken.
#[derive(Debug)]
pub(crate) struct Ticket {
    slot: usize,
    round: u64,
}

impl Waiters {
    /// Registers, or renews the place that `ticket` still has.
    pub(crate) fn wait(&mut self, ticket: &mut Option<Ticket>, waker: &Waker) {
        if let Some(Ticket { slot, round }) = ticket
            && *round == self.round
            && let Some(Some(known)) = self.slots.get_mut(*slot)
        {
            known.clone_from(waker);
            return;
        }
        let slot = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(slot) {
            Some(empty) => *empty = Some(waker.clone()),
            None => self.slots.push(Some(waker.clone())),
        }
        *ticket = Some(Ticket { slot, round: self.round });
    }

    /// Gives the place up, if it is still held.
    pub(crate) fn give_up(&mut self, ticket: &Ticket) {
        if ticket.round == self.round
            && let Some(slot) = self.slots.get_mut(ticket.slot)
            && slot.take().is_some()
        {
            self.free.push(ticket.slot);
        }
    }

    /// Everybody who waits, to be woken once the lock is given back.
    pub(crate) fn take(&mut self) -> Woken {
        if self.slots.is_empty() {
            return Woken(Vec::new());
        }
        self.round += 1;
        self.free = Vec::new();
        Woken(std::mem::take(&mut self.slots))
    }

    /// Gives memory back that nobody waits in.
    pub(crate) fn shrink(&mut self) {
        if self.count() == 0 {
            self.round += 1;
            (self.slots, self.free) = (Vec::new(), Vec::new());
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[must_use = "they wait until they are woken"]
pub(crate) struct Woken(Vec<Option<Waker>>);

impl Woken {
    /// Wakes them and says how many they were. Not under a lock: the woken may run at once on another thread.
    pub(crate) fn wake(self) -> u64 {
        let mut count = 0;
        for waker in self.0.into_iter().flatten() {
            count += 1;
            waker.wake();
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn all_who_wait_are_woken_once_and_who_gave_up_is_not() {
        let mut waiters = Waiters::default();
        let counts: Vec<Arc<Counting>> = (0..5).map(|_| Arc::default()).collect();
        let mut tickets: Vec<Option<Ticket>> = (0..5).map(|_| None).collect();
        for (ticket, count) in tickets.iter_mut().zip(&counts) {
            waiters.wait(ticket, &count.clone().into());
            // Asked again before it is woken, it holds one place still.
            waiters.wait(ticket, &count.clone().into());
        }
        assert_eq!(waiters.count(), 5);
        for gone in [1, 3] {
            waiters.give_up(tickets[gone].as_ref().unwrap());
            waiters.give_up(tickets[gone].as_ref().unwrap());
        }
        waiters.wait(&mut tickets[1], &counts[1].clone().into());
        assert_eq!((waiters.count(), waiters.slots.len()), (4, 5), "a place given up is taken again");
        assert_eq!(waiters.take().wake(), 4);
        let woken = || counts.iter().map(|count| count.0.load(Relaxed)).collect::<Vec<_>>();
        assert_eq!(woken(), [1, 1, 1, 0, 1]);
        // An old ticket takes nobody's place away.
        waiters.wait(&mut tickets[3], &counts[3].clone().into());
        waiters.give_up(tickets[0].as_ref().unwrap());
        waiters.wait(&mut tickets[0], &counts[0].clone().into());
        assert_eq!(waiters.count(), 2);
        assert_eq!(waiters.take().wake(), 2);
        assert_eq!(woken(), [2, 1, 1, 1, 1]);
        assert_eq!((waiters.count(), waiters.take().wake()), (0, 0));
    }
}
