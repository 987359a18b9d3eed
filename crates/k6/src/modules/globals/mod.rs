//! The globals of a script.

mod console;
mod inspect;
mod text_encoding;
mod timers;

use rquickjs::object::{Accessor, Property};
use rquickjs::{Ctx, Function, Object, Value};

use super::binding::BuiltinObjects;
use super::files::open;
use super::k6::basics::set_random;
use super::registry::{self, BUILTINS};
use super::{crypto, language};
use crate::vu::Vu;
pub(crate) use timers::ScriptTimers;

/// Gives a new interpreter its globals.
pub(crate) fn globals(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let (vu, globals) = (Vu::of(ctx), ctx.globals());
    vu.module_state::<BuiltinObjects>().are(BUILTINS);
    let wanted = vu.shard.common.bundle.intrinsics();
    if wanted.crypto {
        on_demand(&globals, "crypto", crypto::web::crypto)?;
    }
    if wanted.text {
        on_demand(&globals, "TextEncoder", text_encoding::encoder)?;
        on_demand(&globals, "TextDecoder", text_encoding::decoder)?;
    }
    if wanted.random {
        set_random(ctx, fastrand::Rng::new())?;
    }
    // The first user, who reads the script, gets these as it goes.
    if vu.shard.common.bundle.is_closed() {
        language::speak(ctx, wanted.language)?;
    }
    if !vu.shard.common.without_global {
        globals.prop("global", Property::from(globals.clone()).writable().enumerable().configurable())?;
    }
    globals.set("__VU", vu.number as f64)?;
    environment(ctx, &[])?;
    globals.set("console", console::console(ctx)?)?;
    globals.set("open", Function::new(ctx.clone(), open)?)?;
    globals.set("require", registry::require(ctx)?)?;
    globals.set("setTimeout", Function::new(ctx.clone(), timers::set_timeout)?)?;
    globals.set("setInterval", Function::new(ctx.clone(), timers::set_interval)?)?;
    let clear = Function::new(ctx.clone(), timers::clear)?;
    globals.set("clearTimeout", clear.clone())?;
    globals.set("clearInterval", clear)
}

/// `__ENV`, with what a scenario adds to it.
#[inline(never)]
pub(crate) fn environment(ctx: &Ctx<'_>, more: &[(String, String)]) -> rquickjs::Result<()> {
    let environment = Object::new(ctx.clone())?;
    for (name, value) in Vu::of(ctx).shard.common.environment.iter().chain(more) {
        environment.set(&**name, &**value)?;
    }
    ctx.globals().set("__ENV", environment)
}

/// Makes a global.
type MakeGlobal = for<'js> fn(&Ctx<'js>) -> rquickjs::Result<Value<'js>>;

/// A global that is made when a script first looks at it.
fn on_demand<'js>(globals: &Object<'js>, name: &'static str, make: MakeGlobal) -> rquickjs::Result<()> {
    let keep = move |ctx: &Ctx<'js>, value: Value<'js>| {
        ctx.globals().prop(name, Property::from(value).writable().configurable())
    };
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?;
        keep(&ctx, value.clone())?;
        Ok::<_, rquickjs::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| keep(&ctx, value);
    globals.prop(name, Accessor::new(get, set).configurable())
}
