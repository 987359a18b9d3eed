//! The envelope of a STOMP frame: a WebSocket message of its own, or one of SockJS.

use bytes::Bytes;
use sonagi_wire::sockjs;
use sonagi_wire::stomp::Version;
use sonagi_wire::websocket::{self, Opcode};

use super::replies::Complaint;
use crate::connection::heartbeat::Signal;
use crate::connection::outbox::Farewell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// A WebSocket message.
    Plain,
    /// A SockJS array of one message, in a WebSocket message; polls take the WebSocket's header off again.
    SockJs,
}

impl Envelope {
    /// Appends the frame, which lies in parts.
    pub(crate) fn write(self, parts: &[&str], out: &mut Vec<u8>) {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        match self {
            Envelope::Plain => {
                // Two to ten bytes of header.
                out.reserve(length + 10);
                websocket::header(Opcode::Text, length, out);
                parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
            }
            Envelope::SockJs => {
                let mut array = Vec::with_capacity(length + length / 4 + 32);
                array.extend_from_slice(b"a[\"");
                parts.iter().for_each(|part| sockjs::escape(part, &mut array));
                array.extend_from_slice(b"\"]");
                websocket::encode(Opcode::Text, &array, None, out);
            }
        }
    }

    pub(crate) fn wrap(self, frame: &str) -> Bytes {
        let mut out = Vec::new();
        self.write(&[frame], &mut out);
        out.into()
    }

    /// An end of line.
    pub(crate) fn heartbeat(self) -> Signal {
        match self {
            Envelope::Plain => Signal::Stomp,
            Envelope::SockJs => Signal::StompInSockJs,
        }
    }
}

/// How a client is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) version: Version,
    pub(crate) envelope: Envelope,
}

impl Dialect {
    /// The end of a connection for this reason. `receipt` is that of the faulty frame, if it asked for one.
    pub(crate) fn farewell(self, complaint: &Complaint, receipt: Option<&str>) -> Farewell {
        let frame = self.envelope.wrap(&complaint.frame(self.version, receipt));
        Farewell { frame, close: complaint.close() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::outbox::packet_of;

    #[test]
    fn a_frame_in_sockjs_is_an_array_of_one_string() {
        for (envelope, expected, beat) in [
            (Envelope::Plain, "RECEIPT\nreceipt-id:\"1\n\n\0", "\n"),
            (Envelope::SockJs, r#"a["RECEIPT\nreceipt-id:\"1\n\n\u0000"]"#, r#"a["\n"]"#),
        ] {
            let text = |frame: &Bytes| {
                let (binary, payload) = packet_of(frame).unwrap();
                assert!(!binary);
                String::from_utf8(payload.to_vec()).unwrap()
            };
            let mut parts = Vec::new();
            envelope.write(&["RECEIPT\nreceipt-id:", "\"1\n\n\0"], &mut parts);
            assert_eq!(text(&parts.into()), expected);
            assert_eq!(text(&envelope.wrap("RECEIPT\nreceipt-id:\"1\n\n\0")), expected);
            assert_eq!(text(&envelope.heartbeat().frame()), beat);
            assert_eq!(envelope.heartbeat().frame(), envelope.wrap("\n"));
        }
    }
}
