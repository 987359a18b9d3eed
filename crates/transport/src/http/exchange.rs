//! An HTTP/1.1 connection and its exchanges, driven on the socket by the request's own future.
//!
//! No task, no channel and no buffer per connection: bytes are read into a buffer all connections of the shard share
//! and decoded there ([`sonagi_wire::http1`]); between requests only the socket is kept. Dropping the future closes the
//! connection, since a half-read response cannot be skipped.
//!
//! The decision to question: hyper drove this once. Its connection had to be built around the socket anew for each
//! request, or kept with its 16 KiB of buffers per user; either cost more than the kernel takes to move the bytes.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::http1::{Keep, Reader, Violation};
use tokio::io::AsyncWrite;

use super::encode::Encoded;
use super::message::{Response, Traffic};
use crate::net::{Cause, Failed, Net, OpeningTimes, Secured, Socket};

/// A failed request, and how far it had come.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) failed: Failed,
    pub(super) reach: Reach,
}

/// The progress of a request when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// No byte of the request had been sent.
    Unsent,
    /// The peer said that it had not processed the request, and will not (RFC 9113 §8.7).
    Unprocessed,
    /// No byte of the response had arrived.
    Unanswered,
    /// Part of the response had arrived, or the peer has reported the request as failed.
    Answered,
}

/// Limit on repeating a request that no peer has processed.
const MOST_REPEATS: u32 = 4;

impl Broken {
    /// Whether the request may be sent again after `repeats` repetitions. `is_kept`: it went over a kept connection,
    /// which the peer may have closed while the request was on its way.
    pub(super) fn may_be_repeated(&self, is_kept: bool, repeats: u32) -> bool {
        match self.reach {
            // The connection had ended: a request is repeated once per connection that had.
            Reach::Unsent if is_kept => true,
            Reach::Unsent | Reach::Unprocessed => repeats < MOST_REPEATS,
            Reach::Unanswered => {
                let has_gone = matches!(self.failed.failure, Failure::ClosedEarly | Failure::Reset);
                is_kept && repeats == 0 && has_gone
            }
            Reach::Answered => false,
        }
    }
}

/// The environment of an exchange.
pub(super) struct ExchangeContext<'a> {
    pub(super) net: &'a Net,
    pub(super) now: &'a dyn Fn() -> At,
    pub(super) traffic: &'a mut Traffic,
    /// Set once the request has been sent.
    pub(super) left: Option<&'a Cell<Option<At>>>,
    /// Set once the response turns out to be a stream of events.
    pub(super) streams: &'a Cell<bool>,
}

/// An HTTP/1.1 connection.
pub(super) struct Http1 {
    socket: Socket,
    used: bool,
    is_reusable: bool,
    /// The durations of its opening, where they are wanted.
    pub(super) opening: Option<OpeningTimes>,
    pub(super) peer: Option<SocketAddr>,
}

impl Http1 {
    pub(super) fn new(socket: Socket, opening: Option<OpeningTimes>) -> Http1 {
        let peer = socket.peer();
        Http1 { socket, used: false, is_reusable: false, opening, peer }
    }

    pub(super) fn secured(&self) -> Option<Secured> {
        self.socket.secured()
    }

    /// Whether the last exchange left the connection fit for another one.
    pub(super) fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    /// Sends the request and reads the whole response. Dropping the future leaves a connection that is not reusable.
    pub(super) async fn exchange(
        &mut self,
        request: &Encoded<'_>,
        keep: Keep,
        around: ExchangeContext<'_>,
    ) -> Result<Response, Broken> {
        let reused = self.used;
        let mut exchange = Exchange {
            socket: &mut self.socket,
            bytes: request.bytes(),
            written: 0,
            is_flushed: false,
            is_idle: reused,
            unsent: false,
            lost: None,
            reader: Reader::new(request.asked(), keep),
            first_byte: None,
            received: 0,
            around,
        };
        (self.used, self.is_reusable) = (true, false);
        let outcome = poll_fn(|cx| exchange.poll(cx)).await;
        let ended = match outcome {
            Ok(ended) => ended,
            Err(failed) => {
                let Exchange { unsent, received, .. } = exchange;
                let reach = match (unsent, received > 0) {
                    (true, _) => Reach::Unsent,
                    (false, false) => Reach::Unanswered,
                    (false, true) => Reach::Answered,
                };
                return Err(Broken { failed, reach });
            }
        };
        let Exchange { is_flushed, lost, reader, first_byte, .. } = exchange;
        // Flushed to the last byte: under TLS the end of a refused body may still wait, and would precede the next
        // request.
        self.is_reusable = reader.is_reusable() && is_flushed && lost.is_none() && !request.asks_to_close();
        Ok(Response {
            status: reader.status,
            reason: reader.reason,
            headers: reader.headers,
            body: Bytes::from(reader.body),
            body_bytes: reader.body_bytes,
            first_byte: first_byte.unwrap_or(ended),
            ended,
            reused,
            redirected: None,
        })
    }
}

struct Exchange<'a> {
    socket: &'a mut Socket,
    bytes: &'a [u8],
    written: usize,
    is_flushed: bool,
    /// Whether this is a kept connection that has not been checked yet: it may have ended, or spoken, while it was
    /// idle.
    is_idle: bool,
    /// The kept connection was no longer usable.
    unsent: bool,
    /// Why writing failed. The response may come all the same: a server may refuse a body it has not read.
    lost: Option<Failed>,
    reader: Reader,
    first_byte: Option<At>,
    received: u64,
    around: ExchangeContext<'a>,
}

impl Exchange<'_> {
    /// Ready with the instant at which the response was complete.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<At, Failed>> {
        let was_idle = std::mem::take(&mut self.is_idle);
        if was_idle && let Poll::Ready(what) = self.poll_idle(cx) {
            self.unsent = true;
            return Poll::Ready(Err(what));
        }
        self.write(cx);
        // Checking the idle connection has registered us for the next bytes; none can have arrived since.
        if was_idle && self.lost.is_none() {
            return Poll::Pending;
        }
        self.poll_read(cx)
    }

    /// Checks a kept connection before the request. Bytes that came unasked answer nothing, an end is an end: either
    /// way the request has not been sent and needs another connection.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Failed> {
        let mut scratch = self.around.net.scratch();
        Poll::Ready(match ready!(self.socket.poll_receive(cx, &mut scratch)) {
            Ok(0) => Failed::new(Failure::ClosedEarly, "the peer ended the idle connection"),
            Ok(unasked) => {
                self.around.traffic.received += unasked as u64;
                Failed::protocol(format!("the peer sent {unasked} bytes on an idle connection, unasked"))
            }
            Err(error) => Failed::established(&error),
        })
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        if self.is_flushed || self.lost.is_some() {
            return;
        }
        while self.written < self.bytes.len() {
            match self.socket.poll_send(cx, &self.bytes[self.written..]) {
                Poll::Ready(Ok(0)) => {
                    return self.lose(&io::Error::from(io::ErrorKind::BrokenPipe));
                }
                Poll::Ready(Ok(written)) => {
                    self.written += written;
                    self.around.traffic.sent += written as u64;
                }
                Poll::Ready(Err(error)) => return self.lose(&error),
                Poll::Pending => return,
            }
        }
        match Pin::new(&mut *self.socket).poll_flush(cx) {
            Poll::Ready(Ok(())) => {
                self.is_flushed = true;
                self.around.left.inspect(|left| left.set(Some((self.around.now)())));
            }
            Poll::Ready(Err(error)) => self.lose(&error),
            Poll::Pending => {}
        }
    }

    fn lose(&mut self, error: &io::Error) {
        self.lost.get_or_insert_with(|| Failed::established(error));
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<At, Failed>> {
        loop {
            let mut scratch = self.around.net.scratch();
            let read = match ready!(self.socket.poll_receive(cx, &mut scratch)) {
                Ok(read) => &scratch[..read],
                Err(error) => {
                    self.lose(&error);
                    return Poll::Ready(Err(self.cut_short()));
                }
            };
            self.received += read.len() as u64;
            self.around.traffic.received += read.len() as u64;
            if read.is_empty() {
                return Poll::Ready(match self.reader.end() {
                    Ok(Ok(())) => Ok((self.around.now)()),
                    Ok(Err(_)) => Err(self.cut_short()),
                    Err(violation) => Err(not_http(violation)),
                });
            }
            if let Err(violation) = self.reader.feed(read) {
                return Poll::Ready(Err(not_http(violation)));
            }
            let mut now = None;
            if self.first_byte.is_none() && self.reader.has_head() {
                now = Some((self.around.now)());
                self.first_byte = now;
                self.around.streams.set(self.reader.is_event_stream());
            }
            if self.reader.is_done() {
                return Poll::Ready(Ok(now.unwrap_or_else(self.around.now)));
            }
        }
    }

    /// The cause, most telling first: the socket's error, then the peer's end.
    fn cut_short(&mut self) -> Failed {
        self.lost.take().unwrap_or_else(|| closed_early(self.received > 0))
    }
}

pub(super) fn closed_early(answered: bool) -> Failed {
    let when = if answered { "in the middle of its response" } else { "before its response" };
    let failed = Failed::new(Failure::ClosedEarly, format!("the peer closed the connection {when}"));
    if answered { failed.caused(Cause::Unfinished) } else { failed }
}

fn not_http(violation: Violation) -> Failed {
    Failed::protocol(format!("the answer is not HTTP: {violation}"))
}
