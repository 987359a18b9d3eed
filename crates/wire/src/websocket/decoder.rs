//! The push decoder: bytes in any pieces, whole messages and control frames out.
//!
//! | half read | where it is kept | what comes next |
//! |---|---|---|
//! | nothing | nowhere | a header: the fast path, borrowed from the input |
//! | a header | `Partial::head` | the rest of the header |
//! | a control frame | `Partial::frame` and `control` | its payload |
//! | a data frame | `Partial::frame` and `message` | its payload |
//! | a fragmented message | `Partial::message` | a continuation, or a control frame in between |

use super::header::{self, Expect, Header, MAX_HEADER};
use super::text::{Message, Text};
use super::{Opcode, Role, Violation, is_valid_close_code, mask};

/// A whole message or control frame, borrowed from the input where possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message.
    Binary(&'a [u8]),
    /// To be answered by a pong with the same payload.
    Ping(&'a [u8]),
    /// The answer to a ping, or an unasked sign of life.
    Pong(&'a [u8]),
    /// The peer's close frame; nothing follows it.
    Close {
        /// None for an empty close frame (1005 is never on the wire).
        code: Option<u16>,
        /// Empty when the peer gave none.
        reason: &'a str,
    },
}

/// Decodes one direction of one connection. 24 bytes, and nothing on the heap, between messages.
pub struct Decoder {
    max_message: usize,
    partial: Option<Box<Partial>>,
    role: Role,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    Closed,
    Failed,
}

impl Decoder {
    /// `max_message` bounds a message's (and a frame's) payload in bytes: over it the violation's code is 1009.
    /// Control frames have their own bound of 125 bytes.
    pub fn new(role: Role, max_message: usize) -> Decoder {
        Decoder { max_message, partial: None, role, phase: Phase::Open }
    }

    /// Decodes `input` in place (a server unmasks in place) and calls `on` for each event in order.
    /// After a close frame or a violation further input is ignored.
    ///
    /// # Errors
    /// The first [`Violation`], after the events that came before it. Neither depends on how the stream was cut.
    #[inline]
    pub fn feed(&mut self, input: &mut [u8], on: impl FnMut(Event<'_>)) -> Result<(), Violation> {
        self.feed_counting(input, on).map(|_| ())
    }

    /// [`Decoder::feed`] that says how many frames it read or went on reading: what the input cost beside its bytes,
    /// also where frames bring no event.
    ///
    /// # Errors
    /// The errors of [`Decoder::feed`].
    #[inline]
    pub fn feed_counting(
        &mut self,
        input: &mut [u8],
        mut on: impl FnMut(Event<'_>),
    ) -> Result<usize, Violation> {
        let (mut at, mut frames) = (0, 0);
        while at < input.len() && self.phase == Phase::Open {
            match self.step(&mut input[at..], &mut on) {
                Ok(taken) => (at, frames) = (at + taken, frames + 1),
                Err(violation) => {
                    self.phase = Phase::Failed;
                    self.partial = None;
                    return Err(violation);
                }
            }
        }
        Ok(frames)
    }

    /// True when no frame or message is half read: a connection that ends here ended between messages.
    /// True after a close frame; false after a violation.
    pub fn is_idle(&self) -> bool {
        self.partial.is_none() && self.phase != Phase::Failed
    }

    /// True once the peer's close frame was read: a connection that ends now ended in order.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Takes at least one byte from `input`: a whole frame when that is possible.
    #[inline]
    fn step(&mut self, input: &mut [u8], on: &mut impl FnMut(Event<'_>)) -> Result<usize, Violation> {
        if self.partial.is_none() {
            let expect = Expect { role: self.role, max_message: self.max_message, unfinished: None };
            if let Some(header) = header::parse(input, expect)?
                && header.fin
                && let Some(payload) = input[header.size..].get_mut(..header.length)
            {
                if self.role == Role::Server {
                    mask::apply(header.mask, payload);
                }
                match header.opcode {
                    Opcode::Text => {
                        on(Event::Text(
                            simdutf8::basic::from_utf8(payload).map_err(|_| Violation::InvalidText)?,
                        ));
                    }
                    Opcode::Binary | Opcode::Continuation => on(Event::Binary(payload)),
                    opcode => self.control(opcode, payload, on)?,
                }
                return Ok(header.size + header.length);
            }
        }
        self.step_in_pieces(input, on)
    }

    #[inline(never)]
    fn step_in_pieces(
        &mut self,
        input: &mut [u8],
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<usize, Violation> {
        let mut partial = self.partial.take().unwrap_or_default();
        let mut at = 0;
        if partial.frame.is_none() {
            at = partial.take_header(input, self.role, self.max_message)?;
        }
        if partial.frame.is_some() {
            at += partial.take_payload(&mut input[at..])?;
        }
        if let Some(frame) = partial.frame.take_if(|frame| frame.remaining == 0) {
            if frame.opcode.is_control() {
                self.control(frame.opcode, &std::mem::take(&mut partial.control), on)?;
            } else if frame.fin
                && let Some(message) = partial.message.take()
            {
                match &message {
                    Message::Text(text) => on(Event::Text(text.finish()?)),
                    Message::Binary(bytes) => on(Event::Binary(bytes)),
                }
            }
        }
        if partial.is_something() && self.phase == Phase::Open {
            self.partial = Some(partial);
        }
        Ok(at)
    }

    #[inline(never)]
    fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Violation> {
        match opcode {
            Opcode::Ping => on(Event::Ping(payload)),
            Opcode::Pong => on(Event::Pong(payload)),
            _ => {
                let (code, reason) = close(payload)?;
                self.phase = Phase::Closed;
                on(Event::Close { code, reason });
            }
        }
        Ok(())
    }
}

/// Reads a close frame's payload (§5.5.1).
fn close(payload: &[u8]) -> Result<(Option<u16>, &str), Violation> {
    match payload {
        [] => Ok((None, "")),
        [_] => Err(Violation::TruncatedCloseCode),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            if !is_valid_close_code(code) {
                return Err(Violation::InvalidCloseCode { code });
            }
            let reason = std::str::from_utf8(reason).map_err(|_| Violation::InvalidCloseReason)?;
            Ok((Some(code), reason))
        }
    }
}

/// The half-read part of the stream. It exists only while there is one.
#[derive(Default)]
struct Partial {
    head: [u8; MAX_HEADER],
    head_length: usize,
    frame: Option<Frame>,
    control: Vec<u8>,
    message: Option<Message>,
}

/// A frame whose payload is still arriving.
struct Frame {
    opcode: Opcode,
    fin: bool,
    /// The key for the next byte.
    mask: [u8; 4],
    remaining: usize,
}

impl Partial {
    fn is_something(&self) -> bool {
        self.head_length > 0 || self.frame.is_some() || self.message.is_some()
    }

    /// Takes header bytes until the header is whole and `frame` set, or the input has ended.
    fn take_header(&mut self, input: &[u8], role: Role, max_message: usize) -> Result<usize, Violation> {
        let expect = Expect { role, max_message, unfinished: self.message.as_ref().map(Message::len) };
        if self.head_length == 0
            && let Some(header) = header::parse(input, expect)?
        {
            self.begin(header);
            return Ok(header.size);
        }
        for (taken, &byte) in input.iter().enumerate() {
            self.head[self.head_length] = byte;
            self.head_length += 1;
            if let Some(header) = header::parse(&self.head[..self.head_length], expect)? {
                self.head_length = 0;
                self.begin(header);
                return Ok(taken + 1);
            }
        }
        Ok(input.len())
    }

    fn begin(&mut self, header: Header) {
        match header.opcode {
            Opcode::Text => self.message = Some(Message::Text(Text::default())),
            Opcode::Binary => self.message = Some(Message::Binary(Vec::new())),
            _ => {}
        }
        if let Some(message) = &mut self.message
            && !header.opcode.is_control()
        {
            message.reserve(header.length);
        }
        let Header { opcode, fin, mask, length: remaining, .. } = header;
        self.frame = Some(Frame { opcode, fin, mask, remaining });
    }

    /// Takes what `input` has of the frame's payload.
    fn take_payload(&mut self, input: &mut [u8]) -> Result<usize, Violation> {
        let Some(frame) = &mut self.frame else { return Ok(0) };
        let taken = frame.remaining.min(input.len());
        let bytes = &mut input[..taken];
        if frame.mask != [0; 4] {
            mask::apply(frame.mask, bytes);
            frame.mask = mask::advanced(frame.mask, taken);
        }
        frame.remaining -= taken;
        if frame.opcode.is_control() {
            self.control.extend_from_slice(bytes);
        } else if let Some(message) = &mut self.message {
            message.push(bytes)?;
        }
        Ok(taken)
    }
}
