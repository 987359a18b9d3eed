//! Engine.IO sessions, of protocol 4 and of Socket.IO 2's protocol 3: opening, packets in, the change from polling to
//! WebSocket, the end.
//!
//! A session is reached by long-polling (`polling`) or by a WebSocket (`Socket` here); both hand its packets to the
//! same conversation (`socketio`). What goes out is the peer's queue, whatever carries it and whatever the protocol: an
//! event's text frame is the same bytes in both, so a broadcast is encoded once for all.
//!
//! | transport | from the client | then |
//! |---|---|---|
//! | polling | a WebSocket with its sid, `2probe` | `3probe`; polls are answered `6` at once |
//! | polling, probed | `5` on that WebSocket | the WebSocket carries the session, polling is refused |
//! | probed, or WebSocket | another WebSocket with its sid | that one is opened and closed at once |
//! | either | `1`, a bad packet, a heartbeat in the wrong direction | the session ends |
//! | either, protocol 4 | silence after our ping | the session ends |
//! | either, protocol 3 | `2` | `3`; after a ping's interval and timeout without a packet the session ends |

mod jsonp;
mod polling;
mod recovery;
pub(crate) mod requests;
mod socketio;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sonagi_wire::engineio::{Handshake, Packet, Version};
use sonagi_wire::websocket::{self, Opcode};

use crate::connection::outbox::{Close, Polls, Standing};
use crate::connection::source::Source;
use crate::hub::Hub;
use crate::rooms::peer::{Newcomer, Peer, Ping};
use crate::sync::lock;
use crate::transports::websocket::connection::SocketHandler;
use recovery::{Identity, KeptSession, Recovery};
use socketio::Conversation;

/// The protocol spoken inside a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    SocketIo,
    /// Every message is sent back: what the Engine.IO protocol suite expects.
    Echo,
}

/// How a client asks for a session.
pub(crate) struct Opening {
    pub(crate) version: Version,
    pub(crate) speech: Speech,
    pub(crate) polled: bool,
    /// Whether it takes no binary packets (`b64` in a query of protocol 3).
    pub(crate) base64: bool,
    /// The token of the handshake's query or `Authorization` header.
    pub(crate) token: Option<String>,
    pub(crate) source: Source,
}

pub(crate) struct Session {
    pub(crate) sid: String,
    pub(crate) peer: Arc<Peer>,
    pub(crate) version: Version,
    pub(crate) token: Option<String>,
    /// A poll, or a post, is being answered.
    pub(crate) polling: AtomicBool,
    pub(crate) posting: AtomicBool,
    /// Its client has posted `1`, and the poll it sent beside that has not been answered: it may still be on its way.
    pub(crate) owes_poll: AtomicBool,
    speech: Speech,
    /// The transport takes no binary packets.
    base64: AtomicBool,
    conversation: Mutex<Conversation>,
    /// Its identity for its client, while it can be recovered. Its end takes this lock first.
    pub(crate) identity: Mutex<Option<Identity>>,
    /// The connection of a WebSocket that has not taken over yet.
    probe: Mutex<Option<Arc<Peer>>>,
}

/// Engine.IO over a hub: its sessions by sid.
pub(crate) struct EngineIo {
    pub(crate) hub: Arc<Hub>,
    open: Mutex<HashMap<String, Arc<Session>>>,
    /// Sessions that owe a poll, in the order in which they are to be forgotten.
    parted: Mutex<VecDeque<(Instant, Arc<Session>)>>,
    /// Present when sessions of Socket.IO can be recovered.
    recovery: Option<Recovery>,
}

/// How long a session whose client closed it answers the poll that was sent beside the close, and for how many that is
/// remembered. A request that was sent at the same time comes within milliseconds.
const PARTED: Duration = Duration::from_secs(1);
const MOST_PARTED: usize = 1000;

impl EngineIo {
    pub(crate) fn new(hub: Arc<Hub>) -> EngineIo {
        let recovery = Recovery::of(&hub);
        EngineIo { hub, open: Mutex::default(), parted: Mutex::default(), recovery }
    }

    pub(crate) fn find(&self, sid: &str) -> Option<Arc<Session>> {
        lock(&self.open).get(sid).cloned()
    }

    /// A session that its client has closed and that owes it a poll.
    pub(crate) fn find_parted(&self, sid: &str) -> Option<Arc<Session>> {
        let parted = lock(&self.parted);
        let (_, session) = parted.iter().find(|(_, session)| session.sid == sid)?;
        session.owes_poll.load(Relaxed).then(|| session.clone())
    }

    /// True the first time.
    fn remove(&self, session: &Session) -> bool {
        let mut open = lock(&self.open);
        let Some(session) = open.remove(&session.sid) else { return false };
        if session.owes_poll.load(Relaxed) {
            // With the lock of the others held: a poll finds it in one place or the other.
            let mut parted = lock(&self.parted);
            if parted.len() >= MOST_PARTED {
                parted.pop_front();
            }
            parted.push_back((Instant::now() + PARTED, session));
        }
        true
    }

    /// The service has closed this peer: a session that is polled has no task that would notice.
    pub(crate) fn abandoned(self: &Arc<EngineIo>, peer: &Peer) {
        if peer.polled.load(Relaxed)
            && let Some(sid) = &peer.sid
            && let Some(session) = self.find(sid)
        {
            session.end(Close::Normal, self);
        }
    }

    /// Forgets the sessions that have been kept long enough.
    pub(crate) fn sweep_recovery(&self, now: Instant) {
        if let Some(recovery) = &self.recovery {
            recovery.sweep(now);
        }
    }

    /// Forgets those that parted long enough ago.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut parted = lock(&self.parted);
        while parted.front().is_some_and(|(until, session)| *until <= now || !session.owes_poll.load(Relaxed))
        {
            parted.pop_front();
        }
    }
}

/// A packet the protocol does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadPacket;

impl Session {
    /// Opens a session; its handshake is the first frame of the queue, and in protocol 3 the answer to a CONNECT that
    /// nobody sent the second.
    pub(crate) fn open(io: &Arc<EngineIo>, opening: Opening) -> Arc<Session> {
        let Opening { version, speech, polled, base64, token, source } = opening;
        let limits = &io.hub.config.limits;
        let sid = match (io.hub.accounts.session_id(), io.hub.config.instance) {
            (own, Some(instance)) => format!("{instance}.{own}"),
            (own, None) => own,
        };
        let newcomer = Newcomer {
            ping: Ping::EngineIo,
            source,
            sid: Some(sid.as_str().into()),
            polled,
            queue_bytes: limits.queue_bytes,
        };
        let peer = io.hub.peers.add(newcomer, io.hub.now(), limits);
        if version.client_pings() {
            peer.deadlines.heard(io.hub.now(), limits);
        }
        if polled {
            io.hub.metrics.polling.add(1);
        }
        if speech == Speech::Echo {
            peer.deadlines.settled();
        }
        let handshake = Handshake {
            sid: sid.clone(),
            upgrades: if polled { vec!["websocket".to_owned()] } else { Vec::new() },
            ping_interval: limits.ping_interval.as_millis() as u64,
            ping_timeout: limits.ping_timeout.as_millis() as u64,
            max_payload: if version == Version::Four { limits.max_payload as u64 } else { 0 },
        };
        let session = Arc::new(Session {
            sid: sid.clone(),
            peer,
            version,
            token,
            polling: AtomicBool::new(false),
            posting: AtomicBool::new(false),
            owes_poll: AtomicBool::new(false),
            speech,
            base64: AtomicBool::new(base64 && version == Version::Three),
            conversation: Mutex::new(Conversation::new(version)),
            identity: Mutex::new(None),
            probe: Mutex::new(None),
        });
        session.push(&Packet::Open(handshake.to_json().into()));
        lock(&io.open).insert(sid, session.clone());
        if speech == Speech::SocketIo {
            lock(&session.conversation).begin(&session, io);
        }
        session
    }

    pub(crate) fn push(&self, packet: &Packet<'_>) {
        let mut text = String::new();
        self.version.encode(packet, &mut text);
        self.peer.outbox.push(websocket::shared(Opcode::Text, text.as_bytes()));
    }

    /// Queues a binary message in the form that the session's transport takes.
    pub(crate) fn push_binary(&self, bytes: &[u8]) {
        if self.base64.load(Relaxed) {
            return self.push(&Packet::Binary(bytes.into()));
        }
        let mut payload = Vec::new();
        self.version.encode_binary(bytes, &mut payload);
        self.peer.outbox.push(websocket::shared(Opcode::Binary, &payload));
    }

    pub(crate) fn is_polled(&self) -> bool {
        self.peer.polled.load(Relaxed)
    }

    /// Takes one packet from the client.
    pub(crate) fn receive(&self, packet: &Packet<'_>, io: &Arc<EngineIo>) -> Result<(), BadPacket> {
        let limits = &io.hub.config.limits;
        let client_pings = self.version.client_pings();
        if client_pings {
            self.peer.deadlines.heard(io.hub.now(), limits);
        }
        match packet {
            Packet::Text(text) => match self.speech {
                Speech::Echo => self.push(packet),
                Speech::SocketIo => lock(&self.conversation).text(text, self, io)?,
            },
            Packet::Binary(bytes) => match self.speech {
                Speech::Echo => self.push_binary(bytes),
                Speech::SocketIo => lock(&self.conversation).binary(bytes, self, io)?,
            },
            Packet::Ping(data) if client_pings => self.push(&Packet::Pong(data.clone())),
            Packet::Pong(_) if !client_pings => self.peer.deadlines.answered(io.hub.now(), limits),
            Packet::Close => {
                // Before it ends: whoever finds it ended asks whether it owes a poll.
                self.owes_poll.store(self.is_polled(), Relaxed);
                self.end(Close::Answer(Some(1000)), io);
            }
            // One side pings, and only the server opens.
            Packet::Ping(_) | Packet::Pong(_) | Packet::Open(_) => return Err(BadPacket),
            Packet::Upgrade | Packet::Noop => {}
        }
        Ok(())
    }

    /// Ends the session for breaking the protocol.
    pub(crate) fn fail(&self, io: &Arc<EngineIo>) {
        io.hub.metrics.violations.add(1);
        self.end(Close::BadPacket, io);
    }

    /// Ends the session for what came by polling; after an upgrade that has nothing to do with it any more.
    pub(crate) fn fail_poll(&self, io: &Arc<EngineIo>) {
        if self.is_polled() {
            self.fail(io);
        }
    }

    /// Ends the session; the first reason stands. What is queued still goes out to a poll that waits, or the socket.
    pub(crate) fn end(&self, why: Close, io: &Arc<EngineIo>) {
        self.peer.outbox.close(why);
        // Before it is found no more: who recovers it must find it kept then.
        self.part(io);
        if !io.remove(self) {
            return;
        }
        if let Some(probe) = lock(&self.probe).take() {
            probe.outbox.close(Close::Normal);
        }
        if self.peer.polled.swap(false, Relaxed) {
            if self.peer.outbox.standing() == Standing::Closing(Close::Slow) {
                io.hub.metrics.slow_consumers.add(1);
            }
            io.hub.metrics.polling.sub(1);
            io.hub.peers.remove(&self.peer);
        }
        // Not under the conversation's lock: the end may come from inside it.
        self.peer.left(&io.hub.metrics);
    }

    /// Ends its memberships; a session that may be recovered is kept, and with it where it was. Once, whoever asks.
    fn part(&self, io: &EngineIo) {
        let Some(recovery) = &io.recovery else { return self.peer.leave_all(&io.hub.metrics) };
        let mut identity = lock(&self.identity);
        let memberships = self.peer.vacate(&io.hub.metrics);
        let Some(identity) = identity.take() else { return };
        match self.peer.outbox.standing() {
            Standing::Closing(Close::BadPacket | Close::Violation(_)) => recovery.forget(&identity.pid),
            _ => recovery.keep(KeptSession { identity, user: self.peer.user(), memberships }, Instant::now()),
        }
    }

    /// From now on its client knows it as this; unless it has ended, for then nobody would take it back.
    pub(crate) fn known_as(&self, identity: Identity, recovery: &Recovery) {
        let mut known = lock(&self.identity);
        if self.peer.outbox.is_open() {
            recovery.live(identity.pid.clone(), &self.sid);
            *known = Some(identity);
        }
    }

    /// Its client does not count on it any more.
    pub(crate) fn forgotten(&self, io: &EngineIo) {
        let identity = lock(&self.identity).take();
        if let (Some(identity), Some(recovery)) = (identity, &io.recovery) {
            recovery.forget(&identity.pid);
        }
    }

    /// A WebSocket that would take this session over; when it may not, one that is closed at once, as the reference
    /// server does it. `base64` as in an opening.
    pub(crate) fn probe(self: &Arc<Session>, base64: bool, io: &Arc<EngineIo>) -> Socket {
        let mut slot = lock(&self.probe);
        let limits = &io.hub.config.limits;
        let newcomer = Newcomer { ping: Ping::WebSocket, queue_bytes: 4096, ..Newcomer::default() };
        let probe = io.hub.peers.add(newcomer, io.hub.now(), limits);
        probe.deadlines.settle_by(io.hub.now() + limits.upgrade_timeout.as_millis() as u64);
        if self.is_polled() && slot.is_none() {
            *slot = Some(probe.clone());
        } else {
            probe.outbox.close(Close::Normal);
        }
        Socket { session: self.clone(), io: io.clone(), base64, stage: UpgradeStage::Probing(probe) }
    }

    /// The WebSocket takes over; false when the session has ended meanwhile.
    fn adopt(&self, probe: &Arc<Peer>, base64: bool, io: &Arc<EngineIo>) -> bool {
        self.peer.outbox.polls(Polls::Over);
        self.base64.store(base64 && self.version == Version::Three, Relaxed);
        if !self.peer.polled.swap(false, Relaxed) {
            return false;
        }
        *lock(&self.probe) = None;
        io.hub.peers.remove(probe);
        io.hub.metrics.polling.sub(1);
        // A client that did not wait for `3probe` still gets it.
        let mut unsent = VecDeque::new();
        probe.outbox.take(&mut unsent);
        self.peer.outbox.put_first(unsent);
        true
    }
}

/// A WebSocket that carries a session, or is about to.
pub(crate) struct Socket {
    pub(crate) session: Arc<Session>,
    pub(crate) io: Arc<EngineIo>,
    base64: bool,
    stage: UpgradeStage,
}

enum UpgradeStage {
    Probing(Arc<Peer>),
    /// `2probe` has been answered.
    Probed(Arc<Peer>),
    Carrying,
}

impl Socket {
    /// The WebSocket of a session that was opened by it.
    pub(crate) fn carrying(session: Arc<Session>, io: Arc<EngineIo>) -> Socket {
        Socket { session, io, base64: false, stage: UpgradeStage::Carrying }
    }

    fn packet(&mut self, packet: &Packet<'_>) {
        match &self.stage {
            UpgradeStage::Carrying => {
                if self.session.receive(packet, &self.io).is_err() {
                    self.session.fail(&self.io);
                }
            }
            UpgradeStage::Probing(probe) if matches!(packet, Packet::Ping(text) if text == "probe") => {
                probe.outbox.push(websocket::shared(Opcode::Text, b"3probe"));
                self.session.peer.outbox.polls(Polls::Hurry);
                self.stage = UpgradeStage::Probed(probe.clone());
            }
            UpgradeStage::Probed(probe) if *packet == Packet::Upgrade => {
                if self.session.adopt(probe, self.base64, &self.io) {
                    self.stage = UpgradeStage::Carrying;
                } else {
                    probe.outbox.close(Close::Normal);
                }
            }
            UpgradeStage::Probing(_) | UpgradeStage::Probed(_) => self.breach(),
        }
    }

    /// Handles a text that is no packet, or none for now.
    fn breach(&self) {
        match &self.stage {
            UpgradeStage::Carrying => self.session.fail(&self.io),
            UpgradeStage::Probing(probe) | UpgradeStage::Probed(probe) => {
                self.io.hub.metrics.violations.add(1);
                probe.outbox.close(Close::BadPacket);
            }
        }
    }
}

impl SocketHandler for Socket {
    fn peer(&self) -> &Arc<Peer> {
        match &self.stage {
            UpgradeStage::Probing(probe) | UpgradeStage::Probed(probe) => probe,
            UpgradeStage::Carrying => &self.session.peer,
        }
    }

    fn text(&mut self, text: &str) {
        let version = self.session.version;
        match version.decode(text) {
            // Over a WebSocket binary packets are binary frames; in protocol 3 a client may do without them.
            Ok(Packet::Binary(_)) if version == Version::Four => self.breach(),
            Ok(packet) => self.packet(&packet),
            Err(_) => self.breach(),
        }
    }

    fn binary(&mut self, bytes: &[u8]) {
        match self.session.version.decode_binary(bytes) {
            Ok(packet) => self.packet(&packet),
            Err(_) => self.breach(),
        }
    }

    fn is_settled(&self) -> bool {
        matches!(self.stage, UpgradeStage::Carrying)
    }

    fn heard(&mut self, _: &Hub) {
        // A session lives by its pongs; the probe needs no ping in its short time.
    }

    fn farewell(&self, why: Close) -> Option<&'static str> {
        // To the official clients it means that they are not wanted back: they would neither reconnect nor recover.
        let is_final = matches!(why, Close::BadPacket | Close::Normal);
        (is_final && matches!(self.stage, UpgradeStage::Carrying)).then_some("41")
    }

    fn leaving(&mut self, _: &Hub) {
        if self.is_settled() {
            self.session.part(&self.io);
        }
    }

    fn closing(&mut self) {
        match &self.stage {
            UpgradeStage::Carrying => self.session.end(Close::Normal, &self.io),
            UpgradeStage::Probing(probe) | UpgradeStage::Probed(probe) => {
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
