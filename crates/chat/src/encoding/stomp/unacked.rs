//! Messages that a subscription was sent and its client has not acknowledged.
//!
//! Kept in the order of sending, duplicates included: a planted fault may send a message twice or behind a later one,
//! and the client then acknowledges what it got. Nothing is ever sent again, so an acknowledgement only makes room
//! here.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use sonagi_wire::stomp::AckMode;

use crate::sync::lock;

#[derive(Debug)]
pub(crate) struct Unacked {
    /// Numbers of messages, in the order they were sent.
    sent: Mutex<VecDeque<u64>>,
    /// `client`: an acknowledgement counts for everything sent before it.
    is_cumulative: bool,
    most: usize,
    /// Something did not fit: what follows it must not be sent either.
    is_full: AtomicBool,
}

impl Unacked {
    /// None for the mode that needs no acknowledgement.
    pub(crate) fn new(mode: AckMode, most: usize) -> Option<Unacked> {
        let is_cumulative = match mode {
            AckMode::Auto => return None,
            AckMode::Client => true,
            AckMode::ClientIndividual => false,
        };
        Some(Unacked { sent: Mutex::default(), is_cumulative, most, is_full: AtomicBool::new(false) })
    }

    /// Notes messages that are about to be sent; false, and none noted, when too many would be outstanding.
    pub(crate) fn sending(&self, seqs: impl ExactSizeIterator<Item = u64>) -> bool {
        let mut sent = lock(&self.sent);
        let fits = sent.len() + seqs.len() <= self.most && !self.is_full();
        if fits {
            sent.extend(seqs);
        } else {
            self.is_full.store(true, Relaxed);
        }
        fits
    }

    /// How many may be sent now of what was missed: until half of what may be outstanding is, which leaves the other
    /// half to what comes meanwhile; or all of it, for a client that acknowledges nothing before it has more.
    pub(crate) fn free(&self, in_vain: bool) -> usize {
        let most = if in_vain { self.most } else { (self.most / 2).max(1) };
        most.saturating_sub(lock(&self.sent).len())
    }

    /// There is no way back: the connection must end.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }

    /// How many may be outstanding.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The client has (or has refused) the message; false when it is not outstanding.
    pub(crate) fn settle(&self, seq: u64) -> bool {
        let mut sent = lock(&self.sent);
        let Some(at) = sent.iter().position(|there| *there == seq) else { return false };
        if self.is_cumulative {
            sent.drain(..=at);
        } else {
            sent.remove(at);
        }
        if sent.is_empty() && sent.capacity() > 64 {
            *sent = VecDeque::new();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outstanding(unacked: &Unacked) -> Vec<u64> {
        lock(&unacked.sent).iter().copied().collect()
    }

    #[test]
    fn an_acknowledgement_counts_for_what_was_sent_before_it_or_for_itself_alone() {
        for (mode, left) in [(AckMode::Client, vec![8, 9]), (AckMode::ClientIndividual, vec![5, 6, 8, 9])] {
            let unacked = Unacked::new(mode, 100).unwrap();
            assert!(unacked.sending([5, 6, 7, 8, 9].into_iter()));
            assert!(unacked.settle(7));
            assert_eq!(outstanding(&unacked), left, "{mode:?}");
            assert!(!unacked.settle(7), "it is outstanding no more");
            assert!(!unacked.settle(10), "it was never sent");
            assert_eq!(outstanding(&unacked), left);
        }
        assert!(Unacked::new(AckMode::Auto, 100).is_none());
    }

    #[test]
    fn a_message_sent_twice_or_out_of_order_is_acknowledged_as_it_was_sent() {
        let twice = Unacked::new(AckMode::ClientIndividual, 100).unwrap();
        assert!(twice.sending([5].into_iter()) && twice.sending([5].into_iter()));
        assert!(twice.settle(5) && twice.settle(5) && !twice.settle(5));
        let overtaken = Unacked::new(AckMode::Client, 100).unwrap();
        assert!(overtaken.sending([4, 6, 5].into_iter()));
        assert!(overtaken.settle(6));
        assert_eq!(outstanding(&overtaken), [5]);
    }

    #[test]
    fn no_more_are_outstanding_than_may_be_and_nothing_follows_what_did_not_fit() {
        let unacked = Unacked::new(AckMode::ClientIndividual, 3).unwrap();
        assert!(unacked.sending([1, 2, 3].into_iter()));
        assert_eq!((unacked.free(false), unacked.free(true)), (0, 0));
        assert!(unacked.settle(2) && unacked.free(false) == 0 && unacked.free(true) == 1);
        assert!(unacked.sending([4].into_iter()) && !unacked.is_full());
        assert!(!unacked.sending([5, 6].into_iter()));
        assert_eq!(outstanding(&unacked), [1, 3, 4], "those that do not fit are not noted in part");
        assert!(unacked.settle(1) && unacked.settle(3));
        assert!(!unacked.sending([7].into_iter()) && unacked.is_full(), "or there would be a gap");
    }
}
