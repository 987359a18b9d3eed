//! A connection's socket, bare or inside TLS.
//!
//! What is plain stays as it was: the socket is split, and whoever publishes writes to its other half. TLS has one
//! state for both directions, so its socket belongs to the connection's task alone; publishers wake that task instead.
//! It is boxed, so that a plain connection does not carry its size.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_rustls::server::TlsStream;

/// A whole socket.
pub(crate) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Socket::Plain(stream) => stream,
            Socket::Tls(stream) => stream.get_ref().0,
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Socket::Tls(_))
    }

    /// The side of the connection's task, and the half for publishers, when they can have one.
    pub(crate) fn divide(self) -> (TaskSocket, Option<OwnedWriteHalf>) {
        match self {
            Socket::Plain(stream) => {
                let (read, write) = stream.into_split();
                (TaskSocket::Plain(read), Some(write))
            }
            Socket::Tls(stream) => (TaskSocket::Tls(stream), None),
        }
    }
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Socket {
        Socket::Plain(stream)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Socket::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Socket::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Socket::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Socket::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Socket::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// The side of the task that carries a connection: it reads, and writes what nobody else has.
pub(crate) enum TaskSocket {
    /// Written to as well: the half that may only write is the queue's.
    Plain(OwnedReadHalf),
    Tls(Box<TlsStream<TcpStream>>),
}

impl TaskSocket {
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            TaskSocket::Plain(half) => Pin::new(half).poll_read(cx, into),
            TaskSocket::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }

    /// Writes some of the slices; pending when the socket, or of TLS its buffer, is full.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            TaskSocket::Plain(half) => loop {
                let socket = half.as_ref();
                ready!(socket.poll_write_ready(cx))?;
                match socket.try_write_vectored(slices) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    written => return Poll::Ready(written),
                }
            },
            TaskSocket::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    /// Pending while something that was written has not reached the system: only of TLS, whose records are whole.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            TaskSocket::Plain(_) => Poll::Ready(Ok(())),
            TaskSocket::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    /// Ends our side and leaves the other open: closing with unread input would reset the socket and could lose what
    /// was written last. Ready once that is done or cannot be.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            TaskSocket::Plain(half) => {
                let _ = SockRef::from(half.as_ref()).shutdown(Shutdown::Write);
                Poll::Ready(())
            }
            TaskSocket::Tls(stream) => Pin::new(stream).poll_shutdown(cx).map(drop),
        }
    }
}
