//! The files whose code is under way: what relative names are seen from.
//!
//! In k6, `require` looks from the file it is written in, but `open` from the file whose top level is being run: a
//! function of another file that opens something opens it from there. The code that a `require` runs has a stack of its
//! own in this sense.

use rquickjs::{Ctx, Function, Value};
use std::path::PathBuf;

use crate::modules::binding::own_script;

/// The name of the function, among the callers, in which a `require` runs its file.
const REQUIRE: &str = "sonagi:require";
/// No script nests deeper while it opens a file.
const MOST_LEVELS: isize = 1000;
/// After so many callers in a row that are no script's (`map`, `call`) there are no more of a script's.
const MOST_NATIVE: usize = 16;

/// The file in which the function under way is written; none in code made of texts that nobody called.
pub(crate) fn innermost(ctx: &Ctx<'_>) -> Option<PathBuf> {
    all(ctx).next()
}

/// The file whose top level is being run.
pub(crate) fn outermost(ctx: &Ctx<'_>) -> Option<PathBuf> {
    all(ctx).last()
}

/// From the inside out.
fn all(ctx: &Ctx<'_>) -> impl Iterator<Item = PathBuf> {
    let mut native = 0;
    let names = (0..MOST_LEVELS).map_while(move |level| {
        let name = ctx.script_or_module_name(level).and_then(|name| name.to_string().ok());
        native = if name.is_some() { 0 } else { native + 1 };
        (native < MOST_NATIVE && name.as_deref() != Some(REQUIRE)).then_some(name)
    });
    names.flatten().map(PathBuf::from).filter(|name| name.is_absolute())
}

/// Runs what a `require` asks for.
pub(crate) fn required<'js>(ctx: &Ctx<'js>, run: Function<'js>) -> rquickjs::Result<Value<'js>> {
    let frame = own_script(ctx, REQUIRE, "(function (run) { return run(); })")?;
    frame.into_function().ok_or(rquickjs::Error::Unknown)?.call((run,))
}
