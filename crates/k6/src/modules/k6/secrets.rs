//! `k6/secrets`: secrets by their names, from the sources the test was given.

use rquickjs::function::{Opt, This};
use rquickjs::{Coerced, Ctx, Function, Object, Promise};

use crate::interpreter::go_error;
use crate::modules::binding::Builtin;
use crate::vu::Vu;

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/secrets"],
    exports: &[],
    build: |ctx, object| {
        object.set("get", Function::new(ctx.clone(), get)?)?;
        object.set("source", Function::new(ctx.clone(), source)?)
    },
};

/// Where a source keeps its name.
const NAME: &str = "__sonagiSource";

/// A promise of a secret.
fn get<'js>(
    ctx: Ctx<'js>,
    source: This<Object<'js>>,
    name: Opt<Coerced<String>>,
) -> rquickjs::Result<Promise<'js>> {
    let source: Option<String> = source.0.get(NAME)?;
    let name = name.0.map_or_else(String::new, |name| name.0);
    let (promise, resolve, reject) = ctx.promise()?;
    let common = &Vu::of(&ctx).shard.common;
    match common.secrets.tell(source.as_deref(), &name) {
        Ok(secret) => {
            common.registry.keep_secret(secret);
            resolve.call::<_, ()>((secret,))?;
        }
        Err(why) => {
            let _ = go_error(&ctx, &why);
            reject.call::<_, ()>((ctx.catch(),))?;
        }
    }
    Ok(promise)
}

fn source<'js>(ctx: Ctx<'js>, name: Opt<Coerced<String>>) -> rquickjs::Result<Object<'js>> {
    let source = Object::new(ctx.clone())?;
    source.set("get", Function::new(ctx, get)?)?;
    let name = name.0.map_or_else(String::new, |name| name.0);
    source.prop(NAME, rquickjs::object::Property::from(name))?;
    Ok(source)
}
