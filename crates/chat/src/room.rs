//! A room while the service runs: its members and the fan-out of a message to them.
//!
//! One thread publishes (`log`), so the order of sequence numbers and the order of queueing agree; the room's lock
//! orders publishing against joining and leaving. A broadcast is encoded at most once per wire form. What faults
//! make of a copy is in `spoil`; without a plan none of it runs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sonagi_wire::websocket::{self, Opcode};

use crate::lock;
use crate::metrics::Metrics;
use crate::outbox::Pushed;
use crate::peer::{Form, Peer};
use crate::spoil::Spoilt;

/// Who may enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// These two users.
    Direct(u64, u64),
    /// Every user.
    Group,
}

pub(crate) struct Room {
    /// Its key in the store.
    pub(crate) key: i64,
    /// Its public name.
    pub(crate) id: Box<str>,
    pub(crate) access: Access,
    /// The number given to the last message stored; only the log's thread writes it.
    pub(crate) stored: AtomicU64,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) members: Vec<Member>,
    /// The number of the last message fanned out.
    published: u64,
    /// Copies waiting because of a fault; present only when faults are planned.
    pub(crate) spoilt: Option<Box<Spoilt>>,
}

pub(crate) struct Member {
    pub(crate) peer: Arc<Peer>,
    pub(crate) since: Instant,
}

/// A stored message on its way to the members.
pub(crate) struct Message {
    pub(crate) seq: u64,
    pub(crate) sender: Arc<Peer>,
    pub(crate) user: u64,
    /// JSON.
    pub(crate) content: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) at: u64,
}

/// Copies queued and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub(crate) copies: u64,
    pub(crate) bytes: u64,
}

impl Delivered {
    /// Queues one copy and says whether it is on a live queue.
    pub(crate) fn push(&mut self, peer: &Peer, frame: &Bytes) -> bool {
        let queued = peer.outbox.push(frame.clone()) == Pushed::Queued;
        if queued {
            self.copies += 1;
            self.bytes += frame.len() as u64;
        }
        queued
    }

    pub(crate) fn record(self, metrics: &Metrics) {
        metrics.deliveries.add(self.copies);
        metrics.delivery_bytes.add(self.bytes);
    }
}

/// A broadcast in the forms asked for so far.
pub(crate) struct Encoded<'a> {
    room: &'a str,
    message: &'a Message,
    raw: Option<Bytes>,
    socketio: Option<Bytes>,
}

impl<'a> Encoded<'a> {
    pub(crate) fn new(room: &'a str, message: &'a Message) -> Encoded<'a> {
        Encoded { room, message, raw: None, socketio: None }
    }

    pub(crate) fn frame(&mut self, form: Form) -> &Bytes {
        let Message { seq, user, content, at, .. } = self.message;
        // Room names are checked when rooms are made: nothing in them needs escaping.
        let room = self.room;
        match form {
            Form::Raw => self.raw.get_or_insert_with(|| {
                let text = format!(
                    r#"{{"type":"message","room":"{room}","seq":{seq},"senderId":{user},"content":{content},"at":{at}}}"#
                );
                websocket::shared(Opcode::Text, text.as_bytes())
            }),
            Form::SocketIo => self.socketio.get_or_insert_with(|| {
                let text = format!(
                    r#"42["newMessage",{{"roomId":"{room}","seq":{seq},"senderId":{user},"content":{content},"at":{at}}}]"#
                );
                websocket::shared(Opcode::Text, text.as_bytes())
            }),
        }
    }
}

impl Room {
    /// A room that can be spoilt when a fault plan's settle time is given.
    pub(crate) fn new(key: i64, id: Box<str>, access: Access, last: u64, settle: Option<Duration>) -> Room {
        let spoilt = settle.map(|settle| Box::new(Spoilt::new(settle)));
        let state = State { members: Vec::new(), published: last, spoilt };
        Room { key, id, access, stored: AtomicU64::new(last), state: Mutex::new(state) }
    }

    pub(crate) fn admits(&self, user: u64) -> bool {
        match self.access {
            Access::Direct(a, b) => user == a || user == b,
            Access::Group => true,
        }
    }

    /// Every message numbered above the returned one will be queued to this peer.
    pub(crate) fn join(&self, peer: &Arc<Peer>) -> u64 {
        let mut state = lock(&self.state);
        if !state.members.iter().any(|member| Arc::ptr_eq(&member.peer, peer)) {
            state.members.push(Member { peer: peer.clone(), since: Instant::now() });
        }
        state.published
    }

    /// Copies that a fault still holds for this peer are queued first: leaving must not lose them.
    pub(crate) fn leave(&self, peer: &Peer, metrics: &Metrics) {
        let mut state = lock(&self.state);
        if let Some(at) = state.members.iter().position(|member| member.peer.id == peer.id) {
            state.members.swap_remove(at);
        }
        if let Some(spoilt) = &mut state.spoilt {
            spoilt.left(peer, metrics);
        }
    }

    /// Queues the message to every member.
    pub(crate) fn publish(&self, message: &Message, metrics: &Metrics) {
        let mut encoded = Encoded::new(&self.id, message);
        let mut delivered = Delivered::default();
        let mut state = lock(&self.state);
        state.published = message.seq;
        for member in &state.members {
            delivered.push(&member.peer, encoded.frame(member.peer.form));
        }
        drop(state);
        delivered.record(metrics);
    }

    pub(crate) fn set_published(state: &mut State, seq: u64) {
        state.published = seq;
    }

    /// The number of the last message fanned out.
    pub(crate) fn last_published(&self) -> u64 {
        lock(&self.state).published
    }

    /// The last number given; it is taken back when its commit fails, so only the log may rely on it.
    pub(crate) fn last_stored(&self) -> u64 {
        self.stored.load(Relaxed)
    }
}
