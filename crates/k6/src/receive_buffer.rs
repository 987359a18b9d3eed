//! Messages of one drive on their way from a socket to its script.
//!
//! A socket is driven with a buffer of the shard, and its script may block in the middle of a message. Messages are
//! therefore copied once, end to end, into a receive buffer, from which the script's side reads. An idle socket has
//! none.

use sonagi_transport::link::WebsocketEvent;
use std::cell::RefCell;

/// Buffers a shard keeps for the next drive.
const KEPT: usize = 16;

/// The largest one it keeps, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Messages, pings and the like, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct ReceiveBuffer {
    marks: Vec<Mark>,
    text: String,
    bytes: Vec<u8>,
    /// How far it has been read.
    next: usize,
    text_at: usize,
    bytes_at: usize,
}

/// Where an item ends, in the buffer its kind lies in.
#[derive(Clone, Copy, Debug)]
enum Mark {
    Text(usize),
    Binary(usize),
    Ping,
    Pong(usize),
    Close(Option<u16>, usize),
}

/// A message or control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
    Ping,
    Pong(&'a [u8]),
    /// The peer's close frame.
    Close(Option<u16>, &'a str),
}

impl ReceiveBuffer {
    /// Adds one.
    #[inline]
    pub(crate) fn push(&mut self, event: WebsocketEvent<'_>) {
        self.marks.push(match event {
            WebsocketEvent::Text(text) => {
                self.text.push_str(text);
                Mark::Text(self.text.len())
            }
            WebsocketEvent::Binary(bytes) => {
                self.bytes.extend_from_slice(bytes);
                Mark::Binary(self.bytes.len())
            }
            WebsocketEvent::Ping(_) => Mark::Ping,
            WebsocketEvent::Pong(payload) => {
                self.bytes.extend_from_slice(payload);
                Mark::Pong(self.bytes.len())
            }
            WebsocketEvent::Close { code, reason } => {
                self.text.push_str(reason);
                Mark::Close(code, self.text.len())
            }
        });
    }

    /// Adds a text.
    pub(crate) fn push_text(&mut self, text: &str) {
        self.push(WebsocketEvent::Text(text));
    }

    /// The next one, which is a text.
    pub(crate) fn read_text(&mut self) -> Option<&str> {
        match self.read() {
            Some(Item::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The next one.
    #[inline]
    pub(crate) fn read(&mut self) -> Option<Item<'_>> {
        let mark = *self.marks.get(self.next)?;
        self.next += 1;
        Some(match mark {
            Mark::Text(end) => Item::Text(self.text_to(end)),
            Mark::Binary(end) => Item::Binary(self.bytes_to(end)),
            Mark::Ping => Item::Ping,
            Mark::Pong(end) => Item::Pong(self.bytes_to(end)),
            Mark::Close(code, end) => Item::Close(code, self.text_to(end)),
        })
    }

    fn text_to(&mut self, end: usize) -> &str {
        let begin = std::mem::replace(&mut self.text_at, end);
        &self.text[begin..end]
    }

    fn bytes_to(&mut self, end: usize) -> &[u8] {
        let begin = std::mem::replace(&mut self.bytes_at, end);
        &self.bytes[begin..end]
    }

    /// Whether all of it was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.marks.len()
    }

    /// Its size, read or not.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.bytes.len()
    }

    fn clear(&mut self) {
        self.marks.clear();
        self.text.clear();
        self.bytes.clear();
        (self.next, self.text_at, self.bytes_at) = (0, 0, 0);
    }

    fn capacity(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>() + self.text.capacity() + self.bytes.capacity()
    }
}

/// A shard's receive buffers that are not in use.
#[derive(Default)]
pub(crate) struct ReceiveBuffers(RefCell<Vec<ReceiveBuffer>>);

impl ReceiveBuffers {
    /// An empty one.
    pub(crate) fn take(&self) -> ReceiveBuffer {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes back one that is not needed any more, read or not.
    pub(crate) fn put_back(&self, mut buffer: ReceiveBuffer) {
        let mut kept = self.0.borrow_mut();
        if kept.len() < KEPT && buffer.capacity() <= KEPT_BYTES {
            buffer.clear();
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_as_they_went_in_and_the_buffer_is_used_again() {
        let buffers = ReceiveBuffers::default();
        for _ in 0..2 {
            let mut buffer = buffers.take();
            assert!(buffer.is_empty() && buffer.read().is_none());
            buffer.push(WebsocketEvent::Text("gr\u{fc}\u{df}"));
            buffer.push(WebsocketEvent::Binary(&[1, 2]));
            buffer.push(WebsocketEvent::Text(""));
            buffer.push(WebsocketEvent::Ping(b"x"));
            buffer.push(WebsocketEvent::Pong(b"7"));
            buffer.push(WebsocketEvent::Close { code: Some(4000), reason: "why" });
            assert_eq!(buffer.read(), Some(Item::Text("gr\u{fc}\u{df}")));
            assert_eq!(buffer.read(), Some(Item::Binary(&[1, 2])));
            assert_eq!(buffer.read(), Some(Item::Text("")));
            assert_eq!(buffer.read(), Some(Item::Ping));
            assert_eq!(buffer.read(), Some(Item::Pong(b"7")));
            assert!(!buffer.is_empty());
            assert_eq!(buffer.read(), Some(Item::Close(Some(4000), "why")));
            assert!(buffer.is_empty());
            buffer.push(WebsocketEvent::Text("unread"));
            buffers.put_back(buffer);
        }
        assert_eq!(buffers.0.borrow().len(), 1);
    }
}
