//! How a test ends: k6's exit codes, and what is left to be shown.

use crate::runtime::Thrown;
use crate::shard::{Level, Line};
use crate::summary::Summary;

use super::Told;

/// k6's exit codes, as its users' pipelines know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything ran, and every threshold held.
    Passed,
    /// A threshold was crossed.
    ThresholdsCrossed,
    /// `setup` took too long.
    SetupTimeout,
    /// `teardown` took too long.
    TeardownTimeout,
    /// Options or flags make no sense; nothing was run.
    Problems,
    /// A signal ended it.
    Interrupted,
    /// The script threw where that ends a test: in its init code, `setup` or `teardown`.
    Exception,
    /// The script asked for the end (`exec.test.abort`).
    Aborted,
    /// The script says that it failed (`exec.test.fail`).
    Failed,
    /// Something around the test failed.
    Other,
}

impl Exit {
    /// All of them, with their codes and what they mean.
    pub const CODES: [(Exit, u8, &'static str); 10] = [
        (Exit::Passed, 0, "The test ran, and every threshold held."),
        (Exit::ThresholdsCrossed, 99, "A threshold was crossed."),
        (Exit::SetupTimeout, 100, "setup() took longer than setupTimeout."),
        (Exit::TeardownTimeout, 101, "teardown() took longer than teardownTimeout."),
        (Exit::Problems, 104, "Options or flags make no sense; nothing was run."),
        (Exit::Interrupted, 105, "A signal ended the test."),
        (Exit::Exception, 107, "The script threw in its init code, setup() or teardown()."),
        (Exit::Aborted, 108, "The script called exec.test.abort()."),
        (Exit::Failed, 110, "The script called exec.test.fail()."),
        (
            Exit::Other,
            255,
            "Something else went wrong: an unknown flag, a file, a promise rejected in init code.",
        ),
    ];

    /// What the process ends with.
    pub fn code(self) -> u8 {
        let row = Exit::CODES.iter().find(|(exit, ..)| *exit == self);
        row.map_or(255, |(_, code, _)| *code)
    }
}

/// What is to be shown at the end.
#[derive(Clone, Debug)]
pub enum End {
    /// Nothing: there was no test.
    Nothing,
    /// The summary of it.
    Summary(Box<Summary>),
    /// What the script made of the summary: names of files (`stdout` and `stderr` among them) and their texts; and the summary.
    Handled(Vec<(String, String)>, Box<Summary>),
}

/// How a test ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// For the process.
    pub exit: Exit,
    /// For the user.
    pub end: End,
    /// Why, where it did not pass; told already where the script said it.
    pub why: Option<String>,
    /// How far the scenarios came, as k6 draws it.
    pub bars: Vec<String>,
}

impl Ended {
    pub(super) fn early(exit: Exit, why: impl Into<String>) -> Ended {
        Ended { exit, end: End::Nothing, why: Some(why.into()), bars: Vec::new() }
    }

    pub(super) fn problems(text: &str) -> Ended {
        Ended::early(Exit::Problems, text)
    }

    /// The script threw before there was a test.
    pub(super) fn of_script(thrown: Thrown, on: &mut dyn FnMut(Told<'_>)) -> Ended {
        let (exit, text) = match thrown {
            Thrown::Interrupted => (Exit::Interrupted, "the test was interrupted".to_owned()),
            Thrown::Aborted(why) => (Exit::Aborted, why),
            Thrown::Error(text) => (Exit::Exception, text),
            Thrown::Rejected(text) => (Exit::Other, text),
        };
        on(Told::Line(&Line::new(Level::Error, text)));
        Ended { exit, end: End::Nothing, why: None, bars: Vec::new() }
    }
}
