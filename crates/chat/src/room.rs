//! A room while the service runs: its members and the fan-out of a message to them.
//!
//! One thread publishes (`log`), so the order of sequence numbers and the order of queueing agree. A broadcast is
//! encoded at most once per wire form. What faults make of a copy is in `spoil`; without a plan none of it runs.
//!
//! The room's lock is not held while copies are written, which takes milliseconds for a large room: whoever joins or
//! leaves meanwhile is answered at once. Under the lock a fan-out only says what number is published now and takes the
//! list of members as it is. Who joins before that is on the list; who joins after it is told that number, and gets what
//! is above. Who leaves is marked before it is told `left`, and the mark is looked at under the lock of its queue, where
//! the copy and the word `left` are both put: either the copy is there first, or the mark is seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
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
    /// Copied when it changes while a fan-out reads it.
    pub(crate) members: Arc<Vec<Arc<Member>>>,
    /// The number of the last message fanned out.
    published: u64,
    /// Copies waiting because of a fault; present only when faults are planned.
    pub(crate) spoilt: Option<Box<Spoilt>>,
}

pub(crate) struct Member {
    pub(crate) peer: Arc<Peer>,
    pub(crate) since: Instant,
    left: AtomicBool,
}

impl Member {
    /// To be asked under the lock of the peer's queue, which orders it against what the peer is told.
    fn stays(&self) -> bool {
        !self.left.load(Relaxed)
    }
}

/// What a sender is to be told once its message is published.
pub(crate) struct Ack {
    pub(crate) peer: Arc<Peer>,
    /// A whole frame.
    pub(crate) frame: Bytes,
    /// It went with the sender's own copy.
    pub(crate) given: bool,
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
    /// Bytes that went straight to sockets, and the system calls that took them.
    written: u64,
    writes: u64,
    /// Connections that got something.
    pub(crate) receivers: u64,
}

impl Delivered {
    /// Queues one copy and says whether it is on a live queue.
    pub(crate) fn push(&mut self, peer: &Peer, frame: &Bytes) -> bool {
        self.push_if(peer, frame, || true)
    }

    /// Queues one copy for who wants it still.
    fn push_if(&mut self, peer: &Peer, frame: &Bytes, wanted: impl FnOnce() -> bool) -> bool {
        let queued = peer.outbox.push_if(frame.clone(), wanted) == Pushed::Queued;
        if queued {
            self.copies += 1;
            self.bytes += frame.len() as u64;
            self.receivers += 1;
        }
        queued
    }

    /// Hands over a piece of so many frames, to the socket itself when it takes it. True unless it went nowhere.
    pub(crate) fn deliver(
        &mut self,
        peer: &Peer,
        piece: &Bytes,
        frames: u64,
        wanted: impl FnOnce() -> bool,
    ) -> bool {
        let (pushed, written) = peer.outbox.deliver_if(piece, wanted);
        self.written += written as u64;
        self.writes += u64::from(written > 0);
        let queued = pushed == Pushed::Queued;
        if queued {
            self.copies += frames;
            self.bytes += piece.len() as u64;
            self.receivers += 1;
        }
        queued
    }

    pub(crate) fn record(self, metrics: &Metrics) {
        metrics.deliveries.add(self.copies);
        metrics.delivery_bytes.add(self.bytes);
        metrics.bytes_out.add(self.written);
        metrics.writes.add(self.writes);
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
        let state = State { members: Arc::default(), published: last, spoilt };
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
            let member = Member { peer: peer.clone(), since: Instant::now(), left: AtomicBool::new(false) };
            Arc::make_mut(&mut state.members).push(Arc::new(member));
        }
        state.published
    }

    /// Nothing is queued to the peer after this for its membership. Copies that a fault still holds for it are queued
    /// first: leaving must not lose them.
    pub(crate) fn leave(&self, peer: &Peer, metrics: &Metrics) {
        let mut state = lock(&self.state);
        if let Some(at) = state.members.iter().position(|member| member.peer.id == peer.id) {
            let member = Arc::make_mut(&mut state.members).swap_remove(at);
            member.left.store(true, Relaxed);
        }
        if let Some(spoilt) = &mut state.spoilt {
            spoilt.left(peer, metrics);
        }
    }

    /// Sends messages, in the order of their numbers, to every member, as one piece to each, and to a member that sent
    /// some of them the acknowledgements behind it. Not from two threads at a time. Returns the receivers.
    pub(crate) fn publish(&self, messages: &[Message], acks: &mut [Ack], metrics: &Metrics) -> u64 {
        let Some(last) = messages.last() else { return 0 };
        let members = {
            let mut state = lock(&self.state);
            state.published = last.seq;
            state.members.clone()
        };
        let mut run = Run::new(&self.id, messages);
        let mut delivered = Delivered::default();
        // Stable: a sender hears of its messages in their order.
        acks.sort_by_key(|ack| ack.peer.id);
        for member in members.iter() {
            let peer = &member.peer;
            let piece = run.piece(peer.form);
            if peer.polled.load(Relaxed) {
                for frame in piece.frames() {
                    delivered.push_if(peer, &frame, || member.stays());
                }
                continue;
            }
            let frames = messages.len() as u64;
            let own = acks_of(peer.id, acks);
            if own.is_empty() {
                delivered.deliver(peer, &piece.bytes, frames, || member.stays());
                continue;
            }
            let mut both = piece.bytes.to_vec();
            own.iter().for_each(|ack| both.extend_from_slice(&ack.frame));
            let more = both.len() - piece.bytes.len();
            if delivered.deliver(peer, &both.into(), frames, || member.stays()) {
                delivered.bytes -= more as u64;
                own.iter_mut().for_each(|ack| ack.given = true);
            }
        }
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

/// The sorted acknowledgements for this peer.
fn acks_of(peer: u64, acks: &mut [Ack]) -> &mut [Ack] {
    let from = acks.partition_point(|ack| ack.peer.id < peer);
    let to = from + acks[from..].iter().take_while(|ack| ack.peer.id == peer).count();
    &mut acks[from..to]
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

    #[test]
    fn who_joins_or_leaves_while_copies_are_written_does_not_wait_and_gets_what_it_was_told() {
        let (peers, metrics) = (Peers::default(), Metrics::default());
        let peer = || {
            let newcomer = Newcomer { form: Form::Raw, sid: None, polled: false, queue_bytes: 10_000 };
            peers.add(newcomer, 1, &Limits::default())
        };
        let (stays, leaves, returns, joins) = (peer(), peer(), peer(), peer());
        let room = Room::new(1, "lobby".into(), Access::Group, 6, None);
        for member in [&stays, &leaves, &returns] {
            assert_eq!(room.join(member), 6);
        }
        let publish = |seq| {
            let message = Message { seq, sender: stays.clone(), user: 3, content: seq.to_string(), at: 9 };
            let left = Bytes::from_static(b"ack");
            let ack = |peer: &Arc<Peer>| Ack { peer: peer.clone(), frame: left.clone(), given: false };
            // One sender is a member that leaves: it is not told by its copy.
            let mut acks = [ack(&leaves), ack(&stays)];
            let receivers = room.publish(&[message], &mut acks, &metrics);
            (receivers, acks.map(|ack| (ack.peer.id, ack.given)))
        };
        std::thread::scope(|scope| {
            let held = stays.outbox.held();
            let published = scope.spawn(|| publish(7));
            // The lock itself is tried: to wait for it would wait for the fan-out.
            let begun = (0..20_000_000).any(|_| {
                std::thread::yield_now();
                room.state.try_lock().is_ok_and(|state| state.published == 7)
            });
            assert!(begun, "the room can be asked while copies are written");
            for leaver in [&leaves, &returns] {
                room.leave(leaver, &metrics);
                leaver.outbox.push(Bytes::from_static(b"left"));
            }
            assert_eq!((room.join(&joins), room.join(&returns)), (7, 7));
            drop(held);
            assert_eq!(published.join().unwrap(), (1, [(stays.id, true), (leaves.id, false)]));
        });
        assert_eq!(publish(8), (3, [(stays.id, true), (leaves.id, false)]));
        let got = |peer: &Peer| {
            let mut frames = std::collections::VecDeque::new();
            peer.outbox.take(&mut frames);
            let text = frames.iter().map(|frame| String::from_utf8_lossy(frame)).collect::<String>();
            let words = ["\"seq\":7", "\"seq\":8", "left", "ack"];
            let mut found: Vec<_> = words.iter().flat_map(|word| text.match_indices(word)).collect();
            found.sort_unstable();
            found
                .into_iter()
                .map(|(_, word)| word.trim_start_matches("\"seq\":").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(got(&stays), ["7", "ack", "8", "ack"]);
        assert_eq!(got(&leaves), ["left"]);
        assert_eq!(got(&returns), ["left", "8"]);
        assert_eq!(got(&joins), ["8"]);
    }
}
