//! Where in its test an iteration is, as `k6/execution` tells scripts: written by the run, read by the module.

use sonagi_measure::At;
use std::sync::Arc;

use crate::executor::{Common, Count, Counts};

/// An iteration under way.
#[derive(Clone, Copy)]
pub(crate) struct CurrentIteration {
    /// Which scenario it is of, as in the options.
    pub(crate) scenario: usize,
    /// The iteration's number in its scenario, from 0, over all shards.
    pub(crate) number: u64,
    /// The iteration's number among those of this scenario that this user runs, from 0.
    pub(crate) of_vu: u64,
}

/// A test under way, all shards together.
#[derive(Default)]
pub(crate) struct TestUnderWay {
    /// The scenarios; empty until they begin.
    pub(crate) scenarios: Vec<Arc<Common>>,
    /// Users whose init code ran before the test began.
    pub(crate) there: u64,
    /// When the test began, before `setup`.
    pub(crate) began: At,
    /// The value that `setup` returned.
    pub(crate) data: Option<Arc<str>>,
    /// The wall clock at the run's epoch, in ms since 1970.
    pub(crate) started_ms: f64,
}

impl TestUnderWay {
    /// How long the test has been under way, `setup` included, in ms.
    pub(crate) fn duration_ms(&self, now: At) -> f64 {
        now.since(self.began) as f64 / 1e6
    }

    /// When a scenario began, in ms since 1970.
    pub(crate) fn start_ms(&self, scenario: usize) -> f64 {
        self.started_ms + self.scenarios[scenario].start.0 as f64 / 1e6
    }

    /// The sum of a count over all scenarios.
    pub(crate) fn sum(&self, of: fn(&Counts) -> &Count) -> u64 {
        Common::sum(&self.scenarios, of)
    }

    pub(crate) fn vus_initialized(&self) -> u64 {
        self.there.max(self.sum(|counts| &counts.held))
    }
}
