//! `/ws/flood`: text frames as fast as the socket takes them, `batch` of them in each write.
//!
//! The one WebSocket that `websocket::connection` does not carry: there is no queue to wait on, the same bytes are
//! written over and over.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::socket::Socket;
use crate::hub::Hub;

/// The most bytes of a payload, and of a write.
pub(super) const BYTES: usize = 64 * 1024;
pub(super) const BATCH: usize = 16 * 1024;
const WRITE: usize = 4 * 1024 * 1024;

pub(super) struct Flood {
    stream: Socket,
    hub: Arc<Hub>,
    frames: Bytes,
    frame: usize,
    /// Bytes of `frames` written in this round.
    at: usize,
    decoder: Decoder,
    closed: bool,
}

impl Flood {
    pub(super) fn new(stream: Socket, bytes: usize, batch: usize, hub: Arc<Hub>) -> Flood {
        let payload = vec![b'x'; bytes];
        let one = websocket::shared(Opcode::Text, &payload);
        let batch = batch.min((WRITE / one.len()).max(1));
        Flood {
            stream,
            hub,
            frame: one.len(),
            frames: one.repeat(batch).into(),
            at: 0,
            decoder: Decoder::new(Role::Server, BYTES),
            closed: false,
        }
    }

    /// Until the client closes, resets or ends its side.
    pub(super) async fn run(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
        if self.closed {
            let close = websocket::shared(Opcode::Close, &websocket::close_payload(1000, ""));
            // The rest of a frame half written goes first.
            let rest = self.at.next_multiple_of(self.frame).min(self.frames.len());
            for bytes in [&self.frames[self.at..rest], &close[..]] {
                if tokio::io::AsyncWriteExt::write_all(&mut self.stream, bytes).await.is_err() {
                    return;
                }
            }
            let _ = tokio::io::AsyncWriteExt::shutdown(&mut self.stream).await;
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match self.read(cx) {
                Poll::Ready(true) if !self.closed => continue,
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {}
            }
            match Pin::new(&mut self.stream).poll_write(cx, &self.frames[self.at..]) {
                Poll::Ready(Ok(written @ 1..)) => self.wrote(written),
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn wrote(&mut self, written: usize) {
        let before = self.at / self.frame;
        self.at += written;
        self.hub.metrics.frames_out.add((self.at / self.frame - before) as u64);
        self.hub.metrics.bytes_out.add(written as u64);
        self.hub.metrics.writes.add(1);
        if self.at == self.frames.len() {
            self.at = 0;
        }
    }

    /// Reads and ignores all frames but the client's close frame. False at the end of the stream.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut buffer = [0; 1024];
        let mut read = ReadBuf::new(&mut buffer);
        match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(_)) => Poll::Ready(false),
            Poll::Ready(Ok(())) if read.filled().is_empty() => Poll::Ready(false),
            Poll::Ready(Ok(())) => {
                let closed = &mut self.closed;
                let fed = self.decoder.feed(read.filled_mut(), |event| {
                    *closed |= matches!(event, Event::Close { .. });
                });
                Poll::Ready(fed.is_ok())
            }
        }
    }
}
