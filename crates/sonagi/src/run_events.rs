//! The sinks of a run of either script language, and what they are told of its events.

use crate::diagnosed::Diagnosed;
use crate::invocation;
use crate::queued_sink::QueuedSink;
use sonagi_engine::{LogLine, RunEvent, Speaker};
use sonagi_measure::totals::{Header, ScriptFile};
use sonagi_report::sink::Folder;
use sonagi_report::{Sink, Sinks};
use std::io;

/// What a run of either language is followed by, where it is wanted.
#[derive(Default)]
pub(crate) struct WantedSinks {
    pub(crate) folder: Option<Folder>,
    /// What broke first in it, to be printed.
    pub(crate) diagnosed: Option<Diagnosed>,
}

/// The sinks of every run, each behind a queue of its own. A language adds those that only its runs have.
pub(crate) fn sinks(wanted: WantedSinks) -> io::Result<Sinks> {
    let mut sinks = Sinks::new();
    if let Some(folder) = wanted.folder {
        sinks.add(QueuedSink::start(folder)?);
    }
    if let Some(diagnosed) = wanted.diagnosed {
        sinks.add(QueuedSink::start(diagnosed)?);
    }
    Ok(sinks)
}

/// Tells a sink of an event; the header of a run with the command and the script of this process.
pub(crate) fn pass(sink: &mut dyn Sink, event: &RunEvent<'_>, script: Option<&ScriptFile>) -> io::Result<()> {
    match *event {
        RunEvent::Began(header) => {
            let (command, script) = (invocation::command(), script.cloned());
            sink.began(&Header { command, script, ..header.clone() })
        }
        RunEvent::Second(snapshot) => sink.snapshot(snapshot),
        RunEvent::Phase { at, name } => sink.phase(at, name),
        RunEvent::Line(LogLine { at, speaker: Speaker::Engine, user, text, .. }) => {
            sink.log(*at, *user, text)
        }
        RunEvent::Line(LogLine { at, user, text, .. }) => sink.printed(*at, *user, text),
        RunEvent::Progress(_) => Ok(()),
        RunEvent::Noted { at, kind, detail } => sink.noted(at, kind, detail),
        RunEvent::Draining { at } => sink.draining(at),
        RunEvent::Ended(summary) => sink.ended(summary),
    }
}
