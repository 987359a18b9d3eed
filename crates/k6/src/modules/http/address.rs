//! Addresses as scripts give them, and as Go's client writes them.

use rquickjs::{Coerced, Value};
use sonagi_transport::net::Origin;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use super::errors::{BadCall, Unanswered};
use super::recent::Recent;
use crate::modules::forms::percent_decoded;

/// The member of what the template tag `http.url` makes by which it is known.
pub(super) const MARK: &str = "__sonagiName";

/// An address longer than this is not kept for the next request, in bytes: such ones are rarely asked for twice.
const KEPT_BYTES: usize = 512;

/// A URL, read.
#[derive(Clone, Debug)]
pub(super) struct Address {
    /// The URL in samples, with stars for the user and password it carries.
    pub(super) clean: String,
    /// The URL without these.
    pub(super) url: String,
    pub(super) credentials: Option<(String, String)>,
    /// With them.
    pub(super) given: String,
    /// Where it leads; None: nowhere that a request can be sent to.
    pub(super) destination: Option<Destination>,
}

/// Where a request goes.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) origin: Origin,
    pub(super) path: String,
    /// The server's name in `Host`.
    pub(super) host: String,
}

/// The addresses of a user's last requests, by what the script gave.
pub(super) type RecentAddresses = RefCell<Recent<String, Rc<Address>>>;

impl Address {
    /// A text, or what the template tag `http.url` made; then with the name of the script's that its samples go by.
    pub(super) fn of<'js>(
        value: &Value<'js>,
        recent: &RecentAddresses,
    ) -> Result<(Rc<Address>, Option<String>), BadCall> {
        if let Some(object) = value.as_object().filter(|object| object.contains_key(MARK).unwrap_or(false)) {
            let (url, name) = (object.get::<_, String>("url")?, object.get::<_, String>("name")?);
            let name = Some(name).filter(|name| *name != url);
            return Ok((Address::known(url, recent)?, name));
        }
        if !value.is_string() {
            let shown = match value.is_undefined() || value.is_null() {
                true => "#<nil>".to_owned(),
                false => format!("#{}", value.get::<Coerced<String>>()?.0),
            };
            return Err(BadCall::Wrong(Unanswered::no_url(&shown)));
        }
        Ok((Address::known(value.get()?, recent)?, None))
    }

    fn known(text: String, recent: &RecentAddresses) -> Result<Rc<Address>, BadCall> {
        if let Some(known) = recent.borrow().find(|known| *known == text) {
            return Ok(known);
        }
        let address = Rc::new(Address::parse(&text)?);
        if text.len() <= KEPT_BYTES {
            recent.borrow_mut().keep(text, Rc::clone(&address));
        }
        Ok(address)
    }

    pub(super) fn parse(text: &str) -> Result<Address, BadCall> {
        let given =
            escaped(text).map_err(|why| BadCall::Wrong(Unanswered::bad_url(text, &why)))?.into_owned();
        let (url, credentials, clean) = without_credentials(&given);
        let destination = Origin::parse(&url).ok().map(|(origin, path)| {
            let host = host(&url).into_owned();
            Destination { origin, path, host }
        });
        Ok(Address { clean, url, credentials, given, destination })
    }
}

/// A URL with stars in the place of the user and password it carries, and else as it is.
pub(super) fn clean(url: &str) -> String {
    without_credentials(url).2
}

/// A URL's host and port, as k6 names them to the server: as written, but without the zone of an IPv6 address. The URL
/// carries no user.
pub(crate) fn host(url: &str) -> Cow<'_, str> {
    let rest = scheme(url).1.trim_start_matches('/');
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.split_once(']').zip(authority.find('%')) {
        Some(((literal, port), zone)) if zone < literal.len() => {
            format!("{}]{port}", &literal[..zone]).into()
        }
        _ => authority.into(),
    }
}

/// Go's objection to the host of a URL. Only a redirect may name a wrong host without being refused before.
pub(super) fn wrong_in(url: &str) -> Option<String> {
    let rest = scheme(url).1.strip_prefix("//")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let behind = match host.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((_, behind)) => behind,
            None => return Some("missing ']' in host".to_owned()),
        },
        None => &host[host.rfind(':').unwrap_or(host.len())..],
    };
    let is_port = behind.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    (!behind.is_empty() && !is_port).then(|| format!("invalid port {behind:?} after host"))
}

/// The objection of Go's `url.Parse` to a URL.
pub(super) fn unparsable(url: &str) -> Option<String> {
    if let Err(why) = escaped(url) {
        return Some(why);
    }
    let whole = url.split('#').next().unwrap_or_default();
    if whole.starts_with(':') {
        return Some("missing protocol scheme".to_owned());
    }
    let path = whole.split('?').next().unwrap_or_default();
    let is_relative = scheme(path).0.is_empty() && !path.starts_with('/');
    if is_relative && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
        return Some("first path segment in URL cannot contain colon".to_owned());
    }
    wrong_in(url).or_else(|| {
        let authority = scheme(path).1.strip_prefix("//")?.split('/').next()?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let wrong = host.bytes().find(|byte| byte.is_ascii() && !is_of_host(*byte))?;
        Some(format!("invalid character {:?} in host name", char::from(wrong).to_string()))
    })
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte)
}

/// Bytes that stay what they are in a path, whatever else is in it.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

/// Bytes that stay where the whole path is written as it should be.
fn is_allowed(byte: u8) -> bool {
    is_plain(byte) || b"!'()*[]%".contains(&byte)
}

/// A URL as Go writes it: a path with anything in it that does not belong there is written anew, a query never.
pub(super) fn escaped(url: &str) -> Result<Cow<'_, str>, String> {
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (scheme, rest) = scheme(rest);
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (Some(authority), path)
        }
        None if !scheme.is_empty() && !rest.starts_with('/') => return Ok(Cow::Borrowed(url)),
        None => (None, rest),
    };
    let (written, part) = (path_of(path)?, fragment.map(path_of).transpose()?);
    let is_nowhere = authority == Some("") && path.is_empty();
    let is_as_it_is = matches!(written, Cow::Borrowed(_)) && matches!(part, None | Some(Cow::Borrowed(_)));
    if is_as_it_is && !is_nowhere && !scheme.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Ok(Cow::Borrowed(url));
    }
    let mut whole = scheme.to_ascii_lowercase();
    if let Some(authority) = authority.filter(|_| !is_nowhere) {
        let _ = write!(whole, "//{authority}");
    }
    whole.push_str(&written);
    if let Some(query) = query {
        let _ = write!(whole, "?{query}");
    }
    if let Some(part) = part {
        let _ = write!(whole, "#{part}");
    }
    Ok(Cow::Owned(whole))
}

/// A URL's scheme with its colon, if it has one, and the rest.
fn scheme(url: &str) -> (&str, &str) {
    let end = url.find(|letter: char| !(letter.is_ascii_alphanumeric() || "+-.".contains(letter)));
    match end {
        Some(end)
            if end > 0
                && url[end..].starts_with(':')
                && url.starts_with(|it: char| it.is_ascii_alphabetic()) =>
        {
            url.split_at(end + 1)
        }
        _ => ("", url),
    }
}

fn path_of(path: &str) -> Result<Cow<'_, str>, String> {
    let hex = |at: usize| path.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    for (at, _) in path.match_indices('%') {
        if !(hex(at + 1) && hex(at + 2)) {
            let wrong: String = path[at..].chars().take(3).collect();
            return Err(format!("invalid URL escape {wrong:?}"));
        }
    }
    if path.bytes().all(is_allowed) {
        return Ok(Cow::Borrowed(path));
    }
    let mut written = String::with_capacity(path.len() + 8);
    for byte in percent_decoded(path).bytes() {
        match is_plain(byte) {
            true => written.push(char::from(byte)),
            false => written.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(Cow::Owned(written))
}

/// A URL without the user and password it carries before its host, these, and the URL with stars in their places.
pub(super) fn without_credentials(url: &str) -> (String, Option<(String, String)>, String) {
    let nothing = || (url.to_owned(), None, url.to_owned());
    let Some((scheme, rest)) = url.split_once("://") else { return nothing() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some((credentials, host)) = rest[..end].rsplit_once('@') else { return nothing() };
    let (stars, (user, password)) = match credentials.split_once(':') {
        Some(pair) => ("****:****", pair),
        None => ("****", (credentials, "")),
    };
    let plain = |text: &str| percent_decoded(text);
    let bare = format!("{host}{}", &rest[end..]);
    let clean = format!("{scheme}://{stars}@{bare}");
    (format!("{scheme}://{bare}"), Some((plain(user), plain(password))), clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen in k6 2.2.
    #[test]
    fn addresses_are_written_as_go_writes_them() {
        for (path, written) in [
            ("/a b", "/a%20b"),
            ("/a'b", "/a'b"),
            ("/a'b c", "/a%27b%20c"),
            ("/ä?ü=ö", "/%C3%A4?ü=ö"),
            ("/a#f g", "/a#f%20g"),
            ("/%c3%a4", "/%c3%a4"),
            ("/(x)!* ", "/%28x%29%21%2A%20"),
            ("/a;b,c=d&e+f$g:h@i ä", "/a;b,c=d&e+f$g:h@i%20%C3%A4"),
            ("?q=%zz", "?q=%zz"),
            ("/[x]{x}", "/%5Bx%5D%7Bx%7D"),
        ] {
            assert_eq!(escaped(&format!("HTTP://a:1{path}")).unwrap(), format!("http://a:1{written}"));
            assert_eq!(escaped(&format!("http://a:1{path}")).unwrap(), format!("http://a:1{written}"));
        }
        for (url, written) in
            [("http://", "http:"), ("http:", "http:"), ("no scheme", "no%20scheme"), ("", "")]
        {
            assert_eq!(escaped(url).unwrap(), written);
        }
        assert_eq!(escaped("http://a/%zz").unwrap_err(), "invalid URL escape \"%zz\"");
    }

    #[test]
    fn a_host_is_named_as_it_is_written() {
        for (url, named) in [
            ("http://a.b/c", "a.b"),
            ("http://a.b:80", "a.b:80"),
            ("https://a.b:443?c", "a.b:443"),
            ("http://A.b:0080/", "A.b:0080"),
            ("http://a:/", "a:"),
            ("http://[::1]:81/", "[::1]:81"),
            ("ws://[fe80::1%25lo]:81/", "[fe80::1]:81"),
        ] {
            assert_eq!(host(url), named);
        }
    }

    #[test]
    fn a_url_is_parted_from_its_credentials() {
        let of = |url| without_credentials(url);
        let some = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        let (a, b) = ("http://a/b@c".to_owned(), "http://a:1/b".to_owned());
        assert_eq!(of("http://a/b@c"), (a.clone(), None, a));
        assert_eq!(of("http://u:p%40@a:1/b"), (b, some("u", "p@"), "http://****:****@a:1/b".to_owned()));
        assert_eq!(
            of("http://u@a?x"),
            ("http://a?x".to_owned(), some("u", ""), "http://****@a?x".to_owned())
        );
    }
}
