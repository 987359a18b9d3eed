//! `k6/timers`: the globals, for who imports them.

use crate::modules::binding::Builtin;
use rquickjs::Value;

const NAMES: &[&str] = &["setTimeout", "clearTimeout", "setInterval", "clearInterval"];

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/timers", "k6/experimental/timers"],
    exports: NAMES,
    build: |ctx, object| {
        NAMES.iter().try_for_each(|name| object.set(*name, ctx.globals().get::<_, Value<'_>>(*name)?))
    },
};
