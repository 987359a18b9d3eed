//! Promises that were rejected while nobody listened.

use rquickjs::{Ctx, Persistent, Promise, Value};
use std::cell::{Cell, RefCell};

/// More of them in one turn are not kept: the first one ends the iteration anyway.
const KEPT: usize = 16;

/// Rejected promises that nobody has listened to yet, in order.
#[derive(Default)]
pub(crate) struct Rejections {
    waiting: RefCell<Vec<Rejected>>,
    /// The last exception was one of them.
    was_raised: Cell<bool>,
}

struct Rejected {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

impl Rejections {
    /// QuickJS says that a promise was rejected, or that somebody listens to one that was.
    pub(crate) fn note<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: &Value<'js>,
        reason: &Value<'js>,
        is_handled: bool,
    ) {
        let mut rejected = self.waiting.borrow_mut();
        if is_handled {
            rejected.retain(|one| one.promise.clone().restore(ctx).is_ok_and(|kept| kept != *promise));
        } else if rejected.len() < KEPT {
            let (promise, reason) = (promise.clone(), reason.clone());
            rejected.push(Rejected {
                promise: Persistent::save(ctx, promise),
                reason: Persistent::save(ctx, reason),
            });
        }
    }

    /// Throws the first one, unless it is `awaited`, whose reason its listener will get.
    pub(crate) fn raise<'js>(&self, ctx: &Ctx<'js>, awaited: Option<&Promise<'js>>) -> rquickjs::Result<()> {
        // Not borrowed while values of the script go: one of them may reject another promise.
        let waiting = self.waiting.take();
        for rejected in waiting {
            let promise = rejected.promise.restore(ctx)?;
            if awaited.is_some_and(|awaited| *awaited.as_value() == promise) {
                continue;
            }
            self.was_raised.set(true);
            return Err(ctx.throw(rejected.reason.restore(ctx)?));
        }
        Ok(())
    }

    /// The promise that was waited for was rejected.
    pub(crate) fn awaited(&self) {
        self.was_raised.set(true);
    }

    /// Whether the exception that is under way was a rejection; asked once.
    pub(crate) fn was_raised(&self) -> bool {
        self.was_raised.take()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }

    /// They were dealt with otherwise, or the iteration is over.
    pub(crate) fn forget(&self) {
        self.waiting.take();
    }
}
