//! `k6/x/socketio`: Socket.IO that its iteration waits for until it is over, as the extension of that name has it, with
//! acknowledgements. Its code stands in `socketio.js`, on [`super::ws`].

use rquickjs::{ArrayBuffer, Ctx, Function, Object, Value};

use crate::interpreter::go_error;
use crate::modules::binding::{Builtin, own};
use crate::modules::ws;
use crate::shard::Level;
use crate::vu::Vu;

pub(super) const MODULE: Builtin = Builtin { names: &["k6/x/socketio"], exports: &["io"], build };

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let fail = |ctx: Ctx<'js>, message: String| Err::<(), _>(go_error(&ctx, &message));
    let warn = |ctx: Ctx<'js>, url: String, why: String| {
        let fields = vec![("error", why), ("url", url)];
        Vu::of(&ctx).shard.say(Level::Warn, "Socket.IO session failed".to_owned(), fields);
    };
    let is_buffer =
        |value: Value<'js>| value.into_object().is_some_and(|it| ArrayBuffer::from_object(it).is_some());
    let connect = ws::connector(ctx, true)?;
    let make = own(ctx, "socketio", include_str!("socketio.js"))?;
    let io: Function<'js> = make.call((
        connect,
        Function::new(ctx.clone(), fail)?,
        Function::new(ctx.clone(), warn)?,
        Function::new(ctx.clone(), is_buffer)?,
        ctx.globals().get::<_, Value<'js>>("ArrayBuffer")?,
    ))?;
    object.set("io", io)
}
