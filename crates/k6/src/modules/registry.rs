//! The modules there are, by the names scripts import them by; `require`; and why a name leads nowhere.

use rquickjs::module::{Declarations, Declared, Exports, ModuleDef};
use rquickjs::{Ctx, Function, Module, Object, Value};
use std::path::Path;

use super::binding::{Builtin, object};
use super::files::{callers, common, not_loaded};
use super::{crypto, experimental, html, http, k6, socketio, sonagi, sse, stomp, websockets, ws};
use crate::bundle::located;
use crate::interpreter::go_error;
use crate::jslib;
use crate::shard::Level;
use crate::vu::{Phase, Vu};

/// All of them: one line adds one.
pub(crate) const BUILTINS: &[Builtin] = &[
    k6::basics::MODULE,
    http::MODULE,
    MODULE,
    k6::metrics::MODULE,
    k6::execution::MODULE,
    ws::MODULE,
    websockets::MODULE,
    sse::MODULE,
    socketio::MODULE,
    stomp::MODULE,
    sonagi::MODULE,
    k6::data::MODULE,
    k6::encoding::MODULE,
    k6::timers::MODULE,
    crypto::MODULE,
    crypto::web::MODULE,
    html::MODULE,
    k6::secrets::MODULE,
    experimental::FS,
    experimental::CSV,
    experimental::STREAMS,
];

/// The module that our own modules written in JavaScript import; no name a script would think of.
pub(crate) const COMMON: &str = "sonagi:common";

const MODULE: Builtin = Builtin {
    names: &[COMMON],
    exports: &["common", "uuid"],
    build: |ctx, object| {
        object.set("common", Function::new(ctx.clone(), exports)?)?;
        object.set("uuid", Function::new(ctx.clone(), crypto::uuid)?)
    },
};

fn exports<'js>(ctx: Ctx<'js>, path: String) -> rquickjs::Result<Value<'js>> {
    common(&ctx, Path::new(&path))
}

fn position(name: &str) -> Option<usize> {
    BUILTINS.iter().position(|builtin| builtin.names.contains(&name))
}

/// Whether a module of this name is ours.
pub(crate) fn is_known(name: &str) -> bool {
    position(name).is_some() || name == "k6" || name.starts_with("k6/")
}

/// Whether a module of ours exports this.
pub(crate) fn has(module: &str, name: &str) -> bool {
    position(module).is_some_and(|at| BUILTINS[at].exports.contains(&name))
}

/// Modules of k6 that are one object, of which a name it lacks is undefined; of the others' it is null.
const WHOLE: &[&str] = &["k6/http", "k6/ws", "k6/execution", "k6/html"];

/// The value that k6 gives a script for an imported name that the module lacks.
pub(crate) fn value_of_lacking(module: &str) -> &'static str {
    if WHOLE.contains(&module) || module.starts_with(EXTENSIONS) { "undefined" } else { "null" }
}

/// A module of ours by its place in [`BUILTINS`].
struct Of<const AT: usize>;

impl<const AT: usize> ModuleDef for Of<AT> {
    fn declare(declarations: &Declarations<'_>) -> rquickjs::Result<()> {
        for name in BUILTINS[AT].exports {
            declarations.declare(*name)?;
        }
        declarations.declare("default")?;
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> rquickjs::Result<()> {
        let object = object(ctx, &BUILTINS[AT])?;
        for name in BUILTINS[AT].exports {
            exports.export(*name, object.get::<_, Value<'_>>(*name)?)?;
        }
        let default =
            if object.contains_key("default")? { object.get("default")? } else { object.into_value() };
        exports.export("default", default)?;
        Ok(())
    }
}

/// Declares a module of ours to an interpreter.
type Declare = for<'js> fn(Ctx<'js>, &str) -> rquickjs::Result<Module<'js, Declared>>;

fn declare<'js, const AT: usize>(ctx: Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
    Module::declare_def::<Of<AT>, _>(ctx, name)
}

const DECLARE: [Declare; BUILTINS.len()] = [
    declare::<0>,
    declare::<1>,
    declare::<2>,
    declare::<3>,
    declare::<4>,
    declare::<5>,
    declare::<6>,
    declare::<7>,
    declare::<8>,
    declare::<9>,
    declare::<10>,
    declare::<11>,
    declare::<12>,
    declare::<13>,
    declare::<14>,
    declare::<15>,
    declare::<16>,
    declare::<17>,
    declare::<18>,
    declare::<19>,
    declare::<20>,
];

/// A module of ours; None: the name is a file's.
pub(crate) fn declared<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Option<Module<'js, Declared>>> {
    match position(name) {
        Some(at) => {
            deprecated(ctx, name);
            DECLARE[at](ctx.clone(), name).map(Some)
        }
        None if is_known(name) || name.contains("://") => Err(unknown(ctx, name)),
        None => Ok(None),
    }
}

/// Names that k6 will not know for ever, or knows no more, and what there is in their place.
const DEPRECATED: &[(&str, &str)] = &[
    ("k6/experimental/websockets", "is deprecated, k6/websockets is the same"),
    ("k6/experimental/timers", "is no module of k6 2.2 any more: timers are globals, without an import"),
    ("k6/experimental/webcrypto", "is no module of k6 2.2 any more: crypto is a global, without an import"),
];

/// Warns of such a name, once: the first user, who reads the script, is told.
fn deprecated(ctx: &Ctx<'_>, name: &str) {
    let shard = &Vu::of(ctx).shard;
    let why = DEPRECATED.iter().find(|(own, _)| *own == name);
    if let Some((_, why)) = why.filter(|_| !shard.common.bundle.is_closed()) {
        shard.say(Level::Warn, format!("{name} {why}"), Vec::new());
    }
}

/// Modules of k6 that are not there on purpose, and why.
const ABSENT: &[(&str, &str)] = &[
    ("k6/browser", "Sonagi drives no browser"),
    ("k6/experimental/browser", "Sonagi drives no browser"),
    ("k6/net/grpc", "Sonagi speaks no gRPC"),
    ("k6/experimental/grpc", "Sonagi speaks no gRPC"),
    ("k6/experimental/redis", "Sonagi is no client of Redis"),
];

/// The beginning of the names of extensions.
const EXTENSIONS: &str = "k6/x/";

fn unknown(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    not_loaded(ctx, &why_unknown(name))
}

fn why_unknown(name: &str) -> String {
    if name.contains("://") {
        return jslib::unloaded(name);
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!(
            "{name} is not supported: {why}\nhint: if you miss it, say so in Sonagi's issue tracker"
        );
    }
    let known = |is_extension: bool| {
        let known = BUILTINS.iter().flat_map(|builtin| builtin.names).copied();
        let known = known.filter(|name| !name.starts_with("sonagi:"));
        known.filter(|name| name.starts_with(EXTENSIONS) == is_extension).collect::<Vec<_>>().join(", ")
    };
    if name.starts_with(EXTENSIONS) {
        return format!(
            "{name} is an extension of k6 (xk6), which Sonagi does not support: they are written in Go\nhint: built in \
             are {}; anything else must come from a JavaScript file beside the script",
            known(true)
        );
    }
    format!("unknown module: {name}\nhint: there are {}, {}", known(false), known(true))
}

/// `require`, for all files: names are seen from the one it is called in.
pub(crate) fn require<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
    Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| required(&ctx, &name))?.with_name("require")
}

fn required<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(ctx);
    if vu.phase.get() != Phase::Init {
        let rule = r#"the "require" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle for more information"#;
        return Err(go_error(ctx, rule));
    }
    if let Some(library) = jslib::named(name) {
        return common(ctx, Path::new(library));
    }
    match position(name) {
        Some(at) => {
            deprecated(ctx, name);
            object(ctx, &BUILTINS[at]).map(Object::into_value)
        }
        None if is_known(name) || name.contains("://") && !name.starts_with("file://") => {
            Err(unknown(ctx, name))
        }
        None => {
            let from = callers::innermost(ctx).unwrap_or_else(|| vu.shard.common.bundle.entry.clone());
            common(ctx, &located(&from, name))
        }
    }
}
