//! A page that is fetched once a second, over HTTP or HTTPS.

use super::without_password;
use crate::probe::Unread;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error};
use url::Url;

/// A page that takes longer is not there this time.
const TIMEOUT: Duration = Duration::from_millis(900);
/// Bytes of a page that are read, at most.
const BODY_MAX: u64 = 8 << 20;
/// What helps where a token is refused.
const TOKEN_HINT: &str =
    "give the token that it was started with: #token=TOKEN behind the address, or SONAGI_WATCH_TOKEN";

/// A page, and how it is fetched.
pub(super) struct Page {
    /// Made for the first look: whoever only judges an address needs none.
    agent: OnceLock<Agent>,
    /// Without user and password.
    url: Url,
    authorization: Option<String>,
    bears_token: bool,
}

impl Page {
    /// The page at an address, whose user and password are sent as the `Authorization` header.
    ///
    /// # Errors
    /// It is no such address. What is said of it names no password.
    pub(super) fn at(address: &str) -> Result<Page, String> {
        let told = without_password(address);
        let mut url = Url::parse(address)
            .map_err(|error| format!("an address has a scheme and a host: {error}; got `{told}`"))?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(format!("a page's address begins with http:// or https://; got `{told}`"));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = (decoded(url.username()), url.password().map(decoded));
        let authorization = (!user.is_empty() || password.is_some()).then(|| {
            format!("Basic {}", STANDARD.encode(format!("{user}:{}", password.unwrap_or_default())))
        });
        // These fail only for addresses without a host.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_fragment(None);
        Ok(Page { agent: OnceLock::new(), url, authorization, bears_token: false })
    }

    /// With a token in place of a user and password.
    pub(super) fn bearing(self, token: Option<String>) -> Page {
        Page { authorization: token.map(|token| format!("Bearer {token}")), bears_token: true, ..self }
    }

    /// The address without user, password and query.
    pub(super) fn told(&self) -> String {
        without_password(self.url.as_str())
    }

    /// The host with its port, as tags have it.
    pub(super) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Fetches it.
    ///
    /// # Errors
    /// It is not there, or not to be had.
    pub(super) fn fetch(&self, accept: &str) -> Result<String, Unread> {
        self.fetch_with(None, accept)
    }

    /// Fetches it with another query.
    ///
    /// # Errors
    /// The errors of [`Page::fetch`].
    pub(super) fn fetch_with(&self, query: Option<&str>, accept: &str) -> Result<String, Unread> {
        let mut url = self.url.clone();
        if query.is_some() {
            url.set_query(query);
        }
        let agent = self.agent.get_or_init(|| agent(self.url.scheme() == "https"));
        let mut request = agent.get(url.as_str()).header("accept", accept);
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let unread = |error| self.unread(error);
        let mut response = request.call().map_err(unread)?;
        response.body_mut().with_config().limit(BODY_MAX).lossy_utf8(true).read_to_string().map_err(unread)
    }

    fn unread(&self, error: Error) -> Unread {
        match error {
            Error::StatusCode(401 | 403) if self.bears_token => {
                Unread::because("it refuses the token, or wants one").hint(TOKEN_HINT)
            }
            error => unread(error),
        }
    }
}

fn agent(is_encrypted: bool) -> Agent {
    // As the load itself: straight to the target, whatever proxy the environment names.
    let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).proxy(None).user_agent("sonagi");
    if !is_encrypted {
        return config.build().into();
    }
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(roots()))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    config.tls_config(tls.build()).build().into()
}

/// The certificates that this system trusts, read once for all pages: there are hundreds.
fn roots() -> Arc<Vec<Certificate<'static>>> {
    static ROOTS: OnceLock<Arc<Vec<Certificate<'static>>>> = OnceLock::new();
    let load = || {
        let found = rustls_native_certs::load_native_certs().certs;
        Arc::new(found.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
    };
    Arc::clone(ROOTS.get_or_init(load))
}

/// The reason in our words: the library's may hold the address.
fn unread(error: Error) -> Unread {
    match error {
        Error::StatusCode(code @ (401 | 403)) => Unread::because(format_args!("it answers {code}"))
            .hint("give user and password in the address: http://USER:PASSWORD@HOST/…"),
        Error::StatusCode(code) => {
            Unread::because(format_args!("it answers {code}")).hint("check the path of the address")
        }
        Error::Timeout(_) => Unread::because("it does not answer within 0.9 s"),
        Error::HostNotFound => Unread::because("the name of its host is not known"),
        Error::ConnectionFailed => Unread::because("it cannot be connected to"),
        Error::BodyExceedsLimit(_) => Unread::because("it is larger than 8 MiB"),
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Unread::because("nothing listens there")
        }
        Error::Io(error) => match error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()) {
            true => Unread::because(error).hint("its certificate must be trusted by this machine"),
            false => Unread::because(error),
        },
        Error::TooManyRedirects | Error::RedirectFailed => Unread::because("it redirects without end"),
        _ => Unread::because("what it answers is not HTTP"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_only_judged_loads_no_certificates_and_pages_share_them() {
        let page = Page::at("https://127.0.0.1:1/metrics").unwrap();
        assert!(page.agent.get().is_none());
        assert!(page.fetch("*/*").is_err(), "nothing listens there");
        assert!(page.agent.get().is_some() && Arc::ptr_eq(&roots(), &roots()));
    }
}
