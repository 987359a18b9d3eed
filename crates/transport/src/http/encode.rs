//! A request in HTTP/1.1's form: one run of bytes, written once and sent as often as needed.
//!
//! The script's own header lines stand together, so that a redirect can take them along; ours follow. HTTP/2 reads the
//! request back from these bytes: it is used less, and costs more in any case.

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use sonagi_measure::outcome::Failure;
use sonagi_wire::http1::RequestKind;
use std::ops::Range;

use super::message::{Request, USER_AGENT, WireForm};
use crate::net::{Failed, Origin};

/// A request, ready to be sent to the origin it was written for.
#[derive(Clone, Debug)]
pub struct Encoded {
    bytes: Vec<u8>,
    /// Where the script's own header lines are.
    own: Range<usize>,
    /// Where the body begins.
    body: usize,
    /// Whether the script asks the server to close the connection.
    asks_to_close: bool,
}

impl Encoded {
    /// Writes a request. `cookie` is the value of a Cookie header, unless the request brings its own.
    ///
    /// # Errors
    /// `Template` when the method, the path or a header cannot be sent.
    pub fn new(request: &Request, origin: &Origin, cookie: Option<&str>) -> Result<Encoded, Failed> {
        let mut out = String::with_capacity(256);
        push_request_line(&mut out, &request.method, &request.path)?;
        let own = out.len();
        let WireForm { keeps_case, is_chunked } = request.written;
        for (name, value) in &request.headers {
            if is_framing(name) {
                // They frame the body and are ours: the script's own could only break the connection.
                continue;
            }
            // Like Go's client: an empty user-agent is not sent.
            if keeps_case && value.is_empty() && name == "User-Agent" {
                continue;
            }
            if keeps_case {
                push_name_as_given(&mut out, name)?;
            } else {
                push_name(&mut out, name)?;
            }
            push_value(&mut out, name, value)?;
        }
        let own = own..out.len();
        let has = |wanted: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        push_ours(&mut out, origin, has);
        if let Some(cookie) = cookie.filter(|_| !has("cookie")) {
            out.push_str("cookie: ");
            push_value(&mut out, "cookie", cookie)?;
        }
        if is_chunked && request.body.is_empty() {
            // HTTP/2 reads the lines up to the body, and skips those that are no headers.
            out.push_str("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        } else {
            push_length_as(&mut out, &request.method, request.body.len(), keeps_case);
            out.push_str("\r\n");
        }
        let body = out.len();
        let mut bytes = out.into_bytes();
        bytes.extend_from_slice(&request.body);
        Ok(Encoded::from_parts(bytes, own, body, has("connection")))
    }

    /// A request from parts written by the functions below: `own` is the range of the script's lines, `body` the body's
    /// offset, and `has_connection` whether one of the lines is a Connection header, which is rare and looked for only
    /// then.
    pub fn from_parts(bytes: Vec<u8>, own: Range<usize>, body: usize, has_connection: bool) -> Encoded {
        let asks_to_close = has_connection && asks_to_close(&bytes[own.clone()]);
        Encoded { bytes, own, body, asks_to_close }
    }

    /// The request as it goes on the wire over HTTP/1.1.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn asked(&self) -> RequestKind {
        match self.bytes.as_slice() {
            [b'H', b'E', b'A', b'D', b' ', ..] => RequestKind::Head,
            [b'C', b'O', b'N', b'N', b'E', b'C', b'T', b' ', ..] => RequestKind::Connect,
            _ => RequestKind::Other,
        }
    }

    /// Whether the script asks the server to close the connection.
    pub(super) fn asks_to_close(&self) -> bool {
        self.asks_to_close
    }

    /// The script's own request, without the lines added here: cookies, for one, are another origin's or out of date
    /// when the request is written again.
    pub fn to_request(&self) -> Request {
        let (method, path) = self.request_line();
        let own = lines(&self.bytes[self.own.clone()]);
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: Bytes::copy_from_slice(&self.bytes[self.body..]),
            written: WireForm::default(),
        }
    }

    /// All headers, and method, path and body.
    pub(super) fn parts(&self) -> (&str, &str, impl Iterator<Item = (&str, &str)>, Bytes) {
        let (method, path) = self.request_line();
        let headers = lines(&self.bytes[self.own.start..self.body]);
        (method, path, headers, Bytes::copy_from_slice(&self.bytes[self.body..]))
    }

    /// The path and query.
    pub fn path(&self) -> &str {
        self.request_line().1
    }

    fn request_line(&self) -> (&str, &str) {
        let line = std::str::from_utf8(&self.bytes[..self.own.start]).unwrap_or_default();
        let mut words = line.split(' ');
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }
}

fn asks_to_close(own: &[u8]) -> bool {
    lines(own).any(|(name, value)| {
        name.eq_ignore_ascii_case("connection")
            && value.split(',').any(|token| token.trim().eq_ignore_ascii_case("close"))
    })
}

/// Header lines in the form written here.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.split("\r\n").filter_map(|line| line.split_once(": "))
}

pub(super) fn wrong(what: String) -> Failed {
    Failed::new(Failure::Template, format!("request cannot be sent: {what}"))
}

/// `GET /path HTTP/1.1`; the path as [`Origin::parse`] gives it.
fn push_request_line(out: &mut String, method: &str, path: &str) -> Result<(), Failed> {
    push_method(out, method)?;
    // `*` is the one path without a slash: OPTIONS asks about the server itself.
    if !(path.starts_with('/') || path == "*") || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong(format!("path must begin with a slash and be printable ASCII, got {path:?}")));
    }
    out.push_str(path);
    out.push_str(" HTTP/1.1\r\n");
    Ok(())
}

/// Writes the method and the space behind it.
///
/// # Errors
/// `Template` when the method is not a token.
pub fn push_method(out: &mut String, method: &str) -> Result<(), Failed> {
    hyper::Method::from_bytes(method.as_bytes())
        .map_err(|_| wrong(format!("method must be a token, got {method:?}")))?;
    out.push_str(method);
    out.push(' ');
    Ok(())
}

/// Whether a header of this name frames the body: those lines are ours.
pub fn is_framing(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding")
}

fn push_value(out: &mut String, name: &str, value: &str) -> Result<(), Failed> {
    let begin = out.len();
    out.push_str(value);
    end_value(out, begin, name)
}

fn push_name_as_given(out: &mut String, name: &str) -> Result<(), Failed> {
    let begin = out.len();
    push_name(out, name)?;
    out.replace_range(begin..begin + name.len(), name);
    Ok(())
}

/// Writes a header's name, in lower case, and the separator before the value.
///
/// # Errors
/// `Template` when the name is not a token.
pub fn push_name(out: &mut String, name: &str) -> Result<(), Failed> {
    let name = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| wrong(format!("header name must be a token, got {name:?}")))?;
    out.push_str(name.as_str());
    out.push_str(": ");
    Ok(())
}

/// Ends the header line whose value begins at `begin`.
///
/// # Errors
/// `Template` when the value has a control character.
pub fn end_value(out: &mut String, begin: usize, name: &str) -> Result<(), Failed> {
    let is_line = out.as_bytes()[begin..].iter().all(|&byte| (byte >= b' ' && byte != 0x7f) || byte == b'\t');
    if !is_line {
        return Err(wrong(format!("header {name} must be one line without control characters")));
    }
    out.push_str("\r\n");
    Ok(())
}

/// Writes `user-agent` and `host`, where the script has none of its own.
pub fn push_ours(out: &mut String, origin: &Origin, has: impl Fn(&str) -> bool) {
    if !has("user-agent") {
        out.push_str("user-agent: ");
        out.push_str(USER_AGENT);
        out.push_str("\r\n");
    }
    if !has("host") {
        out.push_str("host: ");
        out.push_str(&origin.authority());
        out.push_str("\r\n");
    }
}

/// Writes the body's length. An empty body's is written for methods that usually have one (RFC 9110 §8.6).
pub fn push_length(out: &mut String, method: &str, length: usize) {
    push_length_as(out, method, length, false);
}

fn push_length_as(out: &mut String, method: &str, length: usize, capitals: bool) {
    use std::fmt::Write as _;
    if length > 0 || matches!(method, "POST" | "PUT" | "PATCH") {
        let name = if capitals { "Content-Length" } else { "content-length" };
        let _ = write!(out, "{name}: {length}\r\n");
    }
}

/// A header in hyper's terms.
pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Failed> {
    let found =
        HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_bytes(value.as_bytes()).ok());
    found.ok_or_else(|| wrong(format!("header {name} cannot be said in HTTP/2")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            method: "POST".into(),
            path: "/a?b".into(),
            headers: vec![("X-One".into(), "1".into()), ("Content-Length".into(), "99".into())],
            body: Bytes::from_static(b"hi"),
            written: WireForm::default(),
        }
    }

    fn text(encoded: &Encoded) -> String {
        String::from_utf8(encoded.bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_request_is_written_with_its_own_lines_first_and_a_length_that_is_true() {
        let (origin, _) = Origin::parse("http://a:81").unwrap();
        let encoded = Encoded::new(&request(), &origin, Some("sid=1")).unwrap();
        let expected = format!(
            "POST /a?b HTTP/1.1\r\nx-one: 1\r\nuser-agent: {USER_AGENT}\r\nhost: a:81\r\ncookie: \
             sid=1\r\ncontent-length: 2\r\n\r\nhi"
        );
        assert_eq!(text(&encoded), expected);
        let again = encoded.to_request();
        assert_eq!(again.headers, [("x-one".to_owned(), "1".to_owned())]);
        assert_eq!(
            (again.method.as_str(), again.path.as_str(), &again.body[..]),
            ("POST", "/a?b", &b"hi"[..])
        );
    }

    #[test]
    fn an_empty_post_says_that_it_is_empty_and_an_empty_get_does_not() {
        let (origin, _) = Origin::parse("http://a").unwrap();
        for (method, says) in [("POST", true), ("PUT", true), ("GET", false), ("DELETE", false)] {
            let request = Request { method: method.into(), path: "/".into(), ..Request::default() };
            let encoded = Encoded::new(&request, &origin, None).unwrap();
            assert_eq!(text(&encoded).contains("content-length: 0\r\n"), says, "{method}");
        }
    }

    #[test]
    fn names_are_written_as_given_and_an_empty_body_in_chunks_where_that_is_asked_for() {
        let (origin, _) = Origin::parse("http://a").unwrap();
        let headers = [("Host", "b"), ("User-Agent", "c"), ("X-One", "1"), ("transfer-encoding", "x")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let written = WireForm { keeps_case: true, is_chunked: true };
        let full = Request { headers, written, ..request() };
        let begin = "POST /a?b HTTP/1.1\r\nHost: b\r\nUser-Agent: c\r\nX-One: 1\r\n";
        let encoded = Encoded::new(&full, &origin, None).unwrap();
        assert_eq!(text(&encoded), format!("{begin}Content-Length: 2\r\n\r\nhi"));
        let empty = Encoded::new(&Request { body: Bytes::new(), ..full }, &origin, None).unwrap();
        assert_eq!(text(&empty), format!("{begin}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
        assert!(empty.parts().3.is_empty());
    }

    #[test]
    fn a_script_that_asks_to_close_is_understood() {
        let (origin, _) = Origin::parse("http://a").unwrap();
        for (value, closes) in [("close", true), ("te, Close", true), ("keep-alive", false)] {
            let headers = vec![("Connection".to_owned(), value.to_owned())];
            let encoded = Encoded::new(&Request { headers, ..request() }, &origin, None).unwrap();
            assert_eq!(encoded.asks_to_close(), closes, "{value}");
        }
    }
}
