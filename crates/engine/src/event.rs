//! The events that a run reports to its caller.

use sonagi_measure::At;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Snapshot};
use std::time::Duration;

use crate::watcher::Note;

/// An event of a run, in order. Reported on the thread that called [`crate::run`].
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// First of all.
    Began(&'a Header),
    /// A phase or stage of the load began.
    Phase {
        /// When it was planned to begin.
        at: At,
        /// Its name in the script.
        name: &'a str,
    },
    /// Words for who watches.
    Line(&'a LogLine),
    /// About once a second.
    Second(&'a Snapshot),
    /// About once a second, of scripts whose users iterate.
    Progress(&'a Progress),
    /// What the script's language, or a watcher, wants in the run's record, to tell of the run later: a few in a run.
    Noted(&'a Note),
    /// The last phase is over; users finish.
    Draining {
        /// When the last phase ended.
        at: At,
    },
    /// Last of all.
    Ended(&'a Summary),
}

/// How far a run of iterating users is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Since the run began, its preparation left out.
    pub elapsed: Duration,
    /// Virtual users in iterations, and virtual users there are.
    pub vus: (u64, u64),
    /// Iterations that are over, and those that were interrupted.
    pub iterations: (u64, u64),
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When.
    pub at: At,
    /// How important.
    pub level: Level,
    /// The line's speaker.
    pub speaker: Speaker,
    /// The user's number in the run, where one speaks that has a number.
    pub user: Option<u32>,
    /// The words.
    pub text: String,
    /// The line's fields, by name.
    pub fields: Vec<(&'static str, String)>,
}

impl LogLine {
    /// The engine's own words, outside of any run's time.
    pub fn new(level: Level, text: impl Into<String>) -> LogLine {
        let (at, speaker, user, fields) = (At(0), Speaker::Engine, None, Vec::new());
        LogLine { at, level, speaker, user, text: text.into(), fields }
    }
}

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A line for debugging.
    Debug,
    /// A line of the script.
    Info,
    /// Something that may not be meant.
    Warn,
    /// Something that went wrong.
    Error,
}

/// The speaker of a line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The engine's own, about the script.
    Engine,
    /// The script's, for standard output: a `log` step, `console.log`.
    Output,
    /// The script's, for standard error: `console.error`.
    ErrorOutput,
}

impl Speaker {
    /// The speaker on a standard stream.
    pub fn of_stream(is_error: bool) -> Speaker {
        if is_error { Speaker::ErrorOutput } else { Speaker::Output }
    }
}
