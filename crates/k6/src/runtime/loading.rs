//! Modules and files, as imports and `require` find them.
//!
//! In k6, a name that a module or a CommonJS file lacks is undefined; QuickJS would refuse to link the import. So such an import
//! is resolved to a module of ours that has the missing names: it is called by the module's name and the names it lacks, a line
//! each.

use rquickjs::function::Args;
use rquickjs::loader::{Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Function, Module, Object, Value};
use std::path::Path;

use super::bundle::{Format, located};
use super::raw;
use super::vu::Vu;
use crate::{jslib, modules};

/// What a file of the test exports, whatever its format; run the first time somebody asks. A promise of it where the file
/// awaits something.
pub(super) fn imported<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(ctx);
    match vu.shard.common.bundle.unit(ctx, path)?.format {
        Format::Module => Ok(Module::import(ctx, path.display().to_string())?.into_value()),
        Format::CommonJs | Format::Json => common(ctx, path),
    }
}

/// `module.exports` of a CommonJS file, or the value of a JSON file.
pub(crate) fn common<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    if let Some(module) = Vu::of(ctx).kept.loaded.common(ctx, path)? {
        return module.get("exports");
    }
    let path = path.to_owned();
    let run = Function::new(ctx.clone(), move |ctx: Ctx<'js>| run(&ctx, &path))?;
    modules::as_required(ctx, run)
}

fn run<'js>(ctx: &Ctx<'js>, path: &Path) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(ctx);
    let unit = vu.shard.common.bundle.unit(ctx, path)?;
    let module = Object::new(ctx.clone())?;
    match unit.format {
        Format::Json => module.set("exports", ctx.json_parse(unit.bytecode.as_slice())?)?,
        Format::Module => {
            let promise = Module::import(ctx, path.display().to_string())?;
            let never = "a file that awaits at its top level cannot be required";
            let namespace = promise.finish::<Object<'_>>();
            vu.kept.rejections.forget();
            let namespace = namespace.map_err(|error| match error {
                rquickjs::Error::WouldBlock => {
                    vu.kept.loaded.leave_unfinished();
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
            vu.kept.loaded.keep_common(ctx, path, &module);
            let function = raw::run_script(ctx, &unit.bytecode)?;
            let function = function.into_function().ok_or(rquickjs::Error::Unknown)?;
            let mut args = Args::new(ctx.clone(), 2);
            args.this(exports.clone())?;
            args.push_arg(module.clone())?;
            args.push_arg(exports)?;
            return function.call_arg::<Value<'_>>(args).and_then(|_| module.get("exports"));
        }
    }
    vu.kept.loaded.keep_common(ctx, path, &module);
    module.get("exports")
}

/// Runs a source of ours; compiled once per test.
pub(crate) fn own_script<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> rquickjs::Result<Value<'js>> {
    let unit = Vu::of(ctx).shard.common.bundle.own(ctx, name, source)?;
    raw::run_script(ctx, &unit.bytecode)
}

/// Names of modules: k6's own, jslib's addresses, files.
pub(super) struct Specifiers;

impl Resolver for Specifiers {
    fn resolve<'js>(&mut self, ctx: &Ctx<'js>, base: &str, name: &str) -> rquickjs::Result<String> {
        if let Some(library) = jslib::named(name) {
            return Ok(library.to_owned());
        }
        let asked = Vu::of(ctx).shard.common.bundle.asked(Path::new(base), name);
        if modules::is_known(name) {
            return Ok(lacking(name, asked, |own| own == "default" || modules::has(name, own)));
        }
        if jslib::source(Path::new(name)).is_some() || name.contains("://") && !name.starts_with("file://") {
            return Ok(name.to_owned());
        }
        let path = located(Path::new(base), name);
        let resolved = path.display().to_string();
        if asked.is_empty() {
            return Ok(resolved);
        }
        if Vu::of(ctx).shard.common.bundle.unit(ctx, &path)?.format == Format::Module {
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
pub(super) struct Files;

impl Loader for Files {
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
        let bundle = &Vu::of(ctx).shard.common.bundle;
        let (of, lacks) = name.split_once('\n').unwrap_or((name, ""));
        if !lacks.is_empty() && modules::is_known(of) {
            let unit = bundle.stand_in(ctx, name, || Ok(completed(of, lacks)))?;
            return raw::load_module(ctx.clone(), &unit.bytecode);
        }
        if let Some(module) = modules::declared(ctx, of)? {
            return Ok(module);
        }
        let path = Path::new(of);
        let unit = bundle.unit(ctx, path)?;
        match unit.format {
            Format::Module => {
                let module = raw::load_module(ctx.clone(), &unit.bytecode)?;
                if unit.asks_meta {
                    modules::give_meta(&module.meta()?, path)?;
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
    let value = modules::value_of_lacking(module);
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
        "import {{ common }} from '{}';\nconst all = common({path});\nexport default all?.__esModule ? all.default : all;\n",
        modules::COMMON
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
