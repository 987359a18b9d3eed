//! `k6`: check, fail, group, sleep, randomSeed.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Value};
use sonagi_measure::At;
use std::rc::Rc;

use super::tags::given_tags;
use super::{Builtin, go_error};
use crate::metrics::{SystemTag, builtin};
use crate::runtime::{Phase, Vu};

pub(super) const MODULE: Builtin = Builtin {
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
    subject: Value<'js>,
    checks: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> rquickjs::Result<bool> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(&ctx, "using check() in the init context is not supported"));
    }
    let none = || Exception::throw_type(&ctx, "Cannot convert undefined or null to object");
    let checks = checks.0.filter(|checks| !checks.is_undefined() && !checks.is_null()).ok_or_else(none)?;
    // A text or a number has no members worth checking.
    let Some(checks) = checks.into_object() else { return Ok(true) };
    let tags = given_tags(&ctx, &vu.tags(), tags.0.as_ref())?;
    let mut all = true;
    for name in checks.keys::<String>() {
        let name = name?;
        if name.contains("::") {
            return Err(go_error(&ctx, "group and check names may not contain '::'"));
        }
        let held = match checks.get::<_, Value<'js>>(&*name)?.into_function() {
            Some(function) => function.call::<_, Value<'js>>((subject.clone(),)),
            None => checks.get(&*name),
        };
        let is_held = held.as_ref().is_ok_and(is_true);
        let tags = tags.with_system(&[(SystemTag::Check, name.trim())]);
        vu.observe(builtin::CHECKS, f64::from(u8::from(is_held)), &tags);
        if held?.is_promise() {
            return Err(go_error(
                &ctx,
                "async functions as checks are not supported: await what is to be checked first",
            ));
        }
        all &= is_held;
    }
    Ok(all)
}

/// As JavaScript's `if` sees it.
pub(super) fn is_true(value: &Value<'_>) -> bool {
    match value.type_of() {
        rquickjs::Type::Bool => value.as_bool().unwrap_or_default(),
        rquickjs::Type::Int | rquickjs::Type::Float => {
            value.as_number().is_some_and(|number| number != 0.0 && !number.is_nan())
        }
        rquickjs::Type::String => value.get::<String>().is_ok_and(|text| !text.is_empty()),
        rquickjs::Type::Undefined | rquickjs::Type::Null | rquickjs::Type::Uninitialized => false,
        rquickjs::Type::BigInt => value.get::<rquickjs::Coerced<String>>().is_ok_and(|text| text.0 != "0"),
        _ => true,
    }
}

fn fail(ctx: Ctx<'_>, message: Opt<rquickjs::Coerced<String>>) -> rquickjs::Result<()> {
    Err(go_error(&ctx, &message.0.map_or_else(String::new, |text| text.0)))
}

/// What happens in the function happens in the group: its samples carry the group's path.
fn group<'js>(ctx: Ctx<'js>, name: String, function: Value<'js>) -> rquickjs::Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(&ctx, "using group() in the init context is not supported"));
    }
    let wrong = |what: &str| go_error(&ctx, what);
    if name.contains("::") {
        return Err(wrong("group and check names may not contain '::'"));
    }
    let function =
        function.into_function().ok_or_else(|| wrong("group() requires a callback as a second argument"))?;
    let outer = vu.group();
    let path = format!("{outer}::{}", name.trim());
    vu.set_group(&path);
    let begun = vu.now();
    let returned = function.call::<_, Value<'js>>(());
    let took = vu.now().since(begun);
    vu.observe(builtin::GROUP_DURATION, took as f64 / 1e6, &vu.tags());
    vu.set_group(&outer);
    let returned = returned?;
    if returned.is_promise() {
        return Err(wrong(
            "group() does not support async functions as arguments, please see https://grafana.com/docs/k6/latest/javascript-api/k6/group/ for more info",
        ));
    }
    Ok(returned)
}

fn sleep(ctx: Ctx<'_>, seconds: rquickjs::Coerced<f64>) -> rquickjs::Result<()> {
    let vu = Vu::of(&ctx);
    let until = vu.now().plus((seconds.0.max(0.0) * 1e9) as i64);
    pause(&ctx, &vu, until)
}

pub(super) fn pause(ctx: &Ctx<'_>, vu: &Rc<Vu>, until: At) -> rquickjs::Result<()> {
    vu.wait_for(ctx, vu.clock().sleep_until(until))
}

/// From here on `Math.random` gives the numbers that follow from the seed, the same ones in every run.
fn random_seed(ctx: Ctx<'_>, seed: rquickjs::Coerced<f64>) -> rquickjs::Result<()> {
    let mut numbers = fastrand::Rng::with_seed(seed.0 as i64 as u64);
    let random = Function::new(ctx.clone(), rquickjs::function::MutFn::new(move || numbers.f64()))?;
    ctx.globals().get::<_, Object<'_>>("Math")?.set("random", random)
}
