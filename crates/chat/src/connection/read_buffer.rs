//! A buffer per thread, into which all its connections read: a sleeping connection owns none.

use std::cell::RefCell;

/// Bytes of the read buffer each thread shares among its connections.
const SCRATCH: usize = 64 * 1024;

thread_local! {
    static SCRATCH_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into_boxed_slice());
}

/// Lends the buffer of this thread; not to be asked for again inside.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    SCRATCH_BUFFER.with_borrow_mut(|buffer| work(buffer))
}
