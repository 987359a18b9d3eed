//! One shard's time: instants since the run's start, and sleeping until one of them.
//!
//! Tokio's own timers are a millisecond coarse, which would bunch arrivals and add up to a millisecond to every latency
//! counted from a planned send. All sleepers of a shard therefore share one heap and one kernel timer (timerfd). Under
//! simulated time, where there is no kernel to ask, the same heap hangs on tokio's paused clock.
//!
//! Setting the kernel's timer is the expensive part (a system call, and an exit to the hypervisor). It is set once per
//! ring, after the woken tasks have registered their next deadlines, and not at all while it is set to an earlier
//! instant anyway.

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use sonagi_measure::At;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

/// A shard's clock, shared by everything on the shard.
pub struct Clock {
    epoch: Cell<Instant>,
    timers: RefCell<Timers>,
    alarm: RefCell<Alarm>,
    /// Maximum timer lateness since [`Clock::take_lateness`] was called last (ns).
    lateness: Cell<i64>,
}

/// Wakes the shard for the earliest sleeper.
enum Alarm {
    Kernel(AsyncFd<OwnedFd>),
    Simulated(Pin<Box<tokio::time::Sleep>>),
}

#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Reverse<(At, u32, u32)>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    driver: Option<Waker>,
    /// The instant the alarm rings at; None: it is not set.
    armed: Option<At>,
}

/// A sleeper's slot. A heap entry whose generation is not the slot's belongs to a sleeper that is gone.
#[derive(Default)]
struct Slot {
    generation: u32,
    waker: Option<Waker>,
}

impl Clock {
    /// A clock on the kernel's timer; `epoch` is the run's start. Call within a runtime.
    pub fn real(epoch: Instant) -> io::Result<Rc<Clock>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an owned descriptor that nobody else closes is what it asks for"
        )]
        let timer = AsyncFd::new(timer)?;
        Ok(Clock::new(epoch, Alarm::Kernel(timer)))
    }

    /// A clock on the runtime's own time, which simulations pause.
    pub fn simulated(epoch: Instant) -> Rc<Clock> {
        Clock::new(epoch, Alarm::Simulated(Box::pin(tokio::time::sleep_until(epoch))))
    }

    fn new(epoch: Instant, alarm: Alarm) -> Rc<Clock> {
        Rc::new(Clock {
            epoch: Cell::new(epoch),
            timers: RefCell::default(),
            alarm: RefCell::new(alarm),
            lateness: Cell::new(0),
        })
    }

    /// Now, from the run's start.
    pub fn now(&self) -> At {
        let (now, epoch) = (Instant::now(), self.epoch.get());
        match now.checked_duration_since(epoch) {
            Some(after) => At(after.as_nanos() as i64),
            None => At(-(epoch.duration_since(now).as_nanos() as i64)),
        }
    }

    /// Moves the epoch: instants count from `epoch` from now on. Nobody may be asleep: a sleeper would wake by the
    /// wrong instant.
    pub fn set_epoch(&self, epoch: Instant) {
        self.epoch.set(epoch);
        self.timers.borrow_mut().armed = None;
    }

    /// Sleeps until `at`; ready at once when it has passed.
    pub fn sleep_until(self: &Rc<Self>, at: At) -> Sleep {
        Sleep { clock: Rc::clone(self), at, slot: None }
    }

    /// Wakes every sleeper early: each checks what changed (a run that stops) and sleeps on if nothing did.
    pub fn wake_all(&self) {
        let wakers: Vec<Waker> =
            self.timers.borrow().slots.iter().filter_map(|slot| slot.waker.clone()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Maximum timer lateness since the last call (ns).
    pub fn take_lateness(&self) -> i64 {
        self.lateness.take()
    }

    /// Wakes sleepers when they are due; never returns. One task per shard runs it.
    pub async fn drive(self: Rc<Self>) {
        std::future::poll_fn(|cx| self.poll_drive(cx)).await;
    }

    fn poll_drive(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.timers.borrow().armed.is_some() && self.alarm.borrow_mut().poll_rung(cx).is_ready() {
                self.timers.borrow_mut().armed = None;
            }
            let now = self.now();
            if let Some(at) = self.timers.borrow_mut().earliest() {
                self.lateness.set(self.lateness.get().max(now.since(at)));
            }
            let due = self.timers.borrow_mut().take_due(now);
            if !due.is_empty() {
                due.into_iter().for_each(Waker::wake);
                // They run first, and usually sleep again: then the alarm is set once for all of them.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let mut timers = self.timers.borrow_mut();
            timers.driver.get_or_insert_with(|| cx.waker().clone());
            let Some(next) = timers.earliest() else { return Poll::Pending };
            if timers.armed.is_some_and(|armed| armed <= next) {
                return Poll::Pending;
            }
            timers.armed = Some(next);
            drop(timers);
            // A zero interval would disarm the kernel's timer instead of ringing it at once.
            let wait = Duration::from_nanos(next.since(self.now()).max(1) as u64);
            self.alarm.borrow_mut().set(wait);
        }
    }
}

impl Alarm {
    /// Sets the alarm to ring after `wait`, in place of what it was set to.
    fn set(&mut self, wait: Duration) {
        match self {
            Alarm::Kernel(timer) => {
                let value =
                    Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
                let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
                rustix::time::timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &once)
                    .expect("a timerfd takes any positive interval");
            }
            Alarm::Simulated(sleep) => sleep.as_mut().reset(Instant::now() + wait),
        }
    }

    /// Ready once the alarm has rung; until then it registers the task's waker. Call it only while the alarm is set. A
    /// ring that `set` has overtaken may still be reported: due sleepers are found by the clock.
    fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Alarm::Kernel(timer) => {
                // The expirations are not read: setting the timer anew clears them, and its next ring is reported
                // anew.
                let mut ready = ready!(timer.poll_read_ready(cx)).expect("the runtime outlives its timers");
                ready.clear_ready();
                Poll::Ready(())
            }
            Alarm::Simulated(sleep) => sleep.as_mut().poll(cx),
        }
    }
}

impl Timers {
    fn insert(&mut self, at: At, waker: Waker) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize].waker = Some(waker);
        self.heap.push(Reverse((at, slot, self.slots[slot as usize].generation)));
        if self.armed.is_none_or(|armed| at < armed)
            && let Some(driver) = self.driver.take()
        {
            driver.wake();
        }
        slot
    }

    fn remove(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        place.generation = place.generation.wrapping_add(1);
        place.waker = None;
        self.free.push(slot);
        // Sleepers that were dropped (answered before their time limit) may outnumber the living: sweep them out.
        if self.heap.len() > 1024 && self.heap.len() > 4 * (self.slots.len() - self.free.len()) {
            let slots = &self.slots;
            self.heap
                .retain(|Reverse((_, slot, generation))| slots[*slot as usize].generation == *generation);
        }
    }

    fn earliest(&mut self) -> Option<At> {
        while let Some(Reverse((at, slot, generation))) = self.heap.peek() {
            let place = &self.slots[*slot as usize];
            if place.generation == *generation && place.waker.is_some() {
                return Some(*at);
            }
            self.heap.pop();
        }
        None
    }

    fn take_due(&mut self, now: At) -> Vec<Waker> {
        let mut due = Vec::new();
        while self.earliest().is_some_and(|at| at <= now) {
            if let Some(Reverse((_, slot, _))) = self.heap.pop() {
                due.extend(self.slots[slot as usize].waker.take());
            }
        }
        due
    }
}

/// A future that is ready at an instant; see [`Clock::sleep_until`].
pub struct Sleep {
    clock: Rc<Clock>,
    at: At,
    slot: Option<u32>,
}

impl Sleep {
    /// The instant slept until.
    pub fn until(&self) -> At {
        self.at
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(slot) = this.slot {
            let mut timers = this.clock.timers.borrow_mut();
            // Asleep until rung: a task that is polled for other reasons, a message say, need not read the clock.
            if let Some(waker) = &mut timers.slots[slot as usize].waker {
                waker.clone_from(cx.waker());
                return Poll::Pending;
            }
            timers.remove(slot);
            this.slot = None;
        }
        // Woken or new. (A woken sleeper may find the clock slightly before its instant: then it sleeps again.)
        if this.clock.now() >= this.at {
            return Poll::Ready(());
        }
        this.slot = Some(this.clock.timers.borrow_mut().insert(this.at, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.clock.timers.borrow_mut().remove(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn order(clock: &Rc<Clock>, waits_ns: &[i64]) -> Vec<usize> {
        let woken = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = waits_ns
            .iter()
            .enumerate()
            .map(|(index, wait)| {
                let (sleep, woken, clock) =
                    (clock.sleep_until(At(*wait)), Rc::clone(&woken), Rc::clone(clock));
                tokio::task::spawn_local(async move {
                    let due = sleep.until();
                    sleep.await;
                    assert!(clock.now() >= due, "woken early");
                    woken.borrow_mut().push(index);
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        woken.take()
    }

    fn on_a_shard<T>(test: impl AsyncFnOnce() -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        tokio::task::LocalSet::new().block_on(&runtime, test())
    }

    #[test]
    fn sleepers_a_few_microseconds_apart_wake_in_their_order() {
        on_a_shard(async || {
            let clock = Clock::real(Instant::now()).expect("timerfd");
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let waits = [5_300_000, 5_100_000, 5_200_000, 5_110_000, 0];
            assert_eq!(order(&clock, &waits).await, [4, 1, 3, 2, 0]);
        });
    }

    #[test]
    fn a_sleeper_that_wants_up_before_the_alarm_sets_it_anew() {
        on_a_shard(async || {
            let clock = Clock::real(Instant::now()).expect("timerfd");
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let late = clock.sleep_until(At(3_600_000_000_000));
            tokio::task::spawn_local(late);
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            assert_eq!(clock.timers.borrow().armed, Some(At(3_600_000_000_000)));
            let soon = clock.now().plus(1_000_000);
            tokio::time::timeout(Duration::from_secs(60), clock.sleep_until(soon)).await.expect("it rang");
        });
    }

    #[test]
    fn an_alarm_for_a_sleeper_that_is_gone_does_not_forget_the_others() {
        on_a_shard(async || {
            let clock = Clock::real(Instant::now()).expect("timerfd");
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            let soon = clock.now().plus(1_000_000);
            let gone = tokio::task::spawn_local(clock.sleep_until(soon));
            tokio::task::yield_now().await;
            gone.abort();
            let other = clock.sleep_until(soon.plus(2_000_000));
            tokio::time::timeout(Duration::from_secs(60), other).await.expect("it rang");
        });
    }

    #[test]
    fn sleepers_who_wake_together_and_sleep_on_set_the_alarm_once() {
        on_a_shard(async || {
            let clock = Clock::real(Instant::now()).expect("timerfd");
            tokio::task::spawn_local(Rc::clone(&clock).drive());
            tokio::task::spawn_local(clock.sleep_until(At(3_600_000_000_000)));
            let together = clock.now().plus(1_000_000);
            let nap = |n: i64| {
                let clock = Rc::clone(&clock);
                tokio::task::spawn_local(async move {
                    clock.sleep_until(together).await;
                    let set_before = clock.timers.borrow().armed;
                    tokio::task::spawn_local(clock.sleep_until(At(3_600_000_000_000 - n)));
                    set_before
                })
            };
            let naps: Vec<_> = (0..50).map(nap).collect();
            for nap in naps {
                let set_before = nap.await.expect("no panic");
                assert!(set_before.is_none(), "set to {set_before:?} before all had spoken");
            }
        });
    }

    #[test]
    fn dropped_sleepers_leave_no_timers_behind() {
        on_a_shard(async || {
            let clock = Clock::real(Instant::now()).expect("timerfd");
            for n in 0..10_000 {
                let mut sleep = Box::pin(clock.sleep_until(At(1_000_000_000_000 + n)));
                std::future::poll_fn(|cx| {
                    assert!(sleep.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            let timers = clock.timers.borrow();
            assert!(timers.heap.len() <= 1025, "{}", timers.heap.len());
            assert_eq!(timers.slots.len(), 1);
        });
    }

    #[tokio::test(start_paused = true)]
    async fn simulated_time_passes_without_waiting() {
        let clock = Clock::simulated(Instant::now());
        tokio::task::LocalSet::new()
            .run_until(async {
                tokio::task::spawn_local(Rc::clone(&clock).drive());
                clock.sleep_until(At(3_600_000_000_000)).await;
                assert_eq!(clock.now().second(), 3600);
            })
            .await;
    }
}
