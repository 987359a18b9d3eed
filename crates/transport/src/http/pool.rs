//! Connections shared by a shard's users: a bounded number per origin, handed out first come, first served.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use sonagi_measure::At;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{HttpConnection, dial};
use super::exchange::Http1;
use super::http2::Http2;
use super::marks::Dialed;
use crate::net::{Failed, Net, Origin};

/// Limit on the origins a pool keeps connections to; the oldest unused one makes room. A script whose URLs come from
/// responses may lead to any number of them.
const MAX_ORIGINS: usize = 64;

/// Limit on connections being opened at once ahead of a run: a target's backlog may be short.
const DIALED_AT_ONCE: usize = 64;

/// The shared connections of one shard.
pub struct Pool {
    limit: usize,
    /// A run has one or two: searching them is quicker than hashing a name.
    origins: RefCell<Vec<(Origin, Rc<OriginPool>)>>,
}

impl Pool {
    /// At most `limit` connections per origin, at least one.
    pub fn new(limit: usize) -> Pool {
        Pool { limit: limit.clamp(1, Semaphore::MAX_PERMITS), origins: RefCell::default() }
    }

    /// Opens connections to `origin` until the limit is reached, so that the first requests find them. Ends at the
    /// first failure: the requests will report it. Cancel safe; connections opened by then are kept.
    pub async fn open_all(&self, net: &Rc<Net>, origin: &Origin) {
        let shared = self.of(origin);
        let mut dialing = JoinSet::new();
        let dial = |dialing: &mut JoinSet<Result<HttpConnection, Failed>>| {
            let (net, origin) = (Rc::clone(net), origin.clone());
            dialing.spawn_local(async move {
                let (begun, dialed) = (Instant::now(), Dialed::default());
                let now = || At::default().plus(begun.elapsed().as_nanos() as i64);
                dial(&net, &origin, Some(&dialed), &now, &Cell::default()).await
            });
        };
        (0..self.limit.min(DIALED_AT_ONCE)).for_each(|_| dial(&mut dialing));
        let mut begun = self.limit.min(DIALED_AT_ONCE);
        while let Some(dialed) = dialing.join_next().await {
            match dialed {
                Ok(Ok(HttpConnection::Http1(connection))) => shared.put_back(connection),
                Ok(Ok(HttpConnection::Http2(connection))) => shared.share(connection),
                Ok(Err(_)) | Err(_) => return,
            }
            if begun < self.limit {
                begun += 1;
                dial(&mut dialing);
            }
        }
    }

    /// Open connections that are idle or shared.
    pub fn open_connections(&self) -> usize {
        let count = |(_, shared): &(Origin, Rc<OriginPool>)| {
            let state = shared.state.borrow();
            state.idle.len() + state.multiplexed.len()
        };
        self.origins.borrow().iter().map(count).sum()
    }

    pub(super) fn of(&self, origin: &Origin) -> Rc<OriginPool> {
        if let Some((_, shared)) = self.origins.borrow().iter().find(|(known, _)| known == origin) {
            return shared.clone();
        }
        let shared = Rc::new(OriginPool {
            limit: self.limit,
            turns: Arc::new(Semaphore::new(self.limit)),
            state: RefCell::default(),
        });
        let mut origins = self.origins.borrow_mut();
        if origins.len() >= MAX_ORIGINS {
            // Whoever has a turn, or waits for one, holds it too.
            let unused = origins.iter().position(|(_, shared)| Rc::strong_count(shared) == 1);
            unused.map(|oldest| origins.remove(oldest));
        }
        origins.push((origin.clone(), shared.clone()));
        shared
    }
}

/// One origin's connections. A user with a turn has, or may open, one connection: so HTTP/1.1 connections never
/// outnumber the turns. HTTP/2 connections need no turn once they are open.
pub(super) struct OriginPool {
    limit: usize,
    turns: Arc<Semaphore>,
    state: RefCell<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    idle: Vec<Http1>,
    multiplexed: Vec<Http2>,
    next: usize,
}

/// A lease from the pool.
pub(super) enum Lease {
    /// An idle connection and the turn to use it.
    Idle(Http1, OwnedSemaphorePermit),
    /// A turn to open a connection.
    Open(OwnedSemaphorePermit),
    Multiplexed(Http2),
}

impl OriginPool {
    /// A lease without waiting; None when all connections are busy.
    pub(super) fn lease_at_once(&self) -> Option<Lease> {
        if let Some(connection) = self.multiplexed(self.limit) {
            return Some(Lease::Multiplexed(connection));
        }
        match self.turns.clone().try_acquire_owned() {
            Ok(turn) => Some(self.with(turn)),
            Err(_) => self.multiplexed(1).map(Lease::Multiplexed),
        }
    }

    /// Waits for a turn. Cancel safe.
    pub(super) async fn lease(&self) -> Lease {
        match self.turns.clone().acquire_owned().await {
            Ok(turn) => self.with(turn),
            Err(_) => unreachable!("the pool never closes its semaphore"),
        }
    }

    fn with(&self, turn: OwnedSemaphorePermit) -> Lease {
        // The turn may be free because another user's dial ended in HTTP/2.
        if let Some(connection) = self.multiplexed(self.limit) {
            return Lease::Multiplexed(connection);
        }
        match self.state.borrow_mut().idle.pop() {
            Some(connection) => Lease::Idle(connection, turn),
            None => Lease::Open(turn),
        }
    }

    pub(super) fn put_back(&self, connection: Http1) {
        self.state.borrow_mut().idle.push(connection);
    }

    pub(super) fn share(&self, connection: Http2) {
        self.state.borrow_mut().multiplexed.push(connection);
    }

    /// The next HTTP/2 connection in turn, when at least `least` are open.
    fn multiplexed(&self, least: usize) -> Option<Http2> {
        let mut state = self.state.borrow_mut();
        state.multiplexed.retain(|connection| !connection.is_closed());
        if state.multiplexed.len() < least {
            return None;
        }
        state.next = (state.next + 1) % state.multiplexed.len();
        Some(state.multiplexed[state.next].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_forgets_the_oldest_origin_that_nobody_uses() {
        let pool = Pool::new(1);
        let origin = |port: usize| Origin { host: "a".into(), port: port as u16, tls: false };
        let in_use = pool.of(&origin(0));
        let unused = Rc::downgrade(&pool.of(&origin(1)));
        for port in 2..=MAX_ORIGINS {
            pool.of(&origin(port));
        }
        assert_eq!(pool.origins.borrow().len(), MAX_ORIGINS);
        assert!(unused.upgrade().is_none());
        assert!(Rc::ptr_eq(&in_use, &pool.of(&origin(0))));
    }
}
