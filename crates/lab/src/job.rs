//! What a keeper is told, and what it tells: lines of JSON through its standard input and output.

use crate::cgroup::Group;
use crate::log::Stream;
use crate::ready::ReadyCheck;
use crate::service_lock::ServiceName;
use crate::settings::{Limits, Restart, StopBy};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The argument that makes this binary a keeper.
pub const KEEPER: &str = "--keep-service";
/// The argument that makes it what a service is started by.
pub const STARTER: &str = "--start-service";

/// What a keeper does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The service's program and arguments, or those of the command that restarts it; the first word
    /// `/proc/self/exe` is this binary.
    pub command: Vec<String>,
    /// What else is done around the restart of a service that runs already; None: the command is the service.
    pub restart: Option<RestartJob>,
    /// Its working directory; None: this process's.
    pub folder: Option<PathBuf>,
    /// Environment variables over those of this process.
    pub env: Vec<(String, String)>,
    /// How it is ended.
    pub stop: StopBy,
    /// The time from then until what is left is killed.
    pub grace: Duration,
    /// What it may use.
    pub limits: Limits,
    /// Run to its end first.
    pub before: Option<Vec<String>>,
    /// Run after its end.
    pub after: Option<Vec<String>>,
    /// Whether every line it prints is told.
    pub tells_lines: bool,
    /// Open files that each of its processes may have where `limits` do not say it; None: as many as this process.
    pub usual_nofile: Option<u64>,
}

/// What a keeper does around the restart of a service that runs already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartJob {
    /// The commands beside the one that restarts it.
    pub(crate) commands: Restart,
    /// What it is asked once it has its own settings back.
    pub(crate) ready: ReadyCheck,
    /// The time limit for it to be ready again.
    pub(crate) patience: Duration,
    /// What keeps other runs out is taken under this name.
    pub(crate) service: ServiceName,
    pub(crate) limits: TimeLimits,
}

impl RestartJob {
    /// The longest that giving it its own settings back may take.
    pub(crate) fn restore_limit(&self) -> Duration {
        self.limits.change.saturating_mul(2).saturating_add(self.patience).saturating_add(RESTORE_MARGIN)
    }
}

/// What giving a service its own settings back may take beside the time limits of its parts: a command that exceeds its
/// own is killed first.
const RESTORE_MARGIN: Duration = Duration::from_secs(30);

/// The time limits of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeLimits {
    /// Of what is done before a run, and of what puts things right after it.
    pub(crate) change: Duration,
    /// Of `after`, and of what only asks.
    pub(crate) ask: Duration,
}

impl TimeLimits {
    /// Those of every job but a test's.
    pub(crate) const USUAL: TimeLimits =
        TimeLimits { change: Duration::from_secs(600), ask: Duration::from_secs(60) };
}

/// What a keeper is asked while the service runs. The end of its input asks the same as `End`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Write the log to this file.
    Log(PathBuf),
    /// Tell no lines any more.
    NoLines,
    /// Ask a restarted service for the setting that was made.
    ReadBack,
    /// End the service.
    End,
    /// End everything, without grace.
    Kill,
}

/// What a keeper tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// `before` is done, and the service was started.
    Started {
        /// Its first process.
        id: i32,
        /// Where its limits are, if it has any that are a group's.
        group: Option<Group>,
    },
    /// It printed a line.
    Line(Stream, String),
    /// Its first process has ended.
    Ended(Ended),
    /// `before` is done, and a service that runs already was restarted.
    Restarted {
        /// The log's last lines.
        said: String,
    },
    /// A restarted service has the setting that was made.
    Agreed,
    /// It could not be started, or has another setting.
    Failed {
        /// Why.
        why: String,
        /// What helps.
        hint: Option<String>,
        /// The log's last lines.
        said: String,
    },
    /// Another run has it: nothing was done.
    Refused {
        /// What happened, and the rule.
        what: String,
        /// What helps.
        hint: Option<String>,
    },
    /// A service that runs already may have other settings than its own from now on.
    Changing,
    /// A signal asks the keeper itself to end.
    Signalled,
    /// What is worth knowing at once: that it takes longer, or how a limit is held.
    Notice(String),
    /// So many of its processes were killed so far for the memory limit of a group that systemd has made.
    MemoryKills(u64),
    /// Something went wrong around it that changes nothing for the run.
    Trouble(String),
    /// Everything is ended and removed.
    Over,
}

/// How a service's first process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its status, as `wait` has it.
    pub status: i32,
    /// Whether it had not been asked to.
    pub is_unasked: bool,
    /// Whether it was killed because its grace was over.
    pub is_killed: bool,
    /// Processes of the service that the kernel killed for the memory limit.
    pub oom_kills: u64,
    /// The log's last lines.
    pub said: String,
}

impl Ended {
    /// Whether it ended well, as the parent of a daemon does.
    pub(crate) fn is_fine(&self) -> bool {
        self.status == 0
    }

    /// In words: its status, and why where that is known.
    pub fn words(&self) -> String {
        use std::os::unix::process::ExitStatusExt;
        let status = std::process::ExitStatus::from_raw(self.status);
        match (self.oom_kills, status.signal()) {
            (0, _) => status.to_string(),
            (_, Some(9)) => format!("{status}, killed by the memory limit"),
            // Another process of it was, and it ended of that, or of itself.
            _ => format!("{status}, after a process of it was killed by the memory limit"),
        }
    }
}
