//! Features of the language in which k6's engine differs from QuickJS, made as k6 has them.
//!
//! Each of these costs a user memory. A user therefore gets those that its script names (`interpreter::intrinsics`);
//! the first user, who reads the script gets them as soon as a file of it was read.

mod order;

use rquickjs::{Ctx, Function};

use crate::interpreter::Language;
use crate::modules::binding::own;
use crate::vu::Vu;

/// Gives an interpreter what of this is wanted.
pub(crate) fn speak(ctx: &Ctx<'_>, wanted: Language) -> rquickjs::Result<()> {
    if wanted.stack {
        let placed = Function::new(ctx.clone(), placed)?;
        own(ctx, "stack", include_str!("stack.js"))?.call::<_, ()>((placed,))?;
    }
    if wanted.dates {
        let zone = Function::new(ctx.clone(), zone)?;
        own(ctx, "dates", include_str!("dates.js"))?.call::<_, ()>((zone,))?;
    }
    if wanted.order {
        let compare =
            Function::new(ctx.clone(), |one: String, other: String| order::compare(&one, &other) as i32)?;
        own(ctx, "order", include_str!("order.js"))?.call::<_, ()>((compare,))?;
    }
    if wanted.functions {
        let text = |ctx: Ctx<'_>, file: String, line: usize, column: usize| {
            Vu::of(&ctx).shard.common.bundle.function_text(&file, line, column)
        };
        let text = Function::new(ctx.clone(), text)?;
        own(ctx, "functions", include_str!("functions.js"))?.call::<_, ()>((text,))?;
    }
    Ok(())
}

/// A place in a file, as stacks have it: that of the source, which may have other lines than what is run.
fn placed(ctx: Ctx<'_>, file: String, line: u32, column: u32) -> String {
    let (line, column) = Vu::of(&ctx).shard.common.bundle.place(&file, line, column);
    let scheme = if file.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{file}:{line}:{column}")
}

/// The local zone's name at a time in ms since 1970: `UTC`, `CEST`.
fn zone(at_ms: f64) -> String {
    let zone = jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC);
    // Beyond what is known of zones the one of 1970 is as good as any.
    let at = jiff::Timestamp::from_millisecond(at_ms as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    zone.to_offset_info(at).abbreviation().to_owned()
}
