//! Promises that were rejected while nobody listened.

use rquickjs::{Ctx, Persistent, Promise, Value};
use std::cell::RefCell;

/// More of them in one turn are not kept: the first one ends the iteration anyway.
const KEPT: usize = 16;

/// Those nobody has taken up yet, in order.
#[derive(Default)]
pub(crate) struct Rejections(RefCell<Vec<Rejected>>);

struct Rejected {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

impl Rejections {
    /// QuickJS says that a promise was rejected, or that somebody listens to one that was.
    pub(super) fn note<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: &Value<'js>,
        reason: &Value<'js>,
        is_handled: bool,
    ) {
        let mut rejected = self.0.borrow_mut();
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
    pub(super) fn raise<'js>(&self, ctx: &Ctx<'js>, awaited: Option<&Promise<'js>>) -> rquickjs::Result<()> {
        for rejected in std::mem::take(&mut *self.0.borrow_mut()) {
            let promise = rejected.promise.restore(ctx)?;
            if awaited.is_some_and(|awaited| *awaited.as_value() == promise) {
                continue;
            }
            return Err(ctx.throw(rejected.reason.restore(ctx)?));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// They were dealt with otherwise, or the iteration is over.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}
