//! An event stream (WHATWG HTML §9.2): one GET whose response does not end.
//!
//! What a browser's `EventSource` demands of the answer is demanded here, too: status 200 and the right type; anything
//! else is a refusal with its status, a redirect and a 204 included. When to connect again is the caller's business; it
//! is told the last event's id ([`Link::cursor`]) and the server's wish ([`Link::retry`]).
//!
//! The decision to question: no HTTP client here, for the reason the WebSocket's handshake has none. A stream keeps its
//! socket, a reader that knows the body's framing and a decoder that knows its position; the bytes go through the
//! buffer all links of the shard share.

use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;
use sonagi_wire::http1::{Headers, Keep, Reader, RequestKind, Violation};
use sonagi_wire::sse::{self, Decoder, Item};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::drive::{Ended, Env, Incoming, Link, MAX_BYTES, MAX_READS, give_way};
use super::handshake::what_is_there;
use super::opened::HandshakeAnswer;
use crate::http::{Encoded, Request};
use crate::net::{Alpn, Failed, Net, Origin, Socket};

/// Bytes read at a time until the head is complete.
const HEAD_READ: usize = 4096;

/// Bytes of a refusal's body shown in the detail.
const SHOWN_BODY: usize = 200;

/// The request that opens an event stream.
#[derive(Clone, Debug)]
pub struct SseRequest {
    /// The target.
    pub origin: Origin,
    /// The path with its query, as [`Origin::parse`] gives it.
    pub path: String,
    /// Added to ours (`accept`, `cache-control`), or in place of them.
    pub headers: Vec<(String, String)>,
    /// The value of a Cookie header.
    pub cookie: Option<String>,
    /// The id of the event to continue after.
    pub last_event_id: Option<String>,
    /// Largest event accepted, in bytes.
    pub max_event: usize,
}

/// An event stream.
pub struct SseLink {
    socket: Socket,
    /// Knows the framing of the response's body.
    reader: Reader,
    decoder: Decoder,
    /// The part of the body that came with the head; empty after the first drive.
    early: Vec<u8>,
    /// The violation in the body's remaining bytes.
    breach: Option<Violation>,
    retry_ms: Option<u64>,
    phase: Phase,
    sent: u64,
    received: u64,
}

enum Phase {
    Open,
    Closing,
    Ended(Box<Ended>),
}

impl SseLink {
    /// Connects, asks, and reads the response's head. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Net::dial`]; `HandshakeRefused` for a status other than 200, `Protocol` for an answer that is no
    /// event stream or no HTTP, `ClosedEarly`, `Reset`, and `Template` for a request that cannot be sent.
    pub async fn open(net: &Net, request: SseRequest) -> Result<SseLink, Failed> {
        let mut link = SseLink::ask(net, &request, "GET", Bytes::new()).await?;
        if link.reader.status != 200 {
            let early = std::mem::take(&mut link.early);
            return Err(refused(&mut link.socket, &mut link.reader, early).await);
        }
        check_type(&link.reader.headers)?;
        link.reader.headers = Headers::default();
        Ok(link)
    }

    /// Opens a stream with any request, and takes any answer as one: anything in its body that is no event is skipped.
    ///
    /// # Errors
    /// The errors of [`SseLink::open`], except those for status and type.
    pub async fn open_any(
        net: &Net,
        request: &SseRequest,
        method: &str,
        body: Bytes,
    ) -> Result<(SseLink, HandshakeAnswer), Failed> {
        let mut link = SseLink::ask(net, request, method, body).await?;
        let headers = std::mem::take(&mut link.reader.headers);
        let answer = HandshakeAnswer { status: link.reader.status, headers, body: Vec::new() };
        Ok((link, answer))
    }

    /// Sends the request and reads the answer's head, without judging it.
    async fn ask(net: &Net, request: &SseRequest, method: &str, body: Bytes) -> Result<SseLink, Failed> {
        let decoder = behind(request.last_event_id.as_deref(), request.max_event);
        let asked = written(request, method, body)?;
        let mut socket = net.dial(&request.origin, Alpn::Http1).await?;
        let lost = |error: std::io::Error| Failed::established(&error);
        socket.write_all(asked.bytes()).await.map_err(lost)?;
        socket.flush().await.map_err(lost)?;
        let mut reader = Reader::new(RequestKind::Other, Keep { headers: true, body: 0 });
        let (mut early, mut breach, mut received) = (Vec::new(), None, 0);
        let mut buffer = vec![0; HEAD_READ];
        while !reader.has_head() {
            let read = socket.read(&mut buffer).await.map_err(lost)?;
            if read == 0 {
                return Err(without_head(&mut reader, received > 0));
            }
            received += read as u64;
            let fed = reader.feed_to(&buffer[..read], &mut |data| early.extend_from_slice(data));
            match fed {
                Err(violation) if !reader.has_head() => return Err(not_http(&violation)),
                fed => breach = fed.err(),
            }
        }
        let sent = asked.bytes().len() as u64;
        let (retry_ms, phase) = (None, Phase::Open);
        Ok(SseLink { socket, reader, decoder, early, breach, retry_ms, phase, sent, received })
    }

    /// Whether the answer ended as its framing says, and not in the middle.
    pub fn is_whole(&self) -> bool {
        self.reader.is_done()
    }

    /// As [`Link::poll_drive`], with all that is in the stream: ids and comments.
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        mut on: impl FnMut(Item<'_>),
    ) -> Poll<Ended> {
        let on = &mut on;
        let ended = match &self.phase {
            Phase::Ended(ended) => return Poll::Ready(ended.as_ref().clone()),
            // A client leaves a stream without a message: the connection's end is the only goodbye.
            Phase::Closing => Ended::by_us(),
            Phase::Open => match self.advance(cx, env, on) {
                Ok(()) => return Poll::Pending,
                Err(ended) => ended,
            },
        };
        self.phase = Phase::Ended(Box::new(ended.clone()));
        Poll::Ready(ended)
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut impl FnMut(Item<'_>),
    ) -> Result<(), Ended> {
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            decode(&mut self.decoder, &mut self.retry_ms, &early, on)?;
        }
        if let Some(violation) = &self.breach {
            return Err(not_http(violation).into());
        }
        let mut bytes = 0;
        for _ in 0..MAX_READS {
            if self.reader.is_done() {
                return Err(self.end_of_stream());
            }
            let read = match self.socket.poll_receive(cx, env.scratch) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(Failed::established(&error).into()),
                Poll::Ready(Ok(0)) => return Err(self.end_of_stream()),
                Poll::Ready(Ok(read)) => read,
            };
            self.received += read as u64;
            env.present.pass();
            let SseLink { reader, decoder, retry_ms, .. } = self;
            let mut decoded = Ok(());
            let fed = reader.feed_to(&env.scratch[..read], &mut |data| {
                if decoded.is_ok() {
                    decoded = decode(decoder, retry_ms, data, on);
                }
            });
            decoded?;
            fed.map_err(|violation| not_http(&violation))?;
            bytes += read;
            if bytes >= MAX_BYTES {
                break;
            }
        }
        give_way(cx);
        Ok(())
    }

    /// The end of the response, or of the connection, by the peer.
    fn end_of_stream(&mut self) -> Ended {
        let is_whole = self.reader.is_done() || matches!(self.reader.end(), Ok(Ok(())));
        // However orderly, it is a loss: nothing more will come, and an `EventSource` would connect again.
        let place = match (self.decoder.is_idle(), is_whole) {
            (false, _) => " within an event",
            (true, false) => " in the middle of its response",
            (true, true) => "",
        };
        Ended::failed(Failure::ClosedEarly, format!("the server ended the event stream{place}"))
    }
}

impl Link for SseLink {
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        self.poll_events(cx, env, |item| {
            if let Item::Event(event) = item {
                on(Incoming::Message { topic: &event.name, text: &event.text() });
            }
        })
    }

    /// Always false: steps never send on a stream.
    fn has_unsent(&self) -> bool {
        false
    }

    fn received(&self) -> Counter {
        Counter::SseReceived
    }

    fn has_cursor(&self) -> bool {
        true
    }

    /// The last event's id.
    fn cursor(&self) -> Option<&str> {
        let id = self.decoder.last_id();
        (!id.is_empty()).then_some(id)
    }

    fn retry(&self) -> Option<Duration> {
        self.retry_ms.map(Duration::from_millis)
    }

    fn take_bytes(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.sent), std::mem::take(&mut self.received))
    }

    fn begin_close(&mut self) {
        if matches!(self.phase, Phase::Open) {
            self.phase = Phase::Closing;
        }
    }
}

/// A decoder that continues after the event with this id.
fn behind(id: Option<&str>, max_event: usize) -> Decoder {
    let mut decoder = Decoder::new(max_event);
    if let Some(id) = id {
        // An invalid id (with a line's end in it) is refused as a header.
        let _ = decoder.feed(format!("id: {id}\n\n").as_bytes(), |_| {});
        decoder.restart();
    }
    decoder
}

fn written(request: &SseRequest, method: &str, body: Bytes) -> Result<Encoded<'static>, Failed> {
    let mut headers = request.headers.clone();
    let mut add = |name: &str, value: &str| {
        if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    };
    add("accept", sse::CONTENT_TYPE);
    add("cache-control", "no-cache");
    if let Some(id) = request.last_event_id.as_deref().filter(|id| !id.is_empty()) {
        add(sse::LAST_EVENT_ID, id);
    }
    let asked = Request {
        method: method.to_owned(),
        path: request.path.clone(),
        headers,
        body,
        ..Request::default()
    };
    Encoded::new(&asked, &request.origin, request.cookie.as_deref())
}

/// Hands over the events in a piece of the stream.
#[inline]
fn decode(
    decoder: &mut Decoder,
    retry_ms: &mut Option<u64>,
    bytes: &[u8],
    on: &mut impl FnMut(Item<'_>),
) -> Result<(), Ended> {
    let decoded = decoder.feed(bytes, |item| {
        if let Item::Retry(ms) = item {
            *retry_ms = Some(ms);
        }
        on(item);
    });
    decoded.map_err(|violation| Ended::failed(Failure::Protocol, format!("event stream: {violation}")))
}

fn check_type(headers: &Headers) -> Result<(), Failed> {
    let found = headers.get("content-type").map(String::from_utf8_lossy).unwrap_or_default();
    if sse::is_event_stream(&*found) {
        return Ok(());
    }
    let rule = format!("an event stream must have the content type {}", sse::CONTENT_TYPE);
    Err(Failed::protocol(match found.as_ref() {
        "" => format!("{rule}, got none"),
        found => format!("{rule}, got {found:?}"),
    }))
}

/// The failure for a refused stream, with the beginning of the body.
async fn refused(socket: &mut Socket, reader: &mut Reader, mut body: Vec<u8>) -> Failed {
    if body.is_empty() && !reader.is_done() {
        let more = what_is_there(socket).await;
        let _ = reader.feed_to(&more, &mut |data| body.extend_from_slice(data));
    }
    let status = reader.status;
    let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY)]).into_owned();
    let detail = match body.trim() {
        "" => format!("the event stream was answered with status {status}"),
        body => format!("the event stream was answered with status {status}: {body}"),
    };
    Failed::new(Failure::HandshakeRefused(status), detail)
}

fn without_head(reader: &mut Reader, has_begun: bool) -> Failed {
    if let Err(violation) = reader.end() {
        return not_http(&violation);
    }
    let when = if has_begun { "in the middle of its response" } else { "before its response" };
    Failed::new(Failure::ClosedEarly, format!("the peer closed the connection {when} to the event stream"))
}

fn not_http(violation: &Violation) -> Failed {
    Failed::protocol(format!("the answer is not HTTP: {violation}"))
}
