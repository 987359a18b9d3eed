//! One thread's life: its users are made, then told to begin, then their scenarios run to their ends.

use sonagi_engine::clock::Clock;
use sonagi_engine::health::Heart;
use sonagi_engine::net::Net;
use sonagi_measure::At;
use sonagi_measure::recorder::{Counter, Record};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::home::{Home, Pool, Shared};
use crate::executor::{self, Failed, Plan, Share, Watch};
use crate::metrics::{Detail, Interval, builtin};
use crate::runtime::Thrown;
use crate::shard::{Common, Level, Line, Shard};

/// What a thread takes with it.
pub(super) struct Luggage {
    pub(super) common: Arc<Common>,
    pub(super) plan: Arc<Plan>,
    pub(super) shared: Arc<Shared>,
    pub(super) shard: usize,
    pub(super) epoch: Instant,
    /// The wall clock then, in ms since 1970.
    pub(super) started_ms: f64,
    pub(super) detail: Detail,
    pub(super) keep_samples: bool,
    pub(super) reports: SyncSender<Report>,
    pub(super) go: oneshot::Receiver<Go>,
}

/// What a thread is told when all users are made and `setup` has returned.
pub(super) struct Go {
    pub(super) scenarios: Vec<Arc<executor::Common>>,
    /// When the test began, before `setup`.
    pub(super) began: At,
    pub(super) data: Option<Arc<str>>,
    /// The first second whose end is reported, the same for all.
    pub(super) second: u64,
}

/// How much may wait for the collector; a thread that has more to say waits, as where lines are written faster than they are read.
pub(super) const MOST_REPORTS: usize = 64;

/// What a thread sends.
pub(super) enum Report {
    Line(Line),
    /// Its users are made; or the init code of the one with this number threw.
    Ready(Result<(), (u64, Thrown)>),
    /// What was measured in a second.
    Second(u64, Box<Interval>, Box<Record>),
    /// Its scenarios are over.
    Ended(Box<Interval>, Box<Record>),
    /// It could not live at all.
    Failed(String),
}

pub(super) const SECOND_NS: i64 = 1_000_000_000;

/// The thread's function.
pub(super) fn live(luggage: Luggage) {
    let reports = luggage.reports.clone();
    let outcome = tokio::runtime::Builder::new_current_thread().enable_all().build().and_then(|runtime| {
        let tasks = tokio::task::LocalSet::new();
        let lived = tasks.block_on(&runtime, life(luggage));
        runtime.shutdown_background();
        // Users that would not end stay where they are: the process is about to.
        std::mem::forget(tasks);
        lived
    });
    if let Err(why) = outcome {
        let _ = reports.send(Report::Failed(why.to_string()));
    }
}

async fn life(luggage: Luggage) -> std::io::Result<()> {
    let Luggage { common, plan, shared, shard: index, epoch, started_ms, detail, keep_samples, reports, go } =
        luggage;
    let clock = Clock::real(epoch)?;
    tokio::task::spawn_local(Rc::clone(&clock).drive());
    let net = Net::real(common.net(index as u64 + 1, plan.shards as u64))
        .map_err(|failed| std::io::Error::other(failed.detail))?;
    let sampler = common.sampler(detail, keep_samples);
    let lines = reports.clone();
    let log = move |line| {
        let _ = lines.send(Report::Line(line));
    };
    let shard = Shard::new(common, clock, Rc::new(net), sampler, log);
    let home = Home::new(&shard, &shared);
    for place in plan.planned_on(index) {
        match home.made(place + 1).await {
            Ok(resident) => {
                home.house(resident);
                shared.initialised.fetch_add(1, Ordering::Relaxed);
            }
            Err(thrown) => {
                let _ = reports.send(Report::Ready(Err((place + 1, thrown))));
                return Ok(());
            }
        }
    }
    let _ = reports.send(Report::Ready(Ok(())));
    // Nobody says go: the test is over before it began.
    let Ok(go) = go.await else { return Ok(()) };
    home.begin(&go, plan.planned_vus, started_ms);
    let ticker = tokio::task::spawn_local(tick(Rc::clone(&shard), index, go.second, reports.clone()));
    let heart = tokio::task::spawn_local(beat(Rc::clone(&shard)));
    scenarios(&home, &plan, index, go.scenarios).await;
    if shard.tracks.get() && shard.connected.get() > 0 {
        home.drain().await;
    }
    home.part();
    ticker.abort();
    heart.abort();
    shared.has_failed.fetch_or(shard.has_failed.get(), Ordering::Relaxed);
    let rest = shard.sampler.borrow_mut().take();
    let _ = reports.send(Report::Ended(Box::new(rest), Box::new(shard.record(index))));
    Ok(())
}

/// All scenarios of this shard, side by side.
async fn scenarios(home: &Rc<Home>, plan: &Arc<Plan>, shard: usize, commons: Vec<Arc<executor::Common>>) {
    let pool = Rc::new(Pool(Rc::clone(home)));
    let watch: Rc<dyn Watch> = Rc::new(Told(Rc::clone(&home.shard)));
    let mut running = JoinSet::new();
    for (options, common) in home.shard.common.options.scenarios.iter().zip(commons) {
        let share = Share {
            options: options.clone(),
            plan: Arc::clone(plan),
            common,
            shard,
            pool: Rc::clone(&pool),
            clock: Rc::clone(&home.shard.clock),
            watch: Rc::clone(&watch),
        };
        running.spawn_local(executor::run(share));
    }
    while let Some(over) = running.join_next().await {
        if let Err(broken) = over
            && broken.is_panic()
        {
            std::panic::resume_unwind(broken.into_panic());
        }
    }
}

/// Sends what was measured, once a second.
async fn tick(shard: Rc<Shard>, index: usize, first: u64, reports: SyncSender<Report>) {
    for second in first.. {
        shard.clock.sleep_until(At(second as i64 * SECOND_NS)).await;
        let interval = Box::new(shard.sampler.borrow_mut().take());
        let _ = reports.send(Report::Second(second, interval, Box::new(shard.record(index))));
    }
}

/// Says how late the shard itself is.
async fn beat(shard: Rc<Shard>) {
    let mut heart = Heart::new(&shard.clock);
    loop {
        heart.beat(|late_ns| shard.recorder.borrow_mut().hiccup(late_ns)).await;
    }
}

/// What executors see goes to the samples and to the log.
struct Told(Rc<Shard>);

impl Watch for Told {
    fn dropped(&self, scenario: usize, count: u64, _: At) {
        let scenario = &self.0.common.options.scenarios[scenario];
        let tags = self.0.tags.with_automatic(&[(crate::metrics::SystemTag::Scenario, &scenario.name)]);
        self.0.observe(builtin::DROPPED_ITERATIONS, count as f64, &tags);
        let mut recorder = self.0.recorder.borrow_mut();
        recorder.add(Counter::ArrivalsPlanned, count);
        recorder.add(Counter::UsersSkipped, count);
    }

    fn insufficient_vus(&self, scenario: usize, most: u64) {
        let scenario = &self.0.common.options.scenarios[scenario];
        let text = format!("Insufficient VUs, reached {most} active VUs and cannot initialize more");
        let fields =
            vec![("executor", scenario.executor.name().to_owned()), ("scenario", scenario.name.clone())];
        self.0.say(Level::Warn, text, fields);
    }

    fn failed(&self, scenario: usize, why: &Failed) {
        let scenario = &self.0.common.options.scenarios[scenario];
        self.0.say(Level::Error, why.to_string(), vec![("scenario", scenario.name.clone())]);
    }
}
