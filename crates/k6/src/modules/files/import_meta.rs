//! `import.meta`, for the files that ask it something.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object};
use std::path::Path;

use crate::bundle::located;
use crate::interpreter::go_error;

/// Gives a file's `import.meta` what k6's has: `resolve`, and no more.
pub(crate) fn give_meta(meta: &Object<'_>, file: &Path) -> rquickjs::Result<()> {
    let file = file.to_owned();
    let resolve = move |ctx: Ctx<'_>, specifier: Opt<Coerced<String>>| resolved(&ctx, &file, specifier);
    meta.set("resolve", Function::new(meta.ctx().clone(), resolve)?)
}

/// The address of what a specifier names, seen from a file.
fn resolved(ctx: &Ctx<'_>, file: &Path, specifier: Opt<Coerced<String>>) -> rquickjs::Result<String> {
    let specifier = specifier.0.map_or_else(String::new, |it| it.0);
    if specifier.is_empty() {
        return Err(go_error(ctx, "import.meta.resolve() can't be used with an empty specifier"));
    }
    if specifier.contains("://") && !specifier.starts_with("file://") {
        return Ok(specifier);
    }
    if !specifier.starts_with(['.', '/']) && !specifier.starts_with("file://") {
        let rule = format!("{specifier:?} names neither a file nor an address");
        return Err(go_error(ctx, &rule));
    }
    Ok(format!("file://{}", located(file, &specifier).display()))
}
