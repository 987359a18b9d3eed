//! A running service: how it starts, what it tells about itself, how it stops.

pub(crate) mod sweep;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::accounts::Accounts;
use crate::accounts::credentials::Credential;
use crate::accounts::passwords::Passwords;
use crate::bus::{self, Bus, Ear, Speaker};
use crate::config::{Account, Config, Error};
use crate::connection::outbox::Close;
use crate::hub::failures::FailureReporter;
use crate::hub::history::Readers;
use crate::hub::http_senders::HttpSenders;
use crate::hub::log::{self, others::Others};
use crate::hub::{Hub, Phase};
use crate::metrics::Metrics;
use crate::model::room_id::Access;
use crate::null::Null;
use crate::rooms::peer::{Peer, Peers};
use crate::rooms::registry::Rooms;
use crate::rooms::room::Keeping;
use crate::server::{self, AtDrain};
use crate::store::lock::{self, StoreLock};
use crate::store::{Relations, RoomRow, Seed, Store, StoreError, UserRow};
use crate::transports::Transports;
use crate::{null, store};

/// The password of every seeded user.
const SEED_PASSWORD: &str = "password";
/// The group room that seeding makes.
const LOBBY: &str = "lobby";

/// A running service. Dropping it stops it at once; `drain` stops it kindly.
pub struct Service {
    address: SocketAddr,
    credentials: Vec<Credential>,
    transports: Arc<Transports>,
    tasks: Vec<AbortHandle>,
    writer: Option<JoinHandle<()>>,
}

/// Opens the store, seeds, binds and serves on the tokio runtime this is called in.
pub async fn start(mut config: Config) -> Result<Service, Error> {
    check_bus(&config)?;
    config.store = lock::resolved(&config.store)?;
    let (location, idle, bus) = (config.store.clone(), config.limits.group_idle, config.bus.clone());
    let open: OpenStore = Box::new(move || store::open(&location, idle));
    let bus = bus.map(|bus| -> OpenBus { Box::new(move |speaker, ear| bus::open(&bus, speaker, ear)) });
    start_over(config, open, bus).await
}

/// Whether a bus, when there is one, goes together with the rest.
fn check_bus(config: &Config) -> Result<(), Error> {
    let why = if config.bus.is_none() {
        return Ok(());
    } else if config.null {
        "has nothing to carry in the null mode, which stores nothing\nhint: leave out --null or --bus"
    } else if !config.faults.is_none() {
        "cannot carry planted faults: what happens to a copy is decided where its sender is\n\
         hint: plant faults in a service of its own, without --bus"
    } else if !config.store.serves_several() {
        "needs a store that several services may use, and this one is one service's own\n\
         hint: give all of them the same --store postgres://…"
    } else {
        return Ok(());
    };
    Err(Error::BusRefused(why))
}

/// Opens the store, on a thread that may block.
pub(crate) type OpenStore = Box<dyn FnOnce() -> Result<Box<dyn Store>, Error> + Send>;

/// Opens the bus for who speaks there and who hears.
pub(crate) type OpenBus = Box<dyn FnOnce(Speaker, Ear) -> Result<Box<dyn Bus>, Error> + Send>;

/// The same over this store; `bus` where other services use it as well.
pub(crate) async fn start_over(
    config: Config,
    open: OpenStore,
    bus: Option<OpenBus>,
) -> Result<Service, Error> {
    let listener = server::listen(config.listen)
        .and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    let (listener, address) = listener.map_err(|source| Error::Listen { address: config.listen, source })?;
    let lock = StoreLock::take(&config.store)?;
    let passwords = Passwords::new(&config.limits);
    let cost = config.limits.password_cost;
    let decoy = match config.null {
        true => None,
        false => Some(passwords.hash("a password nobody has", cost)?),
    };
    let seeds = seeds(&config, &passwords)?;
    let opened = aside(move || Opened::read(open()?, &seeds)).await?;
    let Opened { store, users, relations, rooms, epoch, token_secret } = opened;
    let accounts =
        Accounts::new(users, relations, passwords, decoy, token_secret.as_deref(), &config.limits)?;
    let credentials = credentials(&accounts, &config)?;
    let (log, inbox) = log::channel(config.limits.sends_in_flight);
    let hub = Arc::new(Hub {
        rooms: Rooms::new(rooms, keeping(&config, bus.is_some()), &config.limits),
        is_shared: bus.is_some(),
        runtime: tokio::runtime::Handle::current(),
        config,
        metrics: Metrics::default(),
        accounts,
        peers: Peers::default(),
        senders: HttpSenders::default(),
        log,
        serial: AtomicU64::new(0),
        epoch: epoch.into(),
        readers: Readers::new(store.readers()),
        lists: store.user_lists(),
        pool: store.pool(),
        failures: FailureReporter::default(),
        phase: watch::Sender::new(Phase::Serving),
        born: Instant::now(),
    });
    let others = bus.map(|open| others(open, &hub)).transpose()?;
    let writer = std::thread::Builder::new().name("chat-log".into()).spawn({
        let hub = hub.clone();
        move || {
            log::run(inbox, store, others, hub);
            drop(lock);
        }
    });
    let writer = writer.map_err(|error| Error::Store { doing: "start", reason: error.to_string() })?;
    let transports = Arc::new(Transports::new(hub));
    let mut tasks = vec![tokio::spawn(sweep::run(transports.clone())).abort_handle()];
    tasks.extend(accept(listener, &transports)?);
    Ok(Service { address, credentials, transports, tasks, writer: Some(writer) })
}

fn others(open: OpenBus, hub: &Hub) -> Result<Others, Error> {
    let instance = fastrand::u64(..);
    let bus = open(Speaker { instance, epoch: hub.epoch.clone() }, hub.log.ear())?;
    Ok(Others::new(bus, instance, hub))
}

/// A store and what is read of it at the start.
struct Opened {
    store: Box<dyn Store>,
    users: Vec<UserRow>,
    relations: Relations,
    rooms: Vec<RoomRow>,
    epoch: String,
    token_secret: Option<String>,
}

impl Opened {
    fn read(mut store: Box<dyn Store>, seeds: &[Seed]) -> Result<Opened, Error> {
        if !seeds.is_empty() {
            store
                .seed(seeds)
                .and_then(|()| store.insert_room(LOBBY, Access::Group))
                .map_err(Error::store("seed"))?;
        }
        let read = |store: &mut dyn Store| -> Result<_, StoreError> {
            let (users, relations, rooms) = (store.users()?, store.relations()?, store.rooms()?);
            Ok((users, relations, rooms, store.epoch()?, store.token_secret()?))
        };
        let (users, relations, rooms, epoch, token_secret) =
            read(&mut *store).map_err(Error::store("read"))?;
        Ok(Opened { store, users, relations, rooms, epoch, token_secret })
    }
}

/// Runs on a thread that may block.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Error::store("open")(error)),
        },
    }
}

/// Has the full service, or the null mode in front of it, take connections.
fn accept(listener: TcpListener, full: &Arc<Transports>) -> Result<Vec<AbortHandle>, Error> {
    let hub = full.hub.clone();
    if !hub.config.null {
        let full = full.clone();
        let serve = move |stream, from, slot| server::serve(stream, Bytes::new(), from, slot, full.clone());
        return Ok(vec![tokio::spawn(server::accept(listener, hub, AtDrain::Kept, serve)).abort_handle()]);
    }
    let null = Arc::new(Null::new(full.clone()).map_err(Error::Timer)?);
    let ringing = null.clone();
    let serve = move |stream, from, slot| null::serve(stream, from, slot, null.clone());
    Ok(vec![
        tokio::spawn(server::accept(listener, hub, AtDrain::Dropped, serve)).abort_handle(),
        tokio::spawn(async move { ringing.alarm.drive().await }).abort_handle(),
    ])
}

fn keeping(config: &Config, is_shared: bool) -> Keeping {
    let limits = &config.limits;
    Keeping {
        settle: (!config.faults.is_none()).then_some(config.faults.settle),
        // Nobody comes back to the null mode.
        recent_messages: if config.null { 0 } else { limits.recent_messages },
        recent_bytes: limits.recent_bytes.min(limits.queue_bytes / 2),
        is_shared,
    }
}

/// The seeded users and the accounts behind them, with the hashes of their passwords.
fn seeds(config: &Config, passwords: &Passwords) -> Result<Vec<Seed>, Error> {
    let hash = |password: &str| match config.null {
        true => Ok(String::new()),
        false => passwords.hash(password, config.limits.password_cost),
    };
    let mut seeds = Vec::with_capacity(config.seed_users + config.accounts.len());
    if config.seed_users > 0 {
        // Hashed once, not once a user: a thousand salts would cost seconds and prove nothing here.
        let password: Arc<str> = hash(SEED_PASSWORD)?.into();
        seeds.extend((1..=config.seed_users).map(|n| Seed {
            email: seed_email(n),
            username: format!("user{n}"),
            password: password.clone(),
            anew: false,
        }));
    }
    for Account { email, password } in &config.accounts {
        let username = email.split('@').next().unwrap_or_default().to_owned();
        seeds.push(Seed { email: email.clone(), username, password: hash(password)?.into(), anew: true });
    }
    Ok(seeds)
}

fn seed_email(n: usize) -> String {
    format!("user{n}@example.test")
}

fn credentials(accounts: &Accounts, config: &Config) -> Result<Vec<Credential>, Error> {
    let own: HashMap<&str, &str> = config
        .accounts
        .iter()
        .map(|Account { email, password }| (email.as_str(), password.as_str()))
        .collect();
    let seeded = (1..=config.seed_users).map(seed_email).filter(|email| !own.contains_key(email.as_str()));
    let others = seeded.map(|email| (email, SEED_PASSWORD));
    let own = own.iter().map(|(email, password)| ((*email).to_owned(), *password));
    let mut credentials = Vec::with_capacity(config.seed_users + config.accounts.len());
    for (email, password) in others.chain(own) {
        let Some(user) = accounts.by_email(&email) else { continue };
        let token = accounts.token(user.id).map_err(|problem| Error::Secrets(problem.message))?;
        credentials.push(Credential { email, password: password.into(), id: user.id, token });
    }
    credentials.sort_by_key(|credential| credential.id);
    Ok(credentials)
}

impl Service {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[cfg(test)]
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.transports.hub
    }

    #[cfg(test)]
    pub(crate) fn transports(&self) -> &Transports {
        &self.transports
    }

    /// The text of `/metrics`.
    pub fn metrics(&self) -> String {
        self.transports.hub.metrics_text()
    }

    /// Sets the receiver of the store's failures: the failed operation and its cause, at most a line a second. The
    /// first one set stays.
    pub fn on_failure(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.transports.hub.failures.tell(Box::new(tell));
    }

    /// How many accounts there are, those of the store included.
    pub fn accounts(&self) -> usize {
        self.transports.hub.accounts.count()
    }

    /// The seeded users and the accounts given, in order.
    pub fn credentials(&self) -> &[Credential] {
        &self.credentials
    }

    /// Stops within `grace`: not ready at once, no new connections or joins; connections are closed with 1012, spread
    /// over most of the grace so that reconnects do not come in one wave; requests under way are answered. What
    /// remains after the grace is dropped.
    pub async fn drain(mut self, grace: Duration) {
        self.transports.hub.phase.send_replace(Phase::Draining);
        // Polls that wait are answered.
        self.transports.hub.rooms.wake();
        self.transports.pollers.end();
        let started = Instant::now();
        let mut peers = self.transports.hub.peers.all();
        fastrand::shuffle(&mut peers);
        let spread = grace.mul_f64(0.8);
        let steps = peers.len().max(1) as f64;
        for (n, peer) in peers.into_iter().enumerate() {
            let due = spread.mul_f64(n as f64 / steps);
            if let Some(wait) = due.checked_sub(started.elapsed()).filter(|wait| wait.as_millis() > 0) {
                tokio::time::sleep(wait).await;
            }
            self.send_away(&peer);
        }
        let busy = || !self.transports.hub.peers.is_empty() || self.transports.hub.metrics.sockets.get() > 0;
        while started.elapsed() < grace && busy() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            // Whoever passed the door before and sat down after the first round.
            self.transports.pollers.end();
            self.transports.hub.peers.all().iter().for_each(|peer| self.send_away(peer));
        }
        self.stop();
        if let Some(writer) = self.writer.take() {
            // Accepted messages are committed before the thread ends; joining may take a moment.
            let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }

    fn send_away(&self, peer: &Arc<Peer>) {
        peer.outbox.close(Close::Restart);
        self.transports.abandoned(peer);
    }

    fn stop(&mut self) {
        self.transports.hub.phase.send_replace(Phase::Stopped);
        for task in self.tasks.drain(..) {
            task.abort();
        }
        for peer in self.transports.hub.peers.all() {
            peer.outbox.hang_up();
        }
        self.transports.hub.log.stop();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.tasks.is_empty() {
            self.stop();
        }
    }
}
