//! A request in HTTP/1.1's form: one run of bytes, written once and sent as often as needed.
//!
//! Whoever writes it notes where each part stands. So a redirect takes along what the script asked for, and HTTP/2,
//! which writes a request otherwise, takes all of it, and nobody has to read back what was written here.

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use sonagi_measure::outcome::Failure;
use sonagi_wire::http1::{RequestKind, is_token};
use std::borrow::Cow;

use super::message::{Request, USER_AGENT, WireForm};
use crate::net::{Failed, Origin};

/// What stands behind the path.
const VERSION: &str = " HTTP/1.1\r\n";

/// Where a header line stands, in bytes from where the header lines begin. Two bytes part the name and the value.
#[derive(Clone, Copy, Debug)]
struct Line {
    name: u32,
    value: u32,
    end: u32,
}

/// A header's name, as it is written again and again.
#[derive(Clone, Debug)]
pub struct Name(Box<str>);

impl Name {
    /// In lower case.
    ///
    /// # Errors
    /// `Template` when it is no token.
    pub fn new(name: &str) -> Result<Name, Failed> {
        check_name(name)?;
        Ok(Name(name.to_ascii_lowercase().into()))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Header lines that are the same in many requests.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    text: String,
    lines: Vec<Line>,
}

impl Lines {
    /// Adds a line, its name in lower case.
    ///
    /// # Errors
    /// `Template` when the name is no token, or the value has a control character.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), Failed> {
        self.lines.push(push_given(&mut self.text, 0, name, value, false)?);
        Ok(())
    }

    /// Adds `user-agent` and `host` where the script has none of its own; how many there were to add.
    pub fn push_ours(&mut self, origin: &Origin, has: impl Fn(&str) -> bool) -> usize {
        let before = self.lines.len();
        push_ours(origin, has, |name, value| self.lines.push(written(&mut self.text, 0, name, value)));
        self.lines.len() - before
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// A request's head while it is written: the request line, the script's header lines, ours, the cookie, the body's
/// length.
#[derive(Debug)]
pub struct Head<'l> {
    text: String,
    /// Bytes of the method.
    method: usize,
    /// Where the header lines begin.
    begin: usize,
    lines: Cow<'l, [Line]>,
    cookie: Option<Line>,
}

impl<'l> Head<'l> {
    /// A head whose method and path are written: `GET /path`.
    pub fn new(mut text: String, method: &str) -> Head<'l> {
        text.push_str(VERSION);
        let begin = text.len();
        Head { text, method: method.len(), begin, lines: Cow::Borrowed(&[]), cookie: None }
    }

    /// The path and query.
    pub fn path(&self) -> &str {
        &self.text[self.method + 1..self.begin - VERSION.len()]
    }

    /// Adds lines as they are. Where they come first, as often all of them do, nothing is noted: they know their
    /// places.
    pub fn fixed(&mut self, lines: &'l Lines) {
        let shift = (self.text.len() - self.begin) as u32;
        self.text.push_str(&lines.text);
        if shift == 0 {
            self.lines = Cow::Borrowed(&lines.lines);
            return;
        }
        let shifted =
            |line: &Line| Line { name: line.name + shift, value: line.value + shift, end: line.end + shift };
        self.lines.to_mut().extend(lines.lines.iter().map(shifted));
    }

    /// Adds a line whose value `write` appends.
    ///
    /// # Errors
    /// `Template` when the value has a control character; what `write` says.
    pub fn line(
        &mut self,
        Name(name): &Name,
        write: impl FnOnce(&mut String) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let line = push_line(&mut self.text, self.begin, name, write)?;
        self.lines.to_mut().push(line);
        Ok(())
    }

    /// Adds the cookies, which are no part of the request that follows a redirect: they may be another origin's or out
    /// of date by then.
    ///
    /// # Errors
    /// `Template` when the value has a control character.
    pub fn cookie(&mut self, value: &str) -> Result<(), Failed> {
        self.cookie = Some(push_given(&mut self.text, self.begin, "cookie", value, true)?);
        Ok(())
    }

    /// The head so far: what is appended to it now ends it.
    pub fn text(&mut self) -> &mut String {
        &mut self.text
    }

    /// The request: the last `body` bytes of what was written are its body, and the last `ours` lines, but for the
    /// cookies, are not the script's. Whether one of the script's is a Connection header is rare, and only then looked
    /// at.
    pub fn finish(self, body: usize, ours: usize, has_connection: bool) -> Encoded<'l> {
        let Head { text, method, begin, lines, cookie } = self;
        let (own, body) = (lines.len() - ours, text.len() - body);
        let bytes = text.into_bytes();
        let mut encoded = Encoded { bytes, method, begin, lines, own, cookie, body, asks_to_close: false };
        encoded.asks_to_close =
            has_connection && encoded.own().any(|(name, value)| asks_to_close(name, value));
        encoded
    }
}

/// A request, ready to be sent to the origin it was written for.
#[derive(Clone, Debug)]
pub struct Encoded<'l> {
    bytes: Vec<u8>,
    /// Bytes of the method.
    method: usize,
    /// Where the header lines begin.
    begin: usize,
    /// The script's, then ours.
    lines: Cow<'l, [Line]>,
    /// How many of them are the script's.
    own: usize,
    cookie: Option<Line>,
    /// Where the body begins.
    body: usize,
    /// Whether the script asks the server to close the connection.
    asks_to_close: bool,
}

impl Encoded<'_> {
    /// Writes a request. `cookie` is the value of a Cookie header, unless the request brings its own.
    ///
    /// # Errors
    /// `Template` when the method, the path or a header cannot be sent.
    pub fn new(request: &Request, origin: &Origin, cookie: Option<&str>) -> Result<Encoded<'static>, Failed> {
        let mut text = String::with_capacity(256);
        push_request_line(&mut text, &request.method, &request.path)?;
        let mut head = Head::new(text, &request.method);
        head.lines = Cow::Owned(Vec::with_capacity(request.headers.len() + 2));
        let WireForm { keeps_case, is_chunked } = request.written;
        for (name, value) in &request.headers {
            // They frame the body and are ours: the script's own could only break the connection.
            let is_ours = is_framing(name);
            // Like Go's client: an empty user-agent is not sent.
            let is_none = keeps_case && value.is_empty() && name == "User-Agent";
            if !is_ours && !is_none {
                let line = push_given(&mut head.text, head.begin, name, value, keeps_case)?;
                head.lines.to_mut().push(line);
            }
        }
        let own = head.lines.len();
        let has = |wanted: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        push_ours(origin, has, |name, value| {
            let line = written(&mut head.text, head.begin, name, value);
            head.lines.to_mut().push(line);
        });
        let ours = head.lines.len() - own;
        if let Some(cookie) = cookie.filter(|_| !has("cookie")) {
            head.cookie(cookie)?;
        }
        if is_chunked && request.body.is_empty() {
            // HTTP/2 takes the lines noted above, and has no chunks.
            head.text.push_str("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        } else {
            push_length_as(&mut head.text, &request.method, request.body.len(), keeps_case);
            head.text.push_str("\r\n");
        }
        let mut encoded = head.finish(0, ours, has("connection"));
        encoded.bytes.extend_from_slice(&request.body);
        Ok(encoded)
    }

    /// The request as it goes on the wire over HTTP/1.1.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn asked(&self) -> RequestKind {
        match &self.bytes[..self.method] {
            b"HEAD" => RequestKind::Head,
            b"CONNECT" => RequestKind::Connect,
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
        Request {
            method: self.method().to_owned(),
            path: self.path().to_owned(),
            headers: self.own().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: self.body(),
            written: WireForm::default(),
        }
    }

    pub(super) fn method(&self) -> &str {
        self.text(0, self.method)
    }

    /// The path and query.
    pub fn path(&self) -> &str {
        self.text(self.method + 1, self.begin - VERSION.len())
    }

    /// All headers but those that frame the body.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().chain(&self.cookie).map(|line| self.header(line))
    }

    pub(super) fn body(&self) -> Bytes {
        Bytes::copy_from_slice(&self.bytes[self.body..])
    }

    /// The script's headers.
    fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines[..self.own].iter().map(|line| self.header(line))
    }

    fn header(&self, line: &Line) -> (&str, &str) {
        let at = |place: u32| self.begin + place as usize;
        (self.text(at(line.name), at(line.value) - 2), self.text(at(line.value), at(line.end)))
    }

    /// A part of the head, all of which was written as text.
    fn text(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.bytes[from..to]).unwrap_or_default()
    }
}

fn asks_to_close(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("connection")
        && value.split(',').any(|token| token.trim().eq_ignore_ascii_case("close"))
}

/// Appends a script's header to a text in which the header lines begin at `begin`; its name in lower case unless it
/// keeps its own.
fn push_given(
    text: &mut String,
    begin: usize,
    name: &str,
    value: &str,
    keeps_case: bool,
) -> Result<Line, Failed> {
    check_name(name)?;
    let at = text.len();
    let line = push_line(text, begin, name, |text| {
        text.push_str(value);
        Ok(())
    })?;
    if !keeps_case {
        text[at..at + name.len()].make_ascii_lowercase();
    }
    Ok(line)
}

/// Appends a header line whose name is a token.
fn push_line(
    text: &mut String,
    begin: usize,
    name: &str,
    write: impl FnOnce(&mut String) -> Result<(), Failed>,
) -> Result<Line, Failed> {
    let at = push_name(text, name);
    let value = text.len();
    write(text)?;
    let is_line =
        text.as_bytes()[value..].iter().all(|&byte| (byte >= b' ' && byte != 0x7f) || byte == b'\t');
    if !is_line {
        return Err(wrong(format!("header {name} must be one line without control characters")));
    }
    Ok(end_line(text, begin, at, value))
}

/// Appends a line of ours, in which nothing can be wrong.
fn written(text: &mut String, begin: usize, name: &str, value: &str) -> Line {
    let at = push_name(text, name);
    let value_at = text.len();
    text.push_str(value);
    end_line(text, begin, at, value_at)
}

fn end_line(text: &mut String, begin: usize, name: usize, value: usize) -> Line {
    let end = text.len();
    text.push_str("\r\n");
    Line { name: (name - begin) as u32, value: (value - begin) as u32, end: (end - begin) as u32 }
}

pub(super) fn wrong(what: String) -> Failed {
    Failed::new(Failure::Template, format!("request cannot be sent: {what}"))
}

/// `GET /path`; the path as [`Origin::parse`] gives it.
fn push_request_line(out: &mut String, method: &str, path: &str) -> Result<(), Failed> {
    push_method(out, method)?;
    // `*` is the one path without a slash: OPTIONS asks about the server itself.
    if !(path.starts_with('/') || path == "*") || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong(format!("path must begin with a slash and be printable ASCII, got {path:?}")));
    }
    out.push_str(path);
    Ok(())
}

/// Writes the method and the space behind it.
///
/// # Errors
/// `Template` when the method is not a token.
pub fn push_method(out: &mut String, method: &str) -> Result<(), Failed> {
    if !is_token(method.as_bytes()) {
        return Err(wrong(format!("method must be a token, got {method:?}")));
    }
    out.push_str(method);
    out.push(' ');
    Ok(())
}

/// Whether a header of this name frames the body: those lines are ours.
pub fn is_framing(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding")
}

fn check_name(name: &str) -> Result<(), Failed> {
    if is_token(name.as_bytes()) {
        return Ok(());
    }
    Err(wrong(format!("header name must be a token, got {name:?}")))
}

/// Appends a header's name and what parts it from the value; where it stands.
fn push_name(text: &mut String, name: &str) -> usize {
    let at = text.len();
    text.push_str(name);
    text.push_str(": ");
    at
}

/// Writes `user-agent` and `host`, where the script has none of its own.
fn push_ours(origin: &Origin, has: impl Fn(&str) -> bool, mut push: impl FnMut(&str, &str)) {
    if !has("user-agent") {
        push("user-agent", USER_AGENT);
    }
    if !has("host") {
        push("host", &origin.authority());
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

    fn text(encoded: &Encoded<'_>) -> String {
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
        assert!(empty.body().is_empty());
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
