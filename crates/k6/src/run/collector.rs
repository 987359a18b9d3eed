//! A test under way, on the collector's thread: what happens before and after the scenarios, and what is made of
//! samples.

use serde_json::Value;
use sonagi_engine::{Collect, LogLine, Note, RunEvent, SinkThread, TICK};
use sonagi_measure::At;
use sonagi_measure::ledger::{Arrival, Counts, RoomId};
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::{Conclusion, Summary as RunSummary};
use sonagi_measure::totals::{Follow, Totals};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::bars::Bars;
use super::delivery_metrics::Delivery;
use super::dialect::{K6, Unready};
use super::ending::{EXCEPTION, complaint, exit_of};
use super::one_shot::{OneShot, Outcomes, outcome};
use super::periodic::Timetable;
use super::{End, Ended, Exit, Test, header, traffic};
use crate::executor::{Abort, Reason};
use crate::metrics::{Interval, MetricStore, Registry, Sample, Sampler};
use crate::output::{Samples, Wanted};
use crate::runtime::{Given, Task, Thrown};
use crate::shard::Level;
use crate::summary::recorded;
use crate::vu::Phase;

/// The state of the collector.
pub(super) struct Collector<'a, 'o> {
    pub(super) test: Test,
    pub(super) dialect: Arc<K6>,
    pub(super) abort: &'a Arc<Abort>,
    pub(super) on: &'a mut (dyn FnMut(RunEvent<'_>) + 'o),
    pub(super) outputs: Vec<SinkThread<Samples>>,
    /// Samples that found no room in outputs that have ended.
    pub(super) samples_left_out: u64,
    /// For what the collector itself observes.
    pub(super) sampler: Sampler,
    pub(super) timetable: Timetable,
    /// How the test ends, as far as that is known.
    pub(super) ended: Ended,
    /// The value that `setup` returned, as the scenarios get it.
    pub(super) data: Option<Arc<str>>,
    /// The ledger as metrics; None: the script has nothing to do with it.
    delivery: Option<Delivery>,
    /// It was told why the test was asked to end.
    is_abort_told: bool,
}

/// Runs a test to its end.
pub(super) fn run(test: Test, abort: &Arc<Abort>, on: &mut dyn FnMut(RunEvent<'_>)) -> Ended {
    let outputs = match outputs(&test) {
        Ok(outputs) => outputs,
        Err(why) => return Ended::early(Exit::Other, format!("an output cannot be written: {why}")),
    };
    let sampler = test.common.sampler();
    let delivery = Delivery::of(&test.common, &sampler);
    let header = header::header(&test, delivery.is_some());
    let dialect = Arc::new(test.dialect());
    let options = sonagi_engine::Options {
        watcher: test.watcher.clone(),
        ..sonagi_engine::Options::new(&*dialect, header, test.options().sonagi.delivery, test.epoch)
    };
    test.common.tally.users.store(test.plan.planned_vus, Ordering::Relaxed);
    let mut collector = Collector {
        timetable: Timetable::new(test.now()),
        dialect: Arc::clone(&dialect),
        test,
        abort,
        on,
        outputs,
        samples_left_out: 0,
        sampler,
        ended: Ended::of_exit(Exit::Passed),
        data: None,
        delivery,
        is_abort_told: false,
    };
    match sonagi_engine::run(&dialect, &options, abort.control(), &mut collector) {
        Ok(_) => collector.finish(&options),
        Err(error) => collector.not_run(error),
    }
}

fn outputs(test: &Test) -> io::Result<Vec<SinkThread<Samples>>> {
    let standard = test.asked.standard_output;
    let open =
        |wanted: &Wanted| wanted.open(&test.store, test.common.system_tags(), test.started, standard());
    test.asked.outputs.iter().map(open).collect()
}

impl Follow for Collector<'_, '_> {
    fn arrived(&mut self, arrival: Arrival) {
        self.delivery.iter().for_each(|delivery| delivery.arrived(arrival, &mut self.sampler));
    }

    fn room(&self, room: RoomId) -> Option<String> {
        self.test.common.delivery.rooms.name(room)
    }

    fn closed(&mut self, counts: &Counts, at: At) {
        self.delivery.iter().for_each(|delivery| delivery.closed(counts, at, &mut self.sampler));
    }

    fn counted(&mut self, counts: &Counts, at: At) -> Interval {
        self.delivery.iter_mut().for_each(|delivery| delivery.counted(counts, at, &mut self.sampler));
        self.sampler.take()
    }
}

impl Collect<K6> for Collector<'_, '_> {
    fn event(&mut self, event: RunEvent<'_>) {
        (self.on)(event);
    }

    fn store(&mut self, _: Arc<Registry>) -> MetricStore {
        std::mem::take(&mut self.test.store)
    }

    fn record(&mut self, record: &mut Record) {
        traffic::count(&record.metrics, &self.test.common.registry, &mut record.counters);
    }

    fn samples(&mut self, samples: Vec<Sample>) {
        let samples: Samples = Arc::new(samples);
        for output in &mut self.outputs {
            output.give(Arc::clone(&samples), samples.len() as u64);
        }
        let lost: Vec<_> = self.outputs.extract_if(.., |output| output.has_failed()).collect();
        for output in lost {
            self.samples_left_out += output.left_out();
            if let Err(why) = output.finish() {
                // What comes after a hole would pass for the whole.
                self.say(Level::Error, format!("an output cannot be written any more and ends here: {why}"));
            }
        }
    }

    fn waiting(&mut self) -> Result<(), Unready> {
        if self.abort.asked() { Err(Unready::Stopped) } else { Ok(()) }
    }

    fn task(&mut self, phase: sonagi_engine::Phase) -> Option<OneShot> {
        let phase = in_script(phase);
        if phase == Phase::Setup {
            let at = self.test.now();
            self.timetable.began = Some(at);
            (self.on)(RunEvent::Noted(&Note { at, kind: recorded::BEGAN, detail: Value::Null }));
        }
        self.one_shot(phase, || Given::Data(self.data.clone()))
    }

    fn done(&mut self, phase: sonagi_engine::Phase, done: Option<Outcomes>) -> bool {
        let phase = in_script(phase);
        match outcome(done) {
            Ok(data) if phase == Phase::Setup => self.data = data.map(Arc::from),
            Ok(_) => {}
            Err(thrown) => {
                if phase == Phase::Setup {
                    self.ended.bars = self.unbegun("Run", "100% ] setup()");
                }
                self.ended_by(&thrown, phase);
                return false;
            }
        }
        true
    }

    fn begins(&mut self, begins: At) {
        let began = self.timetable.began.unwrap_or(begins);
        self.dialect.begin(begins, began, self.data.clone(), self.abort);
    }

    fn turn(&mut self, _: At, totals: &mut Totals) -> Duration {
        // Behind the end nothing is counted.
        if self.timetable.ended.is_some() {
            return TICK;
        }
        self.keep_time(totals.metrics());
        self.timetable.quiet(self.test.now())
    }

    fn broken(&mut self) {
        self.end_with(Exit::Other, Some("a thread ended without a word".to_owned()));
    }

    fn loaded(&mut self, now: At) {
        self.ended.bars = self.drawn().lines(now);
        self.tell_abort();
    }

    fn over(&mut self) {
        if self.dialect.under_way.get().is_some() {
            self.tell_abort();
            let is_empty = !self.dialect.scenarios().iter().any(|common| common.counts.complete.get() > 0);
            if is_empty && self.ended.exit == Exit::Passed {
                let text = "No script iterations fully finished, consider making the test duration longer";
                self.say(Level::Warn, text.to_owned());
            }
        }
        self.timetable.ended = Some(self.test.now());
    }

    /// The verdict says what the exit code says: a threshold that ends the test has judged it, and a signal behind the
    /// end of all interrupts nothing.
    fn is_interrupted(&self, _: bool) -> bool {
        self.ended.exit.conclusion() == Some(Conclusion::Interrupted)
    }

    fn summed_up(&mut self, record: RunSummary, metrics: &mut MetricStore) -> RunSummary {
        self.close(record, metrics)
    }
}

impl Collector<'_, '_> {
    /// The run is over and summed up: the script's last word on it.
    fn finish(mut self, options: &sonagi_engine::Options) -> Ended {
        if let End::Summary(summary) = std::mem::replace(&mut self.ended.end, End::Nothing) {
            self.ended.end = match self.handled(&summary, options) {
                Some(files) => {
                    summary.warnings().into_iter().for_each(|text| self.say(Level::Warn, text));
                    End::Handled(files, summary)
                }
                None => End::Summary(summary),
            };
        }
        // How far the test came, before its scenarios.
        if !self.dialect.scenarios().is_empty() {
            let head = self.drawn().head(self.timetable.elapsed(self.test.now()));
            self.ended.bars.insert(0, head);
        }
        self.ended
    }

    /// The test did not begin.
    fn not_run(mut self, error: sonagi_engine::Error<Unready>) -> Ended {
        self.end_outputs();
        match error {
            sonagi_engine::Error::Dialect(Unready::Thrown(number, thrown)) => self.stillborn(number, &thrown),
            sonagi_engine::Error::Dialect(Unready::Stopped) => {
                Ended::before(self.abort.why().unwrap_or(&Reason::Signal))
            }
            error => Ended::early(Exit::Other, error.to_string()),
        }
    }

    /// A user's init code threw that had not thrown when the options were read.
    fn stillborn(&mut self, number: u64, thrown: &Thrown) -> Ended {
        let hint = format!("error while initializing VU #{number} ({EXCEPTION})");
        (self.on)(RunEvent::Line(&complaint(thrown, &hint)));
        let made = self.test.common.tally.initialised.load(Ordering::Relaxed);
        let planned = self.test.plan.planned_vus;
        let percent = 100 * made / planned.max(1);
        let bars = self.unbegun("Init", &format!("{percent:>3}% ] {made}/{planned} VUs initialized"));
        Ended { bars, ..Ended::of_exit(exit_of(thrown)) }
    }

    /// The bars of a test whose scenarios never began.
    fn unbegun(&self, at: &str, how_far: &str) -> Vec<String> {
        let names: Vec<&str> = self.test.options().scenarios.iter().map(|one| one.name.as_str()).collect();
        let width = names.iter().map(|name| name.len()).max().unwrap_or(0).max(at.len());
        let first = format!("{at:width$}   [ {how_far}");
        let rest = names.iter().map(|name| format!("{name:width$}   [   0% ]"));
        std::iter::once(first).chain(rest).collect()
    }

    pub(super) fn end_with(&mut self, exit: Exit, why: Option<String>) {
        // What went wrong first is what the process ends with.
        if self.ended.exit == Exit::Passed {
            (self.ended.exit, self.ended.why) = (exit, why);
        }
    }

    /// The call of a phase's function; None: the script has none, or nobody wants it.
    pub(super) fn one_shot(&self, phase: Phase, given: impl FnOnce() -> Given) -> Option<OneShot> {
        let (function, limit, is_unwanted) = self.test.called_once(phase);
        if is_unwanted || !self.test.has(function) {
            return None;
        }
        // Only setup hears of the test's end: what comes after it does not.
        let abort = if phase == Phase::Setup { Arc::clone(self.abort) } else { Arc::default() };
        let call = Task::Call { phase, function: function.into(), given: given() };
        let there = self.test.common.tally.initialised.load(Ordering::Relaxed);
        let under_way = self.timetable.began.map(|began| (began, there));
        Some(OneShot { tasks: vec![(Task::Init, None), (call, Some(limit))], abort, under_way })
    }

    /// The function of `setup` or `teardown` threw, or took too long.
    fn ended_by(&mut self, thrown: &Thrown, phase: Phase) {
        let is_setup = phase == Phase::Setup;
        match thrown {
            Thrown::Interrupted if is_setup && self.abort.asked() => self.tell_abort(),
            Thrown::Interrupted => {
                let (function, ..) = self.test.called_once(phase);
                let hint = format!("You can increase the time limit via the {function}Timeout option");
                self.say_with(Level::Error, &self.test.timed_out(phase), &[("hint", &hint)]);
                self.end_with(if is_setup { Exit::SetupTimeout } else { Exit::TeardownTimeout }, None);
            }
            thrown => {
                self.complain(thrown);
                self.end_with(exit_of(thrown), None);
            }
        }
    }

    /// Logs an exception, with its fields.
    pub(super) fn complain(&mut self, thrown: &Thrown) {
        let at = self.test.now();
        (self.on)(RunEvent::Line(&LogLine { at, ..complaint(thrown, EXCEPTION) }));
    }

    /// Says why the test was asked to end, if it was; once.
    fn tell_abort(&mut self) {
        let Some(why) = self.abort.why().filter(|_| !self.is_abort_told) else { return };
        self.is_abort_told = true;
        self.say(Level::Error, why.to_string());
        self.end_with(Exit::of_abort(why), None);
    }

    pub(super) fn say(&mut self, level: Level, text: String) {
        self.say_with(level, &text, &[]);
    }

    pub(super) fn say_with(&mut self, level: Level, text: &str, fields: &[(&'static str, &str)]) {
        let at = self.test.now();
        let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        (self.on)(RunEvent::Line(&LogLine { at, fields, ..LogLine::new(level, text) }));
    }

    fn drawn(&self) -> Bars<'_> {
        Bars {
            scenarios: &self.test.common.options.scenarios,
            plan: &self.test.plan,
            commons: self.dialect.scenarios(),
            is_cut: self.abort.asked(),
        }
    }
}

impl Test {
    /// The function a script may have for a phase: its name, how long it may take, whether nobody wants it.
    fn called_once(&self, phase: Phase) -> (&'static str, Duration, bool) {
        let options = self.options();
        match phase {
            Phase::Setup => ("setup", options.setup_timeout, options.no_setup),
            Phase::Teardown => ("teardown", options.teardown_timeout, options.no_teardown),
            _ => ("handleSummary", options.handle_summary_timeout, self.asked.no_summary),
        }
    }

    /// The message that this function took too long.
    pub(super) fn timed_out(&self, phase: Phase) -> String {
        let (function, limit, _) = self.called_once(phase);
        format!("{function}() execution timed out after {} seconds", limit.as_secs())
    }
}

/// The phase of what a script does once before the load, or after it.
fn in_script(phase: sonagi_engine::Phase) -> Phase {
    if phase == sonagi_engine::Phase::Before { Phase::Setup } else { Phase::Teardown }
}
