//! Replies beside messages: CONNECTED, RECEIPT and ERROR.

use sonagi_wire::stomp::{Command, HeartBeat, Version, Versions, Violation, Writer};

use crate::connection::outbox::Close;
use crate::problem::Problem;

pub(crate) fn connected(version: Version, session: &str, heart_beat: HeartBeat) -> String {
    let mut frame = Vec::new();
    let writer = Writer::new(Command::Connected, version, &mut frame)
        .header("version", version.name())
        .header("session", session)
        .header("server", concat!("sonagi/", env!("CARGO_PKG_VERSION")));
    let heart_beat = (version > Version::V1_0).then(|| heart_beat.to_header());
    let written = writer.optional("heart-beat", heart_beat.as_deref()).end();
    debug_assert_eq!(written, Ok(()), "all of it is our own");
    text(frame)
}

/// A receipt with headers of our own, or `None` when the version cannot say its id.
pub(crate) fn receipt(version: Version, id: &str, more: &[(&str, &str)]) -> Option<String> {
    let mut frame = Vec::new();
    let writer = Writer::new(Command::Receipt, version, &mut frame).header("receipt-id", id);
    let written = more.iter().fold(writer, |writer, (name, value)| writer.header(name, value)).end();
    written.ok().map(|()| text(frame))
}

/// A client's mistake. The client is told, and the connection closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// A stable word for programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) message: String,
    /// Against the protocol, and so a defect of the client.
    pub(crate) is_breach: bool,
}

impl Complaint {
    pub(crate) fn breach(message: impl Into<String>) -> Complaint {
        Complaint { code: "bad_frame", message: message.into(), is_breach: true }
    }

    pub(crate) fn unsupported_version() -> Complaint {
        let message = format!("the versions are {}, got none of them", Versions::ALL.to_header());
        Complaint { code: UNSUPPORTED_VERSION, message, is_breach: false }
    }

    /// How the connection closes after it.
    pub(crate) fn close(&self) -> Close {
        if self.is_breach { Close::Violation(1002) } else { Close::Normal }
    }

    /// `receipt` is that of the frame that was wrong, when it asked for one.
    pub(crate) fn frame(&self, version: Version, receipt: Option<&str>) -> String {
        // A header of 1.0 cannot say every text.
        let message: String = self.message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let supported = (self.code == UNSUPPORTED_VERSION).then(|| Versions::ALL.to_header());
        let write = |receipt: Option<&str>| {
            let mut frame = Vec::new();
            let writer = Writer::new(Command::Error, version, &mut frame)
                .header("message", &message)
                .header("code", self.code)
                .optional("receipt-id", receipt)
                .optional("version", supported.as_deref())
                .header("content-type", "text/plain");
            writer.body(message.as_bytes()).ok().map(|()| text(frame))
        };
        write(receipt).or_else(|| write(None)).unwrap_or_default()
    }
}

const UNSUPPORTED_VERSION: &str = "unsupported_version";

impl From<Violation> for Complaint {
    fn from(violation: Violation) -> Complaint {
        match violation {
            // A limit of ours, not a rule of the protocol's.
            Violation::BodyTooLong { limit } => Problem::too_large(limit as usize).into(),
            breach => Complaint::breach(breach.to_string()),
        }
    }
}

impl From<Problem> for Complaint {
    fn from(problem: Problem) -> Complaint {
        Complaint { code: problem.code, message: problem.message, is_breach: false }
    }
}

/// Frames are written of text and are text.
fn text(frame: Vec<u8>) -> String {
    String::from_utf8(frame).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_have_heart_beats_are_told_of_them() {
        let heart_beat = HeartBeat { can: 10, wants: 20 };
        let server = concat!("server:sonagi/", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(
            connected(Version::V1_0, "7", heart_beat),
            format!("CONNECTED\nversion:1.0\nsession:7\n{server}\n\0")
        );
        assert_eq!(
            connected(Version::V1_2, "7", heart_beat),
            format!("CONNECTED\nversion:1.2\nsession:7\n{server}heart-beat:10,20\n\n\0")
        );
    }

    #[test]
    fn an_error_names_the_receipt_and_the_versions_that_are_known() {
        assert_eq!(
            Complaint::unsupported_version().frame(Version::V1_0, Some("7")),
            "ERROR\nmessage:the versions are 1.0,1.1,1.2, got none of them\ncode:unsupported_version\n\
             receipt-id:7\nversion:1.0,1.1,1.2\ncontent-type:text/plain\ncontent-length:46\n\n\
             the versions are 1.0,1.1,1.2, got none of them\0"
        );
    }

    #[test]
    fn what_a_version_cannot_say_is_left_out_of_an_error_and_is_no_receipt() {
        let said = Complaint::breach("two\nlines").frame(Version::V1_1, Some("a\rb"));
        assert_eq!(
            said,
            "ERROR\nmessage:two lines\ncode:bad_frame\ncontent-type:text/plain\ncontent-length:9\n\ntwo lines\0"
        );
        assert_eq!(receipt(Version::V1_1, "a\rb", &[]), None);
        assert_eq!(
            receipt(Version::V1_1, "a:b", &[("seq", "7")]).as_deref(),
            Some("RECEIPT\nreceipt-id:a\\cb\nseq:7\n\n\0")
        );
    }
}
