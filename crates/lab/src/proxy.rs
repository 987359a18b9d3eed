//! The network between a run and its service: added latency, a bandwidth, cuts.
//!
//! A proxy of TCP connections on a thread of its own. The one decision a reader would question: it is no queue of the
//! kernel's (netem), which needs a module and a right that few machines give, and would slow down everything else on
//! the loopback interface.

mod lateness;
mod line;

pub use lateness::Lateness;

use crate::settings::Network;
use line::{Broken, Line};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sonagi_transport::clock::Clock;
use sonagi_transport::net::is_exhausted;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;
/// The time until accepting is tried again, where no file is to be had.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// How often this process had no files, ports or memory left for connections.
type Exhausted = Arc<AtomicU64>;

/// A running proxy; it ends, with its connections, when dropped.
pub struct Proxy {
    address: SocketAddr,
    to: SocketAddr,
    exhausted: Exhausted,
    lateness: Lateness,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy to this address, on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// There is no port, thread or timer to be had.
    pub fn start(to: SocketAddr, network: &Network) -> io::Result<Proxy> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let listener = std::net::TcpListener::from(socket);
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let (is_up, up) = std::sync::mpsc::channel();
        let network = network.clone();
        let exhausted = Exhausted::default();
        let lateness = Lateness::default();
        let (counted, late) = (Arc::clone(&exhausted), lateness.clone());
        let thread = std::thread::Builder::new().name("network".to_owned()).spawn(move || {
            let serve = async {
                let made = Clock::real(Instant::now())
                    .and_then(|clock| Ok((clock, TcpListener::from_std(listener)?)));
                let (clock, listener) = match made {
                    Ok(made) => made,
                    Err(error) => return drop(is_up.send(Err(error))),
                };
                let _ = is_up.send(Ok(()));
                tokio::select! {
                    () = accept(&listener, to, (&network, &counted, &late), clock) => {}
                    _ = stopped => {}
                }
            };
            tokio::task::LocalSet::new().block_on(&runtime, serve);
        })?;
        up.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended")))?;
        Ok(Proxy { address, to, exhausted, lateness, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it leads.
    pub fn to(&self) -> SocketAddr {
        self.to
    }

    /// How often so far this process had no files, ports or memory left for a connection: no fault of the service's.
    pub fn exhausted(&self) -> u64 {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// How late it is itself: no fault of the service's either.
    pub fn lateness(&self) -> Lateness {
        self.lateness.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Accepts connections until it is dropped.
async fn accept(
    listener: &TcpListener,
    to: SocketAddr,
    (network, exhausted, lateness): (&Network, &Exhausted, &Lateness),
    clock: Rc<Clock>,
) {
    tokio::task::spawn_local(Rc::clone(&clock).drive());
    tokio::task::spawn_local(lateness::beat(Rc::clone(&clock), lateness.clone()));
    let lines = [(); 2].map(|()| Rc::new(Line::new(network, &clock, lateness)));
    let (cutter, cut) = watch::channel(());
    if let Some(every) = network.cut {
        tokio::task::spawn_local(async move {
            let mut ticks = tokio::time::interval_at(Instant::now() + every, every);
            while !cutter.is_closed() {
                ticks.tick().await;
                cutter.send_replace(());
            }
        });
    }
    let mut is_short = false;
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                is_short = false;
                let (lines, cut, exhausted) = (lines.clone(), cut.clone(), Arc::clone(exhausted));
                tokio::task::spawn_local(async move { carry(client, to, &lines, cut, &exhausted).await });
            }
            Err(error) => {
                // The same connection waits for every attempt until one succeeds.
                if is_exhausted(&error) && !std::mem::replace(&mut is_short, true) {
                    exhausted.fetch_add(1, Ordering::Relaxed);
                }
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// Carries one connection to its end.
async fn carry(
    client: TcpStream,
    to: SocketAddr,
    [there, back]: &[Rc<Line>; 2],
    mut cut: watch::Receiver<()>,
    exhausted: &AtomicU64,
) {
    // A cut that came before it does not concern it.
    cut.mark_unchanged();
    let mut client = client;
    let mut service = match TcpStream::connect(to).await {
        Ok(service) => service,
        Err(error) => {
            exhausted.fetch_add(u64::from(is_exhausted(&error)), Ordering::Relaxed);
            return reset(&client);
        }
    };
    // Messages go on when they are due, and not when there are enough of them.
    let _ = (client.set_nodelay(true), service.set_nodelay(true));
    let is_whole = {
        let (from_client, to_client) = client.split();
        let (from_service, to_service) = service.split();
        let both = async {
            tokio::try_join!(
                ended(there.carry(from_client, to_service)),
                ended(back.carry(from_service, to_client))
            )
        };
        tokio::select! {
            done = both => done == Ok((true, true)),
            // Without cuts there is nobody who could send one: that says nothing.
            Ok(()) = cut.changed() => false,
        }
    };
    if !is_whole {
        reset(&client);
        reset(&service);
    }
}

/// Whether a direction came to its end; an error where the other one will not come to its own. A side that does not
/// listen any more may have said a last word, which is still on its way; one that is gone has nobody to hear any.
async fn ended(direction: impl Future<Output = Result<(), Broken>>) -> Result<bool, Broken> {
    match direction.await {
        Ok(()) => Ok(true),
        Err(Broken::Writing) => Ok(false),
        Err(Broken::Reading) => Err(Broken::Reading),
    }
}

/// Closes a connection with a reset, as a network does that lost it.
fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};

    /// A service that answers with everything it was sent, once its client has said all.
    fn echo() -> (SocketAddr, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            // A connection that is cut ends with an error.
            if stream.read_to_end(&mut all).is_ok() {
                stream.write_all(&all).unwrap();
            }
        });
        (address, thread)
    }

    #[test]
    fn a_half_that_is_closed_leaves_the_other_open_and_every_byte_arrives() {
        let (address, service) = echo();
        let network = Network { latency: Duration::from_millis(2), ..Network::default() };
        let proxy = Proxy::start(address, &network).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let sent: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        client.write_all(&sent).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answered = Vec::new();
        client.read_to_end(&mut answered).unwrap();
        assert!(answered == sent, "{} bytes of {}", answered.len(), sent.len());
        service.join().unwrap();
    }

    #[test]
    fn the_last_word_of_a_service_that_closes_arrives_though_more_is_said_to_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(b"bye").unwrap();
        });
        let latency = Duration::from_millis(100);
        let proxy = Proxy::start(address, &Network { latency, ..Network::default() }).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        for _ in 0..40 {
            // Once the service is gone, this is refused.
            let _ = client.write_all(b"hello");
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut word = [0; 3];
        client.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"bye");
        service.join().unwrap();
    }

    #[test]
    fn an_answer_takes_at_least_the_added_round_trip() {
        let (address, service) = echo();
        let latency = Duration::from_millis(40);
        let proxy = Proxy::start(address, &Network { latency, ..Network::default() }).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let sent = std::time::Instant::now();
        client.write_all(b"hello").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut answered = Vec::new();
        client.read_to_end(&mut answered).unwrap();
        assert!(sent.elapsed() >= latency && answered == b"hello", "{:?}", sent.elapsed());
        service.join().unwrap();
    }

    #[test]
    fn a_cut_resets_the_connections_there_are_and_new_ones_are_accepted() {
        let (address, service) = echo();
        let cut = Some(Duration::from_millis(100));
        let proxy = Proxy::start(address, &Network { cut, ..Network::default() }).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let ended = client.read(&mut [0; 1]);
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        service.join().unwrap();
        assert!(TcpStream::connect(proxy.address()).is_ok());
    }

    #[test]
    fn a_connection_is_reset_when_nobody_listens_behind_the_proxy() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let proxy = Proxy::start(nobody, &Network::default()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(client.read(&mut [0; 1]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }

    #[test]
    fn a_proxy_that_ended_listens_no_more() {
        let refuses = |_| {
            let proxy = Proxy::start(([127, 0, 0, 1], 1).into(), &Network::default()).unwrap();
            let address = proxy.address();
            drop(proxy);
            TcpStream::connect(address).is_err()
        };
        // Its port may be another test's at once, but not that of three on end.
        assert!((0..3).any(refuses));
    }
}
