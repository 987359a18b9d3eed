//! How far one request came, and when: for who wants to know more of it than its first byte and its end ([`super::Client::mark`]).

use sonagi_measure::At;
use std::cell::Cell;

use crate::net::{Dialing, Opening};

/// The instants of a request.
#[derive(Debug)]
pub(crate) struct Marks {
    /// When it was asked for.
    pub(crate) begun: At,
    /// When the last byte of it had left; None when that is not known.
    pub(crate) left: Option<At>,
    /// How long it waited for a connection of the pool.
    pub(crate) wait_ns: i64,
    /// How its connection was made; nothing when an open one took it.
    pub(crate) dialed: Dialed,
}

impl Marks {
    pub(crate) fn at(begun: At) -> Marks {
        Marks { begun, left: None, wait_ns: 0, dialed: Dialed::default() }
    }
}

/// When a connection that was made was how far.
#[derive(Debug, Default)]
pub(crate) struct Dialed([Cell<Option<At>>; 4]);

impl Dialed {
    pub(crate) fn note(&self, dialing: Dialing, now: At) {
        self.0[dialing as usize].set(Some(now));
    }

    pub(crate) fn at(&self, dialing: Dialing) -> Option<At> {
        self.0[dialing as usize].get()
    }

    /// How long each part took.
    pub(crate) fn opening(&self, is_tls: bool) -> Opening {
        let between = |from, to| match (self.at(from), self.at(to)) {
            (Some(from), Some(to)) => u32::try_from(to.since(from) / 1000).unwrap_or_default(),
            _ => 0,
        };
        Opening {
            name_us: between(Dialing::Begun, Dialing::Resolved),
            tcp_us: between(Dialing::Resolved, Dialing::Connected),
            tls_us: if is_tls { between(Dialing::Connected, Dialing::Ready) } else { 0 },
        }
    }
}
