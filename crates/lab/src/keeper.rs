//! The keeper's process: starts a service, hears it, feeds its quota, ends its whole tree; or restarts one that runs
//! already, and gives it its own settings back.
//!
//! | in | on | does |
//! |---|---|---|
//! | taking a service that runs already | that no other run has it | `before` |
//! | | that the keeper of a run which is gone restores it | waits |
//! | | being asked to end | over |
//! | `before` | its end with 0 | starts the service, or `apply` and `restart` |
//! | | any other end, or being asked to end | ends the tree, `after`, over |
//! | `apply`, `restart` | their ends with 0 | tells that the service was restarted |
//! | | any other end, or being asked to end | `restore`, `restart`, `after`, over |
//! | running | the end of the service's first process | tells it, goes on: its daemons may still serve |
//! | | being asked for the setting | `read`; tells whether it is the one that was made |
//! | | being asked to end, or the end of its input | stop, grace, kill, `after`, removes the group, over |
//! | | the same, with a service that runs already | `restore`, `restart`, waits until it is ready, `after`, over |
//!
//! It is the reaper of everything below it, so that daemons are its children once their parents are gone. Of a service
//! that runs already it is not: what `restart` leaves behind is the service.

mod commands;
mod hearing;
mod limits;
mod restarts;
mod scope;

use crate::cgroup::{Group, Hierarchy};
use crate::credits::Bucket;
use crate::job::{Ended, Event, Job, Request, STARTER, TimeLimits};
use crate::log::Log;
use crate::service_lock::ServiceLock;
use crate::settings::StopBy;
use crate::starter::Start;
use crate::tree;
use commands::Ran;
use hearing::{Hearing, OnLine, Voice};
use rustix::process::{Pid, Signal, WaitOptions, set_child_subreaper, setsid, wait};
use scope::Scope;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// The name of its process, of at most 15 bytes.
const NAME: &std::ffi::CStr = c"sonagi-keeper";
/// The interval at which ended processes are waited for, and a quota is fed.
const TICK: Duration = Duration::from_millis(100);
/// The same for a group that systemd has made: what it counted is gone with its last process.
const TICK_OF_SCOPE: Duration = Duration::from_millis(10);
/// The intervals at which an end is looked for, while one is waited for.
const LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(50);
/// The time limit for killed processes to be gone.
const KILLED: Duration = Duration::from_secs(10);
/// The time limit for the rest of what was printed to be read.
const READ_OUT: Duration = Duration::from_secs(1);

/// Keeps a service as the first line of `input` says, until `input` ends; tells `output` of it.
pub fn keep(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> u8 {
    // A leader of a group cannot leave its session; what starts us makes none of us.
    let _ = setsid();
    let _ = rustix::thread::set_name(NAME);
    let voice = Voice::new(output);
    let (words, heard) = channel();
    let mut input = BufReader::new(input);
    let mut line = String::new();
    let job = input.read_line(&mut line).ok().and_then(|_| serde_json::from_str::<Job>(&line).ok());
    let Some(job) = job else {
        voice.fail("a keeper is for Sonagi's own use".to_owned(), None, "");
        return 1;
    };
    let own = Pid::from_raw(std::process::id() as i32).filter(|_| job.restart.is_none());
    if let Err(error) = set_child_subreaper(own) {
        voice.fail(format!("this system lets no process look after orphans: {error}"), None, "");
        return 1;
    }
    let (of_signals, told) = (words.clone(), voice.clone());
    std::thread::spawn(move || hear_signals(&of_signals, &told));
    std::thread::spawn(move || listen(input, &words));
    let log = Arc::new(Mutex::new(Log::new()));
    let mut keeper = Keeper {
        job,
        voice,
        heard,
        log,
        group: None,
        scope: None,
        cores: Vec::new(),
        service: None,
        lock: None,
        is_hurried: false,
        is_changed: false,
        is_halfway: false,
        leaves_pipe: false,
    };
    keeper.run();
    0
}

/// Passes on that somebody wants the keeper itself to end: what it keeps ends with it in good order. What cannot be
/// listened to ends it as before.
fn hear_signals(words: &Sender<Word>, voice: &Voice) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let heard: io::Result<()> = runtime.block_on(async {
        let (mut term, mut int, mut hang_up) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        );
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            _ = hang_up.recv() => {}
        }
        Ok(())
    });
    if heard.is_ok() {
        // Before anything is done about it: a run that ends meanwhile is to know.
        voice.tell(&Event::Signalled);
        let _ = words.send(Word::Gone);
    }
}

/// Passes on requests, and at the end of the input that there is nobody any more.
fn listen(input: impl BufRead, words: &Sender<Word>) {
    for line in input.lines() {
        let Ok(line) = line else { break };
        if let Ok(request) = serde_json::from_str(&line) {
            let _ = words.send(Word::Request(request));
        }
    }
    let _ = words.send(Word::Gone);
}

enum Word {
    Request(Request),
    Gone,
}

/// How a wait for processes was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Done,
    /// We are asked to end.
    Asked,
    /// We are asked to end at once.
    AtOnce,
    TooLate,
}

struct Keeper {
    job: Job,
    voice: Voice,
    heard: Receiver<Word>,
    log: Arc<Mutex<Log>>,
    group: Option<Group>,
    /// The group that systemd has made, of a service with a limit of memory.
    scope: Option<Scope>,
    /// Those that the service is kept to, where CPU affinity holds its limit; empty: it may run on all.
    cores: Vec<usize>,
    service: Option<Service>,
    /// Keeps other runs from a service that runs already.
    lock: Option<ServiceLock>,
    /// Whether we were asked to end at once.
    is_hurried: bool,
    /// Whether a service that runs already may have other settings than its own.
    is_changed: bool,
    /// Whether its restart did not end well.
    is_halfway: bool,
    /// Whether the last command left something running that prints into our pipe.
    leaves_pipe: bool,
}

/// A service that was started.
struct Service {
    id: i32,
    /// None: it was closed.
    input: Option<ChildStdin>,
    hearing: Hearing,
    bucket: Option<Bucket>,
    /// When the bucket was fed, and the CPU time used until then.
    fed: (Instant, Duration),
    /// Its first process's status, once it has ended.
    status: Option<i32>,
    /// Whether that was told.
    is_told: bool,
}

impl Keeper {
    fn run(&mut self) {
        Hierarchy::of_machine().remove_stale();
        let restart = self.job.restart.clone();
        if restart.as_ref().is_some_and(|restart| !self.take_service(restart)) {
            // Nothing was done: there is nothing to be put right, and nothing for `after`.
            self.voice.tell(&Event::Over);
            return;
        }
        let before = self.job.before.clone();
        let is_prepared = before.is_none_or(|before| self.run_first("before", &before) == Ran::Well);
        let is_there = is_prepared
            && match &restart {
                Some(restart) => self.restart(restart),
                None => self.start(),
            };
        let left = if is_there { self.watch() } else { Left::Done };
        self.end(left == Left::AtOnce);
    }

    /// Starts the service; whether it is there.
    fn start(&mut self) -> bool {
        let mut words = self.job.command.clone();
        if self.job.limits.has_cpu_or_memory() {
            match self.limited() {
                Ok(in_front) => words.splice(0..0, in_front).for_each(drop),
                Err((why, hint)) => {
                    self.fail(why, Some(hint));
                    return false;
                }
            }
        }
        let input = if self.job.stop == StopBy::Eof { Stdio::piped() } else { Stdio::null() };
        let on_line = self.job.tells_lines.then(|| self.voice.on_line());
        let (mut child, hearing) = match self.spawn(&words, true, input, on_line) {
            Ok(started) => started,
            Err(error) => {
                let hint = "`folder` is the service's working directory, and must be there".to_owned();
                self.fail(error.to_string(), Some(hint));
                return false;
            }
        };
        let id = child.id() as i32;
        let limits = &self.job.limits;
        let bucket = limits.credits.map(|credits| Bucket::new(credits, limits.cpu.unwrap_or(1.0)));
        let input = child.stdin.take();
        let fed = (Instant::now(), Duration::ZERO);
        self.service = Some(Service { id, input, hearing, bucket, fed, status: None, is_told: false });
        self.voice.tell(&Event::Started { id, group: self.group.clone() });
        true
    }

    /// Starts a command by way of the starter, in a process group of its own; limits are the service's alone.
    fn spawn(
        &self,
        words: &[String],
        is_service: bool,
        input: Stdio,
        on_line: Option<OnLine>,
    ) -> std::io::Result<(Child, Hearing)> {
        let group = self.group.as_ref().filter(|_| is_service);
        let start = Start {
            keeper: std::process::id() as i32,
            doors: group.map(Group::doors).unwrap_or_default(),
            nofile: self.job.limits.nofile.filter(|_| is_service),
            usual_nofile: self.job.usual_nofile,
            cores: if is_service { self.cores.clone() } else { Vec::new() },
        };
        let start = serde_json::to_string(&start).map_err(std::io::Error::other)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("sonagi").arg(STARTER).arg(start).args(words).process_group(0);
        command.envs(self.job.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.job.folder {
            command.current_dir(folder);
        }
        command.stdin(input);
        let hearing = Hearing::of(&mut command, &self.log, on_line)?;
        let child = command.spawn()?;
        // What the command holds of the pipes would keep them open.
        drop(command);
        Ok((child, hearing))
    }

    /// Keeps the service until we are asked to end it.
    fn watch(&mut self) -> Left {
        let tick = if self.scope.is_some() { TICK_OF_SCOPE } else { TICK };
        loop {
            if let Some(left) = self.hear(tick) {
                return left;
            }
            self.look_at_scope();
            self.reap(None);
            self.tell_end(true, false);
            self.feed();
        }
    }

    /// Does what is asked, waiting for so long for a request; how to end, if that is asked.
    fn hear(&mut self, wait: Duration) -> Option<Left> {
        match self.heard.recv_timeout(wait) {
            Ok(Word::Request(Request::Kill)) => {
                self.is_hurried = true;
                return Some(Left::AtOnce);
            }
            Ok(Word::Request(Request::End) | Word::Gone) => return Some(Left::Asked),
            Ok(Word::Request(Request::Log(path))) => self.log().write_to(&path),
            Ok(Word::Request(Request::ReadBack)) => return self.read_back(),
            Ok(Word::Request(Request::NoLines)) => {
                if let Some(service) = &self.service {
                    service.hearing.tell_no_more();
                }
            }
            // Nobody is there any more, which was told.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
            Err(RecvTimeoutError::Timeout) => {}
        }
        None
    }

    /// Waits for all children that have ended; the status of this one, if it is among them.
    fn reap(&mut self, one: Option<i32>) -> Option<i32> {
        let mut found = None;
        // As many as a process may have, at the most.
        for _ in 0..100_000 {
            let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) else { break };
            let id = pid.as_raw_nonzero().get();
            if let Some(service) = self.service.as_mut().filter(|service| service.id == id) {
                service.status = Some(status.as_raw());
            }
            if Some(id) == one {
                found = Some(status.as_raw());
            }
        }
        found
    }

    /// Tells what the memory limit has killed in a group of systemd's, as long as that is there.
    fn look_at_scope(&mut self) {
        if let (Some(scope), Some(service)) = (&mut self.scope, &self.service)
            && scope.look(service.status.is_none().then_some(service.id))
        {
            self.voice.tell(&Event::MemoryKills(scope.memory_kills()));
        }
    }

    /// Tells how the service's first process ended, once.
    fn tell_end(&mut self, is_unasked: bool, is_killed: bool) {
        let of_scope = self.scope.as_ref().map_or(0, Scope::memory_kills);
        let oom_kills = self.group.as_ref().map_or(of_scope, Group::oom_kills);
        let Some(service) = self.service.as_mut() else { return };
        let Some(status) = service.status.filter(|_| !service.is_told) else { return };
        service.is_told = true;
        // Its last words are on their way.
        service.hearing.catch_up(Duration::from_millis(200));
        let said = self.log().last_lines();
        self.voice.tell(&Event::Ended(Ended { status, is_unasked, is_killed, oom_kills, said }));
    }

    /// Lets the quota follow the credits.
    fn feed(&mut self) {
        let (Some(group), Some(service)) = (&self.group, &mut self.service) else { return };
        let (Some(bucket), Some(used)) = (&mut service.bucket, group.cpu()) else { return };
        let (since, before) = service.fed;
        let quota = bucket.quota();
        bucket.pass(since.elapsed(), used.saturating_sub(before));
        service.fed = (Instant::now(), used);
        if bucket.quota() != quota {
            let _ = group.set_quota(bucket.quota());
        }
    }

    /// Ends everything and removes what was made for it.
    fn end(&mut self, at_once: bool) {
        let was_there = self.service.is_some();
        let is_killed = !(at_once || self.stop());
        self.kill_all();
        self.reap(None);
        if let Some(service) = &self.service {
            service.hearing.catch_up(READ_OUT);
        }
        self.tell_end(false, is_killed && was_there);
        self.give_back();
        if let Some(after) = self.job.after.clone() {
            self.run_last("after", &after, self.time_limits().ask);
            self.kill_all();
        }
        if self.group.take().is_some_and(|group| !group.remove()) {
            self.voice
                .tell(&Event::Trouble("the control group of the service could not be removed".to_owned()));
        }
        let unwritten = self.log().finish();
        if let Some(error) = unwritten {
            self.voice.tell(&Event::Trouble(format!("the service's log is not whole: {error}")));
        }
        // Before that is told: whoever hears it may want the service at once.
        self.lock = None;
        self.voice.tell(&Event::Over);
    }

    /// Asks all processes to end; whether they did within their grace.
    fn stop(&mut self) -> bool {
        let own = std::process::id() as i32;
        match (&self.job.stop, self.service.as_mut()) {
            (_, None) => {}
            (StopBy::Eof, Some(service)) => drop(service.input.take()),
            (StopBy::Signal(number), Some(_)) => {
                let signal = Signal::from_named_raw(*number).unwrap_or(Signal::TERM);
                tree::signal_below(own, signal);
            }
        }
        if self.service.is_none() {
            return true;
        }
        let (began, mut look) = (Instant::now(), LOOK);
        let mut are_others_asked = self.job.stop != StopBy::Eof;
        loop {
            self.reap(None);
            if tree::below(own).is_empty() {
                return true;
            }
            // What else there is, as a database that `before` has started, hears nothing of a closed input.
            if !are_others_asked && self.service.as_ref().is_none_or(|service| service.status.is_some()) {
                are_others_asked = true;
                tree::signal_below(own, Signal::TERM);
            }
            if began.elapsed() >= self.job.grace {
                return false;
            }
            if self.hear(look) == Some(Left::AtOnce) {
                return true;
            }
            look = (look * 2).min(LONGEST_LOOK);
        }
    }

    /// Kills all that is left below us.
    fn kill_all(&mut self) {
        let own = std::process::id() as i32;
        let began = Instant::now();
        while tree::signal_below(own, Signal::KILL) > 0 && began.elapsed() < KILLED {
            std::thread::sleep(LOOK);
            self.reap(None);
        }
        let left = tree::below(own).len();
        if left > 0 {
            self.voice.tell(&Event::Trouble(format!("{left} processes of the service could not be killed")));
        }
    }

    fn fail(&self, why: String, hint: Option<String>) {
        let said = self.log().last_lines();
        self.voice.fail(why, hint, &said);
    }

    fn time_limits(&self) -> TimeLimits {
        self.job.restart.as_ref().map_or(TimeLimits::USUAL, |restart| restart.limits)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
