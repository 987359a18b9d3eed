//! Failed requests by k6's numbers and words.

use rquickjs::{Ctx, Exception};
use sonagi_measure::outcome::Failure;
use sonagi_transport::net::{Cause, Failed, Origin};
use std::borrow::Cow;

/// The error codes of HTTP/2 by their numbers.
const HTTP2_CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unanswered {
    /// The response's `error_code`.
    pub(super) code: u16,
    /// Its `error`.
    pub(super) error: String,
    /// The message in the log, and in the exception where a script wants one.
    pub(super) told: String,
    /// Its class, which the numbers of k6 do not tell.
    pub(super) failure: Failure,
    /// What was seen of the answer, for the run folder: k6 has no word for it.
    pub(super) seen: Option<&'static str>,
}

/// A request that waited for the end of an answer without one.
const ENDLESS: &str = "it was answered with text/event-stream, which never ends: use k6/x/sse";

/// Why the arguments of a request make none.
#[derive(Debug)]
pub(super) enum BadCall {
    /// The script is told by an exception.
    Thrown(rquickjs::Error),
    /// It is told as of a request that failed.
    Wrong(Unanswered),
}

impl From<rquickjs::Error> for BadCall {
    fn from(error: rquickjs::Error) -> BadCall {
        BadCall::Thrown(error)
    }
}

impl BadCall {
    /// An argument is wrong.
    pub(super) fn wrong(error: impl Into<String>) -> BadCall {
        BadCall::Wrong(Unanswered::coded(0, error))
    }

    /// An exception about an argument becomes a failed request.
    pub(super) fn caught(ctx: &Ctx<'_>, error: rquickjs::Error, what: &str) -> BadCall {
        if !matches!(error, rquickjs::Error::Exception) {
            return BadCall::Thrown(error);
        }
        let thrown = ctx.catch();
        match thrown.clone().into_object().and_then(Exception::from_object).and_then(|it| it.message()) {
            Some(message) => BadCall::wrong(format!("{what}: {message}")),
            None => BadCall::Thrown(ctx.throw(thrown)),
        }
    }
}

impl Unanswered {
    fn coded(code: u16, error: impl Into<String>) -> Unanswered {
        let error = error.into();
        let failure = match code {
            1050 => Failure::Timeout,
            1110 | 1111 | 1210 => Failure::ConnectFailed,
            _ => Failure::Protocol,
        };
        Unanswered { code, told: error.clone(), error, failure, seen: None }
    }

    pub(super) fn timeout() -> Unanswered {
        Unanswered::coded(1050, "request timeout")
    }

    /// The answer did not end in time; a stream of events never does.
    pub(super) fn endless(is_event_stream: bool) -> Unanswered {
        Unanswered { seen: is_event_stream.then_some(ENDLESS), ..Unanswered::timeout() }
    }

    /// A URL that is no text.
    pub(super) fn no_url(shown: &str) -> Unanswered {
        Unanswered { told: format!("invalid URL: '{shown}'"), ..Unanswered::coded(1020, "invalid URL") }
    }

    /// A URL that cannot be one.
    pub(super) fn bad_url(url: &str, why: &str) -> Unanswered {
        let told = format!("invalid URL: parse {url:?}: {why}");
        Unanswered { told, ..Unanswered::coded(1020, "invalid URL") }
    }

    /// The body cannot be unpacked.
    pub(super) fn packed(coding: &str) -> Unanswered {
        let told = format!("error decompressing response body ({coding}: invalid header)");
        let error = format!("error decompressing response body ({told})");
        Unanswered { told, ..Unanswered::coded(1701, error) }
    }

    pub(super) fn of(failed: &Failed, origin: &Origin) -> Unanswered {
        Unanswered { failure: failed.failure, ..Unanswered::in_words(failed, origin) }
    }

    fn in_words(failed: &Failed, origin: &Origin) -> Unanswered {
        let (code, error, told) = match (failed.cause, failed.failure) {
            (Cause::NameRefused, _) => (1111, "hostname is blocked", failed.detail.clone()),
            (Cause::AddressRefused, _) => (1110, "ip is blacklisted", failed.detail.clone()),
            (Cause::Alert(number), _) => {
                return Unanswered::coded(1010, format!("remote error: tls: {}", alert(number)));
            }
            (Cause::Unfinished, _) => return Unanswered::coded(1000, "unexpected EOF"),
            (Cause::GoAway(0), _) => {
                let error = "http2: Transport received Server's graceful shutdown GOAWAY";
                return Unanswered::coded(1000, error);
            }
            (Cause::GoAway(code), _) => return Unanswered::http2(1610, "received GoAway", code),
            (Cause::StreamReset(code), _) => return Unanswered::http2(1630, "stream error", code),
            (_, Failure::Timeout) => return Unanswered::timeout(),
            (_, Failure::NameNotResolved) => {
                (1101, "lookup: no such host", format!("lookup {}: no such host", origin.host))
            }
            (_, Failure::ConnectTimeout) => {
                (1211, "dial: i/o timeout", dialed(failed, origin, "i/o timeout"))
            }
            (_, Failure::ConnectRefused) => {
                let told = dialed(failed, origin, "connect: connection refused");
                (1212, "dial: connection refused", told)
            }
            (_, Failure::ConnectFailed | Failure::GeneratorExhausted) => {
                return Unanswered::coded(1210, &*failed.detail);
            }
            (Cause::Dialing, Failure::Reset) => {
                let told = dialed(failed, origin, "connect: connection reset by peer");
                (1220, "dial: connection reset by peer", told)
            }
            (_, Failure::Reset) => return Unanswered::coded(1220, "read: connection reset by peer"),
            (_, Failure::ClosedEarly) => return Unanswered::coded(1000, "EOF"),
            (
                _,
                Failure::CertificateSelfSigned
                | Failure::CertificateRootUntrusted
                | Failure::CertificateIssuerUnknown
                | Failure::CertificateChainIncomplete,
            ) => return Unanswered::coded(1310, "x509: unknown authority"),
            (_, Failure::CertificateWrongName) => {
                return Unanswered::coded(1311, "x509: certificate doesn't match hostname");
            }
            (_, Failure::NotTls) => {
                return Unanswered::coded(1301, "tls: first record does not look like a TLS handshake");
            }
            (_, Failure::TlsFailed | Failure::CertificateExpired | Failure::CertificateNotYetValid) => {
                return Unanswered::coded(1300, &*failed.detail);
            }
            _ => return Unanswered::coded(1000, &*failed.detail),
        };
        Unanswered { told, ..Unanswered::coded(code, error) }
    }

    /// An error code of HTTP/2 (RFC 9113 §7): each has a number of its own behind the one for codes that are not known.
    fn http2(unknown: u16, what: &str, code: u32) -> Unanswered {
        let place = HTTP2_CODES.iter().enumerate().find(|(number, _)| *number == code as usize);
        let (offset, name) = match place {
            Some((number, name)) => (number as u16 + 1, (*name).to_owned()),
            None => (0, format!("unknown error code 0x{code:x}")),
        };
        Unanswered::coded(unknown + offset, format!("http2: {what} with http2 ErrCode {name}"))
    }

    pub(super) fn other(error: impl Into<String>) -> Unanswered {
        Unanswered::coded(1000, error)
    }

    /// A URL that leads nowhere, as Go's client words it; what is wrong with others says the engine.
    pub(super) fn of_url(url: &str, failed: &Failed) -> Unanswered {
        let (scheme, rest) = url.split_once(':').unwrap_or_default();
        let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let scheme = if is_scheme { scheme } else { "" };
        if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
            return Unanswered::other(format!("unsupported protocol scheme {scheme:?}"));
        }
        let rest = rest.trim_start_matches('/');
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.is_empty() {
            return Unanswered::other("http: no Host in request URL");
        }
        match authority.rsplit_once(':') {
            Some((_, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Unanswered::coded(1210, format!("dial tcp: address {port}: invalid port"))
            }
            _ => Unanswered::other(&*failed.detail),
        }
    }

    /// With the request it belongs to before it.
    pub(super) fn telling(mut self, method: &str, url: &str) -> Unanswered {
        if self.code != 1701 && self.error != "unexpected EOF" {
            self.told = format!("{} {url:?}: {}", capitalised(method), self.told);
        }
        self
    }
}

/// Why no connection was made, as Go words it: by the address that was called.
fn dialed(failed: &Failed, origin: &Origin, why: &str) -> String {
    match failed.address.as_deref() {
        Some(address) => format!("dial tcp {address}: {why}"),
        None => format!("dial tcp {}:{}: {why}", origin.host, origin.port),
    }
}

/// A TLS alert, as Go words it.
fn alert(number: u8) -> Cow<'static, str> {
    match ALERTS.iter().find(|(known, _)| *known == number) {
        Some((_, words)) => Cow::Borrowed(words),
        None => format!("alert({number})").into(),
    }
}

/// Alerts (RFC 8446 §6) that end a handshake.
const ALERTS: [(u8, &str); 20] = [
    (10, "unexpected message"),
    (20, "bad record MAC"),
    (22, "record overflow"),
    (40, "handshake failure"),
    (42, "bad certificate"),
    (43, "unsupported certificate"),
    (44, "revoked certificate"),
    (45, "expired certificate"),
    (46, "unknown certificate"),
    (47, "illegal parameter"),
    (48, "unknown certificate authority"),
    (49, "access denied"),
    (50, "error decoding message"),
    (51, "error decrypting message"),
    (70, "protocol version not supported"),
    (71, "insufficient security level"),
    (80, "internal error"),
    (112, "unrecognized name"),
    (116, "certificate required"),
    (120, "no application protocol"),
];

/// `GET` is `Get`, as Go's client words it.
fn capitalised(method: &str) -> String {
    let (first, rest) = method.split_at(method.len().min(1));
    format!("{first}{}", rest.to_lowercase())
}

/// The `error_code` of an answer: 0 where it is none.
pub(super) fn code_of(status: u16) -> u16 {
    if status >= 400 { 1000 + status } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_leads_nowhere_says_why_as_gos_client_does() {
        for (url, code, error) in [
            ("", 1000, "unsupported protocol scheme \"\""),
            ("no scheme", 1000, "unsupported protocol scheme \"\""),
            ("ftp://127.0.0.1/", 1000, "unsupported protocol scheme \"ftp\""),
            ("http://", 1000, "http: no Host in request URL"),
            ("http://127.0.0.1:99999/", 1210, "dial tcp: address 99999: invalid port"),
        ] {
            let failed = Origin::parse(url).unwrap_err();
            assert_eq!(Unanswered::of_url(url, &failed), Unanswered::coded(code, error), "{url}");
        }
    }

    #[test]
    fn failures_have_k6s_numbers_and_words() {
        let (origin, _) = Origin::parse("http://a:81/").unwrap();
        for (failure, cause, code, told) in [
            (
                Failure::ConnectRefused,
                Cause::Unknown,
                1212,
                "dial tcp 127.0.0.1:81: connect: connection refused",
            ),
            (Failure::NameNotResolved, Cause::Unknown, 1101, "lookup a: no such host"),
            (Failure::Reset, Cause::Unknown, 1220, "read: connection reset by peer"),
            (Failure::ClosedEarly, Cause::Unfinished, 1000, "unexpected EOF"),
            (Failure::ConnectFailed, Cause::NameRefused, 1111, "x"),
            (Failure::TlsFailed, Cause::Alert(40), 1010, "remote error: tls: handshake failure"),
            (Failure::TlsFailed, Cause::Alert(99), 1010, "remote error: tls: alert(99)"),
            (Failure::GeneratorExhausted, Cause::Unknown, 1210, "x"),
            (Failure::CertificateSelfSigned, Cause::Unknown, 1310, "x509: unknown authority"),
            (Failure::CertificateWrongName, Cause::Unknown, 1311, "x509: certificate doesn't match hostname"),
            (Failure::CertificateExpired, Cause::Unknown, 1300, "x"),
            (
                Failure::Reset,
                Cause::Dialing,
                1220,
                "dial tcp 127.0.0.1:81: connect: connection reset by peer",
            ),
            (
                Failure::Reset,
                Cause::StreamReset(2),
                1633,
                "http2: stream error with http2 ErrCode INTERNAL_ERROR",
            ),
            (
                Failure::ClosedEarly,
                Cause::GoAway(11),
                1622,
                "http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM",
            ),
            (
                Failure::ClosedEarly,
                Cause::GoAway(0),
                1000,
                "http2: Transport received Server's graceful shutdown GOAWAY",
            ),
        ] {
            let address = Some(Box::new("127.0.0.1:81".parse().unwrap()));
            let failed = Failed { cause, address, ..Failed::new(failure, "x") };
            let found = Unanswered::of(&failed, &origin);
            assert_eq!((found.code, found.told.as_str(), found.failure), (code, told, failure));
        }
    }
}
