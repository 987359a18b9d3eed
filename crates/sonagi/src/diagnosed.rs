//! What broke first in a run that is just over, from its seconds as they came: also of one that leaves no folder.

use crate::terminal::Terminal;
use serde_json::{Value, json};
use sonagi_measure::At;
use sonagi_measure::frame::Framer;
use sonagi_measure::metrics::Registry;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Snapshot};
use sonagi_report::Sink;
use sonagi_report::diagnosis::brief;
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
    fn began(&mut self, header: &Header) -> io::Result<()> {
        // The run's own registry would only add what tells sub-metrics apart, which no rule asks for.
        let registry = Arc::new(Registry::new(&[]));
        self.followed().framer = Some(Framer::new(Arc::new(header.clone()), registry, |_| None));
        Ok(())
    }
    fn snapshot(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let Followed { framer, investigation, .. } = &mut *self.followed();
        if let Some(framer) = framer {
            investigation.frame(framer.frame(snapshot));
        }
        Ok(())
    }
    fn noted(&mut self, at: At, kind: &'static str, detail: &Value) -> io::Result<()> {
        let event = json!({ "at_ns": at.0, "kind": kind, "detail": detail });
        self.followed().investigation.event(&event);
        Ok(())
    }
    fn ended(&mut self, summary: &Summary) -> io::Result<()> {
        let mut followed = self.followed();
        followed.diagnosis = followed.investigation.conclude(summary);
        Ok(())
    }
}
