//! The front door: accepting connections, and HTTP/1.1 by hyper. Which path leads where is in `router`.
//!
//! A request that becomes a WebSocket leaves hyper with its bare socket, so that an idle connection keeps none of
//! hyper's buffers.

pub(crate) mod router;
pub(crate) mod tls;

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::connection::socket::Socket;
use crate::http::content::Handover;
use crate::http::write_timeout::WriteTimeout;
use crate::http::{self, Answer, Slot};
use crate::hub::{Hub, Phase};
use crate::problem::Problem;
use crate::sync::lock;
use crate::transports::sockjs;

/// Answers requests.
pub(crate) trait Routes: Send + Sync + 'static {
    fn hub(&self) -> &Arc<Hub>;

    fn route(
        &self,
        request: Request<Incoming>,
        from: SocketAddr,
        slot: &Arc<Slot>,
    ) -> impl Future<Output = Result<Answer, Problem>> + Send;
}

/// A listener with a backlog that a burst of arrivals fits in.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    TcpListener::from_std(socket.into())
}

/// Accepts until the service stops, and has `serve` carry each connection. `at_drain` says what becomes of them when
/// the service drains.
pub(crate) async fn accept<S: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    hub: Arc<Hub>,
    at_drain: AtDrain,
    serve: impl Fn(TcpStream, SocketAddr, Arc<Slot>) -> S,
) {
    let (mut phase, mut stopped) = (hub.phase.subscribe(), hub.phase.subscribe());
    let mut dropped_at_drain = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = dropped_at_drain.join_next() => continue,
            _ = phase.wait_for(|phase| *phase >= Phase::Draining), if !dropped_at_drain.is_empty() => {
                dropped_at_drain.abort_all();
                continue;
            }
            _ = stopped.wait_for(|phase| *phase == Phase::Stopped) => return,
        };
        let Ok((stream, from)) = accepted else {
            // Out of descriptors, most likely: the pause lets some close instead of spinning.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        match (Slot::take(&hub, from), at_drain) {
            (Some(slot), AtDrain::Dropped) => drop(dropped_at_drain.spawn(serve(stream, from, slot))),
            (Some(slot), AtDrain::Kept) => drop(tokio::spawn(serve(stream, from, slot))),
            (None, _) => turn_away(&stream, &hub),
        }
    }
}

/// The fate of connections when the service drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtDrain {
    /// They end by themselves.
    Kept,
    /// They are dropped at once: they never have more under way than an answer that is being waited for.
    Dropped,
}

fn turn_away(stream: &TcpStream, hub: &Hub) {
    hub.metrics.refused_connections.add(1);
    if hub.config.tls.is_some() {
        // A handshake to say so in would cost more than what is refused.
        return;
    }
    // A fresh socket takes these bytes at once; if it does not, closing says enough.
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}

/// Serves one connection; `first` has been read from it already.
pub(crate) async fn serve<R: Routes>(
    stream: Socket,
    first: Bytes,
    from: SocketAddr,
    slot: Arc<Slot>,
    routes: Arc<R>,
) {
    let hub = routes.hub();
    let (mut drains, mut stops) = (hub.phase.subscribe(), hub.phase.subscribe());
    let header_timeout = hub.config.limits.header_timeout;
    let stream = WriteTimeout::new(stream, first, hub.config.limits.write_timeout);
    let mut serving = hub.is_serving();
    let handed = Arc::<Handed>::default();
    let (handing, its_routes) = (handed.clone(), routes.clone());
    let service = service_fn(move |request| {
        let (routes, slot, handing) = (its_routes.clone(), slot.clone(), handing.clone());
        async move {
            let mut answer = answer(request, from, &slot, &*routes).await;
            if let Some(handover) = answer.body_mut().hand_over() {
                *lock(&handing) = Some((handover, head(&answer)));
                // `serve` finds it and takes the socket away.
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let mut connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(32 * 1024)
        // A draining service answers one health request, and says that it drains.
        .keep_alive(serving)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let (handover, head) = loop {
        let served = poll_fn(|cx| {
            // Errors here are the client's: it reset, was too slow or spoke no HTTP.
            let is_over = Pin::new(&mut connection).poll(cx).is_ready();
            match lock(&handed).take() {
                None if !is_over => Poll::Pending,
                handed => Poll::Ready(handed),
            }
        });
        tokio::select! {
            served = served => match served {
                Some(handed) => break handed,
                None => return,
            },
            _ = drains.wait_for(|phase| *phase >= Phase::Draining), if serving => {
                // Idle connections end at once, a request under way is answered.
                serving = false;
                Pin::new(&mut connection).graceful_shutdown();
            }
            _ = stops.wait_for(|phase| *phase == Phase::Stopped) => return,
        }
    };
    if let Some(parts) = connection.into_parts() {
        // Further bytes of the client are ignored: it asked for an answer without an end.
        handover(parts.io.into_inner().into_inner().0, head);
    }
}

/// The new owner of the socket, and the bytes it writes first.
type Handed = Mutex<Option<(Handover, Bytes)>>;

/// The head of an answer whose body ends with the connection, as any client of HTTP/1 reads it.
fn head(answer: &Answer) -> Bytes {
    let mut head = Vec::with_capacity(256);
    let status = answer.status();
    head.extend_from_slice(
        format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("")).as_bytes(),
    );
    for (name, value) in answer.headers() {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"connection: close\r\n\r\n");
    head.into()
}

async fn answer<R: Routes>(
    request: Request<Incoming>,
    from: SocketAddr,
    slot: &Arc<Slot>,
    routes: &R,
) -> Answer {
    let hub = routes.hub();
    hub.metrics.requests.add(1);
    let origin = request.headers().get(header::ORIGIN).cloned();
    let allowed = origin.as_ref().is_none_or(|origin| allows(hub, origin));
    let preflight = *request.method() == Method::OPTIONS;
    let sockjs = sockjs::methods(request.uri().path());
    let mut answer = if !names_its_host(&request) {
        http::refuse(&Problem::bad_request("a request names its host in one `Host` header (RFC 9112 §3.2)"))
    } else if !allowed {
        http::refuse(&Problem::forbidden("this origin is not on the service's list"))
    } else if preflight {
        http::empty(StatusCode::NO_CONTENT)
    } else {
        routes.route(request, from, slot).await.unwrap_or_else(|problem| http::refuse(&problem))
    };
    if let Some(origin) = origin.filter(|_| allowed) {
        let headers = answer.headers_mut();
        // Credentials are let through only to origins that somebody listed. SockJS's client always sends along what it
        // has, which is then nothing: no cookie is ever set here.
        if hub.config.origins.is_empty() && sockjs.is_none() {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if preflight {
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type, idempotency-key, last-event-id"),
            );
            let methods = HeaderValue::from_static(sockjs.unwrap_or("GET, POST"));
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            if sockjs.is_some() {
                headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
            }
        }
    }
    answer
}

/// Once, and by what can be a host and a port; in HTTP/1.0 it need not.
fn names_its_host(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() == Version::HTTP_10,
        (Some(host), None) => {
            let may_stand = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:[]".contains(byte);
            host.as_bytes().iter().all(may_stand)
        }
        (Some(_), Some(_)) => false,
    }
}

fn allows(hub: &Hub, origin: &HeaderValue) -> bool {
    let origins = &hub.config.origins;
    origins.is_empty() || origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
}
