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
    match why {
        Unusable::Refused(why) => Exception::throw_syntax(ctx, why),
        Unusable::Syntax { .. } => {
            not_loaded(ctx, &why.to_string(), |ctx, text| Exception::throw_syntax(ctx, text))
        }
        _ => not_loaded(ctx, &why.to_string(), go_error),
    }
}

/// An error that says why a file or module cannot be had, thrown by `throw`; a script that does not catch it cannot be
/// run.
pub(crate) fn not_loaded(
    ctx: &Ctx<'_>,
    why: &str,
    throw: impl FnOnce(&Ctx<'_>, &str) -> rquickjs::Error,
) -> rquickjs::Error {
    Vu::of(ctx).load_failure.replace(Some(why.to_owned()));
    throw(ctx, why)
}
