//! What a script can import: k6's modules, and the globals that are there without.
//!
//! A module is an object that is built when a script first asks for it, by one function per file of this folder; importing
//! takes its members as names, requiring gives the object itself.

mod callers;
mod crypto;
pub(crate) mod data;
pub(crate) mod delivery;
mod encoding;
pub(crate) mod execution;
mod experimental;
mod given;
mod globals;
mod html;
pub(crate) mod http;
mod inspect;
mod k6;
mod language;
mod loaded;
mod meta;
mod metrics;
mod own;
mod record;
mod secrets;
mod socket;
mod socketio;
mod sonagi;
mod sse;
mod stomp;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod timers;
mod websockets;
mod ws;

use rquickjs::module::{Declarations, Declared, Exports, ModuleDef};
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Module, Object, Value};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use crate::jslib;
use crate::metrics::Tags;
use crate::runtime::{Phase, Rejections, Vu, common, located};
use crate::shard::{Level, Shard};
pub(crate) use callers::required as as_required;
pub(crate) use language::speak;
pub(crate) use loaded::COMMON;
use loaded::Loaded;
pub(crate) use socket::Mails;
pub(crate) use stomp::Session as StompSession;

pub(crate) use globals::{environment, globals};
pub(crate) use meta::give_meta;

/// A module of ours.
pub(crate) struct Builtin {
    /// As scripts import it.
    names: &'static [&'static str],
    /// What it exports, `default` apart, which is the whole object.
    exports: &'static [&'static str],
    /// Fills the object.
    build: for<'js> fn(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<()>,
}

/// All of them: one line adds one.
const BUILTINS: &[Builtin] = &[
    k6::MODULE,
    http::MODULE,
    loaded::MODULE,
    metrics::MODULE,
    execution::MODULE,
    ws::MODULE,
    websockets::MODULE,
    sse::MODULE,
    socketio::MODULE,
    stomp::MODULE,
    sonagi::MODULE,
    data::MODULE,
    encoding::MODULE,
    timers::MODULE,
    crypto::MODULE,
    crypto::web::MODULE,
    html::MODULE,
    secrets::MODULE,
    experimental::FS,
    experimental::CSV,
    experimental::STREAMS,
];

/// Names and values of `__ENV`.
pub(crate) type Variables = Rc<[(String, String)]>;

/// What modules keep of one user.
pub(crate) struct Kept {
    pub(crate) rejections: Rejections,
    /// Why the last file or module that could not be had could not.
    pub(crate) unloaded: RefCell<Option<String>>,
    pub(crate) loaded: Loaded,
    /// `test.abort()` was called, with this reason.
    pub(crate) aborted: RefCell<Option<String>>,
    pub(crate) timers: globals::Timers,
    /// What the scenario of the next iteration adds to `__ENV`, when it is another one than the last iteration's.
    pub(crate) environment: RefCell<Option<Variables>>,
    pub(crate) http: http::Kept,
    pub(crate) traffic: Traffic,
    pub(crate) execution: execution::Kept,
    pub(crate) delivery: delivery::Kept,
    /// What samples are tagged with now.
    pub(crate) tags: RefCell<Tags>,
    /// The path of the group under way, `::a::b`.
    pub(crate) group: RefCell<String>,
}

/// Bytes that went over a user's connections since its iteration began.
#[derive(Default)]
pub(crate) struct Traffic(Cell<(u64, u64)>);

impl Traffic {
    /// Adds bytes sent and received.
    pub(crate) fn add(&self, sent: u64, received: u64) {
        let (before, until) = self.0.get();
        self.0.set((before + sent, until + received));
    }

    /// All since this was asked last.
    pub(crate) fn take(&self) -> (u64, u64) {
        self.0.take()
    }
}

impl Kept {
    pub(crate) fn new(shard: &Rc<Shard>) -> Kept {
        Kept {
            rejections: Rejections::default(),
            unloaded: RefCell::default(),
            loaded: Loaded::default(),
            aborted: RefCell::default(),
            timers: globals::Timers::default(),
            environment: RefCell::default(),
            http: http::Kept::default(),
            traffic: Traffic::default(),
            execution: execution::Kept::default(),
            delivery: delivery::Kept::default(),
            tags: RefCell::new(shard.tags.clone()),
            group: RefCell::default(),
        }
    }
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

/// What k6 gives who imports a name that the module lacks.
pub(crate) fn value_of_lacking(module: &str) -> &'static str {
    if WHOLE.contains(&module) || module.starts_with(EXTENSIONS) { "undefined" } else { "null" }
}

/// The module's object, the same one every time.
fn object<'js>(ctx: &Ctx<'js>, at: usize) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if let Some(object) = vu.kept.loaded.builtin(ctx, at)? {
        return Ok(object);
    }
    let object = Object::new(ctx.clone())?;
    (BUILTINS[at].build)(ctx, &object)?;
    vu.kept.loaded.keep_builtin(ctx, at, &object);
    Ok(object)
}

/// The object of a module of ours that another one needs.
fn built<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    match position(name) {
        Some(at) => object(ctx, at),
        None => Err(unknown(ctx, name)),
    }
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
        let object = object(ctx, AT)?;
        for name in BUILTINS[AT].exports {
            exports.export(*name, object.get::<_, Value<'_>>(*name)?)?;
        }
        let default =
            if object.contains_key("default")? { object.get("default")? } else { object.into_value() };
        exports.export("default", default)?;
        Ok(())
    }
}

/// What makes a module of ours known to an interpreter.
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

/// Who reads the script first is told of such a name.
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

/// What names of extensions begin with.
const EXTENSIONS: &str = "k6/x/";

fn unknown(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    unloaded(ctx, &why_unknown(name), go_error)
}

/// An error that says why something cannot be had, thrown by `throw`; a script that nobody catches it in cannot be run.
pub(crate) fn unloaded(
    ctx: &Ctx<'_>,
    why: &str,
    throw: impl FnOnce(&Ctx<'_>, &str) -> rquickjs::Error,
) -> rquickjs::Error {
    Vu::of(ctx).kept.unloaded.replace(Some(why.to_owned()));
    throw(ctx, why)
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
            "{name} is an extension of k6 (xk6), which Sonagi does not support: they are written in Go\nhint: built in are {}; anything else must come from a JavaScript file beside the script",
            known(true)
        );
    }
    format!("unknown module: {name}\nhint: there are {}, {}", known(false), known(true))
}

/// `require`, for all files: names are seen from the one it is called in.
fn require<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
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
            object(ctx, at).map(Object::into_value)
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

/// What an iteration leaves is put away.
#[inline(never)]
pub(crate) fn end_iteration(_: &Ctx<'_>, vu: &Rc<Vu>) {
    vu.events.end(vu);
    vu.kept.timers.forget(&vu.shard);
    vu.kept.http.end_iteration(vu);
    vu.kept.rejections.forget();
    delivery::end_iteration(vu);
}

/// All values of the interpreter are let go of, before it goes itself.
pub(crate) fn forget(ctx: &Ctx<'_>, vu: &Rc<Vu>) {
    end_iteration(ctx, vu);
    vu.events.forget(vu);
    delivery::end(vu);
    vu.kept.loaded.forget();
    vu.kept.http.forget();
    vu.kept.execution.forget();
}

/// An error as k6's own functions throw it: `instanceof Error`, and its name is `GoError`.
pub(crate) fn go_error(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    let named = Exception::from_message(ctx.clone(), message).and_then(|exception| {
        exception.as_object().prop("name", Property::from("GoError").writable().configurable())?;
        Ok(exception)
    });
    match named {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

/// Nothing in the value can be written over any more.
fn freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<()> {
    if !value.is_object() {
        return Ok(());
    }
    let class: Object<'js> = ctx.globals().get("Object")?;
    let freeze: Function<'js> = class.get("freeze")?;
    // Values may be nested deeper than a fiber's stack is.
    let mut waiting = vec![value.clone()];
    while let Some(value) = waiting.pop() {
        let Some(object) = value.as_object() else { continue };
        freeze.call::<_, ()>((object.clone(),))?;
        for member in object.values::<Value<'js>>() {
            waiting.push(member?);
        }
    }
    Ok(())
}
