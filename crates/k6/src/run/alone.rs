//! What happens once in a test: the first look at the script, `setup`, `teardown`, `handleSummary`.
//!
//! Each time a user is made for it, on a thread of its own, and runs the init code first, as k6 has it.

use sonagi_engine::clock::Clock;
use sonagi_engine::net::Net;
use sonagi_measure::At;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;
use tokio::time::Instant;

use super::shard::MOST_REPORTS;
use super::{Ended, Exit, Told};
use crate::executor::{Abort, Stop};
use crate::metrics::{Detail, Interval};
use crate::runtime::{Task, Thrown, User, Vu};
use crate::shard::{Common, Line, Shard};

/// How one is made.
pub(super) struct Alone<'a> {
    pub(super) common: &'a Arc<Common>,
    pub(super) epoch: Instant,
    /// How long its last task may take, and who else may end it.
    pub(super) limit: Option<(Duration, Arc<Abort>)>,
    /// How samples are told apart, and whether each is kept.
    pub(super) measured: (Detail, bool),
}

/// What came of it.
pub(super) struct Done {
    /// Of each task until one threw.
    pub(super) outcomes: Vec<Result<Option<String>, Thrown>>,
    pub(super) interval: Interval,
    /// The script said that the test has failed.
    pub(super) has_failed: bool,
}

enum Report {
    Line(Line),
    Done(Box<Done>),
}

impl Alone<'_> {
    /// Has a new user perform these tasks, one after the other until one throws.
    ///
    /// # Errors
    /// When there is no thread, stack or network to be had.
    pub(super) fn perform(self, tasks: Vec<Task>, on: &mut dyn FnMut(Told<'_>)) -> Result<Done, Ended> {
        let cannot =
            |why: std::io::Error| Ended::early(Exit::Other, format!("a user could not be made: {why}"));
        let (reports, inbox) = sync_channel(MOST_REPORTS);
        let (common, epoch) = (Arc::clone(self.common), self.epoch);
        let (limit, measured) = (self.limit, self.measured);
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let tasks_of_thread = tokio::task::LocalSet::new();
            let done =
                tasks_of_thread.block_on(&runtime, life(common, epoch, limit, measured, tasks, &reports))?;
            let _ = reports.send(Report::Done(Box::new(done)));
            runtime.shutdown_background();
            Ok(())
        };
        let thread = std::thread::Builder::new().name("alone".to_owned()).spawn(work).map_err(cannot)?;
        let mut done = None;
        while let Ok(report) = inbox.recv() {
            match report {
                Report::Line(line) => on(Told::Line(&line)),
                Report::Done(what) => done = Some(*what),
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
    limit: Option<(Duration, Arc<Abort>)>,
    (detail, keeps_samples): (Detail, bool),
    tasks: Vec<Task>,
    reports: &SyncSender<Report>,
) -> std::io::Result<Done> {
    let clock = Clock::real(epoch)?;
    let driver = tokio::task::spawn_local(Rc::clone(&clock).drive());
    let net = Net::real(common.net(0, 1)).map_err(|failed| std::io::Error::other(failed.detail))?;
    let sampler = common.sampler(detail, keeps_samples);
    let lines = reports.clone();
    let log = move |line| {
        let _ = lines.send(Report::Line(line));
    };
    let shard = Shard::new(common, Rc::clone(&clock), Rc::new(net), sampler, log);
    let mut user = User::new(Vu::new(Rc::clone(&shard), 0))?;
    let never = Arc::new(Abort::default());
    let (count, mut outcomes) = (tasks.len(), Vec::with_capacity(tasks.len()));
    for (at, task) in tasks.into_iter().enumerate() {
        let stop = match &limit {
            Some((limit, abort)) if at + 1 == count => {
                Stop::new(clock.now().plus(limit.as_nanos() as i64), &clock, abort)
            }
            _ => Stop::new(At(i64::MAX), &clock, &never),
        };
        let watchman = tokio::task::spawn_local(wake(stop.clone(), Rc::clone(&clock)));
        outcomes.push(user.perform(task, stop).await);
        watchman.abort();
        if outcomes.last().is_some_and(Result::is_err) {
            break;
        }
    }
    drop(user);
    driver.abort();
    let interval = shard.sampler.borrow_mut().take();
    Ok(Done { outcomes, interval, has_failed: shard.has_failed.get() })
}

/// Lets a user that waits look at its stop again when that is due.
async fn wake(stop: Stop, clock: Rc<Clock>) {
    if stop.deadline() < At(i64::MAX) {
        clock.sleep_until(stop.deadline()).await;
        stop.pull();
    }
}
