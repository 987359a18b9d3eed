//! What broke first in a run that is just over, from its seconds as they came: also of one that leaves no folder.

use crate::terminal::Terminal;
use serde_json::json;
use sonagi_measure::frame::Framer;
use sonagi_measure::metrics::Registry;
use sonagi_report::diagnosis::brief;
use sonagi_report::{Sink, SinkEvent};
use sonagi_verdict::{Diagnosis, Investigation};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Follows a run for its diagnosis: one hand follows the run, another asks when it is over.
#[derive(Clone)]
pub(crate) struct Diagnosed(Arc<Mutex<Followed>>);

struct Followed {
    framer: Option<Framer>,
    investigation: Investigation,
    diagnosis: Option<Diagnosis>,
}

impl Diagnosed {
    /// Nothing of a run yet.
    pub(crate) fn new() -> Diagnosed {
        let investigation = Investigation::of_at_most(Investigation::AN_HOUR);
        Diagnosed(Arc::new(Mutex::new(Followed { framer: None, investigation, diagnosis: None })))
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The words for a run that is over and did not keep up. `folder` has the rest, if there is one.
    pub(crate) fn text(&self, folder: Option<&str>, terminal: &Terminal) -> Option<String> {
        brief(self.followed().diagnosis.as_ref()?, folder, terminal.columns, terminal.colour)
    }

    /// What broke first, in a sentence.
    pub(crate) fn cause(&self) -> Option<String> {
        Some(self.followed().diagnosis.as_ref()?.findings.first()?.title.clone())
    }
}

impl Sink for Diagnosed {
    fn name(&self) -> &str {
        "the diagnosis"
    }
    fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
        let Followed { framer, investigation, diagnosis } = &mut *self.followed();
        match event {
            SinkEvent::Began(header) => {
                // The run's own registry would only add what tells sub-metrics apart, which no rule asks for.
                let registry = Arc::new(Registry::new(&[]));
                *framer = Some(Framer::new(Arc::clone(header), registry, |_| None));
            }
            SinkEvent::Second(snapshot) => {
                framer.iter_mut().for_each(|framer| investigation.frame(framer.frame(snapshot)));
            }
            SinkEvent::Noted { at, kind, detail } => {
                investigation.event(&json!({ "at_ns": at.0, "kind": kind, "detail": detail }));
            }
            SinkEvent::Ended(summary) => *diagnosis = investigation.conclude(summary),
            _ => {}
        }
        Ok(())
    }
}
