//! `k6/x/socketio`: Socket.IO that its iteration waits for until it is over, as the extension of that name has it, with
//! acknowledgements. What it does stands in `socketio.js`, on [`super::ws`].

use rquickjs::{Ctx, Function, Object};

use super::own::own;
use super::{Builtin, go_error, ws};

pub(super) const MODULE: Builtin = Builtin { names: &["k6/x/socketio"], exports: &["io"], build };

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let fail = |ctx: Ctx<'js>, message: String| Err::<(), _>(go_error(&ctx, &message));
    let connect = ws::connector(ctx, true)?;
    let make = own(ctx, "socketio", include_str!("socketio.js"))?;
    object.set("io", make.call::<_, Function<'js>>((connect, Function::new(ctx.clone(), fail)?))?)
}
