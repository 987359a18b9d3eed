//! The configuration of a service, and every limit it keeps.
//!
//! Every queue, table and wait in this crate has its bound here and nowhere else. The defaults are those of
//! the Engine.IO and Socket.IO documents where they name one, and generous to load tests elsewhere.

mod bus_address;
pub(crate) mod postgres;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

pub use bus_address::BusAddress;

use crate::faults::Faults;
use postgres::PostgresLocation;

/// Where users, rooms and messages are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// An SQLite database in memory: gone when the service stops.
    Memory,
    /// An SQLite database in this file (write-ahead log beside it), created when absent.
    File(PathBuf),
    /// A PostgreSQL database, whose tables are made when absent. Several services may share it.
    Postgres(Box<PostgresLocation>),
}

impl StoreLocation {
    /// Whether several services may use it at a time.
    pub(crate) fn serves_several(&self) -> bool {
        !matches!(self, StoreLocation::Memory | StoreLocation::File(_))
    }
}

/// The files of a certificate and its private key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The service's certificate, and behind it those that signed it.
    pub certificate: PathBuf,
    /// Its private key, without a password.
    pub key: PathBuf,
}

/// All a service is told. `Config::default()` listens on a free port of 127.0.0.1 with an empty memory store.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to bind; port 0 picks a free one (see `Service::address`).
    pub listen: SocketAddr,
    /// The number of this instance among those behind a proxy: ids of Engine.IO's sessions begin with it and a dot, for
    /// the proxy to know whose they are.
    pub instance: Option<u16>,
    /// Speaks TLS only, with this certificate; it is read again when the files change. `None` (the default): no TLS.
    pub tls: Option<TlsFiles>,
    /// Where users, rooms and messages are kept.
    pub store: StoreLocation,
    /// The bus by which it shares rooms with the other services of its store: only with a store that several may use,
    /// and without faults and the null mode.
    pub bus: Option<BusAddress>,
    /// Creates `user1@example.test` … `userN@example.test`, all with the password `password`, each friends with
    /// up to four others, and the group room `lobby`. Users that are already in the store are left as they are.
    pub seed_users: usize,
    /// Accounts beside the seeded ones, in the same ring of friends behind them. One that is in the store already gets
    /// the password given here.
    pub accounts: Vec<Account>,
    /// Misbehaviour planted in the fan-out.
    pub faults: Faults,
    /// Every limit.
    pub limits: Limits,
    /// Exact values of `Origin` that browsers may connect from. Empty: any. A request without the header is no
    /// browser's and is let through.
    pub origins: Vec<String>,
    /// Threads the caller's runtime should have; the service itself spawns on the runtime it is started in.
    pub workers: usize,
    /// Adds what the published Engine.IO and Socket.IO protocol suites expect: an echo at `/engine.io/`, the
    /// events `message`, `message-with-ack` and `auth` and the namespace `/custom` at `/socket.io/`, where `/`
    /// then needs no token.
    pub protocol_suite: bool,
    /// A long poll that brought nothing is answered 503 instead of 204, as Spring's deferred results are.
    pub long_expiry_503: bool,
    /// Connection state recovery of Socket.IO: how long a session is kept whose connection ended. `None` (the default,
    /// as in Socket.IO): broadcasts carry no offset, and nothing is kept. Not in the null mode.
    pub recovery: Option<Duration>,
    /// A target for measuring load generators: minimal HTTP answers, extra paths, nothing stored, any password
    /// accepted, no planted faults (docs/service.md).
    pub null: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            instance: None,
            tls: None,
            store: StoreLocation::Memory,
            bus: None,
            seed_users: 0,
            accounts: Vec::new(),
            faults: Faults::default(),
            limits: Limits::default(),
            origins: Vec::new(),
            workers: std::thread::available_parallelism().map_or(1, |n| n.get()),
            protocol_suite: false,
            long_expiry_503: false,
            recovery: None,
            null: false,
        }
    }
}

/// An account to be there when the service starts. Its username is what stands before the `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The address it logs in with.
    pub email: String,
    /// Its password.
    pub password: String,
}

/// A token bucket: `burst` at once, then `per_second`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Tokens a full bucket holds.
    pub burst: f64,
    /// Tokens that flow back in a second.
    pub per_second: f64,
}

impl Rate {
    /// This many logins a second of one account, and bursts of four times as many: people come in waves.
    pub fn of_logins(per_second: u32) -> Rate {
        Rate { burst: 4.0 * f64::from(per_second), per_second: f64::from(per_second) }
    }
}

/// The cost of hashing one password (Argon2id, one lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
}

/// Every limit of the service.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How often the server pings each connection.
    pub ping_interval: Duration,
    /// How long after a ping its answer may take before the connection counts as dead.
    pub ping_timeout: Duration,
    /// The largest WebSocket message or polling body taken, in bytes; also announced as `maxPayload`.
    pub max_payload: usize,
    /// For the handshake of TLS.
    pub handshake_timeout: Duration,
    /// From opening a socket to the first thing it must do: CONNECT on Socket.IO, a room on `/ws`.
    pub connect_timeout: Duration,
    /// From `2probe` to the end of an upgrade.
    pub upgrade_timeout: Duration,
    /// For the head of a request to arrive; an idle kept-alive connection is closed after the same time.
    pub header_timeout: Duration,
    /// For the body of a request to arrive.
    pub body_timeout: Duration,
    /// For an HTTP answer to make any progress: a client that reads nothing for so long is dropped.
    pub write_timeout: Duration,
    /// The largest body of an API request, in bytes.
    pub body_bytes: usize,
    /// The largest `content` of one message, in bytes of JSON.
    pub message_bytes: usize,
    /// Bytes that may wait for one connection, each frame counted with 64 bytes more than it has; over it the
    /// connection is closed with 4008.
    pub queue_bytes: usize,
    /// TCP connections open at once, and polled sessions; more are answered 503.
    pub connections: usize,
    /// Rooms there may be; then making one is answered 409. A tenth is kept for those that users make.
    pub rooms: usize,
    /// Location groups that one address may hold, which has made them; of IPv6 one /64.
    pub groups_per_address: usize,
    /// After how long a location group is forgotten in which nobody is and no user has spoken.
    pub group_idle: Duration,
    /// Rooms one connection may be in.
    pub rooms_per_connection: usize,
    /// Sends accepted that the log has not looked at; more are answered with the error `overloaded`.
    pub sends_in_flight: usize,
    /// Sends committed by one transaction, and gathered at most.
    pub sends_per_commit: usize,
    /// Gathering: for each connection that got something of a room's messages, how much later the room's next ones are
    /// published, so that messages in quick succession share a write to each receiver. Zero turns it off. Not done
    /// while faults are planned.
    pub gather_per_copy: Duration,
    /// The most that gathering delays a message.
    pub gather_most: Duration,
    /// The longest page of `GET /rooms/:id/messages`.
    pub history_page: usize,
    /// Bytes of JSON after which a page of history ends; a page has at least one message.
    pub history_bytes: usize,
    /// Messages kept per room; older ones are deleted.
    pub history_kept: u64,
    /// Messages each room keeps in memory, for who comes back soon; older ones are read from the store.
    pub recent_messages: usize,
    /// Bytes of those messages, and at most half of `queue_bytes`: what was missed has to fit on a queue.
    pub recent_bytes: usize,
    /// How long a long poll waits for a message.
    pub long_hold: Duration,
    /// How often an event stream says that it is alive.
    pub sse_heartbeat: Duration,
    /// After how long an event stream ends, for its client to come again; `None` (the default) is never.
    pub sse_lifetime: Option<Duration>,
    /// The least time between two STOMP heart-beats, those the service sends and those it asks for.
    pub stomp_heartbeat: Duration,
    /// Messages of one STOMP subscription that wait for their acknowledgement; with more the connection is closed.
    pub stomp_unacked: usize,
    /// Frames the open STOMP transactions of a connection may hold.
    pub stomp_transaction: usize,
    /// Bytes they may hold.
    pub stomp_transaction_bytes: usize,
    /// How often a SockJS session says that it is alive, unless STOMP's heart-beats do.
    pub sockjs_heartbeat: Duration,
    /// How long a SockJS session waits for the next poll; and how long one that has ended is remembered.
    pub sockjs_disconnect: Duration,
    /// Logins per email address.
    pub login_per_email: Rate,
    /// Logins per client address; `None` (the default) does not limit them, because a load test comes from one.
    pub login_per_address: Option<Rate>,
    /// Passwords verified at once; further logins wait.
    pub logins_at_once: usize,
    /// The cost of a password's hash. The default is far below OWASP's 19 MiB × 2 passes, so that the login of a load
    /// test measures the service and not Argon2; raise it to study login itself.
    pub password_cost: PasswordCost,
    /// How long an access token is valid. With an SQLite store they live in memory and end with the process; with a
    /// PostgreSQL store they are signed, and valid at every service that shares it.
    pub token_lifetime: Duration,
    /// Access tokens valid at once; then logins are answered 503. Signed ones are not counted.
    pub tokens: usize,
    /// Access tokens of one user valid at once; over it, its oldest ends. Signed ones are not counted.
    pub tokens_per_user: usize,
    /// How long a room is still heard over the bus that nobody here is in or waits for.
    pub bus_linger: Duration,
    /// Sessions kept for `Config::recovery`; over it, the oldest is forgotten.
    pub recoverable: usize,
    /// For the peer to take a close frame and answer it before the socket is dropped.
    pub close_grace: Duration,
    /// Bytes that are read meanwhile, only to find that answer; then no more are, and the rest of the grace is waited
    /// for.
    pub close_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            max_payload: 1_000_000,
            handshake_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(45),
            upgrade_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            body_bytes: 64 * 1024,
            message_bytes: 64 * 1024,
            queue_bytes: 1024 * 1024,
            connections: 100_000,
            rooms: 100_000,
            groups_per_address: 10_000,
            group_idle: Duration::from_secs(3600),
            rooms_per_connection: 64,
            sends_in_flight: 8192,
            sends_per_commit: 512,
            gather_per_copy: Duration::from_micros(8),
            gather_most: Duration::from_millis(5),
            history_page: 500,
            history_bytes: 1024 * 1024,
            history_kept: 100_000,
            recent_messages: 256,
            recent_bytes: 256 * 1024,
            long_hold: Duration::from_secs(25),
            sse_heartbeat: Duration::from_secs(15),
            sse_lifetime: None,
            stomp_heartbeat: Duration::from_secs(10),
            stomp_unacked: 10_000,
            stomp_transaction: 1000,
            stomp_transaction_bytes: 1024 * 1024,
            sockjs_heartbeat: Duration::from_secs(25),
            sockjs_disconnect: Duration::from_secs(5),
            login_per_email: Rate::of_logins(5),
            login_per_address: None,
            logins_at_once: 4,
            password_cost: PasswordCost { memory_kib: 4096, passes: 1 },
            token_lifetime: Duration::from_secs(12 * 3600),
            tokens: 1_000_000,
            tokens_per_user: 10_000,
            bus_linger: Duration::from_secs(30),
            recoverable: 100_000,
            close_grace: Duration::from_secs(5),
            close_bytes: 16 * 1024 * 1024,
        }
    }
}

/// Why a service did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address could not be bound.
    #[error("cannot listen on {address}: {source}\nhint: choose another port, or port 0 for any free one")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The database could not be opened, read or written.
    #[error("cannot {doing} the message store: {reason}")]
    Store {
        /// The attempted operation.
        doing: &'static str,
        /// SQLite's or PostgreSQL's error.
        reason: String,
    },
    /// Another service has the store.
    #[error(
        "cannot open the message store {path}: one service at a time may use it, and {holder} does\n\
         hint: stop that one, or give this one another file"
    )]
    StoreInUse {
        /// The database.
        path: PathBuf,
        /// The lock's holder.
        holder: String,
    },
    /// A certificate or key cannot be used.
    #[error("cannot use {} for TLS: {rule}; got: {got}\nhint: {hint}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What a file in its place is.
        rule: &'static str,
        /// What this one is.
        got: String,
        /// What helps.
        hint: &'static str,
    },
    /// The bus does not work: messages of other services come from the store, and later.
    #[error("cannot hear the other instances over the bus, their messages are read from the store: {0}")]
    Bus(String),
    /// The bus cannot be used with the rest of the configuration.
    #[error("a bus {0}")]
    BusRefused(&'static str),
    /// The timer of the null mode could not be made.
    #[error("cannot make a timer: {0}")]
    Timer(std::io::Error),
    /// The system's source of randomness or the password hash failed.
    #[error("cannot create secrets: {0}")]
    Secrets(String),
    /// A file of credentials could not be written.
    #[error("cannot write the credentials to {path}: {source}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn store<E: std::fmt::Display>(doing: &'static str) -> impl FnOnce(E) -> Error {
        move |error| Error::Store { doing, reason: error.to_string() }
    }
}
