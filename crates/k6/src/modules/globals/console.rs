//! `console`: what a script says goes to the log.

use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Value};

use super::inspect;
use crate::shard::Level;
use crate::vu::Vu;

pub(super) fn console<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let console = Object::new(ctx.clone())?;
    let levels = [
        ("log", Level::Info),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("warn", Level::Warn),
        ("error", Level::Error),
    ];
    for (name, level) in levels {
        let say = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            let texts: Vec<String> = values.iter().map(inspect::shown).collect();
            Vu::of(&ctx).shard.say(level, texts.join(" "), vec![("source", "console".to_owned())]);
        };
        console.set(name, Function::new(ctx.clone(), say)?)?;
    }
    Ok(console)
}
