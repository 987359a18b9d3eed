//! A user's cookies: name and value per host, as scripts need them to stay logged in.
//!
//! Deliberately no paths, domains or expiry beyond `Max-Age=0`: a load test talks to one service, and a browser's rules
//! would cost memory per user.

use crate::http::Headers;

/// Cookies a user was given or set itself.
#[derive(Default)]
pub(crate) struct Jar(Vec<Cookie>);

struct Cookie {
    host: String,
    name: String,
    value: String,
}

impl Jar {
    /// Keeps what a response sets.
    pub(crate) fn keep(&mut self, host: &str, headers: &Headers) {
        for header in headers.get_all("set-cookie") {
            let Ok(text) = std::str::from_utf8(header) else { continue };
            let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
            let Some((name, value)) = pair.split_once('=') else { continue };
            let (name, value) = (name.trim(), value.trim());
            self.0.retain(|cookie| cookie.host != host || cookie.name != name);
            let is_removal = attributes.split(';').any(|a| a.trim().eq_ignore_ascii_case("max-age=0"));
            if !is_removal {
                self.0.push(Cookie { host: host.to_owned(), name: name.to_owned(), value: value.to_owned() });
            }
        }
    }

    /// The Cookie header's value for a host, the step's own cookies (`own`) winning; None when there is none.
    pub(crate) fn header(&self, host: &str, own: &[(String, String)]) -> Option<String> {
        if self.0.is_empty() && own.is_empty() {
            return None;
        }
        let kept = self
            .0
            .iter()
            .filter(|cookie| cookie.host == host && own.iter().all(|(name, _)| *name != cookie.name));
        let kept = kept.map(|cookie| format!("{}={}", cookie.name, cookie.value));
        let pairs: Vec<String> =
            kept.chain(own.iter().map(|(name, value)| format!("{name}={value}"))).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_kept_replaced_removed_and_bound_to_their_host() {
        let mut jar = Jar::default();
        let mut set = |text: &str| {
            jar.keep("a", &[("Set-Cookie", text.as_bytes())].into_iter().collect());
        };
        set("sid=1; Path=/; HttpOnly");
        set("lang=ko");
        set("sid=2");
        set("lang=x; Max-Age=0");
        assert_eq!(jar.header("a", &[]), Some("sid=2".to_owned()));
        assert_eq!(jar.header("a", &[("sid".into(), "mine".into())]), Some("sid=mine".to_owned()));
        assert_eq!(jar.header("b", &[]), None);
    }
}
