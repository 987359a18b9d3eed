//! Engine.IO 4 sessions: opening, packets in, the change from polling to WebSocket, the end.
//!
//! A session is reached by long-polling (`polling`) or by a WebSocket (`Socket` here); both hand its packets to the
//! same conversation (`socketio`). What goes out is the peer's queue, whatever carries it.
//!
//! | transport | from the client | then |
//! |---|---|---|
//! | polling | a WebSocket with its sid, `2probe` | `3probe`; polls are answered `6` at once |
//! | polling, probed | `5` on that WebSocket | the WebSocket carries the session, polling is refused |
//! | either | `1`, a bad packet, a ping, silence after a ping | the session ends |

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use sonagi_wire::engineio::{self, Handshake, Packet};
use sonagi_wire::websocket::{self, Opcode};

use crate::hub::Hub;
use crate::link::Attendant;
use crate::lock;
use crate::outbox::{Close, Polls, Standing};
use crate::peer::{Heart, Newcomer, Peer};
use crate::socketio::Conversation;

/// What is spoken inside a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    SocketIo,
    /// Every message is sent back: what the Engine.IO protocol suite expects.
    Echo,
}

pub(crate) struct Session {
    pub(crate) sid: String,
    pub(crate) peer: Arc<Peer>,
    /// The token of the handshake's `Authorization` header.
    pub(crate) bearer: Option<String>,
    /// A poll, or a post, is being answered.
    pub(crate) polling: AtomicBool,
    pub(crate) posting: AtomicBool,
    speech: Speech,
    conversation: Mutex<Conversation>,
    /// The connection of a WebSocket that has not taken over yet.
    probe: Mutex<Option<Arc<Peer>>>,
}

/// The sessions by sid.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    pub(crate) fn find(&self, sid: &str) -> Option<Arc<Session>> {
        lock(&self.0).get(sid).cloned()
    }
}

/// A packet the protocol does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadPacket;

impl Session {
    /// Opens a session; its handshake is the first frame of the queue.
    pub(crate) fn open(hub: &Arc<Hub>, speech: Speech, polled: bool, bearer: Option<String>) -> Arc<Session> {
        let limits = &hub.config.limits;
        let sid = hub.accounts.session_id();
        let newcomer = Newcomer {
            heart: Heart::EngineIo,
            sid: Some(sid.as_str().into()),
            polled,
            queue_bytes: limits.queue_bytes,
        };
        let peer = hub.peers.add(newcomer, hub.now(), limits);
        if polled {
            hub.metrics.polling.add(1);
        }
        if speech == Speech::Echo {
            peer.pulse.settled();
        }
        let handshake = Handshake {
            sid: sid.clone(),
            upgrades: if polled { vec!["websocket".to_owned()] } else { Vec::new() },
            ping_interval: limits.ping_interval.as_millis() as u64,
            ping_timeout: limits.ping_timeout.as_millis() as u64,
            max_payload: limits.max_payload as u64,
        };
        let session = Arc::new(Session {
            sid: sid.clone(),
            peer,
            bearer,
            polling: AtomicBool::new(false),
            posting: AtomicBool::new(false),
            speech,
            conversation: Mutex::new(Conversation::default()),
            probe: Mutex::new(None),
        });
        session.push(&Packet::Open(handshake.to_json().into()));
        lock(&hub.sessions.0).insert(sid, session.clone());
        session
    }

    pub(crate) fn push(&self, packet: &Packet<'_>) {
        let mut text = String::new();
        engineio::encode(packet, &mut text);
        self.peer.outbox.push(websocket::shared(Opcode::Text, text.as_bytes()));
    }

    pub(crate) fn is_polled(&self) -> bool {
        self.peer.polled.load(Relaxed)
    }

    /// Takes one packet from the client.
    pub(crate) fn receive(&self, packet: &Packet<'_>, hub: &Arc<Hub>) -> Result<(), BadPacket> {
        match packet {
            Packet::Text(text) => match self.speech {
                Speech::Echo => self.push(packet),
                Speech::SocketIo => lock(&self.conversation).text(text, self, hub)?,
            },
            Packet::Binary(bytes) => match self.speech {
                Speech::Echo => {
                    self.peer.outbox.push(websocket::shared(Opcode::Binary, bytes));
                }
                Speech::SocketIo => lock(&self.conversation).binary(bytes, self, hub)?,
            },
            Packet::Pong(_) => self.peer.pulse.answered(hub.now(), &hub.config.limits),
            Packet::Close => self.end(Close::Answer(Some(1000)), hub),
            // Only the server pings, and only it opens.
            Packet::Ping(_) | Packet::Open(_) => return Err(BadPacket),
            Packet::Upgrade | Packet::Noop => {}
        }
        Ok(())
    }

    /// Ends the session for breaking the protocol.
    pub(crate) fn fail(&self, hub: &Arc<Hub>) {
        hub.metrics.violations.add(1);
        self.end(Close::BadPacket, hub);
    }

    /// Ends the session for what came by polling; after an upgrade that has nothing to do with it any more.
    pub(crate) fn fail_poll(&self, hub: &Arc<Hub>) {
        if self.is_polled() {
            self.fail(hub);
        }
    }

    /// Ends the session; the first reason stands. What is queued still goes out to a poll that waits, or the socket.
    pub(crate) fn end(&self, why: Close, hub: &Arc<Hub>) {
        self.peer.outbox.close(why);
        if lock(&hub.sessions.0).remove(&self.sid).is_none() {
            return;
        }
        self.peer.leave_all(&hub.metrics);
        if let Some(probe) = lock(&self.probe).take() {
            probe.outbox.close(Close::Normal);
        }
        if self.peer.polled.swap(false, Relaxed) {
            if self.peer.outbox.standing() == Standing::Closing(Close::Slow) {
                hub.metrics.slow_consumers.add(1);
            }
            hub.metrics.polling.sub(1);
            hub.peers.remove(&self.peer);
        }
        // Not under the conversation's lock: the end may come from inside it.
        self.peer.left(&hub.metrics);
    }

    /// A WebSocket that would take this session over, or `None` when it may not.
    pub(crate) fn probe(self: &Arc<Session>, hub: &Arc<Hub>) -> Option<Socket> {
        let mut slot = lock(&self.probe);
        if !self.is_polled() || slot.is_some() {
            return None;
        }
        let limits = &hub.config.limits;
        let newcomer = Newcomer { heart: Heart::WebSocket, sid: None, polled: false, queue_bytes: 4096 };
        let probe = hub.peers.add(newcomer, hub.now(), limits);
        probe.pulse.settle_by(hub.now() + limits.upgrade_timeout.as_millis() as u64);
        *slot = Some(probe.clone());
        Some(Socket { session: self.clone(), hub: hub.clone(), stage: Stage::Probing(probe) })
    }

    /// The WebSocket takes over; false when the session has ended meanwhile.
    fn adopt(&self, probe: &Arc<Peer>, hub: &Arc<Hub>) -> bool {
        self.peer.outbox.polls(Polls::Over);
        if !self.peer.polled.swap(false, Relaxed) {
            return false;
        }
        *lock(&self.probe) = None;
        hub.peers.remove(probe);
        hub.metrics.polling.sub(1);
        // A client that did not wait for `3probe` still gets it.
        let mut unsent = VecDeque::new();
        probe.outbox.take(&mut unsent);
        self.peer.outbox.put_first(unsent);
        true
    }
}

/// The sweep closed this peer: a session that is polled has no task that would notice.
pub(crate) fn abandoned(hub: &Arc<Hub>, peer: &Arc<Peer>) {
    if peer.polled.load(Relaxed)
        && let Some(sid) = &peer.sid
        && let Some(session) = hub.sessions.find(sid)
    {
        session.end(Close::Normal, hub);
    }
}

/// A WebSocket that carries a session, or is about to.
pub(crate) struct Socket {
    pub(crate) session: Arc<Session>,
    pub(crate) hub: Arc<Hub>,
    stage: Stage,
}

enum Stage {
    Probing(Arc<Peer>),
    /// `2probe` has been answered.
    Probed(Arc<Peer>),
    Carrying,
}

impl Socket {
    /// The WebSocket of a session that was opened by it.
    pub(crate) fn carrying(session: Arc<Session>, hub: Arc<Hub>) -> Socket {
        Socket { session, hub, stage: Stage::Carrying }
    }

    fn packet(&mut self, packet: &Packet<'_>) {
        match &self.stage {
            Stage::Carrying => {
                if self.session.receive(packet, &self.hub).is_err() {
                    self.session.fail(&self.hub);
                }
            }
            Stage::Probing(probe) if matches!(packet, Packet::Ping(text) if text == "probe") => {
                probe.outbox.push(websocket::shared(Opcode::Text, b"3probe"));
                self.session.peer.outbox.polls(Polls::Hurry);
                self.stage = Stage::Probed(probe.clone());
            }
            Stage::Probed(probe) if *packet == Packet::Upgrade => {
                if self.session.adopt(probe, &self.hub) {
                    self.stage = Stage::Carrying;
                } else {
                    probe.outbox.close(Close::Normal);
                }
            }
            Stage::Probing(probe) | Stage::Probed(probe) => {
                self.hub.metrics.violations.add(1);
                probe.outbox.close(Close::BadPacket);
            }
        }
    }
}

impl Attendant for Socket {
    fn peer(&self) -> &Arc<Peer> {
        match &self.stage {
            Stage::Probing(probe) | Stage::Probed(probe) => probe,
            Stage::Carrying => &self.session.peer,
        }
    }

    fn text(&mut self, text: &str) {
        match engineio::decode(text) {
            // Over a WebSocket binary packets are binary frames.
            Ok(Packet::Binary(_)) | Err(_) => match &self.stage {
                Stage::Carrying => self.session.fail(&self.hub),
                Stage::Probing(probe) | Stage::Probed(probe) => {
                    self.hub.metrics.violations.add(1);
                    probe.outbox.close(Close::BadPacket);
                }
            },
            Ok(packet) => self.packet(&packet),
        }
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.packet(&Packet::Binary(bytes.into()));
    }

    fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Carrying)
    }

    fn heard(&mut self) {
        // A session lives by its pongs; the probe needs no ping in its short time.
    }

    fn farewell(&self) -> Option<&'static str> {
        matches!(self.stage, Stage::Carrying).then_some("41")
    }

    fn closing(&mut self) {
        match &self.stage {
            Stage::Carrying => self.session.end(Close::Normal, &self.hub),
            Stage::Probing(probe) | Stage::Probed(probe) => {
                probe.outbox.close(Close::Normal);
                let mut slot = lock(&self.session.probe);
                if slot.as_ref().is_some_and(|there| Arc::ptr_eq(there, probe)) {
                    *slot = None;
                    // The session goes on by polling.
                    self.session.peer.outbox.polls(Polls::Wait);
                }
            }
        }
    }
}
