//! `k6`: check, fail, group, sleep, randomSeed.

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Value};
use sonagi_measure::At;
use std::rc::Rc;

use crate::interpreter::go_error;
use crate::metrics::{SystemTag, builtin};
use crate::modules::binding::{Argument, Builtin, given_tags, is_true};
use crate::vu::{Phase, Vu};

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6"],
    exports: &["check", "fail", "group", "sleep", "randomSeed"],
    build: |ctx, object| {
        object.set("check", Function::new(ctx.clone(), check)?)?;
        object.set("fail", Function::new(ctx.clone(), fail)?)?;
        object.set("group", Function::new(ctx.clone(), group)?)?;
        object.set("sleep", Function::new(ctx.clone(), sleep)?)?;
        object.set("randomSeed", Function::new(ctx.clone(), random_seed)?)
    },
};

/// Every check is a sample of `checks`, 1 or 0; true when all hold.
fn check<'js>(
    ctx: Ctx<'js>,
    Argument(subject): Argument<'js>,
    checks: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> rquickjs::Result<bool> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(&ctx, "using check() in the init context is not supported"));
    }
    let none = || Exception::throw_type(&ctx, "Cannot convert undefined or null to object");
    let checks = checks.0.ok_or_else(|| go_error(&ctx, "no checks provided to `check`"))?;
    let checks =
        Some(checks).filter(|checks| !checks.is_undefined() && !checks.is_null()).ok_or_else(none)?;
    let tags = given_tags(&ctx, &vu.tags(), tags.0.as_ref())?;
    let mut all = true;
    for (name, check) in members(&checks)? {
        if name.contains("::") {
            return Err(go_error(&ctx, "group and check names may not contain '::'"));
        }
        if is_async(&check) {
            return Err(go_error(&ctx, NO_ASYNC_CHECKS));
        }
        let held = match check.as_function() {
            Some(function) => function.call::<_, Value<'js>>((subject.clone(),)),
            None => Ok(check),
        };
        let is_held = held.as_ref().is_ok_and(is_true);
        let tags = tags.with_automatic(&[(SystemTag::Check, name.trim())]);
        vu.observe(builtin::CHECKS, f64::from(u8::from(is_held)), &tags);
        held?;
        all &= is_held;
    }
    Ok(all)
}

const NO_ASYNC_CHECKS: &str = "the built-in check() does not support async functions as arguments. Use the JavaScript \
                               utils library as a replacement. Refer to \
                               https://grafana.com/docs/k6/latest/javascript-api/jslib/utils/check/ for more info";

/// The members of an object; a text is the object of its letters, and anything else has none.
fn members<'js>(value: &Value<'js>) -> rquickjs::Result<Vec<(String, Value<'js>)>> {
    if let Some(object) = value.as_object() {
        return object.props::<String, Value<'js>>().collect();
    }
    if !value.is_string() {
        return Ok(Vec::new());
    }
    let letters = value.get::<String>()?;
    let letter = |(at, letter): (usize, char)| {
        let text = rquickjs::String::from_str(value.ctx().clone(), letter.encode_utf8(&mut [0; 4]))?;
        Ok((at.to_string(), text.into_value()))
    };
    letters.chars().enumerate().map(letter).collect()
}

/// Whether it is a function that says `async`: what it returns is no answer yet.
fn is_async(value: &Value<'_>) -> bool {
    let tag =
        value.as_function().map(|function| function.get::<_, String>(PredefinedAtom::SymbolToStringTag));
    tag.is_some_and(|tag| tag.is_ok_and(|tag| tag.starts_with("Async")))
}

fn fail(ctx: Ctx<'_>, message: Opt<Coerced<String>>) -> rquickjs::Result<()> {
    Err(go_error(&ctx, &message.0.map_or_else(String::new, |text| text.0)))
}

/// Samples of everything that happens in the function carry the group's path.
fn group<'js>(
    ctx: Ctx<'js>,
    name: Opt<Coerced<String>>,
    function: Opt<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(&ctx, "using group() in the init context is not supported"));
    }
    let wrong = |what: &str| go_error(&ctx, what);
    let name = name.0.map_or_else(String::new, |name| name.0);
    if name.contains("::") {
        return Err(wrong("group and check names may not contain '::'"));
    }
    let function = function.0.and_then(Value::into_function);
    let function = function.ok_or_else(|| wrong("group() requires a callback as a second argument"))?;
    if is_async(&function) {
        return Err(wrong(
            "group() does not support async functions as arguments, please see \
             https://grafana.com/docs/k6/latest/javascript-api/k6/group/ for more info",
        ));
    }
    let outer = vu.group();
    // A group without a name and a group around it is none.
    let path = if outer.is_empty() && name.is_empty() { name } else { format!("{outer}::{}", name.trim()) };
    vu.set_group(&path);
    let begun = vu.now();
    let returned = function.call::<_, Value<'js>>(());
    let took = vu.now().since(begun);
    vu.observe(builtin::GROUP_DURATION, took as f64 / 1e6, &vu.tags());
    vu.set_group(&outer);
    returned
}

fn sleep(ctx: Ctx<'_>, seconds: Opt<Coerced<f64>>) -> rquickjs::Result<()> {
    let vu = Vu::of(&ctx);
    let until = vu.now().plus((seconds.0.map_or(0.0, |seconds| seconds.0).max(0.0) * 1e9) as i64);
    pause(&ctx, &vu, until)
}

pub(crate) fn pause(ctx: &Ctx<'_>, vu: &Rc<Vu>, until: At) -> rquickjs::Result<()> {
    vu.wait_for(ctx, vu.clock().sleep_until(until))
}

/// From here on `Math.random` gives the numbers that follow from the seed, the same ones in every run.
fn random_seed(ctx: Ctx<'_>, seed: Coerced<f64>) -> rquickjs::Result<()> {
    set_random(&ctx, fastrand::Rng::with_seed(seed.0 as i64 as u64))
}

/// Where `Math.random` takes its numbers from.
pub(crate) fn set_random(ctx: &Ctx<'_>, mut numbers: fastrand::Rng) -> rquickjs::Result<()> {
    let random = Function::new(ctx.clone(), rquickjs::function::MutFn::new(move || numbers.f64()))?;
    ctx.globals().get::<_, Object<'_>>("Math")?.set("random", random)
}
