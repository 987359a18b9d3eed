//! WebSocket frames over a socket: the common part of raw WebSockets and Socket.IO.
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
use tokio::io::AsyncWrite;

use super::drive::{Ended, Env, MAX_BYTES, MAX_FRAMES, MAX_READS, give_way};
use crate::net::{Failed, Socket};

/// Capacity of the write buffer an idle link may keep.
const KEPT_CAPACITY: usize = 1024;

/// Unsent bytes over which pings are no longer answered: a peer that does not read must not make us queue pongs without
/// end.
const MAX_UNSENT_FOR_ANSWERS: usize = 64 * 1024;

/// Bytes read and discarded when we give a peer up, so that a reset does not overtake our close frame.
const MAX_DISCARDED: usize = 1024 * 1024;

/// Frames waiting to be written.
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

    /// Ends the channel without a close frame: the protocol above it has found a reason.
    pub(super) fn give_up(&mut self, ended: Ended) -> Ended {
        self.phase = Phase::Ended(Box::new(ended.clone()));
        self.outbox = Outbox::default();
        ended
    }

    pub(super) fn begin_close(&mut self) {
        self.close(1000, "");
    }

    /// Starts the closing handshake with this code; 1005 sends none.
    pub(super) fn close(&mut self, code: u16, reason: &str) {
        if self.phase == Phase::Open {
            self.outbox.push(Opcode::Close, &close_payload(code, reason));
            self.phase = Phase::Closing;
        }
    }

    /// Reads, writes, answers pings and closes. `on` takes each message, as well as pings, which are answered already,
    /// pongs and the peer's close frame; it may answer through the outbox, and what it refuses ends the channel.
    #[inline]
    pub(super) fn poll_drive(
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
        let (mut bytes, mut frames) = (0, 0);
        if !self.early.is_empty() {
            let mut early = std::mem::take(&mut self.early);
            self.received += early.len() as u64;
            self.feed(cx, &mut early, &mut frames, on)?;
        }
        // A peer that is gone may have left data, a close frame perhaps: it is read before the write error counts.
        let gone = self.flush(cx).err();
        for _ in 0..MAX_READS {
            let read = match self.socket.poll_receive(cx, env.scratch) {
                Poll::Pending => return gone.map_or_else(|| self.flush(cx), Err),
                Poll::Ready(Err(error)) => {
                    return Err(gone.unwrap_or_else(|| Failed::established(&error).into()));
                }
                Poll::Ready(Ok(0)) => return Err(gone.unwrap_or_else(|| self.end_of_stream())),
                Poll::Ready(Ok(read)) => read,
            };
            self.received += read as u64;
            env.present.pass();
            self.feed(cx, &mut env.scratch[..read], &mut frames, on)?;
            bytes += read;
            if bytes >= MAX_BYTES || frames >= MAX_FRAMES {
                break;
            }
        }
        // More to read: the next drive also finds the error of a write again.
        give_way(cx);
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
        frames: &mut usize,
        on: &mut impl FnMut(Event<'_>, &mut Outbox) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let Channel { decoder, outbox, phase, .. } = self;
        let mut outcome = Ok(());
        let fed = decoder.feed_counting(bytes, |event| {
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
            (Ok(()), Ok(read)) => {
                *frames += read;
                Ok(())
            }
            (Err(stop), _) => Err(self.stop(cx, stop)),
            (Ok(()), Err(violation)) => Err(self.stop(cx, Stop::Violated(violation))),
        }
    }

    /// Closes as the RFC asks, as far as the kernel takes it at once, and returns the end.
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
            // The peer's close frame answers ours, or the two have crossed: either way both are exchanged, and a reset
            // has nothing left to overtake. TLS ends without its own goodbye (close_notify), as with most clients.
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
            match self.socket.poll_receive(cx, &mut sink) {
                Poll::Ready(Ok(read)) if read > 0 => {
                    self.received += read as u64;
                    left = left.saturating_sub(read);
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
            match self.socket.poll_send(cx, unsent) {
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

/// A close frame's payload; empty for 1005, which is never on the wire.
fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    if code == 1005 { Vec::new() } else { websocket::close_payload(code, reason) }
}

/// The reason a channel stops while the socket is still there.
enum Stop {
    Closed(Option<u16>, String),
    Violated(Violation),
    Refused(Ended),
}

/// Whether this may follow our close frame: the peer's, or the end of the connection in whatever way.
pub(super) fn is_an_end(ended: &Ended) -> bool {
    matches!(ended.failure, Some(Failure::Closed(_) | Failure::ClosedEarly | Failure::Reset) | None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Present, SCRATCH};
    use sonagi_measure::At;
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::rc::Rc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    /// A channel whose peer has sent these bytes already, and that peer.
    async fn flooded(bytes: &[u8]) -> (Channel, DuplexStream) {
        let (ours, mut theirs) = tokio::io::duplex(bytes.len());
        theirs.write_all(bytes).await.unwrap();
        (Channel::new(Socket::Simulated(ours), 1 << 20, Vec::new(), 0, 0), theirs)
    }

    fn drive(
        channel: &mut Channel,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        seen: &Cell<usize>,
    ) -> Poll<Ended> {
        let clock = At::default;
        let mut env = Env { present: &Present::new(&clock), scratch };
        channel.poll_drive(cx, &mut env, &mut |_, _| {
            seen.set(seen.get() + 1);
            Ok(())
        })
    }

    /// Messages of 1 KiB each with its header.
    fn messages(bytes: usize) -> Vec<u8> {
        [&[0x82, 126, 0x03, 0xfc][..], &[b'x'; 1020]].concat().repeat(bytes / 1024)
    }

    /// A text without end, in frames without content.
    fn endless_message(bytes: usize) -> Vec<u8> {
        [vec![0x01, 0x00], [0x00, 0x00].repeat(bytes / 2)].concat()
    }

    #[test]
    fn a_peer_that_never_stops_sending_holds_others_up_for_a_bounded_number_of_bytes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let flood = 64 * MAX_BYTES;
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let (mut channel, _peer) = flooded(&messages(flood)).await;
            let (mut other, mut far) = tokio::net::UnixStream::pair().unwrap();
            far.write_all(b"x").await.unwrap();
            let received = Rc::<Cell<usize>>::default();
            let counted = Rc::clone(&received);
            let flooding = tokio::task::spawn_local(async move {
                let (mut scratch, seen) = (vec![0; SCRATCH], Cell::new(0));
                poll_fn(move |cx| {
                    assert!(drive(&mut channel, cx, &mut scratch, &seen).is_pending());
                    counted.set(counted.get() + channel.take_bytes().1 as usize);
                    if counted.get() >= flood { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            });
            let served = tokio::task::spawn_local(async move {
                other.read_u8().await.unwrap();
                received.get()
            });
            let before = served.await.unwrap();
            assert!(before > 0 && before <= 2 * MAX_BYTES, "{before} of {flood} bytes came first");
            flooding.await.unwrap();
        });
    }

    #[test]
    fn a_drive_ends_after_so_many_frames_whether_or_not_they_bring_messages() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            for (flood, messages) in
                [(endless_message(MAX_BYTES), 0), ([0x81, 0x00].repeat(MAX_BYTES), SCRATCH / 2)]
            {
                let (mut channel, _peer) = flooded(&flood).await;
                let (mut scratch, seen) = (vec![0; SCRATCH], Cell::new(0));
                poll_fn(|cx| {
                    assert!(drive(&mut channel, cx, &mut scratch, &seen).is_pending());
                    Poll::Ready(())
                })
                .await;
                let read = channel.take_bytes().1 as usize;
                assert_eq!((read, seen.get()), (SCRATCH, messages), "one read has more than {MAX_FRAMES}");
            }
        });
    }
}
