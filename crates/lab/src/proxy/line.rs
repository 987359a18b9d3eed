//! One direction of the network, shared by all connections.
//!
//! What is read is due half the added round trip later; then it goes through the direction's one bucket, in the order
//! in which it becomes due, and is written. A connection has a window of bytes under way and no more: what is beyond
//! it stays unread, so that whoever sends too much is held back by the kernel. An idle connection holds no buffer.
//!
//! How late a piece is written is counted, from the instant at which it was due and nothing but this thread held it up:
//! neither the bandwidth nor a side that does not read.

use super::lateness::Lateness;
use crate::settings::Network;
use sonagi_measure::At;
use sonagi_transport::clock::Clock;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Bytes read at a time, so that many connections take turns.
const CHUNK: usize = 16 << 10;
/// What the shortest chunk counts as: its bookkeeping takes room as well.
const SHORTEST: usize = 256;
/// Bytes under way of one connection: enough for the bandwidth, within these.
const WINDOW: (f64, f64) = (262_144.0, 4_194_304.0);
/// The bandwidth, bits a second, that one without a limit is meant to reach on a connection.
const UNLIMITED: f64 = 1e9;
/// What a bucket makes up for: a timer that rings late must cost no bandwidth.
const CATCH_UP_NS: i64 = 5_000_000;

/// A direction.
pub(super) struct Line {
    clock: Rc<Clock>,
    lateness: Lateness,
    delay_ns: i64,
    /// Bits a second; None: no limit.
    bandwidth: Option<u64>,
    window: usize,
    /// When the bucket is free for more.
    free: Cell<At>,
    /// Where everything is read to first.
    scratch: RefCell<Box<[u8]>>,
}

/// Why a direction did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The side that speaks is gone. What it had said has arrived.
    Reading,
    /// The side that listens is gone.
    Writing,
}

/// Bytes on their way; None: the end.
type Chunk = (At, Option<Vec<u8>>, OwnedSemaphorePermit);

impl Line {
    pub(super) fn new(network: &Network, clock: &Rc<Clock>, lateness: &Lateness) -> Line {
        let delay = network.latency / 2;
        // Twice what is under way at full bandwidth.
        let bits = network.bandwidth.map_or(UNLIMITED, |bits| bits as f64);
        let under_way = bits / 8.0 * delay.as_secs_f64() * 2.0;
        Line {
            clock: Rc::clone(clock),
            lateness: lateness.clone(),
            delay_ns: delay.as_nanos() as i64,
            bandwidth: network.bandwidth,
            window: under_way.clamp(WINDOW.0, WINDOW.1) as usize,
            free: Cell::new(At(0)),
            scratch: RefCell::new(vec![0; CHUNK].into_boxed_slice()),
        }
    }

    /// Carries what one side says to the other, up to its end and with it.
    pub(super) async fn carry(
        &self,
        from: impl AsyncRead + Unpin,
        to: impl AsyncWrite + Unpin,
    ) -> Result<(), Broken> {
        let (chunks, under_way) = mpsc::unbounded_channel();
        let mut taken = Ok(());
        let take = async {
            // An error is no reason to lose what was read before it.
            taken = self.take(from, chunks).await;
            Ok(())
        };
        let handed = tokio::try_join!(take, self.hand_over(under_way, to));
        handed.map_err(|_: io::Error| Broken::Writing)?;
        taken.map_err(|_| Broken::Reading)
    }

    async fn take(
        &self,
        mut from: impl AsyncRead + Unpin,
        chunks: mpsc::UnboundedSender<Chunk>,
    ) -> io::Result<()> {
        let window = Arc::new(Semaphore::new(self.window));
        loop {
            let room = Arc::clone(&window).acquire_many_owned(CHUNK as u32).await;
            let mut room = room.map_err(io::Error::other)?;
            let bytes = self.read(&mut from).await?;
            let due = self.clock.now().plus(self.delay_ns);
            // The rest of the room is given back.
            let held = room.split(bytes.len().clamp(SHORTEST, CHUNK)).unwrap_or(room);
            let is_end = bytes.is_empty();
            let gone = chunks.send((due, (!is_end).then_some(bytes), held)).is_err();
            if is_end || gone {
                return Ok(());
            }
        }
    }

    /// Reads some bytes; none: the end.
    async fn read(&self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
        std::future::poll_fn(|cx| {
            let mut scratch = self.scratch.borrow_mut();
            let mut buffer = ReadBuf::new(&mut scratch);
            ready!(Pin::new(&mut *from).poll_read(cx, &mut buffer))?;
            Poll::Ready(Ok(buffer.filled().to_vec()))
        })
        .await
    }

    async fn hand_over(
        &self,
        mut under_way: mpsc::UnboundedReceiver<Chunk>,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        // When the other side had taken all that came before.
        let mut taken = self.clock.now();
        while let Some((due, bytes, room)) = under_way.recv().await {
            self.clock.sleep_until(due).await;
            let Some(bytes) = bytes else { return to.shutdown().await };
            let mut due = due.max(taken);
            if let Some(bits) = self.bandwidth {
                let (through, planned) = self.through(bytes.len(), bits, due);
                self.clock.sleep_until(through).await;
                due = due.max(planned);
            }
            self.lateness.record(self.clock.now().since(due));
            if has_waited(to.write_all(&bytes)).await? {
                taken = self.clock.now();
            }
            drop(room);
        }
        Ok(())
    }

    /// When so many bytes are through the bucket, and when they would be had they come to it as they were due.
    fn through(&self, bytes: usize, bits: u64, due: At) -> (At, At) {
        let takes = (bytes as f64 * 8e9 / bits as f64) as i64;
        let from = |at: At| self.free.get().max(at.plus(-CATCH_UP_NS)).plus(takes);
        let (through, planned) = (from(self.clock.now()), from(due));
        self.free.set(through);
        (through, planned)
    }
}

/// Carries this out; whether it could not be done at once.
async fn has_waited(write: impl Future<Output = io::Result<()>>) -> io::Result<bool> {
    let mut write = pin!(write);
    let mut has_waited = false;
    std::future::poll_fn(|cx| {
        let polled = write.as_mut().poll(cx);
        has_waited |= polled.is_pending();
        polled
    })
    .await?;
    Ok(has_waited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, duplex};
    use tokio::time::Instant;

    /// Runs a test on a paused clock, with a line of this network.
    fn simulated<T>(network: Network, test: impl AsyncFnOnce(Rc<Line>) -> T) -> T {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let clock = Clock::simulated(Instant::now());
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            test(Rc::new(Line::new(&network, &clock, &Lateness::default()))).await
        })
    }

    #[test]
    fn bytes_arrive_half_a_round_trip_later_and_so_does_the_end() {
        let latency = Duration::from_millis(20);
        simulated(Network { latency, ..Network::default() }, async |line| {
            let ((mut near, from), (to, mut far)) = (duplex(1024), duplex(1024));
            tokio::task::spawn_local(async move { line.carry(from, to).await });
            let began = Instant::now();
            near.write_all(b"one").await.unwrap();
            let mut buffer = [0; 3];
            far.read_exact(&mut buffer).await.unwrap();
            assert_eq!((began.elapsed().as_millis(), &buffer), (10, b"one"));
            tokio::time::sleep(Duration::from_millis(7)).await;
            near.shutdown().await.unwrap();
            assert_eq!(far.read(&mut buffer).await.unwrap(), 0);
            assert_eq!(began.elapsed().as_millis(), 27);
        });
    }

    #[test]
    fn messages_in_a_row_keep_their_distance_and_none_waits_for_the_one_before() {
        let latency = Duration::from_millis(100);
        simulated(Network { latency, ..Network::default() }, async |line| {
            let ((mut near, from), (to, mut far)) = (duplex(1024), duplex(1024));
            tokio::task::spawn_local(async move { line.carry(from, to).await });
            let began = Instant::now();
            tokio::task::spawn_local(async move {
                for _ in 0..10 {
                    near.write_all(b"x").await.unwrap();
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            });
            for sent in 0..10 {
                far.read_exact(&mut [0]).await.unwrap();
                assert_eq!(began.elapsed().as_millis(), 50 + 5 * sent);
            }
        });
    }

    #[test]
    fn two_connections_share_one_bandwidth_and_neither_is_left_out() {
        let network = Network { bandwidth: Some(8_000_000), ..Network::default() };
        simulated(network, async |line| {
            let began = Instant::now();
            let mut ends = Vec::new();
            for _ in 0..2 {
                let ((mut near, from), (to, mut far)) = (duplex(1 << 16), duplex(1 << 16));
                let line = Rc::clone(&line);
                tokio::task::spawn_local(async move { line.carry(from, to).await });
                tokio::task::spawn_local(async move { near.write_all(&vec![7; 500_000]).await });
                ends.push(tokio::task::spawn_local(async move {
                    let mut all = Vec::new();
                    far.read_to_end(&mut all).await.unwrap();
                    (all.len(), began.elapsed().as_secs_f64())
                }));
            }
            for end in ends {
                let (bytes, seconds) = end.await.unwrap();
                assert_eq!(bytes, 500_000);
                assert!((0.95..1.01).contains(&seconds), "a megabyte at a megabyte a second: {seconds}");
            }
        });
    }

    #[test]
    fn without_a_bandwidth_a_delay_alone_slows_no_connection_down() {
        let network = Network { latency: Duration::from_millis(100), ..Network::default() };
        simulated(network, async |line| {
            let began = Instant::now();
            let ((mut near, from), (to, mut far)) = (duplex(1 << 16), duplex(1 << 16));
            tokio::task::spawn_local(async move { line.carry(from, to).await });
            tokio::task::spawn_local(async move { near.write_all(&vec![7; 3_000_000]).await });
            let mut all = Vec::new();
            far.read_to_end(&mut all).await.unwrap();
            assert_eq!((all.len(), began.elapsed().as_millis()), (3_000_000, 50), "half the round trip");
        });
    }

    /// Lets all tasks do what they can do now.
    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn what_is_written_behind_its_time_is_late_by_that() {
        // With a bandwidth, a piece of three bytes is through in three milliseconds; after a pause it goes at once.
        for bandwidth in [None, Some(8_000)] {
            let network = Network { latency: Duration::from_millis(20), bandwidth, ..Network::default() };
            simulated(network, async |line| {
                let ((mut near, from), (to, mut far)) = (duplex(1024), duplex(1024));
                let lateness = line.lateness.clone();
                tokio::task::spawn_local(async move { line.carry(from, to).await });
                near.write_all(b"one").await.unwrap();
                settled().await;
                tokio::time::advance(Duration::from_millis(25)).await;
                far.read_exact(&mut [0; 3]).await.unwrap();
                let late = lateness.take();
                assert_eq!((late.count, late.max.floor()), (1, 15.0), "{bandwidth:?}");
            });
        }
    }

    #[test]
    fn what_waits_for_a_reader_or_for_the_bandwidth_is_not_late() {
        for bandwidth in [None, Some(8_000)] {
            simulated(Network { bandwidth, ..Network::default() }, async |line| {
                let ((mut near, from), (to, mut far)) = (duplex(1024), duplex(4));
                let lateness = line.lateness.clone();
                tokio::task::spawn_local(async move { line.carry(from, to).await });
                for _ in 0..3 {
                    near.write_all(&[7; 20]).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
                far.read_exact(&mut [0; 60]).await.unwrap();
                let late = lateness.take();
                assert!(late.count > 0 && late.max < 1.5, "{bandwidth:?}: {late:?}");
            });
        }
    }

    #[test]
    fn a_reader_that_reads_nothing_holds_the_writer_back() {
        simulated(Network::default(), async |line| {
            let ((mut near, from), (to, _far)) = (duplex(1024), duplex(1024));
            tokio::task::spawn_local(async move { line.carry(from, to).await });
            let mut sent = 0;
            let all = async {
                for _ in 0..1_000_000 {
                    near.write_all(&[0; 1024]).await.unwrap();
                    sent += 1024;
                }
            };
            assert!(tokio::time::timeout(Duration::from_secs(60), all).await.is_err());
            assert!(sent <= WINDOW.0 as usize + 4 * CHUNK, "{sent} bytes were taken");
        });
    }
}
