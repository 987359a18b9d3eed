//! A watch as a run without a load: its folder, of which its page and its file are made.
//!
//! Nothing is judged: without a load nobody asks anything of the target, so there is no verdict and nothing to explain.
//! The one decision a reader would question: the folder says so by its language, as a script's language would, so that
//! pages know it from the first line on and older folders need no new member.

use crate::error::Error;
use crate::invocation;
use crate::languages;
use crate::page::{PageWish, Pages};
use crate::queued_sink::QueuedSink;
use crate::runs;
use crate::signals::StopRequests;
use crate::target_watch::as_recorded;
use crate::terminal::Terminal;
use sonagi_engine::{Note, health};
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{MetricStore, Registry};
use sonagi_measure::recorder::Record;
use sonagi_measure::totals::{Header, Totals};
use sonagi_report::{SinkEvent, Sinks};
use sonagi_watch::Taken;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of all of them.
const NAME: &str = "watch";

/// A watch under way, written as it goes.
pub(crate) struct Recorded {
    pages: Pages,
    folder: PathBuf,
    sinks: Sinks,
    totals: Totals,
    is_stopped: Arc<AtomicBool>,
    terminal: Terminal,
}

impl Recorded {
    /// Begins the record and its pages; None: neither is wanted. `subjects` is what is watched, without passwords;
    /// metrics go into the registry.
    pub(crate) fn start(
        wish: PageWish,
        kept_in: Option<PathBuf>,
        subjects: &str,
        registry: &Arc<Registry>,
        terminal: &Terminal,
    ) -> Result<Option<Recorded>, Error> {
        let pages = Pages::start(wish, kept_in, terminal)?;
        let Some(runs) = pages.runs() else { return Ok(None) };
        let header = header(subjects)?;
        let sink = runs::reserve(runs, &sonagi_measure::folder::name(&header.started, NAME))?;
        let folder = sink.path().to_owned();
        let mut sinks = Sinks::default();
        sinks.add(QueuedSink::start(sink).map_err(Error::could_not)?);
        let totals = Totals::new(&header, Rules::default(), MetricStore::new(Arc::clone(registry)));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let mut recorded = Recorded { pages, folder, sinks, totals, is_stopped, terminal: *terminal };
        recorded.tell(&SinkEvent::Began(Arc::new(header)));
        recorded.pages.begin(&recorded.folder, move || stop.store(true, Ordering::Release));
        Ok(Some(recorded))
    }

    /// Whether the page asked for the end.
    pub(crate) fn to_stop(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Takes what was seen until now.
    pub(crate) fn second(&mut self, at: At, taken: &Taken) {
        for note in &taken.notes {
            let Note { at, kind, detail } = as_recorded(note.clone());
            self.tell(&SinkEvent::Noted { at, kind, detail });
        }
        let record = Record { metrics: taken.interval.clone(), ..Record::default() };
        let snapshot = self.totals.absorb(vec![record], at, health::process(1));
        self.tell(&SinkEvent::Second(Arc::new(snapshot)));
    }

    /// The watch is over: completes its folder, and serves on if that is wanted.
    pub(crate) fn end(mut self, at: At, stop_requests: &StopRequests) -> Result<(), Error> {
        self.pages.over();
        let snapshot = self.totals.close(at);
        self.tell(&SinkEvent::Second(Arc::new(snapshot)));
        let summary = languages::unjudged(self.totals.summary());
        self.tell(&SinkEvent::Ended(Arc::new(summary)));
        let Recorded { pages, folder, mut sinks, terminal, .. } = self;
        let incomplete = sinks.incomplete().map(runs::incomplete);
        pages.settle();
        pages.write(&folder, true)?;
        if !pages.is_temporary() {
            terminal.say(&format!("run folder  {}", folder.display()));
        }
        pages.finish(stop_requests);
        incomplete.map_or(Ok(()), Err)
    }

    fn tell(&mut self, event: &SinkEvent) {
        let terminal = self.terminal;
        self.sinks.tell(event, |trouble| runs::warn(&trouble, &terminal));
    }
}

fn header(subjects: &str) -> Result<Header, Error> {
    Ok(Header {
        name: NAME.to_owned(),
        started: runs::now()?,
        target: subjects.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        environment: health::environment(),
        cores: health::cores(),
        command: invocation::command(),
        language: Some(languages::none()),
        ..Header::default()
    })
}
