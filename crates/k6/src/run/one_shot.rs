//! Tasks done once in a test: the first look at the script, `setup`, `teardown`, `handleSummary`.
//!
//! Each time a user is made for it, on a thread of its own, and runs the init code first, as k6 has it.

use sonagi_measure::At;
use sonagi_transport::clock::Clock;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::executor::{Abort, Stop};
use crate::runtime::{Task, Thrown, User};

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

/// The outcome of each task of a [`OneShot`], up to the first that threw.
pub(super) type Outcomes = Vec<Result<Option<String>, Thrown>>;

/// The value that the last task returned, or the exception of the first that failed.
pub(super) fn outcome(done: Option<Outcomes>) -> Result<Option<String>, Thrown> {
    match done {
        Some(mut outcomes) => outcomes.pop().unwrap_or(Ok(None)),
        None => Err(Thrown::Error("a thread ended without a word".to_owned())),
    }
}

impl OneShot {
    /// Has the user do it.
    pub(super) async fn perform(self, clock: &Rc<Clock>, mut user: User) -> Outcomes {
        let OneShot { tasks, limit, abort, .. } = self;
        let (count, mut outcomes) = (tasks.len(), Vec::with_capacity(tasks.len()));
        for (at, task) in tasks.into_iter().enumerate() {
            let deadline = match limit {
                Some(limit) if at + 1 == count => clock.now().plus(limit.as_nanos() as i64),
                _ => At(i64::MAX),
            };
            let stop = Stop::new(deadline, clock, &abort);
            let alarm = pin!(clock.sleep_until(deadline));
            let (outcome, _) = stop.bound(alarm, user.perform(task, stop.clone())).await;
            outcomes.push(outcome);
            if outcomes.last().is_some_and(Result::is_err) {
                break;
            }
        }
        match outcomes.last() {
            // QuickJS cannot take down modules that are half evaluated; the process is about to end.
            Some(Err(Thrown::Interrupted)) => std::mem::forget(user),
            _ => drop(user),
        }
        outcomes
    }
}
