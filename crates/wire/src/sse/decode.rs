//! The push decoder: bytes in any pieces, events out.
//!
//! | half read | where it is kept | what comes next |
//! |---|---|---|
//! | nothing | nowhere | a line: the fast path, borrowed from the input |
//! | the byte order mark | `mark` | its next byte, or a line that begins with what was taken for it |
//! | a CR | `after_cr` | perhaps its LF; the line is over already |
//! | a line | `Unfinished::line` | the rest of the line |
//! | an event | `Unfinished::block` | another field, or the blank line that dispatches it |

use std::borrow::Cow;

/// The longest event id, in bytes: it is kept as long as the connection, and travels in a header.
pub const MAX_ID: usize = 1024;

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// An item of the stream, borrowed from the input where possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A dispatched event.
    Event(Event<'a>),
    /// A comment's bytes behind its colon and one space: means nothing but that the server lives.
    Comment(&'a [u8]),
    /// How long to wait before connecting again, in milliseconds; `u64::MAX` stands for anything larger too.
    Retry(u64),
}

/// An event. Its data is borrowed from the input when the event came whole in one piece and has one data line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The event's type, `message` when the server gave none.
    pub name: Cow<'a, str>,
    /// The data lines, joined by LF; not necessarily UTF-8.
    pub data: &'a [u8],
    /// The last id the server gave, with this event or before it; "" when there was none.
    pub id: &'a str,
}

impl<'a> Event<'a> {
    /// The data as the specification reads it: UTF-8, with U+FFFD for what is not.
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.data)
    }
}

/// A limit of ours: the specification has none, and nothing else in a stream can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A line, or the data of an event.
    #[error("a line and an event's data must each have at most {limit} bytes, got more")]
    TooLong {
        /// The decoder's limit.
        limit: usize,
    },
    /// An event's id.
    #[error("an event's id must have at most {MAX_ID} bytes, got {length}")]
    IdTooLong {
        /// The id's bytes.
        length: usize,
    },
}

/// Decodes one stream. 48 bytes and the last id between events.
#[derive(Debug)]
pub struct Decoder {
    held: Option<Box<Unfinished>>,
    last_id: String,
    max_event: usize,
    /// Bytes of the byte order mark seen; its length once it is decided.
    mark: u8,
    after_cr: bool,
    is_over: bool,
}

/// The unfinished end of the input.
#[derive(Debug, Default)]
struct Unfinished {
    block: EventFields<'static>,
    /// A line without its end.
    line: Vec<u8>,
}

/// The fields of an event that is not dispatched yet.
#[derive(Debug, Default)]
struct EventFields<'a> {
    /// None without a data line: then nothing is dispatched.
    data: Option<Cow<'a, [u8]>>,
    name: Option<Cow<'a, [u8]>>,
    id: Option<Cow<'a, [u8]>>,
}

impl Decoder {
    /// `max_event` bounds a line, and an event's joined data, in bytes. A half-read event holds at most three times
    /// that.
    pub fn new(max_event: usize) -> Decoder {
        Decoder { held: None, last_id: String::new(), max_event, mark: 0, after_cr: false, is_over: false }
    }

    /// The id to ask a server to go on behind; "" for none. Only a blank line makes an event's id count (§9.2.6).
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Begins another stream, after a reconnect: the last id stays (the specification's buffer begins empty, and a
    /// second break before the first new id would lose the place), everything unfinished is forgotten.
    pub fn restart(&mut self) {
        *self = Decoder { last_id: std::mem::take(&mut self.last_id), ..Decoder::new(self.max_event) };
    }

    /// True while nothing is half read: no line, no field of an event.
    pub fn is_idle(&self) -> bool {
        self.held.is_none()
    }

    /// Decodes `bytes` and calls `on` for each item in order. After a violation further input is ignored. The stream's
    /// end needs no call: an event without its blank line is discarded.
    ///
    /// # Errors
    /// [`Violation`], after the items before it were handed over.
    pub fn feed(&mut self, bytes: &[u8], mut on: impl FnMut(Item<'_>)) -> Result<(), Violation> {
        if self.is_over {
            return Ok(());
        }
        let fed = self.read(bytes, &mut on);
        if fed.is_err() {
            self.is_over = true;
            self.held = None;
        }
        fed
    }

    fn read(&mut self, bytes: &[u8], on: &mut impl FnMut(Item<'_>)) -> Result<(), Violation> {
        let mut rest = self.behind_mark(bytes);
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        if rest.is_empty() {
            return Ok(());
        }
        let mut block = EventFields::default();
        if let Some(mut held) = self.held.take() {
            if !held.line.is_empty() {
                let end = line_end(rest);
                let piece = &rest[..end.unwrap_or(rest.len())];
                self.check(held.line.len() + piece.len())?;
                held.line.extend_from_slice(piece);
                let Some(end) = end else {
                    self.held = Some(held);
                    return Ok(());
                };
                rest = self.behind_line(rest, end);
                self.field(&mut held.block, &held.line, |value| Cow::Owned(value.to_vec()), on)?;
            }
            block = held.block;
        }
        while let Some(end) = line_end(rest) {
            let line = &rest[..end];
            rest = self.behind_line(rest, end);
            if line.is_empty() {
                self.dispatch(std::mem::take(&mut block), on);
            } else {
                self.check(line.len())?;
                self.field(&mut block, line, Cow::Borrowed, on)?;
            }
        }
        self.check(rest.len())?;
        if !rest.is_empty() || !block.is_empty() {
            self.held = Some(Box::new(Unfinished { block: block.into_owned(), line: rest.to_vec() }));
        }
        Ok(())
    }

    /// Skips the one byte order mark that may begin a stream.
    fn behind_mark<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let (Some(wanted), Some(found)) = (MARK.get(usize::from(self.mark)), bytes.first()) {
            if found != wanted {
                if self.mark > 0 {
                    let line = MARK[..usize::from(self.mark)].to_vec();
                    self.held = Some(Box::new(Unfinished { block: EventFields::default(), line }));
                }
                self.mark = MARK.len() as u8;
                break;
            }
            self.mark += 1;
            bytes = &bytes[1..];
        }
        bytes
    }

    /// The input after the line that ends at `end`: behind CR LF, LF or CR.
    fn behind_line<'a>(&mut self, bytes: &'a [u8], end: usize) -> &'a [u8] {
        let rest = &bytes[end + 1..];
        if bytes[end] == b'\n' {
            return rest;
        }
        self.after_cr = rest.is_empty();
        rest.strip_prefix(b"\n").unwrap_or(rest)
    }

    fn check(&self, length: usize) -> Result<(), Violation> {
        if length > self.max_event { Err(Violation::TooLong { limit: self.max_event }) } else { Ok(()) }
    }

    /// Takes a line that is not blank (§9.2.6); `keep` makes what of it must outlive the line.
    fn field<'a, 'l>(
        &self,
        block: &mut EventFields<'a>,
        line: &'l [u8],
        keep: impl Fn(&'l [u8]) -> Cow<'a, [u8]>,
        on: &mut impl FnMut(Item<'_>),
    ) -> Result<(), Violation> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"" => on(Item::Comment(value)),
            b"data" => match &mut block.data {
                None => block.data = Some(keep(value)),
                Some(data) => {
                    self.check(data.len() + 1 + value.len())?;
                    let data = data.to_mut();
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"event" => block.name = Some(keep(value)),
            b"id" if memchr::memchr(0, value).is_some() => {}
            b"id" if value.len() > MAX_ID => return Err(Violation::IdTooLong { length: value.len() }),
            b"id" => block.id = Some(keep(value)),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                on(Item::Retry(number(value)));
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, block: EventFields<'_>, on: &mut impl FnMut(Item<'_>)) {
        if let Some(id) = &block.id {
            self.last_id.clear();
            self.last_id.push_str(&String::from_utf8_lossy(id));
        }
        let Some(data) = &block.data else { return };
        let name = match &block.name {
            Some(name) if !name.is_empty() => String::from_utf8_lossy(name),
            _ => Cow::Borrowed("message"),
        };
        on(Item::Event(Event { name, data, id: &self.last_id }));
    }
}

impl EventFields<'_> {
    fn is_empty(&self) -> bool {
        self.data.is_none() && self.name.is_none() && self.id.is_none()
    }

    fn into_owned(self) -> EventFields<'static> {
        let owned = |field: Option<Cow<'_, [u8]>>| field.map(|field| Cow::Owned(field.into_owned()));
        EventFields { data: owned(self.data), name: owned(self.name), id: owned(self.id) }
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', bytes)
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}
