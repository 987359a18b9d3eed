//! STOMP 1.0, 1.1 and 1.2 for both sides: a push decoder that borrows its input, header access, and encoders.
//!
//! The decoder eats WebSocket messages (or any pieces of a stream: frames may be cut anywhere and share a message) and
//! learns the version from the frames that settle it. Header values are unescaped when asked for, by the frame's
//! version. Sessions are not here: subscriptions, transactions, receipts and timers belong to who has a clock and a
//! socket.
//!
//! The decision to question: it is stricter than the grammar in one place, a NUL within a frame's head, which the
//! grammar of 1.2 allows. A head that lost its empty line would otherwise swallow the next frame unnoticed.
//!
//! How a receiver handles each WebSocket message:
//! ```
//! use sonagi_wire::stomp::{Command, Decoder, Event, Limits, Side, Versions};
//! let mut decoder = Decoder::new(Side::Client, Versions::ALL, Limits::default());
//! let mut stamps = 0;
//! let begun = b"MESSAGE\nsubscription:0\nmessage-id:7\n\nsta";
//! for message in [&b"CONNECTED\nversion:1.2\n\n\0"[..], b"\n", begun, b"mp\0\n"] {
//!     decoder.feed(message, |event| match event {
//!         Event::Frame(frame) if frame.command == Command::Message => {
//!             assert_eq!(frame.raw("subscription"), Some(&b"0"[..]));
//!             stamps += usize::from(frame.body == b"stamp");
//!         }
//!         Event::Frame(_) | Event::HeartBeat => {}
//!     })?;
//! }
//! assert_eq!(stamps, 1);
//! # Ok::<(), sonagi_wire::stomp::Violation>(())
//! ```

mod ack;
mod decoder;
mod encode;
mod escape;
mod frame;
mod heartbeat;
mod scan;
mod side;
mod version;
mod violation;

pub use ack::{AckId, AckMode};
pub use decoder::{Decoder, Event};
pub use encode::{Unwritable, Writer};
pub use frame::{Command, Frame, Headers};
pub use heartbeat::{Agreed, HeartBeat};
pub use scan::Limits;
pub use side::Side;
pub use version::{Version, Versions};
pub use violation::Violation;

/// A heart-beat as it is sent: one end of line, alone.
pub const HEART_BEAT: &[u8] = b"\n";
