//! Modules and files, as imports and `require` find them.
//!
//! In k6, a name that a module or a CommonJS file lacks is undefined; QuickJS would refuse to link the import. Such an
//! import is therefore resolved to a module of ours that has the missing names. It is called by the module's name and
//! the names it lacks, a line each.

use rquickjs::loader::{Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Value};
use std::path::Path;

use crate::bundle::{Format, located};
use crate::interpreter::raw;
use crate::jslib;
use crate::modules::files::{common, give_meta, unit};
use crate::modules::registry;
use crate::vu::Vu;

/// The exports of a file of the test, whatever its format; run the first time somebody asks. A promise of them where
/// the file awaits something.
pub(super) fn imported<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    match unit(ctx, path)?.format {
        Format::Module => Ok(Module::import(ctx, path.display().to_string())?.into_value()),
        Format::CommonJs | Format::Json => common(ctx, path),
    }
}

/// Names of modules: k6's own, jslib's addresses, files.
pub(super) struct Specifiers;

impl Resolver for Specifiers {
    fn resolve<'js>(&mut self, ctx: &Ctx<'js>, base: &str, name: &str) -> rquickjs::Result<String> {
        if let Some(library) = jslib::named(name) {
            return Ok(library.to_owned());
        }
        let asked = Vu::of(ctx).shard.common.bundle.asked(Path::new(base), name);
        if registry::is_known(name) {
            return Ok(lacking(name, asked, |own| own == "default" || registry::has(name, own)));
        }
        if jslib::source(Path::new(name)).is_some() || name.contains("://") && !name.starts_with("file://") {
            return Ok(name.to_owned());
        }
        let path = located(Path::new(base), name);
        let resolved = path.display().to_string();
        if asked.is_empty() {
            return Ok(resolved);
        }
        if unit(ctx, &path)?.format == Format::Module {
            return Ok(resolved);
        }
        let exports = common(ctx, &path)?;
        let exports = exports.as_object();
        let has = |own: &str| exports.is_some_and(|all| all.contains_key(own).unwrap_or(false));
        Ok(lacking(&resolved, asked, |own| own == "default" || has(own)))
    }
}

/// A module's name, and behind it those that are asked of it and that it has not.
fn lacking(module: &str, asked: Vec<String>, has: impl Fn(&str) -> bool) -> String {
    let lacks = asked.into_iter().filter(|name| !has(name));
    std::iter::once(module.to_owned()).chain(lacks).collect::<Vec<_>>().join("\n")
}

/// Modules by their resolved names.
pub(super) struct ModuleLoader;

impl Loader for ModuleLoader {
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
        let bundle = &Vu::of(ctx).shard.common.bundle;
        let (of, lacks) = name.split_once('\n').unwrap_or((name, ""));
        if !lacks.is_empty() && registry::is_known(of) {
            let unit = bundle.stand_in(ctx, name, || Ok(completed(of, lacks)))?;
            return raw::load_module(ctx.clone(), &unit.bytecode);
        }
        if let Some(module) = registry::declared(ctx, of)? {
            return Ok(module);
        }
        let path = Path::new(of);
        let unit = unit(ctx, path)?;
        match unit.format {
            Format::Module => {
                let module = raw::load_module(ctx.clone(), &unit.bytecode)?;
                if unit.awaits {
                    Vu::of(ctx).has_awaiting_modules.set(true);
                }
                if unit.asks_meta {
                    give_meta(&module.meta()?, path)?;
                }
                Ok(module)
            }
            Format::CommonJs | Format::Json => {
                let key = format!("sonagi:common {name}");
                let unit = bundle.stand_in(ctx, &key, || stand_in(&common(ctx, path)?, of, lacks))?;
                raw::load_module(ctx.clone(), &unit.bytecode)
            }
        }
    }
}

/// A module of ours with names it lacks, a line each.
fn completed(module: &str, lacks: &str) -> String {
    let from = serde_json::Value::from(module);
    let value = registry::value_of_lacking(module);
    let mut code =
        format!("export * from {from};\nexport {{ default }} from {from};\nconst none = {value};\n");
    for name in lacks.lines() {
        code.push_str(&format!("export {{ none as {} }};\n", serde_json::Value::from(name)));
    }
    code
}

/// A module whose names are the members of a CommonJS file's exports, as they are once it has run, and those it lacks.
fn stand_in(exports: &Value<'_>, path: &str, lacks: &str) -> rquickjs::Result<String> {
    let path = serde_json::Value::from(path);
    let mut code = format!(
        "import {{ common }} from '{}';\nconst all = common({path});\nexport default all?.__esModule ? all.default : \
         all;\n",
        registry::COMMON
    );
    let own =
        exports.as_object().map(|exports| exports.keys::<String>().collect()).unwrap_or(Ok(Vec::new()))?;
    let names = own.into_iter().chain(lacks.lines().map(str::to_owned)).filter(|name| name != "default");
    for (at, name) in names.enumerate() {
        let name = serde_json::Value::from(name);
        code.push_str(&format!("const name{at} = all?.[{name}];\nexport {{ name{at} as {name} }};\n"));
    }
    Ok(code)
}
