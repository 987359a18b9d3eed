//! How late a proxy is itself: bytes that it writes on late read as slowness of the service behind it.
//!
//! The one decision a reader would question: beats count beside the pieces of bytes. A thread that is held up reads
//! late, and what it reads late is due late as well; where the network adds no latency, a piece is due when it is read.

use sonagi_measure::histogram::{Histogram, Quantiles};
use sonagi_measure::summary::NETWORK_LATE_MS;
use sonagi_transport::clock::Clock;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often the proxy's thread notes how late it is, whatever is under way: as often as the load's own threads do.
const BEAT_NS: i64 = 10_000_000;

/// How late a proxy is, shared by its thread and whoever asks once a second.
#[derive(Clone, Debug, Default)]
pub struct Lateness(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    /// Since it was taken last.
    since: Histogram,
    /// Seconds on end that were late: by now, and at most.
    late_now: u64,
    late_most: u64,
}

impl Lateness {
    /// A piece that was due was written, or a beat came, so many nanoseconds later.
    pub(super) fn record(&self, late_ns: i64) {
        self.counted().since.record_ns(late_ns);
    }

    /// Forgets all so far: a run begins.
    pub fn begin(&self) {
        *self.counted() = Counted::default();
    }

    /// How late it was since this was asked last (ms): for one who asks once a second.
    pub fn take(&self) -> Quantiles {
        let mut counted = self.counted();
        let second = std::mem::take(&mut counted.since).quantiles();
        // A second without a beat is one that was held up from its begin to its end.
        let is_late = second.count == 0 || second.p99 > NETWORK_LATE_MS;
        counted.late_now = if is_late { counted.late_now + 1 } else { 0 };
        counted.late_most = counted.late_most.max(counted.late_now);
        second
    }

    /// The most seconds on end so far in which it was late at the 99th percentile.
    pub fn late_s(&self) -> u64 {
        self.counted().late_most
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes how late this thread is, again and again; never returns. Each beat that a hold-up swallowed counts.
pub(super) async fn beat(clock: Rc<Clock>, lateness: Lateness) {
    let mut due = clock.now();
    loop {
        due = due.plus(BEAT_NS);
        clock.sleep_until(due).await;
        lateness.record(clock.now().since(due));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::{Instant, advance};

    /// A second in which two of a hundred were late by these milliseconds.
    fn second(lateness: &Lateness, late_ms: i64) -> Quantiles {
        (0..98).for_each(|_| lateness.record(50_000));
        (0..2).for_each(|_| lateness.record(late_ms * 1_000_000));
        lateness.take()
    }

    #[test]
    fn a_second_is_late_by_its_99th_percentile_and_seconds_on_end_are_counted() {
        let lateness = Lateness::default();
        let seen = second(&lateness, 7);
        assert_eq!((seen.count, seen.p50, seen.p99.floor(), seen.max.floor()), (100, 0.05, 7.0, 7.0));
        let late_s = |late_ms| {
            second(&lateness, late_ms);
            lateness.late_s()
        };
        assert_eq!([7, 0, 2, 2, 2, 0, 3].map(late_s), [2, 2, 2, 2, 3, 3, 3]);
        let held_up = [lateness.take(), lateness.take(), lateness.take()].map(|second| second.count);
        assert_eq!((held_up, lateness.late_s()), ([0; 3], 4));
        lateness.begin();
        assert_eq!((lateness.late_s(), lateness.take().count), (0, 0));
    }

    #[test]
    fn every_beat_that_a_hold_up_swallowed_is_late_by_its_own_time() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let seen = tokio::task::LocalSet::new().block_on(&runtime, async {
            let (clock, lateness) = (Clock::simulated(Instant::now()), Lateness::default());
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            tokio::task::spawn_local(beat(clock, lateness.clone()));
            tokio::task::yield_now().await;
            advance(Duration::from_millis(55)).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
            lateness.take()
        });
        // Due at 10, 20, 30, 40 and 50 ms.
        assert_eq!((seen.count, seen.min.floor(), seen.max.floor()), (5, 5.0, 45.0));
    }
}
