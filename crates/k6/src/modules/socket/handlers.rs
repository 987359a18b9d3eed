//! The event handlers of a script.

use rquickjs::function::IntoArgs;
use rquickjs::{Ctx, Function, Object, Persistent, Value};
use std::cell::{Cell, RefCell};

/// The functions a script set for the events of one connection, in their order.
pub(crate) struct Handlers<E> {
    all: RefCell<Vec<(E, Persistent<Function<'static>>)>>,
    /// Counts up with every one.
    revision: Cell<u32>,
    is_over: Cell<bool>,
}

impl<E> Default for Handlers<E> {
    fn default() -> Handlers<E> {
        Handlers { all: RefCell::default(), revision: Cell::new(0), is_over: Cell::new(false) }
    }
}

impl<E: Copy + PartialEq> Handlers<E> {
    /// Sets one more; what is no function is passed over, and everything once the connection is over.
    pub(crate) fn add<'js>(&self, ctx: &Ctx<'js>, event: E, handler: &Value<'js>) {
        if let Some(handler) = handler.as_function().filter(|_| !self.is_over.get()) {
            self.all.borrow_mut().push((event, Persistent::save(ctx, handler.clone())));
            self.revision.set(self.revision.get() + 1);
        }
    }

    /// The handlers of an event as they are now.
    pub(crate) fn of<'js>(&self, ctx: &Ctx<'js>, event: E) -> rquickjs::Result<Vec<Function<'js>>> {
        let all = self.all.borrow();
        all.iter().filter(|(own, _)| *own == event).map(|(_, handler)| handler.clone().restore(ctx)).collect()
    }

    /// Changes with every handler.
    pub(crate) fn revision(&self) -> u32 {
        self.revision.get()
    }

    /// Calls those of an event.
    pub(crate) fn tell<'js>(
        &self,
        ctx: &Ctx<'js>,
        event: E,
        given: impl IntoArgs<'js> + Clone,
    ) -> rquickjs::Result<()> {
        let handlers = self.of(ctx, event)?;
        handlers.iter().try_for_each(|handler| handler.call::<_, Value<'js>>(given.clone()).map(drop))
    }

    /// Calls those of an event with an error, whose `error()` gives the text.
    pub(crate) fn fail(&self, ctx: &Ctx<'_>, event: E, text: &str) -> rquickjs::Result<()> {
        let error = Object::new(ctx.clone())?;
        let own = text.to_owned();
        error.set("error", Function::new(ctx.clone(), move || own.clone())?)?;
        self.tell(ctx, event, (error,))
    }

    /// All are let go of.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
        self.all.take();
    }
}
