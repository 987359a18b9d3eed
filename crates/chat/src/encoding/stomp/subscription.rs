//! A subscription as the room sees it: how its messages are written, and what of them is not acknowledged.

use std::sync::Arc;

use super::envelope::Dialect;
use super::replies::Complaint;
use super::style::Style;
use super::unacked::Unacked;
use crate::connection::outbox::Farewell;

#[derive(Clone, Debug)]
pub(crate) struct SubscriptionForm {
    style: Arc<Style>,
    acks: Option<Arc<Acks>>,
}

#[derive(Debug)]
pub(crate) struct Acks {
    pub(crate) unacked: Unacked,
    dialect: Dialect,
}

/// Equal forms are sent as the same bytes.
impl PartialEq for SubscriptionForm {
    fn eq(&self, other: &SubscriptionForm) -> bool {
        self.style == other.style
    }
}

impl Eq for SubscriptionForm {}

impl SubscriptionForm {
    pub(crate) fn new(style: Style, unacked: Option<Unacked>, dialect: Dialect) -> SubscriptionForm {
        let acks = unacked.map(|unacked| Arc::new(Acks { unacked, dialect }));
        SubscriptionForm { style: Arc::new(style), acks }
    }

    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// The message's acknowledgement, if it needs one.
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

    /// How the connection ends because something was not sent: too much is unacknowledged.
    pub(crate) fn overflow(&self) -> Option<Farewell> {
        let acks = self.acks.as_ref().filter(|acks| acks.unacked.is_full())?;
        let message =
            format!("a subscription may leave {} messages unacknowledged, got more", acks.unacked.most());
        let complaint = Complaint { code: "too_many_unacknowledged", message, is_breach: false };
        Some(acks.dialect.farewell(&complaint, None))
    }
}
