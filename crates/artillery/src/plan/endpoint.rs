//! Names of HTTP requests in metrics by endpoint, and the metrics recorded under them.
//!
//! Statuses and times by endpoint are read off the operations. Only what these do not know is told of each response by
//! itself: what a target says of its own time (`server-timing`), and addresses with every user's values in them.

/// How requests are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// A request with a name by it alone.
    pub only_names: bool,
    /// By the path without its query.
    pub strips_query: bool,
    /// Whether requests without a name are not recorded.
    pub ignores_unnamed: bool,
}

/// The metrics recorded for a request's responses by its endpoint.
#[derive(Clone, Debug)]
pub struct Told {
    /// Begins the names of all such metrics.
    pub prefix: String,
    /// The endpoint's name.
    pub endpoint: Endpoint,
}

/// The source of a request's name.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// The same for all users: its statuses and times are its operation's, and only `server-timing` is told.
    Written(String),
    /// By the address each user asks for: everything is told.
    Asked {
        /// How.
        naming: Naming,
        /// The request's own name.
        name: Option<String>,
    },
}

impl Naming {
    /// The name of a request to this address; None: it is not recorded.
    pub fn called(self, target: &str, url: &str, name: Option<&str>) -> Option<String> {
        match name.filter(|name| !name.is_empty()) {
            Some(name) if self.only_names => Some(name.to_owned()),
            Some(name) => Some(format!("{} ({name})", self.path(target, url))),
            None if self.ignores_unnamed => None,
            None => Some(self.path(target, url)),
        }
    }

    /// The path, behind the host or port where they are not the target's.
    fn path(self, target: &str, url: &str) -> String {
        let (host, port) = authority(url);
        let (own_host, own_port) = authority(target);
        let mut path = String::new();
        if !host.is_empty() && host != own_host {
            path.push_str(host);
        }
        if !port.is_empty() && port != own_port {
            path.push_str(&format!(":{port}"));
        }
        // A relative address is appended to the target's own path, as in the request.
        let base = if url.starts_with('/') { own_path(target) } else { "" };
        let rest = behind_authority(url);
        let end = outside_holes(rest, if self.strips_query { &['?', '#'] } else { &['#'] });
        let rest = &rest[..end];
        let slash = if rest.is_empty() || rest.starts_with('?') { "/" } else { "" };
        let whole = format!("{base}{slash}{rest}");
        path + &decoded(&whole).unwrap_or(whole)
    }
}

/// Host and port of an address; empty where it has none.
fn authority(url: &str) -> (&str, &str) {
    let Some((_, rest)) = url.split_once("://") else { return ("", "") };
    let end = outside_holes(rest, &['/', '?', '#']);
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    let port = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
    port.unwrap_or((host, ""))
}

/// The path of a target, without the slash at its end.
fn own_path(target: &str) -> &str {
    let rest = behind_authority(target);
    let path = &rest[..outside_holes(rest, &['?', '#'])];
    if target.contains("://") { path.trim_end_matches('/') } else { "" }
}

fn behind_authority(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    &rest[outside_holes(rest, &['/', '?', '#'])..]
}

/// Undoes `%41` and the like; None when the result is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Where the first of these stands that is not inside `{{ }}`; the end, if none does.
fn outside_holes(text: &str, any: &[char]) -> usize {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth <= 0 && any.contains(&c) => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_the_path_as_written_behind_what_is_not_the_targets() {
        let check = |naming: Naming, url: &str, name: Option<&str>, expected: Option<&str>| {
            let called = naming.called("http://t:80", url, name);
            assert_eq!(called.as_deref(), expected, "{url} {name:?}");
        };
        let plain = Naming::default();
        check(plain, "/x/{{ a?b }}?q=1#f", None, Some("/x/{{ a?b }}?q=1"));
        check(plain, "/x", Some("find"), Some("/x (find)"));
        check(plain, "http://t:80/x", None, Some("/x"));
        check(plain, "http://t:1/no", None, Some(":1/no"));
        check(plain, "https://me@other:443?q", None, Some("other:443/?q"));
        check(plain, "http://t", None, Some("/"));
        check(plain, "/caf%C3%A9%20x", None, Some("/café x"));
        check(plain, "/100%", None, Some("/100%"));
        check(Naming { strips_query: true, ..plain }, "/x?q=1", None, Some("/x"));
        check(Naming { only_names: true, ..plain }, "/x", Some("find"), Some("find"));
        check(Naming { ignores_unnamed: true, ..plain }, "/x", None, None);
    }

    #[test]
    fn what_is_relative_is_told_with_the_targets_path_before_it() {
        let check = |target: &str, url: &str, expected: &str| {
            let called = Naming::default().called(target, url, None);
            assert_eq!(called.as_deref(), Some(expected), "{target} {url}");
        };
        check("http://t:80/api/v1", "/posts", "/api/v1/posts");
        check("http://t:80/api/v1/", "/posts?q=1", "/api/v1/posts?q=1");
        check("http://t/caf%C3%A9", "/{{ a }}", "/café/{{ a }}");
        check("http://t/", "/a", "/a");
        check("http://t/api?k=v", "/a", "/api/a");
        check("http://t/api", "http://t/b", "/b");
        check("", "/a", "/a");
    }
}
