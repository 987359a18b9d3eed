//! The write buffer of a connection: frames taken from its queue and not written yet.
//!
//! Apart from a WebSocket's task because an event stream writes the same way and reads nothing.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};

use crate::connection::outbox::{Outbox, Standing};
use crate::connection::socket::TaskSocket;
use crate::metrics::Metrics;

/// Frames written by one system call.
const SLICES: usize = 64;

#[derive(Default)]
pub(crate) struct WriteBuffer {
    frames: VecDeque<Bytes>,
}

impl WriteBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The waiting frames, the first perhaps in part.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Bytes> {
        self.frames.iter()
    }

    pub(crate) fn push(&mut self, frame: Bytes) {
        self.frames.push_back(frame);
    }

    /// Gives up all but the first frame, which may be half written and must then be finished.
    pub(crate) fn give_up(&mut self) {
        self.frames.truncate(1);
    }

    /// Takes what the queue has; only once all before it is written.
    pub(crate) fn take(&mut self, outbox: &Outbox) -> Standing {
        outbox.take(&mut self.frames)
    }

    /// Writes until the socket is full (pending), all is written (true) or it broke (false).
    pub(crate) fn flush(
        &mut self,
        socket: &mut TaskSocket,
        outbox: &Outbox,
        metrics: &Metrics,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        while !self.frames.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.frames.len().min(SLICES);
            for (slice, frame) in slices.iter_mut().zip(&self.frames) {
                *slice = IoSlice::new(frame);
            }
            match ready!(socket.poll_write(cx, &slices[..count])) {
                Ok(written @ 1..) => self.wrote(written, outbox, metrics),
                Ok(_) | Err(_) => return Poll::Ready(false),
            }
        }
        if self.frames.capacity() > SLICES {
            self.frames = VecDeque::new();
        }
        socket.poll_flush(cx).map(|flushed| flushed.is_ok())
    }

    pub(crate) fn wrote(&mut self, written: usize, outbox: &Outbox, metrics: &Metrics) {
        let (mut left, mut frames) = (written, 0);
        while let Some(frame) = self.frames.front_mut() {
            if left < frame.len() {
                frame.advance(left);
                break;
            }
            left -= frame.len();
            self.frames.pop_front();
            frames += 1;
        }
        outbox.wrote(written, frames);
        metrics.bytes_out.add(written as u64);
        metrics.writes.add(1);
    }
}
