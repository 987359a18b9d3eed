//! A request as the script's arguments make it.

use bytes::Bytes;
use rquickjs::{Coerced, Ctx, Exception, Object, Value};
use sonagi_engine::http::Jar;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::body::{self, Body};
use super::cookies::CookieJar;
use super::expected::Expected;
use crate::metrics::Tags;
use crate::modules::tags::given_tags;
use crate::options::span;
use crate::runtime::Vu;

/// How long a request may take whose parameters do not say it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What becomes of a response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseType {
    Text,
    Binary,
    /// It is read and dropped.
    Discard,
}

/// How a request proves whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth {
    Basic,
    Digest,
}

/// A cookie of the request's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnCookie {
    pub(super) name: String,
    pub(super) value: String,
    /// It stands in for the jar's of its name; else both are sent.
    pub(super) replaces: bool,
}

/// One request, and what is to become of it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: String,
    /// Without the user and password it may have carried.
    pub(super) url: String,
    pub(super) credentials: Option<(String, String)>,
    /// In the order given; names as Go writes them.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) cookies: Vec<OwnCookie>,
    pub(super) jar: Rc<RefCell<Jar>>,
    /// All but what the response will say.
    pub(super) tags: Tags,
    /// Its samples go by a name of the script's: also those of other places that redirects lead to.
    pub(super) is_named: bool,
    pub(super) timeout: Duration,
    pub(super) redirects: u32,
    pub(super) auth: Option<Auth>,
    pub(super) response_type: ResponseType,
    pub(super) expected: Expected,
    pub(super) throws: bool,
}

/// A URL and the name its samples go by.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) url: String,
    pub(super) name: String,
}

impl Address {
    /// A text, or what the template tag `http.url` made.
    pub(super) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Address> {
        if let Some(object) =
            value.as_object().filter(|object| object.contains_key("__sonagiName").unwrap_or(false))
        {
            return Ok(Address { url: object.get("url")?, name: object.get("__sonagiName")? });
        }
        if value.is_undefined() || value.is_null() {
            return Err(Exception::throw_type(ctx, "invalid URL: the request was given none"));
        }
        let url = value.get::<Coerced<String>>()?.0;
        Ok(Address { name: url.clone(), url })
    }
}

impl Call {
    /// From what `http.request(method, url, body, params)` is given.
    pub(super) fn new<'js>(
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        method: &str,
        address: Address,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> rquickjs::Result<Call> {
        let options = &vu.shard.common.options;
        let http = &vu.kept.http;
        let (url, credentials) = without_credentials(&address.url);
        let Body { bytes, content_type } = body::of(ctx, body)?;
        let response_type =
            if options.discard_response_bodies { ResponseType::Discard } else { ResponseType::Text };
        let mut call = Call {
            method: method.to_uppercase(),
            url,
            credentials,
            headers: Vec::new(),
            body: bytes,
            cookies: Vec::new(),
            jar: Rc::clone(&*http.jar.borrow()),
            tags: vu.tags(),
            is_named: false,
            timeout: TIMEOUT,
            redirects: options.max_redirects,
            auth: None,
            response_type,
            expected: http.expected.borrow().clone(),
            throws: options.throw,
        };
        let params = params.filter(|params| !params.is_undefined() && !params.is_null());
        if let Some(params) = params {
            let wrong = || Exception::throw_type(ctx, "a request's params must be an object");
            call.take(ctx, params.as_object().ok_or_else(wrong)?)?;
        }
        if let Some(content_type) = content_type.filter(|_| !call.has("Content-Type")) {
            call.headers.push(("Content-Type".to_owned(), content_type));
        }
        if !call.has("User-Agent")
            && let Some(agent) = &options.user_agent
        {
            call.headers.push(("User-Agent".to_owned(), agent.clone()));
        }
        if call.credentials.is_some() && call.auth.is_none() {
            call.auth = Some(Auth::Basic);
        }
        let given = call.tags.get("name").map(str::to_owned);
        call.is_named = given.is_some() || address.name != address.url;
        let name = given.unwrap_or(address.name);
        call.tags = http.tags.borrow_mut().of_call(&call.tags, &call.method, &name);
        Ok(call)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    fn take<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>) -> rquickjs::Result<()> {
        for pair in params.props::<String, Value<'js>>() {
            let (name, value) = pair?;
            if value.is_undefined() || value.is_null() && name != "responseCallback" {
                continue;
            }
            match name.as_str() {
                "headers" => self.headers = headers(ctx, &value)?,
                "cookies" => self.cookies = own_cookies(ctx, &value)?,
                "jar" => self.jar = CookieJar::given(ctx, &value)?,
                "tags" => self.tags = given_tags(ctx, &self.tags, Some(&value))?,
                "timeout" => self.timeout = duration(ctx, &value)?,
                "redirects" => self.redirects = value.get::<Coerced<f64>>()?.0.max(0.0) as u32,
                "auth" => self.auth = auth(ctx, &value.get::<Coerced<String>>()?.0)?,
                "responseType" => {
                    self.response_type = response_type(ctx, &value.get::<Coerced<String>>()?.0)?;
                }
                "responseCallback" => self.expected = Expected::given(ctx, &value)?,
                "throw" => self.throws = value.as_bool().unwrap_or_default(),
                "compression" => self.compress(ctx, &value.get::<Coerced<String>>()?.0)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn compress(&mut self, ctx: &Ctx<'_>, codings: &str) -> rquickjs::Result<()> {
        let (packed, names) =
            body::compressed(&self.body, codings).map_err(|why| Exception::throw_message(ctx, &why))?;
        self.body = packed;
        self.headers.push(("Content-Encoding".to_owned(), names));
        Ok(())
    }
}

/// Headers of an object, their names as Go writes them: `content-type` is `Content-Type`.
fn headers<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<(String, String)>> {
    let wrong = || Exception::throw_type(ctx, "a request's headers must be an object");
    let mut headers = Vec::new();
    for pair in value.as_object().ok_or_else(wrong)?.props::<String, Coerced<String>>() {
        let (name, value) = pair?;
        headers.push((canonical(&name), value.0));
    }
    Ok(headers)
}

/// A header's name with a capital after every dash; one that is no token stays as it is.
pub(in crate::modules) fn canonical(name: &str) -> String {
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)) {
        return name.to_owned();
    }
    let mut begins = true;
    let letter = |letter: char| {
        let written = if begins { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        begins = letter == '-';
        written
    };
    name.chars().map(letter).collect()
}

/// `{ name: value }` or `{ name: { value, replace } }`.
fn own_cookies<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<OwnCookie>> {
    let wrong = || Exception::throw_type(ctx, "a request's cookies must be an object");
    let mut cookies = Vec::new();
    for pair in value.as_object().ok_or_else(wrong)?.props::<String, Value<'js>>() {
        let (name, value) = pair?;
        let (value, replaces) = match value.as_object() {
            Some(object) => {
                (object.get::<_, Coerced<String>>("value")?.0, object.get::<_, Option<bool>>("replace")?)
            }
            None => (value.get::<Coerced<String>>()?.0, None),
        };
        cookies.push(OwnCookie { name, value, replaces: replaces.unwrap_or_default() });
    }
    Ok(cookies)
}

/// A number of ms, or a text such as `1m30s`.
pub(super) fn duration(ctx: &Ctx<'_>, value: &Value<'_>) -> rquickjs::Result<Duration> {
    let wrong = || {
        Exception::throw_message(ctx, "a timeout must be a number of milliseconds or a text such as 1m30s")
    };
    if let Some(ms) = value.as_number() {
        return Duration::try_from_secs_f64(ms / 1e3).map_err(|_| wrong());
    }
    let text = value.as_string().ok_or_else(wrong)?.to_string()?;
    span::parse(&text).map(span::wait).map_err(|_| wrong())
}

fn auth(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<Option<Auth>> {
    match name {
        "" => Ok(None),
        "basic" => Ok(Some(Auth::Basic)),
        "digest" => Ok(Some(Auth::Digest)),
        other => {
            Err(Exception::throw_message(ctx, &format!("unknown auth: {other}; there are basic and digest")))
        }
    }
}

pub(super) fn response_type(ctx: &Ctx<'_>, name: &str) -> rquickjs::Result<ResponseType> {
    match name {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::Discard),
        other => Err(Exception::throw_message(
            ctx,
            &format!("unknown responseType: {other}; there are text, binary and none"),
        )),
    }
}

/// A URL, and the user and password it carries before its host.
fn without_credentials(url: &str) -> (String, Option<(String, String)>) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), None) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some((credentials, host)) = rest[..end].rsplit_once('@') else { return (url.to_owned(), None) };
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let plain = |text: &str| body::percent_decoded(text);
    (format!("{scheme}://{host}{}", &rest[end..]), Some((plain(user), plain(password))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_are_written_as_go_writes_them() {
        for (name, written) in [
            ("content-type", "Content-Type"),
            ("X-FOO-bar", "X-Foo-Bar"),
            ("etag", "Etag"),
            ("no token", "no token"),
        ] {
            assert_eq!(canonical(name), written);
        }
    }

    #[test]
    fn a_url_is_parted_from_its_credentials() {
        let of = |url| without_credentials(url);
        let some = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(of("http://a/b@c"), ("http://a/b@c".to_owned(), None));
        assert_eq!(of("http://u:p%40@a:1/b"), ("http://a:1/b".to_owned(), some("u", "p@")));
        assert_eq!(of("http://u@a?x"), ("http://a?x".to_owned(), some("u", "")));
    }
}
