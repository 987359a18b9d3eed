//! One poll: what it asks for and what it brings.

use std::time::Duration;

use crate::metrics::Count;
use crate::rooms::cursor::{Excerpt, Start};

/// What a poll asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollRequest {
    pub(crate) start: Start,
    /// How long it waits for a message; `None` when it is to be answered at once.
    pub(crate) hold: Option<Duration>,
}

/// What a poll is answered with.
#[derive(Debug)]
pub(crate) struct PollAnswer {
    pub(crate) excerpt: Excerpt,
    pub(crate) has_gap: bool,
    /// The copies were counted when they were put on a queue.
    pub(crate) is_counted: bool,
}

/// One more, as long as it lives.
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
