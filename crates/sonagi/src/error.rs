//! Reasons why a command could not do its work. A *target's* misbehaviour is never one of these: that is data.

use crate::exit::Exit;
use std::io;
use std::path::Path;

/// A command's failure, with its exit code. The text is complete: place, rule, hint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Problems of the user's script or flags, all listed.
    #[error("{0}")]
    Problems(String),
    /// A failure around the run.
    #[error("{0}")]
    CouldNotRun(String),
    /// A signal came before there was anything to run.
    #[error("{0}")]
    Interrupted(String),
}

impl Error {
    /// A problem of a flag.
    pub(crate) fn flag(flag: &str, what: impl std::fmt::Display) -> Error {
        Error::Problems(format!("error: {flag}: {what}"))
    }

    /// A file or folder could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, cause: io::Error) -> Error {
        Error::CouldNotRun(format!("error: cannot {doing} {}: {cause}", path.display()))
    }

    /// Any other failure around the run.
    pub(crate) fn could_not(what: impl std::fmt::Display) -> Error {
        Error::CouldNotRun(format!("error: {what}"))
    }

    /// The text without the word that says it is an error, for a log that puts its own before it.
    pub(crate) fn bare(&self) -> String {
        let text = self.to_string();
        text.strip_prefix("error: ").unwrap_or(&text).to_owned()
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Error::Problems(_) => Exit::Problems,
            Error::CouldNotRun(_) => Exit::CouldNotRun,
            Error::Interrupted(_) => Exit::Interrupted,
        }
    }
}
