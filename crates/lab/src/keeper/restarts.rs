//! A service that runs already: taken for one run, given that run's settings, and its own ones again.

use super::commands::{Ran, wrong};
use super::hearing::OnLine;
use super::{Keeper, LONGEST_LOOK, LOOK, Left};
use crate::job::{Event, RestartJob};
use crate::log::{Stream, quoted};
use crate::service_lock::{ServiceLock, Taker};
use crate::settings::ReadBack;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is wrong with a restart whose service prints into our pipe, and what helps.
const LEFT_PIPE: &str =
    "what `restart` left running writes to the output of `restart`, which ends with the run";
const LEFT_PIPE_HINT: &str =
    "let it write to a file: `./chat > chat.log 2>&1 &`; nohup alone does not do that here";
/// Lines of an answer that are read.
const ANSWER_LINES: usize = 100;

impl Keeper {
    /// Takes the service for this run, whether it is this run's. The command has it, so the keeper that still has it is
    /// that of another command, which is gone: it only restores the service, and is waited for.
    pub(super) fn take_service(&mut self, restart: &RestartJob) -> bool {
        let (began, mut look, mut is_told) = (Instant::now(), LOOK, false);
        loop {
            match ServiceLock::take(&restart.service, Taker::Keeper) {
                Ok(Some(lock)) => {
                    self.lock = Some(lock);
                    return true;
                }
                Ok(None) => {}
                Err(error) => {
                    self.refuse(restart, &format!("it cannot be kept from other runs: {error}"), None);
                    return false;
                }
            }
            if began.elapsed() >= wait_limit(restart) {
                let why = format!(
                    "another run{} has not given it its own settings back within {} s",
                    holder(restart),
                    wait_limit(restart).as_secs()
                );
                let hint = "see what `restore` or `restart` of the other run waits for".to_owned();
                self.refuse(restart, &why, Some(hint));
                return false;
            }
            if !std::mem::replace(&mut is_told, true) {
                self.voice.tell(&Event::Notice(format!(
                    "launch: another run{} gives the service at {} its own settings back; waiting for that, {} s at \
                     most",
                    holder(restart),
                    restart.ready.address,
                    wait_limit(restart).as_secs()
                )));
            }
            if self.hear(look).is_some() {
                return false;
            }
            look = (look * 2).min(LONGEST_LOOK);
        }
    }

    fn refuse(&self, restart: &RestartJob, why: &str, hint: Option<String>) {
        let what = format!("the service at {} was not restarted: {why}", restart.ready.address);
        self.voice.tell(&Event::Refused { what, hint });
    }

    /// Gives the service the settings of the run; whether it was restarted.
    pub(super) fn restart(&mut self, restart: &RestartJob) -> bool {
        // From here on it may have them, whatever becomes of the commands.
        self.is_changed = true;
        self.voice.tell(&Event::Changing);
        if let Some(apply) = &restart.commands.apply
            && self.run_first("apply", &apply.words) != Ran::Well
        {
            return false;
        }
        let command = self.job.command.clone();
        let ran = self.run_first("restart", &command);
        // Without a `restore` as well it must not be left without a service.
        self.is_halfway = ran != Ran::Well;
        if ran != Ran::Well {
            return false;
        }
        if self.leaves_pipe {
            self.fail(LEFT_PIPE.to_owned(), Some(LEFT_PIPE_HINT.to_owned()));
            return false;
        }
        let said = self.log().last_lines();
        self.voice.tell(&Event::Restarted { said });
        true
    }

    /// Asks the restarted service for its setting, and tells whether it is the one that was made; how to end, if that
    /// was asked meanwhile.
    pub(super) fn read_back(&mut self) -> Option<Left> {
        let read = self.job.restart.as_ref().and_then(|restart| restart.commands.read.clone());
        let Some(ReadBack { command, equals }) = read else {
            self.voice.tell(&Event::Agreed);
            return None;
        };
        let answer = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&answer);
        let on_line: OnLine = Arc::new(move |stream, line| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            if stream == Stream::Out && lines.len() < ANSWER_LINES {
                lines.push(line);
            }
        });
        let limit = self.time_limits().ask;
        let (left, status) = self.run_to_end(&command.words, limit, true, Some(on_line));
        if let Some(why) = wrong("read", left, status, limit) {
            self.fail(why, None);
            return None;
        }
        if left != Left::Done {
            return Some(left);
        }
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
        let (answer, wanted) = (answer.trim(), equals.trim());
        if answer == wanted {
            self.voice.tell(&Event::Agreed);
            return None;
        }
        let why =
            format!("`read` must print \"{wanted}\", the setting that was made; it printed \"{answer}\"");
        let hint =
            "`apply` changed something else, or the service has not read it: try both by hand".to_owned();
        self.fail(why, Some(hint));
        None
    }

    /// Gives the service its own settings back, if it may have others, and waits until it is ready again.
    pub(super) fn give_back(&mut self) {
        let Some(restart) = self.job.restart.clone().filter(|_| std::mem::take(&mut self.is_changed)) else {
            return;
        };
        let limit = restart.limits.change;
        let is_silent = std::mem::take(&mut self.leaves_pipe);
        let is_restored = match &restart.commands.restore {
            Some(restore) => self.run_last("restore", &restore.words, limit),
            None if self.is_halfway => false,
            None => return,
        };
        let mut command = self.job.command.clone();
        if is_silent {
            // What it leaves running must not die of our pipe.
            let silent = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/null 2>&1"];
            command.splice(0..0, silent.map(str::to_owned));
        }
        if self.run_last("restart", &command, limit) {
            let was = if is_restored { "given its own settings back" } else { "restarted once more" };
            self.wait_until_ready(&restart, was);
        }
    }

    /// Waits until a service that `was` restored is ready again, and tells if it is not within its time. Whoever wants
    /// to end at once does not wait for that.
    fn wait_until_ready(&mut self, restart: &RestartJob, was: &str) {
        let (began, mut look) = (Instant::now(), LOOK);
        while !self.is_hurried {
            let Err(why) = restart.ready.ask() else { return };
            if began.elapsed() >= restart.patience {
                let (seconds, said) = (restart.patience.as_secs_f64(), self.log().last_lines());
                self.voice.tell(&Event::Trouble(format!(
                    "launch: the service was {was}, and is not ready after {seconds} s: {why}{}\nhint: see to it by \
                     hand; `patience` is the time it has",
                    quoted(&said)
                )));
                return;
            }
            self.hear(look);
            look = (look * 2).min(LONGEST_LOOK);
        }
    }
}

/// The longest that another run which restores the service is waited for.
fn wait_limit(restart: &RestartJob) -> Duration {
    // Its `after` is run before it lets go.
    restart.restore_limit().saturating_add(restart.limits.ask)
}

/// Which process still has the service, if that can be told.
fn holder(restart: &RestartJob) -> String {
    let process = Taker::Keeper.holder(&restart.service);
    process.map(|process| format!(" (process {process})")).unwrap_or_default()
}
