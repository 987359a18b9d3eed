//! Where in its test an iteration is, as `k6/execution` tells scripts: written by the run, read by the module.

use std::rc::Rc;

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
    /// Which one of its scenario in this process, from 0.
    pub(crate) in_instance: u64,
    /// And in the whole test.
    pub(crate) in_test: u64,
    /// Which one of this scenario the user is at, from 0.
    pub(crate) of_vu: u64,
}

/// Counts of the whole test.
pub(crate) trait TestCounts {
    /// How long the test has been under way, `setup` included, in ms.
    fn duration_ms(&self) -> f64;
    fn iterations_completed(&self) -> u64;
    fn iterations_interrupted(&self) -> u64;
    fn vus_active(&self) -> u64;
    fn vus_initialized(&self) -> u64;
}
