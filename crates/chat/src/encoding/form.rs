//! Forms: the ways to write a room's message for a member, each written once for all members that share it.
//!
//! Every form is made of the message's object (`model::message`). To add one: a variant, its data if members of the
//! same transport are told differently, and its arm in `write`; what `write` appends is one whole unit of that wire,
//! which nothing may come between.

use bytes::Bytes;
use sonagi_wire::websocket::{self, Opcode};

use super::sse;
use super::stomp::subscription::SubscriptionForm;
use crate::connection::outbox::{Farewell, cost};
use crate::model::message::Message;

/// Forms of one broadcast that are shared; members beyond so many different ones are each written for.
const SHARED: usize = 16;

/// The name of one run of the service in the offsets of its broadcasts: letters and digits.
pub(crate) type Life = [u8; 6];

/// How a broadcast is written for a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The JSON objects of `/ws`.
    Raw,
    /// Socket.IO events; where sessions can be recovered with an offset as the last argument.
    SocketIo(Option<Life>),
    /// The object alone, for answers to polls.
    Object,
    /// Events of an event stream; without a number they leave its client's cursor as it is.
    Sse { numbered: bool },
    /// MESSAGE frames of a STOMP subscription.
    Stomp(SubscriptionForm),
}

impl Form {
    pub(crate) fn write(&self, room: &str, message: &Message, out: &mut Vec<u8>) {
        // Room ids are made of what needs no escaping.
        let (room, members) = (room.as_bytes(), message.members());
        match self {
            Form::Raw => text_frame([br#"{"type":"message","room":""#, room, br#"","#, members, b""], out),
            Form::SocketIo(life) => {
                let offset = life.map_or_else(String::new, |life| {
                    format!(r#","{}.{}""#, life.escape_ascii(), message.serial)
                });
                let offset = offset.as_bytes();
                text_frame([br#"42["newMessage",{"roomId":""#, room, br#"","#, members, offset, b"]"], out);
            }
            Form::Object => out.extend_from_slice(&message.object),
            Form::Sse { numbered } => sse::write(message, *numbered, out),
            Form::Stomp(subscription) => subscription.style().write(message.seq, &message.object, out),
        }
    }

    /// Notes that messages are about to be sent, where they must be acknowledged; false when too many are not.
    pub(crate) fn sending(&self, seqs: impl ExactSizeIterator<Item = u64>) -> bool {
        match self {
            Form::Stomp(subscription) => subscription.sending(seqs),
            _ => true,
        }
    }

    /// How many messages of those that were missed may be sent now. Of those that must be acknowledged some are left
    /// for what comes meanwhile, unless its client has been waited for in vain.
    pub(crate) fn free(&self, in_vain: bool) -> usize {
        match self {
            Form::Stomp(subscription) => subscription.free(in_vain),
            _ => usize::MAX,
        }
    }

    /// How a connection ends because something was not sent to it that it wanted; `None` when it may go on.
    pub(crate) fn overflow(&self) -> Option<Farewell> {
        match self {
            Form::Stomp(subscription) => subscription.overflow(),
            _ => None,
        }
    }

    /// Whether both go over the same kind of wire, though members may be told differently.
    pub(crate) fn is_like(&self, other: &Form) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The same for what somebody missed and asks for: an offset would say that it got all that was published before.
    pub(crate) fn without_offset(&self) -> Form {
        match self {
            Form::SocketIo(_) => Form::SocketIo(None),
            other => other.clone(),
        }
    }

    pub(crate) fn one(&self, room: &str, message: &Message) -> Bytes {
        let mut bytes = Vec::new();
        self.write(room, message, &mut bytes);
        bytes.into()
    }
}

/// A WebSocket's text frame of these parts.
fn text_frame<const N: usize>(parts: [&[u8]; N], out: &mut Vec<u8>) {
    let length = parts.iter().map(|part| part.len()).sum();
    // Two to ten bytes of header.
    out.reserve(length + 10);
    websocket::header(Opcode::Text, length, out);
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Messages one after the other, in the forms asked for so far.
pub(crate) struct EncodedRun<'a> {
    room: &'a str,
    messages: &'a [Message],
    pieces: Vec<(Form, Piece)>,
    /// The bytes in a form that is not shared any more.
    other: Option<Piece>,
}

/// Whole frames, and where each of them ends.
pub(crate) struct Piece {
    pub(crate) bytes: Bytes,
    ends: Vec<usize>,
}

impl<'a> EncodedRun<'a> {
    pub(crate) fn new(room: &'a str, messages: &'a [Message]) -> EncodedRun<'a> {
        EncodedRun { room, messages, pieces: Vec::new(), other: None }
    }

    pub(crate) fn piece(&mut self, form: &Form) -> &Piece {
        let known = self.pieces.iter().position(|(known, _)| known == form);
        let at = known.unwrap_or(self.pieces.len());
        if known.is_none() {
            let piece = Piece::new(self.room, self.messages, form);
            if at >= SHARED {
                return self.other.insert(piece);
            }
            self.pieces.push((form.clone(), piece));
        }
        &self.pieces[at].1
    }
}

impl Piece {
    pub(crate) fn new<'a>(room: &str, messages: impl IntoIterator<Item = &'a Message>, form: &Form) -> Piece {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for message in messages {
            form.write(room, message, &mut bytes);
            ends.push(bytes.len());
        }
        Piece { bytes: bytes.into(), ends }
    }

    /// How many frames it has.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The most bytes it counts on a queue: each frame as if it were queued by itself.
    pub(crate) fn cost(&self) -> usize {
        self.bytes.len() + self.ends.len() * cost(0)
    }

    /// Gives up all behind what costs so much, but not the first.
    pub(crate) fn cut(&mut self, most: usize) {
        let fits = |(at, end): (usize, &usize)| end + (at + 1) * cost(0) <= most;
        let count = self.ends.iter().enumerate().take_while(|frame| fits(*frame)).count();
        self.ends.truncate(count.max(1));
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = Bytes> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| self.bytes.slice(*start..*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::outbox::packet_of;

    fn messages() -> Vec<Message> {
        ["1".to_owned(), format!("\"{}\"", "long ".repeat(100)), "[]".to_owned(), "7".repeat(66_000)]
            .iter()
            .zip(7..)
            .map(|(content, seq)| Message::new(seq, seq, 3, content, 9))
            .collect()
    }

    #[test]
    fn each_wire_gets_the_message_in_its_own_words() {
        for message in &messages() {
            let object = std::str::from_utf8(&message.object).unwrap();
            let inside = &object[1..];
            for (form, expected) in [
                (Form::Raw, format!(r#"{{"type":"message","room":"lobby",{inside}"#)),
                (Form::SocketIo(None), format!(r#"42["newMessage",{{"roomId":"lobby",{inside}]"#)),
                (
                    Form::SocketIo(Some(*b"abc123")),
                    format!(r#"42["newMessage",{{"roomId":"lobby",{inside},"abc123.{}"]"#, message.serial),
                ),
            ] {
                let frame = form.one("lobby", message);
                assert_eq!(frame, websocket::shared(Opcode::Text, expected.as_bytes()));
            }
            assert_eq!(Form::Object.one("lobby", message), message.object);
        }
    }

    #[test]
    fn a_piece_comes_apart_into_the_frames_of_its_messages() {
        let messages = messages();
        for form in [Form::Raw, Form::SocketIo(None), Form::Object] {
            let mut run = EncodedRun::new("lobby", &messages);
            let piece = run.piece(&form);
            let frames: Vec<Bytes> = piece.frames().collect();
            let alone: Vec<Bytes> = messages.iter().map(|message| form.one("lobby", message)).collect();
            assert_eq!(frames, alone);
            assert_eq!((piece.count(), &piece.bytes), (4, &alone.concat().into()));
            if form != Form::Object {
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
}
