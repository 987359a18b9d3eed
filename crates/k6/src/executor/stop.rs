//! What an iteration is cut off by: the end of its scenario's patience, or of the test.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Says when one user must be interrupted. Clones are the same one; it has one waiter, the user.
#[derive(Clone, Default)]
pub struct Stop(Rc<Inner>);

#[derive(Default)]
struct Inner {
    is_over: Cell<bool>,
    waiter: RefCell<Option<Waker>>,
}

impl Stop {
    /// One that nobody has used yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// For what nobody cuts off.
    pub fn never() -> Stop {
        Stop::default()
    }

    /// The user is to be interrupted, from now on.
    pub fn cut(&self) {
        self.0.is_over.set(true);
        if let Some(waiter) = self.0.waiter.take() {
            waiter.wake();
        }
    }

    /// Whether it is.
    pub fn is_over(&self) -> bool {
        self.0.is_over.get()
    }

    /// `Ready` when it is; else `cx` hears of it.
    pub fn poll_over(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        let mut waiter = self.0.waiter.borrow_mut();
        if waiter.as_ref().is_none_or(|waiter| !waiter.will_wake(cx.waker())) {
            *waiter = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_cut_hears_of_it_through_every_clone() {
        let stop = Stop::new();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(stop.poll_over(&mut cx).is_pending());
        stop.clone().cut();
        assert!(stop.is_over() && stop.poll_over(&mut cx).is_ready());
    }
}
