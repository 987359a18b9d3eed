//! CommonJS and JSON files of a test, as `require` and imports find them: each is run once per user.

use rquickjs::function::Args;
use rquickjs::{Ctx, Function, Module, Object, Persistent, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::callers;
use super::units::unit;
use crate::bundle::Format;
use crate::interpreter::raw;
use crate::vu::Vu;

/// The files that one user has run: the `module` object of each.
#[derive(Default)]
pub(crate) struct CommonFiles(RefCell<HashMap<PathBuf, Persistent<Object<'static>>>>);

impl CommonFiles {
    /// The `module` object of a file that was run, or is being run.
    fn module<'js>(&self, ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Option<Object<'js>>> {
        self.0.borrow().get(path).cloned().map(|module| module.restore(ctx)).transpose()
    }

    fn keep<'js>(&self, ctx: &Ctx<'js>, path: &Path, module: &Object<'js>) {
        self.0.borrow_mut().insert(path.to_owned(), Persistent::save(ctx, module.clone()));
    }

    /// Releases all of them, before their interpreter is freed.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

/// `module.exports` of a CommonJS file, or the value of a JSON file.
pub(crate) fn common<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    if let Some(module) = Vu::of(ctx).module_state::<CommonFiles>().module(ctx, path)? {
        return module.get("exports");
    }
    let path = path.to_owned();
    let run = Function::new(ctx.clone(), move |ctx: Ctx<'js>| run(&ctx, &path))?;
    callers::required(ctx, run)
}

fn run<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(ctx);
    let files = vu.module_state::<CommonFiles>();
    let unit = unit(ctx, path)?;
    let module = Object::new(ctx.clone())?;
    match unit.format {
        Format::Json => module.set("exports", ctx.json_parse(unit.bytecode.as_slice())?)?,
        Format::Module => {
            let promise = Module::import(ctx, path.display().to_string())?;
            let never = "a file that awaits at its top level cannot be required";
            let namespace = promise.finish::<Object<'_>>();
            vu.rejections.forget();
            let namespace = namespace.map_err(|error| match error {
                rquickjs::Error::WouldBlock => {
                    vu.is_half_loaded.set(true);
                    rquickjs::Exception::throw_type(ctx, never)
                }
                error => error,
            });
            module.set("exports", namespace?)?;
        }
        Format::CommonJs => {
            let exports = Object::new(ctx.clone())?;
            module.set("exports", exports.clone())?;
            // Kept before it is run: files may require each other in a circle.
            files.keep(ctx, path, &module);
            let function = raw::run_script(ctx, &unit.bytecode)?;
            let function = function.into_function().ok_or(rquickjs::Error::Unknown)?;
            let mut args = Args::new(ctx.clone(), 2);
            args.this(exports.clone())?;
            args.push_arg(module.clone())?;
            args.push_arg(exports)?;
            return function.call_arg::<Value<'_>>(args).and_then(|_| module.get("exports"));
        }
    }
    files.keep(ctx, path, &module);
    module.get("exports")
}
