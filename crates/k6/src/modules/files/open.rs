//! `open()`: the files of a test as text or bytes.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Value};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::callers;
use crate::bundle::{Unusable, located};
use crate::interpreter::go_error;
use crate::shard::Level;
use crate::vu::{Phase, Vu};

/// A file's text, or with `b` its bytes. Init code only.
pub(crate) fn open<'js>(ctx: Ctx<'js>, path: String, mode: Opt<String>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() != Phase::Init {
        let rule = r#"the "open" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle for more information"#;
        return Err(go_error(&ctx, rule));
    }
    let from = callers::outermost(&ctx);
    warn_of_another_folder(&ctx, &vu, &path, from.as_deref());
    let bytes = opened(&ctx, &vu, from.as_deref(), &path)?;
    if mode.0.as_deref() == Some("b") {
        return Ok(rquickjs::ArrayBuffer::new_copy(ctx, &bytes)?.into_value());
    }
    Ok(rquickjs::String::from_str(ctx, &String::from_utf8_lossy(&bytes))?.into_value())
}

/// Warns, as k6 does, of a file that is opened from another folder than that of the calling code. Only the first user
/// warns.
fn warn_of_another_folder(ctx: &Ctx<'_>, vu: &Vu, path: &str, from: Option<&Path>) {
    if vu.shard.common.bundle.is_closed() || path.starts_with('/') || path.starts_with("file://") {
        return;
    }
    let said_in = callers::innermost(ctx);
    if let (Some(from), Some(said_in)) = (from.and_then(Path::parent), &said_in)
        && said_in.parent() != Some(from)
    {
        let text = format!(
            "open({path:?}), written in {}, is resolved against {}, which calls it (as in k6); `import.meta.resolve()` \
             resolves against the file it is written in",
            said_in.display(),
            from.display()
        );
        vu.shard.say(Level::Warn, text, Vec::new());
    }
}

/// A file's bytes, seen from the file `from`, or from the script.
pub(crate) fn opened(ctx: &Ctx<'_>, vu: &Vu, from: Option<&Path>, path: &str) -> rquickjs::Result<Arc<[u8]>> {
    if path.is_empty() {
        return Err(go_error(ctx, "open() can't be used with an empty filename"));
    }
    let bundle = &vu.shard.common.bundle;
    let opened = bundle.open(&located(from.unwrap_or(&bundle.entry), path));
    opened.map_err(|why| go_error(ctx, &unopened(&why)))
}

/// Why a file cannot be opened, as Go words it.
fn unopened(why: &Unusable) -> String {
    match why {
        Unusable::Unread { specifier, kind: ErrorKind::IsADirectory, .. } => {
            format!("open() can't be used with directories, path: {specifier:?}")
        }
        Unusable::Unread { specifier, kind, cause } => {
            let does = if *kind == ErrorKind::NotFound { "stat" } else { "open" };
            let cause = cause.split(" (os error").next().unwrap_or_default().to_lowercase();
            format!("{does} {specifier}: {cause}")
        }
        other => other.to_string(),
    }
}
