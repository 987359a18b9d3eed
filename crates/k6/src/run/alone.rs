//! What happens once in a test: the first look at the script, `setup`, `teardown`, `handleSummary`.
//!
//! Each time a user is made for it, on a thread of its own, and runs the init code first, as k6 has it.

use sonagi_engine::clock::Clock;
use sonagi_engine::net::Net;
use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use tokio::time::Instant;

use super::home::Counted;
use super::periodic::LOOK;
use super::shard::MOST_REPORTS;
use super::{Ended, Exit};
use crate::executor::{Abort, Stop};
use crate::metrics::{Detail, Interval};
use crate::runtime::{Task, Thrown, User, Vu};
use crate::shard::{Common, Line, Shard};

/// How one is made.
pub(super) struct Alone<'a> {
    pub(super) common: &'a Arc<Common>,
    pub(super) epoch: Instant,
    /// How long its last task may take.
    pub(super) limit: Option<Duration>,
    /// Ends any of them early.
    pub(super) abort: &'a Arc<Abort>,
    /// How samples are told apart, and whether each is kept.
    pub(super) measured: (Detail, bool),
    /// When the test under way began, and its users: what scripts may ask for (`exec.instance`) in `setup`.
    pub(super) under_way: Option<(At, u64)>,
}

/// What came of it.
pub(super) struct Done {
    /// Of each task until one threw.
    pub(super) outcomes: Vec<Result<Option<String>, Thrown>>,
    /// The script said that the test has failed.
    pub(super) has_failed: bool,
    /// What its requests came to; messages of `setup` and `teardown` are owed to nobody.
    pub(super) record: Record,
}

/// Progress that [`Alone::perform`] reports to its caller.
pub(super) enum Meanwhile {
    Line(Line),
    /// About once a second, and at the end.
    Measured(Interval),
    /// Nothing, for a while.
    Nothing,
}

enum Report {
    Meanwhile(Meanwhile),
    Done(Box<Done>),
}

/// How often samples are told: thresholds are judged while `setup` goes on.
const MEASURED_EVERY_NS: i64 = 1_000_000_000;

impl Alone<'_> {
    /// Has a new user perform these tasks, one after the other until one throws; `tell` is called every few ms.
    ///
    /// # Errors
    /// When there is no thread, stack or network to be had.
    pub(super) fn perform(self, tasks: Vec<Task>, tell: &mut dyn FnMut(Meanwhile)) -> Result<Done, Ended> {
        let cannot =
            |why: std::io::Error| Ended::early(Exit::Other, format!("a user could not be made: {why}"));
        let (reports, inbox) = sync_channel(MOST_REPORTS);
        let (common, epoch) = (Arc::clone(self.common), self.epoch);
        let (limit, abort) = (self.limit, Arc::clone(self.abort));
        let (measured, under_way) = (self.measured, self.under_way);
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let tasks_of_thread = tokio::task::LocalSet::new();
            let life = life(common, epoch, (limit, abort), measured, under_way, tasks, &reports);
            let done = tasks_of_thread.block_on(&runtime, life)?;
            let _ = reports.send(Report::Done(Box::new(done)));
            runtime.shutdown_background();
            Ok(())
        };
        let thread = std::thread::Builder::new().name("alone".to_owned()).spawn(work).map_err(cannot)?;
        let mut done = None;
        loop {
            match inbox.recv_timeout(LOOK) {
                Ok(Report::Meanwhile(meanwhile)) => tell(meanwhile),
                Ok(Report::Done(what)) => {
                    // Nothing comes behind it; a user that is left where it is would keep the channel open.
                    done = Some(*what);
                    break;
                }
                Err(RecvTimeoutError::Timeout) => tell(Meanwhile::Nothing),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(why)) => return Err(cannot(why)),
            Err(_) => return Err(Ended::early(Exit::Other, "a thread broke")),
        }
        done.ok_or_else(|| Ended::early(Exit::Other, "a thread ended without a word"))
    }
}

async fn life(
    common: Arc<Common>,
    epoch: Instant,
    (limit, abort): (Option<Duration>, Arc<Abort>),
    (detail, keeps_samples): (Detail, bool),
    under_way: Option<(At, u64)>,
    tasks: Vec<Task>,
    reports: &SyncSender<Report>,
) -> std::io::Result<Done> {
    let clock = Clock::real(epoch)?;
    let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
    let net = Net::real(common.net(0, 1)).map_err(|failed| std::io::Error::other(failed.detail))?;
    let sampler = common.sampler(detail, keeps_samples);
    let lines = reports.clone();
    let log = move |line| {
        let _ = lines.send(Report::Meanwhile(Meanwhile::Line(line)));
    };
    let shard = Shard::new(common, Rc::clone(&clock), Rc::new(net), sampler, log);
    if let Some((began, there)) = under_way {
        let counted = Counted { scenarios: Vec::new(), there, began, clock: Rc::clone(&clock) };
        // Set once: the shard is new.
        let _ = shard.instance.set(Box::new(counted));
    }
    let ticker = tokio::task::spawn_local(tick(Rc::clone(&shard), reports.clone()));
    let mut user = User::new(Vu::new(Rc::clone(&shard), 0))?;
    let (count, mut outcomes) = (tasks.len(), Vec::with_capacity(tasks.len()));
    for (at, task) in tasks.into_iter().enumerate() {
        let deadline = match limit {
            Some(limit) if at + 1 == count => clock.now().plus(limit.as_nanos() as i64),
            _ => At(i64::MAX),
        };
        let stop = Stop::new(deadline, &clock, &abort);
        let watchman = tokio::task::spawn_local(wake(stop.clone(), Rc::clone(&clock), Arc::clone(&abort)));
        outcomes.push(user.perform(task, stop).await);
        watchman.abort();
        if outcomes.last().is_some_and(Result::is_err) {
            break;
        }
    }
    match outcomes.last() {
        // QuickJS cannot take down modules that are half evaluated; the process is about to end.
        Some(Err(Thrown::Interrupted)) => std::mem::forget(user),
        _ => drop(user),
    }
    ticker.abort();
    driver.abort();
    measured(&shard, reports);
    let Record { counters, operations, codes, failures, .. } = shard.recorder.borrow_mut().take();
    let record = Record { counters, operations, codes, failures, ..Record::default() };
    Ok(Done { outcomes, has_failed: shard.has_failed.get(), record })
}

async fn tick(shard: Rc<Shard>, reports: SyncSender<Report>) {
    loop {
        shard.clock.sleep_until(shard.clock.now().plus(MEASURED_EVERY_NS)).await;
        measured(&shard, &reports);
    }
}

fn measured(shard: &Shard, reports: &SyncSender<Report>) {
    let interval = shard.sampler.borrow_mut().take();
    let _ = reports.send(Report::Meanwhile(Meanwhile::Measured(interval)));
}

/// Lets a user that waits look at its stop again when that is due.
async fn wake(stop: Stop, clock: Rc<Clock>, abort: Arc<Abort>) {
    tokio::select! {
        () = abort.wait() => {}
        () = clock.sleep_until(stop.deadline()), if stop.deadline() < At(i64::MAX) => {}
    }
    stop.pull();
}
