//! The drivers on real threads and the real clock: nothing is lost between shards.

use super::*;
use crate::options::Executor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A user that gives way once and is done.
struct Quick(Arc<Mutex<Vec<u64>>>);

impl Vu for Quick {
    async fn iterate(&mut self, iteration: Iteration) -> Over {
        tokio::task::yield_now().await;
        self.0.lock().unwrap().push(iteration.number);
        Over::Complete
    }
}

/// Users, and how many iterations were dropped.
struct Quicks(RefCell<Vec<Quick>>, Arc<AtomicU64>);

impl Pool for Quicks {
    type Vu = Quick;

    fn take(&self) -> Option<Quick> {
        self.0.borrow_mut().pop()
    }

    async fn create(self: &Rc<Self>) -> Result<Quick, Failed> {
        Err(Failed("all are planned".into()))
    }

    fn give_back(&self, vu: Quick) {
        self.0.borrow_mut().push(vu);
    }

    fn dropped(&self, _: usize, count: u64, _: Dropped) {
        self.1.fetch_add(count, Ordering::SeqCst);
    }
}

/// Runs one scenario on as many threads as shards; returns the numbers of its iterations, sorted, and how many it
/// dropped.
fn on_threads(shards: usize, scenario: Scenario) -> (Vec<u64>, u64) {
    let scenarios = vec![scenario];
    let plan = Arc::new(Plan::of(&scenarios, shards));
    let epoch = Instant::now();
    let test = Test::new(&plan, At(20 * MS), Arc::default());
    let common = Common::new(0, &scenarios[0], &plan, &test);
    let (numbers, dropped) = (Arc::default(), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        for shard in 0..shards {
            let (plan, common, options) = (Arc::clone(&plan), Arc::clone(&common), scenarios[0].clone());
            let (numbers, dropped) = (Arc::clone(&numbers), Arc::clone(&dropped));
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                tokio::task::LocalSet::new().block_on(&runtime, async {
                    let clock = Clock::real(epoch).unwrap();
                    tokio::task::spawn_local(Rc::clone(&clock).drive());
                    let users = plan.planned_on(shard).map(|_| Quick(Arc::clone(&numbers))).collect();
                    let pool = Rc::new(Quicks(RefCell::new(users), dropped));
                    run(Share { options, plan, common, shard, pool, clock }).await;
                });
            });
        }
    });
    assert!(common.ended().is_some());
    let mut numbers = std::mem::take(&mut *numbers.lock().unwrap());
    numbers.sort_unstable();
    (numbers, dropped.load(Ordering::SeqCst))
}

#[test]
fn shared_iterations_are_each_done_once_by_all_threads_together() {
    let scenario = json!({"a": {"executor": "shared-iterations", "vus": 30, "iterations": 30_000}});
    let (numbers, dropped) = on_threads(4, scenarios(scenario).remove(0));
    assert!(numbers.iter().copied().eq(0..30_000), "{} iterations", numbers.len());
    assert_eq!(dropped, 0);
}

#[test]
fn every_arrival_is_begun_or_dropped_whichever_threads_user_it_finds() {
    let rate =
        json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 0});
    for vus in [1, 2, 5] {
        let mut scenario = scenarios(json!({"a": rate})).remove(0);
        scenario.executor = Executor::ConstantArrivalRate {
            rate: 20_000,
            time_unit: Duration::from_secs(1),
            duration: Duration::from_millis(50),
            pre_allocated_vus: vus,
            max_vus: vus,
        };
        let (numbers, dropped) = on_threads(3, scenario);
        assert_eq!(numbers.len() as u64 + dropped, 1001, "{vus} users");
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64) && !numbers.is_empty());
    }
}
