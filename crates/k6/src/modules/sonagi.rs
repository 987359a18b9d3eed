//! `k6/x/sonagi`: what a script tells the delivery ledger, as `room:` and `{{ $stamp }}` do in YAML.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Value};
use sonagi_engine::delivery::Manner;
use std::rc::Rc;

use super::delivery;
use crate::interpreter::go_error;
use crate::metrics;
use crate::modules::binding::{Builtin, is_true};
use crate::vu::{Phase, Vu};

pub(super) const MODULE: Builtin =
    Builtin { names: &["k6/x/sonagi"], exports: &["join", "leave", "stamp"], build };

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let vu = Vu::of(ctx);
    for (name, kind, unit) in metrics::delivery::all() {
        let added = vu.shard.common.registry.add(name, kind, unit);
        added.map_err(|why| go_error(ctx, &why.to_string()))?;
    }
    vu.shard.tracks.set(true);
    object.set("join", Function::new(ctx.clone(), join)?)?;
    object.set("leave", Function::new(ctx.clone(), leave)?)?;
    object.set("stamp", Function::new(ctx.clone(), stamp)?)
}

/// `join(room, [options])`
fn join<'js>(ctx: Ctx<'js>, room: Opt<Value<'js>>, options: Opt<Value<'js>>) -> rquickjs::Result<()> {
    let (vu, room) = given(&ctx, "join", room)?;
    let [resumes, polls] = switches(&ctx, "join", ["resume", "polling"], options)?;
    delivery::join(&vu, &room, Manner { resumes, polls });
    Ok(())
}

/// `leave(room, [options])`
fn leave<'js>(ctx: Ctx<'js>, room: Opt<Value<'js>>, options: Opt<Value<'js>>) -> rquickjs::Result<()> {
    let (vu, room) = given(&ctx, "leave", room)?;
    let [drains] = switches(&ctx, "leave", ["drain"], options)?;
    delivery::leave(&vu, &room, drains);
    Ok(())
}

/// Which of the options are on.
fn switches<'js, const N: usize>(
    ctx: &Ctx<'js>,
    function: &str,
    names: [&str; N],
    options: Opt<Value<'js>>,
) -> rquickjs::Result<[bool; N]> {
    let mut on = [false; N];
    let Some(options) = options.0.filter(|options| !options.is_undefined() && !options.is_null()) else {
        return Ok(on);
    };
    let wrong = |why: String| go_error(ctx, &format!("{function}(room, options): {why}"));
    let Some(options) = options.as_object() else {
        return Err(wrong(format!("options are an object, as {{ {}: true }}", names[0])));
    };
    for member in options.props::<String, Value<'js>>() {
        let (name, value) = member?;
        match names.iter().position(|known| *known == name) {
            Some(at) => on[at] = is_true(&value),
            None => {
                return Err(wrong(format!("there is no option {name}, there is {}", names.join(" and "))));
            }
        }
    }
    Ok(on)
}

/// `stamp(room)`: a text for the message.
fn stamp<'js>(ctx: Ctx<'js>, room: Opt<Value<'js>>) -> rquickjs::Result<String> {
    let (vu, room) = given(&ctx, "stamp", room)?;
    let mut text = String::new();
    delivery::draw(&vu, &room).write(&mut text);
    Ok(text)
}

/// The room's name. Rooms are for those who iterate: what setup sends is owed to nobody, for nobody is there yet.
fn given<'js>(ctx: &Ctx<'js>, function: &str, room: Opt<Value<'js>>) -> rquickjs::Result<(Rc<Vu>, String)> {
    let vu = Vu::of(ctx);
    if vu.phase.get() != Phase::Iteration {
        let why = "is for iterations: there are no rooms in init code, setup, teardown and handleSummary";
        return Err(go_error(ctx, &format!("{function}() {why}")));
    }
    let name = room.0.filter(|room| room.is_string() || room.is_number());
    let name = name.map(|room| room.get::<Coerced<String>>()).transpose()?.map(|name| name.0);
    match name.filter(|name| !name.is_empty()) {
        Some(name) => Ok((vu, name)),
        None => Err(go_error(ctx, &format!("{function}(room): a room has a name, a text or a number"))),
    }
}
