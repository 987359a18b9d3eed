//! HTTP/2, by hyper. A connection is shared by its requests, so each has a local task.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::Body as _;
use hyper::client::conn::http2;
use hyper::header::{self, HeaderName};
use hyper::{HeaderMap, Uri};
use hyper_util::rt::TokioIo;
use sonagi_measure::outcome::Failure;
use sonagi_wire::http1::{Headers, Keep};

use super::encode::{self, Encoded};
use super::exchange::{Broken, ExchangeContext, Reach, closed_early};
use super::message::{Response, reason};
use super::tap::{Tap, Wire};
use crate::net::{Cause, Failed, OpeningTimes, Origin, Secured, Socket};

/// A shared HTTP/2 connection; clones speak over the same socket.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    wire: Rc<Wire>,
    /// Bytes of the connection that responses have accounted for: sent and received.
    counted: Rc<std::cell::Cell<(u64, u64)>>,
    /// The durations of its opening, where they are wanted.
    pub(super) opening: Option<OpeningTimes>,
    pub(super) secured: Option<Secured>,
    pub(super) peer: Option<SocketAddr>,
}

impl Http2 {
    /// Opens HTTP/2 on a fresh socket, with a task on the current thread that lives as long as the connection.
    pub(super) async fn open(socket: Socket, opening: Option<OpeningTimes>) -> Result<Http2, Failed> {
        let (secured, peer) = (socket.secured(), socket.peer());
        let (tap, wire) = Tap::new(socket);
        let (sender, connection) = http2::Builder::new(LocalExecutor)
            .handshake(TokioIo::new(tap))
            .await
            .map_err(|error| broken(&error, &wire, false).failed)?;
        tokio::task::spawn_local(async move {
            // Its failure reaches each request that was under way.
            let _ = connection.await;
        });
        Ok(Http2 { sender, wire, counted: Rc::default(), opening, secured, peer })
    }

    pub(super) fn is_closed(&self) -> bool {
        // hyper's own task may not have been told yet.
        self.sender.is_closed() || self.wire.ended.get() || self.wire.lost().is_some()
    }

    pub(super) async fn exchange(
        &self,
        request: &Encoded<'_>,
        origin: &Origin,
        keep: Keep,
        reused: bool,
        around: ExchangeContext<'_>,
    ) -> Result<Response, Broken> {
        let request =
            translated(request, origin).map_err(|failed| Broken { failed, reach: Reach::Answered })?;
        let mut sender = self.sender.clone();
        let mut answered = false;
        let result = async {
            let sending = sender.send_request(request);
            // As good as sent: the connection's own task writes it.
            around.left.inspect(|left| left.set(Some((around.now)())));
            let response = sending.await?;
            answered = true;
            let first_byte = (around.now)();
            let (head, mut body) = response.into_parts();
            let kind = head.headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
            around.streams.set(kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")));
            let mut collected = Collected { keep: keep.body, ..Collected::default() };
            while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                collected.push(frame?);
            }
            Ok((head, collected, first_byte))
        }
        .await;
        // Streams share the connection's bytes: each accounts for those since the last.
        let total = (self.wire.sent.get(), self.wire.received.get());
        let before = self.counted.replace(total);
        around.traffic.sent += total.0 - before.0;
        around.traffic.received += total.1 - before.1;
        let (head, collected, first_byte) = result.map_err(|error| broken(&error, &self.wire, answered))?;
        Ok(Response {
            status: head.status.as_u16(),
            reason: reason(head.status.as_u16()).into(),
            headers: head
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect::<Headers>(),
            body_bytes: collected.bytes,
            body: collected.into_body(),
            first_byte,
            ended: (around.now)(),
            reused,
            redirected: None,
        })
    }
}

/// A request in HTTP/2's terms: it carries the authority in its own field and has no connection headers. A request that
/// cannot be expressed so fails; it is never changed silently.
fn translated(request: &Encoded<'_>, origin: &Origin) -> Result<hyper::Request<Full<Bytes>>, Failed> {
    let (method, path) = (request.method(), request.path());
    let mut headers: HeaderMap = HeaderMap::new();
    for (name, value) in request.headers() {
        let (name, value) = encode::header(name, value)?;
        headers.append(name, value);
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
    let authority = host.unwrap_or_else(|| origin.authority());
    const OF_THE_CONNECTION: [HeaderName; 3] = [header::HOST, header::CONNECTION, header::UPGRADE];
    for name in OF_THE_CONNECTION {
        headers.remove(name);
    }
    let uri = Uri::builder().scheme("https").authority(authority.as_str()).path_and_query(path).build();
    let mut request = hyper::Request::new(Full::new(request.body()));
    *request.method_mut() = hyper::Method::from_bytes(method.as_bytes())
        .map_err(|_| encode::wrong(format!("method must be a token, got {method:?}")))?;
    *request.uri_mut() = uri.map_err(|_| {
        encode::wrong(format!(
            "HTTP/2 needs a host and a path that make a URL, got {authority:?} and {path:?}"
        ))
    })?;
    *request.headers_mut() = headers;
    Ok(request)
}

#[derive(Clone)]
struct LocalExecutor;

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for LocalExecutor {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// A body as it arrives: the usual single piece is kept without a copy.
#[derive(Default)]
struct Collected {
    keep: usize,
    first: Bytes,
    more: BytesMut,
    bytes: u64,
}

impl Collected {
    fn push(&mut self, frame: hyper::body::Frame<Bytes>) {
        let Ok(data) = frame.into_data() else { return };
        self.bytes += data.len() as u64;
        let kept = self.first.len().max(self.more.len());
        let data = data.slice(..data.len().min(self.keep - kept));
        if self.first.is_empty() && self.more.is_empty() {
            self.first = data;
            return;
        }
        if self.more.is_empty() {
            self.more.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.more.extend_from_slice(&data);
    }

    fn into_body(self) -> Bytes {
        if self.more.is_empty() { self.first } else { self.more.freeze() }
    }
}

/// The cause, most telling first: the peer's word on the request, the socket's error, the peer's end, the parser's
/// error.
fn broken(error: &hyper::Error, wire: &Wire, answered: bool) -> Broken {
    if let Some(told) = told(error) {
        return told;
    }
    let failed = if let Some(lost) = wire.lost() {
        lost
    } else if wire.ended.get() {
        closed_early(answered)
    } else {
        Failed::protocol(format!("HTTP/2 failed: {}", Causes(error)))
    };
    let reach = match (error.is_canceled(), answered) {
        // hyper never gave it to the connection.
        (true, _) => Reach::Unsent,
        (false, false) => Reach::Unanswered,
        (false, true) => Reach::Answered,
    };
    Broken { failed, reach }
}

/// The peer's word on the request's stream: a GOAWAY that excludes it, or a reset.
fn told(error: &hyper::Error) -> Option<Broken> {
    let error = std::error::Error::source(error)?.downcast_ref::<h2::Error>()?;
    let reason = error.reason().filter(|_| error.is_remote())?;
    let (failure, words, cause, reach) = if error.is_go_away() {
        let words = "the peer takes no more requests on the connection";
        (Failure::ClosedEarly, words, Cause::GoAway(reason.into()), Reach::Unprocessed)
    } else {
        let is_refused = reason == h2::Reason::REFUSED_STREAM;
        let reach = if is_refused { Reach::Unprocessed } else { Reach::Answered };
        (Failure::Reset, "the peer reset the request's stream", Cause::StreamReset(reason.into()), reach)
    };
    Some(Broken { failed: Failed::new(failure, format!("{words} ({reason:?})")).caused(cause), reach })
}

/// An error with its causes, on one line.
struct Causes<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
