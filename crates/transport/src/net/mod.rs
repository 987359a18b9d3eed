//! How a shard reaches its targets: names, source addresses, TCP, TLS; or a pipe to a simulated server.
//!
//! No timeouts here: every future may be dropped at any point, and the caller knows its limit. Names are resolved once
//! per shard and run, because a load test should measure the target and not the resolver; a target that moves during a
//! run is not followed.
//!
//! The decision to question: addresses of a name are tried one after another, not raced. Races hide a refusing address
//! and double the load of connecting.

mod certificate;
mod dial_policy;
mod failed;
mod origin;
mod resolve;
mod socket;
mod tls;
mod trust;

pub use dial_policy::DialPolicy;
pub use failed::{Cause, Failed, is_exhausted};
pub(crate) use origin::push_query;
pub use origin::{Origin, has_scheme, wire_path};
pub use rustls::{CipherSuite, ProtocolVersion};
pub use socket::{Secured, Socket};
pub use tls::{Identity, TlsOptions};

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use rustix::io::Errno;
use sonagi_measure::outcome::Failure;
use tokio::io::DuplexStream;
use tokio::net::{TcpSocket, TcpStream};

use resolve::{Name, Resolver};
use tls::Tls;

/// How a shard connects.
#[derive(Clone, Debug)]
pub struct NetOptions {
    /// Whether a server's certificate must be valid.
    pub verify_certificates: bool,
    /// Local addresses to connect from, in turn; empty: the kernel chooses.
    pub source_addresses: Vec<IpAddr>,
    /// Whether HTTP/2 is offered over TLS.
    pub http2: bool,
    /// Whether HTTP clients measure how long their connections took to open.
    pub timed: bool,
    /// The test's rules for where names lead; None: the resolver alone.
    pub dial_policy: Option<Arc<dyn DialPolicy>>,
    /// TLS versions, suites and certificates.
    pub tls: TlsOptions,
}

impl Default for NetOptions {
    fn default() -> NetOptions {
        NetOptions {
            verify_certificates: true,
            source_addresses: Vec::new(),
            http2: true,
            timed: false,
            dial_policy: None,
            tls: TlsOptions::default(),
        }
    }
}

/// The protocols that a TLS connection offers by ALPN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alpn {
    /// HTTP/1.1 only: what a WebSocket needs.
    Http1,
    /// HTTP/2, then HTTP/1.1; HTTP/1.1 only unless [`NetOptions::http2`].
    Http2,
}

/// The stage of a connection being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialing {
    /// The name is being looked up.
    Begun,
    /// The name has an address.
    Resolved,
    /// TCP is established; with TLS, its handshake follows.
    Connected,
    /// Bytes can be sent.
    Ready,
}

/// The durations of the parts of opening a connection, in µs; kept with every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningTimes {
    /// The name lookup, in µs; close to 0 when the shard knew the name already.
    pub name_us: u32,
    /// TCP's handshake, in µs.
    pub tcp_us: u32,
    /// TLS's handshake, in µs; 0 without TLS.
    pub tls_us: u32,
}

/// A shard's connector to its targets. Lives on one thread.
pub struct Net {
    route: Route,
    /// The read buffer of the shard's HTTP connections, used by one at a time and allocated at first use. Not the
    /// links' buffer: that one is lent to a link for its whole drive, and a polling link reads by HTTP meanwhile.
    scratch: RefCell<Vec<u8>>,
}

enum Route {
    Real(Box<Real>),
    Simulated(Box<dyn Fn(DuplexStream)>),
}

/// The bytes a simulated pipe holds in each direction before its writer waits.
const SIMULATED_PIPE: usize = 64 * 1024;

/// Bytes read from a socket at a time.
pub const SCRATCH: usize = 64 * 1024;

impl Net {
    /// Connects over real sockets.
    ///
    /// # Errors
    /// `TlsFailed` when TLS cannot be set up at all.
    pub fn real(options: NetOptions) -> Result<Net, Failed> {
        let real =
            Real { options, resolver: Resolver::default(), tls: OnceCell::new(), next_source: Cell::new(0) };
        Ok(Net { route: Route::Real(Box::new(real)), scratch: RefCell::default() })
    }

    /// Connects by pipes: each dial hands the far end to `server` (which usually spawns a local task). Origins are
    /// ignored, and TLS is taken as plain.
    pub fn simulated(server: impl Fn(DuplexStream) + 'static) -> Net {
        Net { route: Route::Simulated(Box::new(server)), scratch: RefCell::default() }
    }

    /// The shard's read buffer. It must be returned before anything is awaited: all connections of the shard share it.
    pub(crate) fn scratch(&self) -> RefMut<'_, Vec<u8>> {
        let mut scratch = self.scratch.borrow_mut();
        if scratch.is_empty() {
            scratch.resize(SCRATCH, 0);
        }
        scratch
    }

    /// Connects. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// `NameNotResolved`, `ConnectRefused`, `ConnectTimeout` (the kernel's), `ConnectFailed`, `GeneratorExhausted`,
    /// `TlsFailed`, `NotTls`, the certificate failures, `Reset`.
    pub async fn dial(&self, origin: &Origin, alpn: Alpn) -> Result<Socket, Failed> {
        self.dial_noting(origin, alpn, &|_| {}).await
    }

    /// [`Net::dial`], which reports each stage to `note`.
    pub(crate) async fn dial_noting(
        &self,
        origin: &Origin,
        alpn: Alpn,
        note: &dyn Fn(Dialing),
    ) -> Result<Socket, Failed> {
        note(Dialing::Begun);
        let socket = match &self.route {
            Route::Real(real) => real.dial(origin, alpn, note).await?,
            Route::Simulated(server) => pipe(server),
        };
        note(Dialing::Ready);
        Ok(socket)
    }

    /// Whether clients measure how long connections took to open.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(&self.route, Route::Real(real) if real.options.timed)
    }
}

fn pipe(server: &dyn Fn(DuplexStream)) -> Socket {
    let (ours, theirs) = tokio::io::duplex(SIMULATED_PIPE);
    server(theirs);
    Socket::Simulated(ours)
}

struct Real {
    options: NetOptions,
    resolver: Resolver,
    /// Set up when first needed: reading the machine's trust store takes milliseconds.
    tls: OnceCell<Tls>,
    next_source: Cell<usize>,
}

impl Real {
    async fn dial(&self, origin: &Origin, alpn: Alpn, note: &dyn Fn(Dialing)) -> Result<Socket, Failed> {
        let stream = self.connect(origin, note).await?;
        note(Dialing::Connected);
        if !origin.tls {
            return Ok(Socket::Plain(stream));
        }
        let alpn = if self.options.http2 { alpn } else { Alpn::Http1 };
        // What most connections do without is in a box, here and below: each that opens would have room for it.
        let stream = Box::pin(self.tls()?.connect(stream, origin, alpn)).await?;
        Ok(Socket::Tls(Box::new(stream)))
    }

    fn tls(&self) -> Result<&Tls, Failed> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls);
        }
        let tls = Tls::new(self.options.verify_certificates, &self.options.tls)?;
        Ok(self.tls.get_or_init(|| tls))
    }

    async fn connect(&self, origin: &Origin, note: &dyn Fn(Dialing)) -> Result<TcpStream, Failed> {
        if let Some(policy) = &self.options.dial_policy {
            return Box::pin(self.connect_by_policy(&**policy, origin, note)).await;
        }
        let name = self.resolver.resolve(origin).await?;
        note(Dialing::Resolved);
        self.connect_by(&name, origin, name.addresses()).await
    }

    async fn connect_by_policy(
        &self,
        policy: &dyn DialPolicy,
        origin: &Origin,
        note: &dyn Fn(Dialing),
    ) -> Result<TcpStream, Failed> {
        let name = match policy.fixed_address(&origin.host, origin.port)? {
            Some(address) => Rc::new(Name::of(address)),
            None => self.resolver.resolve(origin).await?,
        };
        let addresses = policy.order(name.found());
        note(Dialing::Resolved);
        for address in &addresses {
            policy.allow(address.ip())?;
        }
        self.connect_by(&name, origin, addresses).await
    }

    async fn connect_by(
        &self,
        name: &Name,
        origin: &Origin,
        addresses: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<TcpStream, Failed> {
        let mut last = None;
        for address in addresses {
            match self.connect_to(address).await {
                Ok(stream) => {
                    name.prefer(address);
                    // Frames are written whole: waiting to join them would only add latency.
                    stream.set_nodelay(true).map_err(|error| Failed::established(&error))?;
                    return Ok(stream);
                }
                Err(error) => last = Some(Failed::connecting(&error, address)),
            }
        }
        Err(last.unwrap_or_else(|| {
            Failed::new(Failure::NameNotResolved, format!("{} has no address", origin.host))
        }))
    }

    async fn connect_to(&self, address: SocketAddr) -> io::Result<TcpStream> {
        match self.options.source_addresses.is_empty() {
            true => open(address)?.connect(address).await,
            false => Box::pin(self.connect_from_own(address)).await,
        }
    }

    /// Connects from one of our source addresses.
    async fn connect_from_own(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let sources = &self.options.source_addresses;
        let fitting = sources.iter().filter(|source| source.is_ipv4() == address.is_ipv4()).count();
        if fitting == 0 {
            return Err(io::Error::other("no source address of the same family (IPv4 or IPv6) was given"));
        }
        let first = self.next_source.get();
        self.next_source.set(first.wrapping_add(1));
        let mut outcome = Err(Errno::ADDRNOTAVAIL.into());
        for turn in 0..fitting {
            let source = sources
                .iter()
                .filter(|source| source.is_ipv4() == address.is_ipv4())
                .nth(first.wrapping_add(turn) % fitting);
            let Some(&source) = source else { break };
            outcome = connect_from(source, address).await;
            match &outcome {
                // This address has no port left for the target; the next one may.
                Err(error) if is_out_of_ports(error) => {}
                _ => break,
            }
        }
        outcome
    }
}

fn open(address: SocketAddr) -> io::Result<TcpSocket> {
    if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }
}

async fn connect_from(source: IpAddr, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = open(address)?;
    socket.bind(SocketAddr::new(source, 0))?;
    socket.connect(address).await
}

fn is_out_of_ports(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE))
}
