//! Commands of a script that are run to their end: before and after the service, and around the restart of one that
//! runs already.

use super::hearing::OnLine;
use super::{Keeper, LONGEST_LOOK, LOOK, Left};
use crate::job::{Event, Stream};
use crate::log::quoted;
use crate::settings::{ReadBack, Restart};
use crate::starter::CANNOT;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time limit of what is done before a run, and of what puts things right after it.
const LONG: Duration = Duration::from_secs(600);
/// The time limit of `after`, and of what only asks.
pub(super) const AFTER: Duration = Duration::from_secs(60);
/// The time limit for the rest of what a command has printed.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// What is wrong with a restart whose service prints into our pipe, and what helps.
const LEFT_PIPE: &str =
    "what `restart` left running writes to the output of `restart`, which ends with the run";
const LEFT_PIPE_HINT: &str =
    "let it write to a file: `./chat > chat.log 2>&1 &`; nohup alone does not do that here";
/// Lines of an answer that are read.
const ANSWER_LINES: usize = 100;

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
        let (left, status) = self.run_to_end(words, LONG, true, None);
        match (wrong(name, left, status, LONG), left) {
            (Some(why), _) => {
                self.fail(why, None);
                Ran::Failed
            }
            (None, Left::Done) => Ran::Well,
            (None, _) => Ran::CutOff,
        }
    }

    /// Runs a command that puts things right; what goes wrong with it is told, and changes nothing else.
    pub(super) fn run_last(&mut self, name: &str, words: &[String], limit: Duration) {
        let (left, status) = self.run_to_end(words, limit, false, None);
        if let Some(why) = wrong(name, left, status, limit) {
            let said = self.log().last_lines();
            self.voice.tell(&Event::Trouble(format!("{why}{}", quoted(&said))));
        }
    }

    /// Gives a service that runs already the settings of the run; whether it was restarted.
    pub(super) fn restart(&mut self, restart: &Restart) -> bool {
        // From here on it may have them, whatever becomes of the commands.
        self.is_changed = true;
        if let Some(apply) = &restart.apply
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

    /// Asks a restarted service for its setting, and tells whether it is the one that was made; how to end, if that was
    /// asked meanwhile.
    pub(super) fn read_back(&mut self) -> Option<Left> {
        let read = self.job.restart.as_ref().and_then(|restart| restart.read.clone());
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
        let (left, status) = self.run_to_end(&command.words, AFTER, true, Some(on_line));
        if let Some(why) = wrong("read", left, status, AFTER) {
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

    /// Gives a service that runs already its own settings back, if it may have others.
    pub(super) fn give_back(&mut self) {
        let Some(restart) = self.job.restart.clone().filter(|_| std::mem::take(&mut self.is_changed)) else {
            return;
        };
        let is_silent = std::mem::take(&mut self.leaves_pipe);
        match &restart.restore {
            Some(restore) => self.run_last("restore", &restore.words, LONG),
            None if self.is_halfway => {}
            None => return,
        }
        let mut command = self.job.command.clone();
        if is_silent {
            // What it leaves running must not die of our pipe.
            let silent = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/null 2>&1"];
            command.splice(0..0, silent.map(str::to_owned));
        }
        self.run_last("restart", &command, LONG);
    }

    /// Runs a command that is not the service to its end; how that was left, and its status.
    fn run_to_end(
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
fn wrong(name: &str, left: Left, status: Option<i32>, limit: Duration) -> Option<String> {
    match (left, status.map(ExitStatus::from_raw)) {
        (Left::Done, Some(status)) if status.success() => None,
        (Left::Done, Some(status)) => Some(format!("`{name}` ended with {status}")),
        (Left::Done, None) => Some(format!("`{name}` could not be started")),
        (Left::TooLate, _) => Some(format!("`{name}` did not end within {} s", limit.as_secs())),
        (Left::Asked | Left::AtOnce, _) => None,
    }
}
