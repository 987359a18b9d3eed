//! The style of a subscription's messages: all that tells them from those of another.

use std::fmt::Write;

use bytes::Bytes;
use sonagi_wire::stomp::{Command, Version, Writer};

use super::envelope::Envelope;

/// Two subscriptions of the same style are sent the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// The subscription's number in its connection: with the message's it makes `message-id` and `ack` unique there.
    number: u32,
    envelope: Envelope,
    /// The client acknowledges by `ack`, as in 1.2.
    ack: bool,
    /// The command, and the headers that are the same for every message.
    head: Box<str>,
}

impl Style {
    /// `id` is what the client calls the subscription; in 1.0 it may have no name. `None` when the version has no way
    /// to say one of the headers.
    pub(crate) fn new(
        number: u32,
        version: Version,
        envelope: Envelope,
        id: Option<&str>,
        destination: &str,
        acks: bool,
    ) -> Option<Style> {
        let mut head = Vec::new();
        Writer::new(Command::Message, version, &mut head)
            .header("destination", destination)
            .optional("subscription", id)
            .header("content-type", "application/json")
            .end()
            .ok()?;
        let head = String::from_utf8(head).ok()?;
        let head = head.strip_suffix("\n\0")?.into();
        Some(Style { number, envelope, ack: acks && version == Version::V1_2, head })
    }

    /// Appends a message.
    pub(crate) fn write(&self, seq: u64, object: &[u8], out: &mut Vec<u8>) {
        let mut head = self.begin(seq, object.len());
        let _ = write!(head, "seq:{seq}\n\n");
        // The message's JSON object is always text.
        self.envelope.write(&[&head, &String::from_utf8_lossy(object), "\0"], out);
    }

    /// Says that of the messages above `after` some are not kept any more, and where what is kept goes on. It needs no
    /// acknowledgement, and has the number that no message has.
    pub(crate) fn gap(&self, after: u64, from: u64) -> Bytes {
        let body = format!(r#"{{"gap":true,"after":{after},"from":{from}}}"#);
        let head = self.begin(0, body.len());
        self.envelope.wrap(&format!("{head}gap:true\n\n{body}\0"))
    }

    fn begin(&self, seq: u64, length: usize) -> String {
        let Style { number, head, .. } = self;
        let mut begun = String::with_capacity(head.len() + 96);
        begun.push_str(head);
        let _ = write!(begun, "message-id:{number}-{seq}\ncontent-length:{length}\n");
        if self.ack {
            let _ = writeln!(begun, "ack:{number}-{seq}");
        }
        begun
    }
}

/// The subscription's and the message's number of a `message-id` or an `ack`.
pub(crate) fn read_message_id(id: &str) -> Option<(u32, u64)> {
    let (subscription, seq) = id.split_once('-')?;
    // `parse` alone would take a sign.
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let both = digits(subscription) && digits(seq);
    Some((subscription.parse().ok().filter(|_| both)?, seq.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::outbox::packet_of;

    fn text(frame: Vec<u8>) -> String {
        String::from_utf8(packet_of(&frame.into()).unwrap().1.to_vec()).unwrap()
    }

    #[test]
    fn a_message_has_what_its_version_acknowledges_by() {
        for (version, id, acks, expected) in [
            (Version::V1_0, None, true, "SUB"),
            (Version::V1_1, Some("a:b"), true, "subscription:a\\cb\nSUB"),
            (Version::V1_2, Some("a:b"), false, "subscription:a\\cb\nSUB"),
            (Version::V1_2, Some("a:b"), true, "subscription:a\\cb\nSUBack:3-41\n"),
        ] {
            let style = Style::new(3, version, Envelope::Plain, id, "/sub/location/7", acks).unwrap();
            let mut frame = Vec::new();
            style.write(41, b"{}", &mut frame);
            let common = "content-type:application/json\nmessage-id:3-41\ncontent-length:2\n";
            let headers = expected.replace("SUB", common);
            assert_eq!(
                text(frame),
                format!("MESSAGE\ndestination:/sub/location/7\n{headers}seq:41\n\n{{}}\0")
            );
        }
        assert_eq!(read_message_id("3-41"), Some((3, 41)));
        for wrong in ["", "3", "-41", "3-", "+3-41", "3-+41", "3-41-", "x-1", "3-18446744073709551616"] {
            assert_eq!(read_message_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_gap_is_a_message_that_needs_no_acknowledgement() {
        let style =
            Style::new(0, Version::V1_1, Envelope::Plain, Some("s"), "/sub/location/7", false).unwrap();
        assert_eq!(
            text(style.gap(7, 10).to_vec()),
            "MESSAGE\ndestination:/sub/location/7\nsubscription:s\ncontent-type:application/json\n\
             message-id:0-0\ncontent-length:32\ngap:true\n\n{\"gap\":true,\"after\":7,\"from\":10}\0"
        );
    }

    #[test]
    fn what_a_version_cannot_say_makes_no_style() {
        for (version, id) in [(Version::V1_0, "a\nb"), (Version::V1_1, "a\rb"), (Version::V1_2, "a\0b")] {
            assert_eq!(Style::new(0, version, Envelope::Plain, Some(id), "/sub/location/7", false), None);
        }
        let said = Style::new(0, Version::V1_2, Envelope::Plain, Some("a\rb"), "/sub/location/7", false);
        assert!(said.is_some());
    }
}
