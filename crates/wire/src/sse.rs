//! Server-sent events (WHATWG HTML §9.2): the event stream in a response's body, both ways.
//!
//! The stream only. That a response is one (status 200 and [`is_event_stream`]), that anything else ends the attempts
//! for good, and when to connect again are questions for who holds the connection and the clock.
//!
//! A client searches and counts what it is handed, and keeps the decoder for its place in the stream:
//! ```
//! use sonagi_wire::sse::{Decoder, Item};
//!
//! let mut decoder = Decoder::new(1 << 20);
//! let (mut bytes, mut wait_ms) = (0, 3000);
//! decoder.feed(b"retry: 500\n: hello\n\nid: 7\ndata: {\"text\":\"hi\"}\n\nid: 8\nda", |item| match item {
//!     Item::Event(event) => bytes += event.data.len(),
//!     Item::Retry(ms) => wait_ms = ms,
//!     Item::Comment(_) => {}
//! })?;
//! assert_eq!((bytes, wait_ms), (13, 500));
//! // The connection broke: the next request says `Last-Event-ID: 7`, and what was half read is forgotten.
//! decoder.restart();
//! assert_eq!(decoder.last_id(), "7");
//! # Ok::<(), sonagi_wire::sse::Violation>(())
//! ```
//! A server writes a message once for all who listen:
//! ```
//! use sonagi_wire::sse::Message;
//!
//! let shared = Message { id: Some("7"), name: None, data: "one\ntwo" }.to_bytes()?;
//! assert_eq!(&shared[..], b"id: 7\ndata: one\ndata: two\n\n");
//! # Ok::<(), sonagi_wire::sse::Unwritable>(())
//! ```
//!
//! The decision to question: an event's data is handed over as bytes, not as text. The specification reads the stream
//! as UTF-8 that replaces what is wrong and never fails, so no line ends elsewhere for it; a load tester looks for
//! stamps in the bytes, and who wants text pays for it in [`Event::text`].

mod decode;
mod encode;

pub use decode::{Decoder, Event, Item, MAX_ID, Violation};
pub use encode::{Message, Unwritable, retry};

/// The type of an event stream's response.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// The header that asks a server to go on behind an event (§9.2.4).
pub const LAST_EVENT_ID: &str = "last-event-id";

/// Whether a Content-Type is that of an event stream, whatever its parameters (§9.2.3).
pub fn is_event_stream(content_type: impl AsRef<[u8]>) -> bool {
    let (content_type, wanted) = (content_type.as_ref().trim_ascii_start(), CONTENT_TYPE.as_bytes());
    // No search for the `;`: most responses of a load test are told apart by their first bytes.
    let Some((essence, rest)) = content_type.split_at_checked(wanted.len()) else { return false };
    essence.eq_ignore_ascii_case(wanted) && matches!(rest.trim_ascii_start().first(), None | Some(b';'))
}
