//! `k6/x/sse`: an event stream that its iteration listens to until it is closed, as the extension of that name has it.

mod client;

use bytes::Bytes;
use rquickjs::function::Rest;
use rquickjs::{Coerced, Ctx, Function, Object, Value};
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;
use sonagi_transport::link::{HandshakeAnswer, SseLink, SseRequest};
use sonagi_transport::net::{Failed, Origin};
use std::rc::Rc;

use super::socket::{Wanted, not_opened, shown_headers};
use crate::interpreter::go_error;
use crate::metrics::{Kind, MetricId, SystemTag, Unit, builtin};
use crate::modules::binding::Builtin;
use crate::modules::http::keep_cookies;
use crate::vu::{Phase, Vu};
use client::Client;

pub(super) const MODULE: Builtin = Builtin { names: &["k6/x/sse"], exports: &["open"], build };

/// How long the answer may take.
const PATIENCE_NS: i64 = 60_000_000_000;

/// The largest event taken.
const MAX_EVENT: usize = 16 << 20;

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let added = Vu::of(ctx).shard.common.registry.add("sse_event", Kind::Counter, Unit::Number);
    let events = added.map_err(|why| go_error(ctx, &why.to_string()))?;
    let open = move |ctx: Ctx<'js>, url: Coerced<String>, given: Rest<Value<'js>>| {
        open(&ctx, events, &url.0, &given.0)
    };
    object.set("open", Function::new(ctx.clone(), open)?)
}

/// A stream that is to be.
struct StreamRequest {
    wanted: Wanted,
    method: String,
    body: String,
}

/// `open(url, [params], callback)`: returns when the stream is over, what was answered.
fn open<'js>(
    ctx: &Ctx<'js>,
    events: MetricId,
    url: &str,
    given: &[Value<'js>],
) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(ctx, "using sse in the init context is not supported"));
    }
    let (params, callback) = match given {
        [callback] => (None, callback),
        [params, callback] => (params.as_object(), callback),
        _ => return Err(go_error(ctx, "invalid number of arguments to sse.open")),
    };
    let no_function = || go_error(ctx, "last argument to sse.open must be a function");
    let callback = callback.as_function().ok_or_else(no_function)?;
    let mut stream =
        StreamRequest { wanted: Wanted::new(&vu, url), method: "GET".to_owned(), body: String::new() };
    if let Some(params) = params {
        stream.wanted.take(ctx, params, false)?;
        for (name, part) in [("method", &mut stream.method), ("body", &mut stream.body)] {
            if let Some(given) = params.get::<_, Option<Coerced<String>>>(name)? {
                given.0.trim().clone_into(part);
            }
        }
    }
    stream.wanted.tags = stream.wanted.tags.with_automatic(&[(SystemTag::Url, url)]);
    let begun = vu.now();
    let opened = vu.wait_for(ctx, begin(&vu, &mut stream, begun))?;
    let connected = vu.now();
    let told = match opened {
        Ok((link, answer)) => {
            let client = Client::new(link, stream.wanted.tags.clone(), events);
            lived(ctx, &vu, &client, callback).and_then(|()| response(ctx, url, &answer, ""))
        }
        Err(error) if vu.shard.common.options.throw => Err(go_error(ctx, &error)),
        Err(error) => response(ctx, "", &HandshakeAnswer::default(), &error),
    };
    if !vu.is_interrupted() {
        let ms = |until: At| until.since(begun) as f64 / 1e6;
        let (now, tags) = (vu.now(), &stream.wanted.tags);
        vu.shard.observe_at(builtin::HTTP_REQS, 1.0, tags, now);
        vu.shard.observe_at(builtin::HTTP_REQ_SENDING, ms(connected), tags, now);
        vu.shard.observe_at(builtin::HTTP_REQ_DURATION, ms(now), tags, now);
    }
    told
}

/// Connects and asks; why there is no answer.
async fn begin(
    vu: &Rc<Vu>,
    stream: &mut StreamRequest,
    begun: At,
) -> Result<(SseLink, HandshakeAnswer), String> {
    let (origin, path) = Origin::parse(&stream.wanted.url).map_err(|failed| failed.detail)?;
    let request = SseRequest {
        origin: origin.clone(),
        path: path.clone(),
        headers: stream.wanted.all_headers(vu, &origin, &path),
        cookie: None,
        last_event_id: None,
        max_event: MAX_EVENT,
    };
    let body = Bytes::from(std::mem::take(&mut stream.body));
    let opened = tokio::select! {
        biased;
        opened = SseLink::open_any(&vu.shard.net, &request, &stream.method, body) => opened,
        () = vu.clock().sleep_until(begun.plus(PATIENCE_NS)) => {
            Err(Failed::new(Failure::HandshakeTimeout, "the answer took too long"))
        }
    };
    let opened = opened.map_err(|failed| not_opened(&failed, Some(&origin)))?;
    keep_cookies(&mut stream.wanted.jar.borrow_mut(), &origin, &path, &opened.1.headers);
    let status = opened.1.status.to_string();
    stream.wanted.tags = stream.wanted.tags.with_automatic(&[(SystemTag::Status, &status)]);
    Ok(opened)
}

/// The whole life of an open stream.
fn lived<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    client: &Rc<Client>,
    callback: &Function<'js>,
) -> rquickjs::Result<()> {
    let outcome = object(ctx, client)
        .and_then(|own| callback.call::<_, Value<'js>>((own,)))
        .and_then(|_| client.run(ctx, vu));
    client.leave(vu);
    outcome
}

/// The client that the callback is given.
fn object<'js>(ctx: &Ctx<'js>, client: &Rc<Client>) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let it = Rc::clone(client);
    let on =
        move |ctx: Ctx<'js>, event: Coerced<String>, handler: Value<'js>| it.on(&ctx, &event.0, &handler);
    object.set("on", Function::new(ctx.clone(), on)?)?;
    let it = Rc::clone(client);
    object.set("close", Function::new(ctx.clone(), move || it.close())?)?;
    Ok(object)
}

fn response<'js>(
    ctx: &Ctx<'js>,
    url: &str,
    answer: &HandshakeAnswer,
    error: &str,
) -> rquickjs::Result<Object<'js>> {
    let response = Object::new(ctx.clone())?;
    response.set("url", url)?;
    response.set("status", answer.status)?;
    response.set("headers", shown_headers(&answer.headers))?;
    response.set("error", error)?;
    Ok(response)
}
