//! A subscription as the room sees it: how its messages are written, and what of them is not acknowledged.

use std::sync::Arc;

use super::awaited::Tongue;
use super::replies::Complaint;
use super::style::Style;
use super::unacked::Unacked;
use crate::metrics::Metrics;
use crate::rooms::peer::Peer;

#[derive(Clone, Debug)]
pub(crate) struct Listening {
    style: Arc<Style>,
    acks: Option<Arc<Acks>>,
}

#[derive(Debug)]
pub(crate) struct Acks {
    pub(crate) unacked: Unacked,
    tongue: Tongue,
}

/// What is equal is sent the same bytes.
impl PartialEq for Listening {
    fn eq(&self, other: &Listening) -> bool {
        self.style == other.style
    }
}

impl Eq for Listening {}

impl Listening {
    pub(crate) fn new(style: Style, unacked: Option<Unacked>, tongue: Tongue) -> Listening {
        let acks = unacked.map(|unacked| Arc::new(Acks { unacked, tongue }));
        Listening { style: Arc::new(style), acks }
    }

    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// What must be acknowledged, if anything.
    pub(crate) fn acks(&self) -> Option<&Arc<Acks>> {
        self.acks.as_ref()
    }

    /// Notes messages that are about to be sent; false when they must not be, because too many are unacknowledged.
    pub(crate) fn sending(&self, seqs: impl ExactSizeIterator<Item = u64>) -> bool {
        self.acks.as_ref().is_none_or(|acks| acks.unacked.sending(seqs))
    }

    /// How many messages of those that were missed may be sent now.
    pub(crate) fn free(&self, in_vain: bool) -> usize {
        self.acks.as_ref().map_or(usize::MAX, |acks| acks.unacked.free(in_vain))
    }

    /// Something was not sent: when too much was unacknowledged, the connection ends. Not under the lock of the queue.
    pub(crate) fn not_sent(&self, peer: &Peer, metrics: &Metrics) {
        if let Some(acks) = &self.acks
            && acks.unacked.is_full()
        {
            let message =
                format!("a subscription may leave {} messages unacknowledged, got more", acks.unacked.most());
            let complaint = Complaint { code: "too_many_unacknowledged", message, is_breach: false };
            acks.tongue.complain(peer, &complaint, None, metrics);
        }
    }
}
