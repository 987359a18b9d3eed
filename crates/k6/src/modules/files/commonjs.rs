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
            let namespace = promise.finish::<Object<'_>>();
            vu.rejections.forget();
            let namespace = match namespace {
                Err(rquickjs::Error::WouldBlock) => unfinished_namespace(ctx, path),
                settled => settled,
            };
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

/// The exports of a module that still awaits something at its top level. As in k6, those it has not come to yet throw a
/// `ReferenceError` when they are looked at. They are had from a module that imports all of them: it need not be
/// evaluated for that.
fn unfinished_namespace<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Object<'js>> {
    let (name, path) = (format!("sonagi:required {}", path.display()), path.display().to_string());
    let code = format!("import * as all from {};\nexport {{ all }};", serde_json::Value::from(path));
    let (importing, _) = Module::declare(ctx.clone(), name, code)?.eval()?;
    importing.namespace()?.get("all")
}
