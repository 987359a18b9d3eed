//! A connection's bytes, over TCP, TLS or a pipe.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
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
