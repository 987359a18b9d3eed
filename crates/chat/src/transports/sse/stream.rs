//! A response without an end on a bare socket: an event stream's queue, written as it fills.
//!
//! One task and one hand-written poll function, as for a WebSocket (`websocket::connection`), for the same reason;
//! whoever publishes writes to the socket itself. Nothing is expected from the client: what it sends is dropped, and
//! when it closes, or stops acknowledging bytes, the stream is over.
//!
//! The decision a reader would question: the response leaves hyper before its head is written. hyper would keep buffers
//! and a task as large as its whole connection for each stream, and a channel between publisher and socket.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use crate::connection::outbox::{Close, Standing};
use crate::connection::read_buffer::with_scratch;
use crate::connection::socket::{Socket, TaskSocket};
use crate::connection::write_buffer::WriteBuffer;
use crate::hub::Hub;
use crate::rooms::peer::Peer;

/// The peer of a stream, and the end of its memberships whatever becomes of the stream.
pub(crate) struct Listener {
    peer: Arc<Peer>,
    hub: Arc<Hub>,
}

impl Listener {
    pub(crate) fn new(peer: Arc<Peer>, hub: Arc<Hub>) -> Listener {
        hub.metrics.sse.add(1);
        Listener { peer, hub }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.peer.outbox.close(Close::Normal);
        self.peer.outbox.detach();
        self.peer.leave_all(&self.hub.metrics);
        self.hub.peers.remove(&self.peer);
        self.hub.metrics.sse.sub(1);
    }
}

/// Writes the head, and behind it what is queued, until the socket closes. `farewell` is what a client reads last when
/// the service is draining.
pub(crate) async fn carry(stream: Socket, head: Bytes, listener: Listener, farewell: fn() -> Bytes) {
    let mut stream = Stream::new(stream, head, listener, farewell);
    poll_fn(|cx| stream.poll(cx)).await;
}

/// A client that acknowledges nothing for so long is gone: without this, the system tries for a quarter of an hour.
fn bound_silence(stream: &TcpStream, silence: std::time::Duration) {
    #[cfg(target_os = "linux")]
    {
        let ms = u32::try_from(silence.as_millis()).unwrap_or(u32::MAX);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, ms);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, silence);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Talking,
    /// All that will ever be said is in `out`.
    Parting,
    /// All is written and our side of the socket is shut.
    Shut,
}

struct Stream {
    socket: TaskSocket,
    /// Until the queue has it; none inside TLS.
    write: Option<OwnedWriteHalf>,
    out: WriteBuffer,
    stage: Stage,
    /// Bytes read since its end began.
    unheard: usize,
    listener: Listener,
    farewell: fn() -> Bytes,
}

impl Stream {
    fn new(stream: Socket, head: Bytes, listener: Listener, farewell: fn() -> Bytes) -> Stream {
        let limits = &listener.hub.config.limits;
        bound_silence(stream.tcp(), limits.sse_heartbeat + limits.ping_timeout);
        let (socket, write) = stream.divide();
        let mut out = WriteBuffer::default();
        // Counted as if it had been queued, since its writing will be: else what waits behind it would seem to be
        // written.
        listener.peer.outbox.brings(std::iter::once(&head));
        out.push(head);
        Stream { socket, write, out, stage: Stage::Talking, unheard: 0, listener, farewell }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let standing = self.fill();
            if standing == Standing::HungUp {
                return Poll::Ready(());
            }
            let Listener { peer, hub } = &self.listener;
            let flushed = self.out.flush(&mut self.socket, &peer.outbox, &hub.metrics, cx);
            if flushed == Poll::Ready(false) {
                return Poll::Ready(());
            }
            let written = self.out.is_empty();
            if written && self.stage == Stage::Parting && self.socket.poll_end(cx).is_ready() {
                self.stage = Stage::Shut;
            }
            let talking = self.stage == Stage::Talking;
            if written && talking && standing != Standing::Open {
                continue;
            }
            // What a flood still brings at the end waits in its own system, until the sweep hangs up.
            if talking || self.unheard <= self.listener.hub.config.limits.close_bytes {
                match self.read(cx) {
                    Poll::Ready(true) => continue,
                    Poll::Ready(false) => return Poll::Ready(()),
                    Poll::Pending => {}
                }
            }
            let outbox = &self.listener.peer.outbox;
            if written && talking {
                self.write.take().into_iter().for_each(|write| outbox.attach(write));
            }
            if outbox.sleep(cx, standing, written && talking) {
                return Poll::Pending;
            }
        }
    }

    /// Takes what waits once the last batch is written, and begins the parting when it is time.
    fn fill(&mut self) -> Standing {
        let outbox = &self.listener.peer.outbox;
        if self.stage != Stage::Talking {
            return outbox.standing();
        }
        let all_written = self.out.is_empty();
        let standing = if all_written { self.out.take(outbox) } else { outbox.standing() };
        if let Standing::Closing(why) = standing
            && (all_written || why == Close::Slow)
        {
            self.stage = Stage::Parting;
            let Listener { peer, hub } = &self.listener;
            match why {
                Close::Slow => {
                    hub.metrics.slow_consumers.add(1);
                    // The rest was given up with the queue.
                    self.out.give_up();
                }
                Close::Restart => self.out.push((self.farewell)()),
                _ => {}
            }
            peer.leave_all(&hub.metrics);
        }
        standing
    }

    /// Reads once: true when something came, false at the end of the client's stream.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        with_scratch(|buffer| {
            let mut read = ReadBuf::new(buffer);
            match self.socket.poll_read(cx, &mut read) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(_)) => Poll::Ready(false),
                Poll::Ready(Ok(())) => {
                    if self.stage != Stage::Talking {
                        self.unheard += read.filled().len();
                    }
                    Poll::Ready(!read.filled().is_empty())
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::connection::outbox::Pushed;
    use crate::encoding::stomp::envelope::Envelope;
    use crate::rooms::peer::Newcomer;
    use crate::transports::stomp::{Conversation, StompSocket};
    use crate::transports::websocket::connection;
    use crate::transports::websocket::rooms::RoomsSocket;

    async fn pair() -> (Socket, TcpStream) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (listener.accept().await.unwrap().0.into(), there)
    }

    fn peer(hub: &Hub) -> Arc<Peer> {
        let newcomer = Newcomer { queue_bytes: 1000, ..Newcomer::default() };
        hub.peers.add(newcomer, hub.now(), &hub.config.limits)
    }

    #[tokio::test]
    async fn nothing_is_written_before_what_waits_behind_the_head() {
        let service = crate::start(crate::Config::default()).await.unwrap();
        let hub = service.hub().clone();
        let (here, _there) = pair().await;
        here.tcp().writable().await.unwrap();
        let peer = peer(&hub);
        peer.outbox.push(Bytes::from_static(b"greeting"));
        let listener = Listener::new(peer.clone(), hub.clone());
        let mut stream = Stream::new(here, Bytes::from(vec![b'h'; 500]), listener, Bytes::new);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(
            stream.out.flush(&mut stream.socket, &peer.outbox, &hub.metrics, &mut cx),
            Poll::Ready(true)
        );
        peer.outbox.attach(stream.write.take().unwrap());
        assert_eq!(peer.outbox.deliver(&Bytes::from_static(b"message")), (Pushed::Queued, 0));
        assert_eq!(stream.fill(), Standing::Open);
        assert_eq!(stream.out.frames().collect::<Vec<_>>(), ["greeting", "message"]);
    }

    #[tokio::test]
    async fn an_idle_event_stream_or_stomp_subscriber_keeps_about_what_an_idle_websocket_does() {
        let service = crate::start(crate::Config::default()).await.unwrap();
        let hub = service.hub().clone();
        let raw = RoomsSocket { peer: peer(&hub), hub: hub.clone() };
        let websocket = connection::carry(pair().await.0, Bytes::new(), 1000, raw, hub.clone());
        let conversation = Conversation::new(hub.clone(), peer(&hub), Envelope::Plain);
        let stomp =
            connection::carry(pair().await.0, Bytes::new(), 1000, StompSocket { conversation }, hub.clone());
        let listener = Listener::new(peer(&hub), hub.clone());
        let events = carry(pair().await.0, Bytes::new(), listener, Bytes::new);
        let sizes = [size_of_val(&websocket), size_of_val(&stomp), size_of_val(&events)];
        let [websocket, stomp, events] = sizes;
        assert!(events <= websocket, "{sizes:?}");
        // A subscription's own entries on the heap are some hundred bytes more.
        assert!(stomp <= websocket + 1024, "{sizes:?}");
    }
}
