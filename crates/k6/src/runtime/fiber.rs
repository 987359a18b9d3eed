//! A stack of its own for one virtual user: what its script calls may block, and only this user waits.
//!
//! A fiber is a future. Polled, it runs its function on the fiber's stack until that asks for something that is not there
//! yet ([`block_on`]); then the poll is over, and the waker the fiber was polled with is the one that what it waits for will
//! call. So everything the engine has as futures can be called from a script as a plain function.
//!
//! A fiber is never dropped half way: what lies on its stack (QuickJS's own frames among it) could not be cleaned up. Whoever
//! owns one makes its function return, or leaves it where it is until the process ends.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::raw;

/// What runs on the fiber's stack takes wakers in and gives nothing out but its end.
pub(super) type Yielder = corosensei::Yielder<Waker, ()>;

/// A function on a stack of its own.
pub(crate) struct Fiber {
    coroutine: ManuallyDrop<Coroutine<Waker, (), (), DefaultStack>>,
}

impl Fiber {
    /// `body` will run on a stack of `stack_bytes` (a guard page below it) once the fiber is polled.
    pub(crate) fn new(stack_bytes: usize, body: impl FnOnce() + 'static) -> io::Result<Fiber> {
        let stack = DefaultStack::new(stack_bytes)?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder, waker| {
            raw::on_fiber(yielder, waker, body);
        });
        Ok(Fiber { coroutine: ManuallyDrop::new(coroutine) })
    }
}

impl Future for Fiber {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.coroutine.done() {
            return Poll::Ready(());
        }
        match self.coroutine.resume(cx.waker().clone()) {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(()) => Poll::Ready(()),
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.coroutine.done() || !self.coroutine.started() {
            // Dropped once, here, and never looked at again.
            raw::drop_coroutine(&mut self.coroutine);
        }
    }
}

/// Waits for `future` on the current fiber; others go on meanwhile. Panics where there is no fiber.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut waker = raw::waker();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        waker = raw::suspend();
    }
}

/// Whether this is the stack of a fiber.
pub(crate) fn is_here() -> bool {
    raw::is_on_fiber()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::future::poll_fn;
    use std::rc::Rc;

    /// A future that is there at the second look.
    fn second_look(log: Rc<RefCell<Vec<String>>>, name: String) -> impl Future<Output = ()> {
        let mut looks = 0;
        poll_fn(move |cx| {
            looks += 1;
            log.borrow_mut().push(format!("{name}{looks}"));
            cx.waker().wake_by_ref();
            if looks == 2 { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    #[test]
    fn what_blocks_on_one_fiber_lets_the_others_go_on() {
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut fibers: Vec<Fiber> = ["a", "b"]
            .map(|name| {
                let log = Rc::clone(&log);
                Fiber::new(64 << 10, move || {
                    for turn in 0..2 {
                        block_on(second_look(Rc::clone(&log), format!("{name}{turn}.")));
                    }
                })
                .unwrap()
            })
            .into();
        let mut cx = Context::from_waker(Waker::noop());
        let mut open = 2;
        while open > 0 {
            open =
                fibers.iter_mut().map(|fiber| Pin::new(fiber).poll(&mut cx)).filter(Poll::is_pending).count();
        }
        assert_eq!(log.borrow().join(" "), "a0.1 b0.1 a0.2 a1.1 b0.2 b1.1 a1.2 b1.2");
    }

    #[test]
    fn a_fiber_that_was_never_begun_can_be_dropped() {
        let held = Rc::new(());
        let inside = Rc::clone(&held);
        drop(Fiber::new(64 << 10, move || drop(inside)).unwrap());
        assert_eq!(Rc::strong_count(&held), 1);
    }
}
