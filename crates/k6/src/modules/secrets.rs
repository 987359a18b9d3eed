//! `k6/secrets`: there is no source of secrets here, so every one is missing.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Promise};

use super::Builtin;

pub(super) const MODULE: Builtin = Builtin {
    names: &["k6/secrets"],
    exports: &[],
    build: |ctx, object| {
        object.set("get", Function::new(ctx.clone(), get)?)?;
        object.set("source", Function::new(ctx.clone(), source)?)
    },
};

/// A promise that is rejected.
fn get<'js>(ctx: Ctx<'js>, name: Opt<Coerced<String>>) -> rquickjs::Result<Promise<'js>> {
    let name = name.0.map_or_else(String::new, |name| name.0);
    let (promise, _, reject) = ctx.promise()?;
    let rule =
        format!("no secret named {name:?}: no sources are configured\nhint: hand it over with -e NAME=value");
    reject.call::<_, ()>((Exception::from_message(ctx.clone(), &rule)?,))?;
    Ok(promise)
}

fn source<'js>(ctx: Ctx<'js>, _name: Opt<Coerced<String>>) -> rquickjs::Result<Object<'js>> {
    let source = Object::new(ctx.clone())?;
    source.set("get", Function::new(ctx, get)?)?;
    Ok(source)
}
