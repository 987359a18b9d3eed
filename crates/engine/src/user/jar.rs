//! A user's cookies: name and value per host, as scripts need them to stay logged in.
//!
//! Deliberately no paths, domains or lifetimes: a load test talks to one service, and a browser's rules would cost memory per
//! user. What a response takes back, by `Max-Age=0` or by an `Expires` of the past, is gone.

use std::time::SystemTime;

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
            let at = self.0.iter().position(|cookie| cookie.host == host && cookie.name == name);
            match (at, is_over(attributes)) {
                (Some(at), true) => drop(self.0.remove(at)),
                // A changed cookie keeps its place: it is as old as it was (RFC 6265, 5.3).
                (Some(at), false) => value.clone_into(&mut self.0[at].value),
                (None, true) => {}
                (None, false) => {
                    self.0.push(Cookie {
                        host: host.to_owned(),
                        name: name.to_owned(),
                        value: value.to_owned(),
                    });
                }
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

/// Whether a cookie's attributes say that its time is over; `Max-Age` counts before `Expires`.
fn is_over(attributes: &str) -> bool {
    let find = |wanted: &str| {
        attributes.split(';').rev().find_map(|attribute| {
            let (name, value) = attribute.split_once('=')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    match find("max-age").and_then(|seconds| seconds.parse::<i64>().ok()) {
        Some(seconds) => seconds <= 0,
        None => find("expires")
            .and_then(|date| httpdate::parse_http_date(date).ok())
            .is_some_and(|date| date <= SystemTime::now()),
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

    #[test]
    fn a_changed_cookie_keeps_its_place_and_one_of_the_past_is_gone() {
        let mut jar = Jar::default();
        let mut set = |text: &str| {
            jar.keep("a", &[("Set-Cookie", text.as_bytes())].into_iter().collect());
        };
        for text in
            ["sid=1", "lang=ko", "sid=2; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "theme=dark", "old=1"]
        {
            set(text);
        }
        set("lang=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        set("old=; max-age=-1; expires=Fri, 31 Dec 9999 23:59:59 GMT");
        set("theme=light; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(jar.header("a", &[]), Some("sid=2; theme=light".to_owned()));
    }
}
