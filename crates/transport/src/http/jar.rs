//! A user's cookies, by the rules for user agents (RFC 6265 §5): host or domain, path, `Secure`, `Max-Age` and
//! `Expires`.
//!
//! Deliberately without the list of public suffixes: a load test has no third parties. A script's own cookies are kept
//! like those of a response without attributes, so they are sent to their URL's folder and everything below it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::calendar::days_since_1970;
use crate::net::Origin;
use sonagi_wire::http1::Headers;

/// Limit on a user's cookies; the oldest makes room.
const MAX_COOKIES: usize = 200;

/// A user's cookies, from responses and from its script. A pointer, as most users have none.
#[derive(Debug, Default)]
pub struct Jar(Option<Box<Cookies>>);

/// The oldest first.
#[derive(Debug, Default)]
struct Cookies(Vec<Cookie>);

#[derive(Debug)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    /// Whether it is sent to hosts below the domain, too.
    is_wide: bool,
    path: String,
    is_secure: bool,
    /// Expiry in seconds since 1970; None: at the user's end.
    expires: Option<i64>,
}

impl Jar {
    /// Stores the cookies of a response; `path` is its request's, with or without query.
    pub fn keep(&mut self, origin: &Origin, path: &str, headers: &Headers) {
        for header in headers.get_all("set-cookie") {
            if let Ok(text) = std::str::from_utf8(header) {
                self.keep_one(origin, path, text);
            }
        }
    }

    /// Stores the cookie of one Set-Cookie header.
    pub fn keep_one(&mut self, origin: &Origin, path: &str, header: &str) {
        let now = now();
        if let Some(cookie) = parse(header, origin, path, now) {
            self.put(cookie, now);
        }
    }

    /// Stores the script's own cookies for a request to this path.
    pub fn set(&mut self, origin: &Origin, path: &str, own: Vec<(String, String)>) {
        for (name, value) in own {
            let (domain, path) = (origin.host.clone(), folder(path).to_owned());
            let cookie =
                Cookie { name, value, domain, is_wide: false, path, is_secure: false, expires: None };
            self.put(cookie, 0);
        }
    }

    /// The Cookie header's value for a request; None when no cookie applies.
    pub fn header(&self, origin: &Origin, path: &str) -> Option<String> {
        let pairs: Vec<String> =
            self.pairs(origin, path).iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Names and values of the cookies that go with a request, in the order they are sent in.
    pub fn pairs(&self, origin: &Origin, path: &str) -> Vec<(&str, &str)> {
        let Some(Cookies(cookies)) = self.0.as_deref() else { return Vec::new() };
        let path = without_query(path);
        let now = if cookies.iter().any(|cookie| cookie.expires.is_some()) { now() } else { 0 };
        let mut sent: Vec<&Cookie> =
            cookies.iter().filter(|cookie| cookie.goes_to(origin, path, now)).collect();
        // Stable: of paths that are equally long the older cookie comes first.
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        sent.iter().map(|cookie| (cookie.name.as_str(), cookie.value.as_str())).collect()
    }

    /// Removes the cookies with this name, or all, that go with a request to this URL.
    pub fn remove(&mut self, origin: &Origin, path: &str, name: Option<&str>) {
        let Some(Cookies(cookies)) = self.0.as_deref_mut() else { return };
        let (path, now) = (without_query(path), now());
        cookies.retain(|cookie| {
            name.is_some_and(|name| name != cookie.name) || !cookie.goes_to(origin, path, now)
        });
    }

    /// Removes all cookies.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Stores a cookie in place of the one with its name, domain and path; an expired one only removes that.
    fn put(&mut self, cookie: Cookie, now: i64) {
        let same = |known: &Cookie| {
            known.name == cookie.name && known.domain == cookie.domain && known.path == cookie.path
        };
        let Cookies(cookies) = &mut **self.0.get_or_insert_default();
        let known = cookies.iter().position(same);
        match known {
            Some(at) if cookie.is_over(now) => drop(cookies.remove(at)),
            Some(at) => cookies[at] = cookie,
            None if cookie.is_over(now) => {}
            None => {
                if cookies.len() == MAX_COOKIES {
                    cookies.remove(0);
                }
                cookies.push(cookie);
            }
        }
    }
}

impl Cookie {
    fn goes_to(&self, origin: &Origin, path: &str, now: i64) -> bool {
        let host = origin.host == self.domain || self.is_wide && is_below(&origin.host, &self.domain);
        let rest = path.strip_prefix(self.path.as_str());
        let below =
            rest.is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        // To a browser what never leaves the machine is safe.
        let is_safe = origin.tls || !self.is_secure || is_local(&self.domain);
        host && below && is_safe && !self.is_over(now)
    }

    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Reads a Set-Cookie header (§5.2, §5.3). None when it sets nothing, or is for another domain.
fn parse(text: &str, origin: &Origin, path: &str, now: i64) -> Option<Cookie> {
    let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
    let (name, value) = pair.split_once('=')?;
    let mut cookie = Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        domain: origin.host.clone(),
        is_wide: false,
        path: folder(path).to_owned(),
        is_secure: false,
        expires: None,
    };
    if cookie.name.is_empty() {
        return None;
    }
    let (mut max_age, mut expires) = (None, None);
    for attribute in attributes.split(';') {
        let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" => {
                let domain = value.trim_start_matches('.').to_ascii_lowercase();
                if domain == origin.host {
                    // An address has nothing below it, and neither does a single name like `localhost`.
                    cookie.is_wide = domain.contains('.') && !is_address(&domain);
                } else if is_below(&origin.host, &domain) {
                    (cookie.domain, cookie.is_wide) = (domain, true);
                } else if !domain.is_empty() {
                    return None;
                }
            }
            "path" if value.starts_with('/') => cookie.path = value.to_owned(),
            "path" => cookie.path = folder(path).to_owned(),
            "secure" => cookie.is_secure = true,
            "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
            "expires" => expires = date(value).or(expires),
            _ => {}
        }
    }
    cookie.expires = match max_age {
        Some(seconds) => Some(now.saturating_add(seconds)),
        None => expires,
    };
    Some(cookie)
}

/// Whether a host is `something.domain`. Nothing is below a domain without a dot.
fn is_below(host: &str, domain: &str) -> bool {
    let rest = host.strip_suffix(domain);
    domain.contains('.') && rest.is_some_and(|rest| rest.ends_with('.')) && !is_address(host)
}

fn is_local(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let address = host.parse::<std::net::IpAddr>();
    last.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

/// The default path of a cookie (§5.1.4): everything before the last slash.
fn folder(path: &str) -> &str {
    let path = without_query(path);
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or_default()
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Reads a cookie's date (RFC 6265, §5.1.1): its parts in any order, with any separators. Seconds since 1970.
pub fn date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').filter(|token| !token.is_empty())
    {
        let number = || token.parse::<i64>().ok();
        let named = token.get(..3).map(str::to_ascii_lowercase);
        let named = named.and_then(|name| MONTHS.iter().position(|month| *month == name));
        if time.is_none() && token.contains(':') {
            let parts: Vec<i64> = token.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
            let &[hours, minutes, seconds] = parts.as_slice() else { return None };
            time = Some((hours, minutes, seconds));
        } else if day.is_none() && token.len() <= 2 && number().is_some() {
            day = number();
        } else if month.is_none() && named.is_some() {
            month = named;
        } else if year.is_none() && (token.len() == 2 || token.len() == 4) {
            year = number().map(|year| match year {
                70..=99 => year + 1900,
                0..=69 => year + 2000,
                year => year,
            });
        }
    }
    let ((hours, minutes, seconds), day, month, year) = (time?, day?, month? as i64 + 1, year?);
    let fits = (1..=31).contains(&day) && year >= 1601 && hours < 24 && minutes < 60 && seconds < 60;
    fits.then(|| days_since_1970(year, month, day) * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> (Origin, String) {
        Origin::parse(url).unwrap()
    }

    /// The Cookie header that goes to each URL after this URL's response has set cookies.
    #[track_caller]
    fn check(url: &str, set: &[&str], table: &[(&str, Option<&str>)]) {
        let mut jar = Jar::default();
        let (from, path) = origin(url);
        for text in set {
            jar.keep(&from, &path, &[("Set-Cookie", text.as_bytes())].into_iter().collect());
        }
        for (url, expected) in table {
            let (to, path) = origin(url);
            assert_eq!(jar.header(&to, &path).as_deref(), *expected, "{url}");
        }
    }

    #[test]
    fn cookies_are_kept_replaced_and_removed() {
        let set = [
            "sid=1; Path=/; HttpOnly",
            "lang=ko; path=/",
            "sid=2; PATH=/",
            "lang=x; Path=/; Max-Age=0",
            "old=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:01 GMT",
            "theme=dark; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
            "nothing",
            "=nameless",
        ];
        check("http://a/", &set, &[("http://a/x", Some("sid=2; theme=dark")), ("http://b/", None)]);
    }

    #[test]
    fn cookies_of_a_place_are_forgotten_and_those_of_others_stay() {
        let mut jar = Jar::default();
        for (url, text) in [("http://a/", "x=1"), ("http://a/", "y=2"), ("http://b/", "x=3")] {
            let (origin, path) = origin(url);
            jar.keep_one(&origin, &path, text);
        }
        let (a, path) = origin("http://a/");
        jar.remove(&a, &path, Some("x"));
        assert_eq!(jar.pairs(&a, &path), [("y", "2")]);
        jar.remove(&a, &path, None);
        assert_eq!(jar.pairs(&a, &path), []);
        assert_eq!(jar.header(&origin("http://b/").0, "/").as_deref(), Some("x=3"));
    }

    #[test]
    fn a_cookie_goes_to_its_path_and_below_the_longest_first() {
        let set = ["root=1; Path=/", "here=2", "rooms=3; Path=/api/rooms/", "odd=4; Path=relative"];
        let table = [
            ("http://a/", Some("root=1")),
            ("http://a/api?x=/api/rooms/", Some("here=2; odd=4; root=1")),
            ("http://a/apiary", Some("root=1")),
            ("http://a/api/rooms", Some("here=2; odd=4; root=1")),
            ("http://a/api/rooms/7", Some("rooms=3; here=2; odd=4; root=1")),
        ];
        check("http://a/api/login?to=/x/y", &set, &table);
    }

    #[test]
    fn a_domain_widens_a_cookie_to_the_hosts_below_and_never_to_others() {
        let set = [
            "host=1; Path=/",
            "wide=2; Path=/; Domain=.example.com",
            "own=3; Path=/; Domain=API.example.com",
            "foreign=4; Path=/; Domain=example.org",
            "all=5; Path=/; Domain=com",
        ];
        let table = [
            ("http://api.example.com/", Some("host=1; wide=2; own=3")),
            ("http://v2.api.example.com/", Some("wide=2; own=3")),
            ("http://example.com/", Some("wide=2")),
            ("http://badexample.com/", None),
        ];
        check("http://api.example.com/", &set, &table);
        check(
            "http://127.0.0.1:1/",
            &["a=1; Domain=0.0.1", "b=2; Domain=127.0.0.1"],
            &[("http://127.0.0.1:2/", Some("b=2")), ("http://1.127.0.0.1/", None)],
        );
    }

    #[test]
    fn a_secure_cookie_goes_over_tls_only() {
        let table = [("http://a/", Some("b=2")), ("https://a/", Some("a=1; b=2"))];
        check("https://a/", &["a=1; Secure", "b=2"], &table);
        for here in ["http://127.0.0.1/", "http://localhost/", "http://a.localhost/", "http://[::1]/"] {
            check(here, &["a=1; Secure"], &[(here, Some("a=1"))]);
        }
    }

    #[test]
    fn a_scripts_own_cookie_stays_and_takes_the_place_of_the_one_it_names() {
        let mut jar = Jar::default();
        let (a, _) = origin("http://a/");
        jar.keep(&a, "/login", &[("set-cookie", &b"sid=1"[..])].into_iter().collect());
        jar.set(&a, "/rooms", vec![("sid".into(), "mine".into()), ("x".into(), "1".into())]);
        jar.set(&a, "/rooms/7", vec![("deep".into(), "1".into())]);
        assert_eq!(jar.header(&a, "/").as_deref(), Some("sid=mine; x=1"));
        assert_eq!(jar.header(&a, "/rooms/8").as_deref(), Some("deep=1; sid=mine; x=1"));
    }

    #[test]
    fn a_jar_that_is_full_forgets_its_oldest_cookie() {
        let mut jar = Jar::default();
        let (a, _) = origin("http://a/");
        for n in 0..=MAX_COOKIES {
            jar.set(&a, "/", vec![(format!("c{n}"), "1".into())]);
        }
        let header = jar.header(&a, "/").unwrap();
        assert!(header.starts_with("c1=1; ") && header.ends_with(&format!("; c{MAX_COOKIES}=1")), "{header}");
    }

    #[test]
    fn a_date_is_read_however_it_is_written() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Thu, 29 Feb 2024 00:00:00 GMT", Some(1_709_164_800)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("01 Jan 70 00:00:00", Some(0)),
            ("tomorrow", None),
            ("32 Jan 2024 00:00:00", None),
            ("01 Jan 2024 25:00:00", None),
        ] {
            assert_eq!(date(text), expected, "{text}");
        }
    }
}
