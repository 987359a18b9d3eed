//! When iterations happen: schedules as pure functions, and the drivers that keep to them.
//!
//! `turns` says which virtual user iterates when, `arrivals` when an iteration is planned whoever is free, `plan` how
//! many users that takes and on which shard each of them is. [`run`] then carries out one scenario's share on one
//! shard. It does not know what an iteration is: it is generic over [`Pool`] and [`Vu`], and its tests run on users
//! that only sleep.

mod arrivals;
mod common;
mod drive;
mod plan;
mod stop;
#[cfg(test)]
mod tests;
mod turns;

pub use arrivals::Arrivals;
pub use common::{Common, Count, Counts, Test};
pub use drive::{Share, run};
pub use plan::{Course, Plan};
pub use stop::{Abort, Reason, Stop};
pub use turns::Turn;

use sonagi_measure::At;
use std::future::Future;
use std::rc::Rc;

/// A pool that gives out virtual users; one per shard. Users come back to it, and other scenarios reuse them. It hears
/// what drivers see as well; counts of iterations and users are in [`Common`] besides.
pub trait Pool: 'static {
    /// The type of its users.
    type Vu: Vu;
    /// One that is initialised and idle.
    fn take(&self) -> Option<Self::Vu>;
    /// A new one: beyond those allocated before the start, up to `maxVUs`.
    fn create(self: &Rc<Self>) -> impl Future<Output = Result<Self::Vu, Failed>>;
    /// Takes one back.
    fn give_back(&self, vu: Self::Vu);
    /// Hears of iterations that were planned and not begun: `dropped_iterations`.
    fn dropped(&self, scenario: usize, count: u64, why: Dropped);
    /// Hears that all `most` users are busy and no more may be created; told once per scenario.
    fn insufficient_vus(&self, _scenario: usize, _most: u64) {}
    /// Hears that a user could not be created.
    fn failed(&self, _scenario: usize, _why: &Failed) {}
}

/// One virtual user.
pub trait Vu: 'static {
    /// Carries one iteration out. Must end soon after `iteration.stop` is set, whatever the script does.
    fn iterate(&mut self, iteration: Iteration) -> impl Future<Output = Over>;
}

/// The task of a virtual user.
///
/// How many iterations of this scenario the user has done before is not said: only the user knows, for it may have been
/// given back and taken again.
#[derive(Clone)]
pub struct Iteration {
    /// Which scenario, as in the options.
    pub scenario: usize,
    /// Which iteration of the scenario this is, from 0.
    pub number: u64,
    /// When it was planned: an arrival's instant, or now.
    pub planned: At,
    /// When to give up.
    pub stop: Stop,
}

/// How an iteration ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// The script's function returned, or threw.
    Complete,
    /// It was stopped before its end.
    Interrupted,
    /// The script asked for the test's end, or broke what the test needs.
    Abort(String),
}

/// Why no virtual user could be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no virtual user could be created: {0}")]
pub struct Failed(pub String);

/// Why iterations that were planned were not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// The scenario has too few users, or too little time, for what the target takes.
    Busy,
    /// The generator could not keep the plan: their time had passed when it came to them.
    Late,
}
