//! How far one request came, and when: for who wants to know more of it than its first byte and its end ([`super::Client::mark`]).

use sonagi_measure::At;
use std::cell::Cell;

use crate::net::Dialing;

/// The instants of a request.
#[derive(Debug)]
pub(crate) struct Marks {
    /// When it was asked for.
    pub(crate) begun: At,
    /// When the last byte of it had left; None when that is not known.
    pub(crate) left: Option<At>,
    /// How long it waited for a connection of the pool.
    pub(crate) wait_ns: i64,
    /// When its connection was so far; all None when an open one took it.
    dialed: [Cell<Option<At>>; 4],
}

impl Marks {
    pub(crate) fn at(begun: At) -> Marks {
        Marks { begun, left: None, wait_ns: 0, dialed: Default::default() }
    }

    pub(crate) fn note(&self, dialing: Dialing, now: At) {
        self.dialed[dialing as usize].set(Some(now));
    }

    /// When its connection was so far.
    pub(crate) fn dialed(&self, dialing: Dialing) -> Option<At> {
        self.dialed[dialing as usize].get()
    }
}
