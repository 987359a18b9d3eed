//! The sinks of a run of either script language, and what they are told of its events.

use crate::diagnosed::Diagnosed;
use crate::invocation;
use crate::queued_sink::QueuedSink;
use sonagi_engine::{LogLine, Note, RunEvent, Speaker};
use sonagi_measure::totals::{Header, ScriptFile};
use sonagi_report::sink::{Folder, Trouble};
use sonagi_report::{SinkEvent, Sinks};
use std::io;
use std::sync::Arc;

/// What a run of either language is followed by, where it is wanted.
#[derive(Default)]
pub(crate) struct WantedSinks {
    pub(crate) folder: Option<Folder>,
    /// What broke first in it, to be printed.
    pub(crate) diagnosed: Option<Diagnosed>,
}

/// The sinks of every run, each behind a queue of its own. A language adds those that only its runs have.
pub(crate) fn sinks(wanted: WantedSinks) -> io::Result<Sinks> {
    let mut sinks = Sinks::default();
    if let Some(folder) = wanted.folder {
        sinks.add(QueuedSink::start(folder)?);
    }
    if let Some(diagnosed) = wanted.diagnosed {
        sinks.add(QueuedSink::start(diagnosed)?);
    }
    Ok(sinks)
}

/// Tells sinks of an event, and `trouble` of what goes wrong with them; the header of a run with the command and the
/// script of this process.
pub(crate) fn pass(
    sinks: &mut Sinks,
    event: &RunEvent<'_>,
    script: Option<&ScriptFile>,
    trouble: impl FnMut(Trouble),
) {
    let event = match *event {
        RunEvent::Began(header) => {
            let (command, script) = (invocation::command(), script.cloned());
            SinkEvent::Began(Arc::new(Header { command, script, ..header.clone() }))
        }
        RunEvent::Second(snapshot) => SinkEvent::Second(Arc::new(snapshot.clone())),
        RunEvent::Phase { at, name } => SinkEvent::Phase { at, name: name.into() },
        RunEvent::Line(LogLine { at, speaker, user, text, .. }) => {
            let (text, is_printed) = (text.as_str().into(), *speaker != Speaker::Engine);
            SinkEvent::Line { at: *at, user: *user, text, is_printed }
        }
        RunEvent::Progress(_) => return,
        RunEvent::Noted(Note { at, kind, detail }) => {
            SinkEvent::Noted { at: *at, kind, detail: detail.clone() }
        }
        RunEvent::Draining { at } => SinkEvent::Draining { at },
        RunEvent::Ended(summary) => SinkEvent::Ended(Arc::new(summary.clone())),
    };
    sinks.tell(&event, trouble);
}
