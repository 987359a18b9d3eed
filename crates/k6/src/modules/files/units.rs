//! Files of the test as compiled code, with the errors that scripts see where one cannot be had.

use rquickjs::{Ctx, Exception};
use std::path::Path;
use std::sync::Arc;

use crate::bundle::{Unit, Unusable};
use crate::interpreter::go_error;
use crate::modules::language;
use crate::vu::Vu;

/// A file as code. The interpreter learns what of the language the file is the first one to use.
pub(crate) fn unit(ctx: &Ctx<'_>, path: &Path) -> rquickjs::Result<Arc<Unit>> {
    let found = Vu::of(ctx).shard.common.bundle.unit(path);
    let (unit, language) = found.map_err(|why| thrown(ctx, &why))?;
    if let Some(language) = language {
        language::speak(ctx, language)?;
    }
    Ok(unit)
}

fn thrown(ctx: &Ctx<'_>, why: &Unusable) -> rquickjs::Error {
    let text = why.to_string();
    if !matches!(why, Unusable::Refused(_)) {
        note_failure(ctx, &text);
    }
    match why {
        Unusable::Refused(_) | Unusable::Syntax { .. } => Exception::throw_syntax(ctx, &text),
        Unusable::Unread { .. } | Unusable::Late { .. } => go_error(ctx, &text),
    }
}

/// An error that says why a module cannot be had; a script that does not catch it cannot be run.
pub(crate) fn not_loaded(ctx: &Ctx<'_>, why: &str) -> rquickjs::Error {
    note_failure(ctx, why);
    go_error(ctx, why)
}

/// Keeps why something could not be loaded: it tells this end of a script from any other exception.
fn note_failure(ctx: &Ctx<'_>, why: &str) {
    Vu::of(ctx).load_failure.replace(Some(why.to_owned()));
}
