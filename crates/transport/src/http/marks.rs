//! The progress of a request and its instants, for callers that need more than its first byte and its end
//! ([`super::Client::mark`]).

use sonagi_measure::At;
use std::cell::Cell;

use crate::net::{Dialing, OpeningTimes};

/// The instants of a request.
#[derive(Debug)]
pub struct Marks {
    /// When the request was made.
    pub begun: At,
    /// When its last byte had been sent; None: unknown.
    pub left: Option<At>,
    /// How long it waited for a connection of the pool (ns).
    pub wait_ns: i64,
    /// The instants of its connection's making; none when it used an open one.
    pub dialed: Dialed,
}

/// The durations of a request's parts, in ns; 0 for parts that did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Until there was a connection: the wait for the pool, and the opening.
    pub blocked_ns: i64,
    /// The part of it until the name had an address.
    pub looking_up_ns: i64,
    /// The part of it for TCP's handshake.
    pub connecting_ns: i64,
    /// The part of it for TLS's handshake.
    pub tls_handshaking_ns: i64,
    /// Until the last byte of the request had been sent.
    pub sending_ns: i64,
    /// Until the head of the response had arrived.
    pub waiting_ns: i64,
    /// Until the whole response had arrived.
    pub receiving_ns: i64,
}

impl Marks {
    /// The durations of an answered request's parts.
    pub fn phases(&self, is_tls: bool, first_byte: At, ended: At) -> Phases {
        let at = |dialing| self.dialed.at(dialing);
        let between = |from: Option<At>, to: Option<At>| match (from, to) {
            (Some(from), Some(to)) => to.since(from).max(0),
            _ => 0,
        };
        let ready = at(Dialing::Ready).unwrap_or(self.begun.plus(self.wait_ns));
        let left = self.left.map_or(ready, |left| left.max(ready)).min(first_byte);
        Phases {
            blocked_ns: ready.since(self.begun).max(0),
            looking_up_ns: between(at(Dialing::Begun), at(Dialing::Resolved)),
            connecting_ns: between(at(Dialing::Resolved), at(Dialing::Connected)),
            tls_handshaking_ns: if is_tls { between(at(Dialing::Connected), at(Dialing::Ready)) } else { 0 },
            sending_ns: left.since(ready).max(0),
            waiting_ns: first_byte.since(left).max(0),
            receiving_ns: ended.since(first_byte).max(0),
        }
    }

    /// The marks of a request that was just made.
    pub fn at(begun: At) -> Marks {
        Marks { begun, left: None, wait_ns: 0, dialed: Dialed::default() }
    }
}

/// The instants at which a connection's making reached each stage.
#[derive(Debug, Default)]
pub struct Dialed([Cell<Option<At>>; 4]);

impl Dialed {
    /// Notes that the stage is reached.
    pub fn note(&self, dialing: Dialing, now: At) {
        self.0[dialing as usize].set(Some(now));
    }

    /// When the stage was reached; None: never.
    pub fn at(&self, dialing: Dialing) -> Option<At> {
        self.0[dialing as usize].get()
    }

    /// The duration of each part.
    pub(crate) fn opening(&self, is_tls: bool) -> OpeningTimes {
        let between = |from, to| match (self.at(from), self.at(to)) {
            (Some(from), Some(to)) => u32::try_from(to.since(from) / 1000).unwrap_or_default(),
            _ => 0,
        };
        OpeningTimes {
            name_us: between(Dialing::Begun, Dialing::Resolved),
            tcp_us: between(Dialing::Resolved, Dialing::Connected),
            tls_us: if is_tls { between(Dialing::Connected, Dialing::Ready) } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_request_follow_one_another_to_its_end() {
        let dialed = Dialed::default();
        for (dialing, at) in
            [(Dialing::Begun, 10), (Dialing::Resolved, 30), (Dialing::Connected, 100), (Dialing::Ready, 300)]
        {
            dialed.note(dialing, At(at));
        }
        let marks = Marks { begun: At(4), left: Some(At(310)), wait_ns: 6, dialed };
        let phases = marks.phases(true, At(700), At(1000));
        let expected = Phases {
            blocked_ns: 296,
            looking_up_ns: 20,
            connecting_ns: 70,
            tls_handshaking_ns: 200,
            sending_ns: 10,
            waiting_ns: 390,
            receiving_ns: 300,
        };
        assert_eq!(phases, expected);
    }

    #[test]
    fn over_a_kept_connection_nothing_is_opened() {
        let marks = Marks { begun: At(4), left: None, wait_ns: 0, dialed: Dialed::default() };
        let phases = marks.phases(false, At(50), At(60));
        assert_eq!(phases, Phases { waiting_ns: 46, receiving_ns: 10, ..Phases::default() });
    }
}
