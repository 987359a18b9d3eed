//! The front door: accepting connections, HTTP/1.1 by hyper, which path leads where.
//!
//! The router is one `match` over method and path segments. A request that becomes a WebSocket leaves hyper with its
//! bare socket, so that an idle connection keeps none of hyper's buffers.

pub(crate) mod content;
pub(crate) mod write_timeout;

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::api::{self, people};
use crate::connection::source::Source;
use crate::http::content::{Content, Handover};
use crate::http::write_timeout::Patient;
use crate::hub::{Hub, Phase};
use crate::null;
use crate::problem::Problem;
use crate::sync::lock;
use crate::transports::{doors, polling, sockjs, sse};

pub(crate) type Answer = Response<Content>;

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

/// One open socket in the count of all.
pub(crate) struct Seat {
    hub: Arc<Hub>,
    pub(crate) source: Source,
}

impl Seat {
    fn take(hub: &Arc<Hub>, from: SocketAddr) -> Option<Arc<Seat>> {
        if hub.metrics.sockets.get() >= hub.config.limits.connections as u64 {
            return None;
        }
        hub.metrics.sockets.add(1);
        Some(Arc::new(Seat { hub: hub.clone(), source: from.ip().into() }))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.metrics.sockets.sub(1);
    }
}

/// Accepts until the service stops.
pub(crate) async fn accept(listener: TcpListener, hub: Arc<Hub>) {
    let (mut phase, mut stopped) = (hub.phase.subscribe(), hub.phase.subscribe());
    // Connections of the null mode's HTTP.
    let mut minimal = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = minimal.join_next() => continue,
            // They never have more under way than an answer that is being waited for.
            _ = phase.wait_for(|phase| *phase >= Phase::Draining), if !minimal.is_empty() => {
                minimal.abort_all();
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
        match Seat::take(&hub, from) {
            Some(seat) => {
                if hub.null.is_some() {
                    minimal.spawn(null::serve(stream, from, seat, hub.clone()));
                } else {
                    tokio::spawn(serve(stream, Bytes::new(), from, seat, hub.clone()));
                }
            }
            None => turn_away(&stream, &hub),
        }
    }
}

fn turn_away(stream: &TcpStream, hub: &Hub) {
    hub.metrics.refused_connections.add(1);
    // A fresh socket takes these bytes at once; if it does not, closing says enough.
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}

/// Serves one connection; `first` has been read from it already.
pub(crate) async fn serve(stream: TcpStream, first: Bytes, from: SocketAddr, seat: Arc<Seat>, hub: Arc<Hub>) {
    let (mut drains, mut stops) = (hub.phase.subscribe(), hub.phase.subscribe());
    let header_timeout = hub.config.limits.header_timeout;
    let stream = Patient::new(stream, first, hub.config.limits.write_timeout);
    let mut serving = hub.is_serving();
    let handed = Arc::<Handed>::default();
    let handing = handed.clone();
    let service = service_fn(move |request| {
        let (hub, seat, handing) = (hub.clone(), seat.clone(), handing.clone());
        async move {
            let mut answer = answer(request, from, &seat, &hub).await;
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
        // Who comes to ask a draining service for its health is told so, once.
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
        // What the client has sent beyond its request is not for us: it asked for an answer without an end.
        handover(parts.io.into_inner().into_inner().0, head);
    }
}

/// Who takes the socket, and what it writes first.
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

async fn answer(request: Request<Incoming>, from: SocketAddr, seat: &Arc<Seat>, hub: &Arc<Hub>) -> Answer {
    hub.metrics.requests.add(1);
    let origin = request.headers().get(header::ORIGIN).cloned();
    let allowed = origin.as_ref().is_none_or(|origin| allows(hub, origin));
    let preflight = *request.method() == Method::OPTIONS;
    let sockjs = sockjs::methods(request.uri().path());
    let mut answer = if !names_its_host(&request) {
        refuse(&Problem::bad_request("a request names its host in one `Host` header (RFC 9112 §3.2)"))
    } else if !allowed {
        refuse(&Problem::forbidden("this origin is not on the service's list"))
    } else if preflight {
        empty(StatusCode::NO_CONTENT)
    } else {
        let answer = match &hub.null {
            None => route(request, from, seat, hub).await,
            Some(null) => null.route(request, from, seat, hub).await,
        };
        answer.unwrap_or_else(|problem| refuse(&problem))
    };
    if let Some(origin) = origin.filter(|_| allowed) {
        let headers = answer.headers_mut();
        // Credentials are let through only to origins that somebody listed. SockJS's client always sends along what it has,
        // which is then nothing: no cookie is ever set here.
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

pub(crate) async fn route(
    request: Request<Incoming>,
    from: SocketAddr,
    seat: &Arc<Seat>,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let method = request.method().clone();
    match (method, segments.as_slice()) {
        (Method::GET, ["healthz"]) => api::health(hub),
        (Method::GET, ["metrics"]) => Ok(api::metrics(hub)),
        (Method::POST, ["auth", "login"]) => api::login(request, from.ip(), hub).await,
        (Method::POST, ["api", "auth", "login"]) => api::api_login(request, from.ip(), hub).await,
        (Method::GET, ["api", "user", "list-all"]) => people::all(&request, hub),
        (Method::GET, ["api", "user", "list"]) => people::list(&request, hub),
        (Method::GET, ["users", "getUserSecure", email]) => api::user(email, hub),
        (Method::GET, ["users", "friends"]) => api::friends(request.headers(), hub),
        (Method::POST, ["rooms", "find-or-create"]) => api::find_or_create(request, hub).await,
        (Method::GET, ["rooms", id, "messages"]) => api::messages(&request, id, seat.source, hub).await,
        (Method::GET, ["ws"]) => doors::rooms(request, seat, hub),
        (Method::GET, ["ws", "echo"]) => doors::echo(request, seat, hub),
        (Method::GET, ["cur", group]) => polling::current(&request, group, seat.source, hub).await,
        (Method::GET, ["location", "long", group]) => polling::long(&request, group, seat.source, hub).await,
        (Method::POST, ["location", "long", group, "notify"]) => {
            polling::share(request, &decode(group, false), seat.source, hub).await
        }
        (Method::GET, ["location", "sse", "connect"]) => sse::connect(&request, seat, hub),
        (Method::POST, ["location", "sse", "share"]) => {
            let group = sse::group(&request);
            polling::share(request, &group, seat.source, hub).await
        }
        (_, ["socket.io"]) => Ok(doors::socketio(request, seat, hub).await),
        (_, ["engine.io"]) if hub.config.protocol_suite => Ok(doors::engineio(request, seat, hub).await),
        (
            method,
            ["healthz" | "metrics" | "ws"]
            | ["ws", "echo"]
            | ["users", ..]
            | ["api", "user", "list" | "list-all"]
            | ["rooms", _, "messages"]
            | ["cur", _]
            | ["location", "long", _]
            | ["location", "sse", "connect"],
        ) => Err(wrong_method(&method, "GET")),
        (
            method,
            ["auth", "login"]
            | ["api", "auth", "login"]
            | ["rooms", "find-or-create"]
            | ["location", "long", _, "notify"]
            | ["location", "sse", "share"],
        ) => Err(wrong_method(&method, "POST")),
        (_, ["location", ..]) => sockjs::serve(request, seat, hub).await,
        _ => Err(Problem::new(404, "not_found", format!("nothing is served at `{path}`"))),
    }
}

pub(crate) fn wrong_method(method: &Method, allowed: &str) -> Problem {
    Problem::new(405, "method_not_allowed", format!("this path takes {allowed}, got {method}"))
}

/// The token of an `Authorization: Bearer` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whose token the request carries, in the header or as `token` in the query; without any it is nobody's, and a wrong
/// one is refused.
pub(crate) fn visitor(request: &Request<Incoming>, hub: &Hub) -> Result<Option<u64>, Problem> {
    let token = query(request, "token");
    let token = token.as_deref().or_else(|| bearer(request.headers()));
    token.map(|token| hub.accounts.who(token).ok_or_else(Problem::unauthorized)).transpose()
}

/// Why a body could not be read.
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

/// The whole body, within a size and the body timeout. Who waits to be told that it may send one that is too large
/// is told at once that it may not: reading would have hyper tell it to go on.
pub(crate) async fn body(request: Request<Incoming>, limit: usize, hub: &Hub) -> Result<Bytes, BodyError> {
    let waits = request.headers().contains_key(header::EXPECT);
    if waits && request.body().size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let collected = Limited::new(request.into_body(), limit).collect();
    match tokio::time::timeout(hub.config.limits.body_timeout, collected).await {
        Err(_) => Err(BodyError::TooSlow),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Ok(Err(_)) => Err(BodyError::Broken),
    }
}

/// A query's parameters, percent-decoded; of a repeated one the first counts.
pub(crate) fn query<'a>(request: &'a Request<Incoming>, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    let query = request.uri().query()?;
    let raw = query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })?;
    Some(decode(raw, true))
}

/// Percent-decoding; `plus` also turns `+` into a space, as forms do. What is not valid stays as it is.
pub(crate) fn decode(text: &str, plus: bool) -> std::borrow::Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let hex = pair.filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (first, hex.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) if plus => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).map_or_else(|_| text.into(), Into::into)
}

pub(crate) fn empty(status: StatusCode) -> Answer {
    with(status, "", Bytes::new())
}

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    with(status, "application/json", body.into() as Bytes)
}

pub(crate) fn text(body: impl Into<Bytes>) -> Answer {
    with(StatusCode::OK, "text/plain; charset=UTF-8", body.into() as Bytes)
}

/// An answer of a content type of its own.
pub(crate) fn ok(content_type: &'static str, content: impl Into<Content>) -> Answer {
    with(StatusCode::OK, content_type, content)
}

fn with(status: StatusCode, content_type: &'static str, content: impl Into<Content>) -> Answer {
    let mut answer = Response::new(content.into());
    *answer.status_mut() = status;
    if !content_type.is_empty() {
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

pub(crate) fn refuse(problem: &Problem) -> Answer {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = json(status, format!(r#"{{"error":{{{}}}}}"#, problem.fields()));
    if let Some(seconds) = problem.retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded_and_nonsense_kept() {
        assert_eq!(decode("user1%40example.test", false), "user1@example.test");
        assert_eq!(decode("a+b", true), "a b");
        assert_eq!(decode("a+b", false), "a+b");
        assert_eq!(decode("%EB%B0%A9", true), "방");
        for nonsense in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(nonsense, false), nonsense);
        }
    }
}
