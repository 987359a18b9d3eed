//! The collector: takes what shards send and merges it, second by second.

use sonagi_measure::At;
use sonagi_measure::recorder::Record;
use sonagi_measure::totals::Totals;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::time::Instant;

use crate::run::{Error, Happening, Legacy, Run};
use crate::shard::SECOND_NS;
use crate::start::{Place, Start};
use crate::thread::{self, Report, Task};
use sonagi_engine::Control;
use sonagi_engine::seconds::Seconds;

/// How long the collector waits for shards to end after an abort.
const ABORT_PATIENCE: Duration = Duration::from_secs(1);
/// How often the collector looks at the clock while no record comes.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// The running threads and what they send.
pub(crate) struct Shards {
    threads: Vec<JoinHandle<()>>,
    inbox: Receiver<Report>,
    /// What came before their start was known and is for the collector.
    first: Vec<Report>,
}

impl Shards {
    /// Starts them and returns when second 0 has begun. What they say meanwhile is told as it comes: loading a processor may take
    /// its time.
    pub(crate) fn start(
        run: &Run,
        legacy: Legacy,
        on: &mut dyn FnMut(Happening<'_>),
    ) -> Result<Shards, Error> {
        let (reports, inbox) = channel();
        let start = Arc::new(Start::default());
        // All at once: a shard that were ready before the next one has its place would not wait for it.
        let places: Vec<Place> = (0..run.shards).map(|_| start.place()).collect();
        let begin = |(shard, place): (usize, Place)| -> Result<JoinHandle<()>, Error> {
            let reports: Sender<Report> = reports.clone();
            Ok(thread::start(run, legacy.clone(), Task::Arrivals { shard, place }, reports)?)
        };
        let threads = places.into_iter().enumerate().map(begin).collect::<Result<_, _>>()?;
        let mut first = Vec::new();
        let epoch = loop {
            if let Some(epoch) = start.epoch_within(TICK) {
                break epoch;
            }
            for report in inbox.try_iter() {
                match report {
                    Report::Log { at, speaker, user, text } => {
                        on(Happening::Log { at, speaker, user, text: &text });
                    }
                    other => first.push(other),
                }
            }
        };
        run.epoch.set(epoch);
        Ok(Shards { threads, inbox, first })
    }
}

/// Merges what shards send, second by second.
pub(crate) struct Collector<'a> {
    run: &'a Run,
    totals: &'a mut Totals,
    seconds: Seconds,
    boundaries: Vec<(At, Option<String>)>,
    phase: usize,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(run: &'a Run, totals: &'a mut Totals, leftover: Vec<Record>) -> Collector<'a> {
        let boundaries = run.plan.load.boundaries();
        Collector { run, totals, seconds: Seconds::new(run.shards, leftover), boundaries, phase: 0 }
    }

    /// Until all shards have ended (or were abandoned after an abort). Returns what came too late for a full second.
    pub(crate) fn collect(
        &mut self,
        shards: Shards,
        on: &mut dyn FnMut(Happening<'_>),
    ) -> Result<Vec<Record>, Error> {
        let mut patience = Patience::new(self.run.control());
        self.enter_phases(At(0), on);
        for report in shards.first {
            self.take(report, on)?;
        }
        while self.seconds.are_awaited() {
            match shards.inbox.recv_timeout(TICK) {
                Ok(report) => self.take(report, on)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.merge_whole_seconds(on);
            self.enter_phases(self.run.now(), on);
            if patience.is_over() {
                return Ok(self.seconds.rest());
            }
        }
        shards.threads.into_iter().for_each(join);
        Ok(self.seconds.rest())
    }

    fn take(&mut self, report: Report, on: &mut dyn FnMut(Happening<'_>)) -> Result<(), Error> {
        match report {
            Report::Second { second, record } => {
                self.run.shared.undelivered.fetch_sub(1, Ordering::Relaxed);
                self.seconds.take(second, *record);
            }
            Report::Ended { record } => self.seconds.end(*record),
            Report::Log { at, speaker, user, text } => on(Happening::Log { at, speaker, user, text: &text }),
            Report::Left { .. } => {}
            Report::Failed(error) => {
                self.run.control().abort();
                return Err(error);
            }
        }
        Ok(())
    }

    fn merge_whole_seconds(&mut self, on: &mut dyn FnMut(Happening<'_>)) {
        while let Some((second, records)) = self.seconds.whole() {
            let at = At(second as i64 * SECOND_NS);
            on(Happening::Second(&self.totals.absorb(records, at, self.run.gauges())));
        }
    }

    fn enter_phases(&mut self, now: At, on: &mut dyn FnMut(Happening<'_>)) {
        while self.phase < self.boundaries.len() {
            let begin = if self.phase == 0 { At(0) } else { self.boundaries[self.phase - 1].0 };
            if now < begin {
                return;
            }
            if let Some(name) = &self.boundaries[self.phase].1 {
                on(Happening::Phase { at: begin, name });
            }
            self.phase += 1;
        }
        if self.phase == self.boundaries.len() && now >= self.run.plan.load.end() {
            self.phase += 1;
            on(Happening::Draining { at: self.run.plan.load.end() });
        }
    }
}

/// How long an aborted run still waits for its threads.
pub(crate) struct Patience<'a> {
    control: &'a Control,
    since: Option<Instant>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(control: &'a Control) -> Patience<'a> {
        Patience { control, since: None }
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.control.is_aborted() && self.since.get_or_insert_with(Instant::now).elapsed() > ABORT_PATIENCE
    }
}

/// A thread that panicked has said so on stderr (and, in a release build, ended the process).
pub(crate) fn join(thread: JoinHandle<()>) {
    let _ = thread.join();
}
