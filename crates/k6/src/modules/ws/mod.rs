//! `k6/ws`: a WebSocket that its iteration waits for until it is closed.

mod session;
mod timers;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Function, Object, Value};
use sonagi_measure::At;
use sonagi_transport::link::{HandshakeAnswer, WebsocketLink};
use std::rc::Rc;

use super::socket::{HandshakeFailed, Wanted, shown_headers};
use crate::interpreter::go_error;
use crate::metrics::{SystemTag, Tags, builtin};
use crate::modules::binding::Builtin;
use crate::vu::{Phase, Source, Vu};
use session::Session;

pub(super) const MODULE: Builtin = Builtin {
    names: &["k6/ws"],
    exports: &["connect"],
    build: |ctx, object| object.set("connect", connector(ctx, false)?),
};

/// The code of a close that names none, and of one nobody asked for.
const GOING_AWAY: u16 = 1001;

/// `connect`, for what speaks Socket.IO or anything else.
pub(super) fn connector<'js>(ctx: &Ctx<'js>, is_socketio: bool) -> rquickjs::Result<Function<'js>> {
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, url: Coerced<String>, given: Rest<Value<'js>>| {
        connect(&ctx, &url, &given.0, is_socketio)
    })?
    .with_name("connect")
}

/// `connect(url, [params], callback)`: returns when the connection is over, what the handshake was answered.
fn connect<'js>(
    ctx: &Ctx<'js>,
    url: &Coerced<String>,
    given: &[Value<'js>],
    is_socketio: bool,
) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let wrong = |what: &str| go_error(ctx, what);
    if vu.phase.get() == Phase::Init {
        return Err(wrong("using websockets in the init context is not supported"));
    }
    let (params, callback) = match given {
        [callback] => (None, callback),
        [params, callback] => (params.as_object(), callback),
        _ => return Err(wrong("invalid number of arguments to ws.connect")),
    };
    let callback =
        callback.as_function().ok_or_else(|| wrong("last argument to ws.connect must be a function"))?;
    let begun = vu.now();
    let (tags, opened) = opened(ctx, &vu, &url.0, params, begun)?;
    let told = match opened {
        Ok((link, answer)) => {
            let session = Session::new(link, tags.clone(), is_socketio);
            let told = lived(ctx, &vu, &session, callback);
            told.and_then(|()| response(ctx, &url.0, &answer, ""))
        }
        Err(HandshakeFailed { error, .. }) if vu.shard.common.options.throw => Err(wrong(&error)),
        Err(HandshakeFailed { answer: Some(answer), .. }) => response(ctx, "", &answer, ""),
        Err(HandshakeFailed { answer: None, error }) => {
            response(ctx, "", &HandshakeAnswer::default(), &error)
        }
    };
    if !vu.is_interrupted() {
        let took = vu.now().since(begun) as f64 / 1e6;
        vu.shard.observe_at(builtin::WS_SESSION_DURATION, took, &tags, begun);
    }
    told
}

/// A socket, with what the handshake was answered.
type Begun = Result<(WebsocketLink, Box<HandshakeAnswer>), HandshakeFailed>;

/// Opens the socket. Not inlined: its stack frame would otherwise lie below the whole session, for each user.
#[inline(never)]
fn opened<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    url: &str,
    params: Option<&Object<'js>>,
    begun: At,
) -> rquickjs::Result<(Tags, Begun)> {
    let mut wanted = Wanted::new(vu, url);
    if let Some(params) = params {
        wanted.take(ctx, params, false)?;
    }
    wanted.tags = wanted.tags.with_automatic(&[(SystemTag::Url, url)]);
    let (wanted, opened) = vu.wait_for(ctx, wanted.opening(vu, begun))?;
    let tags = wanted.tags;
    Ok((tags, opened.map(|(link, answer)| (link, Box::new(answer)))))
}

/// The whole life of an open socket.
fn lived<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    session: &Rc<Session>,
    callback: &Function<'js>,
) -> rquickjs::Result<()> {
    vu.events.add(Rc::clone(session) as Rc<dyn Source>);
    let outcome = object(ctx, session)
        .and_then(|socket| callback.call::<_, Value<'js>>((socket,)))
        .and_then(|_| session.run(ctx, vu));
    let outcome = match outcome {
        Err(rquickjs::Error::Exception) => {
            let thrown = ctx.catch();
            let is_cut = vu.is_interrupted() || vu.is_aborted();
            let closed = if is_cut { Ok(()) } else { session.shut(ctx, vu, GOING_AWAY) };
            closed.and_then(|()| Err(ctx.throw(thrown)))
        }
        outcome => outcome.and_then(|()| session.shut(ctx, vu, GOING_AWAY)),
    };
    let sent = session.leave(ctx, vu);
    outcome.and(sent)
}

/// The socket that the callback is given. Its functions may be handed about without it.
fn object<'js>(ctx: &Ctx<'js>, session: &Rc<Session>) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let it = Rc::clone(session);
    let on =
        move |ctx: Ctx<'js>, event: Coerced<String>, handler: Value<'js>| it.on(&ctx, &event.0, &handler);
    object.set("on", Function::new(ctx.clone(), on)?)?;
    let it = Rc::clone(session);
    let send = move |ctx: Ctx<'js>, message: Opt<Value<'js>>| it.send(&ctx, message.0.as_ref());
    object.set("send", Function::new(ctx.clone(), send)?)?;
    let it = Rc::clone(session);
    let send = move |ctx: Ctx<'js>, message: Opt<Value<'js>>| it.send_binary(&ctx, message.0.as_ref());
    object.set("sendBinary", Function::new(ctx.clone(), send)?)?;
    let it = Rc::clone(session);
    object.set("ping", Function::new(ctx.clone(), move |ctx: Ctx<'js>| it.ping(&ctx))?)?;
    let it = Rc::clone(session);
    let close = move |ctx: Ctx<'js>, code: Opt<Coerced<f64>>| {
        let code = code.0.map_or(GOING_AWAY, |code| code.0 as u16);
        it.shut(&ctx, &Vu::of(&ctx), code)
    };
    object.set("close", Function::new(ctx.clone(), close)?)?;
    for (name, repeats) in [("setTimeout", false), ("setInterval", true)] {
        let it = Rc::clone(session);
        let set = move |ctx: Ctx<'js>, function: Value<'js>, ms: Opt<Coerced<f64>>| {
            let ms = ms.0.map_or(f64::NAN, |ms| ms.0);
            it.timers.add(&ctx, name, &function, ms, repeats)
        };
        object.set(name, Function::new(ctx.clone(), set)?)?;
    }
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
    response.set("body", String::from_utf8_lossy(&answer.body).into_owned())?;
    response.set("error", error)?;
    Ok(response)
}
