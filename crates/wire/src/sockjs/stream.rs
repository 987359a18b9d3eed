//! The body of an `xhr` or `xhr_streaming` response as it arrives: a line a frame.

use memchr::memchr;

use super::frame::{self, Frame, FrameError};

/// The beginning of an `xhr_streaming` response, for browsers that hold back the first bytes: 2,048 `h` and LF.
pub const PRELUDE: &[u8; 2049] = &{
    let mut prelude = [b'h'; 2049];
    prelude[2048] = b'\n';
    prelude
};

/// A stream that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// A line that is no frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A line that is not UTF-8.
    #[error("a sockjs line must be UTF-8, got something else")]
    Utf8,
    /// Our own limit.
    #[error("a sockjs line must have at most {limit} bytes, got more")]
    LineTooLong {
        /// The limit in bytes.
        limit: u32,
    },
}

/// Decodes the body of one response. Nothing on the heap between lines.
pub struct Stream {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    max_line: u32,
    failed: bool,
}

impl Stream {
    /// `max_line` bounds a frame in bytes, its LF not counted; at least the prelude's 2,048.
    pub fn new(max_line: u32) -> Stream {
        Stream { partial: Vec::new(), max_line: max_line.max(PRELUDE.len() as u32 - 1), failed: false }
    }

    /// Decodes `input` and calls `on` for each frame in order; a prelude is passed over. After an error further input
    /// is ignored.
    ///
    /// # Errors
    /// The first [`StreamError`], after the frames that came before it. Neither depends on how the stream was cut.
    pub fn feed(&mut self, input: &[u8], mut on: impl FnMut(Frame<'_>)) -> Result<(), StreamError> {
        if self.failed {
            return Ok(());
        }
        let fed = self.feed_lines(input, &mut on);
        if fed.is_err() {
            self.failed = true;
            self.partial = Vec::new();
        }
        fed
    }

    /// True when no frame is half read; false after an error.
    pub fn is_idle(&self) -> bool {
        self.partial.is_empty() && !self.failed
    }

    fn feed_lines(&mut self, mut input: &[u8], on: &mut impl FnMut(Frame<'_>)) -> Result<(), StreamError> {
        while !input.is_empty() {
            let end = memchr(b'\n', input);
            let piece = &input[..end.unwrap_or(input.len())];
            if self.partial.len() + piece.len() > self.max_line as usize {
                return Err(StreamError::LineTooLong { limit: self.max_line });
            }
            let Some(end) = end else {
                self.partial.extend_from_slice(piece);
                return Ok(());
            };
            if self.partial.is_empty() {
                line(piece, on)?;
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(piece);
                line(&whole, on)?;
            }
            input = &input[end + 1..];
        }
        Ok(())
    }
}

fn line(line: &[u8], on: &mut impl FnMut(Frame<'_>)) -> Result<(), StreamError> {
    if line == &PRELUDE[..PRELUDE.len() - 1] {
        return Ok(());
    }
    let text = simdutf8::basic::from_utf8(line).map_err(|_| StreamError::Utf8)?;
    on(frame::decode(text)?);
    Ok(())
}
