//! `k6/data`: lists that all users share.
//!
//! A list is made once per test, by the first user that asks for its name. The JSON text of each element is kept once
//! for all users and threads; an element is parsed when a script asks for it, and frozen.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Value};

use crate::bundle::SharedList;
use crate::interpreter::go_error;
use crate::modules::binding::{Builtin, constructor, freeze, own};
use crate::vu::{Phase, Vu};

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/data"],
    exports: &["SharedArray"],
    build: |ctx, object| object.set("SharedArray", constructor(Function::new(ctx.clone(), shared_array)?)?),
};

fn shared_array<'js>(
    ctx: Ctx<'js>,
    name: Opt<Coerced<String>>,
    make: Opt<Value<'js>>,
) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() != Phase::Init {
        return Err(go_error(&ctx, "new SharedArray must be called in the init context"));
    }
    let name = name.0.map_or_else(String::new, |name| name.0);
    if name.is_empty() {
        return Err(go_error(&ctx, "empty name provided to SharedArray's constructor"));
    }
    let make = make.0.and_then(Value::into_function).ok_or_else(|| {
        go_error(&ctx, "a function is expected as the second argument of SharedArray's constructor")
    })?;
    let bundle = &vu.shard.common.bundle;
    let shared = match bundle.shared(&name) {
        Some(shared) => shared,
        None => bundle.share(&name, elements(&ctx, &make.call(())?)?),
    };
    array(&ctx, shared)
}

fn elements<'js>(ctx: &Ctx<'js>, made: &Value<'js>) -> rquickjs::Result<SharedList> {
    if made.is_promise() {
        let rule = "SharedArray constructor does not support async functions as second argument";
        return Err(go_error(ctx, rule));
    }
    let only = || go_error(ctx, "only arrays can be made into SharedArray");
    let list = made.as_array().ok_or_else(only)?;
    let mut texts = Vec::with_capacity(list.len());
    for element in list.iter::<Value<'js>>() {
        // An element that JSON cannot express becomes null, as inside of a list.
        let text = ctx.json_stringify(element?)?.map(|text| text.to_string()).transpose()?;
        texts.push(text.unwrap_or_else(|| "null".to_owned()).into_boxed_str());
    }
    Ok(texts.into())
}

/// A list that looks and behaves as an array nobody can write to.
pub(crate) fn array<'js>(ctx: &Ctx<'js>, shared: SharedList) -> rquickjs::Result<Object<'js>> {
    let length = shared.len();
    let element = move |ctx: Ctx<'js>, at: usize| {
        let Some(text) = shared.get(at) else { return Ok(Value::new_undefined(ctx)) };
        let value = ctx.json_parse(&**text)?;
        freeze(&ctx, &value)?;
        Ok::<_, rquickjs::Error>(value)
    };
    own(ctx, "k6/data", include_str!("data.js"))?.call((length, Function::new(ctx.clone(), element)?))
}
