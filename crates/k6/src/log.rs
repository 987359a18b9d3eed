//! Lines of the log, which whoever runs the test shows.

use sonagi_measure::At;

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for whoever looks for a fault.
    Debug,
    /// Messages of the script.
    Info,
    /// Something that is probably not intended.
    Warn,
    /// Something that went wrong.
    Error,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When.
    pub at: At,
    /// How important.
    pub level: Level,
    /// The message.
    pub text: String,
    /// Details that belong to it, by name.
    pub fields: Vec<(&'static str, String)>,
}

impl Line {
    /// Outside of any test's time.
    pub fn new(level: Level, text: impl Into<String>) -> Line {
        Line { at: At(0), level, text: text.into(), fields: Vec::new() }
    }
}
