//! What Artillery calls failures: the names behind `errors.` in reports and thresholds.

use sonagi_measure::outcome::Failure;
use sonagi_measure::summary::ErrorSummary;
use std::borrow::Cow;

/// A match of a Socket.IO acknowledgement that does not hold.
pub(crate) const FAILED_MATCH: &str = "Failed match";

/// Data of a Socket.IO acknowledgement that are not those the script wants.
pub(crate) const WRONG_DATA: &str = "data is not valid";

/// A failure's name, e.g. `ECONNREFUSED`, without the status or code that may stand behind it. Several failures may
/// share one.
pub fn stem(failure: Failure) -> &'static str {
    match failure {
        Failure::NameNotResolved => "ENOTFOUND",
        Failure::ConnectRefused => "ECONNREFUSED",
        Failure::ConnectTimeout | Failure::Timeout => "ETIMEDOUT",
        Failure::ConnectFailed => "EHOSTUNREACH",
        Failure::GeneratorExhausted => "EADDRNOTAVAIL",
        Failure::TlsFailed => "ERR_TLS",
        Failure::NotTls | Failure::Protocol => "EPROTO",
        Failure::CertificateSelfSigned => "DEPTH_ZERO_SELF_SIGNED_CERT",
        Failure::CertificateRootUntrusted => "SELF_SIGNED_CERT_IN_CHAIN",
        Failure::CertificateIssuerUnknown => "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        Failure::CertificateChainIncomplete => "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        Failure::CertificateExpired => "CERT_HAS_EXPIRED",
        Failure::CertificateNotYetValid => "CERT_NOT_YET_VALID",
        Failure::CertificateWrongName => "ERR_TLS_CERT_ALTNAME_INVALID",
        Failure::HandshakeRefused(_) | Failure::PollRefused(_) => "Unexpected server response:",
        Failure::HandshakeTimeout => "Opening handshake has timed out",
        Failure::NamespaceRefused => "connect_error",
        Failure::BrokerError => "ERROR frame",
        Failure::PoolExhausted => "EPOOLEXHAUSTED",
        Failure::AckTimeout => "response timeout",
        Failure::Reset | Failure::ClosedEarly => "ECONNRESET",
        Failure::Closed(_) => "WebSocket closed",
        Failure::SubprotocolMissing => "Server sent no subprotocol",
        Failure::SubprotocolUnknown => "Server sent an invalid subprotocol",
        Failure::TooManyRedirects => "ERR_TOO_MANY_REDIRECTS",
        Failure::RedirectInvalid => "ERR_UNSUPPORTED_PROTOCOL",
        Failure::CaptureOrMatch => "Failed capture or match",
        Failure::JoinRefused => "join refused",
        Failure::ExpectationFailed => "Failed expectations for request",
        Failure::ExpectationMissed => "expected message missing",
        Failure::NotConnected => "ENOTCONN",
        Failure::Template => "ERR_TEMPLATE",
        Failure::Function => "function failed",
        Failure::FunctionTimeout => "function timeout",
        Failure::ProcessorLost => "processor lost",
    }
}

/// A failure's whole name, e.g. `WebSocket closed 1006`.
pub fn failure(failure: Failure) -> Cow<'static, str> {
    let stem = stem(failure);
    failure.parameter().map_or(Cow::Borrowed(stem), |number| format!("{stem} {number}").into())
}

/// What an error of a run is counted by. The name of a response that is not as expected has its request's name in it.
pub(crate) fn error(error: &ErrorSummary) -> Cow<'_, str> {
    match (Failure::from_code(&error.code), &error.operation) {
        _ if !error.called.is_empty() => error.called.as_str().into(),
        (Some(failed @ Failure::ExpectationFailed), Some(operation)) => {
            format!("{} {operation}", stem(failed)).into()
        }
        (Some(failed), _) => failure(failed),
        (None, _) => error.code.as_str().into(),
    }
}
