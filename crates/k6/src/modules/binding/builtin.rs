//! A module of ours, and the objects of those a user has asked for.

use rquickjs::{Ctx, Object, Persistent};
use std::cell::{Cell, RefCell};

use crate::interpreter::go_error;
use crate::vu::Vu;

/// A module of ours.
pub(crate) struct Builtin {
    /// The names scripts import it by.
    pub(crate) names: &'static [&'static str],
    /// Its exports but for `default`, which is the whole object.
    pub(crate) exports: &'static [&'static str],
    /// Fills the object.
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<()>,
}

/// The objects of the modules that one user has asked for, by the first name of each.
#[derive(Default)]
pub(crate) struct BuiltinObjects {
    all: Cell<&'static [Builtin]>,
    built: RefCell<Vec<(&'static str, Persistent<Object<'static>>)>>,
}

impl BuiltinObjects {
    /// The modules there are; said before a script runs.
    pub(crate) fn are(&self, all: &'static [Builtin]) {
        self.all.set(all);
    }

    /// Releases all objects, before their interpreter is freed.
    pub(crate) fn forget(&self) {
        self.built.take();
    }
}

/// The object of a module, the same one every time.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, builtin: &Builtin) -> rquickjs::Result<Object<'js>> {
    let objects = Vu::of(ctx).module_state::<BuiltinObjects>();
    let name = builtin.names[0];
    let known =
        objects.built.borrow().iter().find(|(known, _)| *known == name).map(|(_, object)| object.clone());
    if let Some(object) = known {
        return object.restore(ctx);
    }
    let object = Object::new(ctx.clone())?;
    (builtin.build)(ctx, &object)?;
    objects.built.borrow_mut().push((name, Persistent::save(ctx, object.clone())));
    Ok(object)
}

/// The object of a module that another module needs, by a name of it: so no module imports one that imports it.
pub(crate) fn object_of<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    let all = Vu::of(ctx).module_state::<BuiltinObjects>().all.get();
    match all.iter().find(|builtin| builtin.names.contains(&name)) {
        Some(builtin) => object(ctx, builtin),
        None => Err(go_error(ctx, &format!("unknown module: {name}"))),
    }
}
