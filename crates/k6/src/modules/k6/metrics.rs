//! `k6/metrics`: a script's own metrics.
//!
//! A metric is looked up by its name once, where it is made; its `add` knows it by number.

use rquickjs::function::Opt;
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Function, Object, Value};

use crate::interpreter::go_error;
use crate::metrics::{self, Kind, MetricId, Unit};
use crate::modules::binding::{Builtin, about, constructor, given_tags, is_true};
use crate::shard::Level;
use crate::vu::{Phase, Vu};

pub(crate) const MODULE: Builtin = Builtin {
    names: &["k6/metrics"],
    exports: &["Counter", "Gauge", "Rate", "Trend"],
    build: |ctx, object| {
        object.set("Counter", class(ctx, Kind::Counter)?)?;
        object.set("Gauge", class(ctx, Kind::Gauge)?)?;
        object.set("Rate", class(ctx, Kind::Rate)?)?;
        object.set("Trend", class(ctx, Kind::Trend)?)
    },
};

/// A value that is no number is quoted with so many letters at most.
const QUOTED: usize = 100;

fn class<'js>(ctx: &Ctx<'js>, kind: Kind) -> rquickjs::Result<Function<'js>> {
    let make = move |ctx: Ctx<'js>, name: Opt<Coerced<String>>, is_time: Opt<Value<'js>>| {
        metric(
            &ctx,
            kind,
            &name.0.map_or_else(String::new, |name| name.0),
            is_time.0.as_ref().is_some_and(is_true),
        )
    };
    constructor(Function::new(ctx.clone(), make)?)
}

fn metric<'js>(ctx: &Ctx<'js>, kind: Kind, name: &str, is_time: bool) -> rquickjs::Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if vu.phase.get() != Phase::Init {
        return Err(go_error(ctx, "metrics must be declared in the init context"));
    }
    let unit = if is_time { Unit::Milliseconds } else { Unit::Number };
    let id = metrics::add(&vu.shard.common.registry, name, kind, unit);
    let id = id.map_err(|why| go_error(ctx, &why.to_string()))?;
    let metric = Object::new(ctx.clone())?;
    metric.prop("name", Property::from(name).enumerable())?;
    // Bound to the metric, not to `this`: scripts hand `counter.add` about.
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        add(&ctx, id, value.0.as_ref(), tags.0.as_ref())
    };
    metric.set("add", Function::new(ctx.clone(), add)?)?;
    Ok(metric)
}

/// A sample; false: its value is none.
fn add<'js>(
    ctx: &Ctx<'js>,
    id: MetricId,
    value: Option<&Value<'js>>,
    given: Option<&Value<'js>>,
) -> rquickjs::Result<bool> {
    let vu = Vu::of(ctx);
    if vu.phase.get() == Phase::Init {
        return Err(go_error(ctx, "Adding to metrics in the init context is not supported"));
    }
    let Some(number) = value.map(number).transpose()?.flatten() else {
        let name = vu.shard.common.registry.metric(id).name;
        let what = match value {
            Some(value) => format!("'{}' is an invalid value", quoted(value)?),
            None => "no value was provided".to_owned(),
        };
        let what = format!("{what} for metric '{name}', a number or a boolean value is expected");
        if vu.shard.common.options.throw {
            return Err(go_error(ctx, &what));
        }
        vu.shard.say(Level::Warn, what, Vec::new());
        return Ok(false);
    };
    let tags = vu.tags();
    match given.filter(|given| !given.is_undefined() && !given.is_null()) {
        None => vu.observe(id, number, &tags),
        Some(given) => {
            let tags = given_tags(ctx, &tags, Some(given)).map_err(|error| {
                let name = vu.shard.common.registry.metric(id).name;
                about(ctx, error, &format!("cannot add tags for the '{name}' custom metric"))
            })?;
            vu.observe(id, number, &tags);
        }
    }
    Ok(true)
}

/// `Number(value)`, except that a value that is zero and true is one; null is no number.
fn number(value: &Value<'_>) -> rquickjs::Result<Option<f64>> {
    if value.is_null() {
        return Ok(None);
    }
    let number = match value.as_number() {
        Some(number) => number,
        None => value.get::<Coerced<f64>>()?.0,
    };
    let number = if number == 0.0 && is_true(value) { 1.0 } else { number };
    Ok(Some(number).filter(|number| !number.is_nan()))
}

/// Long values by their two ends.
fn quoted(value: &Value<'_>) -> rquickjs::Result<String> {
    let letters: Vec<char> = value.get::<Coerced<String>>()?.0.chars().collect();
    if letters.len() < QUOTED {
        return Ok(letters.into_iter().collect());
    }
    let (head, tail) = (&letters[..QUOTED / 2], &letters[letters.len() - QUOTED / 2..]);
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    Ok(format!("{head}... omitting {} characters ...{tail}", letters.len() - QUOTED))
}
