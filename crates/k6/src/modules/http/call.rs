//! A request as the script's arguments make it.

use bytes::Bytes;
use rquickjs::{Coerced, Ctx, Object, Value};
use sonagi_transport::http::{Jar, is_token};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::address::Address;
use super::body::{self, Body};
use super::cookies::CookieJar;
use super::errors::BadCall;
use super::expected_statuses::Expected;
use super::state::HttpState;
use crate::metrics::Tags;
use crate::modules::binding::{given_tags, kind};
use crate::options::span;
use crate::shard::Level;
use crate::vu::Vu;

/// How long a request may take whose parameters do not say it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The user agent, unless the test sets another.
const AGENT: &str = concat!("Sonagi/", env!("CARGO_PKG_VERSION"));

/// The form in which a response's body is handed to the script.
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

/// A request, and the treatment of its answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: String,
    pub(super) address: Rc<Address>,
    /// In the given order; names as Go writes them.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// An empty body was given, where none might have been.
    pub(super) is_chunked: bool,
    /// The body before it was packed, where it was.
    pub(super) unpacked: Option<Bytes>,
    pub(super) cookies: Vec<OwnCookie>,
    pub(super) jar: Rc<RefCell<Jar>>,
    /// All but what the response will say.
    pub(super) tags: Tags,
    /// Its samples go by a name of the script's: also those of other places that redirects lead to.
    pub(super) is_named: bool,
    pub(super) timeout: Duration,
    pub(super) redirects: u32,
    /// The script says how many: no word about more.
    pub(super) limits_redirects: bool,
    pub(super) auth: Option<Auth>,
    pub(super) response_type: ResponseType,
    pub(super) expected: Expected,
    pub(super) throws: bool,
}

impl Call {
    /// From what `http.request(method, url, body, params)` is given.
    pub(super) fn new<'js>(
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<Call, BadCall> {
        let options = &vu.shard.common.options;
        let http = vu.module_state::<HttpState>();
        let (address, name) = Address::of(url, &http.addresses)?;
        let Body { bytes, content_type, is_given } = body::of(ctx, body)?;
        let response_type =
            if options.discard_response_bodies { ResponseType::Discard } else { ResponseType::Text };
        let method = method.to_owned();
        let mut call = Call {
            is_chunked: is_given && bytes.is_empty() && matches!(&*method, "POST" | "PUT" | "PATCH"),
            method,
            address,
            headers: Vec::new(),
            body: bytes,
            unpacked: None,
            cookies: Vec::new(),
            jar: Rc::clone(&*http.jar.borrow()),
            tags: vu.tags(),
            is_named: false,
            timeout: TIMEOUT,
            redirects: options.max_redirects,
            limits_redirects: !options.json["maxRedirects"].is_null(),
            auth: None,
            response_type,
            expected: http.expected.borrow().clone(),
            throws: options.throw,
        };
        let agent = options.user_agent.as_deref().unwrap_or(AGENT);
        call.headers.push(("User-Agent".to_owned(), agent.to_owned()));
        if let Some(content_type) = content_type {
            call.headers.push(("Content-Type".to_owned(), content_type));
        }
        if let Some(params) = params.and_then(Value::as_object) {
            call.take(ctx, params)?;
        }
        call.without_length(vu);
        if options.no_connection_reuse {
            call.set("Connection", "close");
        }
        if call.address.credentials.is_some() && call.auth.is_none() {
            call.auth = Some(Auth::Basic);
        }
        let named = call.tags.get("name").map(str::to_owned).or(name);
        call.is_named = named.is_some();
        // A digest is not of the address: it has no user there when it is sent.
        let Address { clean, url, .. } = &*call.address;
        let clean = if call.auth == Some(Auth::Digest) { url } else { clean };
        let name = named.as_ref().unwrap_or(clean);
        call.tags = http.tags.borrow_mut().of_call(&call.tags, &call.method, name);
        Ok(call)
    }

    /// A `Content-Length` of the script's is not sent: the true length is.
    fn without_length(&mut self, vu: &Vu) {
        let length = self.body.len();
        let Some(at) = self.headers.iter().position(|(name, _)| name == "Content-Length") else { return };
        let (_, said) = self.headers.remove(at);
        if said.parse() != Ok(length) {
            let text = format!(
                "The specified Content-Length header {said:?} in the {} request for {} doesn't match the actual \
                 request body length of {length}, so it will be ignored!",
                self.method, self.address.given
            );
            vu.shard.say(Level::Warn, text, Vec::new());
        }
    }

    /// A header takes the place of one of its name.
    fn set(&mut self, name: &str, value: &str) {
        match self.headers.iter_mut().find(|(own, _)| own == name) {
            Some((_, known)) => value.clone_into(known),
            None => self.headers.push((name.to_owned(), value.to_owned())),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    fn take<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>) -> Result<(), BadCall> {
        let mut compression = None;
        for pair in params.props::<String, Value<'js>>() {
            let (name, value) = pair?;
            let is_missing = value.is_undefined() || value.is_null();
            match name.as_str() {
                "headers" if !is_missing => self.take_headers(&value)?,
                "cookies" if !is_missing => self.cookies = own_cookies(&value)?,
                // Anything else is no jar, and k6 takes no notice of it.
                "jar" => self.jar = CookieJar::of(&value).unwrap_or_else(|| Rc::clone(&self.jar)),
                "tags" => {
                    let tags = given_tags(ctx, &self.tags, Some(&value));
                    let what = "invalid HTTP request metric tags";
                    self.tags = tags.map_err(|error| BadCall::caught(ctx, error, what))?;
                }
                "timeout" => self.timeout = duration(&value)?,
                "redirects" => {
                    // A value that is no number is 0, as in `ToInteger`.
                    self.redirects = value.get::<Coerced<f64>>()?.0.max(0.0) as u32;
                    self.limits_redirects = true;
                }
                "auth" => self.auth = auth(&value.get::<Coerced<String>>()?.0),
                "responseType" => self.response_type = response_type(&value.get::<Coerced<String>>()?.0)?,
                "responseCallback" => {
                    let given = Expected::given(&value)?;
                    self.expected = given.ok_or_else(|| BadCall::wrong("unsupported responseCallback"))?;
                }
                "throw" => self.throws = truthy(&value),
                "compression" => compression = Some(value.get::<Coerced<String>>()?.0),
                _ => {}
            }
        }
        match compression {
            Some(codings) if !codings.trim().is_empty() => self.compress(&codings),
            _ => Ok(()),
        }
    }

    /// Headers of an object, their names as Go writes them: `content-type` is `Content-Type`.
    fn take_headers<'js>(&mut self, value: &Value<'js>) -> Result<(), BadCall> {
        if value.is_string() {
            // A text is the object of its letters.
            for (at, letter) in value.get::<String>()?.chars().enumerate() {
                self.set(&at.to_string(), letter.encode_utf8(&mut [0; 4]));
            }
            return Ok(());
        }
        for pair in value.as_object().into_iter().flat_map(Object::props::<String, Coerced<String>>) {
            let (name, value) = pair?;
            self.set(&canonical(&name), &value.0);
        }
        Ok(())
    }

    fn compress(&mut self, codings: &str) -> Result<(), BadCall> {
        let (packed, names) = body::compressed(&self.body, codings).map_err(BadCall::wrong)?;
        self.unpacked = Some(std::mem::replace(&mut self.body, packed));
        self.is_chunked = false;
        if !self.has("Content-Encoding") {
            self.headers.push(("Content-Encoding".to_owned(), names));
        }
        Ok(())
    }
}

/// Whether JavaScript takes a value for true.
fn truthy(value: &Value<'_>) -> bool {
    match (value.as_bool(), value.as_number()) {
        (Some(truth), _) => truth,
        (None, Some(number)) => number != 0.0 && !number.is_nan(),
        _ => {
            let is_empty =
                value.as_string().is_some_and(|text| text.to_string().is_ok_and(|it| it.is_empty()));
            !(value.is_undefined() || value.is_null() || is_empty)
        }
    }
}

/// A header's name with a capital after every dash; one that is no token stays as it is.
pub(crate) fn canonical(name: &str) -> String {
    if !is_token(name.as_bytes()) {
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
fn own_cookies<'js>(value: &Value<'js>) -> rquickjs::Result<Vec<OwnCookie>> {
    let mut cookies = Vec::new();
    for pair in value.as_object().into_iter().flat_map(Object::props::<String, Value<'js>>) {
        let (name, value) = pair?;
        if value.is_undefined() || value.is_null() {
            continue;
        }
        let (value, replaces) = match value.as_object() {
            Some(object) => {
                let value: Option<Coerced<String>> = object.get("value")?;
                (value.map_or_else(String::new, |value| value.0), truthy(&object.get("replace")?))
            }
            None => (value.get::<Coerced<String>>()?.0, false),
        };
        cookies.push(OwnCookie { name, value, replaces });
    }
    Ok(cookies)
}

/// A number of ms, or a text such as `1m30s`.
fn duration(value: &Value<'_>) -> Result<Duration, BadCall> {
    let wrong = |what: String| BadCall::wrong(format!("invalid timeout value: {what}"));
    if let Some(ms) = value.as_number() {
        return Ok(Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default());
    }
    let Some(text) = value.as_string() else {
        return Err(wrong(format!("unable to use type {} as a duration value", kind(value))));
    };
    let text = text.to_string()?;
    span::parse(&text).map(span::wait).map_err(|_| wrong(format!("time: invalid duration {text:?}")))
}

/// An unknown name means no authentication.
fn auth(name: &str) -> Option<Auth> {
    match name {
        "basic" => Some(Auth::Basic),
        "digest" => Some(Auth::Digest),
        _ => None,
    }
}

fn response_type(name: &str) -> Result<ResponseType, BadCall> {
    match name {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::Discard),
        other => Err(BadCall::wrong(format!("{other} does not belong to ResponseType values"))),
    }
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
}
