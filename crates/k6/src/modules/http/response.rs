//! A response as scripts see it.
//!
//! Most scripts look at two or three of its members: each is made when it is first asked for, and then stays.

use rquickjs::function::{Opt, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Function, Object, Persistent, Value};
use std::cell::RefCell;
use std::rc::Rc;

use super::answer::{Answer, Remote};
use super::call::{ResponseType, canonical};
use super::named_values::NamedValues;
use super::samples::version;
use super::set_cookies;
use crate::interpreter::{
    HostObject, Members, Structure, go_error, host_object, host_object_on, host_object_with,
};
use crate::modules::binding::{about, own};
use crate::modules::html::{of_response, select};
use crate::vu::Vu;

/// An answer, and what its script wants of it.
pub(crate) struct Received {
    answer: Answer,
    response_type: ResponseType,
}

/// Makes one member.
type MakeMember = for<'js> fn(&Ctx<'js>, &Received) -> rquickjs::Result<Value<'js>>;

impl HostObject for Received {
    /// In k6's order.
    fn members(&self) -> Vec<(&'static str, &'static str)> {
        MEMBERS.iter().map(|(name, _)| (*name, *name)).collect()
    }

    fn is_shown_as_json(&self) -> bool {
        true
    }
}

/// In k6's order.
const MEMBERS: &[(&str, MakeMember)] = &[
    ("remote_ip", |ctx, it| match &it.answer.remote {
        Some(Remote::Peer(peer)) => text(ctx, &peer.ip().to_string()),
        Some(Remote::Host(host, _)) => text(ctx, host),
        None => text(ctx, ""),
    }),
    ("remote_port", |ctx, it| match &it.answer.remote {
        Some(Remote::Peer(peer)) => number(ctx, f64::from(peer.port())),
        Some(Remote::Host(_, port)) => number(ctx, f64::from(*port)),
        None => number(ctx, 0.0),
    }),
    ("url", |ctx, it| text(ctx, &it.answer.url)),
    ("status", |ctx, it| number(ctx, f64::from(it.answer.status))),
    ("status_text", status_text),
    ("proto", |ctx, it| text(ctx, it.answer.proto)),
    ("headers", headers),
    ("cookies", |ctx, it| set_cookies::cookies(ctx, &it.answer.headers)),
    ("body", body),
    ("timings", timings),
    ("tls_version", |ctx, it| text(ctx, it.answer.secured.map_or("", version))),
    ("tls_cipher_suite", cipher_suite),
    ("ocsp", ocsp),
    ("error", |ctx, it| text(ctx, &it.answer.error)),
    ("error_code", |ctx, it| number(ctx, f64::from(it.answer.error_code))),
    ("request", request),
];

fn text<'js>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    rquickjs::String::from_str(ctx.clone(), text).map(rquickjs::String::into_value)
}

fn number<'js>(ctx: &Ctx<'js>, number: f64) -> rquickjs::Result<Value<'js>> {
    Ok(Value::new_number(ctx.clone(), number))
}

/// A response object.
pub(super) fn response<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    answer: Answer,
    response_type: ResponseType,
) -> rquickjs::Result<Object<'js>> {
    let state = vu.module_state::<ResponseClass>();
    let known = state.0.borrow().clone();
    let class = match known {
        Some(class) => class,
        None => {
            let made = Class::new(ctx, vu.shard.common.bundle.intrinsics().own_members)?;
            state.0.replace(Some(made.clone()));
            made
        }
    };
    let prototype = class.prototype.restore(ctx)?;
    let response = host_object_on(&prototype, Rc::new(Received { answer, response_type }))?;
    if let Some(describe) = class.own_members {
        describe.restore(ctx)?.call::<_, ()>((response.clone(),))?;
    }
    Ok(response)
}

/// The class of one user's responses, once it has had one.
#[derive(Default)]
pub(crate) struct ResponseClass(RefCell<Option<Class>>);

impl ResponseClass {
    /// Releases it, before its interpreter is freed.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

/// The prototype that responses share.
#[derive(Clone)]
struct Class {
    prototype: Persistent<Object<'static>>,
    /// Makes the members a response's own, for scripts that list an object's members: it takes a microsecond or two.
    own_members: Option<Persistent<Function<'static>>>,
}

impl Class {
    fn new(ctx: &Ctx<'_>, has_own: bool) -> rquickjs::Result<Class> {
        let prototype = prototype_of(ctx)?;
        let own_members = match has_own {
            true => Some(own(ctx, "response", include_str!("response.js"))?.call((prototype.clone(),))?),
            false => None,
        };
        let own_members = own_members.map(|function: Function<'_>| Persistent::save(ctx, function));
        Ok(Class { prototype: Persistent::save(ctx, prototype), own_members })
    }
}

fn received<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> rquickjs::Result<Rc<Received>> {
    let received = this.as_object().and_then(host_object_with);
    received.ok_or_else(|| Exception::throw_type(ctx, "this is no response"))
}

fn prototype_of<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    for (name, make) in MEMBERS {
        let get = move |ctx: Ctx<'js>, this: This<Value<'js>>| {
            let value = make(&ctx, &*received(&ctx, &this.0)?)?;
            keep(&this.0, name, value.clone())?;
            Ok::<_, rquickjs::Error>(value)
        };
        // A script may write over what it got.
        let set = move |this: This<Value<'js>>, value: Value<'js>| keep(&this.0, name, value);
        prototype.prop(*name, Accessor::new(get, set).enumerable().configurable())?;
    }
    prototype.set("json", Function::new(ctx.clone(), json)?)?;
    prototype.set("html", Function::new(ctx.clone(), html)?)?;
    for name in ["submitForm", "clickLink"] {
        let follow = move |ctx: Ctx<'js>, this: This<Value<'js>>, options: Opt<Value<'js>>| {
            of_response(ctx, name, this, options)
        };
        prototype.set(name, Function::new(ctx.clone(), follow)?)?;
    }
    prototype.prop("toJSON", Property::from(Function::new(ctx.clone(), to_json)?))?;
    Ok(prototype)
}

fn keep<'js>(this: &Value<'js>, name: &str, value: Value<'js>) -> rquickjs::Result<()> {
    match this.as_object() {
        Some(this) => this.prop(name, Property::from(value).enumerable().writable().configurable()),
        None => Ok(()),
    }
}

/// Everything it has, for who writes it down.
fn to_json<'js>(ctx: Ctx<'js>, this: This<Value<'js>>) -> rquickjs::Result<Object<'js>> {
    let whole = Object::new(ctx.clone())?;
    if let Some(this) = this.0.as_object() {
        for (name, _) in MEMBERS {
            whole.set(*name, this.get::<_, Value<'js>>(*name)?)?;
        }
    }
    Ok(whole)
}

fn status_text<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    match it.answer.status {
        0 => text(ctx, ""),
        status => text(ctx, format!("{status} {}", it.answer.reason).trim_end()),
    }
}

fn cipher_suite<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    let name = it.answer.secured.and_then(|secured| secured.suite.as_str()).unwrap_or_default();
    // Go's names for those of TLS 1.3 say no version.
    text(ctx, &name.replace("TLS13_", "TLS_"))
}

/// Nobody is asked whether a certificate still holds.
fn ocsp<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    let ocsp = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        ocsp.set(name, 0)?;
    }
    ocsp.set("revocation_reason", "")?;
    ocsp.set("status", if it.answer.secured.is_some() { "unknown" } else { "" })?;
    Ok(ocsp.into_value())
}

/// Names as Go writes them; values of one name in one text.
fn headers<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    let mut headers: NamedValues<String> = NamedValues::default();
    for (name, value) in it.answer.headers.iter() {
        let (name, value) = (canonical(name), String::from_utf8_lossy(value));
        if let Some(known) = headers.known(&name) {
            known.push_str(", ");
            known.push_str(&value);
        } else {
            headers.add(name, value.into_owned());
        }
    }
    headers.object(ctx)
}

fn body<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    match it.response_type {
        _ if !it.answer.has_body => Ok(Value::new_null(ctx.clone())),
        ResponseType::Text => text(ctx, &String::from_utf8_lossy(&it.answer.body)),
        ResponseType::Binary => Ok(ArrayBuffer::new_copy(ctx.clone(), &it.answer.body)?.into_value()),
        ResponseType::Discard => Ok(Value::new_null(ctx.clone())),
    }
}

fn timings<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    let (phases, timings) = (&it.answer.phases, Object::new(ctx.clone())?);
    let parts = [
        ("duration", phases.sending_ns + phases.waiting_ns + phases.receiving_ns),
        ("blocked", phases.blocked_ns),
        ("looking_up", phases.looking_up_ns),
        ("connecting", phases.connecting_ns),
        ("tls_handshaking", phases.tls_handshaking_ns),
        ("sending", phases.sending_ns),
        ("waiting", phases.waiting_ns),
        ("receiving", phases.receiving_ns),
    ];
    for (name, ns) in parts {
        timings.set(name, ns as f64 / 1e6)?;
    }
    Ok(timings.into_value())
}

const COOKIE: Members = &[("name", "Name"), ("value", "Value"), ("replace", "Replace")];

/// The request behind it.
fn request<'js>(ctx: &Ctx<'js>, it: &Received) -> rquickjs::Result<Value<'js>> {
    let (sent, request) = (&it.answer.sent, Object::new(ctx.clone())?);
    request.set("method", &*sent.method)?;
    request.set("url", &*sent.url)?;
    let mut headers: NamedValues<Vec<String>> = NamedValues::default();
    for (name, value) in sent.headers() {
        match headers.known(name) {
            Some(values) => values.push(value.clone()),
            None => _ = headers.add(name.clone(), vec![value.clone()]),
        }
    }
    request.set("headers", headers.object(ctx)?)?;
    request.set("body", text(ctx, &String::from_utf8_lossy(&sent.body))?)?;
    let mut cookies: NamedValues<Vec<Object<'js>>> = NamedValues::default();
    for (name, value) in sent.cookies() {
        let cookie = host_object(ctx, Rc::new(Structure(COOKIE)))?;
        cookie.set("name", name)?;
        cookie.set("value", value)?;
        cookie.set("replace", false)?;
        match cookies.known(name) {
            Some(known) => *known = vec![cookie],
            None => _ = cookies.add(name.to_owned(), vec![cookie]),
        }
    }
    request.set("cookies", cookies.object(ctx)?)?;
    Ok(request.into_value())
}

/// The body as a page, or what a selector finds in it.
fn html<'js>(
    ctx: Ctx<'js>,
    this: This<Value<'js>>,
    selector: Opt<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let it = received(&ctx, &this.0)?;
    if !it.answer.has_body {
        let rule = "the body is null so we can't transform it to HTML";
        return Err(go_error(&ctx, rule));
    }
    let body = String::from_utf8_lossy(&it.answer.body);
    select(&ctx, &body, &it.answer.url, selector.0.filter(|selector| !selector.is_undefined()))
}

/// The body as JSON, or the part of it that a selector in gjson's syntax names.
fn json<'js>(
    ctx: Ctx<'js>,
    this: This<Value<'js>>,
    selector: Opt<Coerced<String>>,
) -> rquickjs::Result<Value<'js>> {
    let it = received(&ctx, &this.0)?;
    if !it.answer.has_body {
        return Err(go_error(
            &ctx,
            "the body is null so we can't transform it to JSON - this likely was because of a request error getting \
             the response",
        ));
    }
    let body = String::from_utf8_lossy(&it.answer.body);
    if let Some(selector) = selector.0 {
        let found = gjson::get(&body, &selector.0);
        return match found.exists() {
            true => ctx.json_parse(found.json().to_owned()),
            false => Ok(Value::new_undefined(ctx)),
        };
    }
    // A second call returns the same object, as in k6.
    if let Some(this) = this.0.as_object() {
        let known: Value<'js> = this.get(PARSED)?;
        if !known.is_undefined() {
            return Ok(known);
        }
        let value = parsed(&ctx, body.into_owned())?;
        this.prop(PARSED, Property::from(value.clone()))?;
        return Ok(value);
    }
    parsed(&ctx, body.into_owned())
}

/// Where a response keeps its body as JSON; no script sees it.
const PARSED: &str = "\0json";

/// A text as JSON; what is none is told in the engine's words, as an error of k6's.
fn parsed<'js>(ctx: &Ctx<'js>, text: String) -> rquickjs::Result<Value<'js>> {
    ctx.json_parse(text).map_err(|error| about(ctx, error, "cannot parse json due to an error"))
}
