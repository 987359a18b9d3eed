//! The last messages of a room, in memory: what whoever comes back missed, without asking the database.
//!
//! The publishing thread adds to it under the room's lock, and that is all a message costs a room to
//! which nobody comes back.

use std::collections::VecDeque;

use crate::model::message::Message;

/// A room's last messages, without gaps, bounded in number and in bytes.
pub(crate) struct Recent {
    kept: VecDeque<Message>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
    /// The serial of the newest message that was here and is no more.
    dropped: u64,
}

impl Recent {
    pub(crate) fn new(most: usize, most_bytes: usize) -> Recent {
        Recent { kept: VecDeque::new(), bytes: 0, most, most_bytes, dropped: 0 }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.bytes += message.object.len();
        self.kept.push_back(message);
        while self.kept.len() > self.most || self.bytes > self.most_bytes {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.object.len();
            self.dropped = oldest.serial;
        }
    }

    /// Gives the memory back; what is asked for later has to come from the store.
    pub(crate) fn clear(&mut self) {
        if let Some(last) = self.kept.back() {
            self.dropped = last.serial;
        }
        self.kept = VecDeque::new();
        self.bytes = 0;
    }

    /// Messages were passed over that never were here: nothing up to this serial is known to have been here.
    pub(crate) fn pass_over(&mut self, serial: u64) {
        self.clear();
        self.dropped = self.dropped.max(serial);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether every message above this number, up to the last `published`, is here.
    pub(crate) fn reaches(&self, after: u64, published: u64) -> bool {
        after >= published || self.kept.front().is_some_and(|first| first.seq <= after + 1)
    }

    /// Whether every message published after this serial is here.
    pub(crate) fn reaches_serial(&self, serial: u64) -> bool {
        serial >= self.dropped
    }

    /// The messages numbered above `after` that are here, in order.
    pub(crate) fn after(&self, after: u64) -> impl Iterator<Item = &Message> {
        let start = self.kept.partition_point(|message| message.seq <= after);
        self.kept.range(start..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(seq: u64, content: &str) -> Message {
        Message::new(seq, seq * 10, 3, content, 9)
    }

    #[test]
    fn the_oldest_go_first_by_number_and_by_bytes_and_what_is_asked_for_is_there_or_known_to_be_gone() {
        let mut recent = Recent::new(3, 150);
        let seqs =
            |recent: &Recent, after| recent.after(after).map(|message| message.seq).collect::<Vec<_>>();
        assert!(recent.reaches(7, 7) && !recent.reaches(6, 7), "nothing was published since the start");
        assert!(recent.reaches_serial(0));
        for seq in 8..=11 {
            recent.push(message(seq, "1"));
        }
        assert_eq!(seqs(&recent, 0), [9, 10, 11]);
        assert!(recent.reaches(8, 11) && !recent.reaches(7, 11));
        assert_eq!((seqs(&recent, 9), seqs(&recent, 11)), (vec![10, 11], vec![]));
        assert!(recent.reaches_serial(80) && !recent.reaches_serial(79));
        recent.push(message(12, &"1".repeat(70)));
        assert_eq!(seqs(&recent, 0), [12], "the long one leaves no room for another");
        recent.push(message(13, &"1".repeat(200)));
        assert_eq!(seqs(&recent, 0), [0; 0], "it is over the bound alone");
        assert!(recent.reaches(13, 13) && !recent.reaches(12, 13) && !recent.reaches_serial(129));
        recent.push(message(14, "1"));
        assert!(recent.reaches(13, 14));
        recent.clear();
        assert!(!recent.reaches(13, 14) && recent.reaches(14, 14));
        assert!(recent.reaches_serial(140) && !recent.reaches_serial(139));
    }
}
