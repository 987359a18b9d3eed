//! The parts of modules that are written in JavaScript: they are easier said there, and need no speed.

use rquickjs::object::Property;
use rquickjs::{Ctx, Function, Object, Value};

use crate::interpreter::raw;
use crate::vu::Vu;

/// Runs a source of ours; compiled once per test.
pub(crate) fn own_script<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> rquickjs::Result<Value<'js>> {
    let unit = Vu::of(ctx).shard.common.bundle.own(ctx, name, source)?;
    raw::run_script(ctx, &unit.bytecode)
}

/// A source of ours that is one function, compiled once per test; a user that asks again gets another one.
pub(crate) fn own<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> rquickjs::Result<Function<'js>> {
    let function = own_script(ctx, &format!("sonagi:{name}"), source)?;
    function.into_function().ok_or(rquickjs::Error::Unknown)
}

/// A class of ours as k6's constructors are: also without `new`.
pub(crate) fn callable<'js>(ctx: &Ctx<'js>, class: Value<'js>) -> rquickjs::Result<Value<'js>> {
    own(ctx, "callable", include_str!("callable.js"))?.call((class,))
}

/// A function that makes objects, with `new` and without. None of them is an instance of it, as in k6.
pub(crate) fn constructor<'js>(made_by: Function<'js>) -> rquickjs::Result<Function<'js>> {
    made_by.prop("prototype", Property::from(Object::new(made_by.ctx().clone())?))?;
    Ok(made_by.with_constructor(true))
}

/// Has a source of ours compiled that a user may ask for later: none but the first can compile.
pub(crate) fn prepared(ctx: &Ctx<'_>, name: &str, source: &str) -> rquickjs::Result<()> {
    Vu::of(ctx).shard.common.bundle.own(ctx, &format!("sonagi:{name}"), source).map(drop)
}
