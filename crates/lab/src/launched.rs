//! A service that a script describes: started or restarted, ready, with its network in front of it.

use crate::job::{Job, StopBy, Stream};
use crate::kept::{Kept, NotStarted};
use crate::log::quoted;
use crate::ports;
use crate::proxy::Proxy;
use crate::ready::{self, Address};
use crate::settings::{Launch, Ready};
use crate::starter::CANNOT;
use crate::tree::Used;
use rustix::process::{Resource, getrlimit};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The intervals at which a service is asked whether it is ready.
const LOOK: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// A running service.
pub struct Launched {
    kept: Kept,
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
    ///
    /// # Errors
    /// What went wrong, with the last lines of what the service printed.
    pub fn start(
        launch: &Launch,
        target: Option<(String, u16)>,
        folder: &Path,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Launched, LaunchError> {
        let address = target.map(|(host, port)| Address { host, port }).or_else(|| asked_address(launch));
        let failed = |what: String| LaunchError::Failed(what);
        if address.is_none() && (launch.ready.is_none() || launch.network.is_some()) {
            return Err(failed(
                "launch: nothing says where the service listens\nhint: name it with `ready`, e.g. `ready: port 3000`"
                    .to_owned(),
            ));
        }
        let own = own_folder(launch, folder);
        if !own.as_os_str().is_empty() && !own.is_dir() {
            return Err(failed(format!(
                "launch: the folder {} is not there\nhint: `folder` is relative to the script's",
                own.display()
            )));
        }
        if launch.restart.is_none() {
            for used in [asked_address(launch), address.clone()].into_iter().flatten() {
                unused(&used)?;
            }
        }
        let line = match &launch.ready {
            Some(Ready::Line(line)) => Some(line.clone()),
            _ => None,
        };
        let job = job(launch, own, line.is_some());
        let has_said = Arc::new(AtomicBool::new(false));
        let said = Arc::clone(&has_said);
        let on_line = move |_: Stream, text: &str| {
            if line.as_ref().is_some_and(|line| text.contains(line)) {
                said.store(true, Ordering::Release);
            }
        };
        let kept = Kept::start(&job, on_line);
        let mut kept =
            kept.map_err(|error| failed(format!("launch: this binary cannot be started again: {error}")))?;
        if let Err(error) = up(launch, address.as_ref(), &has_said, &mut kept, is_stopped) {
            return Err(put_right(error, kept));
        }
        kept.tell_no_lines();
        let proxy = launch.network.as_ref().zip(address).map(|(network, address)| {
            let to = address.accepting().map_err(|error| {
                failed(format!("launch: {}:{} accepts no connection: {error}", address.host, address.port))
            })?;
            Proxy::start(to, network)
                .map_err(|error| failed(format!("launch: the network in front of the service: {error}")))
        });
        Ok(Launched { kept, proxy: proxy.transpose()? })
    }

    /// The address that stands for the service's; None: the service's own.
    pub fn address(&self) -> Option<SocketAddr> {
        self.proxy.as_ref().map(Proxy::address)
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

    /// Processes of it that the kernel killed so far for its memory limit; 0 where there is no group of its own to ask.
    pub fn memory_kills(&self) -> u64 {
        self.kept.memory_kills()
    }

    /// How often so far the network before it had no files or ports left for a connection.
    pub fn exhausted(&self) -> u64 {
        self.proxy.as_ref().map_or(0, Proxy::exhausted)
    }

    /// Writes what it prints to this file from now on.
    pub fn log_to(&mut self, path: &Path) {
        self.kept.log_to(path);
    }

    /// Ends it; `is_hurried` says when there is no time for its grace any more. What went wrong around it is returned.
    pub fn end(mut self, is_hurried: &dyn Fn() -> bool) -> Vec<String> {
        self.proxy = None;
        self.kept.end(is_hurried);
        self.kept.take_troubles()
    }
}

/// The address that readiness is asked of.
fn asked_address(launch: &Launch) -> Option<Address> {
    match launch.ready.as_ref()? {
        Ready::Port(port) => Some(Address { host: "127.0.0.1".to_owned(), port: *port }),
        Ready::Http { host, port, .. } => Some(Address { host: host.clone(), port: *port }),
        Ready::Line(_) => None,
    }
}

/// Whoever listens there already would be taken for the service.
fn unused(address: &Address) -> Result<(), LaunchError> {
    if address.connect().is_err() {
        return Ok(());
    }
    let Address { host, port } = address;
    let by = ports::listener(*port).map(|by| format!(", by {by}")).unwrap_or_default();
    Err(LaunchError::Failed(format!(
        "launch: {host}:{port} is in use already{by}\nhint: end what listens there; the service is started anew for \
         every run"
    )))
}

/// The service's working directory; empty: this process's.
fn own_folder(launch: &Launch, folder: &Path) -> PathBuf {
    launch.folder.as_ref().map_or_else(|| folder.to_owned(), |own| folder.join(own))
}

fn job(launch: &Launch, folder: PathBuf, tells_lines: bool) -> Job {
    Job {
        command: launch.command.words.clone(),
        restart: launch.restart.clone(),
        folder: Some(folder).filter(|folder| !folder.as_os_str().is_empty()),
        env: launch.env.clone(),
        stop: StopBy::Signal(launch.stop.signal),
        grace: launch.stop.grace,
        limits: launch.limits.clone(),
        before: launch.before.as_ref().map(|command| command.words.clone()),
        after: launch.after.as_ref().map(|command| command.words.clone()),
        tells_lines,
        usual_nofile: usual_nofile(),
    }
}

/// Open files that this process might have when its first service was started: for its load it takes all that it may
/// have, and a service of a later run would inherit that.
fn usual_nofile() -> Option<u64> {
    static USUAL: OnceLock<Option<u64>> = OnceLock::new();
    *USUAL.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Waits until the service is there, is ready, and has the setting that was made.
fn up(
    launch: &Launch,
    address: Option<&Address>,
    has_said: &AtomicBool,
    kept: &mut Kept,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), LaunchError> {
    let told = |outcome: Option<Result<(), NotStarted>>| match outcome {
        None => Err(LaunchError::Stopped),
        Some(Err(not)) => Err(LaunchError::Failed(not_started(launch, &not))),
        Some(Ok(())) => Ok(()),
    };
    told(kept.started(is_stopped))?;
    wait(launch, address, has_said, kept, is_stopped)?;
    if launch.restart.is_none() {
        return Ok(());
    }
    // A service may answer before it has read its settings, and one that is about to end may answer for the next.
    let began = Instant::now();
    loop {
        match kept.read_back(is_stopped) {
            Some(Err(_)) if began.elapsed() < launch.patience && !kept.is_gone() => {
                std::thread::sleep(LONGEST_LOOK);
            }
            outcome => return told(outcome),
        }
    }
}

/// Ends what was begun of a start that came to nothing; what went wrong with that as well is added to the error.
fn put_right(error: LaunchError, mut kept: Kept) -> LaunchError {
    kept.end(&|| true);
    // What is left behind is worth knowing to whoever has stopped it, too.
    match kept.take_troubles().join("\n") {
        troubles if troubles.is_empty() => error,
        troubles => LaunchError::Failed(format!("{error}\n{troubles}")),
    }
}

/// Waits until the service is ready.
fn wait(
    launch: &Launch,
    address: Option<&Address>,
    has_said: &AtomicBool,
    kept: &mut Kept,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), LaunchError> {
    let (began, mut look) = (Instant::now(), LOOK);
    loop {
        let missing = match (&launch.ready, asked_address(launch).as_ref().or(address)) {
            (Some(Ready::Line(line)), _) if !has_said.load(Ordering::Acquire) => {
                Err(format!("it printed no line with `{line}`"))
            }
            (Some(Ready::Http { path, .. }), Some(of)) => {
                ready::ask(of, path).map_err(|why| format!("http://{}:{}{path}: {why}", of.host, of.port))
            }
            (Some(Ready::Line(_)), _) | (_, None) => Ok(()),
            (_, Some(of)) => {
                of.accepting().map(drop).map_err(|why| format!("{}:{}: {why}", of.host, of.port))
            }
        };
        // A daemon's parent ends and is none the worse for it: what counts is that something is ready.
        let Err(why) = missing else { return Ok(()) };
        if kept.is_gone() {
            return Err(LaunchError::Failed(ended_early(launch, kept)));
        }
        if is_stopped() {
            return Err(LaunchError::Stopped);
        }
        if began.elapsed() >= launch.patience {
            let ended = kept.end(&|| true);
            let said = ended.map_or_else(|| kept.said().to_owned(), |ended| ended.said);
            let after = if launch.restart.is_some() { "restarted by " } else { "" };
            return Err(LaunchError::Failed(format!(
                "launch: the service {after}`{}` was not ready within {} s: {why}{}\nhint: `patience` is the time it \
                 has; `ready` says what is asked",
                launch.command.shown,
                launch.patience.as_secs_f64(),
                quoted(&said)
            )));
        }
        std::thread::sleep(look);
        look = (look * 2).min(LONGEST_LOOK);
    }
}

/// The message about a service that ended before it was ready.
fn ended_early(launch: &Launch, kept: &mut Kept) -> String {
    let Some(ended) = kept.end(&|| true) else {
        return "launch: the process that keeps the service was killed".to_owned();
    };
    let shown = &launch.command.shown;
    if let Some(why) = ended.said.lines().last().and_then(|line| line.strip_prefix(CANNOT)) {
        return format!(
            "launch: the service `{shown}` could not be started: {CANNOT}{why}\nhint: a list is a program and its \
             arguments, a text is what `sh -c` runs; relative names begin in `folder`"
        );
    }
    format!(
        "launch: the service `{shown}` ended before it was ready, with {}{}\nhint: start it by hand, with the same \
         command and folder",
        ended.words(),
        quoted(&ended.said)
    )
}

fn not_started(launch: &Launch, NotStarted { why, hint, said }: &NotStarted) -> String {
    let shown = &launch.command.shown;
    let hint = hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    let what = match launch.restart {
        None => format!("`{shown}` was not started"),
        Some(_) => "the running service is not as the run wants it".to_owned(),
    };
    format!("launch: {what}: {why}{}{hint}", quoted(said))
}
