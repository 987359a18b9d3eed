//! Seconds of a run as its shards deliver them: each is merged when all have it.

use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use std::collections::{BTreeMap, BTreeSet};

/// Seconds that shards have sent and nobody has merged yet.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    /// Records of seconds that not all shards have delivered yet, by the seconds' ends.
    seconds: BTreeMap<At, Vec<Record>>,
    /// Records that go with the next second: of shards that have ended, and of what was done once.
    leftover: Vec<Record>,
    /// Shards that have not ended.
    running: BTreeSet<u16>,
}

impl Seconds {
    /// Without records; this many shards are awaited.
    pub(crate) fn new(shards: usize) -> Seconds {
        Seconds { running: (0..shards as u16).collect(), ..Seconds::default() }
    }

    /// A shard's record of the second that ended then.
    pub(crate) fn take(&mut self, at: At, record: Record) {
        self.seconds.entry(at).or_default().push(record);
    }

    /// The last record of a shard, or one of what was done once.
    pub(crate) fn end(&mut self, record: Record) {
        if let Some(shard) = record.shard {
            self.running.remove(&shard);
        }
        self.leftover.push(record);
    }

    /// A shard is gone without its last record; None: all of them are.
    pub(crate) fn lose(&mut self, shard: Option<u16>) {
        self.running.retain(|running| shard.is_some_and(|lost| lost != *running));
    }

    /// Whether a shard has not ended.
    pub(crate) fn are_awaited(&self) -> bool {
        !self.running.is_empty()
    }

    /// The next second that every shard still running has delivered, and its end.
    pub(crate) fn whole(&mut self) -> Option<(At, Vec<Record>)> {
        let entry = self.seconds.first_entry()?;
        let has_delivered = |shard: &u16| entry.get().iter().any(|record| record.shard == Some(*shard));
        if self.running.is_empty() || !self.running.iter().all(has_delivered) {
            return None;
        }
        let (at, mut records) = entry.remove_entry();
        records.append(&mut self.leftover);
        Some((at, records))
    }

    /// All that came too late for a whole second.
    pub(crate) fn rest(&mut self) -> Vec<Record> {
        let seconds = std::mem::take(&mut self.seconds).into_values().flatten();
        self.leftover.drain(..).chain(seconds).collect()
    }
}
