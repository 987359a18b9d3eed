//! SockJS 0.3.3: its frames, what clients send, the info document, and which path is what.
//!
//! Transports `websocket`, `xhr` and `xhr_streaming`; the older ones (iframes, JSONP) are known by path only. Sessions,
//! their time-outs and which of two receivers wins are not here: they need a clock.
//!
//! The decision to question: messages are read by our own small JSON reader. They are arrays of strings and nothing
//! else, and a STOMP frame in one always needs unescaping (its NUL does): into a buffer the caller keeps, not into a
//! new string each.
//!
//! How a client handles a WebSocket message:
//! ```
//! use sonagi_wire::sockjs::{Frame, decode};
//! let mut buffer = String::new(); // kept for all connections
//! if let Frame::Messages(mut messages) = decode(r#"a["MESSAGE\n\nhi\u0000","\n"]"#)? {
//!     assert_eq!(messages.next_in(&mut buffer), Some("MESSAGE\n\nhi\0"));
//!     assert_eq!(messages.next_in(&mut buffer), Some("\n"));
//!     assert_eq!(messages.next_in(&mut buffer), None);
//! }
//! # Ok::<(), sonagi_wire::sockjs::FrameError>(())
//! ```
//!
//! How a service encodes a message that differs between receivers in its head only: the rest is escaped once.
//! ```
//! use sonagi_wire::sockjs::{escape, messages};
//! let mut shared = Vec::new();
//! escape("destination:/sub/a\n\nhi\0", &mut shared);
//! let mut frame = b"a[\"".to_vec();
//! escape("MESSAGE\nsubscription:0\n", &mut frame);
//! frame.extend_from_slice(&shared);
//! frame.extend_from_slice(b"\"]");
//! let mut whole = b"a".to_vec();
//! messages(["MESSAGE\nsubscription:0\ndestination:/sub/a\n\nhi\0"], &mut whole);
//! assert_eq!(frame, whole);
//! ```

mod frame;
mod info;
mod json;
mod path;
mod stream;

pub use frame::{Frame, FrameError, HEARTBEAT, OPEN, close, decode};
pub use info::Info;
pub use json::{Messages, PayloadError, escape, messages};
pub use path::{Path, Transport};
pub use stream::{PRELUDE, Stream, StreamError};
