//! The one clock: nanoseconds of the monotonic clock, which timerfd and sleeping understand too.

use rustix::time::{ClockId, Timespec, clock_gettime};

pub(crate) const MICROSECOND: u64 = 1_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

pub(crate) fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / SECOND) as i64, tv_nsec: (nanos % SECOND) as i64 }
}

/// Sleeps until the instant; returns at once when it is past.
pub(crate) fn sleep_until(instant: u64) {
    // A signal may cut the sleep short: the round then only begins early.
    let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &timespec(instant));
}

/// For the JSON line.
pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / SECOND as f64
}
