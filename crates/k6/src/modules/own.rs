//! Those parts of modules that are written in JavaScript: what is easier said there, and needs no speed.

use rquickjs::{Ctx, Function};

use crate::runtime::{Vu, own_script};

/// A source of ours that is one function, compiled once per test; a user that asks again gets another one.
pub(super) fn own<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> rquickjs::Result<Function<'js>> {
    let function = own_script(ctx, &format!("sonagi:{name}"), source)?;
    function.into_function().ok_or(rquickjs::Error::Unknown)
}

/// Has a source of ours compiled that a user may ask for later: none but the first can compile.
pub(super) fn prepared(ctx: &Ctx<'_>, name: &str, source: &str) -> rquickjs::Result<()> {
    Vu::of(ctx).shard.common.bundle.own(ctx, &format!("sonagi:{name}"), source).map(drop)
}
