//! The cookies a response sets, as scripts see them.

use rquickjs::{Array, Ctx, Object, Value};
use sonagi_transport::http::{Headers, Jar, cookie_date, is_token};
use sonagi_transport::net::Origin;
use std::rc::Rc;

use super::named_values::NamedValues;
use crate::interpreter::{Members, Structure, host_object};

/// `expires` of a cookie without one: Go's zero time, in the milliseconds it overflows to. Scripts compare with it.
const UNSET_MS: i64 = -6_795_364_578_871;

/// Names that scripts know, and names in Go's JSON.
const MEMBERS: Members = &[
    ("name", "Name"),
    ("value", "Value"),
    ("domain", "Domain"),
    ("path", "Path"),
    ("http_only", "HTTPOnly"),
    ("secure", "Secure"),
    ("max_age", "MaxAge"),
    ("expires", "Expires"),
];

/// A Set-Cookie header; nothing in it is made up: a path or domain it does not name is empty.
#[derive(Debug, PartialEq, Eq)]
struct SetCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    http_only: bool,
    secure: bool,
    /// 0: not said; -1: at once.
    max_age: i64,
    expires_ms: i64,
}

/// A cookie's value without quotes around it; None: Go takes none with such letters in it.
fn unquoted(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let is_letter = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    inner.bytes().all(is_letter).then_some(inner)
}

/// Keeps what a response sets, as Go's client does.
pub(crate) fn keep(jar: &mut Jar, origin: &Origin, path: &str, headers: &Headers) {
    for header in headers.get_all("set-cookie") {
        let Ok(header) = std::str::from_utf8(header) else { continue };
        let (pair, attributes) = header.split_at(header.find(';').unwrap_or(header.len()));
        let Some((name, value)) = pair.split_once('=') else { continue };
        match unquoted(value.trim()) {
            Some(plain) if plain.len() == value.len() => jar.keep_one(origin, path, header),
            Some(plain) => jar.keep_one(origin, path, &format!("{name}={plain}{attributes}")),
            None => {}
        }
    }
}

impl SetCookie {
    /// None: it sets none.
    fn of(header: &str) -> Option<SetCookie> {
        let mut parts = header.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        if !is_token(name.as_bytes()) {
            return None;
        }
        let unquoted = unquoted(value)?;
        let mut cookie = SetCookie {
            name: name.to_owned(),
            value: unquoted.to_owned(),
            domain: String::new(),
            path: String::new(),
            http_only: false,
            secure: false,
            max_age: 0,
            expires_ms: UNSET_MS,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.to_ascii_lowercase().as_str() {
                "domain" => value.clone_into(&mut cookie.domain),
                "path" => value.clone_into(&mut cookie.path),
                "httponly" => cookie.http_only = true,
                "secure" => cookie.secure = true,
                "max-age" => match value.parse::<i64>() {
                    Ok(seconds) if seconds > 0 => cookie.max_age = seconds,
                    Ok(_) => cookie.max_age = -1,
                    Err(_) => {}
                },
                "expires" => cookie.expires_ms = expires(value).unwrap_or(cookie.expires_ms),
                _ => {}
            }
        }
        Some(cookie)
    }

    fn object<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let object = host_object(ctx, Rc::new(Structure(MEMBERS)))?;
        object.set("name", &*self.name)?;
        object.set("value", &*self.value)?;
        object.set("domain", &*self.domain)?;
        object.set("path", &*self.path)?;
        object.set("http_only", self.http_only)?;
        object.set("secure", self.secure)?;
        object.set("max_age", self.max_age as f64)?;
        object.set("expires", self.expires_ms as f64)?;
        Ok(object)
    }
}

/// Only years of four digits, as Go reads them.
fn expires(text: &str) -> Option<i64> {
    let is_year = |token: &str| token.len() == 4 && token.bytes().all(|byte| byte.is_ascii_digit());
    text.split([' ', '-']).any(is_year).then(|| cookie_date(text)).flatten().map(|seconds| seconds * 1000)
}

/// `{ name: [cookie, …] }` of what the answer set.
pub(super) fn cookies<'js>(ctx: &Ctx<'js>, headers: &Headers) -> rquickjs::Result<Value<'js>> {
    let mut cookies: NamedValues<Array<'js>> = NamedValues::default();
    for header in headers.get_all("set-cookie") {
        let Some(cookie) = SetCookie::of(&String::from_utf8_lossy(header)) else { continue };
        let object = cookie.object(ctx)?;
        let list = match cookies.known(&cookie.name) {
            Some(list) => list,
            None => cookies.add(cookie.name, Array::new(ctx.clone())?),
        };
        list.set(list.len(), object)?;
    }
    cookies.object(ctx)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen in k6.
    #[test]
    fn a_cookie_is_told_as_its_header_says_it() {
        let of = |header| {
            SetCookie::of(header).map(|it| (it.name, it.value, it.domain, it.path, it.max_age, it.expires_ms))
        };
        let plain = |name: &str, value: &str, domain: &str, path: &str, max_age, expires| {
            Some((name.to_owned(), value.to_owned(), domain.to_owned(), path.to_owned(), max_age, expires))
        };
        let table = [
            ("below=1; path=/below", plain("below", "1", "", "/below", 0, UNSET_MS)),
            (
                "later=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Max-Age=60",
                plain("later", "1", "", "", 60, 1_924_992_000_000),
            ),
            ("gone=1; Max-Age=0", plain("gone", "1", "", "", -1, UNSET_MS)),
            ("neg=1; Max-Age=-5", plain("neg", "1", "", "", -1, UNSET_MS)),
            ("old=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT", plain("old", "1", "", "", 0, 0)),
            ("short=1; Expires=Wed, 01-Jan-31 00:00:00 GMT", plain("short", "1", "", "", 0, UNSET_MS)),
            ("other=1; Domain=.Example.test", plain("other", "1", ".Example.test", "", 0, UNSET_MS)),
            ("q=\"a b\"; Expires=nonsense; max-age=x", plain("q", "a b", "", "", 0, UNSET_MS)),
            ("bad name=1", None),
            ("noeq", None),
        ];
        for (header, cookie) in table {
            assert_eq!(of(header), cookie, "{header}");
        }
        let flags = SetCookie::of("all=1; HttpOnly; Secure; SameSite=Lax").unwrap();
        assert!(flags.http_only && flags.secure);
    }
}
