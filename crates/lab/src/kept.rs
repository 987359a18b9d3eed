//! A service with its keeper, from where it is wanted.

use crate::cgroup::Group;
use crate::job::{Ended, Event, Job, KEEPER, Request, RestartJob};
use crate::log::Stream;
use crate::tree::{self, Used};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What an end may take beside the grace and what runs after it.
const MARGIN: Duration = Duration::from_secs(20);
/// What `after` may take, with what the keeper does about one that takes longer.
const AFTER: Duration = Duration::from_secs(75);
/// What is told when nobody is left who would restore.
const NOT_RESTORED: &str = "launch: the process that restores the service's settings was killed: nothing was restored\n\
                            hint: run `restore` and then `restart` by hand";
/// What is told when it was restored before the run was over.
const RESTORED_EARLY: &str = "launch: the process that keeps the service was asked to end before the run was over, and \
                              gave the service its own settings back: what was measured after that is not of the run's \
                              settings";
/// The interval at which a wait looks whether it is to go on.
const LOOK: Duration = Duration::from_millis(20);

/// What whoever started a service says of it at once: that it waits, how a limit is held, or what went wrong and
/// nobody asks for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The start takes longer, for this reason; or this is how a limit is held.
    Notice(String),
    /// What went wrong around a service that was dropped without anybody having asked.
    Trouble(String),
}

/// A service that a keeper keeps. Dropping it ends the service without grace, and says what nobody has asked for.
pub struct Kept {
    keeper: Child,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    group: Option<Group>,
    /// Whether the service was started.
    is_started: bool,
    /// What the commands printed that restarted it.
    said: String,
    /// Its first process, if it is ours.
    process: Option<i32>,
    /// Whether it was found to have the setting that was made.
    agrees: bool,
    ended: Option<Ended>,
    is_over: bool,
    /// Whether a signal has asked the keeper itself to end.
    is_signalled: bool,
    /// Whether the keeper is to restore a service that runs already, which may have other settings by now.
    restores: bool,
    /// Whether the keeper was killed, so that nothing is restored any more, and that was not told yet.
    is_lost: bool,
    troubles: Vec<String>,
    /// Says what is to be said at once; None: nobody wants to know.
    say: Option<fn(Remark)>,
    /// Processes that the memory limit killed, of a group that systemd has made.
    memory_kills: u64,
    /// The longest an end may take.
    end_limit: Duration,
}

/// Why a service could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotStarted {
    pub(crate) why: String,
    pub(crate) hint: Option<String>,
    pub(crate) said: String,
    /// Whether nothing was done since another run has the service; `why` says it all then.
    pub(crate) is_refused: bool,
}

impl NotStarted {
    /// Because of the keeper itself.
    fn of_keeper(why: &str) -> NotStarted {
        NotStarted { why: why.to_owned(), hint: None, said: String::new(), is_refused: false }
    }
}

impl Kept {
    /// Starts a keeper with this job; `on_line` is called for the lines that are told, on a thread of its own.
    ///
    /// # Errors
    /// This binary could not be started once more.
    pub fn start(job: &Job, mut on_line: impl FnMut(Stream, &str) + Send + 'static) -> io::Result<Kept> {
        let mut keeper = Command::new("/proc/self/exe")
            .arg0("sonagi")
            .arg(KEEPER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = keeper.stdin.take();
        let told = keeper.stdout.take().ok_or_else(|| io::Error::other("a keeper without an output"))?;
        let (sender, events) = channel();
        std::thread::Builder::new().name("keeper".to_owned()).spawn(move || {
            for line in BufReader::new(told).lines() {
                let Ok(line) = line else { break };
                match serde_json::from_str(&line) {
                    Ok(Event::Line(stream, text)) => on_line(stream, &text),
                    Ok(event) => drop(sender.send(event)),
                    Err(_) => {}
                }
            }
        })?;
        if let Some(input) = &mut input {
            let line = serde_json::to_string(job).map_err(io::Error::other)?;
            input.write_all(format!("{line}\n").as_bytes())?;
        }
        let restored = job.restart.as_ref().map_or(Duration::ZERO, RestartJob::restore_limit);
        let after = if job.after.is_some() { AFTER } else { Duration::ZERO };
        let end_limit = (job.grace + MARGIN + after).saturating_add(restored);
        Ok(Kept {
            keeper,
            input,
            events,
            group: None,
            is_started: false,
            said: String::new(),
            process: None,
            agrees: false,
            ended: None,
            is_over: false,
            is_signalled: false,
            restores: false,
            is_lost: false,
            troubles: Vec::new(),
            say: None,
            memory_kills: 0,
            end_limit,
        })
    }

    /// Says from now on at once what is to be said at once.
    pub(crate) fn say_by(&mut self, say: fn(Remark)) {
        self.say = Some(say);
    }

    /// Waits until the service was started, which is after `before`. None: `is_stopped` said so first.
    pub(crate) fn started(&mut self, is_stopped: &dyn Fn() -> bool) -> Option<Result<(), NotStarted>> {
        self.wait(|kept| kept.is_started, is_stopped)
    }

    /// Asks a restarted service for the setting that was made. None: `is_stopped` said so first.
    pub(crate) fn read_back(&mut self, is_stopped: &dyn Fn() -> bool) -> Option<Result<(), NotStarted>> {
        self.ask(&Request::ReadBack);
        self.wait(|kept| kept.agrees, is_stopped)
    }

    fn wait(
        &mut self,
        holds: impl Fn(&Kept) -> bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<Result<(), NotStarted>> {
        while !holds(self) {
            if is_stopped() {
                return None;
            }
            // Somebody has asked the keeper itself to end.
            if self.is_over {
                let why = "the process that keeps the service was asked to end";
                return Some(Err(NotStarted::of_keeper(why)));
            }
            if let Some(failed) = self.next(LOOK) {
                return Some(Err(failed));
            }
        }
        Some(Ok(()))
    }

    /// Takes in what the keeper tells, waiting for so long for something; why the service could not be started.
    fn next(&mut self, wait: Duration) -> Option<NotStarted> {
        match self.events.recv_timeout(wait) {
            Ok(Event::Started { id, group }) => {
                (self.is_started, self.process, self.group) = (true, Some(id), group);
            }
            Ok(Event::Changing) => self.restores = true,
            Ok(Event::Restarted { said }) => (self.is_started, self.said) = (true, said),
            Ok(Event::Agreed) => self.agrees = true,
            Ok(Event::Ended(ended)) => self.ended = Some(ended),
            Ok(Event::Failed { why, hint, said }) => {
                return Some(NotStarted { why, hint, said, is_refused: false });
            }
            Ok(Event::Refused { what, hint }) => {
                return Some(NotStarted { why: what, hint, said: String::new(), is_refused: true });
            }
            Ok(Event::Notice(notice)) => self.say_at_once(Remark::Notice(notice)),
            Ok(Event::MemoryKills(kills)) => self.memory_kills = kills,
            Ok(Event::Trouble(trouble)) => self.troubles.push(trouble),
            Ok(Event::Signalled) => self.is_signalled = true,
            Ok(Event::Over) => self.is_over = true,
            Ok(Event::Line(..)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let was_over = std::mem::replace(&mut self.is_over, true);
                self.is_lost |= !was_over;
                let why = "the process that keeps the service ended";
                return (!was_over).then(|| NotStarted::of_keeper(why));
            }
        }
        None
    }

    fn say_at_once(&self, remark: Remark) {
        if let Some(say) = self.say {
            say(remark);
        }
    }

    /// How the service's first process ended, if it has.
    pub fn ended(&mut self) -> Option<&Ended> {
        // Whatever waits there, and no more.
        for _ in 0..64 {
            if self.ended.is_some() || self.is_over || self.next(Duration::ZERO).is_some() {
                break;
            }
        }
        self.ended.as_ref()
    }

    /// Whether it has ended: its first process, and all others unless that one ended well, as a daemon's parent does.
    pub fn is_gone(&mut self) -> bool {
        let keeper = self.keeper.id() as i32;
        match self.ended() {
            None => self.is_over,
            Some(ended) => !ended.is_fine() || tree::below(keeper).is_empty(),
        }
    }

    /// How it ended, in words, if it has.
    pub fn how_it_ended(&mut self) -> Option<String> {
        self.is_gone().then(|| match &self.ended {
            Some(ended) => ended.words(),
            None if self.was_asked_to_end() => "the process that keeps it was asked to end".to_owned(),
            None => "the process that keeps it was killed".to_owned(),
        })
    }

    /// Whether somebody else asked the keeper to end before we did, which it does or has done.
    pub(crate) fn was_asked_to_end(&self) -> bool {
        self.input.is_some() && self.is_signalled && !self.is_lost
    }

    /// The service's first process, once it was started; None of one that runs already.
    pub fn process(&self) -> Option<i32> {
        self.process
    }

    /// What all its processes have used; None of one that runs already.
    pub fn used(&self) -> Option<Used> {
        self.process?;
        let Some(group) = &self.group else { return tree::used(self.keeper.id() as i32) };
        Some(Used { cpu: group.cpu()?, resident: group.resident()? })
    }

    /// Processes of it that the kernel killed so far for its memory limit.
    pub(crate) fn memory_kills(&self) -> u64 {
        self.group.as_ref().map_or(self.memory_kills, Group::oom_kills)
    }

    /// Writes what the service prints to this file from now on, with what it has printed.
    pub fn log_to(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.ask(&Request::Log(path));
    }

    /// Tells no lines any more.
    pub(crate) fn tell_no_lines(&mut self) {
        self.ask(&Request::NoLines);
    }

    fn ask(&mut self, request: &Request) {
        if let (Some(input), Ok(line)) = (&mut self.input, serde_json::to_string(request)) {
            // A keeper that is gone is noticed by what it tells.
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Ends the service: its stop, its grace, the rest killed; at once when `is_hurried` says so. The restore of one
    /// that runs already is never cut off: haste leaves out the wait until it is ready again. Returns how its first
    /// process ended, if it was started. Has no effect the second time.
    pub fn end(&mut self, is_hurried: &dyn Fn() -> bool) -> Option<Ended> {
        if self.input.is_none() {
            return self.ended.clone();
        }
        // What was told meanwhile.
        let _ = self.ended();
        let is_early = self.restores && self.agrees && self.was_asked_to_end();
        self.ask(&Request::End);
        let (began, mut was_hurried) = (Instant::now(), false);
        while !self.is_over && began.elapsed() < self.end_limit {
            let _ = self.next(LOOK);
            if !was_hurried && is_hurried() {
                was_hurried = true;
                self.ask(&Request::Kill);
            }
        }
        self.leave();
        if self.restores && std::mem::take(&mut self.is_lost) {
            self.troubles.push(NOT_RESTORED.to_owned());
        } else if is_early {
            self.troubles.push(RESTORED_EARLY.to_owned());
        }
        self.ended.clone()
    }

    /// What the commands printed that restarted a service that runs already.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    /// What went wrong around the service, to be told once.
    pub fn take_troubles(&mut self) -> Vec<String> {
        std::mem::take(&mut self.troubles)
    }

    /// Waits for a keeper that is through; one that is not is killed, and the service's first process dies with it.
    fn leave(&mut self) {
        if !self.is_over {
            self.troubles.push("the process that keeps the service did not end and was killed".to_owned());
            let _ = self.keeper.kill();
            self.is_lost = true;
        }
        self.input = None;
        let _ = self.keeper.wait();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.input.is_some() {
            self.ask(&Request::Kill);
            self.end(&|| false);
        }
        // Whoever leaves by an error does not ask for them.
        for trouble in self.take_troubles() {
            self.say_at_once(Remark::Trouble(trouble));
        }
    }
}
