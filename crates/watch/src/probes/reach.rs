//! Whether a service answers: told when that changes, and no oftener than anybody wants to read.

use crate::probe::{Readings, Unread};
use std::time::{Duration, Instant};

/// So many looks in vain are no accident.
const LOST_AFTER: u32 = 3;
/// Changes that are told, at most.
const TOLD_MAX: u32 = 10;
/// The longest wait before a service that does not answer is tried again.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// What became of the attempts to reach a service.
#[derive(Debug, Default)]
pub(super) struct Reach {
    answered: bool,
    is_lost: bool,
    failures: u32,
    told: u32,
    again_at: Option<Instant>,
}

impl Reach {
    /// Whether it is too early for the next attempt.
    pub(super) fn is_waiting(&self) -> bool {
        self.again_at.is_some_and(|at| Instant::now() < at)
    }

    /// Takes the result of an attempt.
    pub(super) fn took<T>(
        &mut self,
        attempt: Result<T, Unread>,
        readings: &mut Readings<'_>,
    ) -> Result<T, Unread> {
        match &attempt {
            Ok(_) => {
                if self.is_lost {
                    self.tell("it answers again", readings);
                }
                *self = Reach { answered: true, told: self.told, ..Reach::default() };
            }
            Err(unread) => {
                self.failures += 1;
                let wait = Duration::from_millis(500) * 2u32.saturating_pow(self.failures.min(8));
                self.again_at = Some(Instant::now() + wait.min(WAIT_MAX) - Duration::from_millis(100));
                if self.answered && !self.is_lost && self.failures >= LOST_AFTER {
                    self.is_lost = true;
                    self.tell(&format!("it stopped answering: {unread}"), readings);
                }
            }
        }
        attempt
    }

    fn tell(&mut self, text: &str, readings: &mut Readings<'_>) {
        if self.told < TOLD_MAX {
            self.told += 1;
            readings.happened(text);
        }
    }
}
