//! A Socket.IO session, whatever carries it: Engine.IO packets in, messages and answers out.
//!
//! | | protocol 5 over Engine.IO 4 | protocol 4 over Engine.IO 3 |
//! |---|---|---|
//! | who pings | the server; its pings are answered | we, every `pingInterval` |
//! | the namespace `/` | is asked for | is granted unasked, perhaps along with the handshake and the first events |

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::engineio::{self, Handshake, Version};
use sonagi_wire::socketio::{Assembler, Kind, Packet, Revision};

use super::super::drive::{Ended, Incoming};
use super::SocketioRevision;
use super::recovery::{self, Recovery};

/// A session, from its handshake on.
pub(super) struct SocketioSession {
    pub(super) version: Version,
    revision: Revision,
    assembler: Assembler,
    /// Messages that came while the session was opened, before the first drive: at most those of one read.
    early: Vec<engineio::Packet<'static>>,
    /// The namespaces that may be recovered once the session is lost.
    pub(super) recoveries: Vec<Recovery>,
    /// Nanoseconds of silence after which the server counts as dead.
    patience: i64,
    /// None until the first drive: there is no clock before it.
    heard: Option<At>,
    /// Whether anything arrived in this drive.
    hears: bool,
    /// Our heartbeat, if the client pings.
    pings: Option<Pings>,
}

/// The client's heartbeat.
struct Pings {
    interval: i64,
    last: Option<At>,
}

impl SocketioSession {
    pub(super) fn new(handshake: &Handshake, revision: SocketioRevision) -> SocketioSession {
        let patience_ms = handshake.ping_interval.saturating_add(handshake.ping_timeout);
        let version = engine(revision);
        let revision = match revision {
            SocketioRevision::V4 => Revision::Four,
            SocketioRevision::V5 => Revision::Five,
        };
        // With an interval of 0 we would ping without end.
        let interval = nanoseconds(handshake.ping_interval.max(1));
        SocketioSession {
            version,
            revision,
            assembler: Assembler::new(revision),
            early: Vec::new(),
            recoveries: Vec::new(),
            patience: nanoseconds(patience_ms),
            heard: None,
            hears: false,
            pings: version.client_pings().then_some(Pings { interval, last: None }),
        }
    }

    /// The latest instant at which the session must be driven: to ping, or to end because of the server's silence.
    pub(super) fn expires(&self) -> Option<At> {
        let ping = self.pings.as_ref().and_then(Pings::due);
        [self.dies(), ping].into_iter().flatten().min()
    }

    fn dies(&self) -> Option<At> {
        self.heard.map(|heard| heard.plus(self.patience))
    }

    /// Our ping when one is due.
    pub(super) fn ping(&mut self, now: impl FnOnce() -> At) -> Option<engineio::Packet<'static>> {
        let pings = self.pings.as_mut()?;
        let now = now();
        let is_due = pings.due().is_some_and(|due| now >= due);
        if is_due || pings.last.is_none() {
            pings.last = Some(now);
        }
        is_due.then_some(engineio::Packet::Ping("".into()))
    }

    /// Takes a packet that came along with the handshake: the first drive delivers a message. It is a violation from
    /// servers that grant nothing unasked.
    pub(super) fn keep_early<'a>(
        &mut self,
        packet: engineio::Packet<'a>,
    ) -> Result<Option<engineio::Packet<'a>>, Ended> {
        match packet {
            engineio::Packet::Text(_) | engineio::Packet::Binary(_)
                if !self.revision.grants_main_unasked() =>
            {
                Err(protocol("socket.io packets must follow the client's CONNECT, got one before it"))
            }
            engineio::Packet::Text(text) => {
                self.early.push(engineio::Packet::Text(text.into_owned().into()));
                Ok(None)
            }
            engineio::Packet::Binary(bytes) => {
                self.early.push(engineio::Packet::Binary(bytes.into_owned().into()));
                Ok(None)
            }
            packet => self.packet(packet, &mut |_| {}),
        }
    }

    /// The messages that came along with the handshake.
    pub(super) fn take_early(&mut self) -> Vec<engineio::Packet<'static>> {
        std::mem::take(&mut self.early)
    }

    /// Settles the heartbeat at the end of a drive.
    pub(super) fn settle(&mut self, now: At) -> Result<(), Ended> {
        if std::mem::take(&mut self.hears) || self.heard.is_none() {
            self.heard = Some(now);
        }
        if self.dies().is_some_and(|dies| now >= dies) {
            let limit = self.patience / 1_000_000;
            return Err(Ended::failed(
                Failure::Timeout,
                format!("no heartbeat from the server for {limit} ms"),
            ));
        }
        Ok(())
    }

    /// Takes one packet; a ping returns its answer.
    pub(super) fn packet<'a>(
        &mut self,
        packet: engineio::Packet<'a>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<Option<engineio::Packet<'a>>, Ended> {
        self.hears = true;
        match packet {
            engineio::Packet::Text(text) => {
                if let Some(packet) = self.assembler.text(&text).map_err(protocol)? {
                    recovery::note(&mut self.recoveries, &packet);
                    deliver(&packet, &[], on);
                }
            }
            engineio::Packet::Binary(bytes) => {
                if let Some(whole) = self.assembler.attachment(&bytes).map_err(protocol)? {
                    recovery::note(&mut self.recoveries, &whole.packet);
                    deliver(&whole.packet, &whole.attachments, on);
                }
            }
            engineio::Packet::Ping(data) => return Ok(Some(engineio::Packet::Pong(data))),
            // A server has no reason to send a pong, but it is harmless.
            engineio::Packet::Pong(_) | engineio::Packet::Noop => {}
            engineio::Packet::Close => {
                return Err(Ended::failed(Failure::Closed(1005), "the server closed the Engine.IO session"));
            }
            engineio::Packet::Open(_) => {
                return Err(protocol("engine.io session must be opened once, got it again"));
            }
            engineio::Packet::Upgrade => {
                return Err(protocol("engine.io upgrade must come from the client, got one from the server"));
            }
        }
        Ok(None)
    }
}

impl Pings {
    fn due(&self) -> Option<At> {
        self.last.map(|last| last.plus(self.interval))
    }
}

/// The version of Engine.IO below a version of Socket.IO.
pub(super) fn engine(revision: SocketioRevision) -> Version {
    match revision {
        SocketioRevision::V4 => Version::Three,
        SocketioRevision::V5 => Version::Four,
    }
}

fn nanoseconds(ms: u64) -> i64 {
    i64::try_from(ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX)
}

/// The end for a violation of Engine.IO or Socket.IO.
pub(super) fn protocol(what: impl ToString) -> Ended {
    Ended::failed(Failure::Protocol, what.to_string())
}

/// Reads the packet that must open a session.
pub(super) fn opening(packet: &engineio::Packet<'_>) -> Result<Handshake, Ended> {
    match packet {
        engineio::Packet::Open(json) => Handshake::from_json(json).map_err(protocol),
        _ => Err(protocol("engine.io session must begin with an open packet, got another")),
    }
}

fn deliver(packet: &Packet<'_>, attachments: &[Vec<u8>], on: &mut dyn FnMut(Incoming<'_>)) {
    // Protocol 4 may repeat the query of the namespace's CONNECT.
    let (namespace, data) = (packet.namespace_and_query().0, packet.data.as_ref());
    on(match packet.kind {
        Kind::Connect => Incoming::Connected { namespace },
        Kind::ConnectError => Incoming::Refused { namespace, data },
        Kind::Disconnect => Incoming::Disconnected { namespace },
        Kind::Event | Kind::BinaryEvent => Incoming::Event { namespace, data, attachments, ack: packet.ack },
        Kind::Ack | Kind::BinaryAck => match packet.ack {
            Some(id) => Incoming::Ack { namespace, id, data, attachments },
            // The decoder refuses an acknowledgement without an id.
            None => return,
        },
    });
}
