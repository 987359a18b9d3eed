//! Addresses of steps, read as Node reads them: the URL standard, by Servo's library.
//!
//! A step's address is read once where nothing in it can change the origin; what its user fills into a path is only
//! percent-encoded. k6's addresses follow Go's rules and never come here.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sonagi_measure::outcome::Failure;
use std::cell::RefCell;
use std::collections::HashMap;
use url::{Host, ParseError, Position, Url};

use sonagi_transport::net::{Failed, Origin, has_scheme};

/// The standard's path and special-query percent-encode sets.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\'');

/// Reads an absolute address with the scheme http, https, ws or wss: where connections go, and the path with its query,
/// ready for a request line. A fragment is dropped.
///
/// # Errors
/// `Failure::Template` when it is no such address: scripts build them from templates.
pub fn address(written: &str) -> Result<(Origin, String), Failed> {
    let rule = match absolute(written) {
        Ok(url) => match parts(&url) {
            Ok(parts) => return Ok(parts),
            Err(rule) => rule,
        },
        Err(rule) => rule,
    };
    let shown = &written[..written.floor_char_boundary(200)];
    Err(Failed::new(Failure::Template, format!("URL must {rule}, got {shown:?}")))
}

/// Addresses that a thread keeps as they were read; beyond, it begins anew.
const KEPT: usize = 256;

thread_local! {
    /// The addresses of this thread's users: most of them go to the same few, and reading one costs thousands of
    /// instructions.
    static READ: RefCell<HashMap<String, (Origin, String)>> = RefCell::default();
}

/// A step's address: as it is when it is absolute, else under the target.
///
/// # Errors
/// When [`address`] fails.
pub(crate) fn under(target: &str, written: &str) -> Result<(Origin, String), Failed> {
    let whole = joined(target, written);
    READ.with_borrow_mut(|read| {
        if let Some(known) = read.get(&whole) {
            return Ok(known.clone());
        }
        let parts = address(&whole)?;
        if read.len() >= KEPT {
            read.clear();
        }
        read.insert(whole, parts.clone());
        Ok(parts)
    })
}

/// The text of [`under`].
pub(crate) fn joined(target: &str, written: &str) -> String {
    if written.contains("://") && has_scheme(written) {
        return written.to_owned();
    }
    let base = target.trim_end_matches('/');
    match written {
        "" => target.to_owned(),
        rooted if rooted.starts_with(['/', '?']) => format!("{base}{rooted}"),
        relative => format!("{base}/{relative}"),
    }
}

/// Where a redirect leads; None: to no address of http or https.
pub(crate) fn redirected(origin: &Origin, path: &str, location: &str) -> Option<(Origin, String)> {
    let from = Url::parse(&format!("{origin}{path}")).ok()?;
    let to = from.join(location).ok()?;
    if matches!(to.scheme(), "http" | "https") { parts(&to).ok() } else { None }
}

/// Appends a rooted path with its query as users filled it: bytes that may not stand in a request line are
/// percent-encoded, none of them twice.
pub(crate) fn push_path(filled: &str, out: &mut String) {
    let filled = filled.split('#').next().unwrap_or_default();
    let (path, query) = filled.split_at(filled.find('?').unwrap_or(filled.len()));
    if !path.starts_with('/') {
        out.push('/');
    }
    out.extend(utf8_percent_encode(path, PATH));
    if query != "?" {
        out.extend(utf8_percent_encode(query, QUERY));
    }
}

/// Appends a text as forms are encoded.
pub(crate) fn push_form(text: &str, out: &mut String) {
    out.extend(url::form_urlencoded::byte_serialize(text.as_bytes()));
}

/// The standard is generous with slashes, `http:a` and `http:///a` are `http://a` to it; a script that has them means
/// something else.
fn absolute(written: &str) -> Result<Url, &'static str> {
    let host = "have a host of letters, digits, dots and dashes";
    let rest = match written.split_once("://") {
        Some((_, rest)) if has_scheme(written.trim_start()) => rest,
        _ => return Err("be absolute, such as http://host:port/path"),
    };
    if rest.is_empty() || rest.starts_with(['/', '?', '#', '\\']) {
        return Err(host);
    }
    Url::parse(written).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => "be absolute, such as http://host:port/path",
        ParseError::InvalidPort => "have a port between 1 and 65535",
        ParseError::InvalidIpv6Address => "have a valid IPv6 address in its brackets",
        _ => host,
    })
}

/// The rule that it breaks otherwise.
fn parts(url: &Url) -> Result<(Origin, String), &'static str> {
    let tls = match url.scheme() {
        "http" | "ws" => false,
        "https" | "wss" => true,
        _ => return Err("have the scheme http, https, ws or wss"),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("not carry a user and password");
    }
    let host = match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => return Err("have a host of letters, digits, dots and dashes"),
    };
    let port = url.port_or_known_default().filter(|port| *port > 0);
    let Some(port) = port else { return Err("have a port between 1 and 65535") };
    // Node leaves out a query that is empty.
    let end = if url.query() == Some("") { Position::AfterPath } else { Position::AfterQuery };
    Ok((Origin { host, port, tls }, url[Position::BeforePath..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, host: &str, port: u16, tls: bool, path: &str) {
        let (origin, found) = address(written).unwrap();
        assert_eq!((origin, found.as_str()), (Origin { host: host.into(), port, tls }, path), "{written}");
    }

    /// Like `new URL(…)` of Node 20.
    #[test]
    fn an_address_gives_its_origin_and_the_path_for_the_wire() {
        check("http://127.0.0.1:8080", "127.0.0.1", 8080, false, "/");
        check("HTTPS://Chat.Example/a/b?c=d&e#top", "chat.example", 443, true, "/a/b?c=d&e");
        check("ws://localhost?room=1", "localhost", 80, false, "/?room=1");
        check("wss://[::1]:9/x", "::1", 9, true, "/x");
        check("http://[0:0::1]/", "::1", 80, false, "/");
        check("http://a:/x", "a", 80, false, "/x");
        check("http://a/end/?", "a", 80, false, "/end/");
        check("http://채팅.한국/방", "xn--ou6bo7j.xn--3e0b707e", 80, false, "/%EB%B0%A9");
        check(
            "http://a/b {c}|d^e`f\\g/../h?q='x'&r={y}|z^`",
            "a",
            80,
            false,
            "/b%20%7Bc%7D|d^e%60f/h?q=%27x%27&r={y}|z^`",
        );
        check("http://a/b c/é?q=\"x\"&done=%20", "a", 80, false, "/b%20c/%C3%A9?q=%22x%22&done=%20");
        check("http://a/x\r\nInjected: 1", "a", 80, false, "/xInjected:%201");
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_rule() {
        for (written, rule) in [
            ("/relative", "absolute"),
            ("/go?to=http://b", "absolute"),
            ("ftp://a/", "scheme"),
            ("http:///x", "host"),
            ("http://a b/", "host"),
            ("http://a:0/", "port"),
            ("http://a:65536/", "port"),
            ("http://[::1/", "bracket"),
            ("http://me:secret@a/", "user"),
        ] {
            let failed = address(written).unwrap_err();
            assert_eq!(failed.failure, Failure::Template);
            assert!(failed.detail.contains(rule), "{written}: {failed}");
        }
    }

    #[test]
    fn a_relative_address_stands_under_the_target() {
        let table = [
            ("http://a:1", "/x", "http://a:1/x"),
            ("http://a:1/", "/x", "http://a:1/x"),
            ("http://a:1/api", "/x", "http://a:1/api/x"),
            ("http://a:1", "x", "http://a:1/x"),
            ("http://a:1", "?x", "http://a:1?x"),
            ("http://a:1", "", "http://a:1"),
            ("http://a:1", "ws://b/y", "ws://b/y"),
            ("http://a:1", "/go?to=http://b", "http://a:1/go?to=http://b"),
        ];
        for (target, written, expected) in table {
            assert_eq!(joined(target, written), expected);
        }
    }

    #[test]
    fn a_location_is_resolved_against_the_request_it_answers() {
        let (origin, path) = address("http://a:1/b/c?x=1").unwrap();
        let table = [
            ("https://other/y", Some("https://other/y")),
            ("//other/y", Some("http://other/y")),
            ("/y?next=http://z/x", Some("http://a:1/y?next=http://z/x")),
            ("y", Some("http://a:1/b/y")),
            ("./y", Some("http://a:1/b/y")),
            ("../y", Some("http://a:1/y")),
            ("../../..", Some("http://a:1/")),
            ("?page=2", Some("http://a:1/b/c?page=2")),
            ("#top", Some("http://a:1/b/c?x=1")),
            ("ftp://other/y", None),
            ("http://", None),
        ];
        for (location, expected) in table {
            let found = redirected(&origin, &path, location).map(|(origin, path)| format!("{origin}{path}"));
            assert_eq!(found.as_deref(), expected, "{location}");
        }
    }

    #[test]
    fn what_a_user_fills_in_is_percent_encoded_once() {
        for (filled, expected) in [
            ("/a b/{c}|é?q='x y'&r={z}&done=%20#top", "/a%20b/%7Bc%7D|%C3%A9?q=%27x%20y%27&r={z}&done=%20"),
            ("/x\r\nInjected: 1", "/x%0D%0AInjected:%201"),
            ("?x=1", "/?x=1"),
            ("/x?", "/x"),
        ] {
            let mut out = String::new();
            push_path(filled, &mut out);
            assert_eq!(out, expected);
        }
        let mut form = String::new();
        push_form("a b*~é", &mut form);
        assert_eq!(form, "a+b*%7E%C3%A9");
    }
}
