//! What a Socket.IO session means, whatever carries it: Engine.IO packets in, messages and answers out.

use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_wire::engineio::{self, Handshake};
use sonagi_wire::socketio::{Assembler, Kind, Packet};

use super::super::{Ended, Incoming};

/// One session, from its handshake on.
pub(super) struct Session {
    assembler: Assembler,
    /// Nanoseconds of silence after which the server counts as dead.
    patience: i64,
    /// None until the first drive: there is no clock before it.
    heard: Option<At>,
    /// Something arrived in this drive.
    hears: bool,
}

impl Session {
    pub(super) fn new(handshake: &Handshake) -> Session {
        let patience_ms = handshake.ping_interval.saturating_add(handshake.ping_timeout);
        Session {
            assembler: Assembler::default(),
            patience: i64::try_from(patience_ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX),
            heard: None,
            hears: false,
        }
    }

    pub(super) fn expires(&self) -> Option<At> {
        self.heard.map(|heard| heard.plus(self.patience))
    }

    /// Settles the heartbeat at the end of a drive.
    pub(super) fn settle(&mut self, now: At) -> Result<(), Ended> {
        if std::mem::take(&mut self.hears) || self.heard.is_none() {
            self.heard = Some(now);
        }
        if self.expires().is_some_and(|expires| now >= expires) {
            let limit = self.patience / 1_000_000;
            return Err(Ended::failed(
                Failure::Timeout,
                format!("no heartbeat from the server for {limit} ms"),
            ));
        }
        Ok(())
    }

    /// Takes one packet; a ping gives its answer back.
    pub(super) fn packet<'a>(
        &mut self,
        packet: engineio::Packet<'a>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<Option<engineio::Packet<'a>>, Ended> {
        self.hears = true;
        match packet {
            engineio::Packet::Text(text) => {
                if let Some(packet) = self.assembler.text(&text).map_err(protocol)? {
                    deliver(&packet, &[], on);
                }
            }
            engineio::Packet::Binary(bytes) => {
                if let Some(whole) = self.assembler.attachment(&bytes).map_err(protocol)? {
                    deliver(&whole.packet, &whole.attachments, on);
                }
            }
            engineio::Packet::Ping(data) => return Ok(Some(engineio::Packet::Pong(data))),
            // A server has no reason to send a pong, but also does no harm by it.
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

/// What breaks the rules of Engine.IO or Socket.IO.
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
    let (namespace, data) = (packet.namespace.as_ref(), packet.data.as_ref());
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
