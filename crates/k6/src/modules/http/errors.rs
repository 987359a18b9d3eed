//! Failed requests by k6's numbers and words.

use rquickjs::{Ctx, Exception};
use sonagi_engine::net::{Cause, Failed, Origin};
use sonagi_measure::outcome::Failure;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unanswered {
    /// The response's `error_code`.
    pub(super) code: u16,
    /// Its `error`.
    pub(super) error: String,
    /// What the log says, and the exception where a script wants one.
    pub(super) told: String,
}

/// Why the arguments of a request make none.
#[derive(Debug)]
pub(super) enum Refused {
    /// The script is told by an exception.
    Thrown(rquickjs::Error),
    /// It is told as of a request that failed.
    Wrong(Unanswered),
}

impl From<rquickjs::Error> for Refused {
    fn from(error: rquickjs::Error) -> Refused {
        Refused::Thrown(error)
    }
}

impl Refused {
    /// An argument is wrong.
    pub(super) fn wrong(error: impl Into<String>) -> Refused {
        Refused::Wrong(Unanswered::coded(0, error))
    }

    /// What was thrown about an argument is told as of a failed request.
    pub(super) fn caught(ctx: &Ctx<'_>, error: rquickjs::Error, what: &str) -> Refused {
        if !matches!(error, rquickjs::Error::Exception) {
            return Refused::Thrown(error);
        }
        let thrown = ctx.catch();
        match thrown.clone().into_object().and_then(Exception::from_object).and_then(|it| it.message()) {
            Some(message) => Refused::wrong(format!("{what}: {message}")),
            None => Refused::Thrown(ctx.throw(thrown)),
        }
    }
}

impl Unanswered {
    fn coded(code: u16, error: impl Into<String>) -> Unanswered {
        let error = error.into();
        Unanswered { code, told: error.clone(), error }
    }

    pub(super) fn timeout() -> Unanswered {
        Unanswered::coded(1050, "request timeout")
    }

    /// A URL that is no text.
    pub(super) fn no_url(shown: &str) -> Unanswered {
        Unanswered { code: 1020, error: "invalid URL".to_owned(), told: format!("invalid URL: '{shown}'") }
    }

    /// A URL that cannot be one.
    pub(super) fn bad_url(url: &str, why: &str) -> Unanswered {
        let told = format!("invalid URL: parse {url:?}: {why}");
        Unanswered { code: 1020, error: "invalid URL".to_owned(), told }
    }

    /// What came cannot be unpacked.
    pub(super) fn packed(coding: &str) -> Unanswered {
        let told = format!("error decompressing response body ({coding}: invalid header)");
        Unanswered { code: 1701, error: format!("error decompressing response body ({told})"), told }
    }

    pub(super) fn of(failed: &Failed, origin: &Origin) -> Unanswered {
        let place = format!("{}:{}", origin.host, origin.port);
        let (code, error, told) = match (failed.cause, failed.failure) {
            (Cause::NameRefused | Cause::AddressRefused, _) => {
                let of_name = failed.cause == Cause::NameRefused;
                let (code, error) =
                    if of_name { (1111, "hostname is blocked") } else { (1110, "ip is blacklisted") };
                return Unanswered { told: failed.detail.clone(), ..Unanswered::coded(code, error) };
            }
            (Cause::UnknownIssuer, _) => (1310, "x509: unknown authority", ""),
            (Cause::WrongName, _) => (1311, "x509: certificate doesn't match hostname", ""),
            (Cause::NotTls, _) => (1301, "tls: first record does not look like a TLS handshake", ""),
            (Cause::Unfinished, _) => (1000, "unexpected EOF", ""),
            (_, Failure::Timeout) => return Unanswered::timeout(),
            (_, Failure::NameNotResolved) => {
                let told = format!("lookup {}: no such host", origin.host);
                return Unanswered { told, ..Unanswered::coded(1101, "lookup: no such host") };
            }
            (_, Failure::ConnectTimeout) => (1211, "dial: i/o timeout", "i/o timeout"),
            (_, Failure::ConnectRefused) => (1212, "dial: connection refused", "connect: connection refused"),
            (_, Failure::ConnectFailed | Failure::GeneratorExhausted) => (1210, "", ""),
            (_, Failure::Reset) => (1220, "read: connection reset by peer", ""),
            (_, Failure::ClosedEarly) => (1000, "EOF", ""),
            (_, Failure::TlsFailed) => (1300, "", ""),
            _ => (1000, "", ""),
        };
        let found = Unanswered::coded(code, if error.is_empty() { failed.detail.as_str() } else { error });
        if told.is_empty() {
            found
        } else {
            Unanswered { told: format!("dial tcp {place}: {told}"), ..found }
        }
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
            (Failure::ConnectRefused, Cause::Unknown, 1212, "dial tcp a:81: connect: connection refused"),
            (Failure::NameNotResolved, Cause::Unknown, 1101, "lookup a: no such host"),
            (Failure::Reset, Cause::Unknown, 1220, "read: connection reset by peer"),
            (Failure::ClosedEarly, Cause::Unfinished, 1000, "unexpected EOF"),
            (Failure::ConnectFailed, Cause::NameRefused, 1111, "x"),
            (Failure::TlsFailed, Cause::UnknownIssuer, 1310, "x509: unknown authority"),
        ] {
            let failed = Failed { cause, ..Failed::new(failure, "x") };
            let found = Unanswered::of(&failed, &origin);
            assert_eq!((found.code, found.told.as_str()), (code, told));
        }
    }
}
