//! How connections end, in the words scripts know.

use sonagi_measure::outcome::Failure;
use sonagi_transport::link::Ended;
use sonagi_transport::net::{Failed, Origin};

/// How a WebSocket ended that nobody here had given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The peer said goodbye, or went without: 1005 no code, 1006 no close frame.
    Closed(u16, String),
    /// The peer broke the protocol.
    Broken(String),
    /// The connection broke.
    Lost(String),
}

impl Ending {
    /// The ending of a link, with its peer's close frame or without one.
    pub(crate) fn of(close: Option<(Option<u16>, String)>, ended: &Ended) -> Ending {
        match (close, ended.failure) {
            (Some((code, reason)), _) => Ending::Closed(code.unwrap_or(1005), reason),
            (None, None | Some(Failure::Closed(_) | Failure::ClosedEarly)) => {
                Ending::Closed(1006, "unexpected EOF".to_owned())
            }
            (None, Some(Failure::Protocol)) => Ending::Broken(ended.detail.clone()),
            (None, Some(_)) => Ending::Lost(ended.detail.clone()),
        }
    }

    /// The message of the error event; none behind an ordinary goodbye.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Ending::Closed(1000 | 1001, _) => None,
            Ending::Closed(code, reason) => Some(closed(*code, reason)),
            Ending::Broken(_) => Some("websocket: close sent".to_owned()),
            Ending::Lost(_) => None,
        }
    }
}

/// A close frame in words: its number, its meaning, its reason.
fn closed(code: u16, reason: &str) -> String {
    let meaning = match code {
        1000 => " (normal)",
        1001 => " (going away)",
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1006 => " (abnormal closure)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1015 => " (TLS handshake error)",
        _ => "",
    };
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("websocket: close {code}{meaning}{colon}{reason}")
}

/// Why a handshake failed.
pub(crate) fn not_opened(failed: &Failed, origin: Option<&Origin>) -> String {
    let place = origin.map_or_else(String::new, |origin| format!("{}:{}", origin.host, origin.port));
    match failed.failure {
        Failure::ConnectRefused => {
            let place = failed.address.as_ref().map_or(place, ToString::to_string);
            format!("dial tcp {place}: connect: connection refused")
        }
        Failure::ConnectTimeout | Failure::HandshakeTimeout | Failure::Timeout => {
            format!("dial tcp {place}: i/o timeout")
        }
        Failure::NameNotResolved => format!("dial tcp: lookup {place}: no such host"),
        Failure::Reset => format!("read tcp {place}: read: connection reset by peer"),
        Failure::ClosedEarly => "unexpected EOF".to_owned(),
        Failure::HandshakeRefused(_) => "websocket: bad handshake".to_owned(),
        _ => failed.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_frame_is_told_by_number_meaning_and_reason() {
        let close = |code: Option<u16>, reason: &str| Some((code, reason.to_owned()));
        let ended = |failure| Ended { failure, detail: "why".to_owned(), is_goodbye: false, is_told: false };
        let table = [
            (close(Some(4001), "left"), Failure::Closed(4001), Some("websocket: close 4001: left")),
            (close(None, ""), Failure::Closed(1005), Some("websocket: close 1005 (no status)")),
            (close(Some(1000), "x"), Failure::Closed(1000), None),
            (close(Some(1001), ""), Failure::Closed(1001), None),
            (None, Failure::Closed(1006), Some("websocket: close 1006 (abnormal closure): unexpected EOF")),
            (None, Failure::Protocol, Some("websocket: close sent")),
            (None, Failure::Reset, None),
        ];
        for (close, failure, told) in table {
            assert_eq!(Ending::of(close, &ended(Some(failure))).error().as_deref(), told, "{failure:?}");
        }
    }
}
