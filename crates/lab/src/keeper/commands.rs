//! Commands of a script that are run to their end: before and after the service, and around the restart of one that
//! runs already.

use super::hearing::OnLine;
use super::{Keeper, LONGEST_LOOK, LOOK, Left};
use crate::job::Event;
use crate::log::quoted;
use crate::starter::CANNOT;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time limit for the rest of what a command has printed.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How a command was run without which there is no run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ran {
    Well,
    Failed,
    /// Somebody asked to end meanwhile.
    CutOff,
}

impl Keeper {
    /// Runs a command without which there is no run; what goes wrong with it is the failure of the start.
    pub(super) fn run_first(&mut self, name: &str, words: &[String]) -> Ran {
        let limit = self.time_limits().change;
        let (left, status) = self.run_to_end(words, limit, true, None);
        match (wrong(name, left, status, limit), left) {
            (Some(why), _) => {
                self.fail(why, None);
                Ran::Failed
            }
            (None, Left::Done) => Ran::Well,
            (None, _) => Ran::CutOff,
        }
    }

    /// Runs a command that puts things right, which nobody cuts off; what goes wrong with it is told, and changes
    /// nothing else. Whether it ended well.
    pub(super) fn run_last(&mut self, name: &str, words: &[String], limit: Duration) -> bool {
        let (left, status) = self.run_to_end(words, limit, false, None);
        let wrong = wrong(name, left, status, limit);
        if let Some(why) = &wrong {
            let said = self.log().last_lines();
            self.voice.tell(&Event::Trouble(format!("{why}{}", quoted(&said))));
        }
        wrong.is_none()
    }

    /// Runs a command that is not the service to its end; how that was left, and its status.
    pub(super) fn run_to_end(
        &mut self,
        words: &[String],
        limit: Duration,
        is_interruptible: bool,
        on_line: Option<OnLine>,
    ) -> (Left, Option<i32>) {
        let (child, hearing) = match self.spawn(words, false, Stdio::null(), on_line) {
            Ok(started) => started,
            Err(error) => {
                self.log().add(format!("{CANNOT}`{}`: {error}\n", words.join(" ")).as_bytes());
                return (Left::Done, None);
            }
        };
        let id = child.id() as i32;
        let began = Instant::now();
        let mut look = LOOK;
        let (left, status) = loop {
            if let Some(status) = self.reap(Some(id)) {
                break (Left::Done, Some(status));
            }
            if began.elapsed() > limit {
                break (Left::TooLate, None);
            }
            match self.hear(look) {
                Some(left) if is_interruptible => break (left, None),
                Some(_) | None => {}
            }
            look = (look * 2).min(LONGEST_LOOK);
        };
        if left != Left::Done {
            self.kill_all();
        }
        hearing.catch_up(LAST_WORDS);
        self.leaves_pipe = left == Left::Done && hearing.is_open();
        (left, status)
    }
}

/// What went wrong with a command; None: it ended well, or was not waited for since nobody wants to know.
pub(super) fn wrong(name: &str, left: Left, status: Option<i32>, limit: Duration) -> Option<String> {
    match (left, status.map(ExitStatus::from_raw)) {
        (Left::Done, Some(status)) if status.success() => None,
        (Left::Done, Some(status)) => Some(format!("`{name}` ended with {status}")),
        (Left::Done, None) => Some(format!("`{name}` could not be started")),
        (Left::TooLate, _) => Some(format!("`{name}` did not end within {} s", limit.as_secs_f64())),
        (Left::Asked | Left::AtOnce, _) => None,
    }
}
