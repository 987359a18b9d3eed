//! URLs: scheme, host and port, and the path in the form it is sent in.
//!
//! Not a general URL library: it reads absolute URLs and makes their paths safe to send, by percent-encoding what may
//! not appear raw. It never encodes twice. Go's or Node's rules for addresses belong to the front ends.

use std::fmt;

use sonagi_measure::outcome::Failure;

use super::Failed;

/// The end of a connection: host, port, and whether TLS is spoken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// A name or an address, lower case, IPv6 without brackets.
    pub host: String,
    /// The port, from the scheme when the URL names none.
    pub port: u16,
    /// Whether the connection is encrypted.
    pub tls: bool,
}

impl Origin {
    /// Reads an absolute URL with the scheme http, https, ws or wss. The second value is the path with its query, ready
    /// for a request line; a fragment is dropped.
    ///
    /// # Errors
    /// `Failure::Template` when this is no such URL: scripts build them from templates.
    pub fn parse(url: &str) -> Result<(Origin, String), Failed> {
        let wrong = |rule: &str| {
            Err(Failed::new(Failure::Template, format!("URL must {rule}, got {:?}", Shortened(url))))
        };
        let url = url.trim();
        let Some((scheme, rest)) = url.split_once("://") else {
            return wrong("be absolute, such as http://host:port/path");
        };
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return wrong("have the scheme http, https, ws or wss"),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return wrong("not carry a user and password");
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => match bracketed.split_once(']') {
                Some((host, "")) => (host, None),
                Some((host, port)) if port.starts_with(':') => (host, Some(&port[1..])),
                _ => return wrong("close the bracket of its IPv6 address"),
            },
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty()
            || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte))
        {
            return wrong("have a host of letters, digits, dots and dashes");
        }
        let port = match port {
            None | Some("") => {
                if tls {
                    443
                } else {
                    80
                }
            }
            Some(digits) => match digits.parse() {
                Ok(port) if port > 0 => port,
                _ => return wrong("have a port between 1 and 65535"),
            },
        };
        Ok((Origin { host: host.to_ascii_lowercase(), port, tls }, wire_path(path)))
    }

    /// The value of the Host header: the port only when it is not the scheme's own.
    pub fn authority(&self) -> String {
        let standard = if self.tls { 443 } else { 80 };
        match (self.host.contains(':'), self.port == standard) {
            (false, true) => self.host.clone(),
            (false, false) => format!("{}:{}", self.host, self.port),
            (true, true) => format!("[{}]", self.host),
            (true, false) => format!("[{}]:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.authority())
    }
}

/// Whether a reference begins with a scheme (RFC 3986 §3.1): `/go?to=http://b` does not.
pub fn has_scheme(reference: &str) -> bool {
    match reference.split_once(':') {
        Some((scheme, _)) => {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        }
        None => false,
    }
}

/// A path and query as it may stand in a request line: it begins with a slash, holds no fragment, and bytes that may
/// not appear raw are percent-encoded.
pub fn wire_path(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let mut out = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        out.push('/');
    }
    for byte in path.bytes() {
        match byte {
            0..=b' ' | 0x7f.. | b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | b'\\' | b'^' | b'|' => {
                push_encoded(byte, &mut out);
            }
            plain => out.push(char::from(plain)),
        }
    }
    out
}

/// Appends `name=value` to a path, each percent-encoded as `encodeURIComponent` does.
pub(crate) fn push_query(path: &mut String, name: &str, value: &str) {
    path.push(if path.contains('?') { '&' } else { '?' });
    push_component(name, path);
    path.push('=');
    push_component(value, path);
}

/// Appends a text percent-encoded as `encodeURIComponent` does.
fn push_component(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            push_encoded(byte, out);
        }
    }
}

fn push_encoded(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// A text for an error message, cut so that it cannot fill the screen.
struct Shortened<'a>(&'a str);

impl fmt::Debug for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(200);
        fmt::Debug::fmt(&self.0[..end], f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, host: &str, port: u16, tls: bool, path: &str) {
        let (origin, found) = Origin::parse(url).unwrap();
        assert_eq!((origin, found.as_str()), (Origin { host: host.into(), port, tls }, path), "{url}");
    }

    #[test]
    fn a_url_gives_its_origin_and_the_path_for_the_wire() {
        check("http://127.0.0.1:8080", "127.0.0.1", 8080, false, "/");
        check("HTTPS://Chat.Example/a/b?c=d&e#top", "chat.example", 443, true, "/a/b?c=d&e");
        check("ws://localhost?room=1", "localhost", 80, false, "/?room=1");
        check("wss://[::1]:9/x", "::1", 9, true, "/x");
        check("http://[::1]/", "::1", 80, false, "/");
        check("http://a:/x", "a", 80, false, "/x");
    }

    #[test]
    fn what_may_not_stand_raw_in_a_request_line_is_percent_encoded_once() {
        check("http://a/b c/é?q=\"x\"&done=%20", "a", 80, false, "/b%20c/%C3%A9?q=%22x%22&done=%20");
        check("http://a/x\r\nInjected: 1", "a", 80, false, "/x%0D%0AInjected:%201");
    }

    #[test]
    fn what_is_not_a_url_is_refused_with_the_rule() {
        for (url, rule) in [
            ("/relative", "absolute"),
            ("ftp://a/", "scheme"),
            ("http:///x", "host"),
            ("http://a b/", "host"),
            ("http://a:0/", "port"),
            ("http://a:65536/", "port"),
            ("http://[::1/", "bracket"),
            ("http://me:secret@a/", "user"),
        ] {
            let failed = Origin::parse(url).unwrap_err();
            assert_eq!(failed.failure, Failure::Template);
            assert!(failed.detail.contains(rule), "{url}: {failed}");
        }
    }

    #[test]
    fn the_host_header_names_the_port_only_when_it_is_unusual() {
        for (url, authority) in [
            ("http://a", "a"),
            ("http://a:443", "a:443"),
            ("https://a:443", "a"),
            ("ws://[::1]:81", "[::1]:81"),
        ] {
            assert_eq!(Origin::parse(url).unwrap().0.authority(), authority, "{url}");
        }
    }

    #[test]
    fn query_values_are_encoded_as_components() {
        let mut path = String::from("/socket.io/");
        push_query(&mut path, "token", "a b&c/=");
        push_query(&mut path, "é", "1");
        assert_eq!(path, "/socket.io/?token=a%20b%26c%2F%3D&%C3%A9=1");
    }
}
