//! Schedules against what k6 2.2 was seen to do, and drivers under simulated time with users that only sleep.

mod arriving;
mod looping;
mod schedules;
mod threads;

use super::*;
use crate::options::{Scenario, Tiers, consolidate};
use serde_json::{Value, json};
use sonagi_transport::clock::Clock;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

const MS: i64 = 1_000_000;

fn scenarios(scenarios: Value) -> Vec<Scenario> {
    let script = json!({"scenarios": scenarios}).as_object().unwrap().clone();
    consolidate(Tiers { script, ..Tiers::default() }).unwrap().options.scenarios
}

/// The actions of a test's users, and the number of its threads.
struct Trial {
    shards: usize,
    /// How long an iteration of this number takes (ms; less than 0: and holds the shard up), and how it ends.
    lasts: fn(&str, u64) -> (i64, Over),
    /// How long creating a user takes (ms); None: it fails.
    creating: Option<i64>,
    /// When the test is aborted from outside (ms).
    aborted: Option<i64>,
}

impl Default for Trial {
    fn default() -> Trial {
        Trial { shards: 1, lasts: |_, _| (100, Over::Complete), creating: Some(0), aborted: None }
    }
}

/// One iteration that was carried out, instants in ms from the test's beginning.
#[derive(Debug, Clone, PartialEq)]
struct Done {
    scenario: String,
    vu: u64,
    from: i64,
    until: i64,
    number: u64,
    whole: bool,
}

#[derive(Debug, Default)]
struct Report {
    done: Vec<Done>,
    dropped: Vec<(i64, u64)>,
    /// Those of them that the generator came too late for.
    late: u64,
    insufficient: Vec<u64>,
    failed: usize,
    initialised: u64,
    ended: i64,
    why: Option<String>,
    counts: Vec<[u64; 3]>,
}

impl Report {
    /// `(vu, from, until)` of every iteration of a scenario, in the order of their beginning.
    fn of(&self, scenario: &str) -> Vec<(u64, i64, i64)> {
        let mut all: Vec<_> = self.done.iter().filter(|it| it.scenario == scenario).collect();
        all.sort_by_key(|it| (it.from, it.vu, it.until));
        all.into_iter().map(|it| (it.vu, it.from, it.until)).collect()
    }

    fn dropped(&self) -> u64 {
        self.dropped.iter().map(|(_, count)| count).sum()
    }
}

struct Place {
    clock: Rc<Clock>,
    names: Vec<String>,
    report: RefCell<Report>,
    lasts: fn(&str, u64) -> (i64, Over),
    creating: Option<i64>,
}

impl Place {
    fn now(&self) -> i64 {
        self.clock.now().0 / MS
    }
}

struct Sleeper {
    id: u64,
    place: Rc<Place>,
}

impl Vu for Sleeper {
    async fn iterate(&mut self, iteration: Iteration) -> Over {
        let place = Rc::clone(&self.place);
        let from = place.now();
        let name = place.names[iteration.scenario].clone();
        let (ms, over) = (place.lasts)(&name, iteration.number);
        let over = if ms == 0 {
            over
        } else if ms < 0 {
            tokio::time::advance(std::time::Duration::from_millis(-ms as u64)).await;
            over
        } else {
            tokio::select! {
                biased;
                () = iteration.stop.set() => Over::Interrupted,
                () = place.clock.sleep_until(place.clock.now().plus(ms * MS)) => over,
            }
        };
        let whole = over == Over::Complete;
        let (until, number) = (place.now(), iteration.number);
        place.report.borrow_mut().done.push(Done { scenario: name, vu: self.id, from, until, number, whole });
        over
    }
}

struct Sleepers {
    idle: RefCell<VecDeque<Sleeper>>,
    place: Rc<Place>,
    given: Cell<u64>,
}

impl Pool for Sleepers {
    type Vu = Sleeper;

    fn take(&self) -> Option<Sleeper> {
        self.idle.borrow_mut().pop_front()
    }

    async fn create(self: &Rc<Self>) -> Result<Sleeper, Failed> {
        let Some(ms) = self.place.creating else { return Err(Failed("no memory".into())) };
        self.place.clock.sleep_until(self.place.clock.now().plus(ms * MS)).await;
        let id = self.place.report.borrow().initialised;
        self.place.report.borrow_mut().initialised += 1;
        self.given.set(self.given.get() + 1);
        Ok(Sleeper { id, place: Rc::clone(&self.place) })
    }

    fn give_back(&self, vu: Sleeper) {
        self.idle.borrow_mut().push_back(vu);
    }

    fn dropped(&self, _: usize, count: u64, why: Dropped) {
        let mut report = self.place.report.borrow_mut();
        report.dropped.push((self.place.now(), count));
        report.late += if why == Dropped::Late { count } else { 0 };
    }

    fn insufficient_vus(&self, _: usize, most: u64) {
        self.place.report.borrow_mut().insufficient.push(most);
    }

    fn failed(&self, _: usize, _: &Failed) {
        self.place.report.borrow_mut().failed += 1;
    }
}

impl Trial {
    /// Runs scenarios to their end, all shards on this thread.
    fn run(self, given: Value) -> Report {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, self.test(scenarios(given)))
    }

    async fn test(self, scenarios: Vec<Scenario>) -> Report {
        let clock = Clock::simulated(Instant::now());
        let driving = tokio::task::spawn_local(Rc::clone(&clock).drive());
        let plan = Arc::new(Plan::of(&scenarios, self.shards));
        let place = Rc::new(Place {
            clock: Rc::clone(&clock),
            names: scenarios.iter().map(|it| it.name.clone()).collect(),
            report: RefCell::default(),
            lasts: self.lasts,
            creating: self.creating,
        });
        place.report.borrow_mut().initialised = plan.planned_vus;
        let test = Test::new(&plan, At(0), Arc::default());
        let commons: Vec<_> =
            scenarios.iter().enumerate().map(|(n, it)| Common::new(n, it, &plan, &test)).collect();
        let mut shares = tokio::task::JoinSet::new();
        let mut pools = Vec::new();
        for shard in 0..self.shards {
            let idle = plan.planned_on(shard).map(|id| Sleeper { id, place: Rc::clone(&place) }).collect();
            let pool =
                Rc::new(Sleepers { idle: RefCell::new(idle), place: Rc::clone(&place), given: Cell::new(0) });
            let planned = plan.planned_on(shard).count();
            pools.push((Rc::clone(&pool), planned));
            for (common, options) in commons.iter().zip(&scenarios) {
                shares.spawn_local(run(Share {
                    options: options.clone(),
                    plan: Arc::clone(&plan),
                    common: Arc::clone(common),
                    shard,
                    pool: Rc::clone(&pool),
                    clock: Rc::clone(&clock),
                }));
            }
        }
        if let Some(ms) = self.aborted {
            let (clock, test) = (Rc::clone(&clock), Arc::clone(&test));
            tokio::task::spawn_local(async move {
                clock.sleep_until(At(ms * MS)).await;
                test.abort.ask(Reason::Script("the user wants it".to_owned()));
                clock.wake_all();
            });
        }
        while let Some(over) = shares.join_next().await {
            over.unwrap();
        }
        driving.abort();
        for (pool, planned) in pools {
            let expected = planned + pool.given.get() as usize;
            assert_eq!(pool.idle.borrow().len(), expected, "every user is given back");
        }
        for common in &commons {
            assert!(common.ended().is_some());
            assert_eq!((common.counts.active.get(), common.counts.held.get()), (0, 0));
        }
        let mut report = place.report.take();
        report.ended = place.now();
        report.why = test.abort.why().map(Reason::to_string);
        let counts = commons.iter().map(|it| &it.counts);
        report.counts =
            counts.map(|it| [&it.complete, &it.interrupted, &it.dropped].map(Count::get)).collect();
        let dropped: u64 = report.counts.iter().map(|[.., dropped]| dropped).sum();
        assert_eq!(dropped, report.dropped(), "the pool is told what is counted");
        report
    }
}

/// Runs scenarios on one shard, each iteration of 100 ms.
fn run_plainly(given: Value) -> Report {
    Trial::default().run(given)
}
