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
    /// Bytes that went straight to sockets.
    written: u64,
    /// Connections that got something.
    pub(crate) receivers: u64,
}

impl Delivered {
    /// Queues one copy and says whether it is on a live queue.
    pub(crate) fn push(&mut self, peer: &Peer, frame: &Bytes) -> bool {
        let queued = peer.outbox.push(frame.clone()) == Pushed::Queued;
        if queued {
            self.copies += 1;
            self.bytes += frame.len() as u64;
            self.receivers += 1;
        }
        queued
    }

    /// Hands over a piece of so many frames, to the socket itself when it takes it.
    pub(crate) fn deliver(&mut self, peer: &Peer, piece: &Bytes, frames: u64) {
        let (pushed, written) = peer.outbox.deliver(piece);
        self.written += written as u64;
        if pushed == Pushed::Queued {
            self.copies += frames;
            self.bytes += piece.len() as u64;
            self.receivers += 1;
        }
    }

    pub(crate) fn record(self, metrics: &Metrics) {
        metrics.deliveries.add(self.copies);
        metrics.delivery_bytes.add(self.bytes);
        metrics.bytes_out.add(self.written);
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

/// Messages one after the other, in the forms asked for so far.
struct Run<'a> {
    room: &'a str,
    messages: &'a [Message],
    raw: Option<Piece>,
    socketio: Option<Piece>,
}

/// Whole frames, and where each of them ends.
struct Piece {
    bytes: Bytes,
    ends: Vec<usize>,
}

impl<'a> Run<'a> {
    fn new(room: &'a str, messages: &'a [Message]) -> Run<'a> {
        Run { room, messages, raw: None, socketio: None }
    }

    fn piece(&mut self, form: Form) -> &Piece {
        let (room, messages) = (self.room, self.messages);
        let encode = || {
            let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(messages.len()));
            for message in messages {
                bytes.extend_from_slice(Encoded::new(room, message).frame(form));
                ends.push(bytes.len());
            }
            Piece { bytes: bytes.into(), ends }
        };
        match form {
            Form::Raw => self.raw.get_or_insert_with(encode),
            Form::SocketIo => self.socketio.get_or_insert_with(encode),
        }
    }
}

impl Piece {
    fn frames(&self) -> impl Iterator<Item = Bytes> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| self.bytes.slice(*start..*end))
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

    /// Sends messages, in the order of their numbers, to every member, as one piece to each. Returns the receivers.
    pub(crate) fn publish(&self, messages: &[Message], metrics: &Metrics) -> u64 {
        let Some(last) = messages.last() else { return 0 };
        let mut run = Run::new(&self.id, messages);
        let mut delivered = Delivered::default();
        let mut state = lock(&self.state);
        state.published = last.seq;
        for Member { peer, .. } in &state.members {
            let piece = run.piece(peer.form);
            if peer.polled.load(Relaxed) {
                for frame in piece.frames() {
                    delivered.push(peer, &frame);
                }
            } else {
                delivered.deliver(peer, &piece.bytes, messages.len() as u64);
            }
        }
        drop(state);
        delivered.record(metrics);
        delivered.receivers
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::outbox::packet_of;
    use crate::peer::{Newcomer, Peers};

    #[test]
    fn a_piece_comes_apart_into_the_frames_of_its_messages() {
        let (peers, limits) = (Peers::default(), Limits::default());
        let newcomer = Newcomer { form: Form::Raw, sid: None, polled: false, queue_bytes: 1000 };
        let sender = peers.add(newcomer, 1, &limits);
        let messages: Vec<Message> =
            ["1".to_owned(), format!("\"{}\"", "long ".repeat(100)), "[]".to_owned()]
                .into_iter()
                .zip(7..)
                .map(|(content, seq)| Message { seq, sender: sender.clone(), user: 3, content, at: 9 })
                .collect();
        for form in [Form::Raw, Form::SocketIo] {
            let mut run = Run::new("lobby", &messages);
            let piece = run.piece(form);
            let frames: Vec<Bytes> = piece.frames().collect();
            let alone: Vec<Bytes> =
                messages.iter().map(|message| Encoded::new("lobby", message).frame(form).clone()).collect();
            assert_eq!(frames, alone);
            assert_eq!(piece.bytes, alone.concat());
            let (binary, text) = packet_of(&frames[2]).unwrap();
            assert!(
                !binary
                    && String::from_utf8(text.to_vec())
                        .unwrap()
                        .contains(r#""seq":9,"senderId":3,"content":[]"#)
            );
        }
    }
}
