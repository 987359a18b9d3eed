//! HTTP for one virtual user: keep-alive connections per origin, HTTP/1.1 and HTTP/2.
//!
//! Redirects, cookies, time limits and retries by policy belong to the caller. Nothing is added to a request but `host`,
//! `user-agent` and `content-length`: `accept-encoding` is left out so that what is measured is what the server sends.
//!
//! The decision to question: a request on a *kept* connection that ends before any byte of a response is repeated once on a fresh
//! one. The server had closed the idle connection and the request crossed with that; every browser does the same.

mod connection;
mod pool;
mod tap;

pub use pool::Pool;

use std::rc::Rc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Uri};
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;

use crate::net::{Alpn, Failed, Net, Origin};
use connection::{Broken, Http1, Http2};
use pool::Lease;

/// Bytes of a response's body that are kept, 16 MiB; the rest is read, counted and dropped.
pub const MAX_BODY: usize = 16 * 1024 * 1024;

/// Origins a user keeps a connection to; the one kept longest makes room.
const MAX_KEPT: usize = 8;

/// Our name in requests that carry no `user-agent` of their own.
pub(crate) const USER_AGENT: &str = concat!("Sonagi/", env!("CARGO_PKG_VERSION"));

/// A request to an origin.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// As written: methods are case-sensitive.
    pub method: String,
    /// The path with its query, as [`Origin::parse`] gives it.
    pub path: String,
    /// In this order; `host` and `user-agent` replace ours.
    pub headers: Vec<(String, String)>,
    /// Sent with its length; empty with none for methods that usually have no body.
    pub body: Bytes,
}

/// A whole response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: HeaderMap,
    /// At most [`MAX_BODY`] bytes.
    pub body: Bytes,
    /// The body's size, what was dropped included.
    pub body_bytes: u64,
    /// When the head had arrived.
    pub first_byte: At,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// Bytes written to the connection, inside TLS. On a shared HTTP/2 connection what came since its last response.
    pub sent: u64,
    /// Bytes read from the connection, likewise.
    pub received: u64,
}

/// One user's HTTP.
pub struct Client {
    net: Rc<Net>,
    pool: Option<Rc<Pool>>,
    now: Rc<dyn Fn() -> At>,
    kept: Vec<(Origin, Kept)>,
}

enum Kept {
    Http1(Http1),
    Http2(Http2),
}

impl Client {
    /// A client with connections of its own, or with those of the shard's pool. `now` stamps responses.
    pub fn new(net: Rc<Net>, pool: Option<Rc<Pool>>, now: Rc<dyn Fn() -> At>) -> Client {
        Client { net, pool, now, kept: Vec::new() }
    }

    /// Sends a request and reads the whole response, over a kept connection where there is one. Cancel safe: dropping the
    /// future closes its HTTP/1.1 connection or resets its HTTP/2 stream.
    ///
    /// # Errors
    /// As [`Net::dial`]; `ClosedEarly` and `Reset` by the peer, `Protocol` when the answer is not HTTP, `Template` when
    /// the request has a method, path or header that cannot be sent.
    pub async fn request(&mut self, origin: &Origin, request: Request) -> Result<Response, Failed> {
        let compiled = Compiled::new(request)?;
        match self.pool.clone() {
            Some(pool) => self.request_pooled(&pool, origin, &compiled).await,
            None => self.request_own(origin, &compiled).await,
        }
    }

    /// Closes the connections this client keeps.
    pub fn close(&mut self) {
        self.kept.clear();
    }

    async fn request_own(&mut self, origin: &Origin, request: &Compiled) -> Result<Response, Failed> {
        let kept = self.kept.iter().position(|(known, _)| known == origin).map(|at| self.kept.remove(at).1);
        if let Some(kept) = kept {
            match self.over(kept, true, origin, request).await {
                Err(broken) if crossed_a_close(&broken) => {}
                outcome => return outcome.map_err(|broken| broken.failed),
            }
        }
        let fresh = self.dial(origin).await?;
        self.over(fresh, false, origin, request).await.map_err(|broken| broken.failed)
    }

    async fn over(
        &mut self,
        kept: Kept,
        reused: bool,
        origin: &Origin,
        request: &Compiled,
    ) -> Result<Response, Broken> {
        let (outcome, kept) = match kept {
            Kept::Http1(connection) => {
                let (outcome, idle) = connection.exchange(request.http1(origin), &*self.now).await;
                (outcome, idle.map(Kept::Http1))
            }
            Kept::Http2(connection) => {
                let outcome = connection.clone().exchange(request.http2(origin), reused, &*self.now).await;
                (outcome, (!connection.is_closed()).then_some(Kept::Http2(connection)))
            }
        };
        if let Some(kept) = kept {
            if self.kept.len() == MAX_KEPT {
                self.kept.remove(0);
            }
            self.kept.push((origin.clone(), kept));
        }
        outcome
    }

    async fn request_pooled(
        &self,
        pool: &Pool,
        origin: &Origin,
        request: &Compiled,
    ) -> Result<Response, Failed> {
        let shared = pool.of(origin);
        let (connection, turn) = match shared.lease().await {
            Lease::Open(turn) => (None, Some(turn)),
            Lease::Idle(connection, turn) => (Some(Kept::Http1(connection)), Some(turn)),
            Lease::Multiplexed(connection) => (Some(Kept::Http2(connection)), None),
        };
        if let Some(connection) = connection {
            match self.over_shared(connection, true, &shared, origin, request).await {
                Err(broken) if crossed_a_close(&broken) => {}
                outcome => return outcome.map_err(|broken| broken.failed),
            }
        }
        let fresh = self.dial(origin).await?;
        if let Kept::Http2(connection) = &fresh {
            shared.share(connection.clone());
            drop(turn);
            return self
                .over_shared(fresh, false, &shared, origin, request)
                .await
                .map_err(|broken| broken.failed);
        }
        let outcome = self.over_shared(fresh, false, &shared, origin, request).await;
        drop(turn);
        outcome.map_err(|broken| broken.failed)
    }

    async fn over_shared(
        &self,
        connection: Kept,
        reused: bool,
        shared: &pool::Shared,
        origin: &Origin,
        request: &Compiled,
    ) -> Result<Response, Broken> {
        match connection {
            Kept::Http1(connection) => {
                let (outcome, idle) = connection.exchange(request.http1(origin), &*self.now).await;
                if let Some(idle) = idle {
                    shared.put_back(idle);
                }
                outcome
            }
            Kept::Http2(connection) => connection.exchange(request.http2(origin), reused, &*self.now).await,
        }
    }

    async fn dial(&self, origin: &Origin) -> Result<Kept, Failed> {
        let socket = self.net.dial(origin, Alpn::Http2).await?;
        if socket.speaks_http2() {
            return Http2::open(socket).await.map(Kept::Http2);
        }
        Ok(Kept::Http1(Http1::new(socket)))
    }
}

/// The kept connection was closed while the request was on its way: nothing came back, so it is sent again.
fn crossed_a_close(broken: &Broken) -> bool {
    !broken.answered && matches!(broken.failed.failure, Failure::ClosedEarly | Failure::Reset)
}

/// A request in hyper's terms, so that it can be sent twice.
struct Compiled {
    method: Method,
    path: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Compiled {
    fn new(request: Request) -> Result<Compiled, Failed> {
        let wrong = |what: String| Failed::new(Failure::Template, format!("request cannot be sent: {what}"));
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| wrong(format!("method must be a token, got {:?}", request.method)))?;
        let path: Uri = request.path.parse().map_err(|error| {
            wrong(format!("path must be printable ASCII, got {:?}: {error}", request.path))
        })?;
        let mut headers = HeaderMap::with_capacity(request.headers.len() + 3);
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong(format!("header name must be a token, got {name:?}")))?;
            let value = HeaderValue::from_bytes(value.as_bytes())
                .map_err(|_| wrong(format!("header {name} must be one line without control characters")))?;
            headers.append(name, value);
        }
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
        Ok(Compiled { method, path, headers, body: request.body })
    }

    fn http1(&self, origin: &Origin) -> hyper::Request<Full<Bytes>> {
        let mut request = self.base(self.path.clone());
        let headers = request.headers_mut();
        if !headers.contains_key(header::HOST)
            && let Ok(host) = HeaderValue::from_str(&origin.authority())
        {
            headers.insert(header::HOST, host);
        }
        request
    }

    /// HTTP/2 carries the authority in its own field and knows no connection headers.
    fn http2(&self, origin: &Origin) -> hyper::Request<Full<Bytes>> {
        let host = self.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let authority = host.map_or_else(|| origin.authority(), str::to_owned);
        let uri = Uri::builder().scheme("https").authority(authority);
        let uri = match self.path.path_and_query() {
            Some(path) => uri.path_and_query(path.clone()).build(),
            None => uri.path_and_query("/").build(),
        };
        let mut request = self.base(uri.unwrap_or_else(|_| self.path.clone()));
        for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE] {
            request.headers_mut().remove(name);
        }
        request
    }

    fn base(&self, uri: Uri) -> hyper::Request<Full<Bytes>> {
        let mut request = hyper::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        request
    }
}
