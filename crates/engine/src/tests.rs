//! The kernel with a dialect of a few lines: what a language must do, and nothing else.

use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{Kind, Registry, Unit};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Follow, Header};
use sonagi_transport::net::NetOptions;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

use super::*;

/// Counts `arrivals` on every thread, and says so.
#[derive(Default)]
struct Toy {
    arrivals: u64,
    /// The thread that panics instead.
    broken: Option<usize>,
    /// The thread that cannot be prepared.
    unprepared: Option<usize>,
    /// Threads prepared when the first one loads.
    prepared: AtomicUsize,
    /// Loads until the run is stopped.
    is_endless: bool,
    seen: Mutex<Vec<String>>,
    metrics: Arc<Registry>,
}

impl Toy {
    fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().push(what.into());
    }
}

impl Dialect for Toy {
    type Thread = Rc<Shard>;
    type Task = &'static str;
    type Done = &'static str;
    type Error = String;

    const IS_PREPARED_FIRST: bool = false;

    fn metrics(&self) -> Arc<Registry> {
        Arc::clone(&self.metrics)
    }

    fn net(&self, _: Option<usize>) -> NetOptions {
        NetOptions::default()
    }

    async fn prepare(&self, shard: &Rc<Shard>, task: Option<&&'static str>) -> Result<Rc<Shard>, String> {
        if task.is_none() {
            if self.unprepared == shard.place.index {
                return Err("no users".to_owned());
            }
            self.prepared.fetch_add(1, Ordering::SeqCst);
        }
        Ok(Rc::clone(shard))
    }

    async fn load(&self, shard: &Rc<Shard>) {
        shard.wait_for(At(0)).await;
        let place = shard.place;
        assert_eq!(self.prepared.load(Ordering::SeqCst), place.threads);
        assert!(self.broken != place.index, "this is on purpose");
        let index = place.index.unwrap_or_default() as f64;
        shard.recorder.borrow_mut().observe((Kind::Counter, Unit::Number), "toys", index, At(0));
        for _ in 0..self.arrivals {
            shard.count(Counter::ArrivalsPlanned, 1);
            shard.count(Counter::ArrivalsStarted, 1);
        }
        shard.say(LogLine::new(Level::Info, "loaded"));
        if self.is_endless {
            shard.control.stopped().await;
        }
    }

    async fn once(&self, shard: &Rc<Shard>, task: &'static str) -> &'static str {
        assert_eq!(shard.place.index, None);
        self.note(task);
        task
    }
}

/// The observations of the toy's follower.
#[derive(Default)]
struct Seen {
    lines: usize,
    broken: usize,
    has_load: bool,
}

struct Follower<'f> {
    toy: Arc<Toy>,
    control: Control,
    seen: &'f mut Seen,
}

impl Follow for Follower<'_> {}

impl Collect<Toy> for Follower<'_> {
    fn event(&mut self, event: RunEvent<'_>) {
        let RunEvent::Line(_) = event else { return };
        self.seen.lines += 1;
        if self.toy.is_endless && self.seen.lines == 3 {
            self.control.stop();
        }
    }

    fn task(&mut self, phase: Phase) -> Option<&'static str> {
        Some(if phase == Phase::Before { "before" } else { "after" })
    }

    fn done(&mut self, _: Phase, done: Option<&'static str>) -> bool {
        self.toy.note(format!("{} is done", done.unwrap_or("nothing")));
        true
    }

    fn begins(&mut self, _: At) {
        self.seen.has_load = true;
        self.toy.note("load");
    }

    fn broken(&mut self) {
        self.seen.broken += 1;
    }
}

fn run_toy(toy: Toy, control: &Control) -> (Result<Summary, Error<String>>, Seen, Vec<String>) {
    let (toy, mut seen) = (Arc::new(toy), Seen::default());
    let header = Header { shards: 3, ..Header::default() };
    let options = Options::new(&*toy, header, Rules::default(), Instant::now());
    let mut follower = Follower { toy: Arc::clone(&toy), control: control.clone(), seen: &mut seen };
    let summary = run(&toy, &options, control, &mut follower);
    let noted = toy.seen.lock().unwrap().clone();
    (summary, seen, noted)
}

#[test]
fn threads_load_when_all_are_ready_and_what_they_recorded_is_merged() {
    let (summary, seen, noted) = run_toy(Toy { arrivals: 5, ..Toy::default() }, &Control::new());
    let summary = summary.unwrap();
    assert_eq!((summary.users.planned, summary.users.started), (15, 15));
    assert_eq!(noted, ["before", "before is done", "load", "after", "after is done"]);
    assert_eq!((seen.lines, seen.broken), (3, 0));
    assert_eq!(summary.metrics["toys"].sum, Some(0.0 + 1.0 + 2.0));
}

#[test]
fn a_thread_that_cannot_be_prepared_ends_the_run() {
    let control = Control::new();
    let (summary, seen, _) = run_toy(Toy { unprepared: Some(1), ..Toy::default() }, &control);
    assert!(matches!(summary, Err(Error::Dialect(why)) if why == "no users"));
    assert!(!seen.has_load && control.is_aborted());
}

#[test]
fn a_thread_that_breaks_is_told_of_and_not_waited_for() {
    let (summary, seen, _) = run_toy(Toy { arrivals: 2, broken: Some(2), ..Toy::default() }, &Control::new());
    assert_eq!((summary.unwrap().users.planned, seen.broken), (4, 1));
}

#[test]
fn a_run_that_is_stopped_is_interrupted_and_whole() {
    let (summary, _, _) = run_toy(Toy { arrivals: 1, is_endless: true, ..Toy::default() }, &Control::new());
    let summary = summary.unwrap();
    assert!(summary.interrupted);
    assert_eq!(summary.users.planned, 3);
}
