//! HTTP for one virtual user: keep-alive connections per origin, HTTP/1.1 and HTTP/2.
//!
//! Redirects, cookies, time limits and retries by policy belong to the caller. Nothing is added to a request but
//! `host`, `user-agent` and `content-length`: that a response may come compressed is the request's to say.
//!
//! The decision to question: a request on a *kept* connection that ends before any byte of a response is repeated once
//! on a fresh one. The server had closed the idle connection while the request was on its way; every browser does the
//! same. Two more kinds are repeated a few times: a request that an HTTP/2 server says it has not processed (RFC 9113
//! §8.7), as servers say that are being replaced; and one that was never sent over a fresh HTTP/2 connection, because
//! that had ended by then.

mod connection;
mod decode;
mod encode;
mod exchange;
mod http2;
mod jar;
mod marks;
mod message;
mod pool;
mod redirect;
mod tap;

pub use decode::ACCEPTED;
pub use decode::{decoded, decoded_keeping};
pub use encode::{Encoded, Head, Lines, Name, is_framing, push_length, push_method};
pub use jar::{Jar, date as cookie_date};
pub use marks::{Dialed, Marks, Phases};
pub use message::{MAX_BODY, Request, Response, Spoken, Traffic, USER_AGENT, WireForm, reason};
pub use pool::Pool;
pub use redirect::resolve as resolved;
pub use redirect::{follow, location};
pub use sonagi_wire::http1::{Headers, Keep, is_token};

use std::cell::Cell;
use std::rc::Rc;

use sonagi_measure::At;

use crate::net::{Cause, Dialing, Failed, Net, OpeningTimes, Origin};
use tokio::sync::OwnedSemaphorePermit;

use connection::{HttpConnection, OriginSlot, dial};
use exchange::{Broken, ExchangeContext, Reach};
use pool::Lease;

/// Limit on the origins a user keeps connections to; the oldest makes room.
const MAX_KEPT: usize = 8;

/// A user's HTTP client.
pub struct Client {
    net: Rc<Net>,
    pool: Option<Rc<Pool>>,
    now: Rc<dyn Fn() -> At>,
    kept: Vec<OriginSlot>,
    traffic: Traffic,
    turn: Turn,
    left: Option<Rc<Cell<Option<At>>>>,
    /// The last request's instants, when they were asked for.
    marks: Option<Box<Marks>>,
    is_timed: bool,
    opening: Option<OpeningTimes>,
    spoken: Spoken,
    /// The stage of the connection that the last request waits for.
    dialing: Cell<Option<Dialing>>,
    /// Whether the last request is answered by a stream of events.
    streams: Cell<bool>,
}

/// A request's wait for the pool.
enum Turn {
    AwaitedSince(At),
    /// It ended after this many ns.
    Had(i64),
}

impl Default for Turn {
    fn default() -> Turn {
        Turn::Had(0)
    }
}

impl Client {
    /// A client with connections of its own, or with those of the shard's pool. `now` gives the instants of responses.
    pub fn new(net: Rc<Net>, pool: Option<Rc<Pool>>, now: Rc<dyn Fn() -> At>) -> Client {
        let (traffic, turn) = (Traffic::default(), Turn::default());
        let is_timed = net.is_timed();
        Client {
            net,
            pool,
            now,
            kept: Vec::new(),
            traffic,
            turn,
            left: None,
            marks: None,
            is_timed,
            opening: None,
            spoken: Spoken::default(),
            dialing: Cell::default(),
            streams: Cell::default(),
        }
    }

    /// From now on the client notes the instants of the next request.
    pub fn mark(&mut self) {
        self.leaving();
        self.marks = Some(Box::new(Marks::at((self.now)())));
    }

    /// The instants of the last request, when they were asked for.
    pub fn take_marks(&mut self) -> Option<Marks> {
        let mut marks = *self.marks.take()?;
        marks.left = self.left.as_ref().and_then(|left| left.get());
        marks.wait_ns = self.turn_wait_ns();
        Some(marks)
    }

    /// The durations of opening the last response's connection, whichever request it was opened for; None unless
    /// [`NetOptions::timed`](crate::net::NetOptions::timed).
    pub fn opening(&self) -> Option<OpeningTimes> {
        self.opening
    }

    /// The connection properties of the last response, when [`Client::mark`] was called before.
    pub fn spoken(&self) -> Spoken {
        self.spoken
    }

    /// A cell for the instant at which the next request has been sent; None until then.
    pub fn leaving(&mut self) -> Rc<Cell<Option<At>>> {
        let left = self.left.get_or_insert_default();
        left.set(None);
        Rc::clone(left)
    }

    /// Sends a request and reads the whole response, over a kept connection where there is one. Keeps all headers and
    /// [`MAX_BODY`] bytes of the body. Cancel safe: dropping the future closes its HTTP/1.1 connection or resets its
    /// HTTP/2 stream.
    ///
    /// # Errors
    /// The errors of [`Net::dial`]; `ClosedEarly` and `Reset` by the peer, `Protocol` when the answer is not HTTP,
    /// `Template` when the request has a method, path or header that cannot be sent.
    pub async fn request(&mut self, origin: &Origin, request: Request) -> Result<Response, Failed> {
        self.request_keeping(origin, &request, MAX_BODY).await
    }

    /// [`Client::request`], which keeps at most this many bytes of the body.
    ///
    /// # Errors
    /// The errors of [`Client::request`].
    pub async fn request_keeping(
        &mut self,
        origin: &Origin,
        request: &Request,
        body: usize,
    ) -> Result<Response, Failed> {
        let encoded = Encoded::new(request, origin, None)?;
        self.send(origin, &encoded, Keep { headers: true, body }).await
    }

    /// [`Client::request`] for an encoded request, with the sender's choice of what to keep.
    ///
    /// # Errors
    /// The errors of [`Client::request`].
    pub async fn send(
        &mut self,
        origin: &Origin,
        request: &Encoded<'_>,
        keep: Keep,
    ) -> Result<Response, Failed> {
        self.dialing.set(None);
        self.streams.set(false);
        match self.pool.clone() {
            Some(pool) => self.send_pooled(&pool, origin, request, keep).await,
            None => self.send_own(origin, request, keep).await,
        }
    }

    /// The traffic since the last call, that of dropped and failed requests included.
    pub fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    /// How long the last request waited for a connection of the pool (ns), up to now if it still waits.
    pub fn turn_wait_ns(&self) -> i64 {
        match self.turn {
            Turn::Had(waited) => waited,
            Turn::AwaitedSince(since) => (self.now)().since(since),
        }
    }

    /// The stage of the connection that the last request waits for; None when it waits for none.
    pub fn dialing(&self) -> Option<Dialing> {
        self.dialing.get()
    }

    /// Whether the head of the last request's response has come and says that events follow (`text/event-stream`): an
    /// answer that may never be whole.
    pub fn is_event_stream(&self) -> bool {
        self.streams.get()
    }

    /// Closes the connections this client keeps.
    pub fn close(&mut self) {
        self.kept.clear();
    }

    async fn send_own(
        &mut self,
        origin: &Origin,
        request: &Encoded<'_>,
        keep: Keep,
    ) -> Result<Response, Failed> {
        let at = self.place(origin);
        let mut kept = self.kept[at].connection.take();
        let mut repeats = 0;
        loop {
            let is_kept = kept.is_some();
            let connection = match kept.take() {
                Some(kept) => kept,
                // On the heap: dialing is rare, and its future (TCP, TLS, HTTP/2) would lie in every user that waits
                // for an answer.
                None => Box::pin(self.dial(origin)).await?,
            };
            match self.over(at, connection, is_kept, request, keep).await {
                Err(broken) if broken.may_be_repeated(is_kept, repeats) => {
                    repeats += 1;
                    self.note_repeated(&broken);
                    // The stream was refused but the connection is usable: the request goes to another stream.
                    let is_well = matches!(broken.failed.cause, Cause::StreamReset(_));
                    kept = self.kept[at].connection.take_if(|_| is_well);
                }
                outcome => return outcome.map_err(|broken| broken.failed),
            }
        }
    }

    /// The index of an origin's slot; the oldest slot makes room for a new one.
    fn place(&mut self, origin: &Origin) -> usize {
        if let Some(at) = self.kept.iter().position(|place| place.origin == *origin) {
            return at;
        }
        if self.kept.len() == MAX_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(OriginSlot { origin: origin.clone(), connection: None });
        self.kept.len() - 1
    }

    /// Sends over a connection of our own, and keeps it when it can be used again.
    async fn over(
        &mut self,
        at: usize,
        mut kept: HttpConnection,
        reused: bool,
        request: &Encoded<'_>,
        keep: Keep,
    ) -> Result<Response, Broken> {
        if self.is_timed {
            self.opening = kept.opening();
        }
        if self.marks.is_some() {
            self.spoken = kept.spoken();
        }
        let left = self.left.as_deref();
        let (net, now, traffic, streams) = (&*self.net, &*self.now, &mut self.traffic, &self.streams);
        let around = ExchangeContext { net, now, traffic, left, streams };
        let place = &mut self.kept[at];
        let (outcome, is_reusable) = match &mut kept {
            HttpConnection::Http1(connection) => {
                let outcome = connection.exchange(request, keep, around).await;
                (outcome, connection.is_reusable())
            }
            HttpConnection::Http2(connection) => {
                let outcome = connection.exchange(request, &place.origin, keep, reused, around).await;
                (outcome, !connection.is_closed())
            }
        };
        if is_reusable {
            place.connection = Some(kept);
        }
        outcome
    }

    async fn send_pooled(
        &mut self,
        pool: &Pool,
        origin: &Origin,
        request: &Encoded<'_>,
        keep: Keep,
    ) -> Result<Response, Failed> {
        let shared = pool.of(origin);
        self.turn = Turn::default();
        let (mut connection, mut turn) = self.lease(&shared).await;
        let mut repeats = 0;
        loop {
            let is_kept = connection.is_some();
            let taken = match connection.take() {
                Some(kept) => kept,
                None => Box::pin(self.dial(origin)).await?,
            };
            if let (false, HttpConnection::Http2(fresh)) = (is_kept, &taken) {
                // A connection that many requests share takes no turn from others.
                shared.share(fresh.clone());
                turn = None;
            }
            match self.over_shared(taken, is_kept, &shared, origin, request, keep).await {
                Err(broken) if broken.may_be_repeated(is_kept, repeats) => {
                    repeats += 1;
                    self.note_repeated(&broken);
                }
                outcome => return outcome.map_err(|broken| broken.failed),
            }
            if turn.is_none() {
                // A shared connection failed for many: they dial in turn, and most will use one that another dialed.
                (connection, turn) = self.lease(&shared).await;
                connection = connection.filter(|kept| matches!(kept, HttpConnection::Http2(_)));
            }
        }
    }

    /// Waits for a connection of the pool, or for the turn to open one.
    async fn lease(
        &mut self,
        shared: &pool::OriginPool,
    ) -> (Option<HttpConnection>, Option<OwnedSemaphorePermit>) {
        let lease = match shared.lease_at_once() {
            Some(lease) => lease,
            None => {
                let since = (self.now)();
                self.turn = Turn::AwaitedSince(since);
                let lease = shared.lease().await;
                self.turn = Turn::Had((self.now)().since(since));
                lease
            }
        };
        match lease {
            Lease::Open(turn) => (None, Some(turn)),
            Lease::Idle(connection, turn) => (Some(HttpConnection::Http1(connection)), Some(turn)),
            Lease::Multiplexed(connection) => (Some(HttpConnection::Http2(connection)), None),
        }
    }

    /// Counts a repetition; a request that was never sent is not counted.
    fn note_repeated(&mut self, broken: &Broken) {
        self.traffic.repeated += u64::from(broken.reach != Reach::Unsent);
    }

    async fn over_shared(
        &mut self,
        connection: HttpConnection,
        reused: bool,
        shared: &pool::OriginPool,
        origin: &Origin,
        request: &Encoded<'_>,
        keep: Keep,
    ) -> Result<Response, Broken> {
        if self.is_timed {
            self.opening = connection.opening();
        }
        if self.marks.is_some() {
            self.spoken = connection.spoken();
        }
        let left = self.left.as_deref();
        let (net, now, traffic, streams) = (&*self.net, &*self.now, &mut self.traffic, &self.streams);
        let around = ExchangeContext { net, now, traffic, left, streams };
        match connection {
            HttpConnection::Http1(mut connection) => {
                let outcome = connection.exchange(request, keep, around).await;
                if connection.is_reusable() {
                    shared.put_back(connection);
                }
                outcome
            }
            HttpConnection::Http2(connection) => {
                connection.exchange(request, origin, keep, reused, around).await
            }
        }
    }

    async fn dial(&mut self, origin: &Origin) -> Result<HttpConnection, Failed> {
        let unmarked = (self.is_timed && self.marks.is_none()).then(Box::<Dialed>::default);
        let dialed = self.marks.as_deref().map(|marks| &marks.dialed).or(unmarked.as_deref());
        let kept = dial(&self.net, origin, dialed, &*self.now, &self.dialing).await?;
        self.traffic.opened += 1;
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every user that waits for an answer holds one of these.
    #[test]
    fn a_request_under_way_is_small() {
        let net = Rc::new(Net::simulated(|_| {}));
        let (origin, path) = Origin::parse("http://a/").unwrap();
        let request = Request { method: "GET".into(), path, ..Request::default() };
        let encoded = Encoded::new(&request, &origin, None).unwrap();
        let mut client = Client::new(net, None, Rc::new(At::default));
        let sending = client.send(&origin, &encoded, Keep { headers: false, body: 0 });
        assert!(size_of_val(&sending) <= 2048, "{} bytes", size_of_val(&sending));
    }
}
