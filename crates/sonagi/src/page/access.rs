//! Who may ask: browsers of this machine that were given the page's own address.
//!
//! A site anywhere can make a browser ask `http://127.0.0.1:5665`, and a name that it owns can be made to mean that
//! address (DNS rebinding). So a request must name an address of ours as its host, and, where a page sends it, come
//! from such a page. Acting takes the token as well, which only our pages hold.

use std::net::{IpAddr, SocketAddr};

/// Hosts and origins that are ours.
#[derive(Clone, Debug)]
pub(super) struct Access {
    address: SocketAddr,
    token: String,
}

impl Access {
    pub(super) fn new(address: SocketAddr, token: String) -> Access {
        Access { address, token }
    }

    /// What the pages need to act; None where anybody on the network may open them: there nobody acts by a page.
    pub(super) fn token(&self) -> Option<&str> {
        self.address.ip().is_loopback().then_some(&self.token)
    }

    /// Whether a request with these headers comes from here.
    pub(super) fn admits(&self, host: Option<&str>, origin: Option<&str>) -> bool {
        let is_ours = |authority: &str| self.is_ours(authority);
        host.is_some_and(is_ours) && origin.is_none_or(|it| it.strip_prefix("http://").is_some_and(is_ours))
    }

    /// Whether somebody who holds the token asks.
    pub(super) fn may_act(&self, given: Option<&str>) -> bool {
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
        if host.eq_ignore_ascii_case("localhost") {
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
        let access = |address: &str| Access::new(address.parse().unwrap(), "secret".to_owned());
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
    fn acting_takes_the_token() {
        let access = Access::new("127.0.0.1:1".parse().unwrap(), "secret".to_owned());
        assert!(access.may_act(Some("secret")));
        assert_eq!(access.token(), Some("secret"));
        let open = Access::new("0.0.0.0:1".parse().unwrap(), "secret".to_owned());
        assert_eq!(open.token(), None, "who may open the page there may not act");
        assert!(!access.may_act(Some("secre")) && !access.may_act(Some("secreT")) && !access.may_act(None));
    }
}
