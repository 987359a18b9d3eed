//! `k6/websockets`: sockets beside the iteration, as browsers have them. The classes that scripts see stand in
//! `websockets.js`.

mod socket;

use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Function, Object};

use super::experimental::{STREAMS_NAME, STREAMS_SOURCE};
use crate::interpreter::go_error;
use crate::modules::binding::{Builtin, callable, object_of, own, prepared};
use crate::shard::Level;
use crate::vu::Vu;
use socket::Socket;

pub(super) const MODULE: Builtin = Builtin {
    names: &["k6/websockets", "k6/experimental/websockets"],
    exports: &["WebSocket", "Blob"],
    build,
};

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let fail = |ctx: Ctx<'js>, message: String| Err::<(), _>(go_error(&ctx, &message));
    let warn = |ctx: Ctx<'js>, message: String| Vu::of(&ctx).shard.say(Level::Warn, message, Vec::new());
    let text = Object::new(ctx.clone())?;
    text.set("decoded", Function::new(ctx.clone(), decoded)?)?;
    text.set("encoded", Function::new(ctx.clone(), encoded)?)?;
    text.set("size", Function::new(ctx.clone(), |text: Coerced<String>| text.0.len())?)?;
    let open = Function::new(ctx.clone(), Socket::open)?;
    let (fail, warn) = (Function::new(ctx.clone(), fail)?, Function::new(ctx.clone(), warn)?);
    prepared(ctx, STREAMS_NAME, STREAMS_SOURCE)?;
    let streams = Function::new(ctx.clone(), |ctx: Ctx<'js>| object_of(&ctx, STREAMS_NAME))?;
    let made: Object<'js> =
        own(ctx, "websockets", include_str!("websockets.js"))?.call((open, fail, warn, text, streams))?;
    for name in MODULE.exports {
        object.set(*name, callable(ctx, made.get(*name)?)?)?;
    }
    Ok(())
}

fn decoded<'js>(ctx: Ctx<'js>, bytes: ArrayBuffer<'js>) -> rquickjs::Result<String> {
    let gone = || Exception::throw_type(&ctx, "the bytes are gone");
    Ok(String::from_utf8_lossy(bytes.as_bytes().ok_or_else(gone)?).into_owned())
}

fn encoded<'js>(ctx: Ctx<'js>, text: Coerced<String>) -> rquickjs::Result<ArrayBuffer<'js>> {
    ArrayBuffer::new(ctx, text.0.into_bytes())
}
