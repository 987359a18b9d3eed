//! Locks, and blocking work beside the runtime.

pub(crate) mod blocking;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whether or not another holder panicked: nothing here is left half changed by a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
