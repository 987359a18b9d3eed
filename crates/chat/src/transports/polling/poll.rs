//! A poll: its request and its answer.

use std::time::Duration;

use crate::metrics::Count;
use crate::rooms::cursor::{Excerpt, Start};

/// The request of a poll.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollRequest {
    pub(crate) start: Start,
    /// How long it waits for a message; `None` when it is to be answered at once.
    pub(crate) hold: Option<Duration>,
}

/// The answer to a poll.
#[derive(Debug)]
pub(crate) struct PollAnswer {
    pub(crate) excerpt: Excerpt,
    pub(crate) has_gap: bool,
    /// The copies were counted when they were put on a queue.
    pub(crate) is_counted: bool,
}

/// Counts one more, as long as it lives.
pub(crate) struct Counted<'a>(&'a Count);

impl<'a> Counted<'a> {
    pub(crate) fn new(count: &'a Count) -> Counted<'a> {
        count.add(1);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.sub(1);
    }
}
