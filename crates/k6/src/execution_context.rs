//! Where in its test an iteration is, as `k6/execution` tells scripts: written by the run, read by the module.

use sonagi_measure::At;
use sonagi_transport::clock::Clock;
use std::rc::Rc;
use std::sync::Arc;

use crate::executor::Common;

/// A scenario under way, as scripts see it.
pub(crate) struct CurrentScenario {
    pub(crate) name: Rc<str>,
    /// `ramping-vus` and so on.
    pub(crate) executor: &'static str,
    /// When it began, in ms since 1970.
    pub(crate) start_ms: f64,
    /// How much of it is done, from 0 to 1.
    pub(crate) progress: Box<dyn Fn() -> f64>,
}

/// An iteration under way.
#[derive(Clone)]
pub(crate) struct CurrentIteration {
    pub(crate) scenario: Rc<CurrentScenario>,
    /// Which one of its scenario, from 0, in the whole test: one process runs it.
    pub(crate) number: u64,
    /// Which one of this scenario the user is at, from 0.
    pub(crate) of_vu: u64,
}

/// Counts of the whole test, all shards together.
pub(crate) struct TestCounts {
    /// None before they are under way.
    pub(crate) scenarios: Vec<Arc<Common>>,
    /// Users whose init code ran before the test began.
    pub(crate) there: u64,
    /// When the test began, before `setup`.
    pub(crate) began: At,
    pub(crate) clock: Rc<Clock>,
}

impl TestCounts {
    /// How long the test has been under way, `setup` included, in ms.
    pub(crate) fn duration_ms(&self) -> f64 {
        self.clock.now().since(self.began) as f64 / 1e6
    }

    /// The sum of a count over all scenarios.
    pub(crate) fn sum(&self, of: fn(&Common) -> u64) -> u64 {
        Common::sum(&self.scenarios, of)
    }

    pub(crate) fn vus_initialized(&self) -> u64 {
        self.there.max(self.sum(Common::held_vus))
    }
}
