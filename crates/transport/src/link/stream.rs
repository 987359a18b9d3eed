//! Bytes over TCP or TLS as they arrive, for callers that frame them: STOMP with brokers that have no WebSocket.
//!
//! | phase | we may | the end of the stream |
//! |---|---|---|
//! | open | send | `ClosedEarly` |
//! | ended | nothing | – |

use std::pin::Pin;
use std::task::{Context, Poll};

use sonagi_measure::outcome::Failure;
use tokio::io::AsyncWrite;

use super::drive::{Ended, Env, MAX_BYTES, MAX_READS, give_way};
use crate::net::{Alpn, Failed, Net, Origin, Socket};

/// Capacity of the write buffer an idle link may keep.
const KEPT_CAPACITY: usize = 1024;

/// A stream of bytes in each direction.
pub struct StreamLink {
    socket: Socket,
    out: Vec<u8>,
    written: usize,
    sent: u64,
    received: u64,
    ended: Option<Box<Ended>>,
}

impl StreamLink {
    /// Connects, with TLS if the origin says so. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Net::dial`].
    pub async fn connect(net: &Net, origin: &Origin) -> Result<StreamLink, Failed> {
        let socket = net.dial(origin, Alpn::Http1).await?;
        Ok(StreamLink { socket, out: Vec::new(), written: 0, sent: 0, received: 0, ended: None })
    }

    /// Queues bytes; the next drive writes them. Ignored once the stream has ended.
    pub fn send(&mut self, bytes: &[u8]) {
        if self.ended.is_none() {
            self.out.extend_from_slice(bytes);
        }
    }

    /// Bytes queued that the kernel has not taken yet.
    pub fn unsent(&self) -> usize {
        self.out.len() - self.written
    }

    /// Writes queued bytes as far as the kernel takes them, and reads nothing. `Ready`: nothing is left to write, or
    /// the stream has ended, which the next drive reports.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.flush(cx) {
            Ok(()) if !self.out.is_empty() => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }

    /// Moves bytes both ways until the socket would block and calls `on` for the bytes read, in pieces of any size. A
    /// bounded amount of work: with some left over, the task is woken again. `Ready`: the stream has ended; later calls
    /// say the same.
    pub fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        mut on: impl FnMut(&[u8]),
    ) -> Poll<Ended> {
        if let Some(ended) = &self.ended {
            return Poll::Ready(ended.as_ref().clone());
        }
        match self.advance(cx, env, &mut on) {
            Ok(()) => Poll::Pending,
            Err(ended) => {
                self.ended = Some(Box::new(ended.clone()));
                self.out = Vec::new();
                self.written = 0;
                Poll::Ready(ended)
            }
        }
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut impl FnMut(&[u8]),
    ) -> Result<(), Ended> {
        // A peer that is gone may have left data: it is read before the write error counts.
        let gone = self.flush(cx).err();
        let mut bytes = 0;
        for _ in 0..MAX_READS {
            let read = match self.socket.poll_receive(cx, env.scratch) {
                Poll::Pending => return gone.map_or(Ok(()), Err),
                Poll::Ready(Err(error)) => {
                    return Err(gone.unwrap_or_else(|| Failed::established(&error).into()));
                }
                Poll::Ready(Ok(0)) => {
                    let end = || Ended::failed(Failure::ClosedEarly, "the peer ended the connection");
                    return Err(gone.unwrap_or_else(end));
                }
                Poll::Ready(Ok(read)) => read,
            };
            self.received += read as u64;
            bytes += read;
            env.present.pass();
            on(&env.scratch[..read]);
            if bytes >= MAX_BYTES {
                break;
            }
        }
        give_way(cx);
        Ok(())
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), Ended> {
        if self.out.is_empty() {
            return Ok(());
        }
        while self.written < self.out.len() {
            match self.socket.poll_send(cx, &self.out[self.written..]) {
                Poll::Ready(Ok(0)) => {
                    return Err(Ended::failed(Failure::Reset, "the connection takes no more bytes"));
                }
                Poll::Ready(Ok(written)) => {
                    self.written += written;
                    self.sent += written as u64;
                }
                Poll::Ready(Err(error)) => return Err(Failed::established(&error).into()),
                Poll::Pending => return Ok(()),
            }
        }
        // TLS may hold the last record back; the bytes count as unsent until it is out.
        match Pin::new(&mut self.socket).poll_flush(cx) {
            Poll::Ready(Ok(())) => self.clear(),
            Poll::Ready(Err(error)) => return Err(Failed::established(&error).into()),
            Poll::Pending => {}
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.written = 0;
        if self.out.capacity() > KEPT_CAPACITY {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
    }

    /// Ends our side of the stream, after as many of the queued bytes as leave at once.
    pub fn close(&mut self) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        if self.ended.is_none() && self.flush(&mut cx).is_ok() {
            let _ = Pin::new(&mut self.socket).poll_shutdown(&mut cx);
        }
    }

    /// Bytes sent and received since the last call. Inside TLS.
    pub fn take_bytes(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.sent), std::mem::take(&mut self.received))
    }
}
