//! `k6/execution`: where in the test a script is, and the ways to end it.
//!
//! The run tells which iteration a user is at ([`Vu::current_iteration`]) and of which test ([`TestUnderWay`]); before
//! that the members throw, as they do in init code.

use rquickjs::function::{Opt, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Coerced, Ctx, Function, Object, Persistent, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::execution_context::{CurrentIteration, TestUnderWay};
use crate::interpreter::go_error;
use crate::metrics::Metadata;
use crate::modules::binding::{Builtin, freeze, own, tag};
use crate::options::Scenario;
use crate::shard::Level;
use crate::vu::{Phase, Vu};

pub(crate) const MODULE: Builtin =
    Builtin { names: &["k6/execution"], exports: &["scenario", "instance", "test", "vu"], build };

/// The options as a user's script was given them.
#[derive(Default)]
pub(crate) struct ExecutionState(RefCell<Option<Persistent<Value<'static>>>>);

impl ExecutionState {
    /// Releases them, before their interpreter is freed.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

/// Makes one member.
type MakeMember = for<'js> fn(&Ctx<'js>, &Rc<Vu>) -> rquickjs::Result<Value<'js>>;

const SCENARIO: &[(&str, MakeMember)] = &[
    ("name", |ctx, vu| of_scenario(ctx, vu, |it, _| text(ctx, &scenario(vu, it).name))),
    ("executor", |ctx, vu| of_scenario(ctx, vu, |it, _| text(ctx, scenario(vu, it).executor.name()))),
    ("startTime", |ctx, vu| {
        of_scenario(ctx, vu, |it, test| Ok(number(ctx, test.start_ms(it.scenario).floor())))
    }),
    ("progress", |ctx, vu| {
        of_scenario(ctx, vu, |it, test| Ok(number(ctx, test.scenarios[it.scenario].progress(vu.now()))))
    }),
    ("iterationInInstance", |ctx, vu| of_scenario(ctx, vu, |it, _| Ok(number(ctx, it.number as f64)))),
    ("iterationInTest", |ctx, vu| of_scenario(ctx, vu, |it, _| Ok(number(ctx, it.number as f64)))),
];

const INSTANCE: &[(&str, MakeMember)] = &[
    ("currentTestRunDuration", |ctx, vu| of_instance(ctx, vu, |it| it.duration_ms(vu.now()))),
    ("iterationsCompleted", |ctx, vu| of_instance(ctx, vu, |it| it.sum(|of| &of.complete) as f64)),
    ("iterationsInterrupted", |ctx, vu| of_instance(ctx, vu, |it| it.sum(|of| &of.interrupted) as f64)),
    ("vusActive", |ctx, vu| of_instance(ctx, vu, |it| it.sum(|of| &of.active) as f64)),
    ("vusInitialized", |ctx, vu| of_instance(ctx, vu, |it| it.vus_initialized() as f64)),
];

const USER: &[(&str, MakeMember)] = &[
    ("idInInstance", |ctx, vu| of_user(ctx, vu, |vu| vu.number as f64)),
    ("idInTest", |ctx, vu| of_user(ctx, vu, |vu| vu.number as f64)),
    ("iterationInInstance", |ctx, vu| of_user(ctx, vu, |vu| vu.iteration() as f64)),
    ("iterationInScenario", |ctx, vu| {
        of_user(ctx, vu, |vu| vu.current_iteration.get().map_or(0.0, |it| it.of_vu as f64))
    }),
];

/// The members of an object: getters, for their values change.
fn members<'js>(object: &Object<'js>, members: &'static [(&str, MakeMember)]) -> rquickjs::Result<()> {
    for (name, make) in members {
        let get = move |ctx: Ctx<'js>| make(&ctx, &Vu::of(&ctx));
        object.prop(*name, Accessor::new_get(get).enumerable())?;
    }
    Ok(())
}

fn build<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> rquickjs::Result<()> {
    let (scenario, instance) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    let (user, test) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    members(&scenario, SCENARIO)?;
    members(&instance, INSTANCE)?;
    members(&user, USER)?;
    let metrics = Object::new(ctx.clone())?;
    let live = own(ctx, "k6/execution", include_str!("execution.js"))?;
    let tags: Object<'js> = live.call((
        Function::new(ctx.clone(), tag_names)?,
        Function::new(ctx.clone(), get_tag)?,
        Function::new(ctx.clone(), set_tag)?,
    ))?;
    let metadata: Object<'js> = live.call((
        Function::new(ctx.clone(), metadata_names)?,
        Function::new(ctx.clone(), get_metadata)?,
        Function::new(ctx.clone(), set_metadata)?,
    ))?;
    metrics.prop("tags", Property::from(tags).enumerable())?;
    metrics.prop("metadata", Property::from(metadata).enumerable())?;
    user.prop("tags", Accessor::new_get(own_tags).enumerable())?;
    user.prop("metrics", Property::from(metrics).enumerable())?;
    test.set("abort", Function::new(ctx.clone(), abort)?)?;
    test.set("fail", Function::new(ctx.clone(), fail)?)?;
    test.prop("options", Accessor::new_get(options).enumerable())?;
    object.set("scenario", scenario)?;
    object.set("instance", instance)?;
    object.set("test", test)?;
    object.set("vu", user)
}

fn text<'js>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    rquickjs::String::from_str(ctx.clone(), text).map(rquickjs::String::into_value)
}

fn number<'js>(ctx: &Ctx<'js>, number: f64) -> Value<'js> {
    Value::new_number(ctx.clone(), number)
}

fn of_scenario<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    member: impl FnOnce(CurrentIteration, &TestUnderWay) -> rquickjs::Result<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let iteration = vu.current_iteration.get().filter(|_| vu.phase.get() == Phase::Iteration);
    match iteration.zip(vu.shard.instance.get()) {
        Some((iteration, test)) => member(iteration, test),
        None => Err(go_error(ctx, "getting scenario information outside of the VU context is not supported")),
    }
}

/// The scenario of an iteration, as the options have it.
fn scenario(vu: &Vu, iteration: CurrentIteration) -> &Scenario {
    &vu.shard.common.options.scenarios[iteration.scenario]
}

fn of_instance<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    member: impl FnOnce(&TestUnderWay) -> f64,
) -> rquickjs::Result<Value<'js>> {
    match vu.shard.instance.get().filter(|_| matches!(vu.phase.get(), Phase::Setup | Phase::Iteration)) {
        Some(instance) => Ok(number(ctx, member(instance))),
        None => Err(go_error(ctx, "getting instance information in the init context is not supported")),
    }
}

fn outside_init(ctx: &Ctx<'_>, vu: &Vu, what: &str) -> rquickjs::Result<()> {
    match vu.phase.get() {
        Phase::Init => Err(go_error(ctx, &format!("getting {what} in the init context is not supported"))),
        _ => Ok(()),
    }
}

fn of_user<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<Vu>,
    member: impl FnOnce(&Vu) -> f64,
) -> rquickjs::Result<Value<'js>> {
    outside_init(ctx, vu, "VU information")?;
    Ok(number(ctx, member(vu)))
}

fn user_outside_init(ctx: &Ctx<'_>) -> rquickjs::Result<Rc<Vu>> {
    let vu = Vu::of(ctx);
    outside_init(ctx, &vu, "VU information")?;
    Ok(vu)
}

/// The value of `metrics.tags`: older scripts read it from `exec.vu`.
fn own_tags<'js>(ctx: Ctx<'js>, user: This<Object<'js>>) -> rquickjs::Result<Value<'js>> {
    user_outside_init(&ctx)?;
    user.0.get::<_, Object<'js>>("metrics")?.get("tags")
}

fn tag_names(ctx: Ctx<'_>) -> rquickjs::Result<Vec<String>> {
    Ok(user_outside_init(&ctx)?.tags().set().iter().map(|(name, _)| name.to_owned()).collect())
}

fn get_tag(ctx: Ctx<'_>, name: String) -> rquickjs::Result<Option<String>> {
    Ok(user_outside_init(&ctx)?.tags().get(&name).map(str::to_owned))
}

/// Sets a tag, without a value takes it away.
fn set_tag<'js>(ctx: Ctx<'js>, name: String, value: Opt<Value<'js>>) -> rquickjs::Result<()> {
    let vu = user_outside_init(&ctx)?;
    let tags = match value.0 {
        None => vu.tags().without(&name),
        Some(value) => vu.tags().with(&name, &of_type(&ctx, &name, &value)?),
    };
    vu.current_tags.replace(tags);
    Ok(())
}

/// [`tag`] with a `TypeError`, because the script assigns a value of the wrong type.
fn of_type<'js>(ctx: &Ctx<'js>, name: &str, value: &Value<'js>) -> rquickjs::Result<String> {
    tag(ctx, name, value).map_err(|_| {
        let thrown = ctx.catch().into_exception().and_then(|it| it.message());
        rquickjs::Exception::throw_type(ctx, &thrown.unwrap_or_default())
    })
}

/// The same said of metadata.
fn of_metadata(ctx: &Ctx<'_>, error: rquickjs::Error) -> rquickjs::Error {
    let thrown = ctx.catch().into_exception().and_then(|it| it.message());
    match thrown {
        Some(said) => rquickjs::Exception::throw_type(
            ctx,
            &said
                .replace("metric tag values", "metric metadata value")
                .replace("metric tag", "metric metadata"),
        ),
        None => error,
    }
}

fn metadata_names(ctx: Ctx<'_>) -> rquickjs::Result<Vec<String>> {
    let tags = user_outside_init(&ctx)?.tags();
    Ok(tags.metadata().map_or_else(Vec::new, |all| all.0.iter().map(|(name, _)| name.clone()).collect()))
}

fn get_metadata(ctx: Ctx<'_>, name: String) -> rquickjs::Result<Option<String>> {
    let tags = user_outside_init(&ctx)?.tags();
    let value = tags.metadata().and_then(|all| all.0.iter().find(|(known, _)| *known == name));
    Ok(value.map(|(_, value)| value.clone()))
}

fn set_metadata<'js>(ctx: Ctx<'js>, name: String, value: Opt<Value<'js>>) -> rquickjs::Result<()> {
    let vu = user_outside_init(&ctx)?;
    let mut all = vu.tags().metadata().map_or_else(Metadata::default, |all| Metadata::clone(all));
    all.0.retain(|(known, _)| *known != name);
    if let Some(value) = value.0 {
        all.0.push((name.clone(), of_type(&ctx, &name, &value).map_err(|error| of_metadata(&ctx, error))?));
    }
    let tags = vu.tags().with_metadata(Some(all).filter(|all| !all.0.is_empty()).map(Arc::new));
    vu.current_tags.replace(tags);
    Ok(())
}

fn with_reason(what: &str, reason: Option<Coerced<String>>) -> String {
    reason.map_or_else(|| what.to_owned(), |reason| format!("{what}: {}", reason.0))
}

/// Ends the test; no script can catch that.
fn abort(ctx: Ctx<'_>, reason: Opt<Option<Coerced<String>>>) -> rquickjs::Result<()> {
    Err(Vu::of(&ctx).abort(&ctx, with_reason("test aborted", reason.0.flatten())))
}

/// The test goes on, but has failed.
fn fail(ctx: Ctx<'_>, reason: Opt<Option<Coerced<String>>>) -> rquickjs::Result<()> {
    let vu = Vu::of(&ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(&ctx, "execution.test.fail() called outside of VU context"));
    }
    let shard = &vu.shard;
    shard.say(Level::Error, with_reason("test marked as failed", reason.0.flatten()), Vec::new());
    shard.common.tally.has_failed.store(true, Ordering::Relaxed);
    Ok(())
}

/// All options, frozen; parsed when a user first asks.
fn options(ctx: Ctx<'_>) -> rquickjs::Result<Value<'_>> {
    let vu = Vu::of(&ctx);
    outside_init(&ctx, &vu, "test options")?;
    let state = vu.module_state::<ExecutionState>();
    if let Some(options) = &*state.0.borrow() {
        return options.clone().restore(&ctx);
    }
    let options = ctx.json_parse(vu.shard.common.options.json.to_string())?;
    freeze(&ctx, &options)?;
    state.0.replace(Some(Persistent::save(&ctx, options.clone())));
    Ok(options)
}
