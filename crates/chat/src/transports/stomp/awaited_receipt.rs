//! A receipt that waits until messages are published, and the error in its place.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::connection::outbox::Close;
use crate::encoding::stomp::envelope::Dialect;
use crate::encoding::stomp::replies::{self, Complaint};
use crate::hub::receipt;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::rooms::peer::Peer;

/// Says what is wrong and closes. What a planted fault holds for this client goes out before.
pub(crate) fn complain(
    dialect: Dialect,
    peer: &Peer,
    complaint: &Complaint,
    receipt: Option<&str>,
    metrics: &Metrics,
) {
    if complaint.is_breach {
        metrics.violations.add(1);
    }
    peer.end_with(dialect.farewell(complaint, receipt), metrics);
}

/// The end of a session that its client asked for: held by the session until then, and by all that it still awaits. It
/// has come when nobody holds it any more, so its receipt is behind all others.
pub(crate) struct Parting {
    peer: Arc<Peer>,
    /// The frame to part with, if any, once the client has said DISCONNECT.
    asked: OnceLock<Option<Bytes>>,
}

impl Parting {
    pub(crate) fn new(peer: &Arc<Peer>) -> Arc<Parting> {
        Arc::new(Parting { peer: peer.clone(), asked: OnceLock::new() })
    }

    pub(crate) fn ask(&self, receipt: Option<Bytes>) {
        let _ = self.asked.set(receipt);
    }
}

impl fmt::Debug for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parting").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Drop for Parting {
    fn drop(&mut self) {
        if let Some(receipt) = self.asked.take() {
            receipt.into_iter().for_each(|frame| {
                self.peer.outbox.push(frame);
            });
            self.peer.outbox.close(Close::Normal);
        }
    }
}

/// The answer to a SEND, or to a COMMIT with all its SENDs, once the last of its messages is published.
#[derive(Debug)]
pub(crate) struct AwaitedReceipt {
    dialect: Dialect,
    /// The frame's `receipt`, when it asked for one, and what it will be answered with.
    receipt: Option<(Box<str>, Bytes)>,
    left: AtomicUsize,
    _parting: Arc<Parting>,
}

impl AwaitedReceipt {
    /// `None` when the version has no way to say the receipt's id.
    pub(crate) fn new(
        dialect: Dialect,
        receipt: Option<&str>,
        messages: usize,
        parting: &Arc<Parting>,
    ) -> Option<Arc<AwaitedReceipt>> {
        let receipt = match receipt {
            Some(id) => {
                let frame = replies::receipt(dialect.version, id, &[])?;
                Some((id.into(), dialect.envelope.wrap(&frame)))
            }
            None => None,
        };
        Some(Arc::new(AwaitedReceipt {
            dialect,
            receipt,
            left: AtomicUsize::new(messages),
            _parting: parting.clone(),
        }))
    }
}

impl receipt::Awaited for AwaitedReceipt {
    fn published(&self) -> Option<Bytes> {
        let was_last = self.left.fetch_sub(1, Relaxed) == 1;
        self.receipt.as_ref().filter(|_| was_last).map(|(_, frame)| frame.clone())
    }

    fn refused(&self, peer: &Peer, problem: &Problem, metrics: &Metrics) {
        let id = self.receipt.as_ref().map(|(id, _)| &**id);
        complain(self.dialect, peer, &problem.clone().into(), id, metrics);
    }
}

#[cfg(test)]
mod tests {
    use crate::hub::receipt::Awaited as _;
    use sonagi_wire::stomp::Version;

    use super::*;
    use crate::config::Limits;
    use crate::connection::outbox::Standing;
    use crate::encoding::stomp::envelope::Envelope;
    use crate::rooms::peer::Peers;

    const DIALECT: Dialect = Dialect { version: Version::V1_1, envelope: Envelope::Plain };

    #[test]
    fn a_receipt_comes_with_the_last_of_its_messages() {
        let parting = Parting::new(&Peers::default().sender(None, &Limits::default()));
        let awaited = |receipt, messages| AwaitedReceipt::new(DIALECT, receipt, messages, &parting);
        let three = awaited(Some("7"), 3).unwrap();
        assert_eq!((three.published(), three.published()), (None, None));
        assert_eq!(three.published(), Some(Envelope::Plain.wrap("RECEIPT\nreceipt-id:7\n\n\0")));
        assert_eq!(awaited(None, 1).unwrap().published(), None);
        assert!(awaited(Some("a\rb"), 1).is_none());
    }

    #[test]
    fn a_session_parts_when_it_was_asked_to_and_awaits_nothing_any_more() {
        for is_asked in [true, false] {
            let peer = Peers::default().sender(None, &Limits::default());
            let parting = Parting::new(&peer);
            let awaited = [(); 2].map(|()| AwaitedReceipt::new(DIALECT, None, 1, &parting).unwrap());
            if is_asked {
                parting.ask(None);
            }
            drop(parting);
            let [first, last] = awaited;
            drop(first);
            assert!(peer.outbox.is_open());
            drop(last);
            let end = if is_asked { Standing::Closing(Close::Normal) } else { Standing::Open };
            assert_eq!(peer.outbox.standing(), end);
        }
    }
}
