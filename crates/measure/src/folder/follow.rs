//! Following a run folder that grows, in this process or another: the end of a file is not the end of the run.
//!
//! Whether somebody still writes is not guessed from how long nothing came: a writer holds a lock on `series.jsonl`
//! while it lives, which the system takes away should it die.

use super::lines::is_written;
use super::read::{ReadError, Reader};
use super::{RUN, SERIES};
use crate::at::At;
use crate::metrics::{MetricStore, Registry};
use crate::summary::{Naming, Summary};
use crate::totals::{Header, Snapshot, Tally};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Whether more will come to a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Somebody writes it.
    Running,
    /// The run was over when it ended.
    Complete,
    /// The run was ended before its plan was done.
    Interrupted,
    /// Nobody writes it any more, and it has no end: its process died.
    CutOff,
}

impl RunState {
    /// The state of the folder at this path.
    pub fn of(path: &Path) -> RunState {
        if is_written(&path.join(SERIES)) {
            return RunState::Running;
        }
        let text = std::fs::read(path.join(RUN)).unwrap_or_default();
        let run: Value = serde_json::from_slice(&text).unwrap_or_default();
        match run["summary"]["interrupted"].as_bool() {
            Some(false) => RunState::Complete,
            Some(true) => RunState::Interrupted,
            None => RunState::CutOff,
        }
    }

    /// In one word of frames, lists and pages: `running`, `complete`, `interrupted` or `cut_off`.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
            RunState::CutOff => "cut_off",
        }
    }
}

/// Judges what was read of a run that has no end in its folder by the rules of its script's language; whether it still
/// goes on decides on what was not seen yet.
pub type Judge = fn(&Reader, &mut MetricStore, Summary, RunState) -> Summary;

type Seconds = Box<dyn Iterator<Item = Snapshot> + Send>;

/// Reads a run folder as it grows.
pub struct Follower {
    reader: Reader,
    seconds: Seconds,
    events: Box<dyn Iterator<Item = Value> + Send>,
    /// An event of a later second.
    ahead: Option<Value>,
    tally: Tally,
    judge: Judge,
}

impl Follower {
    /// A follower of the folder at this path. `naming` has the names of its thresholds; `metrics` makes a store that
    /// has seen nothing; `judge` judges it where its language has rules of its own.
    ///
    /// # Errors
    /// There is no `run.json` with a header (yet).
    pub fn open(
        path: &Path,
        naming: Naming,
        metrics: impl FnOnce(&Header) -> MetricStore,
        judge: Judge,
    ) -> Result<Follower, ReadError> {
        let mut reader = Reader::open(path)?;
        reader.naming = naming;
        let metrics = metrics(reader.header());
        let seconds = Box::new(reader.seconds(metrics.registry()));
        let events = Box::new(reader.events());
        let tally = reader.tally(metrics);
        Ok(Follower { reader, seconds, events, ahead: None, tally, judge })
    }

    /// The run's header.
    pub fn header(&self) -> &Arc<Header> {
        self.reader.header()
    }

    /// The registry that the metrics of its seconds are entered into.
    pub fn registry(&self) -> &Arc<Registry> {
        self.tally.metrics.registry()
    }

    /// Whether more will come. Ask before reading: all that a run had when it was over is then read after it.
    pub fn state(&self) -> RunState {
        RunState::of(&self.reader.path)
    }

    /// The next second; None: there is none yet.
    pub fn second(&mut self) -> Option<Snapshot> {
        let snapshot = self.seconds.next()?;
        self.tally.absorb(&snapshot);
        Some(snapshot)
    }

    /// The next event up to an instant; None: there is none yet.
    pub fn event(&mut self, until: At) -> Option<Value> {
        let event = self.ahead.take().or_else(|| self.events.next())?;
        if event.get("at_ns").and_then(Value::as_i64).unwrap_or(0) > until.0 {
            self.ahead = Some(event);
            return None;
        }
        Some(event)
    }

    /// The summary of what was read so far.
    pub fn summary(&mut self) -> Summary {
        let summary = self.tally.summary();
        self.judged(summary, RunState::Running)
    }

    /// The summary of a run that is over, and all read.
    ///
    /// # Errors
    /// `run.json` cannot be read any more.
    pub fn end(&mut self) -> Result<Summary, ReadError> {
        let mut reader = Reader::open(&self.reader.path)?;
        reader.naming = self.reader.naming;
        self.reader = reader;
        let summary = self.reader.concluded(&mut self.tally);
        Ok(if self.reader.has_end() { summary } else { self.judged(summary, RunState::CutOff) })
    }

    fn judged(&mut self, summary: Summary, state: RunState) -> Summary {
        match self.header().language {
            Some(_) => (self.judge)(&self.reader, &mut self.tally.metrics, summary, state),
            None => summary,
        }
    }
}
