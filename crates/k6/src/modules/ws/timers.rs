//! `setTimeout` and `setInterval` of a socket: they run between its messages and end with it.

use rquickjs::{Ctx, Exception, Function, Persistent, Value};
use sonagi_measure::At;
use sonagi_transport::clock::Sleep;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::interpreter::go_error;
use crate::vu::Vu;

/// A socket's timers.
#[derive(Default)]
pub(super) struct SocketTimers(RefCell<Inner>);

#[derive(Default)]
struct Inner {
    all: Vec<Timer>,
    /// The sleep until the first of them, and until when it is.
    sleep: Option<(At, Pin<Box<Sleep>>)>,
    is_over: bool,
}

struct Timer {
    at: At,
    every_ns: Option<i64>,
    function: Persistent<Function<'static>>,
}

impl SocketTimers {
    pub(super) fn add<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        function: &Value<'js>,
        ms: f64,
        repeats: bool,
    ) -> rquickjs::Result<()> {
        let no_function = || Exception::throw_type(ctx, &format!("{name}'s callback must be a function"));
        let function = function.as_function().ok_or_else(no_function)?;
        let ns = (ms * 1e6).min(1e18);
        if ms.is_nan() || ns < 1.0 {
            let kind = if repeats { "interval" } else { "timeout" };
            let rule = format!("{name} requires a >0 {kind} parameter, received {ms:.2}");
            return Err(go_error(ctx, &rule));
        }
        let ns = ns as i64;
        let mut inner = self.0.borrow_mut();
        if !inner.is_over {
            let (at, every_ns) = (Vu::of(ctx).now().plus(ns), repeats.then_some(ns));
            inner.all.push(Timer { at, every_ns, function: Persistent::save(ctx, function.clone()) });
        }
        Ok(())
    }

    /// `Ready`: one is due.
    pub(super) fn poll(&self, vu: &Rc<Vu>, cx: &mut Context<'_>) -> Poll<()> {
        let inner = &mut *self.0.borrow_mut();
        let Some(first) = inner.all.iter().map(|timer| timer.at).min() else { return Poll::Pending };
        if inner.sleep.as_ref().is_none_or(|(until, _)| *until != first) {
            inner.sleep = Some((first, Box::pin(vu.clock().sleep_until(first))));
        }
        match &mut inner.sleep {
            Some((_, sleep)) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// The function of the first one that is due. An interval's next turn is a whole number of intervals behind this
    /// one's: the last that has come already, if the script was too slow for those in between.
    pub(super) fn due(&self, vu: &Vu) -> Option<Persistent<Function<'static>>> {
        let inner = &mut *self.0.borrow_mut();
        let (place, timer) = inner.all.iter_mut().enumerate().min_by_key(|(_, timer)| timer.at)?;
        let late = vu.now().since(timer.at);
        if late < 0 {
            return None;
        }
        match timer.every_ns {
            Some(every) => {
                timer.at = timer.at.plus((late / every).max(1) * every);
                Some(timer.function.clone())
            }
            None => Some(inner.all.remove(place).function),
        }
    }

    /// None of them runs any more.
    pub(super) fn end(&self) {
        self.0.replace(Inner { is_over: true, ..Inner::default() });
    }
}
