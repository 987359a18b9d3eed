//! A server's frames: `o`, `h`, `a["…"]` and `c[code,"reason"]`.

use std::borrow::Cow;

use super::json::{Messages, escape};

/// The frame that opens a session.
pub const OPEN: &str = "o";

/// The server's heartbeat.
pub const HEARTBEAT: &str = "h";

/// A server's frame: a WebSocket message, or a line of an `xhr` body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The session is open.
    Open,
    /// A sign of life.
    Heartbeat,
    /// Messages, in order; there may be none.
    Messages(Messages<'a>),
    /// The session has ended.
    Close {
        /// 3000 for an ordinary end, 2010 when another connection receives for the session.
        code: u16,
        /// For people.
        reason: Cow<'a, str>,
    },
}

/// Text that is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// No text at all.
    #[error("sockjs frame must begin with its type, got nothing")]
    Empty,
    /// The first character is no frame type.
    #[error("sockjs frame type must be o, h, a or c, got {found:?}")]
    UnknownType {
        /// The first character.
        found: char,
    },
    /// An open frame or heartbeat with something behind its letter.
    #[error("sockjs {frame} frame must be alone, got {length} bytes behind it")]
    UnexpectedData {
        /// `open` or `heartbeat`.
        frame: &'static str,
        /// The bytes that should not be there.
        length: usize,
    },
    /// An array frame without an array of strings.
    #[error("sockjs array frame must carry a JSON array of strings, got something else")]
    Messages,
    /// A close frame without a code and a reason.
    #[error("sockjs close frame must carry a JSON array of a code and a reason, got something else")]
    Close,
}

/// Reads one frame. Its messages are checked here and unescaped when they are taken.
///
/// # Errors
/// [`FrameError`] for the first rule broken.
pub fn decode(text: &str) -> Result<Frame<'_>, FrameError> {
    let found = text.chars().next().ok_or(FrameError::Empty)?;
    let data = &text[found.len_utf8()..];
    let alone = |frame: Frame<'static>, name: &'static str| match data.len() {
        0 => Ok(frame),
        length => Err(FrameError::UnexpectedData { frame: name, length }),
    };
    match found {
        'a' => Messages::array(data).map(Frame::Messages).map_err(|_| FrameError::Messages),
        'o' => alone(Frame::Open, "open"),
        'h' => alone(Frame::Heartbeat, "heartbeat"),
        'c' => serde_json::from_str(data)
            .map(|(code, reason): (u16, String)| Frame::Close { code, reason: reason.into() })
            .map_err(|_| FrameError::Close),
        found => Err(FrameError::UnknownType { found }),
    }
}

/// Appends a close frame.
pub fn close(code: u16, reason: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("c[{code},\"").as_bytes());
    escape(reason, out);
    out.extend_from_slice(b"\"]");
}
