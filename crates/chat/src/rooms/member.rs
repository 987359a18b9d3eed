//! A peer's membership in a room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use bytes::Bytes;

use crate::encoding::form::{Form, Piece};
use crate::metrics::Metrics;
use crate::model::message::Message;
use crate::rooms::delivery::Delivered;
use crate::rooms::peer::Peer;
use crate::rooms::room::Room;

/// A peer in a room, in one form. It is made before it is a member and known by its pointer.
pub(crate) struct Member {
    pub(crate) peer: Arc<Peer>,
    pub(crate) form: Form,
    /// Its number among those that the room ever had.
    pub(crate) number: u64,
    pub(crate) since: Instant,
    /// The messages numbered above this one came to it as they were published; what is before, if anything, was
    /// replayed.
    from: AtomicU64,
    /// A message with a higher serial than this came behind all that was replayed: 0 when nothing was, `u64::MAX` until
    /// it is known.
    settled: AtomicU64,
    entered: AtomicBool,
    left: AtomicBool,
}

impl Member {
    pub(crate) fn new(peer: &Arc<Peer>, form: Form, number: u64) -> Arc<Member> {
        Arc::new(Member {
            peer: peer.clone(),
            form,
            number,
            since: Instant::now(),
            from: AtomicU64::new(0),
            settled: AtomicU64::new(u64::MAX),
            entered: AtomicBool::new(false),
            left: AtomicBool::new(false),
        })
    }

    /// From now on it gets what is published, above this number; true the first time. Under the room's lock.
    pub(crate) fn enters(&self, from: u64) -> bool {
        let enters = !self.entered.swap(true, Relaxed);
        if enters {
            self.from.store(from, Relaxed);
        }
        enters
    }

    /// Whoever names a serial above this one has got what was replayed.
    pub(crate) fn settle(&self, serial: u64) {
        self.settled.store(serial, Relaxed);
    }

    /// The number it began behind, and the serial it is settled by.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.from.load(Relaxed), self.settled.load(Relaxed))
    }

    /// From now on it is not told anything for this membership. Under the room's lock.
    pub(crate) fn leaves(&self) {
        self.left.store(true, Relaxed);
    }

    /// To be asked under the lock of the peer's queue, which orders it against what the peer is told.
    pub(crate) fn stays(&self) -> bool {
        !self.left.load(Relaxed)
    }

    /// The same, and what must be acknowledged is noted.
    pub(crate) fn takes(&self, seqs: impl ExactSizeIterator<Item = u64>) -> bool {
        self.stays() && self.form.sending(seqs)
    }

    /// Queues the copy of one message, though the member may have left: a fault has held it.
    pub(crate) fn push(&self, seq: u64, frame: &Bytes, delivered: &mut Delivered) -> bool {
        delivered.push_if(&self.peer, frame, || self.form.sending(std::iter::once(seq)))
    }

    /// Something was not sent to it: ends the connection where that must not go on. Not under the lock of its queue.
    pub(crate) fn not_sent(&self, metrics: &Metrics) {
        if let Some(farewell) = self.form.overflow() {
            self.peer.end_with(farewell, metrics);
        }
    }

    /// Whether it gets published messages; false while missed ones are still being read.
    pub(crate) fn has_entered(&self) -> bool {
        self.entered.load(Relaxed)
    }

    /// Messages that it missed, as they are written for it.
    pub(crate) fn written<'a>(&self, room: &Room, messages: impl IntoIterator<Item = &'a Message>) -> Piece {
        Piece::new(&room.id, messages, &self.form.without_offset())
    }

    /// Queues the messages behind this number; for a peer that may be polled each by itself, because a poll takes
    /// frames apart by their headers.
    pub(crate) fn give(&self, piece: &Piece, after: u64) -> Delivered {
        let mut delivered = Delivered::default();
        // A room's numbers have no gaps.
        let seqs = (0..piece.count()).map(|at| after + 1 + at as u64);
        if self.peer.polled.load(Relaxed) {
            for (frame, seq) in piece.frames().zip(seqs) {
                delivered.push_if(&self.peer, &frame, || self.takes(std::iter::once(seq)));
            }
        } else if delivered.push_if(&self.peer, &piece.bytes, || self.takes(seqs)) {
            delivered.copies = piece.count() as u64;
        }
        delivered
    }
}
