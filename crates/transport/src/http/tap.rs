//! A socket that counts its bytes and remembers how it failed.
//!
//! hyper reports an error of its own making; the socket's own error (reset, end, TLS alert) is noted here on its way
//! through, so that failures are classified by their cause and not by words.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::{Failed, Socket};

/// The traffic and the end of a connection.
#[derive(Default)]
pub(super) struct Wire {
    pub(super) sent: Cell<u64>,
    pub(super) received: Cell<u64>,
    /// The peer ended its side.
    pub(super) ended: Cell<bool>,
    lost: RefCell<Option<Failed>>,
}

impl Wire {
    /// Why the socket failed; None when it did not.
    pub(super) fn lost(&self) -> Option<Failed> {
        self.lost.borrow().clone()
    }

    fn note(&self, error: &io::Error) {
        self.lost.borrow_mut().get_or_insert_with(|| Failed::established(error));
    }
}

pub(super) struct Tap {
    socket: Socket,
    wire: Rc<Wire>,
}

impl Tap {
    pub(super) fn new(socket: Socket) -> (Tap, Rc<Wire>) {
        let wire = Rc::new(Wire::default());
        (Tap { socket, wire: wire.clone() }, wire)
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(cx, buf);
        match &polled {
            Poll::Ready(Ok(())) => {
                let read = (buf.filled().len() - before) as u64;
                self.wire.received.set(self.wire.received.get() + read);
                if read == 0 && buf.remaining() > 0 {
                    self.wire.ended.set(true);
                }
            }
            Poll::Ready(Err(error)) => self.wire.note(error),
            Poll::Pending => {}
        }
        polled
    }
}

impl Tap {
    fn sent(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &polled {
            Poll::Ready(Ok(written)) => self.wire.sent.set(self.wire.sent.get() + *written as u64),
            Poll::Ready(Err(error)) => self.wire.note(error),
            Poll::Pending => {}
        }
        polled
    }
}

impl AsyncWrite for Tap {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.sent(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.sent(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.socket).poll_flush(cx);
        if let Poll::Ready(Err(error)) = &polled {
            self.wire.note(error);
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
