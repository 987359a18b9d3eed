//! What a script may say of a service, read and judged.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A service that is started or restarted for every run.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The key of the script that says all this: messages about the service begin with it.
    pub key: &'static str,
    /// What starts it; what restarts it, where it runs already.
    pub command: Command,
    /// What else is done around the restart of a service that runs already; None: it is started for the run.
    pub restart: Option<Restart>,
    /// Its working directory; None: the script's folder.
    pub folder: Option<PathBuf>,
    /// Environment variables over those of this process.
    pub env: Vec<(String, String)>,
    /// When it is ready; None: when the target's port accepts connections.
    pub ready: Option<Ready>,
    /// The time limit for getting ready.
    pub patience: Duration,
    /// How it is ended.
    pub stop: Stop,
    /// What it may use.
    pub limits: Limits,
    /// The network between the run and the service; None: as it is.
    pub network: Option<Network>,
    /// Run to its end before each start.
    pub before: Option<Command>,
    /// Run after each end.
    pub after: Option<Command>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// As the script has it.
    pub shown: String,
}

/// How a service that runs already gets the settings of a run, and its own ones back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Changes its settings, before it is restarted.
    pub apply: Option<Command>,
    /// Asks it for the setting that was made.
    pub read: Option<ReadBack>,
    /// Undoes what `apply` did. It is restarted once more then.
    pub restore: Option<Command>,
}

/// A command that prints a setting, and what it must print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The command.
    pub command: Command,
    /// Its standard output, without white space around it.
    pub equals: String,
}

/// What tells that a service is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// A port of this machine accepts connections.
    Port(u16),
    /// `http://HOST:PORT` and a path answer with a status below 400.
    Http {
        /// The host's name or address.
        host: String,
        /// The port.
        port: u16,
        /// Path and query.
        path: String,
    },
    /// It prints a line that contains this.
    Line(String),
    /// It says where it listens, and answers there: for a service on a port that nobody knows before it has it.
    Listening {
        /// What the line on its standard output begins with; an address and a port follow.
        before: String,
        /// Path and query of the page that answers with a status below 400.
        path: String,
    },
}

/// How a service is asked to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopBy {
    /// Its standard input is closed.
    Eof,
    /// This signal is sent to all of its processes.
    Signal(i32),
}

/// How a service is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What it is asked by.
    pub by: StopBy,
    /// The time from then until what is left is killed.
    pub grace: Duration,
}

/// What a service may use; None: as much as there is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Cores: 0.5 is half of one.
    pub cpu: Option<f64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes that may be swapped out beyond it; None: none.
    pub swap: Option<u64>,
    /// Open files of each of its processes.
    pub nofile: Option<u64>,
    /// CPU credits that decide between `cpu` and a baseline.
    pub credits: Option<Credits>,
}

impl Limits {
    /// Whether CPU or memory is limited, which is for all processes of the service together.
    pub fn has_cpu_or_memory(&self) -> bool {
        self.cpu.is_some() || self.memory.is_some()
    }
}

/// CPU credits of a burstable machine: one is a core for a minute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credits {
    /// Cores that are left when they are used up.
    pub baseline: f64,
    /// Credits earned an hour.
    pub an_hour: f64,
    /// Credits at the start.
    pub at_start: f64,
    /// Credits that can be saved up.
    pub most: f64,
}

/// The network between the run and the service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Added to every round trip, half of it in each direction.
    pub latency: Duration,
    /// Bits a second, of all connections together, in each direction.
    pub bandwidth: Option<u64>,
    /// The interval at which all connections are cut.
    pub cut: Option<Duration>,
}
