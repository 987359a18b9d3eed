//! Failed requests by k6's numbers and words.

use sonagi_engine::net::Failed;
use sonagi_measure::outcome::Failure;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unanswered {
    /// The response's `error_code`.
    pub(super) code: u16,
    /// Its `error`.
    pub(super) error: String,
}

impl Unanswered {
    pub(super) fn timeout() -> Unanswered {
        Unanswered { code: 1050, error: "request timeout".to_owned() }
    }

    pub(super) fn of(failed: &Failed) -> Unanswered {
        let (code, error) = match failed.failure {
            Failure::Timeout => return Unanswered::timeout(),
            Failure::NameNotResolved => (1101, "lookup: no such host"),
            Failure::ConnectTimeout => (1211, "dial: i/o timeout"),
            Failure::ConnectRefused => (1212, "dial: connection refused"),
            Failure::ConnectFailed | Failure::GeneratorExhausted => (1210, ""),
            Failure::Reset => (1220, "read: connection reset by peer"),
            Failure::ClosedEarly => (1000, "EOF"),
            Failure::TlsFailed => (1300, ""),
            _ => (1000, ""),
        };
        let error = if error.is_empty() { failed.detail.clone() } else { error.to_owned() };
        Unanswered { code, error }
    }

    pub(super) fn other(error: impl Into<String>) -> Unanswered {
        Unanswered { code: 1000, error: error.into() }
    }
}

/// The `error_code` of an answer: 0 where it is none.
pub(super) fn code_of(status: u16) -> u16 {
    if status >= 400 { 1000 + status } else { 0 }
}
