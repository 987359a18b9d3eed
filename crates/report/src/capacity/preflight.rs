//! The preflight of a search: this machine as its generator finds it before the first trial.

use serde::{Deserialize, Serialize};

/// This machine before the first trial, and what on it will keep the search from the top of its range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preflight {
    /// Files that it may have open; None: as many as it likes.
    pub open_files_limit: Option<u64>,
    /// Local ports for connections to one address; None: the system does not say.
    pub local_ports: Option<u64>,
    /// Cores of the machine.
    pub cores: u64,
    /// Cores that others used meanwhile; None: the system does not say.
    pub busy_cores: Option<f64>,
    /// How late sleeps of a millisecond ended, at the 99th percentile.
    pub timer_late_ms: f64,
    /// The highest load that is tried; None: the top of the range.
    pub highest: Option<u64>,
    /// Why the search will not get to the top of its range; empty: nothing is in its way.
    pub findings: Vec<PreflightFinding>,
}

/// A reason why a search will not get to the top of its range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreflightFinding {
    /// The limit that is too low.
    pub limit: GeneratorLimit,
    /// The finding, in a sentence.
    pub what: String,
    /// The remedy.
    pub hint: String,
}

/// A limit that keeps a generator from more load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorLimit {
    /// Files that it may have open.
    Descriptors,
    /// Local ports.
    Ports,
    /// Cores that others use.
    Cores,
    /// Timers that ring late.
    Timers,
}

impl GeneratorLimit {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            GeneratorLimit::Descriptors => "descriptors",
            GeneratorLimit::Ports => "ports",
            GeneratorLimit::Cores => "cores",
            GeneratorLimit::Timers => "timers",
        }
    }
}

impl Preflight {
    /// The finding of this limit.
    pub fn finding(&self, limit: GeneratorLimit) -> Option<&PreflightFinding> {
        self.findings.iter().find(|finding| finding.limit == limit)
    }
}
