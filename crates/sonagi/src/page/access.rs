//! Who may ask: browsers of this machine that were given the page's own address.
//!
//! A site anywhere can make a browser ask `http://127.0.0.1:5665`, and a name that it owns can be made to mean that
//! address (DNS rebinding). So a request must name an address of ours as its host, and, where a page sends it, come
//! from such a page. Acting takes the token as well: only the address that the terminal shows has it, for everybody on
//! this machine may open the page.

use std::net::{IpAddr, SocketAddr};

/// Hosts and origins that are ours.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    address: SocketAddr,
    /// The name that the user gave for the address.
    name: Option<String>,
    token: String,
}

impl Access {
    pub(crate) fn new(address: SocketAddr, name: Option<String>, token: String) -> Access {
        Access { address, name, token }
    }

    /// The address to open: of the page alone.
    pub(super) fn url(&self) -> String {
        let port = self.address.port();
        match (&self.name, self.address) {
            (Some(name), _) => format!("http://{name}:{port}"),
            (None, SocketAddr::V4(all)) if all.ip().is_unspecified() => format!("http://127.0.0.1:{port}"),
            (None, SocketAddr::V6(all)) if all.ip().is_unspecified() => format!("http://[::1]:{port}"),
            (None, address) => format!("http://{address}"),
        }
    }

    /// The address whose page may act.
    pub(super) fn url_with_token(&self) -> String {
        format!("{}/?token={}", self.url(), self.token)
    }

    /// Whether a request with these headers comes from here.
    pub(crate) fn admits(&self, host: Option<&str>, origin: Option<&str>) -> bool {
        let is_ours = |authority: &str| self.is_ours(authority);
        host.is_some_and(is_ours) && origin.is_none_or(|it| it.strip_prefix("http://").is_some_and(is_ours))
    }

    /// Whether a page of another site made the browser ask, as browsers say themselves (`Sec-Fetch-Site`). It could not
    /// read the answer, but making it costs.
    pub(super) fn is_foreign(site: Option<&str>) -> bool {
        matches!(site, Some("cross-site" | "same-site"))
    }

    /// Whether somebody who holds the token asks.
    pub(crate) fn may_act(&self, given: Option<&str>) -> bool {
        let given = given.unwrap_or_default().as_bytes();
        let differs =
            given.iter().zip(self.token.as_bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        given.len() == self.token.len() && differs == 0
    }

    fn is_ours(&self, authority: &str) -> bool {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (authority, Some(80)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let is_named = |name: &str| host.eq_ignore_ascii_case(name);
        if is_named("localhost") || self.name.as_deref().is_some_and(is_named) {
            return true;
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let Ok(ip) = bare.parse::<IpAddr>() else { return false };
        // Listening on all addresses: nobody can make a number mean another machine.
        ip.is_loopback() || ip == self.address.ip() || self.address.ip().is_unspecified()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_ours() {
        let access = |address: &str| Access::new(address.parse().unwrap(), None, "secret".to_owned());
        let here = access("127.0.0.1:5665");
        for host in ["127.0.0.1:5665", "localhost:5665", "LOCALHOST:5665", "[::1]:5665"] {
            assert!(here.admits(Some(host), None), "{host}");
            assert!(here.admits(Some(host), Some(&format!("http://{host}"))), "{host}");
        }
        for host in [
            "evil.example:5665",
            "127.0.0.1.evil.example:5665",
            "localhost",
            "127.0.0.1:80",
            "10.0.0.5:5665",
            "",
        ] {
            assert!(!here.admits(Some(host), None), "{host}");
        }
        assert!(!here.admits(None, None));
        for origin in ["http://evil.example", "https://127.0.0.1:5665", "null", "http://localhost:3000"] {
            assert!(!here.admits(Some("127.0.0.1:5665"), Some(origin)), "{origin}");
        }
        assert!(access("10.0.0.5:5665").admits(Some("10.0.0.5:5665"), None));
        assert!(access("0.0.0.0:5665").admits(Some("10.0.0.5:5665"), None));
        assert!(!access("0.0.0.0:5665").admits(Some("evil.example:5665"), None));
    }

    #[test]
    fn the_name_that_the_user_gave_for_an_address_is_ours_and_no_other() {
        let named = Access::new(
            "10.0.0.5:5665".parse().unwrap(),
            Some("build-7.example".to_owned()),
            "secret".to_owned(),
        );
        for host in ["build-7.example:5665", "BUILD-7.example:5665", "10.0.0.5:5665"] {
            assert!(named.admits(Some(host), Some(&format!("http://{host}"))), "{host}");
        }
        for host in ["build-7.example", "build-7.example:80", "build-8.example:5665", "example:5665"] {
            assert!(!named.admits(Some(host), None), "{host}");
        }
        assert_eq!(named.url(), "http://build-7.example:5665");
    }

    #[test]
    fn acting_takes_the_token_which_only_the_address_shown_has() {
        let access = |address: &str| Access::new(address.parse().unwrap(), None, "secret".to_owned());
        let here = access("127.0.0.1:1");
        assert!(here.may_act(Some("secret")));
        assert!(!here.may_act(Some("secre")) && !here.may_act(Some("secreT")) && !here.may_act(None));
        assert_eq!(here.url_with_token(), "http://127.0.0.1:1/?token=secret");
        let all = [access("0.0.0.0:1"), access("[::]:1"), access("10.0.0.5:1")];
        assert_eq!(all.map(|it| it.url()), ["http://127.0.0.1:1", "http://[::1]:1", "http://10.0.0.5:1"]);
    }

    #[test]
    fn what_a_page_of_another_site_asks_for_is_foreign() {
        assert!(["cross-site", "same-site"].iter().all(|site| Access::is_foreign(Some(site))));
        assert!([None, Some("none"), Some("same-origin")].iter().all(|site| !Access::is_foreign(*site)));
    }
}
