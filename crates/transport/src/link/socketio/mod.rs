//! A Socket.IO session (protocol 5 over Engine.IO 4, or 4 over 3) over WebSocket, over polling, or moving from polling
//! to WebSocket.
//!
//! Namespaces, acknowledgements and their time limits are the caller's: a link knows nothing it does not need to move
//! packets. Reconnection is the caller's too.
//!
//! | transport | frames go | ends when |
//! |---|---|---|
//! | polling | one GET waits, one POST carries what is queued | a request fails, the server closes, we close |
//! | polling, upgrading | as before, while a WebSocket is opened and probed | as before; polling if the probe fails |
//! | WebSocket | in frames | the WebSocket ends |

mod polling;
mod recovery;
mod session;

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_measure::recorder::Counter;
use sonagi_wire::engineio::{self, Version};
use sonagi_wire::socketio::{self, Kind, Packet};
use sonagi_wire::websocket::{Event, Opcode};

use super::channel::{Channel, Outbox};
use super::drive::{Ended, Env, Incoming, Link, Present};
use super::handshake::{self, ConnectRequest};
use crate::net::{Failed, Net, Origin, push_query, wire_path};
pub use recovery::Recovery;

use polling::{Drive, Polling};
use session::{SocketioSession, engine, opening, protocol};

/// A Socket.IO server's protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketioRevision {
    /// Socket.IO 1 and 2: Engine.IO 3, Socket.IO protocol 4.
    V4,
    /// Socket.IO 3 and 4: Engine.IO 4, Socket.IO protocol 5.
    #[default]
    V5,
}

/// The transport of a Socket.IO session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketioTransport {
    /// WebSocket from the start.
    Websocket,
    /// Long polling only.
    Polling,
    /// Long polling, then upgraded to WebSocket (the official clients' default).
    Upgrade,
}

/// The request that opens a Socket.IO session.
#[derive(Clone, Debug)]
pub struct SocketioRequest {
    /// The target.
    pub origin: Origin,
    /// The server's path, usually `/socket.io/`; percent-encoded where it must be.
    pub path: String,
    /// Added to every request's query.
    pub query: Vec<(String, String)>,
    /// Added to every request.
    pub headers: Vec<(String, String)>,
    /// The session's transport.
    pub transport: SocketioTransport,
    /// The server's protocol.
    pub revision: SocketioRevision,
    /// Largest message accepted, in bytes.
    pub max_message: usize,
}

impl SocketioRequest {
    /// The path for one transport; `sid` once there is a session.
    fn path(&self, transport: &str, sid: Option<&str>) -> String {
        let mut path = wire_path(&self.path);
        for (name, value) in &self.query {
            push_query(&mut path, name, value);
        }
        push_query(&mut path, "EIO", &engine(self.revision).number().to_string());
        push_query(&mut path, "transport", transport);
        if let Some(sid) = sid {
            push_query(&mut path, "sid", sid);
        }
        path
    }

    fn websocket(&self, sid: Option<&str>) -> ConnectRequest {
        ConnectRequest {
            origin: self.origin.clone(),
            path: self.path("websocket", sid),
            headers: self.headers.clone(),
            subprotocols: Vec::new(),
            max_message: self.max_message,
        }
    }
}

/// A Socket.IO session.
pub struct SocketioLink {
    session: SocketioSession,
    revision: SocketioRevision,
    /// The query that a CONNECT of protocol 4 repeats beside its namespace; encoded.
    query: String,
    transport: Transport,
    /// Bytes of the transport that was left, sent and received.
    bytes: (u64, u64),
}

enum Transport {
    Websocket(Channel),
    Polling(Box<Polling>),
    Ended(Box<Ended>),
}

impl SocketioLink {
    /// Opens the Engine.IO session; namespaces are joined by [`SocketioLink::connect`]. With
    /// [`SocketioTransport::Upgrade`] the session is ready over polling, and moves to WebSocket while it is driven when
    /// the server offers that. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Net::dial`]; `HandshakeRefused` for a status other than 101 (WebSocket) or 200 (polling), with
    /// the server's message; `Protocol`, `ClosedEarly`, `Reset`; `Template` for a request that cannot be sent.
    pub async fn open(net: &Rc<Net>, request: SocketioRequest) -> Result<SocketioLink, Failed> {
        let revision = request.revision;
        let query = if revision == SocketioRevision::V4 { encoded(&request.query) } else { String::new() };
        let (transport, session) = if request.transport == SocketioTransport::Websocket {
            let (mut channel, _) = handshake::connect(net, &request.websocket(None)).await?;
            let session = open_websocket(&mut channel, revision).await?;
            (Transport::Websocket(channel), session)
        } else {
            let (polling, session) = Polling::open(net, request).await?;
            (Transport::Polling(Box::new(polling)), session)
        };
        Ok(SocketioLink { session, revision, query, transport, bytes: (0, 0) })
    }

    /// Asks for a namespace; `Connected` or `Refused` answers. `auth_json` is an object. Protocol 4 has no such object:
    /// its CONNECT repeats the session's query, and its servers grant `/` unasked.
    pub fn connect(&mut self, namespace: &str, auth_json: Option<&str>) {
        match (self.revision, namespace) {
            (SocketioRevision::V5, _) => {
                self.send(&Packet::connect(namespace, auth_json.unwrap_or_default()), &[]);
            }
            (SocketioRevision::V4, "" | "/") => {}
            (SocketioRevision::V4, _) if self.query.is_empty() => {
                self.send(&Packet::connect(namespace, ""), &[]);
            }
            (SocketioRevision::V4, _) => {
                self.send(&Packet::connect_with_query(namespace, &self.query), &[]);
            }
        }
    }

    /// Asks for a namespace of a session that was lost; `Connected` or `Refused` answers, after what was missed if the
    /// server knows the session ([`Recovery::is_recovered`]).
    pub fn recover(&mut self, mut recovery: Recovery, auth_json: Option<&str>) {
        let auth = recovery.auth(auth_json);
        self.connect(&recovery.namespace, Some(&auth));
        recovery.is_recovered = false;
        self.session.recoveries.push(recovery);
    }

    /// The sessions that another link may recover; empty when the server does not offer recovery.
    pub fn recoveries(&self) -> &[Recovery] {
        &self.session.recoveries
    }

    /// Sends an event. `array_json` is the JSON array of name and arguments, with `{"_placeholder":true,"num":i}` where
    /// attachment i belongs. With an id the server is asked to acknowledge.
    pub fn emit(&mut self, namespace: &str, ack: Option<u64>, array_json: &str, attachments: &[Vec<u8>]) {
        let (namespace, data) = (namespace.into(), array_json.into());
        let packet = Packet { kind: Kind::Event, namespace, ack, attachments: 0, data };
        self.send(&packet.with_attachments(attachments.len()), attachments);
    }

    /// Whether frames travel by WebSocket now.
    pub fn is_websocket(&self) -> bool {
        matches!(self.transport, Transport::Websocket(_))
    }

    fn send(&mut self, packet: &Packet<'_>, attachments: &[Vec<u8>]) {
        let mut text = String::with_capacity(packet.data.len() + packet.namespace.len() + 24);
        text.push('4');
        socketio::encode(packet, &mut text);
        match &mut self.transport {
            Transport::Websocket(channel) => {
                channel.send(Opcode::Text, text.as_bytes());
                for attachment in attachments {
                    send_binary(self.session.version, attachment, channel);
                }
            }
            Transport::Polling(polling) => polling.send(text, attachments),
            Transport::Ended(_) => {}
        }
    }

    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<(), Ended> {
        for packet in self.session.take_early() {
            if let Some(answer) = self.session.packet(packet, on)? {
                self.send_packet(&answer);
            }
        }
        if let Some(ping) = self.session.ping(|| env.present.now()) {
            self.send_packet(&ping);
        }
        if let Transport::Polling(polling) = &mut self.transport
            && let Drive::Upgraded(channel) = polling.drive(cx, env, &mut self.session, on)?
        {
            let (sent, received) = polling.take_bytes();
            self.bytes = (self.bytes.0 + sent, self.bytes.1 + received);
            self.transport = Transport::Websocket(*channel);
        }
        match &mut self.transport {
            Transport::Ended(ended) => return Err(ended.as_ref().clone()),
            Transport::Polling(_) => {}
            Transport::Websocket(channel) => {
                let session = &mut self.session;
                let driven =
                    channel.poll_drive(cx, env, &mut |event, outbox| receive(session, event, outbox, on));
                if let Poll::Ready(ended) = driven {
                    return Err(ended);
                }
            }
        }
        self.session.settle(env.present.now())
    }

    /// Sends a packet of Engine.IO itself.
    fn send_packet(&mut self, packet: &engineio::Packet<'_>) {
        let mut text = String::new();
        engineio::encode(packet, &mut text);
        match &mut self.transport {
            // A peer that reads nothing is pinged no more: its queue is bounded already.
            Transport::Websocket(channel) => channel.outbox.answer(Opcode::Text, text.as_bytes()),
            Transport::Polling(polling) => polling.send(text, &[]),
            Transport::Ended(_) => {}
        }
    }
}

impl Link for SocketioLink {
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        let Err(ended) = self.advance(cx, env, on) else { return Poll::Pending };
        let (sent, received) = self.take_bytes();
        self.bytes = (sent, received);
        self.transport = Transport::Ended(Box::new(ended.clone()));
        Poll::Ready(ended)
    }

    fn has_unsent(&self) -> bool {
        match &self.transport {
            Transport::Websocket(channel) => !channel.outbox.is_empty(),
            Transport::Polling(polling) => polling.has_unsent(),
            Transport::Ended(_) => false,
        }
    }

    fn received(&self) -> Counter {
        Counter::SocketioReceived
    }

    fn expires(&self) -> Option<At> {
        self.session.expires()
    }

    fn take_bytes(&mut self) -> (u64, u64) {
        let (sent, received) = match &mut self.transport {
            Transport::Websocket(channel) => channel.take_bytes(),
            Transport::Polling(polling) => polling.take_bytes(),
            Transport::Ended(_) => (0, 0),
        };
        let before = std::mem::take(&mut self.bytes);
        (before.0 + sent, before.1 + received)
    }

    fn begin_close(&mut self) {
        match &mut self.transport {
            Transport::Websocket(channel) => channel.begin_close(),
            Transport::Polling(polling) => polling.begin_close(),
            Transport::Ended(_) => {}
        }
    }
}

/// Hands one WebSocket message to the session and its answer to the outbox.
fn receive(
    session: &mut SocketioSession,
    event: Event<'_>,
    outbox: &mut Outbox,
    on: &mut dyn FnMut(Incoming<'_>),
) -> Result<(), Ended> {
    if let Some(packet) = decode(session.version, event)? {
        answer(session.packet(packet, on)?, outbox);
    }
    Ok(())
}

fn answer(packet: Option<engineio::Packet<'_>>, outbox: &mut Outbox) {
    let Some(packet) = packet else { return };
    let mut text = String::new();
    engineio::encode(&packet, &mut text);
    outbox.answer(Opcode::Text, text.as_bytes());
}

/// The packet in a message; None: it is none.
fn decode(version: Version, event: Event<'_>) -> Result<Option<engineio::Packet<'_>>, Ended> {
    let packet = match event {
        Event::Text(text) => version.decode(text),
        Event::Binary(bytes) => version.decode_binary(bytes),
        Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => return Ok(None),
    };
    packet.map(Some).map_err(protocol)
}

fn send_binary(version: Version, message: &[u8], channel: &mut Channel) {
    if version == Version::Four {
        return channel.send(Opcode::Binary, message);
    }
    let mut frame = Vec::new();
    version.encode_binary(message, &mut frame);
    channel.send(Opcode::Binary, &frame);
}

/// Waits for the open packet. The packets after it in the same read come from a server that grants `/` unasked; of
/// other servers they may only be heartbeats.
async fn open_websocket(
    channel: &mut Channel,
    revision: SocketioRevision,
) -> Result<SocketioSession, Failed> {
    let mut scratch = vec![0; 4096];
    // No timestamps here.
    let present = Present::new(&|| At(0));
    let mut session: Option<SocketioSession> = None;
    poll_fn(|cx| {
        let mut env = Env { present: &present, scratch: &mut scratch };
        let driven = channel.poll_drive(cx, &mut env, &mut |event, outbox| {
            let Some(packet) = decode(engine(revision), event)? else { return Ok(()) };
            match &mut session {
                Some(session) => answer(session.keep_early(packet)?, outbox),
                None => session = Some(SocketioSession::new(&opening(&packet)?, revision)),
            }
            Ok(())
        });
        match driven {
            Poll::Ready(ended) => Poll::Ready(Err(into_failed(ended))),
            Poll::Pending if session.is_some() => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        }
    })
    .await?;
    session.ok_or_else(|| Failed::protocol("engine.io session must begin with an open packet, got none"))
}

/// A query without its question mark.
fn encoded(query: &[(String, String)]) -> String {
    let mut encoded = String::new();
    for (name, value) in query {
        push_query(&mut encoded, name, value);
    }
    encoded.split_off(1.min(encoded.len()))
}

/// Turns an end while opening into the failure to open.
fn into_failed(ended: Ended) -> Failed {
    Failed::new(ended.failure.unwrap_or(Failure::ClosedEarly), ended.detail)
}
