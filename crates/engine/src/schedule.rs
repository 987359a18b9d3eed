//! When is arrival n planned? Pure functions; nothing here waits.

use std::time::Duration;

/// The load model of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Users arrive when planned, whatever the target does (Artillery's phases).
    Open { phases: Vec<Phase>, spacing: Spacing },
    /// A population of users iterates its scenario again and again.
    Closed { stages: Vec<Stage> },
}

/// How arrivals are spread over a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing { Even, /** Exponential gaps with the phase's rate as intensity, from the run's seed. */ Poisson }

/// A stretch of an open run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase { pub name: Option<String>, pub duration: Duration, pub shape: Shape, /** At most this many users at once; arrivals over it are skipped. */ pub max_users: Option<u64> }

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Arrivals per second, constant (`from == to`) or ramping second by second.
    Rate { from: f64, to: f64 },
    /// This many arrivals, evenly over the phase.
    Count(u64),
    Pause,
}

/// A stretch of a closed run: the population moves linearly from the previous stage's `users` (0 at first) or from `from`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage { pub name: Option<String>, pub duration: Duration, pub from: Option<u64>, pub users: u64 }
