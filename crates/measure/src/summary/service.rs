//! The usage of the service started for a run, and the meaning of its end for the verdict.
//!
//! The figures are the kernel's of the service's process, read once a second by who started it; nothing is asked of the
//! service itself, so measuring it costs it nothing.

use super::{Cause, Conclusion, Health, Summary};
use crate::figures::{count, counted};

/// From this share of all the cores it may use on, a service (or a machine) counts as full in a second.
pub const FULL_SHARE: f64 = 0.95;
/// Full seconds from which on a service or machine is called saturated: one or two are a burst.
pub const SATURATED_SECONDS: u64 = 3;
/// In a second in which its p99 is above this (ms), the network before a service is late: it promises what was asked
/// for plus a fraction of a millisecond.
pub const NETWORK_LATE_MS: f64 = 1.0;
/// Late seconds on end from which on that is worth a warning: one or two are a burst.
const NETWORK_LATE_SECONDS: u64 = 3;

/// The usage of the service during the run.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Service {
    /// Its options, as the script gives them; of a launched one its command.
    pub arguments: Vec<String>,
    /// Threads that serve; of a launched service the cores that it may use, rounded up.
    pub workers: u64,
    /// CPU time it used from the run's start to its end.
    pub cpu_s: f64,
    /// The most cores it used in one second: 0.8 is four fifths of one.
    pub busiest_cores: f64,
    /// Seconds in which it used at least 95 % of as many cores as it has workers, or may use.
    pub full_s: u64,
    /// Cores of the machine.
    pub machine_cores: u64,
    /// Seconds in which generator and service together used at least 95 % of the machine's cores.
    pub machine_full_s: u64,
    /// Most memory resident since it started, MB (10⁶ bytes).
    pub resident_peak_mb: f64,
    /// How it ended, when that was before the run's end: nobody had asked it to.
    pub ended: Option<String>,
    /// Processes of it that the kernel killed in the run for its memory limit.
    #[serde(default)]
    pub memory_kills: u64,
    /// How often the generator had no files or ports left for connections through the network that it puts before the
    /// service.
    #[serde(default)]
    pub exhausted: u64,
    /// The most seconds on end in which that network was late itself.
    #[serde(default)]
    pub network_late_s: u64,
}

/// What helps where the network before a service had no files or ports left.
const EXHAUSTED: &str = "`network` takes two more files and a port for each connection: raise `ulimit -n`, widen the \
                         range of local ports, or plan fewer users";

impl Service {
    /// What went wrong with it in the run: it ended, or lost processes to its memory limit.
    pub fn failure(&self) -> Option<String> {
        match (&self.ended, self.memory_kills) {
            (Some(how), _) => Some(format!("the service ended during the run: {how}")),
            (None, 0) => None,
            (None, 1) => Some("the memory limit killed a process of the service".to_owned()),
            (None, several) => Some(format!("the memory limit killed {several} processes of the service")),
        }
    }

    /// What the generator lacked for it, so that the run says nothing of the service.
    pub fn shortage(&self) -> Option<String> {
        (self.exhausted > 0).then(|| {
            let times = counted(self.exhausted, "time");
            format!("the network before the service ran out of files or ports {times} (none is allowed)")
        })
    }

    /// What made it look slower than it was: the network that the generator puts before it was late.
    pub fn lateness(&self) -> Option<String> {
        (self.network_late_s >= NETWORK_LATE_SECONDS).then(|| {
            let seconds = count(self.network_late_s);
            format!(
                "the network before the service was late for {seconds} seconds on end (p99 above {NETWORK_LATE_MS} \
                 ms): what it was late by looks like slowness of the service"
            )
        })
    }

    /// Whether its workers were busy for so long that more was not to be had from them.
    pub fn is_saturated(&self) -> bool {
        self.full_s >= SATURATED_SECONDS
    }

    /// Whether generator and service together left nothing of the machine.
    pub fn is_machine_saturated(&self) -> bool {
        self.machine_full_s >= SATURATED_SECONDS
    }
}

impl Summary {
    /// The summary of a run beside which this service ran. A service that ended of itself, or was killed in part, fails
    /// the run, whatever the users noticed of it; one that users could not reach for want of files or ports of ours
    /// makes it invalid; one before which our network was late is worth a warning.
    #[must_use]
    pub fn beside(mut self, service: Service) -> Summary {
        if let Some(failure) = service.failure() {
            let verdict = &mut self.verdict;
            if verdict.result == Conclusion::Pass {
                verdict.result = Conclusion::Fail;
                verdict.reasons.clear();
            }
            verdict.reasons.insert(0, failure);
        }
        if let Some(shortage) = service.shortage() {
            self.generator.state = Health::Invalid;
            self.generator.cause = Some(Cause::Exhausted);
            self.generator.findings.insert(0, shortage.clone());
            let verdict = &mut self.verdict;
            if verdict.result == Conclusion::Pass {
                verdict.reasons.clear();
            }
            if verdict.result != Conclusion::Interrupted {
                verdict.result = Conclusion::Invalid;
                verdict.reasons.insert(0, shortage);
                verdict.hints.push(EXHAUSTED.to_owned());
            }
        }
        if let Some(lateness) = service.lateness() {
            self.generator.state = self.generator.state.max(Health::Warn);
            self.generator.findings.push(lateness.clone());
            self.verdict.hints.push(lateness);
        }
        self.service = Some(service);
        self
    }
}
