//! Being woken at an instant, to the precision of the kernel's own timers.
//!
//! Tokio's timers are a millisecond coarse, and what `/after/10ms` adds must be nothing beside what a generator adds.
//! All who wait share one heap and one timerfd. Nobody is ever taken off the heap before its time: a connection that is
//! gone is woken in vain, which costs less than finding it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use tokio::io::unix::AsyncFd;

use crate::sync::lock;

pub(crate) struct Alarm {
    timer: AsyncFd<OwnedFd>,
    sleepers: Mutex<BinaryHeap<Sleeper>>,
}

struct Sleeper {
    due: Instant,
    waker: Waker,
}

/// The earliest is the greatest: a heap gives its greatest first.
impl Ord for Sleeper {
    fn cmp(&self, other: &Sleeper) -> Ordering {
        other.due.cmp(&self.due)
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Sleeper) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Sleeper) -> bool {
        self.due == other.due
    }
}

impl Eq for Sleeper {}

impl Alarm {
    /// Call within the runtime.
    pub(crate) fn new() -> io::Result<Alarm> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an owned descriptor that nobody else closes is what it asks for"
        )]
        let timer = AsyncFd::new(timer)?;
        Ok(Alarm { timer, sleepers: Mutex::default() })
    }

    /// Wakes at `due`. The woken looks at the clock itself: it may be woken for other reasons.
    pub(crate) fn wake_at(&self, due: Instant, waker: Waker) {
        let mut sleepers = lock(&self.sleepers);
        let is_earliest = sleepers.peek().is_none_or(|earliest| due < earliest.due);
        sleepers.push(Sleeper { due, waker });
        if is_earliest {
            self.set(due);
        }
    }

    pub(crate) async fn sleep_until(&self, due: Instant) {
        let mut asked = false;
        poll_fn(|cx| {
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            if !std::mem::replace(&mut asked, true) {
                self.wake_at(due, cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Wakes who is due, for ever.
    pub(crate) async fn drive(&self) {
        let mut due = Vec::new();
        while let Ok(mut rung) = self.timer.readable().await {
            // Setting the timer again is what resets it: reading how often it rang would be one call more.
            rung.clear_ready();
            drop(rung);
            {
                let mut sleepers = lock(&self.sleepers);
                let now = Instant::now();
                while let Some(next) = sleepers.peek() {
                    if next.due > now {
                        self.set(next.due);
                        break;
                    }
                    due.extend(sleepers.pop().map(|sleeper| sleeper.waker));
                }
            }
            due.drain(..).for_each(Waker::wake);
        }
    }

    fn set(&self, due: Instant) {
        // A zero interval would disarm the timer instead of ringing it at once.
        let wait = due.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let value = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        rustix::time::timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &once)
            .expect("a timerfd takes any positive interval");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn sleepers_wake_in_the_order_they_are_due_and_never_early() {
        let alarm = Arc::new(Alarm::new().unwrap());
        let driver = alarm.clone();
        let driver = tokio::spawn(async move { driver.drive().await });
        let start = Instant::now();
        let order = Arc::new(Mutex::new(Vec::new()));
        // The second is asked for last and due first: the timer must be set back.
        let waits = [20, 5, 12, 0].map(Duration::from_millis);
        let sleeps = waits.map(|wait| {
            let (alarm, order) = (alarm.clone(), order.clone());
            tokio::spawn(async move {
                alarm.sleep_until(start + wait).await;
                lock(&order).push(wait);
                start.elapsed()
            })
        });
        for (sleep, wait) in sleeps.into_iter().zip(waits) {
            assert!(sleep.await.unwrap() >= wait);
        }
        assert_eq!(*lock(&order), [0, 5, 12, 20].map(Duration::from_millis));
        driver.abort();
    }
}
