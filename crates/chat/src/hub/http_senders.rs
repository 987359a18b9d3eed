//! Senders by HTTP: a user is one sender, whatever connections its requests come on.
//!
//! Planted faults and the order of a sender's messages go by its connection, and a request has none that lasts. So a
//! user's requests share a sender, which ends when it has not been used for a while. Whoever has no account is a sender
//! of its own with every request: nobody can tell them apart.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::config::Limits;
use crate::rooms::peer::{Peer, Peers};
use crate::sync::lock;

/// By user; there are no more than accounts.
#[derive(Default)]
pub(crate) struct HttpSenders(Mutex<HashMap<u64, Sender>>);

struct Sender {
    peer: Arc<Peer>,
    /// Milliseconds of the service's clock.
    used: u64,
}

impl HttpSenders {
    pub(crate) fn of(&self, user: Option<u64>, peers: &Peers, now: u64, limits: &Limits) -> Arc<Peer> {
        let Some(user) = user else { return peers.sender(None, limits) };
        let mut senders = lock(&self.0);
        let sender = senders
            .entry(user)
            .or_insert_with(|| Sender { peer: peers.sender(Some(user), limits), used: now });
        sender.used = now;
        sender.peer.clone()
    }

    /// Ends those not used since that time.
    pub(crate) fn sweep(&self, since: u64) {
        lock(&self.0).retain(|_, sender| sender.used >= since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_one_sender_until_it_has_been_silent_and_who_has_no_account_a_new_one_each_time() {
        let (senders, peers, limits) = (HttpSenders::default(), Peers::default(), Limits::default());
        let id = |user, now| senders.of(user, &peers, now, &limits).id;
        let first = id(Some(7), 10);
        assert_eq!((id(Some(7), 20), senders.of(Some(7), &peers, 20, &limits).user()), (first, Some(7)));
        assert_ne!(id(Some(8), 20), first);
        assert_ne!(id(None, 20), id(None, 20));
        senders.sweep(20);
        assert_eq!(id(Some(7), 30), first);
        senders.sweep(31);
        assert_ne!(id(Some(7), 40), first);
        assert!(peers.is_empty(), "they are no connections");
    }
}
