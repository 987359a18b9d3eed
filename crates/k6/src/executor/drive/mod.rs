//! Drives one scenario's share on one shard: sleeps until its start, lets its users iterate, and returns when all of
//! them are given back.
//!
//! Two drivers do for six executors: `looping`, where a user's next iteration follows its last, and `arriving`, where
//! iterations are planned and a free user is looked for.

mod arriving;
mod looping;

use super::common::Common;
use super::plan::Plan;
use super::stop::Stop;
use super::{Course, Dropped, Iteration, Over, Pool, Reason, Turn, Vu};
use crate::options::Scenario;
use sonagi_measure::At;
use sonagi_transport::clock::{Clock, Sleep};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

/// One scenario's share on one shard.
pub struct Share<P: Pool> {
    /// The scenario.
    pub options: Scenario,
    /// The whole test's plan, the same on all shards.
    pub plan: Arc<Plan>,
    /// The state that its shards share; it says which scenario of the plan this is.
    pub common: Arc<Common>,
    /// Which of the plan's shards this is.
    pub shard: usize,
    /// The shard's users.
    pub pool: Rc<P>,
    /// The shard's clock.
    pub clock: Rc<Clock>,
}

/// Runs a share to its end. To be called on the shard's thread, within its `LocalSet`, on every shard of the plan.
pub async fn run<P: Pool>(share: Share<P>) {
    let share = Rc::new(share);
    let started = share.stop(share.common.hard_end).sleep(share.common.start).await;
    if started {
        match share.course().arrivals {
            Some(_) => arriving::drive(&share).await,
            None => looping::drive(&share).await,
        }
    } else {
        arriving::leave(&share);
    }
    share.finish();
}

impl<P: Pool> Share<P> {
    fn course(&self) -> &Course {
        &self.plan.scenarios[self.common.scenario]
    }

    /// The turns whose place is on this shard.
    fn turns(&self) -> impl Iterator<Item = &Turn> {
        let here = |place: u64| place % self.plan.shards as u64 == self.shard as u64;
        self.course().turns.iter().filter(move |(_, place)| here(*place)).map(|(turn, _)| turn)
    }

    fn stop(&self, deadline: At) -> Stop {
        Stop::new(deadline, &self.clock, &self.common.test.abort)
    }

    fn aborted(&self) -> bool {
        self.common.test.abort.asked()
    }

    /// A user for a turn. There is one, unless another scenario holds on to it longer than planned.
    async fn take(&self) -> Option<P::Vu> {
        match self.pool.take() {
            Some(vu) => Some(vu),
            None => self.create().await,
        }
    }

    async fn create(&self) -> Option<P::Vu> {
        let created = self.pool.create().await;
        created.inspect_err(|why| self.pool.failed(self.common.scenario, why)).ok()
    }

    fn dropped(&self, count: u64, why: Dropped) {
        if count > 0 {
            self.common.counts.dropped.add(count);
            self.pool.dropped(self.common.scenario, count, why);
        }
    }

    /// One iteration, stopped at its hard end by `alarm`.
    async fn iterate(&self, vu: &mut P::Vu, planned: At, stop: &Stop, alarm: Pin<&mut Sleep>) {
        let Common { scenario, counts, .. } = &*self.common;
        let (scenario, number) = (*scenario, counts.begun.add(1));
        let iterating = vu.iterate(Iteration { scenario, number, planned, stop: stop.clone() });
        let (over, has_waited) = stop.bound(alarm, iterating).await;
        let count = if over == Over::Complete { &counts.complete } else { &counts.interrupted };
        count.add(1);
        if let Over::Abort(why) = over {
            self.common.test.abort.ask(Reason::Script(why));
            self.clock.wake_all();
        }
        // A script that never waits must not keep the shard's others from running.
        if !has_waited {
            tokio::task::yield_now().await;
        }
    }

    /// The last shard to come here sees the whole scenario.
    fn finish(&self) {
        let is_last = self.common.end_share(self.clock.now());
        if is_last && !self.aborted() {
            looping::finish(self);
        }
    }
}
