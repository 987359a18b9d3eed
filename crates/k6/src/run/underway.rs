//! A test under way: the collector, and what happens before and after the scenarios.

use serde_json::Value;
use sonagi_engine::health;
use sonagi_measure::At;
use sonagi_measure::recorder::Counters;
use sonagi_measure::totals::Snapshot;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

use super::alone::{Alone, Done, Meanwhile};
use super::bars::Bars;
use super::books::Books;
use super::ending::{EXCEPTION, complaint, exit_of};
use super::home::Shared;
use super::periodic::{LOOK, Timetable};
use super::shard::{Go, Luggage, MOST_REPORTS, Report, live};
use super::{End, Ended, Exit, Test, Told};
use crate::executor::{self, Abort, Reason};
use crate::metrics::{Interval, Sampler};
use crate::output::Output;
use crate::runtime::{Given, Phase, Task, Thrown};
use crate::shard::{Level, Line};

/// How long threads may take to end once everything is interrupted.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the collector has.
pub(super) struct Collector<'a, 'o> {
    pub(super) test: Test,
    pub(super) abort: &'a Arc<Abort>,
    pub(super) on: &'a mut (dyn FnMut(Told<'_>) + 'o),
    pub(super) outputs: Vec<Output>,
    /// For what the collector itself observes.
    pub(super) sampler: Sampler,
    pub(super) timetable: Timetable,
    pub(super) shared: Arc<Shared>,
    pub(super) exit: Exit,
    pub(super) why: Option<String>,
    pub(super) setup_data: Option<Value>,
    /// The script said so.
    pub(super) has_failed: bool,
    pub(super) bars: Vec<String>,
    pub(super) books: Books,
    /// Whether shards report seconds now: what is observed elsewhere goes with them.
    is_loading: bool,
}

pub(super) fn run(mut test: Test, abort: &Arc<Abort>, on: &mut dyn FnMut(Told<'_>)) -> Ended {
    let sampler = test.common.sampler(test.detail(), !test.asked.outputs.is_empty());
    let mut outputs = Vec::new();
    for wanted in &test.asked.outputs {
        let tags = test.common.system_tags();
        let standard: Box<dyn Write + Send> = Box::new(std::io::stdout());
        match Output::open(wanted, &test.store, tags, test.started, standard) {
            Ok(output) => outputs.push(output),
            Err(why) => return Ended::early(Exit::Other, format!("an output cannot be written: {why}")),
        }
    }
    // One connection is one file.
    health::raise_file_limit();
    let store = std::mem::take(&mut test.store);
    let (books, header) = Books::new(&test, store);
    on(Told::Began(&header));
    let collector = Collector {
        books,
        timetable: Timetable::new(test.since_epoch()),
        shared: Arc::default(),
        test,
        abort,
        on,
        outputs,
        sampler,
        exit: Exit::Passed,
        why: None,
        setup_data: None,
        has_failed: false,
        bars: Vec::new(),
        is_loading: false,
    };
    collector.run()
}

impl Collector<'_, '_> {
    fn run(mut self) -> Ended {
        let (threads, goes, inbox) = match self.start() {
            Ok(started) => started,
            Err(ended) => return ended,
        };
        if let Err(ended) = self.ready(threads.len(), &inbox) {
            return ended;
        }
        self.timetable.begin(self.test.since_epoch());
        if let Some(data) = self.setup() {
            self.scenarios(goes, &inbox, data.as_deref());
            let was_asked = self.abort.asked();
            self.teardown(data);
            if !was_asked && self.abort.asked() {
                self.was_aborted();
            }
            if !self.timetable.scenarios.iter().any(|common| common.complete() > 0) {
                self.warn_of_nothing();
            }
        }
        self.timetable.end(self.test.since_epoch());
        self.close()
    }

    /// Starts the threads; they make their users at once.
    #[allow(clippy::type_complexity)]
    fn start(&self) -> Result<(Vec<JoinHandle<()>>, Vec<oneshot::Sender<Go>>, Receiver<Report>), Ended> {
        let (reports, inbox) = sync_channel(MOST_REPORTS);
        let (mut threads, mut goes) = (Vec::new(), Vec::new());
        self.shared.users.store(self.test.plan.planned_vus, Ordering::Relaxed);
        for shard in 0..self.test.plan.shards {
            let (go, told) = oneshot::channel();
            let luggage = Luggage {
                common: Arc::clone(&self.test.common),
                plan: Arc::clone(&self.test.plan),
                shared: Arc::clone(&self.shared),
                shard,
                epoch: self.test.epoch,
                started_ms: self
                    .test
                    .started
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0.0, |since| since.as_secs_f64() * 1e3),
                detail: self.test.detail(),
                keep_samples: !self.test.asked.outputs.is_empty(),
                reports: reports.clone(),
                go: told,
            };
            let thread = std::thread::Builder::new().name("shard".to_owned()).spawn(move || live(luggage));
            let cannot = |why| Ended::early(Exit::Other, format!("a thread could not be started: {why}"));
            threads.push(thread.map_err(cannot)?);
            goes.push(go);
        }
        Ok((threads, goes, inbox))
    }

    /// Until all threads have made their users.
    fn ready(&mut self, threads: usize, inbox: &Receiver<Report>) -> Result<(), Ended> {
        let mut waiting = threads;
        while waiting > 0 {
            match inbox.recv_timeout(LOOK) {
                Ok(Report::Ready(Ok(()))) => waiting -= 1,
                Ok(Report::Ready(Err((number, thrown)))) => return Err(self.stillborn(number, &thrown)),
                Ok(Report::Failed(why)) => return Err(Ended::early(Exit::Other, why)),
                Ok(report) => self.take(report),
                Err(_) => {
                    if let Some(why) = self.abort.why() {
                        return Err(Ended::before(why));
                    }
                }
            }
            self.keep_time();
        }
        Ok(())
    }

    /// A user's init code threw that had not thrown when the options were read.
    fn stillborn(&mut self, number: u64, thrown: &Thrown) -> Ended {
        let hint = format!("error while initializing VU #{number} ({EXCEPTION})");
        (self.on)(Told::Line(&complaint(thrown, &hint)));
        let made = self.shared.initialised.load(Ordering::Relaxed);
        let planned = self.test.plan.planned_vus;
        let percent = 100 * made / planned.max(1);
        let bars = self.unbegun("Init", &format!("{percent:>3}% ] {made}/{planned} VUs initialized"));
        Ended { exit: exit_of(thrown), end: End::Nothing, why: None, bars }
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
        if self.exit == Exit::Passed {
            (self.exit, self.why) = (exit, why);
        }
    }

    pub(super) fn once(
        &mut self,
        phase: Phase,
        function: &str,
        given: Given,
        limit: Duration,
    ) -> Result<Option<String>, Thrown> {
        let call = Task::Call { phase, function: function.into(), given };
        let abort = if phase == Phase::Setup { Arc::clone(self.abort) } else { Arc::default() };
        let common = Arc::clone(&self.test.common);
        let alone = Alone {
            common: &common,
            epoch: self.test.epoch,
            limit: Some(limit),
            abort: &abort,
            measured: (self.test.detail(), !self.outputs.is_empty()),
            under_way: self
                .timetable
                .began()
                .map(|began| (At(began.as_nanos() as i64), self.shared.initialised.load(Ordering::Relaxed))),
        };
        let done = alone.perform(vec![Task::Init, call], &mut |meanwhile| {
            match meanwhile {
                Meanwhile::Line(line) => (self.on)(Told::Line(&line)),
                // Behind the end nothing is counted.
                Meanwhile::Measured(interval) if phase != Phase::Summary => self.observe(interval),
                Meanwhile::Measured(_) | Meanwhile::Nothing => {}
            }
            if phase != Phase::Summary {
                self.keep_time();
            }
        });
        let Done { mut outcomes, has_failed, record } = match done {
            Ok(done) => done,
            Err(ended) => return Err(Thrown::Error(ended.why.unwrap_or_default())),
        };
        self.has_failed |= has_failed;
        if phase != Phase::Summary && (record.counters != Counters::default() || !record.failures.is_empty())
        {
            self.books.end(record);
            if !self.is_loading {
                self.record_late();
            }
        }
        outcomes.pop().unwrap_or(Ok(None))
    }

    /// What `setup` returned; None: it did not, and nothing else happens.
    fn setup(&mut self) -> Option<Option<Arc<str>>> {
        let options = self.test.options();
        if !self.test.has("setup") || options.no_setup {
            return Some(None);
        }
        let limit = options.setup_timeout;
        match self.once(Phase::Setup, "setup", Given::Nothing, limit) {
            Ok(data) => {
                self.setup_data = data.as_ref().and_then(|data| serde_json::from_str(data).ok());
                Some(data.map(Arc::from))
            }
            Err(thrown) => {
                self.bars = self.unbegun("Run", "100% ] setup()");
                self.ended_by(&thrown, "setup", Exit::SetupTimeout, limit);
                None
            }
        }
    }

    /// `function` threw, or took longer than `limit`, which an option of this name sets.
    fn ended_by(&mut self, thrown: &Thrown, function: &str, timeout: Exit, limit: Duration) {
        match thrown {
            // Only setup hears of the test's end: teardown runs after it.
            Thrown::Interrupted if timeout == Exit::SetupTimeout && self.abort.asked() => self.was_aborted(),
            Thrown::Interrupted => {
                let text = format!("{function}() execution timed out after {} seconds", limit.as_secs());
                let hint = format!("You can increase the time limit via the {function}Timeout option");
                self.say_with(Level::Error, &text, &[("hint", &hint)]);
                self.end_with(timeout, None);
            }
            thrown => {
                self.complain(thrown);
                self.end_with(exit_of(thrown), None);
            }
        }
    }

    /// What was thrown, with what belongs to it.
    pub(super) fn complain(&mut self, thrown: &Thrown) {
        let at = At(self.test.since_epoch().as_nanos() as i64);
        (self.on)(Told::Line(&Line { at, ..complaint(thrown, EXCEPTION) }));
    }

    fn was_aborted(&mut self) {
        let Some(why) = self.abort.why() else { return };
        // A threshold that ends the test has judged it: that is a failure, not an interruption.
        if !matches!(why, Reason::Crossed(_)) {
            self.books.interrupt();
        }
        self.say(Level::Error, why.to_string());
        self.end_with(Exit::of_abort(why), None);
    }

    pub(super) fn say(&mut self, level: Level, text: String) {
        self.say_with(level, &text, &[]);
    }

    pub(super) fn say_with(&mut self, level: Level, text: &str, fields: &[(&'static str, &str)]) {
        let at = At(self.test.since_epoch().as_nanos() as i64);
        let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        (self.on)(Told::Line(&Line { at, level, text: text.to_owned(), fields }));
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Line(line) => (self.on)(Told::Line(&line)),
            Report::Second(second, record) => self.books.take(second, *record),
            Report::Ended(record) => self.books.end(*record),
            // Its share of the test is missing.
            Report::Failed(why) => self.end_with(Exit::Other, Some(why)),
            Report::Ready(_) => {}
        }
    }

    /// Samples of what is no shard's: of the collector itself, of `setup` and `teardown`.
    pub(super) fn observe(&mut self, interval: Interval) {
        self.books.observe(interval);
        if !self.is_loading {
            self.record_late();
        }
    }

    /// What all threads have in common of each scenario.
    fn commons(&self, begun: Duration) -> Vec<Arc<executor::Common>> {
        let begun = At(begun.as_nanos() as i64);
        let state = executor::Test::new(&self.test.plan, begun, Arc::clone(self.abort));
        let scenarios = self.test.options().scenarios.iter().enumerate();
        scenarios.map(|(at, one)| executor::Common::new(at, one, &self.test.plan, &state)).collect()
    }

    /// All scenarios, to their ends.
    fn scenarios(&mut self, goes: Vec<oneshot::Sender<Go>>, inbox: &Receiver<Report>, data: Option<&str>) {
        // The same instant for all threads, and late enough for all of them to hear of it.
        let begun = self.test.since_epoch() + Duration::from_millis(2);
        let commons = self.commons(begun);
        self.timetable.scenarios.clone_from(&commons);
        let began = At(self.timetable.began().unwrap_or(begun).as_nanos() as i64);
        let data: Option<Arc<str>> = data.map(Arc::from);
        let mut running = goes.len();
        let second = begun.as_secs() + 1;
        for go in goes {
            let _ = go.send(Go { scenarios: commons.clone(), began, data: data.clone(), second });
        }
        let (mut over, mut asked_at) = (vec![None; commons.len()], None);
        self.is_loading = true;
        while running > 0 {
            match inbox.recv_timeout(self.timetable.quiet(self.test.since_epoch())) {
                Ok(report) => {
                    running -= usize::from(matches!(report, Report::Ended(_) | Report::Failed(_)));
                    self.take(report);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.end_with(Exit::Other, Some("a thread ended without a word".to_owned()));
                    break;
                }
            }
            while let Some(second) = self.books.whole() {
                self.record(second);
            }
            let now = self.test.since_epoch();
            for (over, common) in over.iter_mut().zip(&commons) {
                if over.is_none() && common.is_over() {
                    *over = Some(At(now.as_nanos() as i64));
                }
            }
            self.keep_time();
            if self.abort.asked() {
                let since = asked_at.get_or_insert(now);
                if now.saturating_sub(*since) > PATIENCE {
                    break;
                }
            }
        }
        self.scenarios_over(&over);
    }

    /// What is said and written down when they are.
    fn scenarios_over(&mut self, over: &[Option<At>]) {
        let now = self.test.since_epoch();
        self.is_loading = false;
        self.close_books(now);
        let at = At(now.as_nanos() as i64);
        self.bars = self.drawn(over).lines(at);
        if self.abort.asked() {
            self.was_aborted();
        }
    }

    fn drawn<'a>(&'a self, over: &'a [Option<At>]) -> Bars<'a> {
        Bars {
            scenarios: &self.test.common.options.scenarios,
            plan: &self.test.plan,
            commons: &self.timetable.scenarios,
            over,
            is_cut: self.abort.asked(),
        }
    }

    /// How far the test came, then its scenarios.
    pub(super) fn all_bars(&mut self) -> Vec<String> {
        let mut bars = std::mem::take(&mut self.bars);
        if !self.timetable.scenarios.is_empty() {
            bars.insert(0, self.drawn(&[]).head(self.timetable.elapsed(self.test.since_epoch())));
        }
        bars
    }

    /// As far as nothing else went wrong.
    fn warn_of_nothing(&mut self) {
        if self.exit == Exit::Passed {
            let text = "No script iterations fully finished, consider making the test duration longer";
            self.say(Level::Warn, text.to_owned());
        }
    }

    fn record(&mut self, mut snapshot: Snapshot) {
        let samples = std::mem::take(&mut snapshot.metrics.samples);
        let mut lost = Vec::new();
        self.outputs.retain_mut(|output| output.write(&samples).map_err(|why| lost.push(why)).is_ok());
        for why in lost {
            // What comes after a hole would pass for the whole.
            self.say(Level::Error, format!("an output cannot be written any more and ends here: {why}"));
        }
        (self.on)(Told::Second(&snapshot));
    }

    /// Records what belongs to no second of the shards.
    pub(super) fn record_late(&mut self) {
        let now = At(self.test.since_epoch().as_nanos() as i64);
        if let Some(late) = self.books.late(now) {
            self.record(late);
        }
    }

    /// What comes after the scenarios is of no room.
    fn close_books(&mut self, now: Duration) {
        let now = At(now.as_nanos() as i64);
        let rest = self.books.rest(now);
        self.record(rest);
        let last = self.books.close(now);
        self.record(last);
    }

    fn teardown(&mut self, data: Option<Arc<str>>) {
        let options = self.test.options();
        if !self.test.has("teardown") || options.no_teardown {
            return;
        }
        let limit = options.teardown_timeout;
        let given = data.map_or(Given::Nothing, |data| Given::Json(data.to_string()));
        if let Err(thrown) = self.once(Phase::Teardown, "teardown", given, limit) {
            self.ended_by(&thrown, "teardown", Exit::TeardownTimeout, limit);
        }
    }
}
