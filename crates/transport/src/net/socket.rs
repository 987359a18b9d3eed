//! A connection's bytes, over TCP, TLS or a pipe.
//!
//! A load thread receives most of its messages one by one, so what a system call costs beside the kernel's own work is
//! felt. Of plain TCP, [`Socket::poll_receive`] and [`Socket::poll_send`] therefore call the kernel themselves: the C
//! library's `recv` and `send` are places where a thread can be cancelled, and say so at every call.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connected byte stream: a closed set, so that reading costs a branch and not a virtual call.
#[derive(Debug)]
pub enum Socket {
    /// TCP.
    Plain(TcpStream),
    /// TLS over TCP; boxed because its state is a kilobyte and most sockets have none.
    Tls(Box<TlsStream<TcpStream>>),
    /// A pipe inside the process, for tests under simulated time.
    Simulated(DuplexStream),
}

/// The negotiated TLS parameters, by the names of the standards (`TLSv1_3`, `TLS13_AES_128_GCM_SHA256`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secured {
    /// The protocol version.
    pub version: rustls::ProtocolVersion,
    /// The cipher suite.
    pub suite: rustls::CipherSuite,
}

impl Socket {
    /// The negotiated TLS parameters; None without TLS.
    pub fn secured(&self) -> Option<Secured> {
        let Socket::Tls(stream) = self else { return None };
        let session = stream.get_ref().1;
        Some(Secured {
            version: session.protocol_version()?,
            suite: session.negotiated_cipher_suite()?.suite(),
        })
    }

    /// The peer's address; None for a simulated pipe.
    pub fn peer(&self) -> Option<SocketAddr> {
        match self {
            Socket::Plain(stream) => stream.peer_addr().ok(),
            Socket::Tls(stream) => stream.get_ref().0.peer_addr().ok(),
            Socket::Simulated(_) => None,
        }
    }

    /// Whether ALPN chose HTTP/2.
    pub fn speaks_http2(&self) -> bool {
        match self {
            Socket::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
            Socket::Plain(_) | Socket::Simulated(_) => false,
        }
    }

    /// [`AsyncRead::poll_read`] into a slice: how many bytes came, 0 at the end of the stream.
    #[inline]
    pub fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Socket::Plain(stream) = self {
            return receive(stream, cx, into);
        }
        let mut buffer = ReadBuf::new(into);
        ready!(Pin::new(self).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// [`AsyncWrite::poll_write`]: how many of the bytes the socket took.
    #[inline]
    pub fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Socket::Plain(stream) => send(stream, cx, bytes),
            _ => Pin::new(self).poll_write(cx, bytes),
        }
    }
}

#[inline]
fn receive(stream: &TcpStream, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
    let room = into.len();
    loop {
        let moved = attempt(stream, Interest::READABLE, room, || {
            retry_on_intr(|| rustix::net::recv(stream, &mut *into, RecvFlags::empty())).map(|(_, read)| read)
        });
        match moved {
            Some(read) => return Poll::Ready(read),
            None => ready!(stream.poll_read_ready(cx))?,
        }
    }
}

#[inline]
fn send(stream: &TcpStream, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
    loop {
        let moved = attempt(stream, Interest::WRITABLE, bytes.len(), || {
            retry_on_intr(|| rustix::net::send(stream, bytes, SendFlags::NOSIGNAL))
        });
        match moved {
            Some(sent) => return Poll::Ready(sent),
            None => ready!(stream.poll_write_ready(cx))?,
        }
    }
}

/// Moves bytes now, `room` at most; None: the socket is not ready. Fewer than there was room for mean that the next
/// call would block: the runtime is told so, and the next call spared. At the end of the stream there is no next event.
#[inline]
fn attempt(
    stream: &TcpStream,
    interest: Interest,
    room: usize,
    call: impl FnOnce() -> rustix::io::Result<usize>,
) -> Option<io::Result<usize>> {
    let mut moved = None;
    let tried = stream.try_io(interest, || {
        let count = call()?;
        moved = Some(Ok(count));
        if 0 < count && count < room { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    match tried {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Some(Err(error)),
        _ => moved,
    }
}

macro_rules! each {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket.get_mut() {
            Socket::Plain($stream) => $call,
            Socket::Tls($stream) => $call,
            Socket::Simulated($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Socket {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Socket::Plain(stream) => stream.is_write_vectored(),
            Socket::Tls(stream) => stream.is_write_vectored(),
            Socket::Simulated(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    async fn pair() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().await.unwrap();
        theirs.set_nodelay(true).unwrap();
        (Socket::Plain(ours), theirs)
    }

    async fn received(socket: &mut Socket, room: usize) -> io::Result<Vec<u8>> {
        let mut into = vec![0; room];
        let receiving = poll_fn(|cx| socket.poll_receive(cx, &mut into));
        let read = timeout(Duration::from_secs(10), receiving).await.expect("woken in time")?;
        into.truncate(read);
        Ok(into)
    }

    /// Whether a call now finds nothing, and has the runtime wake us for the next bytes.
    async fn is_empty(socket: &mut Socket) -> bool {
        poll_fn(|cx| Poll::Ready(socket.poll_receive(cx, &mut [0; 8]).is_pending())).await
    }

    #[tokio::test]
    async fn what_comes_after_a_read_that_did_not_fill_the_buffer_wakes_again() {
        let (mut ours, mut theirs) = pair().await;
        for message in [b"one".as_slice(), b"two", b"three"] {
            theirs.write_all(message).await.unwrap();
            assert_eq!(received(&mut ours, 64).await.unwrap(), message);
            // The runtime has not looked since: whoever finds this has asked a socket that was known to be empty.
            theirs.try_write(b"unseen").unwrap();
            assert!(is_empty(&mut ours).await);
            assert_eq!(received(&mut ours, 64).await.unwrap(), b"unseen");
        }
    }

    #[tokio::test]
    async fn a_buffer_that_is_filled_leaves_the_rest_for_the_next_read_and_then_an_end() {
        let (mut ours, mut theirs) = pair().await;
        theirs.write_all(b"0123456789").await.unwrap();
        theirs.shutdown().await.unwrap();
        let mut all = Vec::new();
        loop {
            let piece = received(&mut ours, 5).await.unwrap();
            if piece.is_empty() {
                break;
            }
            all.extend(piece);
        }
        assert_eq!(all, b"0123456789");
        assert_eq!(received(&mut ours, 5).await.unwrap(), b"", "an end stays one");
    }

    #[tokio::test]
    async fn a_reset_is_an_error_and_what_does_not_fit_is_sent_once_there_is_room() {
        let (mut ours, mut theirs) = pair().await;
        let bytes = vec![7; 32 << 20];
        let mut taken = 0;
        let sending = poll_fn(|cx| {
            while taken < bytes.len() {
                taken += ready!(ours.poll_send(cx, &bytes[taken..]))?;
            }
            Poll::Ready(io::Result::Ok(()))
        });
        let mut arrived = vec![0; bytes.len()];
        let (sent, read) = tokio::join!(sending, theirs.read_exact(&mut arrived));
        sent.unwrap();
        read.unwrap();
        assert!(arrived == bytes);
        theirs.set_zero_linger().unwrap();
        drop(theirs);
        assert_eq!(received(&mut ours, 5).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }
}
