//! The collector: starts the threads of a run, takes what they send, and merges it second by second.
//!
//! The collector runs on the thread that called [`crate::run`] and does no load, so a slow disk behind its caller never
//! delays a message.

use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Snapshot, Totals};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::control::Control;
use crate::dialect::{Collect, Dialect, Phase, TICK};
use crate::event::{LogLine, RunEvent};
use crate::health;
use crate::log::Waiting;
use crate::options::{Error, Options};
use crate::seconds::Seconds;
use crate::shard::SECOND_NS;
use crate::thread::{self, Go, Report, Role, ThreadContext};
use crate::watcher::Sightings;

/// How long the collector waits for threads to end after an abort.
const ABORT_PATIENCE: Duration = Duration::from_secs(1);

/// From when all threads are ready to when they begin: long enough for all of them to hear of it.
const LEAD: Duration = Duration::from_millis(2);

/// A run under way, on the thread that collects it.
pub(crate) struct Collector<'r, D: Dialect, C> {
    dialect: &'r Arc<D>,
    options: &'r Options,
    control: &'r Control,
    collect: &'r mut C,
    totals: Totals,
    /// When second 0 began: the load's start or the run's own.
    epoch: Instant,
    /// What is not merged yet.
    seconds: Seconds,
    waiting: Waiting,
    undelivered: Arc<AtomicU64>,
}

/// Load threads that are ready.
pub(crate) struct Threads<D: Dialect> {
    threads: Vec<JoinHandle<()>>,
    goes: Vec<oneshot::Sender<Go>>,
    inbox: Receiver<Report<D>>,
}

impl<'r, D: Dialect, C: Collect<D>> Collector<'r, D, C> {
    pub(crate) fn new(
        dialect: &'r Arc<D>,
        options: &'r Options,
        control: &'r Control,
        collect: &'r mut C,
    ) -> Collector<'r, D, C> {
        Collector {
            dialect,
            options,
            control,
            totals: Totals::new(&options.header, options.rules, collect.store(dialect.metrics()))
                .naming(D::NAMING),
            collect,
            epoch: options.epoch,
            seconds: Seconds::new(options.header.shards),
            waiting: Waiting::default(),
            undelivered: Arc::default(),
        }
    }

    fn now(&self) -> At {
        At(self.epoch.elapsed().as_nanos() as i64)
    }

    /// A new thread's context, and its channel for reports.
    fn context(&self) -> (Arc<ThreadContext<D>>, Receiver<Report<D>>) {
        let (reports, inbox) = channel();
        let context = ThreadContext {
            dialect: Arc::clone(self.dialect),
            control: self.control.clone(),
            epoch: self.epoch,
            threads: self.options.header.shards,
            sizes: (self.options.header.operations.len(), self.options.header.scenarios.len()),
            waiting: self.waiting.clone(),
            undelivered: Arc::clone(&self.undelivered),
            reports,
        };
        (Arc::new(context), inbox)
    }

    /// Waits for the next report, for as long as nothing else is to be done. Lines are told here, whoever waits.
    fn next(&mut self, inbox: &Receiver<Report<D>>) -> Option<Report<D>> {
        if let Some(line) = self.waiting.take_left_out() {
            self.collect.event(RunEvent::Line(&LogLine { at: self.now(), ..line }));
        }
        let now = self.now();
        let quiet = self.collect.turn(now, &mut self.totals).min(TICK);
        match inbox.recv_timeout(quiet) {
            Ok(Report::Line(line)) => {
                self.waiting.taken(&line);
                self.collect.event(RunEvent::Line(&line));
                None
            }
            Ok(report) => {
                let is_second = matches!(report, Report::Second(..));
                self.undelivered.fetch_sub(u64::from(is_second), Relaxed);
                Some(report)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Report::Broken { shard: None }),
        }
    }

    /// Starts the load threads and returns when all of them are ready. What they say meanwhile is told as it comes:
    /// preparing may take its time.
    pub(crate) fn start(&mut self) -> Result<Threads<D>, Error<D::Error>> {
        let (context, inbox) = self.context();
        let (mut threads, mut goes) = (Vec::new(), Vec::new());
        for index in 0..self.options.header.shards {
            let (go, told) = oneshot::channel();
            threads.push(thread::start(Arc::clone(&context), Role::Load { index, go: told })?);
            goes.push(go);
        }
        drop(context);
        let mut unready = threads.len();
        while unready > 0 {
            match self.next(&inbox) {
                Some(Report::Ready) => unready -= 1,
                Some(Report::Failed(error)) => return Err(self.given_up(error)),
                Some(_) => {
                    let broken = std::io::Error::other("a thread ended before it was ready");
                    return Err(self.given_up(Error::Start(broken)));
                }
                None => {}
            }
            self.collect.waiting().map_err(Error::Dialect)?;
        }
        Ok(Threads { threads, goes, inbox })
    }

    /// The others are told to end, too.
    fn given_up(&self, error: Error<D::Error>) -> Error<D::Error> {
        self.control.abort();
        error
    }

    /// Does a phase's task; returns whether the run goes on.
    pub(crate) fn phase(&mut self, phase: Phase) -> Result<bool, Error<D::Error>> {
        let Some(task) = self.collect.task(phase) else { return Ok(true) };
        let done = self.once(task, true)?;
        Ok(self.collect.done(phase, done))
    }

    /// Has one thread do something once. `counts`: what is measured meanwhile is part of the run.
    pub(crate) fn once(&mut self, task: D::Task, counts: bool) -> Result<Option<D::Done>, Error<D::Error>> {
        let (context, inbox) = self.context();
        let thread = thread::start(context, Role::Once(task))?;
        let mut patience = Patience::default();
        while !patience.is_over(self.control, None) {
            match self.next(&inbox) {
                Some(Report::Second(_, record)) => self.take_of_once(*record, counts),
                Some(Report::Ended(record, done)) => {
                    self.take_of_once(*record, counts);
                    join(thread);
                    return Ok(done);
                }
                Some(Report::Failed(error)) => return Err(error),
                Some(Report::Broken { .. }) => {
                    self.collect.broken();
                    break;
                }
                Some(Report::Line(_) | Report::Ready) | None => {}
            }
        }
        Ok(None)
    }

    /// Where the clock goes on to the load, thresholds may be judged of it at once; else it goes with the next second.
    fn take_of_once(&mut self, record: Record, counts: bool) {
        let kept = self.dialect.kept_of_once(record).filter(|_| counts);
        let Some(mut record) = kept else { return };
        self.collect.record(&mut record);
        if D::IS_PREPARED_FIRST {
            self.absorb(vec![record], self.now());
        } else {
            self.seconds.end(record);
        }
    }

    /// Tells the threads to begin and collects what they send until all have ended, or were given up.
    pub(crate) fn load(&mut self, ready: Threads<D>) -> Result<(), Error<D::Error>> {
        let Threads { threads, goes, inbox } = ready;
        self.begin(goes);
        let mut patience = Patience::default();
        let mut is_given_up = false;
        while self.seconds.are_awaited() && !is_given_up {
            if let Some(report) = self.next(&inbox) {
                self.take(report)?;
            }
            while let Some((at, records)) = self.seconds.whole() {
                self.absorb(records, at);
            }
            is_given_up = patience.is_over(self.control, D::STOP_PATIENCE);
        }
        if !is_given_up {
            threads.into_iter().for_each(join);
        }
        let rest = self.seconds.rest();
        self.absorb(rest, self.now());
        if let Some(watcher) = &self.options.watcher {
            watcher.end();
        }
        self.collect.loaded(self.now());
        Ok(())
    }

    fn begin(&mut self, goes: Vec<oneshot::Sender<Go>>) {
        let start = Instant::now() + LEAD;
        let epoch = if D::IS_PREPARED_FIRST { None } else { Some(start) };
        self.epoch = epoch.unwrap_or(self.epoch);
        let begins = At(start.duration_since(self.epoch).as_nanos() as i64);
        self.collect.begins(begins);
        if let Some(watcher) = &self.options.watcher {
            watcher.begin(&self.dialect.metrics(), self.epoch);
        }
        let go = Go { epoch, from: At(begins.second() * SECOND_NS) };
        for to in goes {
            // A thread that does not receive it is broken, and reports that.
            let _ = to.send(go);
        }
    }

    fn take(&mut self, report: Report<D>) -> Result<(), Error<D::Error>> {
        match report {
            Report::Second(at, mut record) => {
                self.collect.record(&mut record);
                self.seconds.take(at, *record);
            }
            Report::Ended(mut record, _) => {
                self.collect.record(&mut record);
                self.seconds.end(*record);
            }
            Report::Failed(error) => return Err(self.given_up(error)),
            Report::Broken { shard } => {
                self.collect.broken();
                self.seconds.lose(shard);
            }
            Report::Line(_) | Report::Ready => {}
        }
        Ok(())
    }

    /// Merges one interval of all threads.
    fn absorb(&mut self, mut records: Vec<Record>, at: At) {
        let process = health::process(self.options.source_addresses);
        let seen = self.options.watcher.as_ref().map(|watcher| watcher.take());
        let Sightings { interval, notes } = seen.unwrap_or_default();
        if !interval.is_empty() {
            records.push(Record { metrics: interval, ..Record::default() });
        }
        notes.iter().for_each(|note| self.collect.event(RunEvent::Noted(note)));
        let Collector { totals, collect, .. } = self;
        let snapshot = totals.absorb_following(records, at, process, &mut **collect);
        tell_second(&mut **collect, snapshot);
    }

    /// Closes the ledger and sums up. An aborted run's copies under way are neither lost nor delivered: its ledger
    /// stays open.
    pub(crate) fn finish(mut self) -> Summary {
        self.collect.over();
        let late = self.seconds.rest();
        if !late.is_empty() {
            self.absorb(late, self.now());
        }
        let (is_aborted, is_stopping) = (self.control.is_aborted(), self.control.is_stopping());
        let now = self.now();
        let Collector { mut totals, collect, .. } = self;
        if collect.is_interrupted(is_stopping) {
            totals.interrupt();
        }
        if !is_aborted {
            let snapshot = totals.close_following(now, &mut *collect);
            tell_second(&mut *collect, snapshot);
        }
        let summary = totals.summary();
        let summary = collect.summed_up(summary, totals.metrics());
        collect.event(RunEvent::Ended(&summary));
        summary
    }
}

fn tell_second<D: Dialect>(collect: &mut impl Collect<D>, mut snapshot: Snapshot) {
    let samples = std::mem::take(&mut snapshot.metrics.samples);
    if !samples.is_empty() {
        collect.samples(samples);
    }
    collect.event(RunEvent::Second(&snapshot));
}

/// How long a run that is to end still waits for its threads.
#[derive(Default)]
struct Patience {
    /// When a stop, and when an abort, was seen.
    since: [Option<Instant>; 2],
}

impl Patience {
    /// Whether it is over. After a stop it lasts so long, if it ends at all; after an abort it is always the same.
    fn is_over(&mut self, control: &Control, after_stop: Option<Duration>) -> bool {
        let is_aborted = control.is_aborted();
        let after_stop = after_stop.filter(|_| control.is_stopping());
        let limit = if is_aborted { Some(ABORT_PATIENCE) } else { after_stop };
        let since = &mut self.since[usize::from(is_aborted)];
        limit.is_some_and(|limit| since.get_or_insert_with(Instant::now).elapsed() > limit)
    }
}

/// A thread that panicked has said so on stderr (and, in a release build, ended the process).
fn join(thread: JoinHandle<()>) {
    let _ = thread.join();
}
