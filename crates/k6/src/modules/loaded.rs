//! The modules a user has: those of ours it asked for, and its CommonJS files.

use rquickjs::{Ctx, Function, Object, Persistent, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{BUILTINS, Builtin};
use crate::runtime::common;

/// What modules of ours that are written in JavaScript import; no name a script would think of.
pub(crate) const COMMON: &str = "sonagi:common";

pub(super) const MODULE: Builtin = Builtin {
    names: &[COMMON],
    exports: &["common", "uuid"],
    build: |ctx, object| {
        object.set("common", Function::new(ctx.clone(), exports)?)?;
        object.set("uuid", Function::new(ctx.clone(), super::crypto::uuid)?)
    },
};

fn exports<'js>(ctx: Ctx<'js>, path: String) -> rquickjs::Result<Value<'js>> {
    common(&ctx, Path::new(&path))
}

/// One user's.
#[derive(Default)]
pub(crate) struct Loaded {
    builtins: RefCell<[Option<Persistent<Object<'static>>>; BUILTINS.len()]>,
    commons: RefCell<HashMap<PathBuf, Persistent<Object<'static>>>>,
    is_unfinished: Cell<bool>,
}

impl Loaded {
    pub(super) fn builtin<'js>(&self, ctx: &Ctx<'js>, at: usize) -> rquickjs::Result<Option<Object<'js>>> {
        self.builtins.borrow()[at].clone().map(|object| object.restore(ctx)).transpose()
    }

    pub(super) fn keep_builtin<'js>(&self, ctx: &Ctx<'js>, at: usize, object: &Object<'js>) {
        self.builtins.borrow_mut()[at] = Some(Persistent::save(ctx, object.clone()));
    }

    /// The `module` object of a CommonJS file that was run, or is being run.
    pub(crate) fn common<'js>(&self, ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Option<Object<'js>>> {
        self.commons.borrow().get(path).cloned().map(|module| module.restore(ctx)).transpose()
    }

    pub(crate) fn keep_common<'js>(&self, ctx: &Ctx<'js>, path: &Path, module: &Object<'js>) {
        self.commons.borrow_mut().insert(path.to_owned(), Persistent::save(ctx, module.clone()));
    }

    /// A module stays where it awaits something.
    pub(crate) fn leave_unfinished(&self) {
        self.is_unfinished.set(true);
    }

    /// Whether one does.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unfinished.get()
    }

    pub(super) fn forget(&self) {
        self.builtins.take();
        self.commons.take();
    }
}
