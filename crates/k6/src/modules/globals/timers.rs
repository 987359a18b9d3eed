//! `setTimeout` and `setInterval`, and what takes them back.

use rquickjs::function::{Args, Opt, Rest};
use rquickjs::{Coerced, Ctx, Exception, Function, Persistent, Value};
use sonagi_measure::At;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::interpreter::go_error;
use crate::shard::Level;
use crate::shard::Shard;
use crate::vu::Vu;

/// The longest delay of a timer; a longer one fires then, an endless one too.
const LONGEST_MS: f64 = 1e12;

/// Timers by the number the script knows them by.
#[derive(Default)]
pub(crate) struct ScriptTimers {
    last: Cell<u32>,
    running: RefCell<HashMap<u32, Running>>,
}

/// A timer that has not fired for the last time.
#[derive(Clone, Copy)]
struct Running {
    key: (At, u32),
    repeats: bool,
}

impl ScriptTimers {
    /// Forgets all timers. k6 warns of each that was still running at the end of its iteration.
    pub(crate) fn forget(&self, shard: &Shard) {
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

/// The function of a timer, and its arguments.
#[derive(Clone)]
struct Callback {
    function: Persistent<Function<'static>>,
    arguments: Vec<Persistent<Value<'static>>>,
    number: u32,
    /// An interval: the time between the end of a call and the next one.
    every_ns: Option<i64>,
}

pub(super) fn set_timeout<'js>(
    ctx: Ctx<'js>,
    function: Opt<Value<'js>>,
    delay: Opt<Coerced<f64>>,
    arguments: Rest<Value<'js>>,
) -> rquickjs::Result<u32> {
    start(&ctx, "setTimeout", function, delay, arguments, false)
}

pub(super) fn set_interval<'js>(
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
    let timers = vu.module_state::<ScriptTimers>();
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
    vu.module_state::<ScriptTimers>().running.borrow_mut().insert(number, Running { key, repeats });
}

fn fire(ctx: &Ctx<'_>, vu: &Rc<Vu>, callback: Callback) -> rquickjs::Result<()> {
    let Callback { function, arguments, number, every_ns } = callback.clone();
    if every_ns.is_none() {
        vu.module_state::<ScriptTimers>().running.borrow_mut().remove(&number);
    }
    let mut args = Args::new(ctx.clone(), arguments.len());
    for argument in arguments {
        args.push_arg(argument.restore(ctx)?)?;
    }
    function.restore(ctx)?.call_arg::<Value<'_>>(args)?;
    // It may have stopped itself.
    if let Some(ns) =
        every_ns.filter(|_| vu.module_state::<ScriptTimers>().running.borrow().contains_key(&number))
    {
        schedule(vu, ns, callback);
    }
    Ok(())
}

pub(super) fn clear(ctx: Ctx<'_>, number: Opt<Coerced<f64>>) {
    let vu = Vu::of(&ctx);
    let number = number.0.map_or(0, |number| number.0 as u32);
    let timer = vu.module_state::<ScriptTimers>().running.borrow_mut().remove(&number);
    timer.into_iter().for_each(|timer| vu.events.take_back(timer.key));
}
