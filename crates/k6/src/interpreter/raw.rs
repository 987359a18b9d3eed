//! All unsafe code of the crate, and why each piece is sound.
//!
//! - The running fiber's way out is a reference to its own stack. It is kept in a thread-local pointer while the fiber
//!   runs: a fiber that stands still takes it away and puts it back when it goes on. No fiber polls another, so whoever
//!   reads it stands on that very stack.
//! - The future a fiber waits for lies on its stack, and is polled from another one while the fiber stands still.
//! - Bytecode goes only to the interpreter that this process linked, and comes only from it.
//! - An error that no script can catch is a mark QuickJS keeps on the error's object.

#![allow(unsafe_code)]

use corosensei::Coroutine;
use corosensei::stack::DefaultStack;
use rquickjs::loader::{Loader, Resolver};
use rquickjs::{Ctx, JsLifetime, Module, Value, WriteOptions, qjs};
use std::cell::Cell;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;
use std::task::Context;

use super::errors::described;
use super::host_object::Holder;
use super::intrinsics::Intrinsics;

/// The way out of a fiber: it takes what the fiber waits for.
pub(crate) type Yielder = corosensei::Yielder<(), Look>;

/// Polls what a fiber waits for; whether it is there.
type Waits<'a> = dyn FnMut(&mut Context<'_>) -> bool + 'a;

/// The future a fiber waits for, to be polled by the fiber's poller.
pub(crate) struct Look(*mut Waits<'static>);

impl Look {
    pub(crate) fn is_there(&mut self, cx: &mut Context<'_>) -> bool {
        // SAFETY: it lies on the stack of the fiber that gave it out in `wait`. The fiber stands still there until this
        // returns true, and a stack on which a fiber stands is never freed.
        unsafe { (*self.0)(cx) }
    }
}

thread_local! {
    /// The running fiber's way out.
    static HERE: Cell<*const Yielder> = const { Cell::new(ptr::null()) };
}

/// Runs `body` with `yielder` as the way out.
pub(crate) fn on_fiber(yielder: &Yielder, body: impl FnOnce()) {
    // Also when `body` unwinds: the pointer leads to a stack that is then taken down.
    struct Back(*const Yielder);
    impl Drop for Back {
        fn drop(&mut self) {
            HERE.set(self.0);
        }
    }
    let _back = Back(HERE.replace(yielder));
    body();
}

pub(crate) fn is_on_fiber() -> bool {
    !HERE.get().is_null()
}

/// Ends this poll of the running fiber; returns when `look` said that what it waits for is there.
pub(crate) fn wait(look: &mut Waits<'_>) {
    let mine = HERE.replace(ptr::null());
    assert!(!mine.is_null(), "only a fiber can wait");
    // SAFETY: only the lifetime changes, which `Look` answers for.
    let look = Look(unsafe { std::mem::transmute::<*mut Waits<'_>, *mut Waits<'static>>(look) });
    // SAFETY: set by `on_fiber`, whose coroutine's function we are in.
    unsafe { &*mine }.suspend(look);
    // The caller that resumed this fiber may be on another fiber's stack or on none; from here on the way out is ours
    // again.
    HERE.set(mine);
}

/// Drops a coroutine that is done or was never begun.
pub(crate) fn drop_coroutine(coroutine: &mut ManuallyDrop<Coroutine<(), Look, (), DefaultStack>>) {
    // SAFETY: called from the owner's `drop`, once.
    unsafe { ManuallyDrop::drop(coroutine) }
}

/// The virtual user that owns an interpreter, as the interpreter keeps it.
pub(crate) struct Owner<T>(pub(crate) Rc<T>);

// SAFETY: a `'static` type carries no lifetime of an interpreter. Values of the interpreter that it holds are
// `Persistent`, and its owner releases them (`modules::forget`) before the interpreter is freed.
unsafe impl<'js, T: 'static> JsLifetime<'js> for Owner<T> {
    type Changed<'to> = Owner<T>;
}

/// Gives a context, which has the base ones, further built-ins.
pub(crate) fn add_intrinsics(context: &rquickjs::Context, wanted: Intrinsics) {
    use rquickjs::context::{Intrinsic, intrinsic};
    let context = context.as_raw();
    // SAFETY: a context nobody runs anything in yet; each is added once.
    unsafe {
        intrinsic::Date::add_intrinsic(context);
        intrinsic::Json::add_intrinsic(context);
        intrinsic::Promise::add_intrinsic(context);
        // It takes no memory, and what is made on demand is compiled on demand.
        intrinsic::Eval::add_intrinsic(context);
        if wanted.regexp {
            intrinsic::RegExpCompiler::add_intrinsic(context);
            intrinsic::RegExp::add_intrinsic(context);
        }
        if wanted.proxy {
            intrinsic::Proxy::add_intrinsic(context);
        }
        if wanted.map_set {
            intrinsic::MapSet::add_intrinsic(context);
        }
        if wanted.typed_arrays {
            intrinsic::TypedArrays::add_intrinsic(context);
        }
        if wanted.bigint {
            intrinsic::BigInt::add_intrinsic(context);
        }
        if wanted.weak_ref {
            intrinsic::WeakRef::add_intrinsic(context);
        }
        if wanted.performance {
            intrinsic::Performance::add_intrinsic(context);
        }
    }
}

// SAFETY: as above.
unsafe impl<'js> JsLifetime<'js> for Holder {
    type Changed<'to> = Holder;
}

/// Takes a module that [`compiled_module`] wrote.
pub(crate) fn load_module<'js>(ctx: Ctx<'js>, bytecode: &[u8]) -> rquickjs::Result<Module<'js>> {
    // SAFETY: written by this process's own interpreter.
    unsafe { Module::load(ctx, bytecode) }
}

/// Stands for what a module imports while it is compiled: that there is one is all that matters then.
struct Empty;

impl Loader for Empty {
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js>> {
        Module::declare(ctx.clone(), name, "")
    }
}

struct AsNamed;

impl Resolver for AsNamed {
    fn resolve<'js>(&mut self, _: &Ctx<'js>, _: &str, name: &str) -> rquickjs::Result<String> {
        Ok(name.to_owned())
    }
}

/// The share of a compiling thread's stack (bundle.rs) that the compiler may use.
const COMPILER_STACK: usize = 128 << 20;

/// An interpreter that runs nothing. A module compiled in the script's own would stay there beside the loaded one, and
/// the next import would find it instead.
fn apart<T>(what: impl FnOnce(&Ctx<'_>) -> rquickjs::Result<T>) -> Result<T, String> {
    let made = || {
        let runtime = rquickjs::Runtime::new()?;
        runtime.set_max_stack_size(COMPILER_STACK);
        runtime.set_loader(AsNamed, Empty);
        let context = rquickjs::Context::base(&runtime)?;
        add_intrinsics(&context, Intrinsics::ALL);
        Ok::<_, rquickjs::Error>(context)
    };
    let context = made().map_err(|why| why.to_string())?;
    context.with(|ctx| {
        what(&ctx).map_err(|_| {
            let why = described(&ctx.catch());
            why.strip_prefix("SyntaxError: ").unwrap_or(&why).to_owned()
        })
    })
}

/// Compiles a module, with the names of functions and the lines they are on, without its source; or why that cannot be.
pub(crate) fn compiled_module(name: &str, code: &str) -> Result<Vec<u8>, String> {
    let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
    apart(|ctx| Module::declare(ctx.clone(), name, code)?.write(options))
}

/// Compiles a script that is no module: sloppy where it does not ask to be strict.
pub(crate) fn compiled_script(name: &str, code: &str) -> Result<Vec<u8>, String> {
    apart(|ctx| script_bytecode(ctx, name, code))
}

fn script_bytecode<'js>(ctx: &Ctx<'js>, name: &str, code: &str) -> rquickjs::Result<Vec<u8>> {
    let (name, length) = (CString::new(name)?, code.len());
    let code = CString::new(code)?;
    let flags = (qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: both texts end in a zero byte and outlive the call; what it returns is ours and freed below.
    let function = unsafe { qjs::JS_Eval(raw, code.as_ptr(), length as _, name.as_ptr(), flags) };
    let function = own(ctx, function)?;
    let flags = (qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE) as i32;
    let mut size = 0;
    // SAFETY: a compiled function, borrowed; the buffer is QuickJS's own allocation of `size` bytes, copied and freed
    // here.
    unsafe {
        let buffer = qjs::JS_WriteObject(raw, &mut size, function.as_raw(), flags);
        if buffer.is_null() {
            return Err(rquickjs::Error::Exception);
        }
        let bytes = std::slice::from_raw_parts(buffer, size as usize).to_vec();
        qjs::js_free(raw, buffer.cast());
        Ok(bytes)
    }
}

/// Runs a script that [`compiled_script`] wrote; its last expression's value.
pub(crate) fn run_script<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> rquickjs::Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
    // SAFETY: written by this process's own interpreter; evaluating takes the function over.
    let value = unsafe {
        let function = qjs::JS_ReadObject(raw, bytecode.as_ptr(), bytecode.len() as _, flags);
        if qjs::JS_IsException(function) { function } else { qjs::JS_EvalFunction(raw, function) }
    };
    own(ctx, value)
}

/// Takes over a value that QuickJS gave, or its exception.
fn own<'js>(ctx: &Ctx<'js>, value: qjs::JSValue) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the value is of this context and nobody else frees it.
    unsafe {
        match qjs::JS_IsException(value) {
            true => Err(rquickjs::Error::Exception),
            false => Ok(Value::from_raw(ctx.clone(), value)),
        }
    }
}

/// Throws what no script can catch: its `catch` and `finally` are passed over.
pub(crate) fn throw_uncatchable(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    match rquickjs::Exception::from_message(ctx.clone(), message) {
        Ok(exception) => {
            let value = exception.into_value();
            // SAFETY: an error object of this context, borrowed.
            unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
            ctx.throw(value)
        }
        Err(error) => error,
    }
}
