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
    /// One after the other, until one throws; with how long each may take.
    pub(super) tasks: Vec<(Task, Option<Duration>)>,
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
        let mut outcomes = Vec::with_capacity(self.tasks.len());
        for (task, limit) in self.tasks {
            let deadline = limit.map_or(At(i64::MAX), |limit| clock.now().plus(limit.as_nanos() as i64));
            let stop = Stop::new(deadline, clock, &self.abort);
            let alarm = pin!(clock.sleep_until(deadline));
            let (outcome, _) = stop.bound(alarm, user.perform(task, stop.clone())).await;
            let has_thrown = outcome.is_err();
            outcomes.push(outcome);
            if has_thrown {
                break;
            }
        }
        if matches!(outcomes.last(), Some(Err(Thrown::Interrupted))) {
            // QuickJS cannot take down modules that are half evaluated; the process is about to end.
            std::mem::forget(user);
        }
        outcomes
    }
}
