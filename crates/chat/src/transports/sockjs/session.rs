//! Sessions that are polled: they outlive the requests that carry them, and end when none comes for
//! `sockjs_disconnect`.
//!
//! | | a poll | then |
//! |---|---|---|
//! | nobody receives | takes what waits, or waits | somebody receives |
//! | somebody receives | `c[2010,"Another connection still open"]` | no change |
//! | somebody receives | is given up by its client | ended: what it took could be lost |
//! | ended | `c[code,"reason"]` | forgotten after `sockjs_disconnect` |

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use sonagi_wire::sockjs::Messages;

use crate::connection::heartbeat::Signal;
use crate::connection::outbox::{Close, Standing};
use crate::connection::source::Source;
use crate::encoding::stomp::envelope::Envelope;
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::peer::{Newcomer, Peer};
use crate::sync::lock;
use crate::transports::stomp::Conversation;

pub(crate) struct Session {
    name: Box<str>,
    pub(crate) peer: Arc<Peer>,
    conversation: Mutex<Conversation>,
    /// An answer is under way.
    pub(super) receiving: AtomicBool,
    /// Why it has ended.
    end: OnceLock<(u16, &'static str)>,
}

/// SockJS over a hub.
pub(crate) struct SockJs {
    pub(crate) hub: Arc<Hub>,
    sessions: Mutex<Sessions>,
}

/// The sessions by name, those that have just ended included.
#[derive(Default)]
struct Sessions {
    by_name: HashMap<Box<str>, Arc<Session>>,
    /// By the peer's id.
    open: HashMap<u64, Arc<Session>>,
    /// In the order in which they are to be forgotten.
    ended: VecDeque<(Instant, Arc<Session>)>,
}

impl SockJs {
    pub(crate) fn new(hub: Arc<Hub>) -> SockJs {
        SockJs { hub, sessions: Mutex::default() }
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).by_name.get(name).cloned()
    }

    /// Opens a session, or finds the one that somebody else has just opened.
    pub(crate) fn open(
        &self,
        name: &str,
        user: Option<u64>,
        source: Source,
    ) -> Result<Arc<Session>, Problem> {
        let limits = &self.hub.config.limits;
        let mut sessions = lock(&self.sessions);
        if let Some(session) = sessions.by_name.get(name) {
            return Ok(session.clone());
        }
        if sessions.by_name.len() >= limits.connections {
            self.hub.metrics.refused_connections.add(1);
            return Err(Problem::new(503, "too_many_connections", "too many sessions are open"));
        }
        let now = self.hub.now();
        let newcomer =
            Newcomer { source, polled: true, queue_bytes: limits.queue_bytes, ..Newcomer::default() };
        let peer = self.hub.peers.add(newcomer, now, limits);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        peer.deadlines.settle_by(now + limits.connect_timeout.as_millis() as u64);
        peer.heartbeat.say(Signal::SockJs, limits.sockjs_heartbeat, now);
        peer.outbox.push(Bytes::from_static(b"\x81\x01o"));
        let conversation = Conversation::new(self.hub.clone(), peer.clone(), Envelope::SockJs);
        let session = Arc::new(Session {
            name: name.into(),
            peer,
            conversation: Mutex::new(conversation),
            receiving: AtomicBool::new(false),
            end: OnceLock::new(),
        });
        sessions.by_name.insert(name.into(), session.clone());
        sessions.open.insert(session.peer.id, session.clone());
        self.hub.metrics.sockjs.add(1);
        Ok(session)
    }

    /// The service has closed this peer: a session that is polled has no task that would notice.
    pub(crate) fn abandoned(&self, peer: &Peer) {
        if !peer.polled.load(Relaxed) {
            return;
        }
        let session = lock(&self.sessions).open.get(&peer.id).cloned();
        if let Some(session) = session {
            session.end(Close::Normal, None, self);
        }
    }

    /// Forgets those that ended long enough ago.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut sessions = lock(&self.sessions);
        while sessions.ended.front().is_some_and(|(until, _)| *until <= now) {
            if let Some((_, session)) = sessions.ended.pop_front() {
                sessions.by_name.remove(&session.name);
            }
        }
    }
}

impl Session {
    pub(crate) fn is_open(&self) -> bool {
        self.end.get().is_none() && self.peer.outbox.is_open()
    }

    /// Takes what the client sends.
    pub(super) fn take(&self, mut messages: Messages<'_>) {
        let mut conversation = lock(&self.conversation);
        conversation.heard();
        let mut buffer = String::new();
        while let Some(message) = messages.next_in(&mut buffer) {
            conversation.feed(message.as_bytes());
        }
    }

    /// Why it has ended, as a client is told.
    pub(super) fn end_as_told(&self) -> (u16, &'static str) {
        self.end.get().copied().unwrap_or(GO_AWAY)
    }

    /// Ends it; the first reason stands. What is queued still goes out to who receives, or polls while it is
    /// remembered.
    pub(super) fn end(self: &Arc<Session>, why: Close, told: Option<(u16, &'static str)>, sockjs: &SockJs) {
        self.peer.outbox.close(why);
        let standing = self.peer.outbox.standing();
        let told = told.unwrap_or(match standing {
            Standing::Closing(why) => as_told(why),
            Standing::Open | Standing::HungUp => GO_AWAY,
        });
        if self.end.set(told).is_err() {
            return;
        }
        if standing == Standing::Closing(Close::Slow) {
            sockjs.hub.metrics.slow_consumers.add(1);
        }
        lock(&self.conversation).closing();
        sockjs.hub.peers.remove(&self.peer);
        sockjs.hub.metrics.sockjs.sub(1);
        let mut sessions = lock(&sockjs.sessions);
        sessions.open.remove(&self.peer.id);
        sessions.ended.push_back((Instant::now() + sockjs.hub.config.limits.sockjs_disconnect, self.clone()));
    }
}

const GO_AWAY: (u16, &str) = (3000, "Go away!");

fn as_told(why: Close) -> (u16, &'static str) {
    match why {
        Close::Normal => GO_AWAY,
        why => why.frame().unwrap_or(GO_AWAY),
    }
}
