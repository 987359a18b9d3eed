//! The content of an answer: bytes, and for some more than that.
//!
//! Frames leave the queue when a poll is answered, but the answer may never be written: its client can be gone by
//! then. Content that is dropped before the connection took it says so by dropping its promise, which ends the session
//! rather than leave a gap in it. Bytes the connection took can still be lost with it; polling has no way to know.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::net::TcpStream;

use crate::transports::engineio::polling::Pending;
use crate::transports::sockjs::{Receiving, Streaming};

#[derive(Default)]
pub(crate) struct Content {
    bytes: Bytes,
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    #[default]
    Whole,
    /// The answer to a poll of Engine.IO.
    Polled(Pending),
    /// The answer to a poll of SockJS.
    Received(Receiving),
    /// An answer of SockJS that goes on.
    Streamed(Streaming),
    /// Not for hyper at all.
    Handed(Handover),
}

/// Takes the socket, and the head of the answer that it has to write first.
pub(crate) type Handover = Box<dyn FnOnce(TcpStream, Bytes) + Send>;

impl Content {
    /// The answer to a poll.
    pub(crate) fn polled(body: Vec<u8>, pending: Pending) -> Content {
        Content { bytes: body.into(), kind: Kind::Polled(pending) }
    }

    pub(crate) fn received(bytes: Bytes, receiving: Receiving) -> Content {
        Content { bytes, kind: Kind::Received(receiving) }
    }

    pub(crate) fn streamed(streaming: Streaming) -> Content {
        Content { bytes: Bytes::new(), kind: Kind::Streamed(streaming) }
    }

    pub(crate) fn handed(handover: Handover) -> Content {
        Content { bytes: Bytes::new(), kind: Kind::Handed(handover) }
    }

    /// Who is to have the socket, if it is to leave hyper.
    pub(crate) fn hand_over(&mut self) -> Option<Handover> {
        match std::mem::take(&mut self.kind) {
            Kind::Handed(handover) => Some(handover),
            kind => {
                self.kind = kind;
                None
            }
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Content {
        Content { bytes, kind: Kind::Whole }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.kind {
            Kind::Streamed(streaming) => ready!(streaming.poll(cx)).unwrap_or_default(),
            _ => {
                match std::mem::take(&mut self.kind) {
                    Kind::Polled(pending) => pending.answered(),
                    Kind::Received(receiving) => receiving.taken(),
                    Kind::Whole | Kind::Streamed(_) | Kind::Handed(_) => {}
                }
                std::mem::take(&mut self.bytes)
            }
        };
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty() && !matches!(self.kind, Kind::Streamed(_))
    }

    fn size_hint(&self) -> SizeHint {
        match self.kind {
            Kind::Streamed(_) => SizeHint::new(),
            _ => SizeHint::with_exact(self.bytes.len() as u64),
        }
    }
}
