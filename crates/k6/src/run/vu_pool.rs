//! A shard's virtual users: made, lent to executors, and what one of them does when it iterates.

use sonagi_measure::At;
use sonagi_measure::recorder::Counter;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::time::Duration;

use super::ending::{EXCEPTION, complaint};
use crate::execution_context::CurrentIteration;
use crate::executor::{self, Dropped, Failed, Iteration, Over, Stop};
use crate::metrics::{SystemTag, Tags, builtin};
use crate::modules::delivery;
use crate::options::{Executor, Scenario};
use crate::runtime::{Given, Task, Thrown, User};
use crate::shard::{Level, LogLine, Shard};
use crate::vu::{Phase, Variables, Vu};

/// One shard's users.
pub(super) struct VuPool {
    pub(super) shard: Rc<Shard>,
    idle: RefCell<VecDeque<PooledVu>>,
    scenarios: Vec<ScenarioContext>,
}

/// A scenario's iterations on this shard.
struct ScenarioContext {
    function: Arc<str>,
    /// The tags of its samples.
    tags: Tags,
    /// The variables it adds to `__ENV`.
    environment: Variables,
    /// Each has a time at which it is to begin.
    is_planned: bool,
}

/// A user, as executors have it.
pub(super) struct PooledVu {
    pub(super) user: User,
    pool: Rc<VuPool>,
    /// The scenario it iterated in last.
    last: Option<usize>,
    /// Iterations of each scenario so far.
    done: Vec<u64>,
}

/// How long connections that outlived their iterations are listened to at the end, unless the options say otherwise.
const DRAIN: Duration = Duration::from_secs(2);
/// How often meanwhile.
const LOOK_NS: i64 = 5_000_000;

impl VuPool {
    pub(super) fn new(shard: &Rc<Shard>) -> Rc<VuPool> {
        use Executor::{ConstantArrivalRate, RampingArrivalRate};
        let context = |one: &Scenario| {
            let tags = one.tags.iter().fold(shard.tags.clone(), |tags, (name, value)| tags.with(name, value));
            ScenarioContext {
                function: Arc::from(one.exec.as_str()),
                tags: tags.with_automatic(&[(SystemTag::Scenario, &one.name), (SystemTag::Group, "")]),
                environment: Rc::from(one.env.as_slice()),
                is_planned: matches!(one.executor, ConstantArrivalRate { .. } | RampingArrivalRate { .. }),
            }
        };
        Rc::new(VuPool {
            shard: Rc::clone(shard),
            idle: RefCell::default(),
            scenarios: shard.common.options.scenarios.iter().map(context).collect(),
        })
    }

    /// A user that has done nothing yet.
    pub(super) fn fresh(self: &Rc<Self>, number: u64) -> io::Result<PooledVu> {
        let user = User::new(Vu::new(Rc::clone(&self.shard), number))?;
        Ok(PooledVu { user, pool: Rc::clone(self), last: None, done: vec![0; self.scenarios.len()] })
    }

    /// A user whose init code has run, and that is counted as such.
    pub(super) async fn made(self: &Rc<Self>, number: u64) -> Result<PooledVu, Thrown> {
        let fresh = self.fresh(number);
        let mut vu = fresh.map_err(|why| Thrown::Error(format!("a user could not be made: {why}")))?;
        vu.user.perform(Task::Init, Stop::never(&self.shard.clock)).await?;
        self.shard.common.tally.initialised.fetch_add(1, Ordering::Relaxed);
        Ok(vu)
    }

    /// The scenarios are over: connections that outlived their iterations end. The users stay, to the end of the
    /// process: taking ten thousand interpreters down takes a second in which nothing is won.
    pub(super) fn part(&self) {
        for PooledVu { user, last, .. } in &*self.idle.borrow() {
            if let (Some(last), true) = (last, user.vu.events.has_sources()) {
                user.vu.events.forget(&user.vu);
                user.vu.observe_traffic(&self.scenarios[*last].tags, user.vu.now());
            }
        }
    }
}

/// What executors see goes to the samples and to the log.
impl executor::Pool for VuPool {
    type Vu = PooledVu;

    fn take(&self) -> Option<PooledVu> {
        self.idle.borrow_mut().pop_front()
    }

    async fn create(self: &Rc<Self>) -> Result<PooledVu, Failed> {
        let number = self.shard.common.tally.users.fetch_add(1, Ordering::Relaxed) + 1;
        self.made(number).await.map_err(|thrown| Failed(thrown.text()))
    }

    fn give_back(&self, vu: PooledVu) {
        // The one given back last is the warmest, but k6's users take turns.
        self.idle.borrow_mut().push_back(vu);
    }

    fn dropped(&self, scenario: usize, count: u64, why: Dropped) {
        let scenario = &self.shard.common.options.scenarios[scenario];
        let tags = self.shard.tags.with_automatic(&[(SystemTag::Scenario, &scenario.name)]);
        self.shard.observe(builtin::DROPPED_ITERATIONS, count as f64, &tags);
        self.shard.count(Counter::ArrivalsPlanned, count);
        let counter = match why {
            Dropped::Busy => Counter::UsersSkipped,
            Dropped::Late => Counter::ArrivalsMissed,
        };
        self.shard.count(counter, count);
    }

    fn insufficient_vus(&self, scenario: usize, most: u64) {
        let scenario = &self.shard.common.options.scenarios[scenario];
        let text = format!("Insufficient VUs, reached {most} active VUs and cannot initialize more");
        let fields =
            vec![("executor", scenario.executor.name().to_owned()), ("scenario", scenario.name.clone())];
        self.shard.say(Level::Warn, text, fields);
    }

    fn failed(&self, scenario: usize, why: &Failed) {
        let scenario = &self.shard.common.options.scenarios[scenario];
        self.shard.say(Level::Error, why.to_string(), vec![("scenario", scenario.name.clone())]);
    }
}

impl executor::Vu for PooledVu {
    async fn iterate(&mut self, iteration: Iteration) -> Over {
        let (pool, vu) = (Rc::clone(&self.pool), Rc::clone(&self.user.vu));
        let scenario = &pool.scenarios[iteration.scenario];
        vu.begin_iteration(&scenario.tags);
        self.enter(iteration.scenario);
        vu.number_samples();
        vu.current_iteration.set(Some(CurrentIteration {
            scenario: iteration.scenario,
            number: iteration.number,
            of_vu: self.done[iteration.scenario],
        }));
        self.done[iteration.scenario] += 1;
        let begun = vu.now();
        pool.arrived(&iteration, begun);
        let call = Task::Call {
            phase: Phase::Iteration,
            function: Arc::clone(&scenario.function),
            given: Given::Data(pool.shard.instance.get().and_then(|test| test.data.clone())),
        };
        let outcome = self.user.perform(call, iteration.stop.clone()).await;
        // One instant for all that is said of its end: reading the clock costs as much as a sample.
        let now = vu.now();
        let over = pool.judged(&vu, &iteration, outcome, (begun, now));
        pool.left(iteration.scenario, &over, now.since(begun));
        if over == Over::Complete {
            pool.rest(&vu, begun, &iteration.stop).await;
        }
        over
    }
}

impl PooledVu {
    /// Its next iteration is of this scenario.
    fn enter(&mut self, scenario: usize) {
        let last = self.last.replace(scenario);
        if last == Some(scenario) {
            return;
        }
        let environment = |scenario: usize| &self.pool.scenarios[scenario].environment;
        if last.is_some_and(|last| !environment(last).is_empty()) || !environment(scenario).is_empty() {
            self.user.vu.environment.replace(Some(Rc::clone(environment(scenario))));
        }
    }
}

impl VuPool {
    /// A user begins an iteration: an arrival, in the run folder's words.
    fn arrived(&self, iteration: &Iteration, now: At) {
        self.shard.active.set(self.shard.active.get() + 1);
        let mut recorder = self.shard.recorder.borrow_mut();
        recorder.add(Counter::ArrivalsPlanned, 1);
        recorder.add(Counter::ArrivalsStarted, 1);
        recorder.user_created(iteration.scenario as u16);
        if self.scenarios[iteration.scenario].is_planned {
            recorder.send_lag(now.since(iteration.planned));
        }
    }

    fn left(&self, scenario: usize, over: &Over, took_ns: i64) {
        self.shard.active.set(self.shard.active.get() - 1);
        let mut recorder = self.shard.recorder.borrow_mut();
        match over {
            Over::Complete => recorder.user_ended(scenario as u16, true, took_ns),
            Over::Interrupted | Over::Abort(_) => recorder.add(Counter::UsersStopped, 1),
        }
    }

    /// Users whose connections outlived their iterations are owed nothing more; what is under way to them may come for
    /// a while.
    pub(super) async fn drain(&self) {
        let users: Vec<Rc<Vu>> = self.idle.borrow().iter().map(|idle| Rc::clone(&idle.user.vu)).collect();
        users.iter().for_each(|vu| delivery::part(vu));
        let clock = &self.shard.clock;
        let drain = self.shard.common.options.sonagi.drain.unwrap_or(DRAIN);
        let until = clock.now().plus(i64::try_from(drain.as_nanos()).unwrap_or(i64::MAX));
        while self.shard.connected.get() > 0 && clock.now() < until {
            clock.sleep_until(until.min(clock.now().plus(LOOK_NS))).await;
            for vu in &users {
                vu.events.poll_sources(vu, &mut Context::from_waker(Waker::noop()));
            }
        }
        users.iter().for_each(|vu| delivery::end(vu));
    }

    fn judged(
        &self,
        vu: &Vu,
        iteration: &Iteration,
        outcome: Result<Option<String>, Thrown>,
        (begun, now): (At, At),
    ) -> Over {
        let over = match outcome {
            Err(Thrown::Interrupted) => Over::Interrupted,
            Err(Thrown::Aborted(why)) => Over::Abort(why),
            Err(thrown) => {
                self.complain(&thrown, iteration);
                Over::Complete
            }
            Ok(_) => Over::Complete,
        };
        let tags = vu.tags();
        vu.observe_traffic(&tags, now);
        if over != Over::Interrupted {
            vu.shard.observe_at(builtin::ITERATION_DURATION, now.since(begun) as f64 / 1e6, &tags, now);
            vu.shard.observe_at(builtin::ITERATIONS, 1.0, &tags, now);
        }
        over
    }

    /// Logs the exception of an iteration.
    fn complain(&self, thrown: &Thrown, iteration: &Iteration) {
        let Scenario { executor, name, .. } = &self.shard.common.options.scenarios[iteration.scenario];
        let LogLine { text, mut fields, .. } = complaint(thrown, EXCEPTION);
        fields.extend([("executor", executor.name().to_owned()), ("scenario", name.clone())]);
        fields.sort_unstable();
        self.shard.say(Level::Error, text, fields);
    }

    /// `minIterationDuration`.
    async fn rest(&self, vu: &Vu, begun: At, stop: &Stop) {
        let least = self.shard.common.options.min_iteration_duration;
        let until = begun.plus(i64::try_from(least.as_nanos()).unwrap_or(i64::MAX));
        if vu.now() < until {
            stop.sleep(until).await;
        }
    }
}
