//! The pool of connections, and how long anybody waits for one.
//!
//! Connections live on a small runtime of their own: the store is asked by threads that block and by the service's own
//! runtime, and neither may take the connections with it when it ends.
//!
//! A server that is gone is connected to again with growing pauses, by whoever needs a connection and as long as that
//! waits. A connection that was lost is noticed by its reader and not given to anybody; only what was being asked over
//! it fails.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deadpool_postgres::{
    Connect, Manager, ManagerConfig, Object, PoolError, RecyclingMethod, Runtime as Kind, TimeoutType,
    Timeouts,
};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error as PgError, NoTls};

use super::failure;
use crate::config::postgres::PostgresLocation;
use crate::metrics::Count;
use crate::store::{PoolLevels, Pooled, StoreError};
use crate::sync::lock;

/// How long one piece of work may take once it has its connection; and at the start, with tables to be made and
/// users to be added.
pub(super) const WORK: Duration = Duration::from_secs(10);
pub(super) const LONG_WORK: Duration = Duration::from_secs(600);

/// How long the server may take to hear that work is given up.
const CANCEL: Duration = Duration::from_secs(5);

/// The pauses between attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LAST_PAUSE: Duration = Duration::from_millis(500);

pub(super) struct Pool {
    connections: deadpool_postgres::Pool,
    /// `None` only while this is dropped.
    runtime: Option<Runtime>,
    timeout: Duration,
    backoff: Arc<Mutex<Backoff>>,
    timeouts: Count,
}

impl Pool {
    /// Connects to nothing yet.
    pub(super) fn new(location: &PostgresLocation) -> Result<Pool, String> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("chat-store").enable_all().build();
        let backoff = Arc::<Mutex<Backoff>>::default();
        let connecting = Connecting { backoff: backoff.clone() };
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(location.config().clone(), connecting, recycling);
        let connections = deadpool_postgres::Pool::builder(manager)
            .max_size(location.pool.max(1))
            .runtime(Kind::Tokio1)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Pool {
            connections,
            runtime: Some(runtime.map_err(|error| error.to_string())?),
            timeout: location.pool_timeout,
            backoff,
            timeouts: Count::default(),
        })
    }

    /// The runtime that the connections live on.
    pub(super) fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("it is there until the pool is dropped").handle()
    }

    /// Runs work on a connection, for a thread that may block. Work that `repeats` is done again when its connection
    /// was lost; other work only when the server says that none of it was done.
    pub(super) fn block<T>(
        &self,
        most: Duration,
        repeats: bool,
        work: impl AsyncFn(&mut Object) -> Result<T, PgError>,
    ) -> Result<T, StoreError> {
        self.handle().block_on(async {
            let until = self.deadline();
            loop {
                let mut connection = self.connection(until).await?;
                match tokio::time::timeout(most, work(&mut connection)).await {
                    Ok(Ok(done)) => return Ok(done),
                    Ok(Err(error)) => Pool::judge(error, repeats, until)?,
                    Err(_) => return Err(given_up(connection, most)),
                }
            }
        })
    }

    /// Until when a connection is waited for from now on.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Whether the work may be done again: an error when not.
    pub(super) fn judge(error: PgError, repeats: bool, until: Instant) -> Result<(), StoreError> {
        let undone = matches!(
            error.code(),
            Some(code) if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
        );
        match undone || (repeats && failure::is_lost(&error)) {
            true if Instant::now() < until => Ok(()),
            _ => Err(failure::of(error)),
        }
    }

    /// A connection that nobody else has.
    pub(super) async fn connection(&self, until: Instant) -> Result<Object, StoreError> {
        loop {
            let left = Some(until.saturating_duration_since(Instant::now()));
            let timeouts = Timeouts { wait: left, create: left, recycle: left };
            let error = match self.connections.timeout_get(&timeouts).await {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            match error {
                PoolError::Backend(error) if failure::passes(&error) && Instant::now() < until => {}
                PoolError::Backend(error) => return Err(failure::of(error)),
                PoolError::Timeout(TimeoutType::Wait) => {
                    self.timeouts.add(1);
                    // Whoever holds the connections may be waiting for the server itself.
                    let down = lock(&self.backoff).error.clone();
                    return Err(match down {
                        Some(error) => failure::unreachable(error),
                        None => failure::busy(self.connections.status().max_size, self.timeout),
                    });
                }
                error => {
                    let down = lock(&self.backoff).error.clone();
                    return Err(failure::unreachable(down.unwrap_or_else(|| error.to_string())));
                }
            }
        }
    }
}

/// Closes a connection on which work is still going on, and says that it took too long. The server is told as well:
/// otherwise the statement goes on and keeps its locks.
pub(super) fn given_up(connection: Object, most: Duration) -> StoreError {
    let cancelling = connection.cancel_token();
    drop(Object::take(connection));
    tokio::spawn(tokio::time::timeout(CANCEL, async move { cancelling.cancel_query(NoTls).await }));
    failure::unreachable(format!("no answer within {} s", most.as_secs()))
}

impl Pooled for Pool {
    fn levels(&self) -> PoolLevels {
        let status = self.connections.status();
        PoolLevels {
            most: status.max_size as u64,
            size: status.size as u64,
            idle: status.available as u64,
            waiting: status.waiting as u64,
            timeouts: self.timeouts.get(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // This may be a thread of a runtime, which must not wait.
            runtime.shutdown_background();
        }
    }
}

/// When the next attempt to connect may be made.
#[derive(Default)]
struct Backoff {
    pause: Duration,
    next: Option<Instant>,
    /// Why the last one failed; `None` once one succeeds.
    error: Option<String>,
}

impl Backoff {
    fn failed(&mut self, error: &PgError, now: Instant) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LAST_PAUSE);
        self.next = Some(now + self.pause);
        self.error = Some(failure::text(error));
    }
}

struct Connecting {
    backoff: Arc<Mutex<Backoff>>,
}

type Connected = Result<(Client, JoinHandle<()>), PgError>;

impl Connect for Connecting {
    fn connect(&self, config: &Config) -> Pin<Box<dyn Future<Output = Connected> + Send + '_>> {
        let config = config.clone();
        Box::pin(async move {
            let next = lock(&self.backoff).next;
            if let Some(next) = next {
                tokio::time::sleep_until(next).await;
            }
            match config.connect(NoTls).await {
                Ok((client, connection)) => {
                    *lock(&self.backoff) = Backoff::default();
                    // Its end is seen by whoever asks the client next.
                    let driven = tokio::spawn(async move { drop(connection.await) });
                    Ok((client, driven))
                }
                Err(error) => {
                    lock(&self.backoff).failed(&error, Instant::now());
                    Err(error)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pauses_between_attempts_grow_to_a_bound() {
        let error = "postgres://h?port=x".parse::<Config>().unwrap_err();
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        let pauses: Vec<u128> = (0..7)
            .map(|_| {
                backoff.failed(&error, now);
                backoff.next.unwrap().duration_since(now).as_millis()
            })
            .collect();
        assert_eq!(pauses, [25, 50, 100, 200, 400, 500, 500]);
    }
}
