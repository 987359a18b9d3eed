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

use crate::connection::socket::Socket;

#[derive(Default)]
pub(crate) struct Content {
    bytes: Bytes,
    kind: ContentKind,
}

#[derive(Default)]
enum ContentKind {
    #[default]
    Whole,
    /// Somebody waits to hear that the connection took it.
    Promised(Box<dyn Promise>),
    /// An answer that goes on.
    Streamed(Box<dyn Parts>),
    /// Not for hyper at all.
    Handed(Handover),
}

/// A party that must know whether an answer was taken to be written: dropped unkept when it was not.
pub(crate) trait Promise: Send {
    /// The connection took all of the answer.
    fn kept(self: Box<Self>);
}

/// An answer whose parts come one after the other.
pub(crate) trait Parts: Send {
    /// The next part; `None` at the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// Takes the socket, and the head of the answer that it has to write first.
pub(crate) type Handover = Box<dyn FnOnce(Socket, Bytes) + Send>;

impl Content {
    /// An answer that somebody must know the fate of.
    pub(crate) fn promised(bytes: impl Into<Bytes>, promise: impl Promise + 'static) -> Content {
        Content { bytes: bytes.into(), kind: ContentKind::Promised(Box::new(promise)) }
    }

    pub(crate) fn streamed(parts: impl Parts + 'static) -> Content {
        Content { bytes: Bytes::new(), kind: ContentKind::Streamed(Box::new(parts)) }
    }

    pub(crate) fn handed(handover: Handover) -> Content {
        Content { bytes: Bytes::new(), kind: ContentKind::Handed(handover) }
    }

    /// The socket's next owner, if it leaves hyper.
    pub(crate) fn hand_over(&mut self) -> Option<Handover> {
        match std::mem::take(&mut self.kind) {
            ContentKind::Handed(handover) => Some(handover),
            kind => {
                self.kind = kind;
                None
            }
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Content {
        Content { bytes, kind: ContentKind::Whole }
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
            ContentKind::Streamed(parts) => ready!(parts.poll(cx)).unwrap_or_default(),
            _ => {
                if let ContentKind::Promised(promise) = std::mem::take(&mut self.kind) {
                    promise.kept();
                }
                std::mem::take(&mut self.bytes)
            }
        };
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty() && !matches!(self.kind, ContentKind::Streamed(_))
    }

    fn size_hint(&self) -> SizeHint {
        match self.kind {
            ContentKind::Streamed(_) => SizeHint::new(),
            _ => SizeHint::with_exact(self.bytes.len() as u64),
        }
    }
}
