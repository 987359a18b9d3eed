//! The way of copies onto their queues, and the account of it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;

use crate::connection::outbox::Pushed;
use crate::encoding::form::Piece;
use crate::metrics::Metrics;
use crate::model::message::Message;
use crate::rooms::member::Member;
use crate::rooms::peer::Peer;

/// Copies queued and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub(crate) copies: u64,
    pub(crate) bytes: u64,
    /// Bytes that went straight to sockets, and the system calls that took them.
    written: u64,
    writes: u64,
    /// Connections that got something.
    pub(crate) receivers: u64,
}

impl Delivered {
    /// Queues one copy and says whether it is on a live queue.
    pub(crate) fn push(&mut self, peer: &Peer, frame: &Bytes) -> bool {
        self.push_if(peer, frame, || true)
    }

    /// Queues one copy for who wants it still.
    pub(crate) fn push_if(&mut self, peer: &Peer, frame: &Bytes, wanted: impl FnOnce() -> bool) -> bool {
        let queued = peer.outbox.push_if(frame.clone(), wanted) == Pushed::Queued;
        if queued {
            self.copies += 1;
            self.bytes += frame.len() as u64;
            self.receivers += 1;
        }
        queued
    }

    /// Hands over a piece of so many frames, to the socket itself when it takes it. True unless it went nowhere.
    pub(crate) fn deliver(
        &mut self,
        peer: &Peer,
        piece: &Bytes,
        frames: u64,
        wanted: impl FnOnce() -> bool,
    ) -> bool {
        let (pushed, written) = peer.outbox.deliver_if(piece, wanted);
        self.written += written as u64;
        self.writes += u64::from(written > 0);
        let queued = pushed == Pushed::Queued;
        if queued {
            self.copies += frames;
            self.bytes += piece.len() as u64;
            self.receivers += 1;
        }
        queued
    }

    /// Hands a member its copies of messages, which are that piece, and behind them the acknowledgements of those that
    /// it sent itself. True when all are on their way.
    pub(crate) fn hand(
        &mut self,
        member: &Member,
        piece: &Piece,
        messages: &[Message],
        own: &mut [Ack],
    ) -> bool {
        let (peer, count) = (&member.peer, messages.len() as u64);
        let seqs = messages.iter().map(|message| message.seq);
        if peer.polled.load(Relaxed) {
            return piece.frames().zip(seqs).fold(true, |sent, (frame, seq)| {
                sent & self.push_if(peer, &frame, || member.takes(std::iter::once(seq)))
            });
        }
        // None, or given with the copy of another membership of the same peer.
        if own.iter().all(|ack| ack.given) {
            return self.deliver(peer, &piece.bytes, count, || member.takes(seqs));
        }
        let mut both = piece.bytes.to_vec();
        own.iter().for_each(|ack| both.extend_from_slice(&ack.frame));
        let more = both.len() - piece.bytes.len();
        let is_sent = self.deliver(peer, &both.into(), count, || member.takes(seqs));
        if is_sent {
            self.bytes -= more as u64;
            own.iter_mut().for_each(|ack| ack.given = true);
        }
        is_sent
    }

    pub(crate) fn record(self, metrics: &Metrics) {
        metrics.deliveries.add(self.copies);
        metrics.delivery_bytes.add(self.bytes);
        metrics.bytes_out.add(self.written);
        metrics.writes.add(self.writes);
    }
}

/// The sender's acknowledgement once its message is published.
pub(crate) struct Ack {
    pub(crate) peer: Arc<Peer>,
    /// A whole frame.
    pub(crate) frame: Bytes,
    /// Whether it went with the sender's own copy.
    pub(crate) given: bool,
}

/// The acknowledgements, sorted by peer, for this one.
pub(crate) fn acks_of(peer: u64, acks: &mut [Ack]) -> &mut [Ack] {
    let from = acks.partition_point(|ack| ack.peer.id < peer);
    let to = from + acks[from..].iter().take_while(|ack| ack.peer.id == peer).count();
    &mut acks[from..to]
}
