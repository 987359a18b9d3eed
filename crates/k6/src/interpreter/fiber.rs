//! A stack of its own for one virtual user: what its script calls may block, and only this user waits.
//!
//! A fiber is a future. Polled, it runs its function on the fiber's stack until the function waits for something
//! ([`block_on`]). The awaited future is then polled with the fiber; while it is pending, the fiber is. A script can
//! therefore call everything the engine has as futures as plain functions.
//!
//! The awaited future is polled on the stack of the fiber's poller. A stack keeps every page it ever reached, and
//! opening a connection reaches deep: ten thousand users would keep that memory ten thousand times.
//!
//! A fiber is never dropped half way: its stack (QuickJS's own frames included) could not be cleaned up. The owner of a
//! fiber makes its function return, or leaks it until the process ends.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use super::raw;

/// A function on a stack of its own.
pub(crate) struct Fiber {
    coroutine: ManuallyDrop<Coroutine<(), raw::Look, (), DefaultStack>>,
    awaited: Option<raw::Look>,
}

impl Fiber {
    /// `body` will run on a stack of `stack_bytes` (a guard page below it) once the fiber is polled.
    pub(crate) fn new(stack_bytes: usize, body: impl FnOnce() + 'static) -> io::Result<Fiber> {
        let stack = DefaultStack::new(stack_bytes)?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &raw::Yielder, ()| {
            raw::on_fiber(yielder, body);
        });
        Ok(Fiber { coroutine: ManuallyDrop::new(coroutine), awaited: None })
    }
}

impl Future for Fiber {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let fiber = &mut *self;
        while !fiber.coroutine.done() {
            if let Some(look) = &mut fiber.awaited {
                if !look.is_there(cx) {
                    return Poll::Pending;
                }
                fiber.awaited = None;
            }
            match fiber.coroutine.resume(()) {
                CoroutineResult::Yield(look) => fiber.awaited = Some(look),
                CoroutineResult::Return(()) => {}
            }
        }
        Poll::Ready(())
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
    let mut output = None;
    raw::wait(&mut |cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => output.replace(value).is_none(),
        Poll::Pending => false,
    });
    output.unwrap_or_else(|| unreachable!("a fiber goes on when what it waits for is there"))
}

/// Whether this is the stack of a fiber.
pub(crate) fn is_on_fiber() -> bool {
    raw::is_on_fiber()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::future::poll_fn;
    use std::rc::Rc;
    use std::task::Waker;

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
