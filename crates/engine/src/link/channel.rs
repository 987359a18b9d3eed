//! WebSocket frames over a socket: what a raw WebSocket and Socket.IO have in common.
//!
//! | phase | we may | the peer's close frame | the end of the stream |
//! |---|---|---|---|
//! | open | send messages | is answered; `Closed(code)` | `Closed(1006)`; inside a frame `ClosedEarly` |
//! | closing | only wait | ended by us | ended by us |
//! | ended | nothing | – | – |

use std::pin::Pin;
use std::task::{Context, Poll};

use sonagi_measure::outcome::Failure;
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role, Violation};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Ended, Env};
use crate::net::{Failed, Socket};

/// Reads in one drive before other tasks get their turn.
const MAX_READS: usize = 64;

/// Capacity of the write buffer an idle link may keep.
const KEPT_CAPACITY: usize = 1024;

/// Unsent bytes over which pings are no longer answered: a peer that does not read cannot make us hoard pongs.
const MAX_UNSENT_FOR_ANSWERS: usize = 64 * 1024;

/// Bytes read and thrown away when we give a peer up, so that our close frame is not overtaken by a reset.
const MAX_DISCARDED: usize = 1024 * 1024;

/// A whole message.
pub(super) enum Message<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
}

/// Frames that wait to be written.
#[derive(Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    written: usize,
}

impl Outbox {
    pub(super) fn push(&mut self, opcode: Opcode, payload: &[u8]) {
        websocket::encode(opcode, payload, Some(fastrand::u32(..).to_ne_bytes()), &mut self.bytes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes that the kernel has not taken yet.
    pub(super) fn unsent(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Answers a heartbeat, unless too much is unsent already.
    pub(super) fn answer(&mut self, opcode: Opcode, payload: &[u8]) {
        if self.unsent() <= MAX_UNSENT_FOR_ANSWERS {
            self.push(opcode, payload);
        }
    }

    fn clear(&mut self) {
        self.written = 0;
        if self.bytes.capacity() > KEPT_CAPACITY {
            self.bytes = Vec::new();
        } else {
            self.bytes.clear();
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
enum Phase {
    Open,
    Closing,
    Ended(Box<Ended>),
}

/// One WebSocket after its handshake.
pub(super) struct Channel {
    socket: Socket,
    decoder: Decoder,
    pub(super) outbox: Outbox,
    /// What arrived along with the response's head; empty after the first drive.
    early: Vec<u8>,
    phase: Phase,
    sent: u64,
    received: u64,
}

impl Channel {
    /// `sent` and `received` are the handshake's bytes, without `early`.
    pub(super) fn new(
        socket: Socket,
        max_message: usize,
        early: Vec<u8>,
        sent: u64,
        received: u64,
    ) -> Channel {
        let decoder = Decoder::new(Role::Client, max_message);
        Channel { socket, decoder, outbox: Outbox::default(), early, phase: Phase::Open, sent, received }
    }

    pub(super) fn take_bytes(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.sent), std::mem::take(&mut self.received))
    }

    /// Queues a message; nothing once the closing handshake began.
    pub(super) fn send(&mut self, opcode: Opcode, payload: &[u8]) {
        if self.phase == Phase::Open {
            self.outbox.push(opcode, payload);
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Ends it without a word: who speaks over it has found a reason.
    pub(super) fn give_up(&mut self, ended: Ended) -> Ended {
        self.phase = Phase::Ended(Box::new(ended.clone()));
        self.outbox = Outbox::default();
        ended
    }

    pub(super) fn begin_close(&mut self) {
        self.close(1000, "");
    }

    /// Starts the closing handshake with this code; 1005: with none.
    pub(super) fn close(&mut self, code: u16, reason: &str) {
        if self.phase == Phase::Open {
            self.outbox.push(Opcode::Close, &close_payload(code, reason));
            self.phase = Phase::Closing;
        }
    }

    /// Reads, writes, answers pings and closes. `on` takes each message and may answer through the outbox; what it
    /// refuses ends the channel.
    #[inline]
    pub(super) fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut impl FnMut(Message<'_>, &mut Outbox) -> Result<(), Ended>,
    ) -> Poll<Ended> {
        self.poll_events(cx, env, &mut |event, outbox| match event {
            Event::Text(text) => on(Message::Text(text), outbox),
            Event::Binary(bytes) => on(Message::Binary(bytes), outbox),
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => Ok(()),
        })
    }

    /// [`Channel::poll_drive`] with pings, which are answered already, pongs, and the peer's close frame.
    #[inline]
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut impl FnMut(Event<'_>, &mut Outbox) -> Result<(), Ended>,
    ) -> Poll<Ended> {
        if let Phase::Ended(ended) = &self.phase {
            return Poll::Ready(ended.as_ref().clone());
        }
        let Err(ended) = self.advance(cx, env, on) else { return Poll::Pending };
        let ended = if self.phase == Phase::Closing && is_an_end(&ended) { Ended::by_us() } else { ended };
        Poll::Ready(self.give_up(ended))
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut impl FnMut(Event<'_>, &mut Outbox) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        if !self.early.is_empty() {
            let mut early = std::mem::take(&mut self.early);
            self.received += early.len() as u64;
            self.feed(cx, &mut early, on)?;
        }
        // A peer that is gone may have left its last words, a close frame perhaps: they are read before its going counts.
        let gone = self.flush(cx).err();
        for _ in 0..MAX_READS {
            let mut buffer = ReadBuf::new(env.scratch);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Pending => return gone.map_or_else(|| self.flush(cx), Err),
                Poll::Ready(Err(error)) => {
                    return Err(gone.unwrap_or_else(|| Failed::established(&error).into()));
                }
                Poll::Ready(Ok(())) => {}
            }
            let read = buffer.filled().len();
            if read == 0 {
                return Err(gone.unwrap_or_else(|| self.end_of_stream()));
            }
            self.received += read as u64;
            env.present.pass();
            self.feed(cx, &mut env.scratch[..read], on)?;
        }
        // More to read: the next drive also finds the error of a write again.
        cx.waker().wake_by_ref();
        Ok(())
    }

    fn end_of_stream(&self) -> Ended {
        if self.decoder.is_idle() {
            Ended::failed(Failure::Closed(1006), "the peer ended the connection without a close frame")
        } else {
            Ended::failed(Failure::ClosedEarly, "the peer ended the connection in the middle of a message")
        }
    }

    #[inline]
    fn feed(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
        on: &mut impl FnMut(Event<'_>, &mut Outbox) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let Channel { decoder, outbox, phase, .. } = self;
        let mut outcome = Ok(());
        let fed = decoder.feed(bytes, |event| {
            if outcome.is_err() {
                return;
            }
            if let Event::Ping(payload) = event
                && *phase == Phase::Open
            {
                outbox.answer(Opcode::Pong, payload);
            }
            outcome = on(event, outbox).map_err(Stop::Refused);
            if let (Ok(()), Event::Close { code, reason }) = (&outcome, event) {
                outcome = Err(Stop::Closed(code, reason.to_owned()));
            }
        });
        match (outcome, fed) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(stop), _) => Err(self.stop(cx, stop)),
            (Ok(()), Err(violation)) => Err(self.stop(cx, Stop::Violated(violation))),
        }
    }

    /// Says goodbye as the RFC asks, as far as the kernel takes it at once, and names the end.
    #[cold]
    fn stop(&mut self, cx: &mut Context<'_>, stop: Stop) -> Ended {
        let (code, ended) = match stop {
            Stop::Closed(code, reason) => {
                let given = code.unwrap_or(1005);
                let detail = match reason.as_str() {
                    "" => format!("the peer closed the WebSocket with code {given}"),
                    reason => format!("the peer closed the WebSocket with code {given}: {reason}"),
                };
                (given, Ended::failed(Failure::Closed(given), detail))
            }
            Stop::Violated(violation) => {
                (violation.code(), Ended::failed(Failure::Protocol, violation.to_string()))
            }
            Stop::Refused(ended) if ended.failure == Some(Failure::Protocol) => (1002, ended),
            Stop::Refused(ended) => (1000, ended),
        };
        let both_said_goodbye = self.phase == Phase::Closing && self.outbox.is_empty();
        if both_said_goodbye && matches!(ended.failure, Some(Failure::Closed(_))) {
            // The peer's close frame answers ours, or the two have crossed: either way both are said, and what a reset could
            // overtake has arrived. TLS is left without its own goodbye (close_notify), as most clients leave it.
            return ended;
        }
        if self.phase == Phase::Open {
            self.outbox.push(Opcode::Close, &close_payload(code, ""));
        }
        let _ = self.flush(cx);
        let _ = Pin::new(&mut self.socket).poll_shutdown(cx);
        self.discard(cx);
        ended
    }

    /// Closing a socket with unread bytes resets it, and a reset can overtake our close frame.
    fn discard(&mut self, cx: &mut Context<'_>) {
        let mut sink = [0; 4096];
        let mut left = MAX_DISCARDED;
        while left > 0 {
            let mut buffer = ReadBuf::new(&mut sink);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.received += buffer.filled().len() as u64;
                    left = left.saturating_sub(buffer.filled().len());
                }
                _ => return,
            }
        }
    }

    /// Writes until the kernel takes no more.
    pub(super) fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), Ended> {
        if self.outbox.is_empty() {
            return Ok(());
        }
        while self.outbox.written < self.outbox.bytes.len() {
            let unsent = &self.outbox.bytes[self.outbox.written..];
            match Pin::new(&mut self.socket).poll_write(cx, unsent) {
                Poll::Ready(Ok(0)) => {
                    return Err(Ended::failed(Failure::Reset, "the connection takes no more bytes"));
                }
                Poll::Ready(Ok(written)) => {
                    self.outbox.written += written;
                    self.sent += written as u64;
                }
                Poll::Ready(Err(error)) => return Err(Failed::established(&error).into()),
                Poll::Pending => return Ok(()),
            }
        }
        // TLS may hold the last record back; the outbox counts as unsent until it is out.
        match Pin::new(&mut self.socket).poll_flush(cx) {
            Poll::Ready(Ok(())) => self.outbox.clear(),
            Poll::Ready(Err(error)) => return Err(Failed::established(&error).into()),
            Poll::Pending => {}
        }
        Ok(())
    }
}

/// A close frame's payload; none says 1005, which is never on the wire.
fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    if code == 1005 { Vec::new() } else { websocket::close_payload(code, reason) }
}

/// Why a channel stops while the socket is still there.
enum Stop {
    Closed(Option<u16>, String),
    Violated(Violation),
    Refused(Ended),
}

/// What may follow our close frame: the peer's, or the end of the connection in whatever way.
pub(super) fn is_an_end(ended: &Ended) -> bool {
    matches!(ended.failure, Some(Failure::Closed(_) | Failure::ClosedEarly | Failure::Reset) | None)
}
