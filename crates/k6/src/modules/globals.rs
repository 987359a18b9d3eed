//! What a script has without importing it.

use rquickjs::function::{Opt, Rest};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Persistent, Value};
use sonagi_measure::At;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use super::{callers, crypto, go_error, inspect, k6, language, require, text};
use crate::runtime::{Phase, Unusable, Vu, located};
use crate::shard::{Level, Shard};

/// The longest delay of a timer; a longer one fires then, an endless one too.
const LONGEST_MS: f64 = 1e12;

/// Timers by the number the script knows them by.
#[derive(Default)]
pub(crate) struct Timers {
    last: std::cell::Cell<u32>,
    running: RefCell<HashMap<u32, Running>>,
}

/// A timer that has not fired for the last time.
#[derive(Clone, Copy)]
struct Running {
    key: (At, u32),
    repeats: bool,
}

impl Timers {
    /// What still runs when an iteration ends was cut off with it, and k6 says so.
    pub(super) fn forget(&self, shard: &Shard) {
        let running = self.running.take();
        let mut numbers: Vec<(bool, u32)> =
            running.iter().map(|(number, timer)| (!timer.repeats, *number)).collect();
        numbers.sort_unstable();
        for (is_single, number) in numbers {
            let name = if is_single { "setTimeout" } else { "setInterval" };
            let text = format!("{name} {number} was stopped because the VU iteration was interrupted");
            shard.say(Level::Warn, text, Vec::new());
        }
    }
}

/// Gives a new interpreter its globals.
pub(crate) fn globals(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let (vu, globals) = (Vu::of(ctx), ctx.globals());
    let wanted = vu.shard.common.bundle.intrinsics();
    if wanted.crypto {
        on_demand(&globals, "crypto", crypto::web::crypto)?;
    }
    if wanted.text {
        on_demand(&globals, "TextEncoder", text::encoder)?;
        on_demand(&globals, "TextDecoder", text::decoder)?;
    }
    if wanted.random {
        k6::set_random(ctx, fastrand::Rng::new())?;
    }
    // Who reads the script learns what it says as it goes.
    if vu.shard.common.bundle.is_closed() {
        language::speak(ctx, wanted.language)?;
    }
    if !vu.shard.common.without_global {
        globals.prop("global", Property::from(globals.clone()).writable().enumerable().configurable())?;
    }
    globals.set("__VU", vu.number as f64)?;
    environment(ctx, &[])?;
    globals.set("console", console(ctx)?)?;
    globals.set("open", Function::new(ctx.clone(), open)?)?;
    globals.set("require", require(ctx)?)?;
    globals.set("setTimeout", Function::new(ctx.clone(), set_timeout)?)?;
    globals.set("setInterval", Function::new(ctx.clone(), set_interval)?)?;
    let clear = Function::new(ctx.clone(), clear)?;
    globals.set("clearTimeout", clear.clone())?;
    globals.set("clearInterval", clear)
}

/// `__ENV`, with what a scenario adds to it.
#[inline(never)]
pub(crate) fn environment(ctx: &Ctx<'_>, more: &[(String, String)]) -> rquickjs::Result<()> {
    let environment = Object::new(ctx.clone())?;
    for (name, value) in Vu::of(ctx).shard.common.environment.iter().chain(more) {
        environment.set(&**name, &**value)?;
    }
    ctx.globals().set("__ENV", environment)
}

/// Makes a global.
type Make = for<'js> fn(&Ctx<'js>) -> rquickjs::Result<Value<'js>>;

/// A global that is made when a script first looks at it.
fn on_demand<'js>(globals: &Object<'js>, name: &'static str, make: Make) -> rquickjs::Result<()> {
    let keep = move |ctx: &Ctx<'js>, value: Value<'js>| {
        ctx.globals().prop(name, Property::from(value).writable().configurable())
    };
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?;
        keep(&ctx, value.clone())?;
        Ok::<_, rquickjs::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| keep(&ctx, value);
    globals.prop(name, Accessor::new(get, set).configurable())
}

fn console<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let console = Object::new(ctx.clone())?;
    let levels = [
        ("log", Level::Info),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("warn", Level::Warn),
        ("error", Level::Error),
    ];
    for (name, level) in levels {
        let say = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            let texts: Vec<String> = values.iter().map(inspect::shown).collect();
            Vu::of(&ctx).shard.say(level, texts.join(" "), vec![("source", "console".to_owned())]);
        };
        console.set(name, Function::new(ctx.clone(), say)?)?;
    }
    Ok(console)
}

/// A file's text, or with `b` its bytes. Init code only.
fn open<'js>(ctx: Ctx<'js>, path: String, mode: Opt<String>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() != Phase::Init {
        let rule = r#"the "open" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle for more information"#;
        return Err(go_error(&ctx, rule));
    }
    let from = callers::outermost(&ctx);
    warn_of_another_folder(&ctx, &vu, &path, from.as_deref());
    let bytes = opened(&ctx, &vu, from.as_deref(), &path)?;
    if mode.0.as_deref() == Some("b") {
        return Ok(rquickjs::ArrayBuffer::new_copy(ctx, &bytes)?.into_value());
    }
    Ok(rquickjs::String::from_str(ctx, &String::from_utf8_lossy(&bytes))?.into_value())
}

/// A file is opened from another folder than that of the code that says so: whoever reads the script first is told, as k6 has it.
fn warn_of_another_folder(ctx: &Ctx<'_>, vu: &Vu, path: &str, from: Option<&Path>) {
    if vu.shard.common.bundle.is_closed() || path.starts_with('/') || path.starts_with("file://") {
        return;
    }
    let said_in = callers::innermost(ctx);
    if let (Some(from), Some(said_in)) = (from.and_then(Path::parent), &said_in)
        && said_in.parent() != Some(from)
    {
        let text = format!(
            "open({path:?}), written in {}, is resolved against {}, which calls it (as in k6); `import.meta.resolve()` resolves against the file it is written in",
            said_in.display(),
            from.display()
        );
        vu.shard.say(Level::Warn, text, Vec::new());
    }
}

/// A file's bytes, seen from the file `from`, or from the script.
pub(super) fn opened(ctx: &Ctx<'_>, vu: &Vu, from: Option<&Path>, path: &str) -> rquickjs::Result<Arc<[u8]>> {
    if path.is_empty() {
        return Err(go_error(ctx, "open() can't be used with an empty filename"));
    }
    let bundle = &vu.shard.common.bundle;
    let opened = bundle.open(&located(from.unwrap_or(&bundle.entry), path));
    opened.map_err(|why| go_error(ctx, &unopened(&why)))
}

/// Why a file cannot be opened, as Go words it.
fn unopened(why: &Unusable) -> String {
    match why {
        Unusable::Unread { specifier, kind: ErrorKind::IsADirectory, .. } => {
            format!("open() can't be used with directories, path: {specifier:?}")
        }
        Unusable::Unread { specifier, kind, cause } => {
            let does = if *kind == ErrorKind::NotFound { "stat" } else { "open" };
            let cause = cause.split(" (os error").next().unwrap_or_default().to_lowercase();
            format!("{does} {specifier}: {cause}")
        }
        other => other.to_string(),
    }
}

/// What a timer calls, and with what.
#[derive(Clone)]
struct Callback {
    function: Persistent<Function<'static>>,
    arguments: Vec<Persistent<Value<'static>>>,
    number: u32,
    /// An interval: the time between the end of a call and the next one.
    every_ns: Option<i64>,
}

fn set_timeout<'js>(
    ctx: Ctx<'js>,
    function: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
) -> rquickjs::Result<u32> {
    start(&ctx, "setTimeout", function, delay, arguments, false)
}

fn set_interval<'js>(
    ctx: Ctx<'js>,
    function: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
) -> rquickjs::Result<u32> {
    start(&ctx, "setInterval", function, delay, arguments, true)
}

fn start<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    function: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
    repeats: bool,
) -> rquickjs::Result<u32> {
    let vu = Vu::of(ctx);
    let Some(function) = function.0.filter(|given| !given.is_undefined() && !given.is_null()) else {
        return Err(go_error(ctx, &format!("{name}'s callback isn't a callable function")));
    };
    let wrong = || Exception::throw_type(ctx, &format!("{name}'s callback must be a function"));
    let function = function.into_function().ok_or_else(wrong)?;
    let ms = delay.0.map_or(0.0, |delay| delay.0);
    let ns = if ms > 0.0 { (ms.min(LONGEST_MS) * 1e6) as i64 } else { 0 };
    let timers = &vu.kept.timers;
    timers.last.set(timers.last.get() + 1);
    let callback = Callback {
        function: Persistent::save(ctx, function),
        arguments: arguments.0.into_iter().map(|value| Persistent::save(ctx, value)).collect(),
        number: timers.last.get(),
        every_ns: repeats.then_some(ns.max(1_000_000)),
    };
    let number = callback.number;
    schedule(&vu, ns, callback);
    Ok(number)
}

fn schedule(vu: &Rc<Vu>, in_ns: i64, callback: Callback) {
    let (number, repeats) = (callback.number, callback.every_ns.is_some());
    let key = vu.events.at(vu.now().plus(in_ns), Box::new(move |ctx, vu| fire(ctx, vu, callback)));
    vu.kept.timers.running.borrow_mut().insert(number, Running { key, repeats });
}

fn fire(ctx: &Ctx<'_>, vu: &Rc<Vu>, callback: Callback) -> rquickjs::Result<()> {
    let Callback { function, arguments, number, every_ns } = callback.clone();
    if every_ns.is_none() {
        vu.kept.timers.running.borrow_mut().remove(&number);
    }
    let mut args = rquickjs::function::Args::new(ctx.clone(), arguments.len());
    for argument in arguments {
        args.push_arg(argument.restore(ctx)?)?;
    }
    function.restore(ctx)?.call_arg::<Value<'_>>(args)?;
    // It may have stopped itself.
    if let Some(ns) = every_ns.filter(|_| vu.kept.timers.running.borrow().contains_key(&number)) {
        schedule(vu, ns, callback);
    }
    Ok(())
}

fn clear(ctx: Ctx<'_>, number: Opt<Coerced<f64>>) {
    let vu = Vu::of(&ctx);
    let number = number.0.map_or(0, |number| number.0 as u32);
    let timer = vu.kept.timers.running.borrow_mut().remove(&number);
    timer.into_iter().for_each(|timer| vu.events.take_back(timer.key));
}
