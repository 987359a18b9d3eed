//! A service that a script describes: started or restarted, ready, with its network in front of it.

use crate::job::{Job, RestartJob, TimeLimits};
use crate::kept::{Kept, NotStarted, Remark};
use crate::log::{Stream, quoted};
use crate::ports;
use crate::proxy::{Lateness, Proxy};
use crate::ready::{Address, Heard, ReadyCheck};
use crate::service_lock::{self, ServiceName, Taker};
use crate::settings::{Launch, Ready, Stop, StopBy};
use crate::starter::CANNOT;
use crate::tree::{self, Used};
use rustix::process::{Resource, getrlimit};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The intervals at which a service is asked whether it is ready.
const LOOK: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// The hint where a service cannot be started, or does not get ready.
const BY_HAND: &str = "start it by hand, with the same command and folder";

/// A running service.
pub struct Launched {
    kept: Kept,
    /// The key of the script that describes it, and how it is asked to end.
    key: &'static str,
    stop: Stop,
    /// Where it listens, if it said so.
    told: Option<SocketAddr>,
    /// None: the network is as it is.
    proxy: Option<Proxy>,
}

/// Why a service is not there.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It could not be started, or was not ready in time: what, lines of its log, a hint.
    #[error("{0}")]
    Failed(String),
    /// Somebody asked to stop before it was ready.
    #[error("stopped before the service was ready")]
    Stopped,
}

impl Launched {
    /// Starts the service of a script in `folder` whose load goes to `target` (a host and a port), and waits until it
    /// is ready, or `is_stopped` says that nobody wants it any more. Everything is ended and removed when it fails.
    /// `say` is called for what is to be said at once: what the start waits for, and what went wrong around a service
    /// that was dropped instead of [ended](Launched::end).
    ///
    /// # Errors
    /// What went wrong, with the last lines of what the service printed.
    pub fn start(
        launch: &Launch,
        target: Option<(String, u16)>,
        folder: &Path,
        say: fn(Remark),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Launched, LaunchError> {
        let address = target.map(|(host, port)| Address { host, port }).or_else(|| asked_address(launch));
        let own = own_folder(launch, folder);
        judge(launch, address.as_ref(), &own)?;
        let check = ready_check(launch, address.as_ref());
        let job = job(launch, own, check.clone());
        let heard = Arc::new(Heard::default());
        let (ready, hears) = (launch.ready.clone(), Arc::clone(&heard));
        let on_line = move |stream: Stream, text: &str| hears.line(ready.as_ref(), stream, text);
        job.restart.as_ref().map_or(Ok(()), take)?;
        let mut kept = Kept::start(&job, on_line).map_err(|error| {
            LaunchError::Failed(format!("{}: this binary cannot be started again: {error}", launch.key))
        })?;
        kept.say_by(say);
        let (key, stop) = (launch.key, launch.stop.clone());
        let mut launched = Launched { kept, key, stop, told: None, proxy: None };
        let start = Start { launch, check, heard: &heard, is_stopped };
        let made = start.up(&mut launched.kept).and_then(|()| {
            launched.kept.tell_no_lines();
            launched.told = heard.address();
            proxy(launch, address.or_else(|| launched.told.map(Address::from)).as_ref())
        });
        match made {
            Ok(proxy) => {
                launched.proxy = proxy;
                Ok(launched)
            }
            Err(error) => Err(put_right(error, launched, &|| start.is_hurried())),
        }
    }

    /// The address that stands for the service's; None: the service's own.
    pub fn address(&self) -> Option<SocketAddr> {
        self.proxy.as_ref().map(Proxy::address)
    }

    /// Where it listens, if it said so itself ([`Ready::Listening`]).
    pub fn told_address(&self) -> Option<SocketAddr> {
        self.told
    }

    /// The service's own port, where an address stands for it.
    pub fn port(&self) -> Option<u16> {
        self.proxy.as_ref().map(|proxy| proxy.to().port())
    }

    /// Whether the service is ours: started for the run and ended after it.
    pub fn is_ours(&self) -> bool {
        self.process().is_some()
    }

    /// The service's first process, if it is ours.
    pub fn process(&self) -> Option<i32> {
        self.kept.process()
    }

    /// How the service ended, if it has.
    pub fn has_ended(&mut self) -> Option<String> {
        self.kept.how_it_ended()
    }

    /// What all its processes have used.
    pub fn used(&self) -> Option<Used> {
        self.kept.used()
    }

    /// The most memory that its first process has had resident at a time, in bytes, by the kernel's own account; None
    /// once it has ended.
    pub fn first_process_peak(&mut self) -> Option<u64> {
        // Asked first: after a process has been waited for, its number may be another's.
        if self.kept.ended().is_some() {
            return None;
        }
        tree::resident_peak(self.kept.process()?)
    }

    /// Processes of it that the kernel killed so far for its memory limit; 0 where there is no group of its own to ask.
    pub fn memory_kills(&self) -> u64 {
        self.kept.memory_kills()
    }

    /// How often so far the network before it had no files or ports left for a connection.
    pub fn exhausted(&self) -> u64 {
        self.proxy.as_ref().map_or(0, Proxy::exhausted)
    }

    /// How late the network before it is itself, if there is one.
    pub fn network_lateness(&self) -> Option<Lateness> {
        self.proxy.as_ref().map(Proxy::lateness)
    }

    /// Writes what it prints to this file from now on.
    pub fn log_to(&mut self, path: &Path) {
        self.kept.log_to(path);
    }

    /// Ends it; `is_hurried` says when there is no time any more for its grace, or for one that runs already to be
    /// ready again. What went wrong around it is returned.
    #[must_use = "what went wrong is to be told"]
    pub fn end(mut self, is_hurried: &dyn Fn() -> bool) -> Vec<String> {
        self.proxy = None;
        let was_there = self.kept.ended().is_none();
        let ended = self.kept.end(is_hurried);
        let mut troubles = self.kept.take_troubles();
        // One that is asked by its input is known to drain, and to say by its status how that went.
        if let Some(ended) = ended.filter(|_| was_there && self.stop.by == StopBy::Eof && !is_hurried()) {
            let (key, said) = (self.key, last_words(&ended.said));
            if ended.is_killed {
                let seconds = self.stop.grace.as_secs_f64();
                troubles
                    .push(format!("{key}: the service did not end within {seconds} s and was killed{said}"));
            } else if ended.status != 0 {
                troubles.push(format!("{key}: the service ended with {}{said}", ended.words()));
            }
        }
        troubles
    }
}

/// The address that readiness is asked of.
fn asked_address(launch: &Launch) -> Option<Address> {
    match launch.ready.as_ref()? {
        Ready::Port(port) => Some(Address { host: "127.0.0.1".to_owned(), port: *port }),
        Ready::Http { host, port, .. } => Some(Address { host: host.clone(), port: *port }),
        Ready::Line(_) | Ready::Listening { .. } => None,
    }
}

/// What tells whether it is ready, as far as that is known before it starts; None: a line that it prints.
fn ready_check(launch: &Launch, address: Option<&Address>) -> Option<ReadyCheck> {
    let path = match &launch.ready {
        Some(Ready::Line(_) | Ready::Listening { .. }) => return None,
        Some(Ready::Http { path, .. }) => Some(path.clone()),
        Some(Ready::Port(_)) | None => None,
    };
    let address = asked_address(launch).or_else(|| address.cloned())?;
    Some(ReadyCheck { address, path })
}

/// Tells what keeps a service from being started, before anything is.
fn judge(launch: &Launch, address: Option<&Address>, own_folder: &Path) -> Result<(), LaunchError> {
    let key = launch.key;
    let is_told = matches!(launch.ready, Some(Ready::Listening { .. }));
    if address.is_none() && !is_told && (launch.ready.is_none() || launch.network.is_some()) {
        return Err(LaunchError::Failed(format!(
            "{key}: nothing says where the service listens\nhint: name it with `ready`, e.g. `ready: port 3000`"
        )));
    }
    if !own_folder.as_os_str().is_empty() && !own_folder.is_dir() {
        return Err(LaunchError::Failed(format!(
            "{key}: the folder {} is not there\nhint: `folder` is relative to the script's",
            own_folder.display()
        )));
    }
    if launch.restart.is_some() {
        return Ok(());
    }
    [asked_address(launch), address.cloned()].iter().flatten().try_for_each(unused)
}

/// Takes a service that runs already for all runs of this command.
fn take(RestartJob { service, ready, .. }: &RestartJob) -> Result<(), LaunchError> {
    let why = match service_lock::take_for_this_command(service) {
        Ok(true) => return Ok(()),
        Ok(false) => {
            let run = Taker::Command.holder(service).map(|process| format!("the run of process {process}"));
            let run = run.unwrap_or_else(|| "another run".to_owned());
            let hint = "wait for its end, or end it with Ctrl-C: it restores the service";
            format!("one run at a time may have it, and {run} has it\nhint: {hint}")
        }
        Err(error) => format!("it cannot be kept from other runs: {error}"),
    };
    let address = &ready.address;
    Err(LaunchError::Failed(format!("launch: the service at {address} was not restarted: {why}")))
}

/// Whoever listens there already would be taken for the service.
fn unused(address: &Address) -> Result<(), LaunchError> {
    if address.connect().is_err() {
        return Ok(());
    }
    let by = ports::listener(address.port).map(|by| format!(", by {by}")).unwrap_or_default();
    Err(LaunchError::Failed(format!(
        "launch: {address} is in use already{by}\nhint: end what listens there; the service is started anew for \
         every run"
    )))
}

/// The service's working directory; empty: this process's.
fn own_folder(launch: &Launch, folder: &Path) -> PathBuf {
    launch.folder.as_ref().map_or_else(|| folder.to_owned(), |own| folder.join(own))
}

/// The network in front of the service, if it is to have one.
fn proxy(launch: &Launch, address: Option<&Address>) -> Result<Option<Proxy>, LaunchError> {
    let Some((network, address)) = launch.network.as_ref().zip(address) else { return Ok(None) };
    let key = launch.key;
    let to = address
        .accepting()
        .map_err(|error| LaunchError::Failed(format!("{key}: {address} accepts no connection: {error}")))?;
    let proxy = Proxy::start(to, network).map_err(|error| {
        LaunchError::Failed(format!("{key}: the network in front of the service: {error}"))
    })?;
    Ok(Some(proxy))
}

/// A service that runs already is asked at an address, so it has a `check`.
fn job(launch: &Launch, folder: PathBuf, check: Option<ReadyCheck>) -> Job {
    let restart = launch.restart.clone().zip(check).map(|(commands, ready)| RestartJob {
        commands,
        service: ServiceName::of(&ready.address),
        ready,
        patience: launch.patience,
        limits: TimeLimits::USUAL,
    });
    Job {
        command: launch.command.words.clone(),
        restart,
        folder: Some(folder).filter(|folder| !folder.as_os_str().is_empty()),
        env: launch.env.clone(),
        stop: launch.stop.by.clone(),
        grace: launch.stop.grace,
        limits: launch.limits.clone(),
        before: launch.before.as_ref().map(|command| command.words.clone()),
        after: launch.after.as_ref().map(|command| command.words.clone()),
        tells_lines: matches!(launch.ready, Some(Ready::Line(_) | Ready::Listening { .. })),
        usual_nofile: usual_nofile(),
    }
}

/// Open files that this process might have when its first service was started: for its load it takes all that it may
/// have, and a service of a later run would inherit that.
fn usual_nofile() -> Option<u64> {
    static USUAL: OnceLock<Option<u64>> = OnceLock::new();
    *USUAL.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// A start that is under way.
struct Start<'a> {
    launch: &'a Launch,
    /// None: it is ready by what was heard of it.
    check: Option<ReadyCheck>,
    heard: &'a Heard,
    is_stopped: &'a dyn Fn() -> bool,
}

impl Start<'_> {
    /// Waits until the service is there, is ready, and has the setting that was made.
    fn up(&self, kept: &mut Kept) -> Result<(), LaunchError> {
        let told = |outcome: Option<Result<(), NotStarted>>| match outcome {
            None => Err(LaunchError::Stopped),
            Some(Err(not)) => Err(LaunchError::Failed(not_started(self.launch, &not))),
            Some(Ok(())) => Ok(()),
        };
        told(kept.started(self.is_stopped))?;
        self.wait(kept)?;
        if self.launch.restart.is_none() {
            return Ok(());
        }
        // A service may answer before it has read its settings, and one that is about to end may answer for the next.
        let began = Instant::now();
        loop {
            match kept.read_back(self.is_stopped) {
                Some(Err(_)) if began.elapsed() < self.launch.patience && !kept.is_gone() => {
                    std::thread::sleep(LONGEST_LOOK);
                }
                outcome => return told(outcome),
            }
        }
    }

    /// Waits until the service is ready.
    fn wait(&self, kept: &mut Kept) -> Result<(), LaunchError> {
        let (began, mut look) = (Instant::now(), LOOK);
        loop {
            // A daemon's parent ends and is none the worse for it: what counts is that something is ready.
            let Err(why) = self.ask() else { return Ok(()) };
            if kept.is_gone() {
                return Err(LaunchError::Failed(ended_early(self.launch, kept)));
            }
            if (self.is_stopped)() {
                return Err(LaunchError::Stopped);
            }
            if began.elapsed() >= self.launch.patience {
                return Err(LaunchError::Failed(self.not_ready(kept, &why)));
            }
            std::thread::sleep(look);
            look = (look * 2).min(LONGEST_LOOK);
        }
    }

    /// Whether it is ready; why not.
    fn ask(&self) -> Result<(), String> {
        match (&self.check, &self.launch.ready) {
            (Some(check), _) => check.ask(),
            (None, Some(Ready::Line(line))) if !self.heard.is_ready() => {
                Err(format!("it printed no line with `{line}`"))
            }
            (None, Some(Ready::Listening { before, path })) => match self.heard.address() {
                Some(address) => ReadyCheck { address: address.into(), path: Some(path.clone()) }.ask(),
                None => Err(format!("it printed no line with `{before}`")),
            },
            (None, _) => Ok(()),
        }
    }

    /// Ends a service that was not ready in time; the message about it.
    fn not_ready(&self, kept: &mut Kept, why: &str) -> String {
        let ended = kept.end(&|| self.is_hurried());
        let said = ended.map_or_else(|| kept.said().to_owned(), |ended| ended.said);
        let Launch { key, command, patience, restart, ready, .. } = self.launch;
        let after = if restart.is_some() { "restarted by " } else { "" };
        let hint = match ready {
            // Nothing of that is the script's to say.
            Some(Ready::Listening { .. }) => BY_HAND,
            _ => "`patience` is the time it has; `ready` says what is asked",
        };
        format!(
            "{key}: the service {after}`{}` was not ready within {} s: {why}{}\nhint: {hint}",
            command.shown,
            patience.as_secs_f64(),
            quoted(&said)
        )
    }

    /// Whether what is left of a failed start is to end at once. Of a service that runs already it is worth a wait
    /// whether it is ready again.
    fn is_hurried(&self) -> bool {
        self.launch.restart.is_none() || (self.is_stopped)()
    }
}

/// Ends what was begun of a start that came to nothing; what went wrong with that as well is added to the error.
fn put_right(error: LaunchError, launched: Launched, is_hurried: &dyn Fn() -> bool) -> LaunchError {
    // What is left behind is worth knowing to whoever has stopped it, too.
    match launched.end(is_hurried).join("\n") {
        troubles if troubles.is_empty() => error,
        troubles => LaunchError::Failed(format!("{error}\n{troubles}")),
    }
}

/// The message about a service that ended before it was ready.
fn ended_early(launch: &Launch, kept: &mut Kept) -> String {
    let how = if kept.was_asked_to_end() { "asked to end" } else { "killed" };
    let Launch { key, command, .. } = launch;
    let Some(ended) = kept.end(&|| true) else {
        return format!("{key}: the process that keeps the service was {how}");
    };
    let shown = &command.shown;
    if let Some(why) = ended.said.lines().last().and_then(|line| line.strip_prefix(CANNOT)) {
        let hint = match launch.ready {
            // Its command is not the script's to say.
            Some(Ready::Listening { .. }) => BY_HAND,
            _ => {
                "a list is a program and its arguments, a text is what `sh -c` runs; relative names begin in `folder`"
            }
        };
        return format!("{key}: the service `{shown}` could not be started: {CANNOT}{why}\nhint: {hint}");
    }
    format!(
        "{key}: the service `{shown}` ended before it was ready, with {}{}\nhint: {BY_HAND}",
        ended.words(),
        last_words(&ended.said)
    )
}

/// What a service printed last: a single line is part of the sentence, which may be all that a table has room for.
fn last_words(said: &str) -> String {
    let mut lines = said.lines();
    match (lines.next(), lines.next()) {
        (Some(line), None) => format!(": {}", line.trim().trim_start_matches("error: ")),
        _ => quoted(said),
    }
}

fn not_started(launch: &Launch, NotStarted { why, hint, said, is_refused }: &NotStarted) -> String {
    let Launch { key, command, .. } = launch;
    let shown = &command.shown;
    let hint = hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    if *is_refused {
        return format!("{key}: {why}{hint}");
    }
    let what = match launch.restart {
        None => format!("`{shown}` was not started"),
        Some(_) => "the running service is not as the run wants it".to_owned(),
    };
    format!("{key}: {what}: {why}{}{hint}", quoted(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_last_line_is_part_of_the_sentence_and_several_are_quoted() {
        assert_eq!(last_words("error: no such store"), ": no such store");
        assert_eq!(last_words("one\ntwo"), "\n  | one\n  | two");
        assert_eq!(last_words(""), "");
    }
}
