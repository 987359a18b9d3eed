//! A k6 test that is run as one of several, for its summary: into its folder, and without k6's own output.

use super::service::TestService;
use crate::error::Error;
use crate::run_events::{self, WantedSinks, pass};
use crate::runs;
use crate::signals::{self, StopRequests};
use crate::terminal::Terminal;
use serde_json::{Map, Value};
use sonagi_engine::{LogLine, RunEvent};
use sonagi_k6::executor::{Abort, Reason};
use sonagi_k6::run::{Asked, Ended, load};
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::ScriptFile;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How the test under way is ended, of tests that follow each other: signals and pages ask it.
#[derive(Clone, Default)]
pub(super) struct UnderWay(Arc<Mutex<Arc<Abort>>>);

impl UnderWay {
    /// Ends the test under way.
    pub(super) fn ask(&self, why: Reason) {
        self.current().ask(why);
    }

    /// What ends the next test; those before it are over.
    pub(super) fn renew(&self) -> Arc<Abort> {
        let abort = Arc::new(Abort::default());
        *self.current() = Arc::clone(&abort);
        abort
    }

    /// From now on a signal ends the test under way; a second one does what the caller says, besides.
    ///
    /// # Errors
    /// Signals cannot be listened for.
    pub(super) fn listen(
        &self,
        terminal: &Terminal,
        second: impl Fn() + Send + 'static,
    ) -> Result<StopRequests, Error> {
        let (first, again, says) = (self.clone(), self.clone(), *terminal);
        let stop_at_once = move || {
            says.say("stopping at once");
            again.ask(Reason::Signal);
            second();
        };
        signals::listen(*terminal, move || first.ask(Reason::Signal), stop_at_once)
    }

    fn current(&self) -> MutexGuard<'_, Arc<Abort>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A test that is about to be run.
pub(super) struct Unattended<'a> {
    pub(super) asked: Asked,
    pub(super) file: ScriptFile,
    pub(super) wanted: WantedSinks,
    pub(super) service: TestService<'a>,
    /// The values that tell it from the others.
    pub(super) combination: Map<String, Value>,
}

/// A test that is over.
pub(super) struct Ran {
    pub(super) ended: Ended,
    /// None: it did not begin.
    pub(super) summary: Option<Summary>,
    pub(super) folder: Option<PathBuf>,
    /// Whether all of it is in its folder.
    pub(super) is_recorded: bool,
}

impl Unattended<'_> {
    /// Runs it to its end; what goes wrong around it is said. `on_line` hears what its script prints.
    ///
    /// # Errors
    /// It cannot be followed.
    pub(super) fn run(
        self,
        abort: &Arc<Abort>,
        stop_requests: &StopRequests,
        terminal: &Terminal,
        on_line: &mut dyn FnMut(&LogLine),
    ) -> Result<Ran, Error> {
        let Unattended { asked, file, wanted, mut service, combination } = self;
        let script = asked.script.clone();
        let path = wanted.folder.as_ref().map(|folder| folder.path().to_owned());
        let mut sinks = run_events::sinks(wanted).map_err(Error::could_not)?;
        let mut summary: Option<Summary> = None;
        let mut on = |event: RunEvent<'_>, service: &mut TestService<'_>| {
            match &event {
                RunEvent::Ended(of_run) => summary = Some((*of_run).clone()),
                RunEvent::Line(line) => on_line(line),
                _ => {}
            }
            service.note(&event);
            pass(&mut sinks, &event, Some(&file), |trouble| runs::warn(&trouble, terminal));
        };
        let loaded = load(asked, abort, &mut |event| on(event, &mut service));
        let started = loaded.and_then(|test| service.start(test, &script, path.as_deref(), stop_requests));
        let mut ended = match started {
            Ok(test) => test.run(abort, &mut |event| on(event, &mut service)),
            Err(ended) => ended,
        };
        let mut missed: Vec<Error> = sinks.incomplete().map(runs::incomplete).into_iter().collect();
        drop(sinks);
        missed.extend(service.end(&mut ended, stop_requests).into_iter().map(Error::could_not));
        let is_amended = service.summary().is_some() || !combination.is_empty();
        let summary = service.summary().cloned().or(summary);
        let summary = summary.map(|summary| Summary { combination, ..summary });
        if let (Some(summary), Some(path), true) = (&summary, &path, is_amended)
            && let Err(error) = sonagi_measure::folder::amend(path, summary)
        {
            missed.push(Error::could_not(format_args!(
                "the run folder: {error}; what the service used, and the run's values, are missing in it"
            )));
        }
        missed.iter().for_each(|trouble| terminal.say(&trouble.to_string()));
        let folder = path.filter(|path| {
            if summary.is_none() {
                runs::discard(path);
            }
            summary.is_some()
        });
        Ok(Ran { ended, summary, folder, is_recorded: missed.is_empty() })
    }
}
