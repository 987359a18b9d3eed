//! A WebSocket connection: reads frames, writes the queue, closes in order.
//!
//! One task and one hand-written poll function per connection, because a task that sleeps should own almost nothing:
//! bytes are read into a buffer shared by all connections of a thread, and a wake writes everything that waits with
//! one vectored write. There are no timers here; `service::sweep` hangs up on who does not answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sonagi_wire::websocket::{self, Decoder, Event, Opcode, Role};
use tokio::io::ReadBuf;
use tokio::net::tcp::OwnedWriteHalf;

use crate::connection::outbox::{Close, Standing};
use crate::connection::read_buffer::with_scratch;
use crate::connection::socket::{Socket, TaskSocket};
use crate::connection::write_buffer::WriteBuffer;
use crate::hub::Hub;
use crate::rooms::peer::Peer;

/// Answers a WebSocket's messages. Everything is said by pushing to, or closing, the peer's queue.
pub(crate) trait SocketHandler: Send {
    /// The connection whose queue is written; it changes once, when a session is upgraded to this socket.
    fn peer(&self) -> &Arc<Peer>;
    fn text(&mut self, text: &str);
    fn binary(&mut self, bytes: &[u8]);
    /// Something was received; called once per read.
    fn heard(&mut self, hub: &Hub) {
        self.peer().deadlines.answered(hub.now(), &hub.config.limits);
    }
    /// The frame before the close frame; not called when the client closed first or broke the protocol.
    fn farewell(&self, _why: Close) -> Option<&'static str> {
        None
    }
    /// The client says that it goes: end its memberships, while what is queued still goes out.
    fn leaving(&mut self, hub: &Hub) {
        self.peer().leave_all(&hub.metrics);
    }
    /// The connection is closing or gone: end its memberships. Called at least once, perhaps more often.
    fn closing(&mut self);
    /// True once the peer's queue goes to this socket for good: others may then write to it.
    fn is_settled(&self) -> bool {
        true
    }
    /// Bytes that may wait to be written before reading pauses.
    fn patience(&self) -> usize {
        usize::MAX
    }
}

/// Carries the connection until its socket closes. `first` are bytes read together with the upgrade request.
pub(crate) async fn carry<A: SocketHandler>(
    stream: Socket,
    first: Bytes,
    max_message: usize,
    handler: A,
    hub: Arc<Hub>,
) {
    let (socket, write) = stream.divide();
    let mut link = Link {
        socket,
        write,
        decoder: Decoder::new(Role::Server, max_message),
        out: WriteBuffer::default(),
        stage: Stage::Talking,
        answered: false,
        unheard: 0,
        handler,
        hub,
    };
    if !first.is_empty() {
        let mut first = first.to_vec();
        link.feed(&mut first);
    }
    poll_fn(|cx| link.poll(cx)).await;
    link.handler.peer().outbox.detach();
    link.handler.closing();
    link.hub.peers.remove(link.handler.peer());
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Talking,
    /// Our close frame is in `out` or written.
    Parting,
    /// All is written and our side of the socket is shut.
    Shut,
}

struct Link<A> {
    socket: TaskSocket,
    /// Until the queue has it; none inside TLS.
    write: Option<OwnedWriteHalf>,
    decoder: Decoder,
    /// Taken from the queue, not yet written.
    out: WriteBuffer,
    stage: Stage,
    /// The peer's close frame came, or none will be waited for.
    answered: bool,
    /// Bytes read since it began to close.
    unheard: usize,
    handler: A,
    hub: Arc<Hub>,
}

impl<A: SocketHandler> Link<A> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let standing = self.fill();
            if standing == Standing::HungUp {
                return Poll::Ready(());
            }
            if self.flush(cx) == Poll::Ready(false) {
                return Poll::Ready(());
            }
            let written = self.out.is_empty();
            let parted = written && self.answered && self.stage == Stage::Parting;
            if parted && self.socket.poll_end(cx).is_ready() {
                self.stage = Stage::Shut;
            }
            let talking = self.stage == Stage::Talking;
            if written && talking && standing != Standing::Open {
                continue;
            }
            let outbox = &self.handler.peer().outbox;
            let listens = match self.stage {
                Stage::Talking => outbox.waiting() <= self.handler.patience(),
                // What a flood still brings waits in its own system, until the sweep hangs up.
                Stage::Parting | Stage::Shut => self.unheard <= self.hub.config.limits.close_bytes,
            };
            if listens {
                match self.read(cx) {
                    Poll::Ready(true) => continue,
                    Poll::Ready(false) => return Poll::Ready(()),
                    Poll::Pending => {}
                }
            }
            if self.write.is_some() && written && talking && self.handler.is_settled() {
                self.write.take().into_iter().for_each(|write| self.handler.peer().outbox.attach(write));
            }
            if self.handler.peer().outbox.sleep(cx, standing, written && talking) {
                return Poll::Pending;
            }
        }
    }

    /// Takes what waits once the last batch is written, and begins the parting when it is time.
    fn fill(&mut self) -> Standing {
        let outbox = &self.handler.peer().outbox;
        if self.stage != Stage::Talking {
            return outbox.standing();
        }
        let all_written = self.out.is_empty();
        let standing = if all_written { self.out.take(outbox) } else { outbox.standing() };
        if let Standing::Closing(why) = standing
            && (all_written || why == Close::Slow)
        {
            self.part(why);
        }
        standing
    }

    fn part(&mut self, why: Close) {
        self.stage = Stage::Parting;
        self.answered |= matches!(why, Close::Answer(_) | Close::Violation(_));
        if why == Close::Slow {
            self.hub.metrics.slow_consumers.add(1);
            // The rest was given up with the queue.
            self.out.give_up();
        }
        if !matches!(why, Close::Answer(_) | Close::Violation(_))
            && let Some(text) = self.handler.farewell(why)
        {
            self.out.push(websocket::shared(Opcode::Text, text.as_bytes()));
        }
        let payload =
            why.frame().map_or_else(Vec::new, |(code, reason)| websocket::close_payload(code, reason));
        self.out.push(websocket::shared(Opcode::Close, &payload));
        self.handler.closing();
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Link { out, socket, handler, hub, .. } = self;
        out.flush(socket, &handler.peer().outbox, &hub.metrics, cx)
    }

    /// Reads once: true when something came, false at the end of the stream.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        with_scratch(|buffer| {
            let mut read = ReadBuf::new(buffer);
            match self.socket.poll_read(cx, &mut read) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(_)) => Poll::Ready(false),
                Poll::Ready(Ok(())) if read.filled().is_empty() => Poll::Ready(false),
                Poll::Ready(Ok(())) => {
                    self.feed(read.filled_mut());
                    Poll::Ready(true)
                }
            }
        })
    }

    fn feed(&mut self, bytes: &mut [u8]) {
        self.hub.metrics.bytes_in.add(bytes.len() as u64);
        if self.stage != Stage::Talking {
            self.unheard += bytes.len();
        }
        self.handler.heard(&self.hub);
        let before = Arc::as_ptr(self.handler.peer());
        let Link { decoder, handler, answered, hub, .. } = self;
        let mut messages = 0;
        let fed = decoder.feed(bytes, |event| match event {
            // Whoever is being closed is not listened to: it could not be told what became of a message.
            Event::Text(_) | Event::Binary(_) if !handler.peer().outbox.is_open() => {}
            Event::Text(text) => {
                messages += 1;
                handler.text(text);
            }
            Event::Binary(bytes) => {
                messages += 1;
                handler.binary(bytes);
            }
            Event::Ping(payload) => {
                handler.peer().outbox.push(websocket::shared(Opcode::Pong, payload));
            }
            Event::Pong(_) => {}
            Event::Close { code, .. } => {
                *answered = true;
                // Before the queue closes: what a fault still holds for this member goes out first.
                handler.leaving(hub);
                handler.peer().outbox.close(Close::Answer(code));
            }
        });
        self.hub.metrics.frames_in.add(messages);
        if Arc::as_ptr(self.handler.peer()) != before {
            // `wrote` will take it off the queue that is written now.
            self.handler.peer().outbox.brings(self.out.frames());
        }
        if let Err(violation) = fed {
            self.hub.metrics.violations.add(1);
            self.answered = true;
            self.handler.peer().outbox.close(Close::Violation(violation.code()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transports::websocket::upgrade;

    /// Goes over to its second peer with the first text.
    struct Changing {
        peers: [Arc<Peer>; 2],
        at: usize,
    }

    impl SocketHandler for Changing {
        fn peer(&self) -> &Arc<Peer> {
            &self.peers[self.at]
        }
        fn text(&mut self, _: &str) {
            self.at = 1;
        }
        fn binary(&mut self, _: &[u8]) {}
        fn heard(&mut self, _: &Hub) {}
        fn closing(&mut self) {}
    }

    #[tokio::test]
    async fn what_a_probe_has_not_written_when_its_session_takes_over_is_charged_to_the_session() {
        let service = crate::start(crate::Config::default()).await.unwrap();
        let hub = service.hub().clone();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, write) = Socket::from(listener.accept().await.unwrap().0).divide();
        let peers = [(); 2].map(|()| upgrade::newcomer(&hub, 1000, Default::default()));
        let mut link = Link {
            socket,
            write,
            decoder: Decoder::new(Role::Server, 1000),
            out: WriteBuffer::default(),
            stage: Stage::Talking,
            answered: false,
            unheard: 0,
            handler: Changing { peers: peers.clone(), at: 0 },
            hub,
        };
        link.out.push(Bytes::from_static(b"12345678"));
        let mut text = Vec::new();
        websocket::encode(Opcode::Text, b"5", Some([0; 4]), &mut text);
        link.feed(&mut text);
        // Its own frame comes behind: when both are out, nothing waits, and before that it is not written past them.
        peers[1].outbox.push(Bytes::from_static(b"own"));
        let own = peers[1].outbox.waiting();
        link.out.wrote(8, &peers[1].outbox, &link.hub.metrics);
        assert!(peers[1].outbox.waiting() > 0 && peers[1].outbox.waiting() < own);
        link.fill();
        link.out.wrote(3, &peers[1].outbox, &link.hub.metrics);
        assert_eq!(peers[1].outbox.waiting(), 0);
    }
}
