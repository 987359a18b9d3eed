//! HTTP for as little as possible: heads by httparse, one fixed answer, all pipelined answers in one write.
//!
//! | what comes | what becomes of the connection |
//! |---|---|
//! | a WebSocket to `/ws/echo`, `/ws/room/…`, `/ws/flood` | a WebSocket |
//! | `/ws`, `/socket.io/`, a login, `/metrics`; a body without a length; `Expect` | hyper's, this request unread |
//! | anything else | answered here, and kept |

use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};
use sonagi_wire::websocket;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Null, flood, number, rooms, wait_of};
use crate::connection::read_buffer::with_scratch;
use crate::connection::socket::Socket;
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::server::{self, Routes};
use crate::transports::websocket::connection::carry;
use crate::transports::websocket::{echo, upgrade};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n";

/// Bytes a head may have.
const HEAD: usize = 32 * 1024;
const HEADERS: usize = 64;

const WAITS: &str = "a wait is Nms or Nus, up to a minute";

/// Serves one connection.
pub(crate) async fn serve(stream: Socket, from: SocketAddr, slot: Arc<Slot>, null: Arc<Null>) {
    let mut talk = Talk {
        stream,
        null: null.clone(),
        input: Vec::new(),
        output: Vec::new(),
        written: 0,
        body: 0,
        read_at: None,
        stage: AnswerStage::Open,
    };
    let end = poll_fn(|cx| talk.poll(cx)).await;
    let (stream, rest) = (talk.stream, talk.input);
    match end {
        End::Closed => {}
        // On a task of its own: this one should stay as small as plain HTTP needs it.
        End::Hyper => drop(tokio::spawn(server::serve(stream, rest.into(), from, slot, null))),
        End::WebSocket(kind) => drop(tokio::spawn(upgraded(stream, rest.into(), kind, slot, null))),
    }
}

async fn upgraded(stream: Socket, first: Bytes, kind: SocketKind, slot: Arc<Slot>, null: Arc<Null>) {
    let hub = &null.hub;
    hub.metrics.websocket.add(1);
    match kind {
        SocketKind::Echo => {
            let echo = echo::echoing(hub);
            carry(stream, first, echo::ECHO_MESSAGE, echo, hub.clone()).await;
        }
        SocketKind::Room(name) => {
            let limits = &hub.config.limits;
            let member = rooms::NullMember::join(
                upgrade::newcomer(hub, limits.queue_bytes, slot.source),
                &name,
                &null,
            );
            carry(stream, first, limits.max_payload, member, hub.clone()).await;
        }
        SocketKind::Flood { bytes, batch } => {
            flood::Flood::new(stream, bytes, batch, hub.clone()).run().await;
        }
    }
    hub.metrics.websocket.sub(1);
    drop(slot);
}

/// How plain HTTP ends.
enum End {
    Closed,
    Hyper,
    WebSocket(SocketKind),
}

enum SocketKind {
    Echo,
    Room(String),
    Flood { bytes: usize, batch: usize },
}

struct Talk {
    stream: Socket,
    null: Arc<Null>,
    /// Read and not yet understood.
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
    /// Bytes of a request's body still to come.
    body: u64,
    /// When the newest input came, once somebody has asked.
    read_at: Option<Instant>,
    stage: AnswerStage,
}

enum AnswerStage {
    Open,
    /// Answered at `due`, and until then nothing more is read.
    Waiting {
        read: Instant,
        due: Instant,
        asked: bool,
        keep: bool,
    },
    /// The answer of a request read then is being written.
    Answered {
        read: Instant,
        keep: bool,
    },
    /// The contents of `output` are the last.
    Ending(Option<End>),
}

/// A request, as far as it matters here.
struct Head<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    size: usize,
    length: u64,
    keep: bool,
    key: Option<&'a str>,
    /// Whether it needs more of HTTP than is here.
    special: bool,
}

impl Talk {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            match self.flush(cx) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(End::Closed),
                Poll::Pending => return Poll::Pending,
            }
            match &mut self.stage {
                AnswerStage::Ending(end) => return Poll::Ready(end.take().unwrap_or(End::Closed)),
                AnswerStage::Answered { read, keep } => {
                    self.null.answered_after(*read);
                    if !*keep {
                        return Poll::Ready(End::Closed);
                    }
                    self.stage = AnswerStage::Open;
                    self.resume();
                    continue;
                }
                AnswerStage::Waiting { read, due, asked, keep } => {
                    if Instant::now() >= *due {
                        self.stage = AnswerStage::Answered { read: *read, keep: *keep };
                        self.ok();
                        continue;
                    }
                    if !std::mem::replace(asked, true) {
                        self.null.alarm.wake_at(*due, cx.waker().clone());
                    }
                    return Poll::Pending;
                }
                AnswerStage::Open => {}
            }
            match self.read(cx) {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(End::Closed),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Writes until all is written (true), the socket is full (pending) or it broke (false).
    fn flush(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        while self.written < self.output.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.output[self.written..]) {
                Poll::Ready(Ok(written @ 1..)) => self.written += written,
                Poll::Ready(_) => return Poll::Ready(false),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.output.clear();
        self.written = 0;
        // A bare socket has nothing to flush.
        Pin::new(&mut self.stream).poll_flush(cx).map(|flushed| flushed.is_ok())
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        with_scratch(|buffer| {
            let mut read = ReadBuf::new(buffer);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    self.read_at = None;
                    let bytes = read.filled();
                    if self.input.is_empty() {
                        let taken = self.take(bytes);
                        self.input.extend_from_slice(&bytes[taken..]);
                    } else {
                        self.input.extend_from_slice(bytes);
                        self.resume();
                    }
                    Poll::Ready(true)
                }
                Poll::Ready(_) => Poll::Ready(false),
            }
        })
    }

    /// Goes on with what was read before.
    fn resume(&mut self) {
        if !self.input.is_empty() {
            let mut input = std::mem::take(&mut self.input);
            let taken = self.take(&input);
            input.drain(..taken);
            self.input = input;
        }
    }

    /// Answers as many requests as are whole, and returns the bytes it is done with.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && matches!(self.stage, AnswerStage::Open) {
            if self.body > 0 {
                let part = self.body.min((bytes.len() - at) as u64);
                self.body -= part;
                at += part as usize;
                continue;
            }
            let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
            match Head::parse(&bytes[at..], &mut headers) {
                Ok(Some(head)) => {
                    if head.special || is_full(head.path) {
                        self.stage = AnswerStage::Ending(Some(End::Hyper));
                        break;
                    }
                    at += head.size;
                    self.body = head.length;
                    self.answer(&head);
                }
                Ok(None) if bytes.len() - at <= HEAD => break,
                Ok(None) => self.refuse("431 Request Header Fields Too Large", "a head may have 32 KiB"),
                Err(_) => self.refuse("400 Bad Request", "this is no HTTP/1.1 request"),
            }
        }
        at
    }

    fn answer(&mut self, head: &Head<'_>) {
        self.null.requests.add(1);
        if let Some(wait) = head.path.strip_prefix("/after/") {
            let Some(wait) = wait_of(wait) else {
                return self.refuse("400 Bad Request", WAITS);
            };
            let read = *self.read_at.get_or_insert_with(Instant::now);
            self.stage = AnswerStage::Waiting { read, due: read + wait, asked: false, keep: head.keep };
            return;
        }
        if head.path.starts_with("/ws/") {
            return self.upgrade(head);
        }
        match head.path {
            "/null/stats" => self.json(&self.null.stats()),
            "/null/reset" if head.method == "POST" => {
                self.null.reset();
                self.ok();
            }
            "/null/reset" => self.refuse("405 Method Not Allowed", "this path takes POST"),
            _ if head.method == "HEAD" => self.output.extend_from_slice(OK.as_bytes()),
            _ => self.ok(),
        }
        if !head.keep {
            self.stage = AnswerStage::Ending(None);
        }
    }

    fn ok(&mut self) {
        self.output.extend_from_slice(OK.as_bytes());
        self.output.extend_from_slice(b"ok");
    }

    fn json(&mut self, body: &str) {
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.output.extend_from_slice(answer.as_bytes());
    }

    /// Answers and ends the connection.
    fn refuse(&mut self, status: &str, why: &str) {
        let length = why.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: \
             {length}\r\n\r\n{why}"
        );
        self.output.extend_from_slice(answer.as_bytes());
        self.stage = AnswerStage::Ending(None);
    }

    fn upgrade(&mut self, head: &Head<'_>) {
        let Some(kind) = SocketKind::of(head.path, head.query) else {
            return self.refuse(
                "404 Not Found",
                "the WebSockets are /ws/echo, /ws/room/NAME and /ws/flood?bytes=86&batch=64",
            );
        };
        let Some(key) = head.key else {
            return self.refuse("426 Upgrade Required", "this path takes WebSocket upgrades");
        };
        let accept = websocket::accept_key(key);
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: \
             {accept}\r\n\r\n"
        );
        self.output.extend_from_slice(answer.as_bytes());
        self.stage = AnswerStage::Ending(Some(End::WebSocket(kind)));
    }
}

/// Paths the full service answers.
fn is_full(path: &str) -> bool {
    matches!(path, "/ws" | "/socket.io" | "/socket.io/" | "/auth/login" | "/api/auth/login" | "/metrics")
}

impl SocketKind {
    fn of(path: &str, query: &str) -> Option<SocketKind> {
        match path {
            "/ws/echo" => Some(SocketKind::Echo),
            "/ws/flood" => Some(SocketKind::Flood {
                bytes: number(query, "bytes", 86, flood::BYTES)?,
                batch: number(query, "batch", 64, flood::BATCH)?,
            }),
            _ => path
                .strip_prefix("/ws/room/")
                .filter(|name| !name.is_empty())
                .map(|name| SocketKind::Room(name.into())),
        }
    }
}

impl<'a> Head<'a> {
    /// `None` when it has not all arrived.
    fn parse<'h>(
        bytes: &'a [u8],
        headers: &'h mut [MaybeUninit<httparse::Header<'a>>; HEADERS],
    ) -> Result<Option<Head<'a>>, httparse::Error> {
        let mut request = httparse::Request::new(&mut []);
        let httparse::Status::Complete(size) = request.parse_with_uninit_headers(bytes, headers)? else {
            return Ok(None);
        };
        let target = request.path.unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let keep = request.version == Some(1);
        let method = request.method.unwrap_or("GET");
        let mut head = Head { method, path, query, size, length: 0, keep, key: None, special: false };
        for header in request.headers.iter() {
            head.header(header)?;
        }
        Ok(Some(head))
    }

    fn header(&mut self, header: &httparse::Header<'a>) -> Result<(), httparse::Error> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        // By length first: most headers are none of these.
        match header.name.len() {
            6 if is("expect") => self.special = true,
            10 if is("connection") => match header.value {
                value if value.eq_ignore_ascii_case(b"close") => self.keep = false,
                value if value.eq_ignore_ascii_case(b"keep-alive") => self.keep = true,
                _ => {}
            },
            14 if is("content-length") => {
                let text = std::str::from_utf8(header.value).ok();
                let length = text.and_then(|text| text.trim().parse().ok());
                self.length = length.ok_or(httparse::Error::HeaderValue)?;
            }
            17 if is("transfer-encoding") => self.special = true,
            17 if is("sec-websocket-key") => self.key = std::str::from_utf8(header.value).ok(),
            _ => {}
        }
        Ok(())
    }
}

impl Routes for Null {
    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Answers requests on a connection that is hyper's, from the request that made it so.
    async fn route(
        &self,
        mut request: Request<Incoming>,
        from: SocketAddr,
        slot: &Arc<Slot>,
    ) -> Result<Answer, Problem> {
        let read = Instant::now();
        let path = request.uri().path();
        if is_full(path) || path == "/ws/echo" {
            return self.full.route(request, from, slot).await;
        }
        self.requests.add(1);
        if path.starts_with("/ws/") {
            return Err(Problem::bad_request("a WebSocket is opened on a connection of its own"));
        }
        let wait = match path.strip_prefix("/after/") {
            Some(wait) => Some(wait_of(wait).ok_or_else(|| Problem::bad_request(WAITS))?),
            None => None,
        };
        let answer = match path {
            "/null/stats" => http::json(StatusCode::OK, self.stats()),
            "/null/reset" if request.method() == Method::POST => {
                self.reset();
                http::text("ok")
            }
            _ => http::text("ok"),
        };
        while let Some(Ok(_)) = request.frame().await {}
        if let Some(wait) = wait {
            self.alarm.sleep_until(read + wait).await;
            self.answered_after(read);
        }
        Ok(answer)
    }
}
