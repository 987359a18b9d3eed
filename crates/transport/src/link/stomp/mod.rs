//! A STOMP session over a WebSocket, plain or wrapped by SockJS.
//!
//! Destinations, receipts and their time limits are the caller's: a link numbers subscriptions, keeps heart-beats and
//! acknowledges messages. Reconnection is the caller's too.
//!
//! | phase | we may | the peer's ERROR | the end of the connection |
//! |---|---|---|---|
//! | opening | only wait | `BrokerError` fails the opening | as when open, and fails the opening |
//! | open | subscribe, send | `BrokerError` | `Closed(code)`; inside a frame `ClosedEarly` |
//! | leaving: DISCONNECT is said | wait for its receipt, but not long | `BrokerError` | ended by us |
//!
//! SockJS is supported by its `websocket` transport alone, without the request for `/info` before it: only browsers
//! need to find out whether a server has WebSockets.

mod session;

use std::future::poll_fn;
use std::task::{Context, Poll};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;
use sonagi_wire::stomp::{Command, HeartBeat, Unwritable, Version, Versions, Writer};

use super::channel::Channel;
use super::drive::{Ended, Env, Incoming, Link, Present};
use super::handshake::{self, ConnectRequest};
use crate::net::{Failed, Net};
use session::{GOODBYE, StompSession};

/// A version of STOMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StompVersion {
    /// 1.0
    V1_0,
    /// 1.1
    V1_1,
    /// 1.2
    V1_2,
}

/// How received messages are acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StompAck {
    /// Not at all.
    #[default]
    Auto,
    /// Each message, which acknowledges those before it, too.
    Client,
    /// Each message alone.
    Individual,
}

/// The request that opens a STOMP session.
#[derive(Clone, Debug)]
pub struct StompRequest {
    /// The WebSocket below it. Its subprotocols are offered beside STOMP's own. With SockJS its path is the endpoint's
    /// prefix.
    pub websocket: ConnectRequest,
    /// The CONNECT frame's headers; `host` replaces ours, and a header without a value is not sent.
    pub headers: Vec<(String, String)>,
    /// The offered versions; all when empty.
    pub versions: Vec<StompVersion>,
    /// The intervals at which we can send and want to receive heart-beats, in milliseconds; 0 is never.
    pub heart_beat: (u32, u32),
    /// Whether SockJS wraps the WebSocket's messages.
    pub sockjs: bool,
}

impl StompRequest {
    fn versions(&self) -> Versions {
        let versions = self.versions.iter().map(|version| match version {
            StompVersion::V1_0 => Version::V1_0,
            StompVersion::V1_1 => Version::V1_1,
            StompVersion::V1_2 => Version::V1_2,
        });
        versions.map(Versions::only).reduce(union).unwrap_or(Versions::ALL)
    }

    fn heart_beat(&self) -> HeartBeat {
        HeartBeat { can: self.heart_beat.0, wants: self.heart_beat.1 }
    }

    fn connect_frame(&self) -> Result<Vec<u8>, Failed> {
        let mut frame = Vec::with_capacity(128);
        let accepted = self.versions().to_header();
        // Nothing is escaped in this frame, whatever the version.
        let mut writer =
            Writer::new(Command::Connect, Version::V1_0, &mut frame).header("accept-version", &accepted);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            writer = writer.header("host", &self.websocket.origin.host);
        }
        if self.heart_beat != (0, 0) {
            writer = writer.header("heart-beat", &self.heart_beat().to_header());
        }
        for (name, value) in self.headers.iter().filter(|(_, value)| !value.is_empty()) {
            writer = writer.header(name, value);
        }
        writer.end().map_err(unwritable)?;
        Ok(frame)
    }

    /// The WebSocket's own handshake.
    fn upgrade(&self) -> ConnectRequest {
        let mut request = self.websocket.clone();
        if self.sockjs {
            request.path = sockjs_path(&request.path);
            return request;
        }
        let versions = self.versions();
        let newest_first = Version::ALL.into_iter().rev().filter(|version| versions.has(*version));
        let own = newest_first.map(|version| version.subprotocol().to_owned());
        request.subprotocols = own.chain(request.subprotocols).collect();
        request
    }
}

fn union(one: Versions, other: Versions) -> Versions {
    Version::ALL.into_iter().filter(|version| other.has(*version)).fold(one, Versions::and)
}

/// `<prefix>/<server>/<session>/websocket`, with random names as in SockJS's own client.
fn sockjs_path(prefix: &str) -> String {
    let (path, query) = prefix.split_once('?').map_or((prefix, None), |(path, query)| (path, Some(query)));
    let session: String = (0..8).map(|_| fastrand::char('a'..='z')).collect();
    let mut whole =
        format!("{}/{:03}/{session}/websocket", path.trim_end_matches('/'), fastrand::u16(..1000));
    if let Some(query) = query {
        whole.push('?');
        whole.push_str(query);
    }
    whole
}

/// A message's body.
#[derive(Clone, Copy, Debug)]
pub enum StompBody<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message; SockJS has none.
    Binary(&'a [u8]),
}

/// A STOMP session.
pub struct StompLink {
    channel: Channel,
    session: StompSession,
}

impl StompLink {
    /// Connects, upgrades and waits for CONNECTED. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Net::dial`]; `HandshakeRefused` with the status of an answer that does not upgrade,
    /// `BrokerError` with the ERROR frame's message, `Protocol`, `Closed`, `ClosedEarly`, `Reset`, and `Template` for
    /// headers that cannot be sent.
    pub async fn connect(net: &Net, request: &StompRequest) -> Result<StompLink, Failed> {
        let connect = request.connect_frame()?;
        let max_body = request.websocket.max_message;
        let mut session =
            StompSession::new(request.versions(), request.heart_beat(), request.sockjs, max_body);
        let (mut channel, _) = handshake::connect(net, &request.upgrade()).await?;
        if !request.sockjs {
            session.say(&connect, true, &mut channel.outbox);
        }
        let mut scratch = vec![0; 4096];
        // No timestamps here.
        let present = Present::new(&|| At(0));
        poll_fn(|cx| {
            let mut env = Env { present: &present, scratch: &mut scratch };
            let driven =
                channel.poll_drive(cx, &mut env, &mut |event, outbox| session.open(event, &connect, outbox));
            match driven {
                Poll::Ready(ended) => {
                    let ended = session.ended(ended);
                    Poll::Ready(Err(Failed::new(ended.failure.unwrap_or(Failure::ClosedEarly), ended.detail)))
                }
                Poll::Pending if session.is_open() => Poll::Ready(Ok(())),
                Poll::Pending => Poll::Pending,
            }
        })
        .await?;
        Ok(StompLink { channel, session })
    }

    /// The agreed version.
    pub fn version(&self) -> StompVersion {
        match self.session.version() {
            Version::V1_0 => StompVersion::V1_0,
            Version::V1_1 => StompVersion::V1_1,
            Version::V1_2 => StompVersion::V1_2,
        }
    }

    /// Queues a SUBSCRIBE; the next drive writes it. With a receipt the server is asked to confirm it. `headers` follow
    /// our own, which win. Ignored once closing began.
    ///
    /// # Errors
    /// `Template` for a header that cannot be sent, and for an acknowledgement mode that the version lacks.
    pub fn subscribe(
        &mut self,
        destination: &str,
        headers: &[(String, String)],
        ack: StompAck,
        receipt: Option<u64>,
    ) -> Result<(), Failed> {
        let version = self.session.version();
        let mode = match ack {
            StompAck::Auto => None,
            StompAck::Client => Some("client"),
            StompAck::Individual if version == Version::V1_0 => {
                let rule = "acknowledging each message alone needs STOMP 1.1";
                return Err(Failed::new(Failure::Template, format!("{rule}, the session is 1.0")));
            }
            StompAck::Individual => Some("client-individual"),
        };
        let mut frame = Vec::with_capacity(128);
        let id = self.session.next_subscription();
        let writer = Writer::new(Command::Subscribe, version, &mut frame)
            .header("id", &id)
            .header("destination", destination)
            .optional("ack", mode);
        with(writer, headers, receipt).end().map_err(unwritable)?;
        self.session.subscribed(ack);
        self.queue(&frame, true);
        Ok(())
    }

    /// Queues a SEND; the next drive writes it. With a receipt the server is asked to confirm it. `headers` follow our
    /// own, which win. Ignored once closing began.
    ///
    /// # Errors
    /// `Template` for a header, or a body, that cannot be sent.
    pub fn send(
        &mut self,
        destination: &str,
        headers: &[(String, String)],
        body: StompBody<'_>,
        receipt: Option<u64>,
    ) -> Result<(), Failed> {
        let (bytes, is_text) = match body {
            StompBody::Text(text) => (text.as_bytes(), true),
            StompBody::Binary(bytes) => (bytes, false),
        };
        if !is_text && self.session.is_wrapped() {
            return Err(Failed::new(Failure::Template, "SockJS carries text only, got a binary body"));
        }
        let mut frame = Vec::with_capacity(bytes.len() + 160);
        let writer =
            Writer::new(Command::Send, self.session.version(), &mut frame).header("destination", destination);
        with(writer, headers, receipt).body(bytes).map_err(unwritable)?;
        self.queue(&frame, is_text);
        Ok(())
    }

    fn queue(&mut self, frame: &[u8], is_text: bool) {
        if !self.session.is_leaving() && self.channel.is_open() {
            self.session.say(frame, is_text, &mut self.channel.outbox);
        }
    }
}

impl Link for StompLink {
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        let StompLink { channel, session } = self;
        if session.keeps_time() {
            session.begin_drive(env.present.now(), &mut channel.outbox);
            if session.has_left() {
                channel.begin_close();
            }
        }
        let mut driven = channel.poll_drive(cx, env, &mut |event, outbox| session.receive(event, outbox, on));
        if driven.is_pending() && session.has_left() && channel.is_open() {
            // The receipt of our DISCONNECT has come: the goodbye below it need not wait for another turn.
            channel.begin_close();
            driven = channel.poll_drive(cx, env, &mut |event, outbox| session.receive(event, outbox, on));
        }
        match driven {
            Poll::Ready(ended) => Poll::Ready(session.ended(ended)),
            Poll::Pending if session.keeps_time() => match session.end_drive(env.present.now()) {
                Ok(()) => Poll::Pending,
                Err(ended) => Poll::Ready(channel.give_up(ended)),
            },
            Poll::Pending => Poll::Pending,
        }
    }

    fn has_unsent(&self) -> bool {
        !self.channel.outbox.is_empty()
    }

    fn received(&self) -> Counter {
        Counter::StompReceived
    }

    fn expires(&self) -> Option<At> {
        self.session.expires()
    }

    fn take_bytes(&mut self) -> (u64, u64) {
        self.channel.take_bytes()
    }

    /// Queues DISCONNECT; after its receipt the WebSocket's own goodbye follows.
    fn begin_close(&mut self) {
        if self.session.is_leaving() || !self.channel.is_open() {
            return;
        }
        let mut frame = Vec::new();
        let written = Writer::new(Command::Disconnect, self.session.version(), &mut frame)
            .header("receipt", GOODBYE)
            .end();
        if written.is_ok() {
            self.session.say(&frame, true, &mut self.channel.outbox);
        }
        self.session.leave();
    }
}

/// Adds a receipt, and the headers of a script that have a value.
fn with<'o>(writer: Writer<'o>, headers: &[(String, String)], receipt: Option<u64>) -> Writer<'o> {
    let receipt = receipt.map(|id| id.to_string());
    let writer = writer.optional("receipt", receipt.as_deref());
    headers
        .iter()
        .filter(|(name, value)| !value.is_empty() && name != "content-length")
        .fold(writer, |writer, (name, value)| writer.header(name, value))
}

fn unwritable(unwritable: Unwritable) -> Failed {
    Failed::new(Failure::Template, unwritable.to_string())
}

/// The end for a violation of STOMP or SockJS.
fn protocol(what: impl ToString) -> Ended {
    Ended::failed(Failure::Protocol, what.to_string())
}
