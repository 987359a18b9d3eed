//! `k6/http`.

mod address;
mod answer;
mod auth;
mod batch;
mod body;
mod call;
mod cookies;
mod debug;
mod errors;
mod exchange;
mod expected_statuses;
mod named_values;
mod recent;
mod redirect;
mod response;
mod samples;
mod set_cookies;
mod state;
mod tags;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Function, Object, Value};
use std::rc::Rc;

use crate::interpreter::{Structure, go_error, host_object};
use crate::modules::binding::{Argument, Builtin, constructor};
use crate::shard::Level;
use crate::vu::{Phase, Vu, outcome};
use answer::Answer;
use call::{Call, ResponseType};
use errors::BadCall;
use expected_statuses::Expected;

pub(super) use address::host;
pub(super) use call::canonical;
pub(super) use exchange::quoted;
pub(crate) use response::ResponseClass;
pub(super) use set_cookies::keep as keep_cookies;
pub(crate) use state::HttpState;

pub(super) const MODULE: Builtin = Builtin { names: &["k6/http"], exports: EXPORTS, build };

const EXPORTS: &[&str] = &[
    "get",
    "head",
    "post",
    "put",
    "patch",
    "del",
    "options",
    "request",
    "asyncRequest",
    "batch",
    "url",
    "file",
    "cookieJar",
    "CookieJar",
    "expectedStatuses",
    "setResponseCallback",
    "OCSP_REASON_AA_COMPROMISE",
    "OCSP_REASON_AFFILIATION_CHANGED",
    "OCSP_REASON_CA_COMPROMISE",
    "OCSP_REASON_CERTIFICATE_HOLD",
    "OCSP_REASON_CESSATION_OF_OPERATION",
    "OCSP_REASON_KEY_COMPROMISE",
    "OCSP_REASON_PRIVILEGE_WITHDRAWN",
    "OCSP_REASON_REMOVE_FROM_CRL",
    "OCSP_REASON_SUPERSEDED",
    "OCSP_REASON_UNSPECIFIED",
    "OCSP_STATUS_GOOD",
    "OCSP_STATUS_REVOKED",
    "OCSP_STATUS_SERVER_FAILED",
    "OCSP_STATUS_UNKNOWN",
    "TLS_1_0",
    "TLS_1_1",
    "TLS_1_2",
    "TLS_1_3",
];

/// The value of a constant: `OCSP_STATUS_GOOD` is `good`, `TLS_1_2` is `tls1.2`.
fn constant(name: &str) -> Option<String> {
    if let Some(version) = name.strip_prefix("TLS_") {
        return Some(format!("tls{}", version.replace('_', ".")));
    }
    let rest = name.strip_prefix("OCSP_REASON_").or_else(|| name.strip_prefix("OCSP_STATUS_"));
    rest.map(str::to_ascii_lowercase)
}

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    // Without a body between URL and params.
    for (name, method) in [("get", "GET"), ("head", "HEAD")] {
        let send = move |ctx: Ctx<'js>,
                         Argument(url): Argument<'js>,
                         params: Opt<Value<'js>>,
                         more: Rest<Value<'js>>| {
            if !more.is_empty() {
                let given = more.len() + 2;
                let text = format!(
                    "http.{name} only accepts a url and a params argument (2 arguments), but {given} were given"
                );
                Vu::of(&ctx).shard.say(Level::Warn, text, Vec::new());
            }
            send(&ctx, method, &url, None, params.0.as_ref())
        };
        object.set(name, Function::new(ctx.clone(), send)?)?;
    }
    for (name, method) in
        [("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("del", "DELETE"), ("options", "OPTIONS")]
    {
        let send = move |ctx: Ctx<'js>,
                         Argument(url): Argument<'js>,
                         body: Opt<Value<'js>>,
                         params: Opt<Value<'js>>| {
            send(&ctx, method, &url, body.0.as_ref(), params.0.as_ref())
        };
        object.set(name, Function::new(ctx.clone(), send)?)?;
    }
    object.set("request", Function::new(ctx.clone(), request)?)?;
    object.set("asyncRequest", Function::new(ctx.clone(), async_request)?)?;
    object.set("batch", Function::new(ctx.clone(), batch::batch)?)?;
    object.set("url", Function::new(ctx.clone(), url)?)?;
    object.set("file", Function::new(ctx.clone(), file)?)?;
    object.set("cookieJar", Function::new(ctx.clone(), cookie_jar)?)?;
    object.set("CookieJar", constructor(Function::new(ctx.clone(), cookies::new_cookie_jar)?)?)?;
    let statuses = |ctx: Ctx<'js>, given: Rest<Value<'js>>| Expected::statuses(&ctx, &given);
    object.set("expectedStatuses", Function::new(ctx.clone(), statuses)?)?;
    object.set("setResponseCallback", Function::new(ctx.clone(), set_response_callback)?)?;
    EXPORTS
        .iter()
        .filter_map(|name| Some((name, constant(name)?)))
        .try_for_each(|(name, value)| object.set(*name, value))
}

/// Requests are none of the init code's business.
fn outside_init(ctx: &Ctx<'_>, vu: &Vu, what: &str) -> rquickjs::Result<()> {
    match vu.phase.get() {
        Phase::Init => {
            let rule = format!("{what} in the init context is not supported");
            Err(go_error(ctx, &rule))
        }
        _ => Ok(()),
    }
}

fn send<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(ctx);
    outside_init(ctx, &vu, "Making http requests")?;
    let call = match Call::new(ctx, &vu, method, url, body, params) {
        Ok(call) => call,
        Err(refused) => return unmade(ctx, &vu, refused),
    };
    let answer = vu.wait_for(ctx, exchange::perform(&vu, &call))?;
    responded(ctx, &vu, &call, answer)
}

/// Arguments that make no request are told as of one that failed.
fn unmade<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, refused: BadCall) -> rquickjs::Result<Object<'js>> {
    let why = match refused {
        BadCall::Thrown(error) => return Err(error),
        BadCall::Wrong(why) => why,
    };
    if vu.shard.common.options.throw {
        return Err(go_error(ctx, &why.told));
    }
    vu.shard.say(Level::Warn, "Request Failed".to_owned(), vec![("error", why.told.clone())]);
    response::response(ctx, vu, Answer::failed(why), ResponseType::Text)
}

/// The response object, or the exception a script asked for in place of an answerless one.
fn responded<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>, call: &Call, answer: Answer) -> rquickjs::Result<Object<'js>> {
    if answer.status == 0 {
        if call.throws {
            return Err(go_error(ctx, &answer.told));
        }
        vu.shard.say(Level::Warn, "Request Failed".to_owned(), vec![("error", answer.told.clone())]);
    }
    response::response(ctx, vu, answer, call.response_type)
}

fn request<'js>(
    ctx: Ctx<'js>,
    Argument(method): Argument<'js>,
    Argument(url): Argument<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> rquickjs::Result<Object<'js>> {
    send(&ctx, &method_of(&method)?, &url, body.0.as_ref(), params.0.as_ref())
}

/// None is the empty one, which goes out as a GET.
fn method_of(value: &Value<'_>) -> rquickjs::Result<String> {
    let is_there = !value.is_undefined() && !value.is_null();
    Ok(if is_there { value.get::<Coerced<String>>()?.0 } else { String::new() })
}

fn async_request<'js>(
    ctx: Ctx<'js>,
    Argument(method): Argument<'js>,
    Argument(url): Argument<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    outside_init(&ctx, &vu, "Making http requests")?;
    let call = match Call::new(&ctx, &vu, &method_of(&method)?, &url, body.0.as_ref(), params.0.as_ref()) {
        Ok(call) => call,
        Err(refused) => {
            let (promise, resolve, reject) = ctx.promise()?;
            match unmade(&ctx, &vu, refused) {
                Ok(response) => resolve.call::<_, ()>((response,))?,
                Err(rquickjs::Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
                Err(error) => return Err(error),
            }
            return Ok(promise.into_value());
        }
    };
    let of_task = Rc::clone(&vu);
    vu.events.promise(&ctx, &vu, async move {
        let answer = Box::pin(exchange::perform(&of_task, &call)).await;
        outcome(move |ctx| Ok(responded(ctx, &of_task, &call, answer)?.into_value()))
    })
}

/// The template tag: the URL with its values, and the name with `${}` in their places.
fn url<'js>(
    ctx: Ctx<'js>,
    parts: Vec<String>,
    values: Rest<Coerced<String>>,
) -> rquickjs::Result<Object<'js>> {
    let address = host_object(
        &ctx,
        Rc::new(Structure(&[("clean_url", "CleanURL"), ("name", "Name"), ("url", "URL")])),
    )?;
    let mut url = String::new();
    for (at, part) in parts.iter().enumerate() {
        url.push_str(part);
        if let Some(value) = values.get(at) {
            url.push_str(&value.0);
        }
    }
    address.set("name", parts.join("${}"))?;
    address.set("url", &*url)?;
    address.set("clean_url", address::clean(&url))?;
    address.prop(address::MARK, true)?;
    Ok(address)
}

/// A file for a form.
fn file<'js>(
    ctx: Ctx<'js>,
    data: Value<'js>,
    name: Opt<Coerced<String>>,
    kind: Opt<Coerced<String>>,
) -> rquickjs::Result<Object<'js>> {
    let members = &[("content_type", "ContentType"), ("data", "Data"), ("filename", "Filename")];
    let file = host_object(&ctx, Rc::new(Structure(members)))?;
    let unnamed = || format!("{}", std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos()));
    file.prop(body::FILE, true)?;
    file.set("data", data)?;
    file.set("filename", name.0.map_or_else(unnamed, |name| name.0))?;
    file.set("content_type", kind.0.map_or_else(|| "application/octet-stream".to_owned(), |kind| kind.0))?;
    Ok(file)
}

fn cookie_jar<'js>(ctx: Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    outside_init(&ctx, &Vu::of(&ctx), "Getting the cookie jar")?;
    cookies::cookie_jar(ctx)
}

fn set_response_callback<'js>(ctx: Ctx<'js>, callback: Value<'js>) -> rquickjs::Result<()> {
    let rule = "a response callback must be what http.expectedStatuses() returns, or null";
    let expected = Expected::given(&callback)?.ok_or_else(|| go_error(&ctx, rule))?;
    Vu::of(&ctx).module_state::<HttpState>().expected.replace(expected);
    Ok(())
}
