//! The content of an answer: bytes, and for a poll the word of honour that they were taken.
//!
//! Frames leave the queue when a poll is answered, but the answer may never be written: its client can be gone by
//! then. Content that is dropped before the connection took it says so by dropping its `Pending`, which ends the session
//! rather than leave a gap in it. Bytes the connection took can still be lost with it; long-polling has no way to
//! know.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::polling::Pending;

#[derive(Default)]
pub(crate) struct Content {
    bytes: Bytes,
    pending: Option<Pending>,
}

impl Content {
    /// The answer to a poll.
    pub(crate) fn polled(body: Vec<u8>, pending: Pending) -> Content {
        Content { bytes: body.into(), pending: Some(pending) }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Content {
        Content { bytes, pending: None }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(pending) = self.pending.take() {
            pending.answered();
        }
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
