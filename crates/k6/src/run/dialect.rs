//! k6's side of a run: what the kernel asks a script language for ([`Dialect`]). A thread's users are made before
//! `setup`, then told to begin, then their scenarios run to their ends.

use sonagi_engine::Dialect;
use sonagi_measure::At;
use sonagi_measure::recorder::{Counters, Record};
use sonagi_transport::net::NetOptions;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;

use super::one_shot::{OneShot, Outcomes};
use super::vu_pool::VuPool;
use crate::execution_context::TestUnderWay;
use crate::executor::{self, Abort, Plan, Pool, Share};
use crate::metrics::{Interval, Registry};
use crate::runtime::Thrown;
use crate::shard::{Common, Shard};

/// A test, as its threads share it.
pub(super) struct K6 {
    common: Arc<Common>,
    /// Empty while the script is read.
    plan: Arc<Plan>,
    /// The wall clock at the test's start, in ms since 1970.
    started_ms: f64,
    /// There once the scenarios are about to begin: all users are made, and `setup` has returned.
    pub(super) under_way: OnceLock<Arc<TestUnderWay>>,
}

/// Why a thread cannot do its part.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unready {
    /// The init code of the user with this number threw.
    #[error("{}", .1.text())]
    Thrown(u64, Thrown),
    /// There is no stack or interpreter to be had.
    #[error("a user could not be made: {0}")]
    User(#[from] io::Error),
    /// The test is to end before it began.
    #[error("the test is to end")]
    Stopped,
}

impl Dialect for K6 {
    type Thread = Rc<VuPool>;
    type Task = OneShot;
    type Done = Outcomes;
    type Error = Unready;

    const IS_PREPARED_FIRST: bool = true;
    const STOP_PATIENCE: Option<Duration> = Some(Duration::from_secs(5));
    // Users that would not end stay where they are: the process is about to.
    const KEEPS_REMAINS: bool = true;

    fn metrics(&self) -> Arc<Registry> {
        Arc::clone(&self.common.registry)
    }

    fn net(&self, thread: Option<usize>) -> NetOptions {
        match thread {
            Some(index) => self.common.net(index as u64 + 1, self.plan.shards as u64),
            None => self.common.net(0, 1),
        }
    }

    async fn prepare(
        &self,
        kernel: &Rc<sonagi_engine::Shard>,
        task: Option<&OneShot>,
    ) -> Result<Rc<VuPool>, Unready> {
        let shard = Shard::new(Arc::clone(&self.common), Rc::clone(kernel), self.common.sampler());
        let pool = VuPool::new(&shard);
        match task {
            None => self.fill(&pool).await?,
            Some(task) => {
                if let Some((began, there)) = task.under_way {
                    let test = TestUnderWay { there, began, ..TestUnderWay::default() };
                    // Set once: the shard is new.
                    let _ = shard.instance.set(Arc::new(test));
                }
                pool.give_back(pool.fresh(0)?);
            }
        }
        Ok(pool)
    }

    async fn load(&self, pool: &Rc<VuPool>) {
        // It is there: the thread was told to begin.
        let Some(test) = self.under_way.get() else { return };
        let shard = &pool.shard;
        // Set once: a shard begins once.
        let _ = shard.instance.set(Arc::clone(test));
        self.run_scenarios(pool).await;
        if shard.tracks.get() && shard.connected.get() > 0 {
            pool.drain().await;
        }
        pool.part();
    }

    async fn once(&self, pool: &Rc<VuPool>, task: OneShot) -> Outcomes {
        match pool.take() {
            Some(vu) => task.perform(&pool.shard.clock, vu.user).await,
            None => Outcomes::new(),
        }
    }

    fn observed(&self, pool: &Rc<VuPool>) -> Interval {
        pool.shard.sampler.borrow_mut().take()
    }

    /// Keeps the results of its requests; messages of `setup` and `teardown` are owed to nobody.
    fn kept_of_once(&self, record: Record) -> Option<Record> {
        let Record { counters, operations, codes, failures, metrics, .. } = record;
        let has_some = !metrics.is_empty() || !failures.is_empty() || counters != Counters::default();
        has_some.then(|| Record { counters, operations, codes, failures, metrics, ..Record::default() })
    }
}

impl K6 {
    pub(super) fn new(common: Arc<Common>, plan: Arc<Plan>, started: SystemTime) -> K6 {
        let since_1970 = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_ms = since_1970.as_secs_f64() * 1e3;
        K6 { common, plan, started_ms, under_way: OnceLock::new() }
    }

    /// The scenarios are about to begin, of a test that began before `setup`, which returned `data`.
    pub(super) fn begin(&self, at: At, began: At, data: Option<Arc<str>>, abort: &Arc<Abort>) {
        let state = executor::Test::new(&self.plan, at, Arc::clone(abort));
        let options = self.common.options.scenarios.iter().enumerate();
        let scenarios = options.map(|(at, one)| executor::Common::new(at, one, &self.plan, &state)).collect();
        let (there, started_ms) = (self.plan.planned_vus, self.started_ms);
        // Set once: a test begins once.
        let _ = self.under_way.set(Arc::new(TestUnderWay { scenarios, there, began, data, started_ms }));
    }

    /// The scenarios, once they are under way or over; none before.
    pub(super) fn scenarios(&self) -> &[Arc<executor::Common>] {
        self.under_way.get().map_or(&[][..], |test| test.scenarios.as_slice())
    }

    /// Gives a load thread its users, all of which have run their init code.
    async fn fill(&self, pool: &Rc<VuPool>) -> Result<(), Unready> {
        for place in pool.shard.place.index.iter().flat_map(|index| self.plan.planned_on(*index)) {
            let made = pool.made(place + 1).await.map_err(|thrown| Unready::Thrown(place + 1, thrown))?;
            pool.give_back(made);
        }
        Ok(())
    }

    /// All scenarios of this thread, side by side.
    async fn run_scenarios(&self, pool: &Rc<VuPool>) {
        let shard = &pool.shard;
        let mut running = JoinSet::new();
        for (options, common) in self.common.options.scenarios.iter().zip(self.scenarios()) {
            let share = Share {
                options: options.clone(),
                plan: Arc::clone(&self.plan),
                common: Arc::clone(common),
                shard: shard.place.index.unwrap_or_default(),
                pool: Rc::clone(pool),
                clock: Rc::clone(&shard.clock),
            };
            running.spawn_local(executor::run(share));
        }
        running.join_all().await;
    }
}
