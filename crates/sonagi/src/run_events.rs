//! What sinks are told of a run's events, of both script languages.

use crate::invocation;
use sonagi_engine::{LogLine, RunEvent, Speaker};
use sonagi_measure::totals::{Header, ScriptFile};
use sonagi_report::Sink;

/// Tells a sink of an event; the header of a run with the command and the script of this process.
pub(crate) fn pass(
    sink: &mut dyn Sink,
    event: &RunEvent<'_>,
    script: Option<&ScriptFile>,
) -> std::io::Result<()> {
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
