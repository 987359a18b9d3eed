//! A receipt that waits until messages are published, and the error in its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use sonagi_wire::stomp::Version;

use super::envelope::Envelope;
use super::replies::{self, Complaint};
use crate::metrics::Metrics;
use crate::peer::Peer;
use crate::problem::Problem;

/// How a client wants to be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tongue {
    pub(crate) version: Version,
    pub(crate) envelope: Envelope,
}

impl Tongue {
    /// Says what is wrong and closes. What a planted fault holds for this client goes out before.
    pub(crate) fn complain(
        self,
        peer: &Peer,
        complaint: &Complaint,
        receipt: Option<&str>,
        metrics: &Metrics,
    ) {
        if complaint.is_breach {
            metrics.violations.add(1);
        }
        peer.leave_all(metrics);
        peer.outbox.push(self.envelope.wrap(&complaint.frame(self.version, receipt)));
        peer.outbox.close(complaint.close());
    }
}

/// What a SEND, or a COMMIT with all its SENDs, is answered with once the last of its messages is published.
#[derive(Debug)]
pub(crate) struct Awaited {
    tongue: Tongue,
    /// The frame's `receipt`, when it asked for one, and what it will be answered with.
    receipt: Option<(Box<str>, Bytes)>,
    left: AtomicUsize,
}

impl Awaited {
    /// `None` when the version has no way to say the receipt's id.
    pub(crate) fn new(tongue: Tongue, receipt: Option<&str>, messages: usize) -> Option<Arc<Awaited>> {
        let receipt = match receipt {
            Some(id) => {
                let frame = replies::receipt(tongue.version, id, &[])?;
                Some((id.into(), tongue.envelope.wrap(&frame)))
            }
            None => None,
        };
        Some(Arc::new(Awaited { tongue, receipt, left: AtomicUsize::new(messages) }))
    }

    /// One of the messages is published; the answer when it was the last.
    pub(crate) fn published(&self) -> Option<Bytes> {
        let was_last = self.left.fetch_sub(1, Relaxed) == 1;
        self.receipt.as_ref().filter(|_| was_last).map(|(_, frame)| frame.clone())
    }

    pub(crate) fn refused(&self, peer: &Peer, problem: &Problem, metrics: &Metrics) {
        let id = self.receipt.as_ref().map(|(id, _)| &**id);
        self.tongue.complain(peer, &problem.clone().into(), id, metrics);
    }
}

impl PartialEq for Awaited {
    fn eq(&self, other: &Awaited) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Awaited {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_comes_with_the_last_of_its_messages() {
        let tongue = Tongue { version: Version::V1_1, envelope: Envelope::Plain };
        let awaited = Awaited::new(tongue, Some("7"), 3).unwrap();
        assert_eq!((awaited.published(), awaited.published()), (None, None));
        assert_eq!(awaited.published(), Some(Envelope::Plain.wrap("RECEIPT\nreceipt-id:7\n\n\0")));
        assert_eq!(Awaited::new(tongue, None, 1).unwrap().published(), None);
        assert!(Awaited::new(tongue, Some("a\rb"), 1).is_none());
    }
}
