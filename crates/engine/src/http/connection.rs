//! One HTTP connection and one request on it.
//!
//! HTTP/1.1 connections are driven by the request's own future: no task per connection, and dropping the future
//! closes the connection, since a half-read response cannot be skipped. Between requests only the socket is kept: hyper's
//! buffers (16 KiB and more) go with each exchange, so ten thousand thinking users cost ten thousand sockets.
//! HTTP/2 connections are shared, so each has a local task.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;

use super::tap::{Tap, Traffic};
use super::{MAX_BODY, Response};
use crate::net::{Failed, Socket};

/// A request that failed, and whether anything of its response had arrived.
pub(super) struct Broken {
    pub(super) failed: Failed,
    pub(super) answered: bool,
}

/// The bytes of an exchange, the head's arrival, and what came of it.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
    body_bytes: u64,
    first_byte: At,
}

impl Answer {
    fn into_response(self, reused: bool, sent: u64, received: u64) -> Response {
        let Answer { status, headers, body, body_bytes, first_byte } = self;
        Response { status, headers, body, body_bytes, first_byte, reused, sent, received }
    }
}

/// An idle HTTP/1.1 connection.
pub(super) struct Http1 {
    io: TokioIo<Tap>,
    traffic: Rc<Traffic>,
    used: bool,
}

impl Http1 {
    pub(super) fn new(socket: Socket) -> Http1 {
        let (tap, traffic) = Tap::new(socket);
        Http1 { io: TokioIo::new(tap), traffic, used: false }
    }

    /// Sends the request and reads the whole response. The connection comes back when it can be used again.
    pub(super) async fn exchange(
        self,
        request: Request<Full<Bytes>>,
        now: &dyn Fn() -> At,
    ) -> (Result<Response, Broken>, Option<Http1>) {
        let Http1 { io, traffic, used } = self;
        let (sent, received) = (traffic.sent.get(), traffic.received.get());
        let (mut sender, connection) = match http1::handshake::<_, Full<Bytes>>(io).await {
            Ok(pair) => pair,
            Err(error) => return (Err(broken(&error, &traffic, false)), None),
        };
        let mut driven = Driven { connection: Some(connection) };
        let answer = {
            let response = pin!(sender.send_request(request));
            driven.answer(response, now).await
        };
        let answered = traffic.received.get() > received;
        match answer {
            Err(error) => (Err(broken(&error, &traffic, answered)), None),
            Ok(answer) => {
                let response =
                    answer.into_response(used, traffic.sent.get() - sent, traffic.received.get() - received);
                let idle = driven.into_idle(&sender).await;
                (Ok(response), idle.map(|io| Http1 { io, traffic, used: true }))
            }
        }
    }
}

/// hyper's half of a connection, polled along with what waits for it.
struct Driven {
    connection: Option<http1::Connection<TokioIo<Tap>, Full<Bytes>>>,
}

impl Driven {
    /// Drops the connection when it has ended: that resolves whatever still waits for it.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            self.connection = None;
        }
    }

    async fn answer(
        &mut self,
        mut response: Pin<&mut impl Future<Output = hyper::Result<hyper::Response<Incoming>>>>,
        now: &dyn Fn() -> At,
    ) -> hyper::Result<Answer> {
        let response = poll_fn(|cx| {
            self.drive(cx);
            response.as_mut().poll(cx)
        })
        .await?;
        let first_byte = now();
        let (head, mut body) = response.into_parts();
        let mut collected = Collected::default();
        loop {
            // Frames first: driving ahead would have hyper read more before what it has is taken.
            let frame = poll_fn(|cx| {
                if let Poll::Ready(frame) = Pin::new(&mut body).poll_frame(cx) {
                    return Poll::Ready(frame);
                }
                self.drive(cx);
                Pin::new(&mut body).poll_frame(cx)
            });
            match frame.await {
                None => break,
                Some(frame) => collected.push(frame?),
            }
        }
        Ok(collected.into_answer(head, first_byte))
    }

    /// The socket, when the peer keeps the connection open and sent nothing unasked.
    async fn into_idle(mut self, sender: &http1::SendRequest<Full<Bytes>>) -> Option<TokioIo<Tap>> {
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(())
        })
        .await;
        let connection = self.connection.filter(|_| sender.is_ready())?;
        let parts = connection.into_parts();
        parts.read_buf.is_empty().then_some(parts.io)
    }
}

/// A shared HTTP/2 connection; clones speak over the same socket.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    traffic: Rc<Traffic>,
    counted: Rc<std::cell::Cell<(u64, u64)>>,
}

impl Http2 {
    /// Opens HTTP/2 on a fresh socket; needs a `LocalSet`.
    pub(super) async fn open(socket: Socket) -> Result<Http2, Failed> {
        let (tap, traffic) = Tap::new(socket);
        let (sender, connection) = http2::Builder::new(LocalExecutor)
            .handshake(TokioIo::new(tap))
            .await
            .map_err(|error| broken(&error, &traffic, false).failed)?;
        tokio::task::spawn_local(async move {
            // Its failure reaches each request that was under way.
            let _ = connection.await;
        });
        Ok(Http2 { sender, traffic, counted: Rc::default() })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) async fn exchange(
        mut self,
        request: Request<Full<Bytes>>,
        reused: bool,
        now: &dyn Fn() -> At,
    ) -> Result<Response, Broken> {
        let mut answered = false;
        let result = async {
            let response = self.sender.send_request(request).await?;
            answered = true;
            let first_byte = now();
            let (head, mut body) = response.into_parts();
            let mut collected = Collected::default();
            while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                collected.push(frame?);
            }
            Ok(collected.into_answer(head, first_byte))
        }
        .await;
        match result {
            Err(error) => Err(broken(&error, &self.traffic, answered)),
            Ok(answer) => {
                // Streams share the connection's bytes: each takes what came since the last one took.
                let total = (self.traffic.sent.get(), self.traffic.received.get());
                let (sent, received) = self.counted.replace(total);
                Ok(answer.into_response(reused, total.0 - sent, total.1 - received))
            }
        }
    }
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
    first: Bytes,
    more: BytesMut,
    bytes: u64,
}

impl Collected {
    fn push(&mut self, frame: hyper::body::Frame<Bytes>) {
        let Ok(data) = frame.into_data() else { return };
        self.bytes += data.len() as u64;
        let kept = self.first.len().max(self.more.len());
        let data = data.slice(..data.len().min(MAX_BODY - kept));
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

    fn into_answer(self, head: hyper::http::response::Parts, first_byte: At) -> Answer {
        let body = if self.more.is_empty() { self.first } else { self.more.freeze() };
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            body_bytes: self.bytes,
            first_byte,
        }
    }
}

/// The cause, most telling first: what the socket said, what the parser refused, that the peer ended.
fn broken(error: &hyper::Error, traffic: &Traffic, answered: bool) -> Broken {
    let failed = if let Some(lost) = traffic.lost() {
        lost
    } else if error.is_parse() {
        Failed::protocol(format!("the answer is not HTTP: {}", Causes(error)))
    } else if error.is_incomplete_message() || traffic.ended.get() {
        let when = if answered { "in the middle of its response" } else { "before its response" };
        Failed::new(Failure::ClosedEarly, format!("the peer closed the connection {when}"))
    } else {
        Failed::protocol(format!("HTTP failed: {}", Causes(error)))
    };
    Broken { failed, answered }
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
