//! One user's interpreter: made, given the script, called.
//!
//! Functions that run once are never inlined: their room would lie on every user's stack below each of its calls, and a
//! page more for ten thousand users is 40 MiB.

use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Function, Object, Persistent, Promise, Runtime, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::loading::{ModuleLoader, Specifiers, imported};
use super::return_values;
use super::thrown::Thrown;
use crate::interpreter::raw;
use crate::modules;
use crate::vu::{Phase, Vu};

/// Room for QuickJS's own checks and our functions below the deepest script.
const STACK_MARGIN: usize = 48 << 10;

const UNSETTLED: &str = "the script awaits a promise at its top level, and nothing is left that could settle it\nhint: \
                         what settles it must be under way: a timer, a request, a socket";
const UNSETTLED_SETUP: &str = "setup() awaits a promise, and nothing is left that could settle it\nhint: what settles \
                               it must be under way: a timer, a request, a socket";

/// A user's interpreter.
pub(crate) struct Machine {
    vu: Rc<Vu>,
    exports: RefCell<Option<Persistent<Object<'static>>>>,
    /// `setup`'s data, parsed once.
    data: RefCell<Option<Persistent<Value<'static>>>>,
    context: Context,
    runtime: Runtime,
}

/// The argument of a function of the script.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// The JSON that `setup` returned, if it did; the user keeps its copy from call to call.
    Data(Option<Arc<str>>),
    /// JSON of this call only.
    Json(String),
}

impl Machine {
    /// An interpreter with the globals every script has.
    #[inline(never)]
    pub(crate) fn new(vu: &Rc<Vu>) -> rquickjs::Result<Machine> {
        let limits = &vu.shard.common.limits;
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(limits.stack_bytes.saturating_sub(STACK_MARGIN));
        runtime.set_memory_limit(limits.memory_bytes);
        let guard = Rc::clone(vu);
        runtime.set_interrupt_handler(Some(Box::new(move || guard.is_to_end())));
        let rejecting = Rc::clone(vu);
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| {
                rejecting.rejections.note(&ctx, &promise, &reason, is_handled);
            },
        )));
        runtime.set_loader(Specifiers, ModuleLoader);
        let context = Context::base(&runtime)?;
        raw::add_intrinsics(&context, vu.shard.common.bundle.intrinsics());
        let owner = raw::Owner(Rc::clone(vu));
        context.with(|ctx| {
            let _ = ctx.store_userdata(owner);
            modules::globals(&ctx)
        })?;
        Ok(Machine {
            vu: Rc::clone(vu),
            exports: RefCell::default(),
            data: RefCell::default(),
            context,
            runtime,
        })
    }

    /// Runs the script's init code. On a fiber.
    #[inline(never)]
    pub(crate) fn init(&self) -> Result<(), Thrown> {
        let is_settled = self.attempt(|ctx| {
            let entry = self.vu.shard.common.bundle.entry.clone();
            let imported = imported(ctx, &entry)?;
            let Some(exports) = self.settle(ctx, Some(imported))? else { return Ok(false) };
            let none = || rquickjs::Exception::throw_type(ctx, "the script exports nothing");
            let exports = exports.into_object().ok_or_else(none)?;
            self.exports.replace(Some(Persistent::save(ctx, exports)));
            Ok(true)
        })?;
        if is_settled { Ok(()) } else { Err(Thrown::Unusable(UNSETTLED.to_owned())) }
    }

    /// The script's options, as JSON; None: it exports none.
    #[inline(never)]
    pub(crate) fn options(&self) -> Result<Option<String>, Thrown> {
        self.attempt(|ctx| {
            let options: Value<'_> = self.exported(ctx)?.get("options")?;
            ctx.json_stringify(options)?.map(|text| text.to_string()).transpose()
        })
    }

    /// The names of the functions the script exports.
    #[inline(never)]
    pub(crate) fn functions(&self) -> Result<Vec<String>, Thrown> {
        self.attempt(|ctx| {
            let exports = self.exported(ctx)?;
            let mut names = Vec::new();
            for name in exports.keys::<String>() {
                let name = name?;
                if exports.get::<_, Value<'_>>(&*name)?.is_function() {
                    names.push(name);
                }
            }
            Ok(names)
        })
    }

    /// Calls a function of the script and sees everything it began through; what it returns, as JSON. On a fiber.
    pub(crate) fn call(&self, name: &str, given: &Given) -> Result<Option<String>, Thrown> {
        let outcome = self.attempt(|ctx| {
            let function: Function<'_> = self.exported(ctx)?.get(name)?;
            if let Some(more) = self.vu.environment.take() {
                modules::environment(ctx, &more)?;
            }
            if self.vu.phase.get() == Phase::Iteration {
                ctx.globals().set("__ITER", self.vu.iteration() as f64)?;
            }
            let mut args = Args::new(ctx.clone(), 1);
            args.push_arg(self.value(ctx, given)?)?;
            let returned: Value<'_> = function.call_arg(args)?;
            let returned = self.settle(ctx, Some(returned))?;
            match (returned, self.vu.phase.get()) {
                (Some(value), Phase::Setup) if !value.is_undefined() => {
                    let data = return_values::data(ctx, &value)?.map(Some);
                    Ok(data.map_err(|why| format!("error marshaling setup() data to JSON: {why}")))
                }
                (None, Phase::Setup) => Ok(Err(UNSETTLED_SETUP.to_owned())),
                (Some(value), Phase::Summary) => Ok(Ok(Some(return_values::files(ctx, &value)?))),
                _ => Ok(Ok(None)),
            }
        });
        self.context.with(|ctx| modules::end_iteration(&ctx, &self.vu));
        let returned = outcome?.map_err(Thrown::Unusable)?;
        Ok(returned.map(|json| json.to_string()))
    }

    #[inline(never)]
    fn value<'js>(&self, ctx: &Ctx<'js>, given: &Given) -> rquickjs::Result<Value<'js>> {
        match given {
            Given::Data(None) => Ok(Value::new_undefined(ctx.clone())),
            Given::Json(text) => ctx.json_parse(text.as_str()),
            Given::Data(Some(text)) => {
                if let Some(data) = &*self.data.borrow() {
                    return data.clone().restore(ctx);
                }
                let data = ctx.json_parse(&**text)?;
                self.data.replace(Some(Persistent::save(ctx, data.clone())));
                Ok(data)
            }
        }
    }

    fn exported<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        match &*self.exports.borrow() {
            Some(exports) => exports.clone().restore(ctx),
            None => Err(rquickjs::Exception::throw_message(ctx, "the script was not loaded")),
        }
    }

    fn attempt<T>(&self, what: impl FnOnce(&Ctx<'_>) -> rquickjs::Result<T>) -> Result<T, Thrown> {
        self.context.with(|ctx| {
            let outcome = what(&ctx).map_err(|error| Thrown::of(&ctx, &self.vu, &error));
            // A promise may have hidden it.
            match self.vu.take_abort_reason() {
                Some(why) => Err(Thrown::Aborted(why)),
                None => outcome,
            }
        })
    }

    /// Goes on until nothing is left to be done and `returned`, if it is a promise, is settled. Its value then.
    fn settle<'js>(
        &self,
        ctx: &Ctx<'js>,
        returned: Option<Value<'js>>,
    ) -> rquickjs::Result<Option<Value<'js>>> {
        let promise = returned.as_ref().and_then(|value| value.as_promise().cloned());
        loop {
            while !self.vu.is_aborted() && ctx.execute_pending_job() {}
            if self.vu.is_aborted() {
                return Ok(None);
            }
            if promise.as_ref().is_some_and(|promise| promise.state() == PromiseState::Rejected) {
                // The promises it is made of were rejected with it; they are no news.
                self.vu.rejections.forget();
                break;
            }
            self.vu.rejections.raise(ctx, promise.as_ref())?;
            if let Some(job) = self.vu.events.take() {
                job(ctx, &self.vu)?;
                continue;
            }
            if !self.vu.events.is_held() {
                break;
            }
            self.vu.wait_for_jobs(ctx)?;
        }
        match &promise {
            Some(promise) => {
                let settled = settled(promise).transpose();
                // A file that awaits throws what it awaited: its promise is not the script's.
                if settled.is_err() && self.vu.phase.get() != Phase::Init {
                    self.vu.rejections.awaited();
                }
                settled
            }
            None => Ok(returned),
        }
    }
}

/// The value of a promise that nothing can settle any more, or its rejection; none of one that stays pending.
fn settled<'js>(promise: &Promise<'js>) -> Option<rquickjs::Result<Value<'js>>> {
    match promise.state() {
        PromiseState::Pending => None,
        _ => promise.result(),
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.vu.has_awaiting_modules.get() {
            std::mem::forget((self.context.clone(), self.runtime.clone()));
        }
        // Values first: the interpreter must outlive them.
        self.context.with(|ctx| modules::forget(&ctx, &self.vu));
        self.exports.take();
        self.data.take();
        self.runtime.set_interrupt_handler(None);
        self.runtime.set_host_promise_rejection_tracker(None);
    }
}
