//! Redirects: their targets, and the part of the request that goes along.

use bytes::Bytes;

use super::message::{Request, Response};
use crate::net::{Origin, has_scheme};

/// The Location of a response that redirects.
pub fn location(response: &Response) -> Option<&str> {
    let redirects = matches!(response.status, 300..=303 | 307 | 308);
    if redirects { std::str::from_utf8(response.headers.get("location")?).ok() } else { None }
}

/// The absolute URL of a reference found at `origin` and `path` (RFC 3986 §5.2.2; a fragment plays no part here).
/// Node's rules for relative addresses are others: who needs them resolves by himself.
pub fn resolve(origin: &Origin, path: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let (base_path, _) = path.split_once('?').unwrap_or((path, ""));
    if has_scheme(reference) {
        reference.to_owned()
    } else if reference.starts_with("//") {
        format!("{}:{reference}", if origin.tls { "https" } else { "http" })
    } else if reference.starts_with('/') {
        format!("{origin}{}", without_dots(reference))
    } else if reference.is_empty() {
        format!("{origin}{path}")
    } else if reference.starts_with('?') {
        format!("{origin}{base_path}{reference}")
    } else {
        let folder = base_path.rfind('/').map_or("/", |end| &base_path[..=end]);
        format!("{origin}{}", without_dots(&format!("{folder}{reference}")))
    }
}

/// A rooted path without `.` and `..` segments (RFC 3986 §5.2.4); its query is left alone.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            named => kept.push(named),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// Turns a request into the one that follows its redirect. 303 makes a GET of everything but HEAD. 301 and 302 leave a
/// POST as it is (RFC 9110 §15.4), though browsers do not. Another origin gets no credentials (Fetch standard,
/// HTTP-redirect fetch), and no `host` of the script's.
pub fn follow(request: &mut Request, status: u16, changes_origin: bool) {
    if status == 303 && request.method != "HEAD" {
        request.method = "GET".to_owned();
        request.body = Bytes::new();
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    if changes_origin {
        const BOUND: [&str; 3] = ["authorization", "cookie", "host"];
        request.headers.retain(|(name, _)| !BOUND.iter().any(|bound| name.eq_ignore_ascii_case(bound)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_resolved_against_the_request_it_answers() {
        let (origin, path) = Origin::parse("http://a:1/b/c?x=1").unwrap();
        let table = [
            ("https://other/y", "https://other/y"),
            ("//other/y", "http://other/y"),
            ("/y?next=http://z/x", "http://a:1/y?next=http://z/x"),
            ("y", "http://a:1/b/y"),
            ("./y", "http://a:1/b/y"),
            ("../y", "http://a:1/y"),
            ("../../..", "http://a:1/"),
            ("?page=2", "http://a:1/b/c?page=2"),
            ("#top", "http://a:1/b/c?x=1"),
        ];
        for (reference, expected) in table {
            assert_eq!(resolve(&origin, &path, reference), expected, "{reference}");
        }
    }

    #[test]
    fn a_redirected_request_stays_what_it_is_except_after_303() {
        let after = |status, method: &str| {
            let mut request = Request { method: method.into(), body: "x".into(), ..Request::default() };
            follow(&mut request, status, false);
            (request.method, request.body.len())
        };
        assert_eq!(after(302, "POST"), ("POST".to_owned(), 1));
        assert_eq!(after(303, "POST"), ("GET".to_owned(), 0));
        assert_eq!(after(303, "PUT"), ("GET".to_owned(), 0));
        assert_eq!(after(307, "POST"), ("POST".to_owned(), 1));
        assert_eq!(after(301, "DELETE"), ("DELETE".to_owned(), 1));
        assert_eq!(after(308, "PUT"), ("PUT".to_owned(), 1));
        assert_eq!(after(303, "HEAD"), ("HEAD".to_owned(), 1));
    }

    #[test]
    fn credentials_and_a_host_stay_with_their_origin() {
        let headers =
            ["Authorization", "Host", "Cookie", "accept"].map(|name| (name.to_owned(), "x".to_owned()));
        let headers = headers.to_vec();
        for (changes_origin, kept) in [(false, 4), (true, 1)] {
            let mut request = Request { headers: headers.clone(), ..Request::default() };
            follow(&mut request, 302, changes_origin);
            assert_eq!(request.headers.len(), kept);
        }
    }
}
