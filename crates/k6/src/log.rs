//! Lines of the log, which whoever runs the test shows.

use sonagi_measure::At;

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Of no interest but to who looks for something.
    Debug,
    /// What the script says.
    Info,
    /// Something that may not be meant.
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
    /// What.
    pub text: String,
    /// What belongs to it, by name.
    pub fields: Vec<(&'static str, String)>,
}

impl Line {
    /// Outside of any test's time.
    pub fn new(level: Level, text: impl Into<String>) -> Line {
        Line { at: At(0), level, text: text.into(), fields: Vec::new() }
    }
}
