//! Tasks done once in a test: the first look at the script, `setup`, `teardown`, `handleSummary`.
//!
//! Each time a user is made for it, on a thread of its own, and runs the init code first, as k6 has it.

use sonagi_measure::At;
use sonagi_transport::clock::Clock;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::executor::{Abort, Stop};
use crate::runtime::{Task, Thrown, User};
use crate::shard::Shard;

/// Tasks that a user made for them does once.
pub(super) struct OneShot {
    /// One after the other, until one throws.
    pub(super) tasks: Vec<Task>,
    /// How long the last of them may take.
    pub(super) limit: Option<Duration>,
    /// Ends any of them early.
    pub(super) abort: Arc<Abort>,
    /// When the test under way began, and its users: what scripts may ask for (`exec.instance`) in `setup`.
    pub(super) under_way: Option<(At, u64)>,
}

/// The result of a [`OneShot`].
pub(super) struct OneShotDone {
    /// The outcome of each task, up to the first that threw.
    pub(super) outcomes: Vec<Result<Option<String>, Thrown>>,
    /// The script said that the test has failed.
    pub(super) has_failed: bool,
}

impl OneShot {
    /// Has the user do it.
    pub(super) async fn perform(self, shard: &Rc<Shard>, mut user: User) -> OneShotDone {
        let OneShot { tasks, limit, abort, .. } = self;
        let clock = &shard.clock;
        let (count, mut outcomes) = (tasks.len(), Vec::with_capacity(tasks.len()));
        for (at, task) in tasks.into_iter().enumerate() {
            let deadline = match limit {
                Some(limit) if at + 1 == count => clock.now().plus(limit.as_nanos() as i64),
                _ => At(i64::MAX),
            };
            let stop = Stop::new(deadline, clock, &abort);
            let watchman = tokio::task::spawn_local(wake(stop.clone(), Rc::clone(clock), Arc::clone(&abort)));
            outcomes.push(user.perform(task, stop).await);
            watchman.abort();
            if outcomes.last().is_some_and(Result::is_err) {
                break;
            }
        }
        match outcomes.last() {
            // QuickJS cannot take down modules that are half evaluated; the process is about to end.
            Some(Err(Thrown::Interrupted)) => std::mem::forget(user),
            _ => drop(user),
        }
        OneShotDone { outcomes, has_failed: shard.has_failed.get() }
    }
}

/// Lets a user that waits look at its stop again when that is due.
async fn wake(stop: Stop, clock: Rc<Clock>, abort: Arc<Abort>) {
    tokio::select! {
        () = abort.wait() => {}
        () = clock.sleep_until(stop.deadline()), if stop.deadline() < At(i64::MAX) => {}
    }
    stop.pull();
}
