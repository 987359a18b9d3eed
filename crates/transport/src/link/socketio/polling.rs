//! Engine.IO over long polling, and its upgrade to WebSocket.
//!
//! At most one GET and one POST are under way: a second of either ends the session. The upgrade keeps the order of the
//! official client, because servers rely on it: probe, wait until the last GET and POST are answered, then `5`.
//!
//! | upgrade | messages travel | next |
//! |---|---|---|
//! | `No` | by polling | – |
//! | `Connecting` | by polling | `Probing`, or `No` when the WebSocket cannot be had |
//! | `Probing` | by polling | `Pausing` at `3probe`, or `No` |
//! | `Pausing` | out by polling until the last GET is answered, then queued | WebSocket when nothing is under way |

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::engineio::{self, Handshake, Version};
use sonagi_wire::websocket::{Event, Opcode};

use super::super::channel::Channel;
use super::super::drive::{Ended, Env, Incoming, give_way};
use super::super::handshake;
use super::session::{SocketioSession, engine, opening, protocol};
use super::{SocketioRequest, SocketioTransport, into_failed, send_binary};
use crate::http::{Client, Request, Response, Traffic};
use crate::net::{Failed, Net, push_query};

/// Rounds of one drive before other tasks get their turn.
const MAX_TURNS: usize = 64;

/// The largest POST body when the server gives no limit, in bytes: the reference server's default.
const DEFAULT_MAX_PAYLOAD: usize = 1_000_000;

/// Bytes of an error's body shown in the detail.
const SHOWN_BODY: usize = 200;

/// The content type of a body with binary messages of Engine.IO 3.
const OCTETS: &[u8] = b"application/octet-stream";

/// A request under way, with the client it came from.
type Flight = Pin<Box<dyn Future<Output = (Client, Result<Response, Failed>)>>>;

/// A WebSocket being opened beside the polling.
type PendingUpgrade = Pin<Box<dyn Future<Output = Result<Channel, Failed>>>>;

/// One direction of polling: an idle or a busy client.
enum Lane {
    Idle(Client),
    Busy(Flight),
    /// Its future was dropped half way: only after the end.
    Gone,
}

impl Lane {
    fn is_idle(&self) -> bool {
        matches!(self, Lane::Idle(_))
    }

    fn start(&mut self, polling: &Http, method: &str, path: String, body: Option<Bytes>) {
        let Lane::Idle(mut client) = std::mem::replace(self, Lane::Gone) else { return };
        let mut headers = polling.request.headers.clone();
        if body.is_some() {
            headers.push(("content-type".into(), "text/plain;charset=UTF-8".into()));
        }
        let origin = polling.request.origin.clone();
        let request = Request {
            method: method.into(),
            path,
            headers,
            body: body.unwrap_or_default(),
            ..Request::default()
        };
        *self = Lane::Busy(Box::pin(async move {
            let outcome = client.request(&origin, request).await;
            (client, outcome)
        }));
    }

    /// Ready with the response and the bytes on the wire for it, whatever the result.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(Result<Response, Failed>, Traffic)> {
        let Lane::Busy(flight) = self else { return Poll::Pending };
        match flight.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready((mut client, outcome)) => {
                let traffic = client.take_traffic();
                *self = Lane::Idle(client);
                Poll::Ready((outcome, traffic))
            }
        }
    }
}

/// The common parts of all requests.
struct Http {
    net: Rc<Net>,
    request: SocketioRequest,
    sid: String,
    /// Makes each request's `t` unique, against caches.
    stamp: u64,
}

impl Http {
    fn path(&mut self) -> String {
        let sid = (!self.sid.is_empty()).then_some(self.sid.as_str());
        let mut path = self.request.path("polling", sid);
        self.stamp = self.stamp.wrapping_add(1);
        push_query(&mut path, "t", &format!("{:x}", self.stamp));
        path
    }
}

/// A packet waiting for its POST, or for the WebSocket.
enum Outgoing {
    Text(String),
    Binary(Vec<u8>),
}

enum Upgrade {
    No,
    Connecting(PendingUpgrade),
    Probing(Box<Channel>),
    Pausing(Box<Channel>),
}

/// The result of a drive.
pub(super) enum Drive {
    Waiting,
    Upgraded(Box<Channel>),
}

pub(super) struct Polling {
    http: Http,
    get: Lane,
    post: Lane,
    queue: VecDeque<Outgoing>,
    max_payload: usize,
    upgrade: Upgrade,
    closing: bool,
    bytes: (u64, u64),
}

impl Polling {
    pub(super) async fn open(
        net: &Rc<Net>,
        request: SocketioRequest,
    ) -> Result<(Polling, SocketioSession), Failed> {
        // Nobody uses the instants of polls' heads.
        let client = || Client::new(net.clone(), None, Rc::new(At::default));
        let mut http = Http { net: net.clone(), request, sid: String::new(), stamp: fastrand::u64(..) };
        let mut get = client();
        let first = Request {
            method: "GET".into(),
            path: http.path(),
            headers: http.request.headers.clone(),
            ..Request::default()
        };
        let response = get.request(&http.request.origin, first).await?;
        let traffic = get.take_traffic();
        if response.status != 200 {
            let failure = Failure::HandshakeRefused(response.status);
            return Err(Failed::new(failure, refusal("engine.io handshake", &response)));
        }
        let revision = http.request.revision;
        let mut opened: Option<(Handshake, SocketioSession)> = None;
        let mut queue = VecDeque::new();
        let read = packets(engine(revision), &response, |packet| match &mut opened {
            Some((_, session)) => {
                queue.extend(session.keep_early(packet)?.as_ref().map(outgoing));
                Ok(())
            }
            None => {
                let open = opening(&packet)?;
                let session = SocketioSession::new(&open, revision);
                opened = Some((open, session));
                Ok(())
            }
        });
        read.map_err(into_failed)?;
        let (open, session) = opened.ok_or_else(|| into_failed(protocol(engineio::PacketError::Empty)))?;
        let upgrade = http.request.transport == SocketioTransport::Upgrade
            && open.upgrades.iter().any(|name| name == "websocket");
        http.sid = open.sid;
        let max_payload = match usize::try_from(open.max_payload) {
            Ok(0) | Err(_) => DEFAULT_MAX_PAYLOAD,
            Ok(limit) => limit,
        };
        let mut polling = Polling {
            http,
            get: Lane::Idle(get),
            post: Lane::Idle(client()),
            queue,
            max_payload,
            upgrade: Upgrade::No,
            closing: false,
            bytes: (traffic.sent, traffic.received),
        };
        if upgrade {
            polling.start_upgrade();
        }
        Ok((polling, session))
    }

    pub(super) fn send(&mut self, text: String, attachments: &[Vec<u8>]) {
        if self.closing {
            return;
        }
        self.queue.push_back(Outgoing::Text(text));
        self.queue.extend(attachments.iter().cloned().map(Outgoing::Binary));
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.queue.is_empty() || !self.post.is_idle()
    }

    pub(super) fn take_bytes(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.bytes)
    }

    pub(super) fn begin_close(&mut self) {
        if !self.closing {
            self.queue.push_back(Outgoing::Text("1".into()));
            self.closing = true;
            self.upgrade = Upgrade::No;
        }
    }

    /// Works until everything waits.
    pub(super) fn drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        session: &mut SocketioSession,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<Drive, Ended> {
        for _ in 0..MAX_TURNS {
            env.present.pass();
            let moved = match self.turn(cx, session, on) {
                // The server may end the session before it answers our own close.
                Err(_) if self.closing => return Err(Ended::by_us()),
                outcome => outcome?,
            };
            if self.closing && !self.has_unsent() {
                return Err(Ended::by_us());
            }
            let (changed, upgraded) = self.turn_upgrade(cx, env, session.version);
            if let Some(channel) = upgraded {
                return Ok(Drive::Upgraded(channel));
            }
            if !moved && !changed {
                return Ok(Drive::Waiting);
            }
        }
        give_way(cx);
        Ok(Drive::Waiting)
    }

    /// Starts what may start and takes what has ended; returns whether anything ended.
    fn turn(
        &mut self,
        cx: &mut Context<'_>,
        session: &mut SocketioSession,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<bool, Ended> {
        let mut moved = false;
        let pausing = matches!(self.upgrade, Upgrade::Pausing(_));
        if self.get.is_idle() && !self.closing && !pausing {
            let path = self.http.path();
            self.get.start(&self.http, "GET", path, None);
        }
        if let Poll::Ready(outcome) = self.get.poll(cx) {
            moved = true;
            let response = self.count("engine.io poll", outcome, on)?;
            packets(session.version, &response, |packet| {
                self.queue.extend(session.packet(packet, on)?.as_ref().map(outgoing));
                Ok(())
            })?;
        }
        let holding = pausing && self.get.is_idle();
        if self.post.is_idle() && !self.queue.is_empty() && !holding {
            let path = self.http.path();
            let body = self.next_body(session.version);
            self.post.start(&self.http, "POST", path, Some(body.into()));
        }
        if let Poll::Ready(outcome) = self.post.poll(cx) {
            moved = true;
            self.count("engine.io post", outcome, on)?;
        }
        Ok(moved)
    }

    /// Counts a request's traffic, and passes its response on.
    fn count(
        &mut self,
        what: &str,
        (outcome, traffic): (Result<Response, Failed>, Traffic),
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<Response, Ended> {
        self.bytes.0 += traffic.sent;
        self.bytes.1 += traffic.received;
        let response = outcome?;
        match response.status {
            200 => Ok(response),
            status => {
                on(Incoming::PollRefused { status });
                Err(Ended::failed(Failure::PollRefused(status), refusal(what, &response)))
            }
        }
    }

    /// The queued packets that fit one body of the server's limit, at least one.
    fn next_body(&mut self, version: Version) -> String {
        let (mut body, mut binary) = (String::new(), String::new());
        while let Some(next) = self.queue.front() {
            let packet = match next {
                Outgoing::Text(text) => text,
                Outgoing::Binary(bytes) => {
                    binary.clear();
                    version.encode(&engineio::Packet::Binary(bytes.into()), &mut binary);
                    &binary
                }
            };
            let begin = body.len();
            version.append(packet, &mut body);
            if begin > 0 && body.len() > self.max_payload {
                body.truncate(begin);
                break;
            }
            self.queue.pop_front();
        }
        body
    }

    fn start_upgrade(&mut self) {
        let request = self.http.request.websocket(Some(&self.http.sid));
        let net = self.http.net.clone();
        self.upgrade = Upgrade::Connecting(Box::pin(async move {
            handshake::connect(&net, &request).await.map(|(channel, _)| channel)
        }));
    }

    /// Advances the upgrade: returns whether anything changed, and the WebSocket when it has become the transport.
    fn turn_upgrade(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        version: Version,
    ) -> (bool, Option<Box<Channel>>) {
        match std::mem::replace(&mut self.upgrade, Upgrade::No) {
            Upgrade::No => (false, None),
            Upgrade::Connecting(mut opening) => match opening.as_mut().poll(cx) {
                Poll::Pending => {
                    self.upgrade = Upgrade::Connecting(opening);
                    (false, None)
                }
                Poll::Ready(Ok(mut channel)) => {
                    channel.send(Opcode::Text, b"2probe");
                    self.upgrade = Upgrade::Probing(Box::new(channel));
                    (true, None)
                }
                // An unavailable WebSocket is no failure: the session goes on by polling, as with the official client.
                Poll::Ready(Err(_)) => (true, None),
            },
            Upgrade::Probing(mut channel) => match self.probe(cx, env, &mut channel) {
                Probe::Waits => {
                    self.upgrade = Upgrade::Probing(channel);
                    (false, None)
                }
                Probe::Answered => {
                    self.upgrade = Upgrade::Pausing(channel);
                    (true, None)
                }
                Probe::Failed => (true, None),
            },
            Upgrade::Pausing(channel) if self.get.is_idle() && self.post.is_idle() => {
                (true, Some(self.change_over(version, channel)))
            }
            Upgrade::Pausing(mut channel) => match self.probe(cx, env, &mut channel) {
                Probe::Waits => {
                    self.upgrade = Upgrade::Pausing(channel);
                    (false, None)
                }
                Probe::Answered | Probe::Failed => (true, None),
            },
        }
    }

    fn probe(&mut self, cx: &mut Context<'_>, env: &mut Env<'_>, channel: &mut Channel) -> Probe {
        let mut answered = false;
        let driven = channel.poll_drive(cx, env, &mut |event, _| match event {
            Event::Text("3probe") => {
                answered = true;
                Ok(())
            }
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => Ok(()),
            Event::Text(_) | Event::Binary(_) => {
                Err(protocol("engine.io probe must be answered by 3probe, got something else"))
            }
        });
        match driven {
            Poll::Ready(_) => {
                let (sent, received) = channel.take_bytes();
                self.bytes = (self.bytes.0 + sent, self.bytes.1 + received);
                Probe::Failed
            }
            Poll::Pending if answered => Probe::Answered,
            Poll::Pending => Probe::Waits,
        }
    }

    /// Tells the server to upgrade, and sends the packets that waited for it.
    fn change_over(&mut self, version: Version, mut channel: Box<Channel>) -> Box<Channel> {
        channel.send(Opcode::Text, b"5");
        for packet in self.queue.drain(..) {
            match packet {
                Outgoing::Text(text) => channel.send(Opcode::Text, text.as_bytes()),
                Outgoing::Binary(bytes) => send_binary(version, &bytes, &mut channel),
            }
        }
        channel
    }
}

/// The state of a probe.
enum Probe {
    Waits,
    Answered,
    Failed,
}

fn outgoing(packet: &engineio::Packet<'_>) -> Outgoing {
    let mut text = String::new();
    engineio::encode(packet, &mut text);
    Outgoing::Text(text)
}

/// Hands over the packets of a polling body.
fn packets(
    version: Version,
    response: &Response,
    mut take: impl FnMut(engineio::Packet<'_>) -> Result<(), Ended>,
) -> Result<(), Ended> {
    if response.body_bytes > response.body.len() as u64 {
        return Err(protocol(format!("engine.io body must be at most {} bytes", response.body.len())));
    }
    let is_binary = version == Version::Three
        && response.headers.get("content-type").is_some_and(|kind| kind.starts_with(OCTETS));
    if is_binary {
        return engineio::binary_payload(&response.body)
            .try_for_each(|packet| take(packet.map_err(protocol)?));
    }
    let text = std::str::from_utf8(&response.body)
        .map_err(|_| protocol("engine.io body must be UTF-8, got other bytes"))?;
    version.payload(text).try_for_each(|packet| take(packet.map_err(protocol)?))
}

/// A server's reason for a refusal: the `message` of its JSON, or the body's beginning.
fn refusal(what: &str, response: &Response) -> String {
    let json = serde_json::from_slice::<serde_json::Value>(&response.body).unwrap_or_default();
    let start =
        || String::from_utf8_lossy(&response.body[..response.body.len().min(SHOWN_BODY)]).into_owned();
    let message = json["message"].as_str().map_or_else(start, str::to_owned);
    format!("{what} was answered with status {}: {}", response.status, message.trim())
}
